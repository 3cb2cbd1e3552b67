//! `fnstore merge`: shards of an expansion come into the store.

mod status;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use anyhow::bail;
use fnstore::database::Database;
use fnstore::expand::{self, Manifest, Shard, ShardFile};
use fnstore::model::Positive;
use fnstore::query::Expression;
use serde::Serialize;

use crate::cli::options::author::sign;
use crate::cli::options::splits::SplitArgs;
use crate::cli::print::notices::{tell_index_lag, tell_of_index};
use crate::cli::print::output::{Format, grouped, tell};
use crate::cli::print::progress;
use crate::cli::print::render::Row;
use crate::cli::process::freed;
use crate::cli::{Context, Outcome};

/// Take shards of an expansion into the store
///
/// Takes the files that `fnstore expand --shard` wrote, each whole or not at all, in any order; one
/// that is there already changes nothing. All files are checked against their manifests, and with
/// each other, before the first is taken.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Files of shards; each has its manifest beside it. With `--status` also folders of shards
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,

    /// Say how far all shards are, also while tasks compute them, and take none. Ends with 1 unless
    /// all are there, whole
    #[arg(long, conflicts_with = "mixed")]
    status: bool,

    /// With `--status`, also read the files: one that is as long as it should be may be damaged
    #[arg(long, requires = "status")]
    read: bool,

    /// Also take shards of one expansion that were made by several recipes, as on machines that
    /// have other models, or from several states of a store
    #[arg(long)]
    mixed: bool,

    /// Also read shards that were merged before, as after rows of the store were lost
    #[arg(long, conflicts_with = "status")]
    again: bool,

    #[command(flatten)]
    splits: SplitArgs,
}

const EXAMPLES: &str = "\
Examples:
  fnstore expand frame=Verification --shard 1/2 --out a.zst
  fnstore expand frame=Verification --shard 2/2 --out b.zst
  fnstore merge --status .
  fnstore merge a.zst b.zst";

/// A shard that was taken, as JSON; see `schema/merge.schema.json`.
#[derive(Debug, Serialize)]
struct MergeRecord {
    file: String,
    release: String,
    shard: Positive<u32>,
    of: Positive<u32>,
    seeds: u64,
    sets: u64,
    /// Of these, sets that the store did not have.
    written: u64,
    /// Whether it was merged before and nothing was removed since, so that it was not read.
    skipped: bool,
}

impl Row for MergeRecord {
    const COLUMNS: &'static [&'static str] =
        &["file", "release", "shard", "of", "seeds", "sets", "written", "skipped"];
}

pub(crate) fn run(args: Args, context: &mut Context) -> anyhow::Result<Outcome> {
    if args.status {
        return status::run(&args.files, args.read, context);
    }
    if let Some(folder) = args.files.iter().find(|file| file.is_dir()) {
        bail!(
            "`{0}` is a folder; expected the files of its shards, as in `'{1}'/*.zst`",
            folder.display(),
            folder.display().to_string().trim_end_matches('/')
        );
    }
    let _giving_back = freed::give_back();
    let shards = read_shards(&args)?;
    let database = open_database(&args, &shards, context)?;
    if !args.mixed {
        expand::require_seeds_of_shards(&database, &shards)?;
    }
    tell_of_index(&database);
    sign(&database);
    let mut rows = Vec::new();
    let bar = progress::bar("merging", "shards");
    bar.set_length(shards.len() as u64);
    bar.set_position(0);
    for (file, manifest) in &shards {
        let written = match args.again {
            true => Some(expand::merge_shard_again(&database, file, manifest)?),
            false => expand::merge_shard(&database, file, manifest)?,
        };
        let Shard { number, of } = manifest.shard;
        rows.push(MergeRecord {
            file: file.display().to_string(),
            release: manifest.release.clone(),
            shard: number,
            of,
            seeds: manifest.seeds,
            sets: manifest.sets,
            written: written.unwrap_or(0),
            skipped: written.is_none(),
        });
        bar.inc(1);
    }
    bar.finish_and_clear();
    tell_index_lag(&database);
    context.output.rows(Format::Jsonl, rows)?;
    context.output.flush()?;
    tell_of_missing(&shards);
    Ok(Outcome::Done)
}

/// The shards of files; says of each file that is wrong what is.
fn read_shards(args: &Args) -> anyhow::Result<Vec<ShardFile>> {
    expand::read_shards(&args.files, args.mixed).map_err(|mut wrong| {
        let last = wrong.pop().expect("there is an error where there is no answer");
        wrong.iter().for_each(|error| tell(&format!("{error}")));
        last.into()
    })
}

/// The store, under the split list that the query of the shards was answered by.
fn open_database(args: &Args, shards: &[ShardFile], context: &Context) -> anyhow::Result<Database> {
    let query = shards.first().and_then(|(_, manifest)| manifest.query.parse().ok());
    let query = query.unwrap_or(Expression::Everything);
    args.splits.over_query(&query, || Database::open_existing_writer(&context.store))
}

/// Missing shards that are named one by one.
const TOLD: usize = 20;

/// Says which shards of an expansion are not among those given.
fn tell_of_missing(shards: &[ShardFile]) {
    let mut given: BTreeMap<(&str, &str, u32), Vec<u32>> = BTreeMap::new();
    for (_, Manifest { recipe, query, shard, .. }) in shards {
        given.entry((recipe, query, shard.of)).or_default().push(shard.number);
    }
    for ((_, query, of), numbers) in given {
        let numbers: BTreeSet<u32> = numbers.into_iter().collect();
        let missing = (1..=of).filter(|number| !numbers.contains(number));
        let mut named: Vec<String> = missing.take(TOLD).map(|it| it.to_string()).collect();
        let more = (of as usize).saturating_sub(numbers.len() + named.len());
        if more > 0 {
            named.push(format!("and {} more", grouped(more as u64)));
        }
        if !named.is_empty() {
            tell(&format!("`{query}`: not among these files: shards {} of {of}", named.join(", ")));
        }
    }
}
