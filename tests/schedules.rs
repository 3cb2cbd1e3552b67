//! A writer, three readers, crashes and a disk that fills up, in every order that a number draws:
//! nothing that was acknowledged is lost, and every reader sees the store as it was at one
//! revision.
//!
//! One process does one operation after the other; which comes next is a function of the seed
//! alone. A crash leaves the files as they are at that moment, without closing anything: what goes
//! on is a copy of them. The disk is a small file system in memory that is made smaller; where that
//! is not allowed the schedules have no full disk, which the test says.
//!
//! `FNSTORE_FULL_SCHEDULES=1` plays 10,000 seeds, `FNSTORE_SCHEDULES=N` the first N, and
//! `FNSTORE_SCHEDULE_SEED=N` one, of which it says what it does; `FNSTORE_SCHEDULE_TIMES=N` plays
//! them N times.
//!
//! A seed decides the operations, their order, what they write, and how many KiB are left on the
//! disk. It does not decide how far three kinds of threads are when a crash, a full disk or the
//! next operation comes:
//!
//! - RocksDB's, which write and merge tables and remove old ones;
//! - Tantivy's, which merge segments and remove old ones. Each merge that is considered takes a
//!   number, and files of deletions are called after numbers; segments have random names;
//! - the file system's, so that the same room may do for a write or not.
//!
//! What fails for a seed may therefore need several tries. A cut commit of the index that is made
//! again has tests of its own in `src/index/writer.rs`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

use fnstore::database::{Database, Write};
use fnstore::edit::Removal;
use fnstore::internals::WithStore as _;
use fnstore::model::{AnnotationSetId, IdSpace, RecipeId, Release};
use fnstore::transfer::ImportOptions;
use fnstore::upkeep::{CheckCode, CheckOptions};

use crate::crash::synthetic;
use crate::mini;

const PLACE: &str = "FNSTORE_TEST_SCHEDULES_IN";
const SEEDS: &str = "FNSTORE_TEST_SCHEDULES";
const NO_FULL_DISK: &str = "FNSTORE_TEST_SCHEDULES_NO_FULL_DISK";

/// Operations of a schedule.
const LENGTH: usize = 24;

/// Arguments: the program, a directory to mount on.
const MOUNTED: &str = r#"
mount -t tmpfs -o size=256m none "$1" || exit 99
exec "$0" --ignored --exact --nocapture schedules::play_seeds
"#;

/// Makes the file system so small that so many KiB are left, or large again. Arguments: the
/// directory, the KiB. What threads of the engine write between the two commands can be more than
/// is left: then it is asked again.
const SHRINK: &str = r#"
for attempt in 1 2 3 4 5 6 7 8 9; do
    mount -o remount,size=$(($(df -k --output=used "$0" | tail -n 1) + $1))k "$0" && exit 0
done
exit 1
"#;

/// Numbers of the writes that the store holds before, which no schedule comes to.
const BEFORE: u64 = 1_000_000;

/// What a store shows: generated sets and the names of releases.
type Shown = BTreeSet<String>;

struct Schedule {
    /// The directory that everything lies in.
    place: PathBuf,
    random: u64,
    copies: usize,
    writer: Option<Database>,
    /// Readers, each with the revision that it has seen last.
    readers: [Option<(Database, u64)>; 3],
    /// What was acknowledged, by revision.
    acknowledged: BTreeMap<u64, Shown>,
    /// What a commit that failed may have left; it is there or it is not.
    perhaps: Vec<Shown>,
    writes: u64,
    is_full: bool,
    /// What was done, for the message of a failure.
    log: String,
}

