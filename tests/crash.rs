//! A writer that is killed at a random moment loses nothing that it acknowledged, leaves nothing
//! half there, and store and index agree afterwards.
//!
//! The writer is a process of its own, ended by `SIGKILL`. It says on stdout what was acknowledged,
//! the parent kills it after a random time and looks: in imports, loads, commits of the index, the
//! first opening and rebuilding of the index. `FNSTORE_FULL_CRASH=1` kills 200 times instead of two
//! dozen.

use std::io::{BufRead, BufReader, Lines, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use fnstore::database::{Database, DatabaseError, Write};
use fnstore::internals::WithStore as _;
use fnstore::model::{
    AnnotationSet, AnnotationSetId, FeStatus, Flags, Generation, IdSpace, Method, Provenance,
    RecipeId, Release, Sentence, SentenceId, Span,
};
use fnstore::transfer::ImportOptions;
use fnstore::upkeep::{CheckCode, CheckOptions};

use fnstore::store::StoreError;

use crate::{generated, mini};

const STORE: &str = "FNSTORE_TEST_CRASH_STORE";
const WORK: &str = "FNSTORE_TEST_CRASH_WORK";

/// What the writer does when it is killed, in a store that has a release: imports of FrameNet's XML
/// and of JSON lines, writes one by one, loads, or all of them.
const WORKS: [&str; 5] = ["import", "jsonl", "write", "load", "all"];

/// The base release as JSON lines, beside the store's own files.
const LINES: &str = "base.jsonl";

/// Sets that one acknowledged write holds.
pub(crate) const SETS_A_WRITE: u64 = 40;

#[test]
#[ignore = "the process that the tests of this file start and kill"]
fn write_until_killed() {
    let (Some(store), Ok(work)) = (std::env::var_os(STORE), std::env::var(WORK)) else { return };
    say("start");
    if work == "reindex" {
        loop {
            Database::reindex(store.as_ref()).unwrap();
            say("indexed");
        }
    }
    let database = Database::open_writer(store.as_ref()).unwrap();
    say("open");
    if database.releases().unwrap().is_empty() {
        let release = mini::import(&database, &mini::framenet()).unwrap().release;
        say(&format!("imported {}", release.name));
    }
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
        for _ in 0..if work == "write" || work == "all" { 10 } else { 0 } {
            let write = synthetic(&database, &release, recipe, writes);
            database.write(release.id, &write).unwrap();
            say(&format!("wrote {writes}"));
            writes += 1;
        }
        if work == "load" || work == "all" {
            // Each write is safe once it returns; the index hears of all of them at the end.
            let mut loader = database.loader(release.id).unwrap();
            for _ in 0..10 {
                let write = synthetic(&database, &release, recipe, writes);
                loader.write(&write).unwrap();
                say(&format!("wrote {writes}"));
                writes += 1;
            }
            loader.finish().unwrap();
            say("finished");
        }
    }
}

/// One line, of which the parent sees all or nothing.
pub(crate) fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    // The test runner has left the line before unfinished.
    out.write_all(format!("\n@{line}\n").as_bytes()).unwrap();
    out.flush().unwrap();
}

fn base(database: &Database) -> Release {
    database.releases().unwrap().remove(0)
}

/// The sets of one write; they are there together or not at all.
pub(crate) fn synthetic(
    database: &Database,
    release: &Release,
    recipe: RecipeId,
    write: u64,
) -> Write {
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
            filter: None,
            elements: Vec::new(),
            fit: None,
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
    /// Loads that were finished, indexes that were built.
    others: u64,
}

impl Acknowledged {
    fn take_up(&mut self, line: &str) {
        match line.strip_prefix('@').and_then(|line| line.split_once(' ')) {
            Some(("imported", name)) => self.releases.push(name.to_owned()),
            Some(("wrote", number)) => self.writes.push(number.parse().unwrap()),
            _ => self.others += u64::from(["@finished", "@indexed"].contains(&line)),
        }
    }

    fn number(&self) -> u64 {
        (self.releases.len() + self.writes.len()) as u64 + self.others
    }
}

/// A writer at work.
struct Writer {
    process: Child,
    lines: Lines<BufReader<ChildStdout>>,
    acknowledged: Acknowledged,
}

impl Writer {
    /// Starts one, and waits until it says that it has come to a place.
    fn start(store: &Path, work: &str, place: &str) -> Self {
        let mut process = Command::new(std::env::current_exe().unwrap())
            .args(["--ignored", "--exact", "--nocapture", "crash::write_until_killed"])
            .env(STORE, store)
            .env(WORK, work)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let is_there = lines.by_ref().map_while(Result::ok).any(|line| line == place);
        assert!(is_there, "the writer ended before it was killed: {:?}", process.wait());
        Self { process, lines, acknowledged: Acknowledged::default() }
    }

    fn wait_for(&mut self, acknowledgements: u64) {
        while self.acknowledged.number() < acknowledgements {
            let line = self.lines.next().expect("the writer ended before it was killed").unwrap();
            self.acknowledged.take_up(&line);
        }
    }

    /// What it had acknowledged when it was killed, so long from here.
    fn killed_after(mut self, time: Duration) -> Acknowledged {
        std::thread::sleep(time);
        self.process.kill().unwrap();
        self.lines.map_while(Result::ok).for_each(|line| self.acknowledged.take_up(&line));
        assert!(self.process.wait().unwrap().code().is_none(), "a signal ended it");
        self.acknowledged
    }
}

