//! Following a store: a copy that keeps the rule loses nothing, wherever it is killed; a store that
//! was replaced is told; a follower whose reader has ended ends, too.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use fnstore::database::{Database, DatabaseError};
use fnstore::model::{FrameId, LexUnit, LuId, ReleaseId};
use fnstore::store::StoreError;
use fnstore::transfer::RecordLines;
use fnstore::upkeep::restore;
use serde_json::Value;

use crate::cli_program::{Ran, fnstore_in, mini_framenet, new_store};
use crate::cli_schema::faults_in;
use crate::{edits, mini};

/// Adds LUs of these names in one commit.
fn add(store: &Path, names: &[&str]) {
    let database = Database::open_existing_writer(store).unwrap();
    add_with(&database, ReleaseId(1), names);
    database.close().unwrap();
}

fn add_with(database: &Database, release: ReleaseId, names: &[&str]) -> u64 {
    let mut edits = database.transaction(release).unwrap();
    for name in names {
        edits.add_lexunit(LexUnit::named(FrameId(102), LuId(0), name)).unwrap();
    }
    edits.commit().unwrap()
}

fn follower(store: &Path, arguments: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_fnstore"))
        .args(["changes", "--follow"])
        .args(arguments)
        .env("FNSTORE_DIR", store)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Waits for a program that ends by itself.
fn ended(mut child: Child) -> Ran {
    let begun = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if begun.elapsed() > Duration::from_secs(30) {
            child.kill().unwrap();
            panic!("the follower goes on");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Ran::of(child.wait_with_output().unwrap())
}

/// A copy that keeps the rule of `fnstore changes --help`.
#[derive(Default)]
struct Copy {
    /// Records of whole commits.
    copied: Vec<Value>,
    /// Those of the commit that comes in.
    commit: Vec<Value>,
    seen: u64,
    generation: Option<String>,
}

impl Copy {
    fn take(&mut self, line: &str) {
        let record: Value = serde_json::from_str(line).unwrap();
        let (revision, is_last) = (record["revision"].as_u64(), record["last"].as_bool());
        let generation = record["generation"].as_str().map(str::to_owned);
        self.commit.push(record);
        if is_last.unwrap() {
            self.copied.append(&mut self.commit);
            (self.seen, self.generation) = (revision.unwrap(), generation);
        }
    }

    /// A process that begins with what was remembered.
    fn resumed(&mut self) -> Vec<String> {
        self.commit.clear();
        let mut arguments = vec!["--since".to_owned(), self.seen.to_string()];
        if let Some(generation) = &self.generation {
            arguments.extend(["--generation".to_owned(), generation.clone()]);
        }
        arguments
    }
}

#[test]
fn a_copy_that_is_killed_at_any_line_has_everything_in_the_end() {
    let store = new_store();
    add(store.path(), &["peruse.v", "con.v", "scan.v"]);
    add(store.path(), &["skim.v", "leaf.v", "browse.v", "thumb.v"]);
    let all = fnstore_in(store.path(), &["changes"]).records();
    assert_eq!(all.len(), 8);
    for record in &all {
        assert_eq!(faults_in("change.schema.json", record), [""; 0]);
    }
    let ends: Vec<bool> = all.iter().map(|of| of["last"].as_bool().unwrap()).collect();
    assert_eq!(ends, [true, false, false, true, false, false, false, true]);
    for killed_after in 1..=all.len() {
        let mut copy = Copy::default();
        let mut child = follower(store.path(), &[]);
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        lines.take(killed_after).for_each(|line| copy.take(&line.unwrap()));
        child.kill().unwrap();
        child.wait().unwrap();
        let arguments = copy.resumed();
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let rest = fnstore_in(store.path(), &[&["changes"], &arguments[..]].concat());
        rest.stdout.lines().for_each(|line| copy.take(line));
        assert_eq!(copy.copied, all, "killed after {killed_after} lines");
        assert_eq!(copy.seen, 3);
    }
}

#[test]
fn the_last_of_a_commit_is_marked_among_those_of_one_release() {
    let store = new_store();
    let release = mini_framenet();
    let import = ["import", release.to_str().unwrap(), "--release", "second"];
    assert_eq!(fnstore_in(store.path(), &import).code, Some(0));
    add(store.path(), &["peruse.v", "con.v"]);
    let of = |name: &str| -> Vec<(u64, bool)> {
        let records = fnstore_in(store.path(), &["changes", "--release", name]).records();
        let end = |of: &Value| (of["revision"].as_u64().unwrap(), of["last"].as_bool().unwrap());
        records.iter().map(end).collect()
    };
    assert_eq!(of("mini-framenet"), [(1, true), (3, false), (3, true)]);
    assert_eq!(of("second"), [(2, true)]);
    let csv = fnstore_in(store.path(), &["changes", "--format", "csv", "--since", "2"]);
    let lines: Vec<&str> = csv.stdout.lines().collect();
    assert!(lines[0].ends_with(",note,last,generation"), "{}", csv.stdout);
    assert!(lines[1].contains(",false,") && lines[2].contains(",true,"), "{}", csv.stdout);
}

#[test]
fn a_restore_is_told_to_whoever_follows_and_to_whoever_comes_back() {
    let (store, folder) = (new_store(), tempfile::tempdir().unwrap());
    let backup = folder.path().join("backup");
    assert_eq!(fnstore_in(store.path(), &["backup", backup.to_str().unwrap()]).code, Some(0));
    add(store.path(), &["peruse.v"]);
    let before = fnstore_in(store.path(), &["changes"]).records().pop().unwrap();
    let generation = before["generation"].as_str().unwrap().to_owned();
    let id = |store: &Path| {
        let checked = fnstore_in(store, &["check", "--format", "json"]);
        checked.document("check.schema.json")["id"].as_str().unwrap().to_owned()
    };
    let id_before = id(store.path());

    let mut child = follower(store.path(), &["--since", "1"]);
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.next().unwrap().unwrap().contains("\"added\""));
    restore(&backup, store.path()).unwrap();
    add(store.path(), &["con.v"]);
    add(store.path(), &["scan.v"]);
    assert!(lines.next().is_none(), "a change of another store was printed as one of this");
    let told = ended(child);
    assert_eq!(told.code, Some(76), "{}", told.stderr);
    assert!(told.stderr.contains("(S-replaced)") && told.stderr.contains(&generation), "{told:?}");

    // One that comes back later, with what it has remembered.
    let back = ["changes", "--since", "2", "--generation", &generation];
    let told = fnstore_in(store.path(), &back);
    assert_eq!((told.code, told.stdout.as_str()), (Some(76), ""), "{}", told.stderr);
    assert!(told.stderr.contains("(S-replaced)"), "{}", told.stderr);
    let beyond = fnstore_in(store.path(), &["changes", "--since", "9999"]);
    assert_eq!((beyond.code, beyond.stdout.as_str()), (Some(76), ""), "{}", beyond.stderr);
    let said = "revision 9999 is not in the store";
    assert!(beyond.stderr.contains(said) && beyond.stderr.contains("whose last one is 3"));
    assert_eq!(fnstore_in(store.path(), &["changes", "--since", "3"]).code, Some(1));
    let after = fnstore_in(store.path(), &["changes"]).records().pop().unwrap();
    assert_ne!(after["generation"], before["generation"]);
    assert_eq!(id(store.path()), id_before, "it is the same store");
}

/// Commits that are lost and accepted are given again, with other content.
#[test]
fn lost_commits_that_are_accepted_are_another_generation() {
    let store = new_store();
    add(store.path(), &["peruse.v"]);
    let generation = |store: &Path| Database::open(store).unwrap().identity().unwrap().unwrap();
    let before = generation(store.path());
    let logs = crate::damaged_files::files(&store.path().join("db"), |name| name.ends_with(".log"));
    let log = logs.last().unwrap();
    let whole = std::fs::read(log).unwrap();
    std::fs::write(log, &whole[..whole.len() / 4]).unwrap();
    assert!(Database::open(store.path()).is_err());
    Database::reindex(store.path()).unwrap();
    let after = generation(store.path());
    assert_eq!(after.id, before.id);
    assert_ne!(after.generation, before.generation);
    Database::reindex(store.path()).unwrap();
    assert_eq!(generation(store.path()), after, "nothing was lost this time");
}

#[test]
fn a_follower_whose_reader_has_ended_ends_soon() {
    if cfg!(not(target_os = "linux")) {
        skipped!("only Linux tells of a pipe without a reader");
        return;
    }
    let store = new_store();
    let mut child = follower(store.path(), &[]);
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.next().unwrap().unwrap().contains("\"release\""));
    std::thread::sleep(Duration::from_millis(500));
    assert!(child.try_wait().unwrap().is_none(), "it ended while it was read");
    drop(lines);
    let begun = Instant::now();
    let ran = ended(child);
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
}

