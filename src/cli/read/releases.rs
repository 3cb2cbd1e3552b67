//! `fnstore releases`: what the store holds, and the removal of a release.

mod diff;

use std::collections::BTreeMap;

use fnstore::database::Database;
use fnstore::internals::WithStore as _;
use fnstore::model::Release;
use fnstore::store::AddedCounts;
use serde::Serialize;

use crate::cli::options::author::watch;
use crate::cli::options::confirm::is_confirmed;
use crate::cli::print::notices::{tell_if_empty, tell_index_lag, tell_of_index};
use crate::cli::print::output::{Format, counted, grouped, size, tell};
use crate::cli::print::render::Row;
use crate::cli::{Context, Outcome};
use diff::{DiffArgs, diff};

/// List the releases in the store
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Remove a release, with all that was added to it
    Remove(RemoveArgs),
    Diff(DiffArgs),
}

#[derive(Debug, clap::Args)]
struct RemoveArgs {
    /// Name of the release
    #[arg(value_name = "NAME")]
    name: String,

    /// Remove without asking
    #[arg(long)]
    yes: bool,
}

/// A release as JSON; see `schema/release.schema.json`.
#[derive(Debug, Serialize)]
struct ReleaseRecord {
    name: String,
    language: String,
    source: String,
    source_bytes: u64,
    imported: u64,
    /// Frames, as `fnstore frames` lists them.
    frames: u64,
    lexunits: u64,
    /// LUs that an expansion proposed.
    proposed: u64,
    sets: u64,
    sentences: u64,
    counts: BTreeMap<&'static str, u64>,
    added: AddedCounts,
}

impl ReleaseRecord {
    fn new(release: Release, proposed: u64, added: AddedCounts) -> Self {
        let counts = release.counts;
        Self {
            frames: counts.frames,
            lexunits: counts.lexunits.saturating_sub(proposed),
            proposed,
            sets: counts.exemplar_sets + counts.fulltext_sets + added.sets(),
            sentences: counts.sentences + added.generated_sentences,
            counts: counts.named().into(),
            name: release.name,
            language: release.language,
            source: release.source,
            source_bytes: release.source_bytes,
            imported: release.imported,
            added,
        }
    }
}

impl Row for ReleaseRecord {
    const COLUMNS: &'static [&'static str] =
        &["name", "language", "frames", "lexunits", "proposed", "sets", "sentences", "source"];

    fn cells(&self) -> Vec<String> {
        let Self { frames, lexunits, proposed, sets, sentences, .. } = *self;
        let counts = [frames, lexunits, proposed, sets, sentences].map(grouped);
        let named = [self.name.clone(), self.language.clone()];
        named.into_iter().chain(counts).chain([self.source.clone()]).collect()
    }
}

fn remove(RemoveArgs { name, yes }: &RemoveArgs, context: &Context) -> anyhow::Result<Outcome> {
    let database = Database::open_existing_writer(&context.store)?;
    watch(&database);
    tell_of_index(&database);
    let release = database.release(name)?;
    let counts = release.counts;
    let added = database.store().added_counts(release.id)?;
    let what = format!(
        "the release `{name}`: {}, {}, {} of its own and {} added, {} of them generated",
        counted(counts.frames, "frame"),
        counted(counts.lexunits, "LU"),
        counted(counts.exemplar_sets + counts.fulltext_sets, "set"),
        grouped(added.sets()),
        grouped(added.generated_sets),
    );
    if !yes && !is_confirmed(&format!("remove {what}"))? {
        return Outcome::nothing("nothing was removed");
    }
    database.remove_release(name)?;
    // The rows take their place on disk until files are packed again.
    database.store().compact()?;
    tell_index_lag(&database);
    tell(&format!("removed {what}"));
    Ok(Outcome::Done)
}

pub(crate) fn run(args: Args, context: &mut Context) -> anyhow::Result<Outcome> {
    match &args.command {
        Some(Command::Remove(args)) => return remove(args, context),
        Some(Command::Diff(args)) => return diff(args, context),
        None => {}
    }
    let database = Database::open(&context.store)?;
    let mut releases = Vec::new();
    for lexicon in database.lexicons()? {
        let release = lexicon.release().clone();
        let added = database.store().added_counts(release.id)?;
        releases.push(ReleaseRecord::new(release, lexicon.proposed_lus()?, added));
    }
    context.output.rows(Format::Jsonl, releases)?;
    if tell_if_empty(&database)? {
        return Ok(Outcome::NothingFound);
    }
    tell(&format!("{} on disk in {}", size(database.disk_bytes()), context.store.display()));
    Ok(Outcome::Done)
}