/// How long a work takes from its start to its first acknowledgement, on this machine, as busy as
/// it is.
fn time_of(store: &Path, work: &str) -> Duration {
    let mut writer = Writer::start(store, work, "@start");
    let started = Instant::now();
    writer.wait_for(1);
    let time = started.elapsed();
    writer.killed_after(Duration::ZERO);
    time
}

/// Everything that was acknowledged is there, and everything that is there is whole; as a reader
/// sees it, who repairs nothing and may find what is `allowed`, and as the next writer does.
fn assert_whole(
    store: &Path,
    acknowledged: &Acknowledged,
    per_release: usize,
    allowed: &[CheckCode],
) {
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
        let allowed = if writer { &[] } else { allowed };
        let mut codes = check.findings.iter().map(|(code, ..)| code);
        assert!(codes.all(|code| allowed.contains(&code)), "{:#?}", check.findings);
        assert!(!writer || check.index_behind == 0, "the writer has brought the index up");
    }
}

/// A part of the 200 kills, a tenth of it by default.
fn kills(full: usize) -> usize {
    if std::env::var_os("FNSTORE_FULL_CRASH").is_some() { full } else { full / 10 }
}

/// Random numbers, another row of them each time.
struct Random(u64);

impl Random {
    fn new() -> Self {
        let seed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos() as u64 | 1;
        println!("seed {seed}");
        Self(seed)
    }

    fn below(&mut self, end: u64) -> u64 {
        // xorshift64
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }

    /// A time up to somewhat more than that one.
    fn around(&mut self, time: Duration) -> Duration {
        Duration::from_micros(self.below(time.as_micros() as u64 * 3 / 2 + 1))
    }
}

#[test]
fn a_killed_writer_loses_nothing() {
    let mut random = Random::new();
    let mut acknowledged_in_all = (0, 0);
    let mut store = None;
    let kills = kills(110);
    for kill in 0..kills {
        // A store that grows over some kills, then a new one.
        if kill % 7 == 0 {
            let (dir, database, _) = mini::imported();
            let mut lines = std::fs::File::create(dir.path().join(LINES)).unwrap();
            database.export_jsonl(&"".parse().unwrap(), false, &mut lines).unwrap();
            drop(database);
            store = Some((dir, Acknowledged::default()));
        }
        let (dir, so_far) = store.as_mut().unwrap();
        let work = WORKS[kill % WORKS.len()];
        // A slow machine is not killed before its first commit each time.
        let mut writer = Writer::start(dir.path(), work, "@open");
        writer.wait_for(random.below(5));
        let acknowledged = writer.killed_after(random.around(Duration::from_millis(100)));
        acknowledged_in_all.0 += acknowledged.releases.len();
        acknowledged_in_all.1 += acknowledged.writes.len();
        so_far.releases.extend(acknowledged.releases);
        so_far.writes.extend(acknowledged.writes);
        assert_whole(dir.path(), so_far, 42, &[]);
    }
    let (releases, writes) = acknowledged_in_all;
    println!("{kills} kills, {releases} imports and {writes} writes acknowledged, none lost");
    assert!(releases + writes > 0, "no writer came as far as its first commit");
}

#[test]
fn a_writer_that_is_killed_as_it_makes_a_store_leaves_none_or_a_whole_one() {
    let mut random = Random::new();
    let (kills, mut stores, mut imports) = (kills(40), 0, 0);
    let time = time_of(&tempfile::tempdir().unwrap().path().join("store"), "write");
    for _ in 0..kills {
        let dir = tempfile::tempdir().unwrap();
        let store = dir.path().join("store");
        let writer = Writer::start(&store, "write", "@start");
        let acknowledged = writer.killed_after(random.around(time));
        match Database::open(&store) {
            Ok(reader) => {
                stores += 1;
                let check = reader.check(CheckOptions { deep: true }, &mut |_| {}).unwrap();
                assert!(check.findings.is_empty(), "{:#?}", check.findings);
                let releases = reader.releases().unwrap();
                assert!(releases.len() >= acknowledged.releases.len(), "{acknowledged:?}");
            }
            Err(DatabaseError::Store(StoreError::Absent { .. })) => {
                assert_eq!(acknowledged.releases.len(), 0);
            }
            Err(error) => panic!("{error}"),
        }
        let writer = Database::open_writer(&store).unwrap();
        if writer.releases().unwrap().is_empty() {
            mini::import(&writer, &mini::framenet()).unwrap();
        } else {
            imports += 1;
        }
        drop(writer);
        assert_whole(&store, &acknowledged, 42, &[]);
    }
    println!("{kills} kills, {stores} of them left a store, {imports} one with its release");
}

#[test]
fn a_killed_rebuilding_of_the_index_leaves_one_that_is_whole() {
    let (dir, database, _) = mini::imported();
    drop(database);
    let mut random = Random::new();
    let (kills, mut rebuilt) = (kills(30), 0);
    let time = time_of(dir.path(), "reindex");
    for _ in 0..kills {
        let writer = Writer::start(dir.path(), "reindex", "@start");
        rebuilt += writer.killed_after(random.around(time)).others;
        // Between two renames there is none, and readers scan.
        let mut found = Acknowledged::default();
        found.releases.push("mini-framenet".to_owned());
        assert_whole(dir.path(), &found, 42, &[CheckCode::IndexAbsent]);
        assert!(!dir.path().join("index.new").exists(), "the next writer tidies up");
    }
    println!("{kills} kills, {rebuilt} indexes built meanwhile");
}
