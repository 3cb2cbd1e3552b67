//! `fnstore import` of a WordNet.

use std::path::Path;
use std::time::Instant;

use fnstore::database::Database;
use fnstore::model::{Amount, Resource, WordnetCounts};
use fnstore::transfer::ImportOptions;
use serde::Serialize;

use crate::cli::print::notices::tell_index_lag;
use crate::cli::print::output::{Output, size};
use crate::cli::print::render::ONE_ROW;
use crate::cli::{Context, Outcome};

/// An import of a WordNet as JSON; see `schema/import-wordnet.schema.json`.
#[derive(Debug, Serialize)]
pub(crate) struct WordnetRecord {
    name: String,
    /// JSON `{"enum": ["wordnet"]}`.
    kind: &'static str,
    version: String,
    language: String,
    licence: String,
    source: String,
    store: String,
    seconds: Amount,
    source_bytes: u64,
    store_bytes: u64,
    counts: WordnetCounts,
}

/// Imports a WordNet into the store and says what came in.
pub(crate) fn run(
    database: &Database,
    path: &Path,
    options: &ImportOptions,
    context: &Context,
) -> anyhow::Result<WordnetRecord> {
    let started = Instant::now();
    let resource = database.import_wordnet(path, options)?;
    tell_index_lag(database);
    let seconds = (started.elapsed().as_secs_f64() * 1000.0).round() / 1000.0;
    let Resource { name, kind, version, language, licence, source, source_bytes, counts, .. } =
        resource;
    Ok(WordnetRecord {
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

impl WordnetRecord {
    /// Writes the record in the format that was asked for.
    pub(crate) fn write(&self, output: &mut Output) -> anyhow::Result<Outcome> {
        output.report(self, ONE_ROW, |output| {
            output.heading(&format!("{} is in {}", self.name, self.store))?;
            let WordnetCounts { synsets, words, senses, relations, irregular } = self.counts;
            let counts = [
                ("synsets", synsets),
                ("words", words),
                ("senses", senses),
                ("relations", relations),
                ("irregular forms", irregular),
            ];
            for (name, count) in counts {
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
