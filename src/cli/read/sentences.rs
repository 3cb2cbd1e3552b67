//! `fnstore sentences`: the sentences of a release, also those without annotation sets.

use fnstore::database::Database;
use serde::Serialize;

use crate::cli::options::listing::Rows;
use crate::cli::print::render::Row;
use crate::cli::{Context, Outcome};

/// List sentences
///
/// By id: exemplars, full text, imported, generated. A query finds sets, and so no sentence that
/// has none.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// List only sentences without an annotation set that evokes a frame
    #[arg(long)]
    without_sets: bool,

    #[command(flatten)]
    rows: Rows,
}

/// A sentence as JSON; see `schema/sentences.schema.json`.
#[derive(Debug, Serialize)]
struct SentenceRow<'a> {
    release: &'a str,
    id: String,
    sets: u64,
    text: String,
}

impl Row for SentenceRow<'_> {
    const COLUMNS: &'static [&'static str] = &["release", "id", "sets", "text"];
}

pub(crate) fn run(args: Args, context: &mut Context) -> anyhow::Result<Outcome> {
    let database = Database::open(&context.store)?;
    let (lexicons, mut listing) = args.rows.of(&database, &mut context.output)?;
    for lexicon in &lexicons {
        for sentence in lexicon.sentences()? {
            let sentence = sentence?;
            let mut sets = 0;
            for set in lexicon.annotation_sets_of(sentence.id)? {
                set?;
                sets += 1;
            }
            if args.without_sets && sets > 0 {
                continue;
            }
            let (release, id) = (lexicon.release().name.as_str(), sentence.id.to_string());
            if !listing.row(&SentenceRow { release, id, sets, text: sentence.text })? {
                return listing.end::<SentenceRow<'_>>();
            }
        }
    }
    listing.end::<SentenceRow<'_>>()
}
