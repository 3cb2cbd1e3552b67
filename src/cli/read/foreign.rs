//! `fnstore foreign`: what the files of releases hold beside FrameNet, one piece a row.

use crate::cli::options::named::named;
use fnstore::database::Database;
use fnstore::lexicon::Lexicon;
use fnstore::model::ForeignFile;
use fnstore::named;
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

named! {
    /// What the file that holds it is about.
    enum FileSubject {
        Frame => "frame",
        Lu => "lu",
        Document => "document",
        /// Indexes, relations, semantic types
        Top => "top",
    }
}

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
            if args.kind.is_some_and(|kind| kind != kind_of(file)) {
                continue;
            }
            let (release, name) = (&lexicon.release().name, name_of(lexicon, file)?);
            for place in &foreign.places {
                for content in place.texts().filter(|text| wanted.matches(text)) {
                    let (kind, element) = (kind_of(file), place.element.as_str());
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

fn kind_of(file: ForeignFile) -> FileSubject {
    match file {
        ForeignFile::Top(_) => FileSubject::Top,
        ForeignFile::Frame(_) => FileSubject::Frame,
        ForeignFile::LexUnit(..) => FileSubject::Lu,
        ForeignFile::Document(..) => FileSubject::Document,
    }
}

/// What the frame, LU or document of a file is called; of a file at the top its own name.
fn name_of(lexicon: &Lexicon<'_>, file: ForeignFile) -> anyhow::Result<String> {
    let name = match file {
        ForeignFile::Top(top) => Some(top.as_str().to_owned()),
        ForeignFile::Frame(frame) => lexicon.frame(frame)?.map(|frame| frame.name),
        ForeignFile::LexUnit(frame, lu) => lexicon.lu_of_frame(frame, lu)?.map(|lu| lu.name),
        ForeignFile::Document(corpus, id) => {
            lexicon.document(corpus, id)?.map(|document| document.name)
        }
    };
    Ok(name.unwrap_or_default())
}