#[test]
fn a_loop_over_changes_sees_what_is_new_and_is_told_of_another_store() {
    let (dir, writer, report) = mini::imported();
    let reader = Database::open(dir.path()).unwrap();
    let changes = |since: u64| -> Vec<(u64, bool)> {
        let changes = reader.changes(since).unwrap().map(Result::unwrap);
        changes.map(|change| (change.revision, change.is_last)).collect()
    };
    assert_eq!(changes(0), [(1, true)]);
    add_with(&writer, report.release.id, &["peruse.v", "con.v"]);
    assert_eq!(changes(1), [(2, false), (2, true)], "without a refresh");
    assert_eq!(changes(2), []);
    let beyond = reader.changes(3).map(drop).unwrap_err();
    let DatabaseError::Store(StoreError::BeyondEnd { since, last, .. }) = &beyond else {
        panic!("{beyond}")
    };
    assert_eq!((*since, *last), (3, 2));

    let folder = tempfile::tempdir().unwrap();
    writer.backup(&folder.path().join("backup")).unwrap();
    let mut edits = writer.transaction(report.release.id).unwrap();
    edits.add_sentence(edits::new_sentence("He checked it .")).unwrap();
    edits.commit().unwrap();
    writer.close().unwrap();
    assert_eq!(changes(2), [(3, true)]);
    let opened = reader.identity().unwrap().unwrap();
    restore(&folder.path().join("backup"), dir.path()).unwrap();
    for _ in 0..2 {
        let replaced = reader.changes(3).map(drop).unwrap_err();
        let DatabaseError::Store(StoreError::Replaced { followed, found, .. }) = &replaced else {
            panic!("{replaced}")
        };
        assert_eq!(*followed, opened.generation);
        assert_ne!(*found, Some(opened.generation.clone()));
    }
    let anew = Database::open(dir.path()).unwrap();
    assert_eq!(anew.changes(0).unwrap().count(), 3);
    assert!(anew.require_generation(&opened.generation).is_err());
    // A snapshot is of the state that it was made of.
    assert_eq!(anew.snapshot().unwrap().changes(2).unwrap().count(), 0);
}

#[test]
fn the_subjects_of_a_release_are_the_records_of_its_export() {
    let (_dir, database, report) = mini::imported();
    let (release, mut lines) = (report.release.id, database.record_lines().unwrap());
    let (mut copied, mut keys) = (Vec::new(), BTreeSet::new());
    for subject in database.subjects(release).unwrap() {
        let subject = subject.unwrap();
        copied.push(lines.line(release, &subject).unwrap().unwrap());
        assert!(keys.insert(RecordLines::key(release, &subject)), "{subject:?}");
    }
    let mut out = Vec::new();
    let whole = "release=mini-framenet".parse().unwrap();
    database.export_jsonl(&whole, false, &mut out).unwrap();
    let out = String::from_utf8(out).unwrap();
    let kinds = "sem_type frame relation lexunit sentence layers set document judgement";
    let is_told = |line: &&str| {
        let line: Value = serde_json::from_str(line).unwrap();
        kinds.split(' ').any(|kind| line["kind"] == kind)
    };
    let mut exported: Vec<&str> = out.lines().filter(is_told).collect();
    exported.sort_unstable();
    copied.sort_unstable();
    assert!(copied.len() > 100, "{}", copied.len());
    assert_eq!(copied, exported);
}
