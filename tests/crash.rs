//! A writer that is killed at a random moment loses nothing that it acknowledged, leaves nothing half
//! there, and store and index agree afterwards.
//!
//! The writer is a process of its own, ended by `SIGKILL`. It says on stdout what was acknowledged,
//! the parent kills it after a random time and looks. `FNSTORE_FULL_CRASH=1` kills 200 times instead
//! of a dozen.

use std::io::{BufRead, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use fnstore::database::{CheckOptions, Database, ImportOptions, Write};
use fnstore::model::{
    AnnotationSet, AnnotationSetId, FeStatus, Flags, Generation, IdSpace, Method, Provenance,
    RecipeId, Release, Sentence, SentenceId, Span,
};

use crate::{generated, mini};

const STORE: &str = "FNSTORE_TEST_CRASH_STORE";
const WORK: &str = "FNSTORE_TEST_CRASH_WORK";

/// What the writer does when it is killed.
const WORKS: [&str; 4] = ["import", "jsonl", "load", "all"];

/// The base release as JSON lines, beside the store's own files.
const LINES: &str = "base.jsonl";

/// Sets that one acknowledged write holds.
const SETS_A_WRITE: u64 = 40;

#[test]
#[ignore = "the process that `a_killed_writer_loses_nothing` starts and kills"]
fn write_until_killed() {
    let (Some(store), Ok(work)) = (std::env::var_os(STORE), std::env::var(WORK)) else { return };
    let database = Database::open_writer(store.as_ref()).unwrap();
    say("open");
    let release = base(&database);
    let recipe = database.store().recipe([7; 16], "{}").unwrap();
    let first = database.store().annotation_sets(release.id).unwrap();
    let (mut imports, mut writes) =
        (database.releases().unwrap().len() as u64, first.count() as u64);
    loop {
        if work == "import" || work == "all" {
            let name = format!("import-{imports}");
            let options = ImportOptions { release: Some(name.clone()), ..ImportOptions::default() };
            database.import(&mini::framenet(), &options, &mut |_| {}).unwrap();
            say(&format!("imported {name}"));
            imports += 1;
        }
        if work == "jsonl" || work == "all" {
            let name = format!("lines-{imports}");
            let lines = database.dir().join(LINES);
            database.import_jsonl(&lines, Some(&name), &mut |_| {}).unwrap();
            say(&format!("imported {name}"));
            imports += 1;
        }
        for _ in 0..if work == "load" || work == "all" { 10 } else { 0 } {
            let write = synthetic(&database, &release, recipe, writes);
            database.write(release.id, &write).unwrap();
            say(&format!("wrote {writes}"));
            writes += 1;
        }
    }
}

/// One line, of which the parent sees all or nothing.
fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    // The test runner has left the line before unfinished.
    out.write_all(format!("\n@{line}\n").as_bytes()).unwrap();
    out.flush().unwrap();
}

fn base(database: &Database) -> Release {
    database.releases().unwrap().remove(0)
}

/// The sets of one write; they are there together or not at all.
fn synthetic(database: &Database, release: &Release, recipe: RecipeId, write: u64) -> Write {
    let seed = database.store().annotation_set(release.id, generated::seed()).unwrap().unwrap();
    let rows = (0..SETS_A_WRITE).map(|rank| {
        let number = write * SETS_A_WRITE + rank;
        let sentence = Sentence {
            id: SentenceId::new(IdSpace::Generated, number),
            xml_id: None,
            text: format!("He w{write} r{rank} vetted the figures of quarter {number} ."),
            occurrences: Vec::new(),
        };
        let generation = Generation {
            seed: seed.id,
            source: seed.id,
            target_ordinal: 0,
            round: 1,
            rank: rank as u16,
            chain: Vec::new(),
            method: Method::Paraphrase,
            recipe,
            flags: Flags::default(),
            paraphrase: 1.0,
            aligner: 0.5,
        };
        let set = AnnotationSet {
            id: AnnotationSetId::new(IdSpace::Generated, number),
            xml_id: None,
            sentence: sentence.id,
            status: "GENERATED".to_owned(),
            created: String::new(),
            targets: vec![Span::new(3, 4 + u32::try_from(write.to_string().len()).unwrap())],
            fe_status: FeStatus::Unknown,
            layers: Vec::new(),
            provenance: Provenance::Generated(Box::new(generation)),
            ..seed.clone()
        };
        (sentence, set)
    });
    let (sentences, sets) = rows.unzip();
    Write { sentences, sets, ..Write::default() }
}

/// What the writer had acknowledged when it was killed.
#[derive(Debug, Default)]
struct Acknowledged {
    releases: Vec<String>,
    writes: Vec<u64>,
}

