//! `fnstore releases`: what the store holds, and the removal of a release.

use std::collections::BTreeMap;

use fnstore::database::Database;
use fnstore::store::AddedCounts;
use serde::Serialize;

use super::confirm::is_confirmed;
use super::output::{Format, grouped, size, tell, tell_index_lag};
use super::render::Row;
use super::{Context, Outcome, tell_if_empty, tell_of_index};

/// List the releases in the store
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Remove a release, with all that was added to it
    Remove(RemoveArgs),
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
    counts: BTreeMap<&'static str, u64>,
    added: AddedCounts,
}

impl ReleaseRecord {
    /// The columns, with numbers as they are to be written.
    fn row(&self, number: impl Fn(u64) -> String) -> Vec<String> {
        let AddedCounts { imported_sets, user_sets, generated_sets, generated_sentences } =
            self.added;
        let own = imported_sets + user_sets + generated_sets;
        let count = |name: &str| self.counts.get(name).copied().unwrap_or_default();
        vec![
            self.name.clone(),
            self.language.clone(),
            number(count("frames")),
            number(count("lexunits")),
            number(count("exemplar_sets") + count("fulltext_sets") + own),
            number(count("sentences") + generated_sentences),
            self.source.clone(),
        ]
    }
}

impl Row for ReleaseRecord {
    const COLUMNS: &'static [&'static str] =
        &["release", "language", "frames", "LUs", "sets", "sentences", "source"];

    fn fields(&self) -> Vec<String> {
        self.row(|number| number.to_string())
    }

    fn cells(&self) -> Vec<String> {
        self.row(grouped)
    }
}

fn remove(RemoveArgs { name, yes }: &RemoveArgs, context: &Context) -> anyhow::Result<Outcome> {
    let database = Database::open_existing_writer(&context.store)?;
    tell_of_index(&database);
    let release = database.release(name)?;
    let counts: BTreeMap<_, _> = release.counts.named().into();
    let count = |name: &str| counts.get(name).copied().unwrap_or_default();
    let added = database.store().added_counts(release.id)?;
    let what = format!(
        "the release `{name}`: {} frames, {} LUs, {} sets of its own and {} added ones, {} of them \
         generated",
        grouped(count("frames")),
        grouped(count("lexunits")),
        grouped(count("exemplar_sets") + count("fulltext_sets")),
        grouped(added.imported_sets + added.user_sets + added.generated_sets),
        grouped(added.generated_sets),
    );
    if !yes && !is_confirmed(&format!("remove {what}"))? {
        tell("nothing was removed");
        return Ok(Outcome::NothingFound);
    }
    database.remove_release(name)?;
    // The rows take their place on disk until files are packed again.
    database.store().compact()?;
    tell_index_lag(&database);
    tell(&format!("removed {what}"));
    Ok(Outcome::Done)
}

pub(super) fn run(args: Args, context: &mut Context) -> anyhow::Result<Outcome> {
    if let Some(Command::Remove(args)) = &args.command {
        return remove(args, context);
    }
    let database = Database::open(&context.store)?;
    let mut releases = Vec::new();
    for release in database.releases()? {
        let added = database.store().added_counts(release.id)?;
        releases.push(ReleaseRecord {
            counts: release.counts.named().into(),
            name: release.name,
            language: release.language,
            source: release.source,
            source_bytes: release.source_bytes,
            imported: release.imported,
            added,
        });
    }
    context.output.rows(Format::Jsonl, releases)?;
    if tell_if_empty(&database)? {
        return Ok(Outcome::NothingFound);
    }
    tell(&format!("{} on disk in {}", size(database.disk_bytes()), context.store.display()));
    Ok(Outcome::Done)
}
