//! `fnstore releases`: what the store holds, and the removal of a release.

mod diff;

use std::collections::BTreeMap;

use fnstore::database::{Database, DatabaseError, LookupError};
use fnstore::internals::WithStore as _;
use fnstore::model::{Release, Resource, ResourceCounts};
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
    /// Remove a release, with all that was added to it, or another lexicon
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
    /// JSON `{"enum": ["framenet"]}`.
    kind: &'static str,
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
            kind: "framenet",
            language: release.language,
            source: release.source,
            source_bytes: release.source_bytes,
            imported: release.imported,
            added,
        }
    }
}

impl Row for ReleaseRecord {
    const COLUMNS: &'static [&'static str] = &[
        "name",
        "language",
        "frames",
        "lexunits",
        "proposed",
        "sets",
        "sentences",
        "source",
        "kind",
    ];

    fn cells(&self) -> Vec<String> {
        let Self { frames, lexunits, proposed, sets, sentences, .. } = *self;
        let counts = [frames, lexunits, proposed, sets, sentences].map(grouped);
        let named = [self.name.clone(), self.language.clone()];
        named.into_iter().chain(counts).chain([self.source.clone(), self.kind.to_owned()]).collect()
    }
}

/// A lexicon of another kind as JSON; see `schema/resource.schema.json`.
#[derive(Debug, Serialize)]
struct ResourceRecord {
    name: String,
    /// JSON `{"enum": ["wordnet", "verbnet", "propbank", "mappings"]}`.
    kind: &'static str,
    version: String,
    language: String,
    licence: String,
    source: String,
    source_bytes: u64,
    imported: u64,
    counts: ResourceCounts,
}

impl From<Resource> for ResourceRecord {
    fn from(of: Resource) -> Self {
        Self {
            name: of.name,
            kind: of.kind.as_str(),
            version: of.version,
            language: of.language,
            licence: of.licence,
            source: of.source,
            source_bytes: of.source_bytes,
            imported: of.imported,
            counts: of.counts,
        }
    }
}

impl ResourceRecord {
    /// What stands in the columns of a release.
    fn cells(&self) -> Vec<String> {
        let cell = |column: &&str| match *column {
            "name" => self.name.clone(),
            "kind" => self.kind.to_owned(),
            "language" => self.language.clone(),
            "source" => self.source.clone(),
            _ => String::new(),
        };
        ReleaseRecord::COLUMNS.iter().map(cell).collect()
    }
}

/// Removes a lexicon of another kind.
fn remove_resource(database: &Database, name: &str, yes: bool) -> anyhow::Result<Outcome> {
    let resource = database.resource(name)?;
    let counts = resource.counts.named();
    let counts = counts.iter().map(|(name, count)| format!("{} {name}", grouped(*count)));
    let counts = counts.collect::<Vec<_>>().join(", ");
    let what = format!("the {} `{name}`: {counts}", resource.kind.called());
    if !yes && !is_confirmed(&format!("remove {what}"))? {
        return Outcome::nothing("nothing was removed");
    }
    database.remove_resource(name)?;
    database.store().compact()?;
    tell_index_lag(database);
    tell(&format!("removed {what}"));
    Ok(Outcome::Done)
}

fn remove(RemoveArgs { name, yes }: &RemoveArgs, context: &Context) -> anyhow::Result<Outcome> {
    let database = Database::open_existing_writer(&context.store)?;
    watch(&database);
    tell_of_index(&database);
    let release = match database.release(name) {
        Ok(release) => release,
        Err(no_release) => match database.resource(name) {
            Ok(_) => return remove_resource(&database, name, *yes),
            Err(
                near @ DatabaseError::Lookup(LookupError::UnknownName { nearest: Some(_), .. }),
            ) => {
                return Err(near.into());
            }
            Err(DatabaseError::Lookup(_)) => return Err(no_release.into()),
            Err(error) => return Err(error.into()),
        },
    };
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
    let resources = database.resources()?;
    let has_resources = !resources.is_empty();
    let mut records = context.output.records(Format::Jsonl);
    records.header(ReleaseRecord::COLUMNS)?;
    for release in &releases {
        records.row(release)?;
    }
    for resource in resources.into_iter().map(ResourceRecord::from) {
        records.row_under(ReleaseRecord::COLUMNS, &resource, || resource.cells())?;
    }
    records.end_rows::<ReleaseRecord>()?;
    if !has_resources && tell_if_empty(&database)? {
        return Ok(Outcome::NothingFound);
    }
    tell(&format!("{} on disk in {}", size(database.disk_bytes()), context.store.display()));
    Ok(Outcome::Done)
}
