//! `fnstore foreign`: what the files of releases hold beside FrameNet, one piece a row.

use crate::cli::options::named::named;
use fnstore::database::Database;
use fnstore::lexicon::FileSubject;
use serde::Serialize;

use crate::cli::options::listing::{Rows, names_or_all};
use crate::cli::print::render::Row;
use crate::cli::{Context, Outcome};

/// List what the files of releases hold beside FrameNet
///
/// An attribute is written as `name=value`, an element or a text as it stands in its file. Queries
/// find annotation sets by the same content: `foreign=`, `frame_foreign=`, `lu_foreign=`,
/// `doc_foreign=`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Content: `sure=*`, or `~` and a regular expression; all when left out
    #[arg(value_name = "CONTENT")]
    content: Vec<String>,

    /// List only content of these files
    #[arg(long, value_name = "KIND", value_parser = named::<FileSubject>())]
    kind: Option<FileSubject>,

    #[command(flatten)]
    rows: Rows,
}

const EXAMPLES: &str = "\
Examples:
  fnstore foreign
  fnstore foreign 'sure=*' --kind frame
  fnstore foreign '~<note' --format csv";

/// A piece of foreign content as JSON; see `schema/foreign.schema.json`.
#[derive(Debug, Serialize)]
struct ForeignRow<'a> {
    release: &'a str,
    kind: FileSubject,
    name: &'a str,
    element: &'a str,
    content: String,
}

impl Row for ForeignRow<'_> {
    const COLUMNS: &'static [&'static str] = &["release", "kind", "name", "element", "content"];
}

pub(crate) fn run(args: Args, context: &mut Context) -> anyhow::Result<Outcome> {
    let wanted = names_or_all("foreign", &args.content)?;
    let database = Database::open(&context.store)?;
    let (lexicons, mut listing) = args.rows.of(&database, &mut context.output)?;
    'releases: for lexicon in &lexicons {
        for row in lexicon.all_foreign()? {
            let (file, foreign) = row?;
            if args.kind.is_some_and(|kind| kind != FileSubject::of(file)) {
                continue;
            }
            let (release, name) = (&lexicon.release().name, lexicon.subject_name(file)?);
            for place in &foreign.places {
                for content in place.texts().filter(|text| wanted.matches(text)) {
                    let (kind, element) = (FileSubject::of(file), place.element.as_str());
                    let row = ForeignRow { release, kind, name: &name, element, content };
                    if !listing.row(&row)? {
                        break 'releases;
                    }
                }
            }
        }
    }
    listing.end::<ForeignRow<'_>>()
}
