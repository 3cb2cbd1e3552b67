//! `fnstore history`: who committed, when and why, and which commits can be taken back.

use std::num::{NonZeroU32, NonZeroU64, NonZeroUsize};

use fnstore::database::Database;
use fnstore::model::date;
use fnstore::store::{Commit, Retention};

use crate::cli::print::output::{Format, grouped};
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
    #[arg(long, value_name = "N", default_value = "20")]
    limit: NonZeroUsize,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Say how long commits can be taken back
    ///
    /// What the records of a commit held before it takes place on disk, and is kept for good unless
    /// this bounds it. What falls out goes at once, and with later commits.
    Keep(KeepArgs),
}

#[derive(Debug, clap::Args)]
#[command(arg_required_else_help = true)]
struct KeepArgs {
    /// Keep the last N commits
    #[arg(long, value_name = "N")]
    commits: Option<NonZeroU64>,

    /// Keep commits of the last N days
    #[arg(long, value_name = "N")]
    days: Option<NonZeroU32>,

    /// Keep all commits
    #[arg(long, conflicts_with_all = ["commits", "days"])]
    forever: bool,
}

impl Row for Commit {
    const COLUMNS: &'static [&'static str] =
        &["revision", "at", "by", "note", "undoes", "changes", "undo"];

    fn cells(&self) -> Vec<String> {
        let Self { revision, at, by, note, undoes, changes, .. } = self;
        let undoes: Vec<String> = undoes.iter().map(ToString::to_string).collect();
        let undo = if self.can_be_undone() { "yes" } else { "no" };
        let (by, note) = (by.clone(), note.clone());
        vec![
            revision.to_string(),
            date(*at),
            by,
            note,
            undoes.join(" "),
            grouped(u64::from(*changes)),
            undo.into(),
        ]
    }
}

const DAY: u64 = 24 * 60 * 60;

pub(crate) fn run(args: Args, context: &mut Context) -> anyhow::Result<Outcome> {
    if let Some(Command::Keep(KeepArgs { commits, days, forever: _ })) = args.command {
        let database = Database::open_existing_writer(&context.store)?;
        let seconds = days.map(|days| u64::from(days.get()) * DAY);
        let commits = commits.map(NonZeroU64::get);
        database.set_retention(Retention { commits, seconds })?;
        return Ok(Outcome::Done);
    }
    let database = Database::open(&context.store)?.snapshot()?;
    let records: Vec<Commit> =
        database.commits()?.take(args.limit.get()).collect::<Result<_, _>>()?;
    let is_any = !records.is_empty();
    context.output.rows(Format::Jsonl, records)?;
    Outcome::or_tell(is_any, "nothing was committed here yet", &mut context.output)
}
