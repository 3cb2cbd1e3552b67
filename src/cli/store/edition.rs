//! `fnstore edition`: named selections of annotation sets, frozen.

mod promise;
mod publish;

use std::path::PathBuf;

use anyhow::{bail, ensure};
use fnstore::database::{Database, DatabaseError};
use fnstore::exchange::kept_split_list;
use fnstore::internals::WithStore as _;
use fnstore::lexicon::EditionChanges;
use fnstore::model::{AnnotationSetId, Edition, Hex64, ReleaseId};
use fnstore::query::{Expression, Field, Term};
use fnstore::text::shortened;
use serde::Serialize;

use super::edit::{commit, now};
use crate::cli::options::author::sign;
use crate::cli::options::query::expression;
use crate::cli::options::sample::SampleArgs;
use crate::cli::options::splits::SplitArgs;
use crate::cli::print::notices::tell_of_index;
use crate::cli::print::output::{Format, Output, counted, grouped, tell};
use crate::cli::print::render::{Block, Row};
use crate::cli::{Context, Outcome};
use promise::{PromiseArgs, PromiseRecord};
use publish::PublishArgs;

/// Freeze annotation sets under a name
///
/// An edition holds the ids of annotation sets, a hash over them, and a hash of each set's content.
/// `edition=NAME` finds its sets in every query. Edits and expansions leave it as it is; `verify`
/// says which of its sets are gone or changed.
///
/// With `--precision` an edition promises that so many of its sets are right. `fnstore review
/// --for NAME` asks for the judgements that it needs, and `cut` takes them. It may be cut at any
/// time, and as often as one likes: the promise holds all the same.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, arg_required_else_help = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,

    /// The release [default: the only one, or the only one that has the edition]
    #[arg(long, value_name = "NAME", global = true)]
    release: Option<String>,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Freeze the annotation sets that a query finds
    Create {
        /// Name of the edition
        name: String,
        /// Freeze what this query finds
        #[arg(value_name = "EXPR", required = true)]
        expression: Vec<String>,
        #[command(flatten)]
        promise: PromiseArgs,
        #[command(flatten)]
        sample: SampleArgs,
        #[command(flatten)]
        splits: SplitArgs,
    },
    /// Cut an edition where the judgements of now keep its promise
    Cut {
        /// Name of the edition
        name: String,
    },
    /// List the editions
    List,
    /// Show an edition
    Show {
        /// Name of the edition
        name: String,
    },
    /// Say which annotation sets of an edition are gone or changed, and which its query finds
    /// beside them
    Verify {
        /// Name of the edition
        name: String,
        /// Say instead whether its promise is kept: by the judgements in the store, or by those of
        /// FILE, which are of a random sample of the edition and have the form of `judge --from`
        #[arg(long, value_name = "FILE", num_args = 0..=1)]
        judgements: Option<Option<PathBuf>>,
        #[command(flatten)]
        splits: SplitArgs,
    },
    /// Write an edition as a data set that `datasets` and polars load, with a card, checksums,
    /// FrameNet's XML, and all that its sets refer to
    Publish(PublishArgs),
    /// Delete an edition; its annotation sets stay
    Delete {
        /// Name of the edition
        name: String,
    },
}

const EXAMPLES: &str = "\
Examples:
  fnstore edition create strict 'origin=generated p>=0.78'
  fnstore edition create pilot origin=generated --sample 5 --per frame --seed 7
  fnstore edition list
  fnstore query 'edition=strict frame=Verification'
  fnstore edition verify strict
  fnstore edition create right origin=generated --precision 0.9 --by round
  fnstore edition cut right
  fnstore edition verify right --judgements judged.jsonl
  fnstore edition publish strict strict-1.0
  fnstore export edition=strict --to jsonl strict.jsonl";

/// An edition as JSON; see `schema/edition.schema.json`.
#[derive(Debug, Serialize)]
struct EditionRecord {
    release: String,
    name: String,
    expression: String,
    created: u64,
    revision: u64,
    sets: u64,
    sentences: u64,
    pairs: u64,
    lemma_pairs: u64,
    split_list: Option<String>,
    blake3: Hex64,
    promise: Option<PromiseRecord>,
}

impl EditionRecord {
    fn new(
        database: &Database,
        (release, name): (ReleaseId, String),
        edition: &Edition,
    ) -> anyhow::Result<Self> {
        let promise = PromiseRecord::of(database, release, edition)?;
        let release = name;
        Ok(Self {
            release,
            name: edition.name.clone(),
            expression: edition.expression.clone(),
            created: edition.created,
            revision: edition.revision,
            sets: edition.sets.len() as u64,
            sentences: edition.sentences,
            pairs: edition.pairs,
            lemma_pairs: edition.lemma_pairs,
            split_list: edition.split_list.as_ref().map(|list| list.id.name.clone()),
            blake3: edition.written_hash(),
            promise,
        })
    }