impl Schedule {
    fn new(place: &Path, seed: u64, template: &Path) -> Self {
        let place = place.join(format!("seed-{seed}"));
        mini::copy(template, &place.join("0"));
        let mut schedule = Self {
            place,
            // The first numbers of xorshift are alike for seeds that are.
            random: (seed + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1,
            copies: 0,
            writer: None,
            readers: [None, None, None],
            acknowledged: BTreeMap::new(),
            perhaps: Vec::new(),
            writes: 0,
            is_full: false,
            log: String::new(),
        };
        for _ in 0..8 {
            schedule.below(2);
        }
        let start = Database::open(&schedule.store()).unwrap();
        schedule.acknowledged.insert(start.store().revision().unwrap(), shown(&start));
        schedule
    }

    fn below(&mut self, end: u64) -> u64 {
        // xorshift64
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (self.random >> 16) % end
    }

    fn store(&self) -> PathBuf {
        self.place.join(self.copies.to_string())
    }

    fn say(&mut self, what: &str) {
        let _ = write!(self.log, "{what}; ");
    }

    fn last(&self) -> (u64, &Shown) {
        let (revision, shown) = self.acknowledged.last_key_value().expect("the start is there");
        (*revision, shown)
    }

    fn step(&mut self) {
        match self.below(20) {
            0..=6 => self.write(),
            7..=14 => self.read(),
            15..=16 => self.crash(),
            17 => self.shrink(),
            18 => self.close(),
            _ => self.reindex(),
        }
    }

    /// One write of the writer, which opens first where there is none.
    fn write(&mut self) {
        let Some(writer) = self.take_writer() else { return };
        let release = writer.releases().unwrap().remove(0);
        let outcome = match self.below(8) {
            0..=2 => self.add(&writer, &release),
            3 => self.remove(&writer, &release),
            4..=5 => self.load(&writer, &release),
            _ => self.import(&writer),
        };
        match outcome {
            Ok(()) => self.writer = Some(writer),
            Err(error) => {
                // Only a full disk is a reason; the writer is then opened anew.
                assert!(self.is_full, "{error}");
                self.say("failed");
            }
        }
    }

    fn take_writer(&mut self) -> Option<Database> {
        if let Some(writer) = self.writer.take() {
            return Some(writer);
        }
        self.say("open a writer");
        match Database::open_existing_writer(&self.store()) {
            Ok(writer) => {
                self.settle(&writer);
                Some(writer)
            }
            Err(error) => {
                assert!(self.is_full, "{error}");
                None
            }
        }
    }

    /// What a failed commit left is known once the store is opened again.
    fn settle(&mut self, database: &Database) {
        self.require_last(database);
        self.perhaps.clear();
    }

    /// What is opened or refreshed now shows the last commit that was acknowledged, or what a
    /// failed one after it has left, which is there for good once somebody has seen it. Gives the
    /// revision.
    fn require_last(&mut self, database: &Database) -> u64 {
        let (revision, now) = (database.store().revision().unwrap(), shown(database));
        let (last, then) = self.last();
        assert!(revision >= last, "revision {revision} is shown, and {last} was acknowledged");
        if revision == last {
            assert_eq!(now, *then, "revision {revision}");
        } else {
            assert!(self.perhaps.contains(&now), "revision {revision}, acknowledged {last}");
            self.acknowledged.insert(revision, now);
        }
        revision
    }

    /// A reader that was not refreshed shows what it has shown before.
    fn require_same(&self, reader: &Database, seen: u64) {
        assert_eq!(reader.store().revision().unwrap(), seen);
        assert_eq!(Some(&shown(reader)), self.acknowledged.get(&seen), "revision {seen}");
    }

    fn acknowledge(&mut self, revision: u64, now: Shown) {
        self.perhaps.clear();
        self.acknowledged.insert(revision, now);
    }

    /// Three generated sets, together.
    fn next_write(&mut self, writer: &Database, release: &Release) -> (Write, Shown) {
        self.writes += 1;
        let mut write = synthetic(writer, release, RecipeId(1), self.writes);
        write.sentences.truncate(3);
        write.sets.truncate(3);
        let mut then = self.last().1.clone();
        then.extend(write.sets.iter().map(|set| set.id.to_string()));
        (write, then)
    }

    fn add(&mut self, writer: &Database, release: &Release) -> Result<(), String> {
        let (write, then) = self.next_write(writer, release);
        self.say("write");
        self.perhaps.push(then.clone());
        let revision = writer.write(release.id, &write).map_err(|error| error.to_string())?;
        self.acknowledge(revision, then);
        Ok(())
    }

    fn load(&mut self, writer: &Database, release: &Release) -> Result<(), String> {
        let mut loader = writer.loader(release.id).map_err(|error| error.to_string())?;
        for _ in 0..2 {
            let (write, then) = self.next_write(writer, release);
            self.say("load");
            self.perhaps.push(then.clone());
            let revision = loader.write(&write).map_err(|error| error.to_string())?;
            self.acknowledge(revision, then);
        }
        if self.below(2) == 0 {
            self.say("end the load");
            loader.finish().map(drop).map_err(|error| error.to_string())?;
        }
        Ok(())
    }

    fn remove(&mut self, writer: &Database, release: &Release) -> Result<(), String> {
        let sets: Vec<AnnotationSetId> = generated(writer, release).collect();
        let Some(set) = sets.get(self.below(sets.len().max(1) as u64) as usize) else {
            return Ok(());
        };
        self.say("remove");
        let mut then = self.last().1.clone();
        then.remove(&set.to_string());
        self.perhaps.push(then.clone());
        let mut edits = writer.transaction(release.id).map_err(|error| error.to_string())?;
        edits.remove_annotation_set(*set, Removal::Cascade).map_err(|error| error.to_string())?;
        let revision = edits.commit().map_err(|error| error.to_string())?;
        self.acknowledge(revision, then);
        Ok(())
    }

    fn import(&mut self, writer: &Database) -> Result<(), String> {
        self.writes += 1;
        let name = format!("release-{}", self.writes);
        self.say("import");
        let mut then = self.last().1.clone();
        then.insert(name.clone());
        self.perhaps.push(then.clone());
        let options = ImportOptions { release: Some(name), ..ImportOptions::default() };
        let texts = self.place.with_file_name(TEXTS);
        writer.import_spans(&texts, &options, &mut |_| {}).map_err(|error| error.to_string())?;
        self.acknowledge(writer.store().revision().unwrap(), then);
        Ok(())
    }

    /// A reader opens, looks again at what it sees, moves on, or goes.
    fn read(&mut self) {
        let at = self.below(3) as usize;
        let Some((reader, seen)) = self.readers[at].take() else {
            self.say("open a reader");
            let reader = match Database::open(&self.store()) {
                Ok(reader) => reader,
                Err(error) => {
                    assert!(self.is_full, "a reader: {error}");
                    return;
                }
            };
            let seen = self.require_last(&reader);
            self.readers[at] = Some((reader, seen));
            return;
        };
        let seen = match self.below(4) {
            0 => return self.say("a reader goes"),
            1 => {
                self.say("refresh");
                reader.refresh().unwrap();
                self.require_last(&reader)
            }
            2 => {
                self.say("query");
                self.query(&reader);
                self.require_last(&reader)
            }
            _ => {
                self.say("look again");
                self.require_same(&reader, seen);
                seen
            }
        };
        self.readers[at] = Some((reader, seen));
    }

    /// A query, which goes through the index where there is one, finds what the records say.
    fn query(&mut self, reader: &Database) {
        let write = self.below(self.writes.max(1)) + 1;
        let found = mini::answers(reader, &format!("trigger=w{write}"));
        let release = reader.releases().unwrap().remove(0).name;
        let found: Shown =
            found.iter().map(|set| set.replace(&format!("{release} "), "")).collect();
        let written = (0..3).map(|rank| {
            AnnotationSetId::new(IdSpace::Generated, write * crate::crash::SETS_A_WRITE + rank)
                .to_string()
        });
        let written: Shown = written.collect();
        let of = |all: &Shown| -> Shown { all.intersection(&written).cloned().collect() };
        let (_, last) = self.last();
        let is_right = found == of(last) || self.perhaps.iter().any(|then| found == of(then));
        assert!(is_right, "trigger=w{write}: {found:?}, not {:?}", of(last));
    }

    /// The process dies: its files are what they are.
    fn crash(&mut self) {
        self.make_room();
        self.say("crash");
        let before = self.store();
        self.copies += 1;
        copy_of_a_moment(&before, &self.store());
        self.writer = None;
        self.readers = [None, None, None];
        remove(&before);
        let reader = Database::open(&self.store()).unwrap();
        self.require_last(&reader);
    }

    fn close(&mut self) {
        self.say("close");
        if let Some(writer) = self.writer.take()
            && let Err(error) = writer.close()
        {
            assert!(self.is_full, "{error}");
        }
    }

    fn reindex(&mut self) {
        self.close();
        self.say("reindex");
        if let Err(error) = Database::reindex(&self.store()) {
            assert!(self.is_full, "{error}");
        }
    }

    /// Fills the disk, or makes room again.
    fn shrink(&mut self) {
        if std::env::var_os(NO_FULL_DISK).is_some() {
            return;
        }
        if self.is_full {
            return self.free();
        }
        let left = self.below(160);
        self.say(&format!("{left} KiB left"));
        self.mount(SHRINK, &left.to_string());
        self.is_full = true;
    }

    /// Makes room, and opens the writer anew: RocksDB writes nothing more after an error.
    fn free(&mut self) {
        if self.is_full {
            self.make_room();
            self.writer = None;
        }
    }

    fn make_room(&mut self) {
        if self.is_full {
            self.say("room again");
            self.mount("mount -o remount,size=256m \"$0\"", "");
            self.is_full = false;
        }
    }

    fn mount(&self, script: &str, argument: &str) {
        let place = self.place.parent().unwrap();
        let mounted = Command::new("sh").args(["-c", script]).arg(place).arg(argument).status();
        assert!(mounted.unwrap().success(), "{script}");
    }

    /// At the end all of it is there, and the store is whole.
    fn end(mut self) {
        self.free();
        self.readers = [None, None, None];
        self.writer = None;
        for writer in [false, true] {
            let store = self.store();
            let database = if writer {
                Database::open_existing_writer(&store)
            } else {
                Database::open(&store)
            };
            let database = database.unwrap();
            self.settle(&database);
            let check = database.check(CheckOptions { deep: true }, &mut |_| {}).unwrap();
            // Until the next writer comes the index may be away.
            let is_fault = |code| writer || code != CheckCode::IndexAbsent;
            let has_fault = check.findings.iter().any(|(code, ..)| is_fault(code));
            assert!(!has_fault, "{:#?}", check.findings);
        }
        remove(&self.place);
    }
}

/// Copies a directory as it is at one moment. Threads of RocksDB and Tantivy may be tidying up in
/// it: then it is copied again.
fn copy_of_a_moment(from: &Path, to: &Path) {
    loop {
        let before = files(from);
        let copied = std::panic::catch_unwind(|| mini::copy(from, to));
        if copied.is_ok() && files(from) == before {
            return;
        }
        remove(to);
    }
}

/// Removes a directory, in which threads of what was open there may be tidying up still.
fn remove(directory: &Path) {
    for _ in 0..1_000 {
        match std::fs::remove_dir_all(directory) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                std::thread::sleep(Duration::from_millis(10));
            }
            _ => return,
        }
    }
    panic!("{} does not go", directory.display());
}

