//! `fnstore frames`: the frames of the lexicon, one a row.

use fnstore::database::Database;
use fnstore::lexicon::SemTypeTree;
use fnstore::model::{CoreType, Frame, PROPOSED};
use fnstore::store::NameKind;
use fnstore::text::plain_definition;
use serde::Serialize;

use crate::cli::options::listing::{Rows, Statuses, names, names_and_relations, names_or_all};
use crate::cli::print::render::Row;
use crate::cli::{Context, Outcome};

/// List frames
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Names: `Verification`, `Ver*`, or `~` and a regular expression; all when left out. Tests of
    /// relations, such as `uses=Motion`, may stand beside them
    #[arg(value_name = "NAME")]
    name: Vec<String>,

    /// List only frames with this LU; a name or pattern, as NAME
    #[arg(long, value_name = "NAME")]
    lu: Option<String>,

    #[command(flatten)]
    rows: Rows,

    #[command(flatten)]
    statuses: Statuses,
}

const EXAMPLES: &str = "\
Examples:
  fnstore frames 'Ver*'
  fnstore frames '~^(Self_)?motion$' --format csv
  fnstore frames --lu 'confirm*'
  fnstore frames related=Verification";

/// A frame as JSON; see `schema/frames.schema.json`.
#[derive(Debug, Serialize)]
struct FrameRow<'a> {
    release: &'a str,
    id: u32,
    name: &'a str,
    core_fes: Vec<&'a str>,
    fes: usize,
    lus: usize,
    proposed: usize,
    sem_types: Vec<&'a str>,
    has_file: bool,
    definition_text: String,
}

impl Row for FrameRow<'_> {
    const COLUMNS: &'static [&'static str] =
        &["release", "id", "name", "lus", "proposed", "fes", "core_fes", "sem_types"];
}

impl<'a> FrameRow<'a> {
    fn new(
        release: &'a str,
        frame: &'a Frame,
        [lus, proposed, labelled]: [usize; 3],
        types: &'a SemTypeTree,
    ) -> Self {
        let core = frame.elements.iter().filter(|fe| fe.core_type == CoreType::Core);
        Self {
            release,
            id: frame.id.0,
            name: &frame.name,
            core_fes: core.map(|fe| fe.name.as_str()).collect(),
            fes: frame.elements.len() + labelled,
            lus,
            proposed,
            sem_types: types.names(&frame.sem_types).collect(),
            has_file: frame.has_file,
            definition_text: plain_definition(&frame.definition),
        }
    }
}

pub(crate) fn run(args: Args, context: &mut Context) -> anyhow::Result<Outcome> {
    let lu_names = args.lu.as_deref().map(|name| names("lu", name)).transpose()?;
    let database = Database::open(&context.store)?;
    let (frame_names, relations) = names_and_relations(&database, "frame", &args.name)?;
    let frame_names = names_or_all("frame", &frame_names)?;
    let catalog = database.catalog()?;
    database.require_name(NameKind::Frame, &frame_names)?;
    if let Some(lu_names) = &lu_names {
        database.require_name(NameKind::LexUnit, lu_names)?;
    }
    let (lexicons, mut listing) = args.rows.of(&database, &mut context.output)?;
    'releases: for lexicon in &lexicons {
        let types = lexicon.semtype_tree()?;
        for frame in lexicon.find_frames(&frame_names)? {
            let frame = frame?;
            if !catalog.frame_passes(lexicon.release().id, frame.id, &relations)? {
                continue;
            }
            let (mut lus, mut proposed) = (0, 0);
            let mut has_lu = lu_names.is_none();
            for lu in lexicon.lus_of(frame.id)? {
                let lu = lu?;
                if args.statuses.include(&lu) {
                    *if lu.status == PROPOSED { &mut proposed } else { &mut lus } += 1;
                    has_lu |= lu_names.as_ref().is_some_and(|names| names.matches(&lu.name));
                }
            }
            if !has_lu {
                continue;
            }
            let labelled = lexicon.labelled_fes_of(&frame)?.len();
            let counts = [lus, proposed, labelled];
            let row = FrameRow::new(&lexicon.release().name, &frame, counts, &types);
            if !listing.row(&row)? {
                break 'releases;
            }
        }
    }
    listing.end::<FrameRow<'_>>()
}