    /// The query with a number in place of a long list of ids, as that of a sample has one.
    fn short_expression(&self) -> String {
        match self.expression.parse::<Expression>() {
            Ok(expression) => format!("{expression:#}"),
            Err(_) => self.expression.clone(),
        }
    }
}

impl Row for EditionRecord {
    const COLUMNS: &'static [&'static str] = &[
        "release",
        "name",
        "expression",
        "created",
        "revision",
        "sets",
        "sentences",
        "pairs",
        "lemma_pairs",
        "split_list",
        "blake3",
        "promise",
    ];
    const TABLE_COLUMNS: &'static [&'static str] =
        &["name", "sets", "sentences", "pairs", "lemma_pairs", "expression"];

    fn cells(&self) -> Vec<String> {
        let counts = [self.sets, self.sentences, self.pairs, self.lemma_pairs];
        let mut cells = vec![self.name.clone()];
        cells.extend(counts.map(grouped));
        cells.push(shortened(self.short_expression()));
        cells
    }
}

impl Block for EditionRecord {
    const COLUMNS: &'static [&'static str] = <Self as Row>::COLUMNS;

    fn lay_out(&self, output: &mut Output) -> anyhow::Result<()> {
        output.heading(&format!("{}  {}", self.name, self.release))?;
        let rows = [
            ("query", self.short_expression()),
            ("annotation sets", grouped(self.sets)),
            ("sentences", grouped(self.sentences)),
            ("(Frame, Trigger)", grouped(self.pairs)),
            ("(Frame, LU)", grouped(self.lemma_pairs)),
            ("made of revision", grouped(self.revision)),
            ("BLAKE3 of the ids", self.blake3.clone()),
        ];
        let list = self.split_list.as_ref().map(|list| ("split list", list.clone()));
        for (name, value) in rows.into_iter().chain(list) {
            output.line(&format!("  {name:<18} {value}"))?;
        }
        match &self.promise {
            Some(promise) => promise.lay_out(&self.name, output),
            None => Ok(()),
        }
    }
}

/// A set that is not as an edition holds it, as JSON; see `schema/edition-change.schema.json`.
#[derive(Debug, Serialize)]
struct ChangeRecord {
    edition: String,
    set: AnnotationSetId,
    /// JSON `{"enum": ["removed", "changed", "added"]}`.
    change: &'static str,
}

impl Row for ChangeRecord {
    const COLUMNS: &'static [&'static str] = &["edition", "set", "change"];
}

pub(crate) fn run(args: Args, context: &mut Context) -> anyhow::Result<Outcome> {
    let release = args.release.as_deref();
    match args.command {
        Command::Create { name, expression, promise, sample, splits } => {
            let asked = (&*name, &*expression.join(" "));
            create(release, asked, &promise, (&sample, &splits), context)
        }
        Command::Cut { name } => cut(release, &name, context),
        Command::List => list(release, context),
        Command::Show { name } => {
            let database = Database::open(&context.store)?;
            let (release, edition) = database.edition(release, &name)?;
            show(&record_of(&database, release, &edition)?, context)
        }
        Command::Verify { name, judgements: Some(file), .. } => {
            let database = Database::open(&context.store)?;
            let (release, edition) = database.edition(release, &name)?;
            promise::check(&database, (release, &edition), file.as_deref(), context)
        }
        Command::Verify { name, judgements: None, splits } => {
            let mut database = splits.over(|| Database::open(&context.store))?;
            let (release, edition) = database.edition(release, &name)?;
            if let (false, Some(kept)) = (splits.is_named(), &edition.split_list)
                && let Some(list) = kept_split_list(kept).map_err(DatabaseError::from)?
            {
                database = database.with_split_list(list)?;
            }
            let changes = database.edition_changes(release, &edition)?;
            tell_of_changes(&edition, &changes, context)
        }
        Command::Publish(args) => publish::run(release, args, context),
        Command::Delete { name } => {
            let database = Database::open_existing_writer(&context.store)?;
            tell_of_index(&database);
            sign(&database);
            let (release, _) = database.edition(release, &name)?;
            let mut edits = database.transaction(release)?;
            edits.remove_edition(&name)?;
            commit(&database, edits, &format!("deleted edition `{name}`"))?;
            Ok(Outcome::Done)
        }
    }
}

