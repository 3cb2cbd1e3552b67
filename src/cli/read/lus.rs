//! `fnstore lus`: the lexical units, one a row.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use fnstore::database::Database;
use fnstore::lexicon::SetCounts;
use fnstore::model::LexUnit;
use fnstore::store::NameKind;
use serde::Serialize;

use crate::cli::options::listing::{Rows, Statuses, names_and_relations, names_or_all};
use crate::cli::print::linked::{LinkRecord, links_of};
use crate::cli::print::render::Row;
use crate::cli::{Context, Outcome};

/// List lexical units with their annotation sets, counted by origin
///
/// `claimed_annotated`, of CSV and JSON, is the number of annotated sentences that the release's
/// own files state. FrameNet 1.5 counts exemplars there, 1.7 full text as well.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Names: `confirm.v`, `confirm*`, or `~` and a regular expression; all when left out. Tests of
    /// their frames' relations, such as `uses=Motion`, may stand beside them
    #[arg(value_name = "NAME")]
    name: Vec<String>,

    /// List only LUs of this frame; a name or pattern, as NAME
    #[arg(long, value_name = "NAME")]
    frame: Option<String>,

    #[command(flatten)]
    rows: Rows,

    #[command(flatten)]
    statuses: Statuses,
}

const EXAMPLES: &str = "\
Examples:
  fnstore lus 'confirm*'
  fnstore lus --frame Verification
  fnstore lus 'inherits=Motion{distance=1}'
  fnstore lus '~^un.*\\.a$' --format csv";

/// An LU as JSON; see `schema/lus.schema.json`.
#[derive(Debug, Serialize)]
struct LuRow<'a> {
    release: &'a str,
    id: u32,
    name: &'a str,
    frame: &'a str,
    pos: &'static str,
    status: &'a str,
    #[serde(flatten)]
    sets: SetCounts,
    claimed_annotated: u32,
    incorporated_fe: Option<&'a str>,
    definition: &'a str,
    /// What it is linked to in other lexicons.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    links: Vec<LinkRecord>,
}

impl Row for LuRow<'_> {
    const COLUMNS: &'static [&'static str] = &[
        "release",
        "id",
        "name",
        "frame",
        "pos",
        "status",
        "exemplar",
        "fulltext",
        "imported",
        "user",
        "generated",
        "predicted",
        "carried",
        "claimed_annotated",
    ];
    // A terminal has room for what is counted.
    const TABLE_COLUMNS: &'static [&'static str] = match Self::COLUMNS {
        [columns @ .., _] => columns,
        [] => &[],
    };
}

impl<'a> LuRow<'a> {
    fn new(
        (release, frame): (&'a str, &'a str),
        lu: &'a LexUnit,
        sets: SetCounts,
        links: Vec<LinkRecord>,
    ) -> Self {
        Self {
            release,
            id: lu.id.0,
            name: &lu.name,
            frame,
            pos: lu.pos.as_str(),
            status: &lu.status,
            sets,
            claimed_annotated: lu.sentence_count.annotated,
            incorporated_fe: lu.incorporated_fe.as_deref(),
            definition: &lu.definition,
            links,
        }
    }
}

pub(crate) fn run(args: Args, context: &mut Context) -> anyhow::Result<Outcome> {
    let database = Database::open(&context.store)?;
    let (lu_names, relations) = names_and_relations(&database, "lu", &args.name)?;
    let lu_names = names_or_all("lu", &lu_names)?;
    let frame_names = names_or_all("frame", args.frame.as_slice())?;
    database.require_name(NameKind::LexUnit, &lu_names)?;
    database.require_name(NameKind::Frame, &frame_names)?;
    let catalog = database.catalog()?;
    let (lexicons, mut listing) = args.rows.of(&database, &mut context.output)?;
    let mut hidden = 0;
    'releases: for lexicon in &lexicons {
        let release = lexicon.release();
        let mut passing = HashMap::new();
        for lu in lexicon.find_lus(&lu_names)? {
            let lu = lu?;
            let frame = catalog.frame(release.id, lu.frame)?;
            let passes = match passing.entry(lu.frame) {
                Entry::Occupied(known) => *known.get(),
                Entry::Vacant(unknown) => *unknown.insert(
                    frame_names.matches(&frame)
                        && catalog.frame_passes(release.id, lu.frame, &relations)?,
                ),
            };
            if !passes {
                continue;
            }
            if !args.statuses.include_named(&lu_names, &lu) {
                hidden += 1;
                continue;
            }
            let sets = lexicon.set_counts(lu.frame, lu.id)?;
            let links = links_of(&database, release.id, &lu)?;
            let row = LuRow::new((&release.name, &frame), &lu, sets, links);
            if !listing.row(&row)? {
                break 'releases;
            }
        }
    }
    let outcome = listing.end::<LuRow<'_>>()?;
    Statuses::tell_hidden(hidden);
    Ok(outcome)
}
