//! `fnstore releases`: what the store holds.

use std::collections::BTreeMap;

use fnstore::database::Database;
use serde::Serialize;

use super::output::{Format, grouped, size, tell};
use super::{Context, Outcome, import};

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
}

pub(super) fn run(_args: Args, context: &mut Context) -> anyhow::Result<Outcome> {
    let database = Database::open(&context.store)?;
    let releases = database.releases()?;
    let output = &mut context.output;
    let format = output.format_or(Format::Jsonl);
    match format {
        Format::Json | Format::Jsonl => {
            for release in &releases {
                let record = ReleaseRecord {
                    name: release.name.clone(),
                    language: release.language.clone(),
                    source: release.source.clone(),
                    source_bytes: release.source_bytes,
                    imported: release.imported,
                    counts: import::counts(&release.counts).into_iter().collect(),
                };
                output.record(&record, format)?;
            }
            output.end_records(format)?;
        }
        Format::Table | Format::Csv | Format::Tsv => {
            let header = ["release", "language", "frames", "LUs", "sets", "sentences", "source"];
            let number = |n: u64| if format == Format::Table { grouped(n) } else { n.to_string() };
            let rows = releases.iter().map(|release| {
                let counts = &release.counts;
                vec![
                    release.name.clone(),
                    release.language.clone(),
                    number(counts.frames),
                    number(counts.lexunits),
                    number(counts.exemplar_sets + counts.fulltext_sets),
                    number(counts.sentences),
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
