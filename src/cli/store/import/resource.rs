//! `fnstore import` of a lexicon of another kind than FrameNet's.

use std::path::Path;
use std::time::Instant;

use fnstore::database::Database;
use fnstore::model::{Amount, Resource, ResourceCounts};
use fnstore::transfer::ImportOptions;
use serde::Serialize;

use crate::cli::print::notices::tell_index_lag;
use crate::cli::print::output::{Output, size};
use crate::cli::print::render::ONE_ROW;
use crate::cli::{Context, Outcome};

/// An import of another lexicon as JSON; see `schema/import-resource.schema.json`.
#[derive(Debug, Serialize)]
pub(crate) struct ResourceRecord {
    name: String,
    /// JSON `{"enum": ["wordnet", "verbnet", "propbank", "mappings"]}`.
    kind: &'static str,
    version: String,
    language: String,
    licence: String,
    source: String,
    store: String,
    seconds: Amount,
    source_bytes: u64,
    store_bytes: u64,
    counts: ResourceCounts,
}

/// Imports a lexicon into the store and says what came in.
pub(crate) fn run(
    database: &Database,
    path: &Path,
    options: &ImportOptions,
    context: &Context,
) -> anyhow::Result<ResourceRecord> {
    let started = Instant::now();
    let resource = database.import_resource(path, options)?;
    tell_index_lag(database);
    let seconds = (started.elapsed().as_secs_f64() * 1000.0).round() / 1000.0;
    let Resource { name, kind, version, language, licence, source, source_bytes, counts, .. } =
        resource;
    Ok(ResourceRecord {
        name,
        kind: kind.as_str(),
        version,
        language,
        licence,
        source,
        store: context.store.display().to_string(),
        seconds,
        source_bytes,
        store_bytes: database.disk_bytes(),
        counts,
    })
}

impl ResourceRecord {
    /// Writes the record in the format that was asked for.
    pub(crate) fn write(&self, output: &mut Output) -> anyhow::Result<Outcome> {
        output.report(self, ONE_ROW, |output| {
            output.heading(&format!("{} is in {}", self.name, self.store))?;
            for (name, count) in self.counts.named() {
                output.count(name, count, "")?;
            }
            let (read, written) = (size(self.source_bytes), size(self.store_bytes));
            let took = self.seconds;
            output
                .line(&format!("  took {took:.1} s; {read} of files; {written} on disk in all"))?;
            Ok(())
        })?;
        Ok(Outcome::Done)
    }
}
