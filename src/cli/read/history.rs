//! `fnstore history`: who committed, when and why, and which commits can be taken back.

use fnstore::database::Database;
use fnstore::model::{Positive, date};
use fnstore::store::{Commit, Retention};
use serde::Serialize;

use crate::cli::print::output::{Format, grouped, tell};
use crate::cli::print::render::Row;
use crate::cli::{Context, Outcome};

/// List who committed, when and why
///
/// The last commit comes first. `fnstore undo` takes back those that have `undo`: true. `fnstore
/// changes` lists what a commit did.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Option<Command>,

    /// List at most N commits
    #[arg(long, value_name = "N", default_value_t = 20)]
    limit: usize,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Say how long commits can be taken back
    ///
    /// What the records of a commit held before it takes place on disk. Without an option it is
    /// kept for good.
    Keep(KeepArgs),
}

#[derive(Debug, clap::Args)]
struct KeepArgs {
    /// Keep the last N commits
    #[arg(long, value_name = "N")]
    commits: Option<u64>,

    /// Keep commits of the last N days
    #[arg(long, value_name = "N")]
    days: Option<u32>,
}

/// A commit as JSON; see `schema/history.schema.json`.
#[derive(Debug, Serialize)]
struct CommitRecord {
    revision: Positive,
    at: u64,
    by: String,
    note: String,
    undoes: Vec<Positive>,
    changes: u64,
    undo: bool,
}

impl CommitRecord {
    fn new(database: &Database, commit: Commit) -> anyhow::Result<Self> {
        let Commit { revision, at, by, note, undoes, images, .. } = commit;
        let mut changes = 0;
        for change in database.changes(revision - 1)? {
            if change?.revision > revision {
                break;
            }
            changes += 1;
        }
        let undo = images.is_some_and(|images| images > 0);
        Ok(Self { revision, at, by, note, undoes, changes, undo })
    }
}

impl Row for CommitRecord {
    const COLUMNS: &'static [&'static str] =
        &["revision", "at", "by", "note", "undoes", "changes", "undo"];

    fn cells(&self) -> Vec<String> {
        let Self { revision, at, by, note, undoes, changes, undo } = self;
        let undoes: Vec<String> = undoes.iter().map(ToString::to_string).collect();
        let undo = if *undo { "yes" } else { "no" };
        let (by, note) = (by.clone(), note.clone());
        vec![
            revision.to_string(),
            date(*at),
            by,
            note,
            undoes.join(" "),
            grouped(*changes),
            undo.into(),
        ]
    }
}

const DAY: u64 = 24 * 60 * 60;

pub(crate) fn run(args: Args, context: &mut Context) -> anyhow::Result<Outcome> {
    if let Some(Command::Keep(KeepArgs { commits, days })) = args.command {
        let database = Database::open_existing_writer(&context.store)?;
        let seconds = days.map(|days| u64::from(days) * DAY);
        database.set_retention(Retention { commits, seconds })?;
        return Ok(Outcome::Done);
    }
    let database = Database::open(&context.store)?.snapshot()?;
    let mut records = Vec::new();
    for commit in database.commits()?.take(args.limit) {
        records.push(CommitRecord::new(&database, commit?)?);
    }
    let is_any = !records.is_empty();
    context.output.rows(Format::Jsonl, records)?;
    if !is_any {
        tell("nothing was committed here yet");
        return Ok(Outcome::NothingFound);
    }
    Ok(Outcome::Done)
}
