//! `fnstore changes`: what was committed, in order, for whoever follows the store.

use std::time::Duration;

use fnstore::database::Database;
use fnstore::internals::WithStore as _;
use fnstore::model::ReleaseId;
use fnstore::query::Expression;
use fnstore::transfer::ChangeRecord;

use crate::cli::options::query;
use crate::cli::options::release::release;
use crate::cli::print::output::{Format, Output, tell};
use crate::cli::print::render::{Block, Records};
use crate::cli::process::hang_up::HangUp;
use crate::cli::{Context, Outcome};

/// List what was added, edited and removed
///
/// One record for each change of each commit, in order. An import is one change of its release. Of
/// a release that was removed the number stands in place of the name.
#[derive(Debug, clap::Args)]
#[command(after_help = RULE)]
pub(crate) struct Args {
    /// List only commits after REVISION
    #[arg(long, value_name = "REVISION", default_value_t = 0, hide_default_value = true)]
    since: u64,

    /// Fail if the store is of another generation, as after a restore
    #[arg(long, value_name = "GENERATION")]
    generation: Option<String>,

    /// List only changes of this release
    #[arg(long, value_name = "NAME")]
    release: Option<String>,

    /// List only changes of annotation sets that this query finds. One that was edited so that it
    /// is not found any more is listed as removed. Where a set is found by another record's
    /// change, as a frame's new name or a judgement, no change of the set is listed
    #[arg(value_name = "EXPR", conflicts_with = "release")]
    expression: Vec<String>,

    /// Give each record as it is now, in the form of `export --format jsonl`
    #[arg(long)]
    with_records: bool,

    /// Keep listing new commits until Ctrl-C, until the reader of the output ends, or until the
    /// store is replaced
    #[arg(long)]
    follow: bool,
}

const RULE: &str = "\
How to follow a store without losing a change:
  Take the records of a commit together: the last one has `last`: true.
  Then remember its `revision` and `generation`, never those of an earlier record.
  Go on with `--since REVISION --generation GENERATION`.
  Exit code 76 says that the store was replaced, as by a restore: read it anew, from revision 0.";

/// How long `--follow` waits before it looks again.
const PAUSE: Duration = Duration::from_millis(200);

/// Whose changes are listed.
enum Followed {
    All,
    Release(ReleaseId),
    Sets(Expression),
}

impl Block for ChangeRecord {
    const COLUMNS: &'static [&'static str] = &[
        "revision",
        "release",
        "action",
        "kind",
        "id",
        "frame",
        "lu",
        "sentence",
        "reviewer",
        "question",
        "at",
        "by",
        "note",
        "last",
        "generation",
    ];

    fn lay_out(&self, output: &mut Output) -> anyhow::Result<()> {
        let Self { revision, action, kind, id, .. } = self;
        let place = self.frame.map_or(String::new(), |frame| format!("  frame {frame}"));
        let by = self.reviewer.as_ref().map_or(String::new(), |name| format!("  by {name}"));
        let line = format!("{revision:>8}  {action:<8} {kind:<10} {id}{place}{by}");
        Ok(output.line(line.trim_end())?)
    }
}

pub(crate) fn run(args: Args, context: &mut Context) -> anyhow::Result<Outcome> {
    let database = Database::open(&context.store)?;
    let expression = args.expression.join(" ");
    let followed = match &args.release {
        Some(name) => Followed::Release(release(&database, Some(name))?.id),
        None if args.expression.is_empty() => Followed::All,
        None => Followed::Sets(query::expression(&expression)?),
    };
    if let Some(generation) = &args.generation {
        database.require_generation(generation)?;
    }
    let mut watch = args.follow.then(HangUp::new).flatten();
    let mut records = context.output.records(Format::Jsonl);
    // Nothing may come for long.
    records.header(ChangeRecord::COLUMNS)?;
    let mut since = args.since;
    let mut shown = false;
    loop {
        (since, shown) =
            write_changes(&database, since, (&followed, args.with_records), &mut records)
                .map(|(last, is_any)| (last, shown || is_any))?;
        if !args.follow {
            break;
        }
        records.flush()?;
        std::thread::sleep(PAUSE);
        watch.as_mut().map_or(Ok(()), HangUp::check)?;
        database.refresh()?;
    }
    records.end_blocks::<ChangeRecord>()?;
    if shown {
        return Ok(Outcome::Done);
    }
    context.output.flush()?;
    tell(&format!("nothing was committed after revision {since}"));
    Ok(Outcome::NothingFound)
}

/// Writes what was committed after a revision; gives the last one that was looked at, and whether
/// any was written.
fn write_changes(
    database: &Database,
    since: u64,
    (followed, with_records): (&Followed, bool),
    records: &mut Records<'_>,
) -> anyhow::Result<(u64, bool)> {
    // The changes below are read as of this commit.
    let (last, mut is_any) = (since.max(database.store().revision()?), false);
    let changes: Box<dyn Iterator<Item = _>> = match followed {
        Followed::All => Box::new(database.changes(since)?),
        Followed::Release(release) => Box::new(database.changes_of(*release, since)?),
        Followed::Sets(expression) => Box::new(database.changes_matching(expression, since)?),
    };
    for record in database.change_records(changes, with_records)? {
        records.block(&record?)?;
        is_any = true;
    }
    Ok((last, is_any))
}
