//! `fnstore fes`: the frame elements, one a row.

use fnstore::database::Database;
use fnstore::lexicon::{ElementOfFrame, LabelledElement, SemTypeTree};
use fnstore::model::CoreType;
use fnstore::store::NameKind;
use fnstore::text::plain_definition;
use serde::Serialize;

use crate::cli::options::listing::{Rows, names_or_all};
use crate::cli::print::render::Row;
use crate::cli::{Context, Outcome};

/// List frame elements
///
/// Those that frames define come first. Those that annotation labels and its frame does not define
/// follow, without a number.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Names: `Inspector`, `*time*`, or `~` and a regular expression; all when left out
    #[arg(value_name = "NAME")]
    name: Vec<String>,

    /// List only elements of this frame; a name or pattern, as NAME
    #[arg(long, value_name = "NAME")]
    frame: Option<String>,

    #[command(flatten)]
    rows: Rows,
}

const EXAMPLES: &str = "\
Examples:
  fnstore fes Inspector
  fnstore fes --frame Verification --format csv
  fnstore fes '*_time' --limit 20";

/// An FE as JSON; see `schema/fes.schema.json`.
#[derive(Debug, Serialize)]
struct FeRow<'a> {
    release: &'a str,
    /// Number; null for an FE that annotation labels and its frame does not define, as what only a
    /// frame can say.
    id: Option<u32>,
    name: &'a str,
    frame: &'a str,
    abbreviation: Option<&'a str>,
    core_type: Option<CoreType>,
    sem_types: Vec<&'a str>,
    definition_text: String,
}

impl Row for FeRow<'_> {
    const COLUMNS: &'static [&'static str] =
        &["release", "id", "name", "frame", "abbreviation", "core_type", "sem_types"];
}

impl<'a> FeRow<'a> {
    fn new(release: &'a str, entry: &'a ElementOfFrame, types: &'a SemTypeTree) -> Self {
        let fe = &entry.element;
        Self {
            release,
            id: Some(fe.id.0),
            name: &fe.name,
            frame: &entry.frame_name,
            abbreviation: Some(&fe.abbreviation),
            core_type: Some(fe.core_type),
            sem_types: types.names(&fe.sem_types).collect(),
            definition_text: plain_definition(&fe.definition),
        }
    }

    fn labelled(release: &'a str, entry: &'a LabelledElement) -> Self {
        Self {
            release,
            id: None,
            name: &entry.name,
            frame: &entry.frame_name,
            abbreviation: None,
            core_type: None,
            sem_types: Vec::new(),
            definition_text: String::new(),
        }
    }
}

pub(crate) fn run(args: Args, context: &mut Context) -> anyhow::Result<Outcome> {
    let fe_names = names_or_all("fe", &args.name)?;
    let frame_names = names_or_all("frame", args.frame.as_slice())?;
    let database = Database::open(&context.store)?;
    database.require_name(NameKind::FrameElement, &fe_names)?;
    database.require_name(NameKind::Frame, &frame_names)?;
    let (lexicons, mut listing) = args.rows.of(&database, &mut context.output)?;
    'releases: for lexicon in &lexicons {
        let types = lexicon.semtype_tree()?;
        for entry in lexicon.find_fes(&fe_names)? {
            let entry = entry?;
            if !frame_names.matches(&entry.frame_name) {
                continue;
            }
            if !listing.row(&FeRow::new(&lexicon.release().name, &entry, &types))? {
                break 'releases;
            }
        }
        for entry in lexicon.labelled_fes(&frame_names, &fe_names)? {
            if !listing.row(&FeRow::labelled(&lexicon.release().name, &entry))? {
                break 'releases;
            }
        }
    }
    listing.end::<FeRow<'_>>()
}