fn create(
    release: Option<&str>,
    (name, asked): (&str, &str),
    promise: &PromiseArgs,
    (sample, splits): (&SampleArgs, &SplitArgs),
    context: &mut Context,
) -> anyhow::Result<Outcome> {
    let expression = expression(asked)?;
    let expression = match release {
        Some(release) => {
            let of = Expression::Term(Term::named(Field::Release, release)?);
            Expression::all_of([of, expression])?
        }
        None => expression,
    };
    let database =
        splits.over_query(&expression, || Database::open_existing_writer(&context.store))?;
    tell_of_index(&database);
    sign(&database);
    let expression = sample.of(&database, expression, None)?;
    let (made, unranked) = match promise.request()? {
        None => (database.edition_of(name, &expression, now())?, 0),
        Some(request) => {
            let made = database.promised_edition(name, &expression, &request, now())?;
            let unranked = made.as_ref().map_or(0, |made| made.unranked);
            (made.map(|made| (made.release, made.edition)), unranked)
        }
    };
    let Some((release, edition)) = made else {
        return Outcome::nothing("no annotation set matches; an edition holds at least one");
    };
    let record = record_of(&database, release, &edition)?;
    let mut edits = database.transaction(release)?;
    edits.add_edition(edition)?;
    commit(&database, edits, &format!("made edition `{name}`{}", sample.note()))?;
    if let Some(promise) = &record.promise {
        promise::tell_next(promise, name, unranked, &expression);
    }
    show(&record, context)
}

fn cut(release: Option<&str>, name: &str, context: &mut Context) -> anyhow::Result<Outcome> {
    let database = Database::open_existing_writer(&context.store)?;
    tell_of_index(&database);
    sign(&database);
    let (release, edition) = database.edition(release, name)?;
    ensure!(
        edition.promise.is_some(),
        "edition `{name}` promises nothing, and is not cut; `edition create --precision` makes one \
         that does"
    );
    let edition = database.cut_edition(release, edition)?;
    let record = record_of(&database, release, &edition)?;
    let mut edits = database.transaction(release)?;
    edits.set_edition(edition)?;
    commit(&database, edits, &format!("cut edition `{name}`"))?;
    show(&record, context)
}

fn show(record: &EditionRecord, context: &mut Context) -> anyhow::Result<Outcome> {
    let mut records = context.output.records(Format::Table);
    records.block(record)?;
    records.end_blocks::<EditionRecord>()?;
    Ok(Outcome::Done)
}

fn record_of(
    database: &Database,
    release: ReleaseId,
    edition: &Edition,
) -> anyhow::Result<EditionRecord> {
    EditionRecord::new(database, (release, called(database, release)?), edition)
}

fn list(release: Option<&str>, context: &mut Context) -> anyhow::Result<Outcome> {
    let database = Database::open(&context.store)?;
    let releases = match release {
        Some(name) => vec![database.release(name)?],
        None => database.releases()?,
    };
    let mut rows = Vec::new();
    for release in releases {
        for edition in database.store().editions(release.id)? {
            rows.push(EditionRecord::new(
                &database,
                (release.id, release.name.clone()),
                &edition?,
            )?);
        }
    }
    let is_empty = rows.is_empty();
    context.output.rows(Format::Jsonl, rows)?;
    Outcome::or_tell(
        !is_empty,
        "there are no editions; `fnstore edition create NAME EXPR` makes one",
        &mut context.output,
    )
}

fn tell_of_changes(
    edition: &Edition,
    changes: &EditionChanges,
    context: &mut Context,
) -> anyhow::Result<Outcome> {
    let row = |change: &'static str| {
        let edition = edition.name.clone();
        move |set: &AnnotationSetId| ChangeRecord { edition: edition.clone(), set: *set, change }
    };
    let EditionChanges { removed, changed, added, .. } = changes;
    let removed_rows = removed.iter().map(row("removed"));
    let changed_rows = changed.iter().map(row("changed"));
    let rows = removed_rows.chain(changed_rows).chain(added.iter().map(row("added")));
    context.output.rows(Format::Jsonl, rows)?;
    context.output.flush()?;
    let count = |sets: &[AnnotationSetId]| grouped(sets.len() as u64);
    let beside = match &changes.unanswered {
        None => format!("its query finds {} more", count(added)),
        Some(reason) => format!("its query was not asked: {reason}"),
    };
    if changes.is_intact() {
        let sets = counted(edition.sets.len() as u64, "set");
        tell(&format!("unchanged: {sets}; {beside}"));
        return Ok(Outcome::Done);
    }
    tell(&format!("{} removed, {} changed; {beside}", count(removed), count(changed)));
    Ok(Outcome::CheckFailed)
}

fn called(database: &Database, release: ReleaseId) -> anyhow::Result<String> {
    match database.releases()?.into_iter().find(|known| known.id == release) {
        Some(known) => Ok(known.name),
        None => bail!("release {release} is gone"),
    }
}
