//! `fnstore changes`: what was committed, in order, for whoever follows the store.

use std::collections::HashMap;
use std::time::Duration;

use fnstore::database::Database;
use fnstore::model::ReleaseId;
use fnstore::store::{Change, Subject};
use serde::Serialize;

use super::output::{Format, Output, tell};
use super::render::{Block, Records};
use super::{Context, Outcome, edit};

/// List what was added, edited and removed
///
/// One record for each change of each commit, in order. A program that remembers the last
/// `revision` gets later ones with `--since`. An import is one change of its release. Of a release
/// that was removed the number stands in place of the name.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// List only commits after REVISION
    #[arg(long, value_name = "REVISION", default_value_t = 0, hide_default_value = true)]
    since: u64,

    /// List only changes of this release
    #[arg(long, value_name = "NAME")]
    release: Option<String>,

    /// Keep listing new commits until Ctrl-C
    #[arg(long)]
    follow: bool,
}

/// How long `--follow` waits before it looks again.
const PAUSE: Duration = Duration::from_millis(200);

/// A change as JSON; see `schema/change.schema.json`.
#[derive(Debug, Serialize)]
struct ChangeRecord<'a> {
    revision: u64,
    release: &'a str,
    action: &'static str,
    kind: &'static str,
    id: String,
    frame: Option<u32>,
    lu: Option<u32>,
    sentence: Option<String>,
    reviewer: Option<&'a str>,
}

impl<'a> ChangeRecord<'a> {
    fn new(change: &'a Change, release: &'a str) -> Self {
        let (kind, id) = match &change.subject {
            Subject::Release => ("release", release.to_owned()),
            Subject::SemType(id) => ("semtype", id.to_string()),
            Subject::Frame(id) => ("frame", id.to_string()),
            Subject::Relation(id) => ("relation", id.to_string()),
            Subject::LexUnit(_, id) => ("lu", id.to_string()),
            Subject::Document(corpus, id) => ("document", format!("{corpus}/{id}")),
            Subject::Sentence(id) => ("sentence", id.to_string()),
            Subject::SentenceLayers(_, id) => ("layers", id.to_string()),
            Subject::Set(id, _) => ("set", id.to_string()),
            Subject::Judgement(set, _) => ("judgement", set.to_string()),
            Subject::Decision(_, name) => ("decision", name.clone()),
            Subject::Edition(name) => ("edition", name.clone()),
            _ => ("other", String::new()),
        };
        let (frame, lu, sentence) = match &change.subject {
            Subject::LexUnit(frame, _) | Subject::Decision(frame, _) => (Some(frame.0), None, None),
            Subject::Set(_, at) => (Some(at.frame.0), Some(at.lu.0), Some(at.sentence)),
            Subject::SentenceLayers(sentence, _) => (None, None, Some(*sentence)),
            _ => (None, None, None),
        };
        let reviewer = match &change.subject {
            Subject::Judgement(_, reviewer) => Some(reviewer.as_str()),
            _ => None,
        };
        Self {
            revision: change.revision,
            release,
            action: change.action.as_str(),
            kind,
            id,
            frame,
            lu,
            sentence: sentence.map(|id| id.to_string()),
            reviewer,
        }
    }
}

impl Block for ChangeRecord<'_> {
    const COLUMNS: &'static [&'static str] =
        &["revision", "release", "action", "kind", "id", "frame", "lu", "sentence", "reviewer"];

    fn lay_out(&self, output: &mut Output) -> anyhow::Result<()> {
        let Self { revision, action, kind, id, .. } = self;
        let place = self.frame.map_or(String::new(), |frame| format!("  frame {frame}"));
        let by = self.reviewer.map_or(String::new(), |name| format!("  by {name}"));
        let line = format!("{revision:>8}  {action:<8} {kind:<10} {id}{place}{by}");
        Ok(output.line(line.trim_end())?)
    }
}

pub(super) fn run(args: Args, context: &mut Context) -> anyhow::Result<Outcome> {
    let mut database = Database::open(&context.store)?;
    let only = match &args.release {
        Some(name) => Some(edit::release(&database, Some(name))?.id),
        None => None,
    };
    let mut records = context.output.records(Format::Jsonl);
    // Nothing may come for long.
    records.header(ChangeRecord::COLUMNS)?;
    let mut since = args.since;
    let mut shown = false;
    loop {
        let last = write_changes(&database, since, only, &mut records)?;
        shown |= last.is_some();
        since = last.unwrap_or(since);
        if !args.follow {
            break;
        }
        records.flush()?;
        std::thread::sleep(PAUSE);
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

/// Writes what was committed after a revision; gives the last one written.
fn write_changes(
    database: &Database,
    since: u64,
    only: Option<ReleaseId>,
    records: &mut Records<'_>,
) -> anyhow::Result<Option<u64>> {
    let names: HashMap<ReleaseId, String> =
        database.releases()?.into_iter().map(|release| (release.id, release.name)).collect();
    let mut last = None;
    for change in database.changes(since)? {
        let change = change?;
        if only.is_some_and(|release| release != change.release) {
            continue;
        }
        let number = change.release.to_string();
        let release = names.get(&change.release).unwrap_or(&number);
        records.block(&ChangeRecord::new(&change, release))?;
        last = Some(change.revision);
    }
    Ok(last)
}