/// The files below a directory, each with its length and when it was written last.
fn files(directory: &Path) -> BTreeMap<PathBuf, Option<(u64, SystemTime)>> {
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            let written = path.metadata().and_then(|file| Ok((file.len(), file.modified()?)));
            found.insert(path, written.ok());
        }
    }
    found
}

fn generated<'a>(
    database: &'a Database,
    release: &Release,
) -> impl Iterator<Item = AnnotationSetId> + 'a {
    let sets = database.store().annotation_sets(release.id).unwrap();
    sets.map(|set| set.unwrap().id).filter(|set| set.space() == IdSpace::Generated)
}

fn shown(database: &Database) -> Shown {
    let releases = database.releases().unwrap();
    let mut shown: Shown = generated(database, &releases[0]).map(|set| set.to_string()).collect();
    shown.extend(releases.into_iter().map(|release| release.name));
    shown
}

/// Span-labelled texts to import, beside the stores.
const TEXTS: &str = "texts.jsonl";

#[test]
#[ignore = "the process that `schedules` starts, on a file system of its own"]
fn play_seeds() {
    let (Some(place), Ok(seeds)) = (std::env::var_os(PLACE), std::env::var(SEEDS)) else { return };
    let place = PathBuf::from(place);
    let template = place.join("template");
    let database = Database::open_writer(&template).unwrap();
    mini::import(&database, &mini::framenet()).unwrap();
    database.store().recipe([7; 16], "{}").unwrap();
    // So many sets that queries go through the index.
    let release = database.releases().unwrap().remove(0);
    let mut write = Write::default();
    for number in 0..600 / crate::crash::SETS_A_WRITE {
        let more = synthetic(&database, &release, RecipeId(1), BEFORE + number);
        write.sentences.extend(more.sentences);
        write.sets.extend(more.sets);
    }
    database.write(release.id, &write).unwrap();
    database.close().unwrap();
    let span =
        r#"{"text": "He vetted it .", "spans": [{"start": 3, "end": 9, "type": "Vetting"}]}"#;
    std::fs::write(place.join(TEXTS), format!("{span}\n")).unwrap();
    let numbers: Vec<u64> = seeds.split(' ').map(|number| number.parse().unwrap()).collect();
    let [first, count, times] = numbers[..] else { panic!("{seeds}") };
    for seed in (0..times).flat_map(|_| first..first + count) {
        let mut schedule = Schedule::new(&place, seed, &template);
        let played = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            (0..LENGTH).for_each(|_| schedule.step());
        }));
        let log = std::mem::take(&mut schedule.log);
        if count == 1 {
            println!("seed {seed}: {log}");
        }
        let ended = played.and_then(|()| {
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| schedule.end()))
        });
        assert!(ended.is_ok(), "FNSTORE_SCHEDULE_SEED={seed} fails: {log}");
    }
    println!("{} schedules played", count * times);
}

