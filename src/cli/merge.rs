//! `fnstore merge`: shards of an expansion come into the store.

use std::collections::BTreeMap;
use std::path::PathBuf;

use fnstore::database::Database;
use fnstore::exchange::jsonl::LineKind;
use fnstore::expand::{Manifest, Shard};
use serde::Serialize;

use super::output::{Format, tell, tell_index_lag};
use super::render::Row;
use super::{Context, Outcome, tell_of_index};

/// Take shards of an expansion into the store
///
/// Takes the files that `fnstore expand --shard` wrote, each whole or not at all, in any order; one
/// that is there already changes nothing. All files are checked against their manifests before the
/// first is taken.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// Files of shards; each has its manifest beside it
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  fnstore expand frame=Verification --shard 1/2 --out a.zst
  fnstore expand frame=Verification --shard 2/2 --out b.zst
  fnstore merge a.zst b.zst";

/// A shard that was taken, as JSON; see `schema/merge.schema.json`.
#[derive(Debug, Serialize)]
struct MergeRecord {
    file: String,
    release: String,
    shard: u32,
    of: u32,
    seeds: u64,
    sets: u64,
    /// Sets that the store did not have.
    written: u64,
}

impl Row for MergeRecord {
    const COLUMNS: &'static [&'static str] =
        &["file", "release", "shard", "of", "seeds", "sets", "written"];
}

pub(super) fn run(args: &Args, context: &mut Context) -> anyhow::Result<Outcome> {
    let mut manifests = Vec::new();
    for file in &args.files {
        manifests.push(Manifest::verified(file)?);
    }
    let database = Database::open_existing_writer(&context.store)?;
    tell_of_index(&database);
    let mut rows = Vec::new();
    for (file, manifest) in args.files.iter().zip(&manifests) {
        let import = database.import_jsonl(file, None, &mut |_| {})?;
        let Shard { number, of } = manifest.shard;
        rows.push(MergeRecord {
            file: file.display().to_string(),
            release: import.release.name,
            shard: number,
            of,
            seeds: manifest.seeds,
            sets: manifest.sets,
            written: import.written.get(&LineKind::Set).copied().unwrap_or(0),
        });
    }
    tell_index_lag(&database);
    context.output.rows(Format::Jsonl, rows)?;
    context.output.flush()?;
    tell_of_missing(&manifests);
    Ok(Outcome::Done)
}

/// Says which shards of an expansion are not among those given.
fn tell_of_missing(manifests: &[Manifest]) {
    let mut given: BTreeMap<(&str, &str, u32), Vec<u32>> = BTreeMap::new();
    for Manifest { recipe, query, shard, .. } in manifests {
        given.entry((recipe, query, shard.of)).or_default().push(shard.number);
    }
    for ((_, query, of), numbers) in given {
        let missing: Vec<String> =
            (1..=of).filter(|number| !numbers.contains(number)).map(|it| it.to_string()).collect();
        if !missing.is_empty() {
            tell(&format!(
                "`{query}`: not among these files: shards {} of {of}",
                missing.join(", ")
            ));
        }
    }
}
