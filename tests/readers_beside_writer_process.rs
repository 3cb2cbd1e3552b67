//! Readers in one process beside a writer in another that commits, flushes and compacts all the
//! time: every one sees a consistent state, no stale hit, and no damage where there is none.
//!
//! `FNSTORE_FULL_READERS=1` writes for ten minutes and opens at least 1,000 times.

use std::io::{BufRead, BufReader, Write as _};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use fnstore::database::{Database, Write};
use fnstore::internals::WithStore as _;
use fnstore::model::{AnnotationSetId, IdSpace, SentenceId, Span};
use fnstore::transfer::ImportOptions;

use crate::{generated, mini};

const STORE: &str = "FNSTORE_TEST_BUSY_STORE";

/// Two sets with the same word: a reader sees both or none.
const PAIRS: u64 = 50;

#[test]
#[ignore = "the process that `readers_beside_a_busy_writer_see_a_consistent_state` starts"]
fn write_until_input_ends() {
    let Some(store) = std::env::var_os(STORE) else { return };
    let database = Database::open_writer(store.as_ref()).unwrap();
    let release = database.releases().unwrap()[0].id;
    database.store().recipe([7; 16], "{}").unwrap();
    let (sentence, set) = generated::sets(&database, release).remove(0);
    std::io::stdout().write_all(b"\nwriting\n").unwrap();
    let mut turn = 0_u64;
    let stop = std::thread::spawn(|| std::io::stdin().read_line(&mut String::new()));
    while !stop.is_finished() {
        turn += 1;
        // The pair moves from word to word: under the old word nobody may find it again.
        let rows = (0..2).map(|half| {
            let number = 1000 + (turn % PAIRS) * 2 + half;
            let word = format!("word{turn}");
            let text = format!("He {word} the figures .");
            let target = Span::new(3, 3 + u32::try_from(word.len()).unwrap());
            let sentence_id = SentenceId::new(IdSpace::Generated, turn * 2 + half + 1000);
            let id = AnnotationSetId::new(IdSpace::Generated, number);
            let sentence = fnstore::model::Sentence { id: sentence_id, text, ..sentence.clone() };
            let targets = vec![target];
            (
                sentence,
                fnstore::model::AnnotationSet { id, sentence: sentence_id, targets, ..set.clone() },
            )
        });
        let (sentences, sets) = rows.unzip();
        database.write(release, &Write { sentences, sets, ..Write::default() }).unwrap();
        // An import flushes every family: files appear and are merged away under the readers.
        if turn.is_multiple_of(20) {
            let name = format!("turn-{turn}");
            let options = ImportOptions { release: Some(name), ..ImportOptions::default() };
            database.import(&mini::framenet(), &options, &mut |_| {}).unwrap();
        }
    }
}

fn start_writer(store: &std::path::Path) -> Child {
    let mut writer = Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "--nocapture"])
        .arg("readers_beside_writer_process::write_until_input_ends")
        .env(STORE, store)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(writer.stdout.as_mut().unwrap()).lines();
    assert!(lines.by_ref().map_while(Result::ok).any(|line| line == "writing"));
    writer
}

/// Looks at the store once, as a new reader; gives the revision that it saw.
fn look(store: &std::path::Path) -> u64 {
    let reader = Database::open(store).unwrap_or_else(|error| panic!("it did not open: {error}"));
    let revision = reader.store().revision().unwrap();
    let releases = reader.releases().unwrap();
    for release in &releases[1..] {
        // A release is there as a whole.
        assert_eq!(reader.store().annotation_sets(release.id).unwrap().count(), 42);
    }
    let base = releases[0].id;
    let mut words = std::collections::BTreeMap::new();
    for set in reader.store().annotation_sets(base).unwrap() {
        let set = set.unwrap_or_else(|error| panic!("a healthy store reads as damaged: {error}"));
        if set.id.space() == IdSpace::Generated {
            let sentence = reader.store().sentence(base, set.sentence).unwrap();
            let sentence = sentence.expect("a set came without its sentence");
            words.entry(set.trigger(&sentence.text)).or_insert_with(Vec::new).push(set.id);
        }
    }
    assert!(words.values().all(|pair| pair.len() == 2), "half a write: {words:?}");
    // Through the index: it may be ahead of what was read, and the store is then brought up to it.
    let found = mini::answers(&reader, "origin=generated trigger=word*").len();
    assert!(
        found >= words.values().map(Vec::len).sum() && found.is_multiple_of(2),
        "{found}: {words:?}"
    );
    for answer in reader.query(&"origin=generated trigger=word*".parse().unwrap()).unwrap() {
        let answer = answer.unwrap();
        assert!(answer.trigger().starts_with("word"), "a stale hit: {answer:?}");
    }
    assert!(reader.store().revision().unwrap() >= revision);
    revision
}

#[test]
fn readers_beside_a_busy_writer_see_a_consistent_state() {
    let full = std::env::var_os("FNSTORE_FULL_READERS").is_some();
    let (opens, time) =
        if full { (1_000, Duration::from_secs(600)) } else { (40, Duration::from_secs(3)) };
    let (dir, database, _) = mini::imported();
    drop(database);
    let mut writer = start_writer(dir.path());
    let started = Instant::now();
    let (mut looks, mut last, mut seen) = (0, 0, 0);
    while looks < opens || started.elapsed() < time {
        assert_eq!(writer.try_wait().unwrap(), None, "the writer ended");
        let revision = look(dir.path());
        assert!(revision >= last, "revision {revision} after {last}");
        seen += u64::from(revision > last);
        (looks, last) = (looks + 1, revision);
    }
    drop(writer.stdin.take());
    let mut rest = BufReader::new(writer.stdout.take().unwrap());
    let _ = std::io::copy(&mut rest, &mut std::io::sink());
    assert!(writer.wait().unwrap().success());
    println!("{looks} opens beside {last} commits, {seen} of them of a newer state");
    assert!(seen > 1, "the writer wrote nothing meanwhile");
    let check =
        Database::check_at(dir.path(), fnstore::upkeep::CheckOptions { deep: true }, &mut |_| {});
    let findings = check.unwrap().findings;
    assert!(findings.is_empty(), "{findings:#?}");
}

/// A read-only mount, for which the test needs a name space of its own: root may write through
/// permissions.
#[test]
fn a_store_on_read_only_media_is_read() {
    let (dir, database, _) = mini::imported();
    drop(database);
    let script = "mount --bind \"$0\" \"$0\" && mount -o remount,ro,bind \"$0\" && \
                  { touch \"$0/x\" 2>/dev/null && exit 90; } || \
                  \"$1\" query --count trigger=look* --store \"$0\" && \
                  \"$1\" check --deep --store \"$0\"";
    let output = Command::new("unshare")
        .args(["--map-root-user", "--mount", "sh", "-c", script])
        .args([dir.path().as_os_str(), env!("CARGO_BIN_EXE_fnstore").as_ref()])
        .output();
    let output = match output {
        Ok(output) if !String::from_utf8_lossy(&output.stderr).contains("unshare") => output,
        _ => {
            skipped!("no name space of its own to mount in");
            return;
        }
    };
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.starts_with("3\n") && text.ends_with("nothing is wrong\n"), "{text}");
}