impl Acknowledged {
    fn take_up(&mut self, line: &str) {
        match line.strip_prefix('@').and_then(|line| line.split_once(' ')) {
            Some(("imported", name)) => self.releases.push(name.to_owned()),
            Some(("wrote", number)) => self.writes.push(number.parse().unwrap()),
            _ => {}
        }
    }

    fn number(&self) -> u64 {
        (self.releases.len() + self.writes.len()) as u64
    }
}

/// Starts the writer, waits for so many acknowledgements, then so long, and kills it.
fn killed_after(store: &Path, work: &str, commits: u64, time: Duration) -> Acknowledged {
    let mut writer = Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "--nocapture", "crash::write_until_killed"])
        .env(STORE, store)
        .env(WORK, work)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(writer.stdout.take().unwrap()).lines();
    let opened = lines.by_ref().map_while(Result::ok).any(|line| line == "@open");
    assert!(opened, "the writer ended before it was killed: {:?}", writer.wait());
    let mut acknowledged = Acknowledged::default();
    while acknowledged.number() < commits {
        let line = lines.next().expect("the writer ended before it was killed").unwrap();
        acknowledged.take_up(&line);
    }
    std::thread::sleep(time);
    writer.kill().unwrap();
    lines.map_while(Result::ok).for_each(|line| acknowledged.take_up(&line));
    assert!(writer.wait().unwrap().code().is_none(), "a signal ended it");
    acknowledged
}

/// Everything that was acknowledged is there, and everything that is there is whole; as a reader
/// sees it, who repairs nothing, and as the next writer does.
fn assert_whole(store: &Path, acknowledged: &Acknowledged, per_release: usize) {
    for writer in [false, true] {
        let database =
            if writer { Database::open_existing_writer(store) } else { Database::open(store) };
        let database = database.unwrap();
        let releases = database.releases().unwrap();
        for name in &acknowledged.releases {
            assert!(releases.iter().any(|release| release.name == *name), "{name} is lost");
        }
        for release in &releases[1..] {
            let sets = mini::answers(&database, &format!("release={}", release.name));
            assert_eq!(sets.len(), per_release, "{} is half there", release.name);
        }
        let base = releases[0].id;
        let mut written = std::collections::BTreeMap::new();
        for set in database.store().annotation_sets(base).unwrap() {
            let set = set.unwrap();
            if set.id.space() == IdSpace::Generated {
                *written.entry(set.id.number() / SETS_A_WRITE).or_insert(0) += 1;
            }
        }
        for write in &acknowledged.writes {
            assert!(written.contains_key(write), "write {write} is lost");
            let found = mini::answers(&database, &format!("trigger=w{write}"));
            assert_eq!(found.len() as u64, SETS_A_WRITE, "the index hides write {write}");
        }
        assert!(written.values().all(|sets| *sets == SETS_A_WRITE), "{written:?}");
        let check = database.check(CheckOptions { deep: true }, &mut |_| {}).unwrap();
        assert!(check.findings.is_empty(), "{:#?}", check.findings);
        assert!(!writer || check.index_behind == 0, "the writer has brought the index up");
    }
}

#[test]
fn a_killed_writer_loses_nothing() {
    let full = std::env::var_os("FNSTORE_FULL_CRASH").is_some();
    let kills = if full { 200 } else { 12 };
    let mut random = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos() as u64 | 1;
    println!("seed {random}");
    let mut acknowledged_in_all = (0, 0);
    let mut store = None;
    for kill in 0..kills {
        // A store that grows over some kills, then a new one.
        if kill % 6 == 0 {
            let (dir, database, _) = mini::imported();
            let mut lines = std::fs::File::create(dir.path().join(LINES)).unwrap();
            database.export_jsonl(&"".parse().unwrap(), false, &mut lines).unwrap();
            drop(database);
            store = Some((dir, Acknowledged::default()));
        }
        let (dir, so_far) = store.as_mut().unwrap();
        // xorshift64
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        let work = WORKS[kill % WORKS.len()];
        // A slow machine is not killed before its first commit each time.
        let (commits, time) = (random % 5, Duration::from_micros(random / 5 % 150_000));
        let acknowledged = killed_after(dir.path(), work, commits, time);
        acknowledged_in_all.0 += acknowledged.releases.len();
        acknowledged_in_all.1 += acknowledged.writes.len();
        so_far.releases.extend(acknowledged.releases);
        so_far.writes.extend(acknowledged.writes);
        assert_whole(dir.path(), so_far, 42);
    }
    let (releases, writes) = acknowledged_in_all;
    println!("{kills} kills, {releases} imports and {writes} writes acknowledged, none lost");
    assert!(releases + writes > 0, "no writer came as far as its first commit");
}
