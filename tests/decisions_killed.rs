//! A reviewer's process that is killed at a random moment: every decision that it acknowledged
//! stands, with what it did, and nothing is half done. In the end the store is that of a process
//! that nobody killed, byte for byte.

use std::io::{BufRead, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use fnstore::database::Database;
use fnstore::edit::Fate;
use fnstore::internals::WithStore as _;
use fnstore::model::{ACCEPTED, FrameId, LuId, Reviewed, Verdict};
use fnstore::proposals::{Proposals, Ranker};
use fnstore::upkeep::CheckOptions;

use crate::{generated, mini};

const STORE: &str = "FNSTORE_TEST_DECISIONS_STORE";
const UNTIL: &str = "FNSTORE_TEST_DECISIONS_UNTIL";
const CHECKING: FrameId = FrameId(102);
/// `verify.v`, into which the proposal is merged.
const VERIFY: LuId = LuId(1008);
const NAME: &str = "vet.v";

/// How often the process is killed; `FNSTORE_FULL_CRASH=1` kills a hundred times.
fn kills() -> usize {
    if std::env::var_os("FNSTORE_FULL_CRASH").is_some() { 100 } else { 12 }
}

#[test]
#[ignore = "the process that the test of this file starts and kills"]
fn decide_until_killed() {
    let Some(store) = std::env::var_os(STORE) else { return };
    let database = Database::open_writer(store.as_ref()).unwrap();
    let release = database.release("mini-framenet").unwrap().id;
    let proposals = Proposals::new(&database, None, Ranker::default());
    let reviewed = || Reviewed { reviewer: "kim".to_owned(), time: 7, note: String::new() };
    let say = |entries: usize| {
        let mut out = std::io::stdout();
        writeln!(out, "ack {entries}").unwrap();
        out.flush().unwrap();
    };
    let until = std::env::var(UNTIL).ok().and_then(|until| until.parse().ok());
    loop {
        // What comes next is told by what there is.
        let decided = database.store().decisions(release, CHECKING, NAME).unwrap();
        let entries = decided.as_ref().map_or(0, |decided| decided.history.len());
        if decided.is_some_and(|decided| decided.standing().is_some()) {
            proposals.undo(release, (CHECKING, NAME), reviewed()).unwrap();
            say(entries);
        } else if until.is_some_and(|until| entries >= until) {
            return;
        } else {
            let fate = [Fate::Accept, Fate::Merge(VERIFY), Fate::Reject][entries % 3];
            proposals.decide(release, (CHECKING, NAME), fate, reviewed()).unwrap();
            say(entries + 1);
        }
    }
}

/// The process that decides; until there are so many decisions, all taken back, or until it is
/// killed.
fn decides(store: &Path, until: Option<usize>) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["decisions_killed::decide_until_killed", "--exact", "--ignored", "--nocapture"])
        .env(STORE, store)
        .stderr(Stdio::null());
    if let Some(until) = until {
        command.env(UNTIL, until.to_string());
    }
    command
}

/// What a decision did is there if it stands, and is not if it was taken back.
fn assert_whole(store: &Path, acknowledged: usize) {
    let database = Database::open_writer(store).unwrap();
    let release = database.release("mini-framenet").unwrap().id;
    let decided = database.store().decisions(release, CHECKING, NAME).unwrap();
    let history = decided.as_ref().map_or(0, |decided| decided.history.len());
    assert!(history >= acknowledged, "{history} decisions, {acknowledged} acknowledged");
    let standing = decided.as_ref().and_then(|decided| decided.standing());
    let status = database.count(&format!("lu=vet* lu_status={ACCEPTED}").parse().unwrap());
    let verdict = standing.map(|decision| decision.verdict);
    assert_eq!(status.unwrap() == 1, verdict == Some(Verdict::Accept), "{verdict:?}");
    let merged = database.count(&"lu=verify.v origin=generated round=2".parse().unwrap()).unwrap();
    assert_eq!(merged == 1, verdict == Some(Verdict::Merge), "{verdict:?}");
    let all = database.count(&"origin=generated".parse().unwrap()).unwrap();
    assert_eq!(all, 2, "no set is lost");
    let findings = database.check(CheckOptions { deep: true }, &mut |_| {}).unwrap().findings;
    assert!(findings.is_empty(), "{findings:?}");
}

#[test]
fn a_killed_reviewer_loses_no_decision_and_leaves_none_half_done() {
    let (dir, database, report) = mini::imported();
    generated::write(&database, report.release.id);
    drop(database);
    let undisturbed = tempfile::tempdir().unwrap();
    mini::copy(dir.path(), undisturbed.path());
    let mut acknowledged = 0;
    for _ in 0..kills() {
        let mut child = decides(dir.path(), None).stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let ack = |line: &str| line.strip_prefix("ack ").and_then(|count| count.parse().ok());
        // The first acknowledgement of this process, then some moments more.
        let first = lines.by_ref().find_map(|line| ack(&line.unwrap()));
        acknowledged = acknowledged.max(first.expect("it decides"));
        let nanos = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().subsec_nanos();
        std::thread::sleep(Duration::from_micros(u64::from(nanos % 60_000)));
        child.kill().unwrap();
        child.wait().unwrap();
        for line in lines {
            acknowledged = acknowledged.max(ack(&line.unwrap_or_default()).unwrap_or(0));
        }
        assert_whole(dir.path(), acknowledged);
    }
    assert!(acknowledged >= kills(), "{acknowledged}");
    let exports = [dir.path(), undisturbed.path()].map(|store| {
        assert!(decides(store, Some(acknowledged + 1)).output().unwrap().status.success());
        let database = Database::open(store).unwrap();
        let mut lines = Vec::new();
        database.export_jsonl(&"".parse().unwrap(), false, &mut lines).unwrap();
        lines
    });
    assert!(exports[0] == exports[1], "decisions that were disturbed left something else");
}
