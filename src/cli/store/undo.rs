//! `fnstore undo`: commits taken back.

use fnstore::database::Database;
use fnstore::model::Positive;
use serde::Serialize;

use crate::cli::options::author::sign;
use crate::cli::print::notices::{tell_index_lag, tell_of_index};
use crate::cli::print::output::counted;
use crate::cli::print::render::ONE_ROW;
use crate::cli::{Context, Outcome};

/// Take back commits: edits, judgements, decisions, merges
///
/// Records become what they were before: what was added goes, what was removed comes back under its
/// own number. All of it, or nothing when something is in the way, as a record that was changed
/// since. `fnstore history` lists the commits. Taking back is a commit of its own and can be taken
/// back in turn. The import of a release and the sets of an expansion are no such commits:
/// `fnstore releases remove` and `fnstore delete` remove these.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Take back the commits of these numbers, the last one first
    #[arg(value_name = "REVISION", required = true)]
    revisions: Vec<u64>,

    /// Say why; the store keeps it
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    note: String,
}

const EXAMPLES: &str = "\
Examples:
  fnstore history --limit 5
  fnstore undo 17
  fnstore undo 15 16 17 --note 'wrong release'";

/// What was taken back, as JSON; see `schema/undone.schema.json`.
#[derive(Debug, Serialize)]
struct UndoneRecord {
    undone: Vec<Positive>,
    revision: Positive,
    records: u64,
}

pub(crate) fn run(args: Args, context: &mut Context) -> anyhow::Result<Outcome> {
    let database = Database::open_existing_writer(&context.store)?;
    tell_of_index(&database);
    sign(&database);
    let undone = database.undo(&args.revisions, &args.note)?;
    tell_index_lag(&database);
    if undone.records == 0 {
        return Outcome::nothing("nothing is left of it to take back");
    }
    let (revision, records) = (undone.revision, undone.records);
    let record = UndoneRecord { undone: args.revisions, revision, records };
    context.output.report(&record, ONE_ROW, |output| {
        let numbers: Vec<String> = record.undone.iter().map(ToString::to_string).collect();
        let records = counted(record.records, "record");
        let is = if record.records == 1 { "is" } else { "are" };
        Ok(output.line(&format!(
            "took back {}: {records} {is} what they were; the store is at revision {}",
            numbers.join(", "),
            record.revision
        ))?)
    })?;
    Ok(Outcome::Done)
}