#[test]
fn whatever_the_order_nothing_acknowledged_is_lost_and_nothing_wrong_is_read() {
    let one = std::env::var("FNSTORE_SCHEDULE_SEED").ok();
    let is_full = std::env::var_os("FNSTORE_FULL_SCHEDULES").is_some();
    let seeds = match &one {
        Some(seed) => format!("{seed} 1"),
        None if is_full => "0 10000".to_owned(),
        None => format!("0 {}", std::env::var("FNSTORE_SCHEDULES").as_deref().unwrap_or("24")),
    };
    let times = std::env::var("FNSTORE_SCHEDULE_TIMES");
    let seeds = format!("{seeds} {}", times.as_deref().unwrap_or("1"));
    let (place, temporary) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let environment = |command: &mut Command| {
        // Readers' own directories lie on another disk.
        command.env(PLACE, place.path()).env(SEEDS, &seeds).env("TMPDIR", temporary.path());
    };
    let mut mounted = Command::new("unshare");
    mounted.args(["--map-root-user", "--mount", "sh", "-c", MOUNTED]);
    mounted.arg(std::env::current_exe().unwrap()).arg(place.path());
    environment(&mut mounted);
    let output = match mounted.output() {
        Ok(output) if output.status.code() != Some(99) => output,
        _ => {
            skipped!("no file system of its own, so no full disk in the schedules");
            let mut plain = Command::new(std::env::current_exe().unwrap());
            plain.args(["--ignored", "--exact", "--nocapture", "schedules::play_seeds"]);
            environment(&mut plain);
            plain.env(NO_FULL_DISK, "1").output().unwrap()
        }
    };
    let (out, err) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{out}{err}");
    assert!(out.contains("schedules played"), "{out}{err}");
    out.lines()
        .filter(|line| line.contains("seed") || line.contains("played"))
        .for_each(|line| println!("{line}"));
}
