//! `fnstore changes`: what was committed, in order, for whoever follows the store.

use std::collections::HashMap;
use std::time::Duration;

use fnstore::database::Database;
use fnstore::model::{FrameId, Hex16, LuId, Positive, ReleaseId, SentenceId};
use fnstore::store::{Action, Change, SubjectKind};
use serde::Serialize;

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

/// A change as JSON; see `schema/change.schema.json`.
#[derive(Debug, Serialize)]
struct ChangeRecord<'a> {
    revision: Positive,
    release: &'a str,
    action: Action,
    kind: SubjectKind,
    id: String,
    frame: Option<FrameId>,
    lu: Option<LuId>,
    sentence: Option<SentenceId>,
    reviewer: Option<&'a str>,
    last: bool,
    generation: Option<Hex16<&'a str>>,
}

impl<'a> ChangeRecord<'a> {
    fn new(change: &'a Change, release: &'a str, generation: Option<&'a str>) -> Self {
        let subject = &change.subject;
        Self {
            revision: change.revision,
            release,
            action: change.action,
            kind: subject.kind(),
            id: subject.id().unwrap_or_else(|| release.to_owned()),
            frame: subject.frame(),
            lu: subject.lexunit(),
            sentence: subject.sentence(),
            reviewer: subject.reviewer(),
            last: change.is_last,
            generation,
        }
    }
}

impl Block for ChangeRecord<'_> {
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
        "last",
        "generation",
    ];

    fn lay_out(&self, output: &mut Output) -> anyhow::Result<()> {
        let Self { revision, action, kind, id, .. } = self;
        let place = self.frame.map_or(String::new(), |frame| format!("  frame {frame}"));
        let by = self.reviewer.map_or(String::new(), |name| format!("  by {name}"));
        let line = format!("{revision:>8}  {action:<8} {kind:<10} {id}{place}{by}");
        Ok(output.line(line.trim_end())?)
    }
}

pub(crate) fn run(args: Args, context: &mut Context) -> anyhow::Result<Outcome> {
    let mut database = Database::open(&context.store)?;
    let only = match &args.release {
        Some(name) => Some(release(&database, Some(name))?.id),
        None => None,
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
        (since, shown) = write_changes(&database, since, only, &mut records)
            .map(|(last, is_any)| (last, shown || is_any))?;
        if !args.follow {
            break;
        }
        records.flush()?;
        std::thread::sleep(PAUSE);
        watch.as_mut().map_or(Ok(()), HangUp::check)?;
        database.renew()?;
    }
    records.end_blocks::<ChangeRecord<'_>>()?;
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
    only: Option<ReleaseId>,
    records: &mut Records<'_>,
) -> anyhow::Result<(u64, bool)> {
    let names: HashMap<ReleaseId, String> =
        database.releases()?.into_iter().map(|release| (release.id, release.name)).collect();
    let (mut last, mut is_any) = (since, false);
    let changes: Box<dyn Iterator<Item = _>> = match only {
        Some(release) => Box::new(database.changes_of(release, since)?),
        None => Box::new(database.changes(since)?),
    };
    let generation = database.identity()?.map(|identity| identity.generation);
    for change in changes {
        let change = change?;
        let number = change.release.to_string();
        let release = names.get(&change.release).unwrap_or(&number);
        records.block(&ChangeRecord::new(&change, release, generation.as_deref()))?;
        (last, is_any) = (change.revision, true);
    }
    Ok((last, is_any))
}
