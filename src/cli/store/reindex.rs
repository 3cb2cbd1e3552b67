//! `fnstore reindex`: the index built anew from the store.

use std::time::Instant;

use fnstore::database::Database;
use fnstore::model::Amount;
use serde::Serialize;

use crate::cli::print::output::counted;
use crate::cli::print::render::ONE_ROW;
use crate::cli::{Context, Outcome};

/// Rebuild the index from the store
///
/// The old index stays until the new one is complete. The next writer also repairs an index that is
/// lost, damaged or behind. A store that has lost commits (`C-commits-lost`) opens again
/// afterwards, without them.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

/// A new index as JSON; see `schema/reindex.schema.json`.
#[derive(Debug, Serialize)]
struct ReindexRecord {
    store: String,
    revision: u64,
    entries: u64,
    seconds: Amount,
}

pub(crate) fn run(_args: Args, context: &mut Context) -> anyhow::Result<Outcome> {
    let started = Instant::now();
    let report = Database::reindex(&context.store)?;
    let record = ReindexRecord {
        store: context.store.display().to_string(),
        revision: report.revision,
        entries: report.entries,
        seconds: (started.elapsed().as_secs_f64() * 1000.0).round() / 1000.0,
    };
    context.output.report(&record, ONE_ROW, |output| {
        Ok(output.line(&format!(
            "{}, as of revision {}, in {:.1} s",
            counted(record.entries, "entry"),
            record.revision,
            record.seconds
        ))?)
    })?;
    Ok(Outcome::Done)
}
