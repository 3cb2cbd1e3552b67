//! `fnstore releases`: what the store holds.

use std::collections::BTreeMap;

use fnstore::database::Database;
use fnstore::store::AddedCounts;
use serde::Serialize;

use super::output::{Format, grouped, size, tell};
use super::{Context, Outcome};

/// List the releases in the store
#[derive(Debug, clap::Args)]
pub(super) struct Args {}

/// A release as JSON; see `schema/release.schema.json`.
#[derive(Debug, Serialize)]
struct ReleaseRecord {
    name: String,
    language: String,
    source: String,
    source_bytes: u64,
    imported: u64,
    counts: BTreeMap<&'static str, u64>,
    added: AddedRecord,
}

/// Sets that are not FrameNet's, and generated sentences.
#[derive(Debug, Serialize)]
struct AddedRecord {
    imported_sets: u64,
    user_sets: u64,
    generated_sets: u64,
    generated_sentences: u64,
}

impl From<AddedCounts> for AddedRecord {
    fn from(counts: AddedCounts) -> Self {
        let AddedCounts { imported_sets, user_sets, generated_sets, generated_sentences } = counts;
        Self { imported_sets, user_sets, generated_sets, generated_sentences }
    }
}

pub(super) fn run(_args: Args, context: &mut Context) -> anyhow::Result<Outcome> {
    let database = Database::open(&context.store)?;
    let mut releases = Vec::new();
    for release in database.releases()? {
        let added = database.store().added_counts(release.id)?;
        releases.push((release, added));
    }
    let output = &mut context.output;
    let format = output.format_or(Format::Jsonl);
    match format {
        Format::Json | Format::Jsonl => {
            for (release, added) in &releases {
                let record = ReleaseRecord {
                    name: release.name.clone(),
                    language: release.language.clone(),
                    source: release.source.clone(),
                    source_bytes: release.source_bytes,
                    imported: release.imported,
                    counts: release.counts.named().into(),
                    added: (*added).into(),
                };
                output.record(&record, format)?;
            }
            output.end_records(format)?;
        }
        Format::Table | Format::Csv | Format::Tsv => {
            let header = ["release", "language", "frames", "LUs", "sets", "sentences", "source"];
            let number = |n: u64| if format == Format::Table { grouped(n) } else { n.to_string() };
            let rows = releases.iter().map(|(release, added)| {
                let counts = &release.counts;
                let own = added.imported_sets + added.user_sets + added.generated_sets;
                vec![
                    release.name.clone(),
                    release.language.clone(),
                    number(counts.frames),
                    number(counts.lexunits),
                    number(counts.exemplar_sets + counts.fulltext_sets + own),
                    number(counts.sentences + added.generated_sentences),
                    release.source.clone(),
                ]
            });
            if format == Format::Table {
                output.table(&header, rows.collect())?;
            } else {
                output.fields(format, header)?;
                for row in rows {
                    output.fields(format, row)?;
                }
            }
        }
    }
    if releases.is_empty() {
        tell("the store is empty; `fnstore import PATH` brings in a release");
        return Ok(Outcome::NothingFound);
    }
    tell(&format!("{} on disk in {}", size(database.disk_bytes()), context.store.display()));
    Ok(Outcome::Done)
}
