//! A machine that loses power at any moment loses nothing that was acknowledged, shows nothing
//! wrong, and its stores open again.
//!
//! A process that imports XML, JSON lines and span-labelled texts, edits, loads, reindexes, backs
//! up, restores and exports runs under `strace`. From its system calls the test rebuilds
//! the disks that a loss of power could have left: at every sync, with nothing, all, or any part of
//! what was not synced ([`disk`] says what that may be). Each disk is opened as a reader and as a
//! writer does, checked deeply, and compared with what was acknowledged by then.
//!
//! By default some dozens of the disks are looked at; `FNSTORE_POWER_DISKS=N` looks at so many,
//! `FNSTORE_FULL_POWER=1` at all of them, and `FNSTORE_POWER_DISK=N` at the one of that number.

mod disk;
mod trace;
mod workload;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use fnstore::database::{Database, DatabaseError};
use fnstore::internals::WithStore as _;
use fnstore::store::StoreError;
use fnstore::upkeep::{CheckCode, CheckOptions, restore};
use tempfile::TempDir;

use disk::{Disk, Image, Survives};
use trace::Event;

/// Disks that are looked at by default.
const SOME: usize = 60;

/// Disks that are drawn at each moment, beside those that hold all or nothing.
const PARTS: u64 = 3;

/// Disks that are looked at side by side.
const WORKERS: usize = 4;

/// What a store shows: its rows and the answers to queries, or that there is none.
type Shown = Option<Vec<String>>;

/// A step that was acknowledged.
#[derive(Debug, Clone)]
struct Step {
    name: String,
    store: String,
    /// What its store shows from then on.
    shown: Shown,
}

/// A disk after a loss of power.
struct Cut {
    image: Image,
    /// How many steps were acknowledged.
    acknowledged: usize,
    /// Where that is, for messages.
    at: String,
}

/// A directory of its own, in memory where that is to be had: disks are many and soon gone.
fn passing_directory() -> TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

/// The step that a call acknowledges.
fn acknowledgement(event: &Event) -> Option<(String, String)> {
    let Event::Done { call, .. } = event else { return None };
    if call.name != "write" || call.number(0) != 1 {
        return None;
    }
    let said = String::from_utf8_lossy(&call.bytes(1)).into_owned();
    let line = said.lines().find_map(|line| line.strip_prefix('@'))?.to_owned();
    let (store, step) = line.strip_prefix(workload::ACKNOWLEDGED)?.trim().split_once(' ')?;
    Some((store.to_owned(), step.to_owned()))
}

/// What a store shows to a reader.
fn shown(store: &Path) -> Result<Shown, DatabaseError> {
    let database = match Database::open(store) {
        Err(DatabaseError::Store(StoreError::Absent { .. } | StoreError::NotAStore { .. })) => {
            return Ok(None);
        }
        outcome => outcome?,
    };
    all_of(&database).map(Some)
}

fn all_of(database: &Database) -> Result<Vec<String>, DatabaseError> {
    let mut all = Vec::new();
    for row in database.store().rows()? {
        let row = row.unwrap_or_else(|fault| panic!("a row cannot be read: {fault:?}"));
        // The book counts and names versions; a revision without changes is no news.
        if row.family != "meta" {
            all.push(format!("{row:?}"));
        }
    }
    // An unfinished import's rows are there and not shown.
    let listed: Vec<_> = database.releases()?.iter().map(|release| release.id).collect();
    all.retain(|row| {
        listed.iter().any(|release| row.contains(&format!("release: Some({release:?})")))
            || row.contains("release: None")
    });
    for release in database.releases()? {
        all.push(format!("{} {:?}", release.name, release.counts));
    }
    if listed.is_empty() {
        return Ok(all);
    }
    for query in ["frame=Checking", "trigger=look*", "trigger=vetted", "text=\"figures\""] {
        for answer in database.query(&query.parse()?)? {
            all.push(format!("{query} {:?}", answer?.set.id));
        }
    }
    Ok(all)
}

/// Goes through a recording, and hands on every disk that it could leave.
fn play(root: &Path, events: &[Event], start: Disk) -> (Vec<Step>, Vec<Cut>) {
    let mut disk = start;
    let (mut steps, mut cuts): (Vec<Step>, Vec<Cut>) = (Vec::new(), Vec::new());
    let (mut syncs, mut moments) = (0, 0);
    let (mut seen, mut contents) = (HashSet::new(), HashMap::new());
    let mut cut = |disk: &Disk, acknowledged: usize, at: &str| {
        moments += PARTS;
        let kinds = [Survives::Nothing, Survives::All, Survives::Names, Survives::Content];
        for survives in
            kinds.into_iter().chain((0..PARTS).map(|part| Survives::Parts(moments + part)))
        {
            let mut image = disk.image(survives);
            // The same disk after the same acknowledgements needs no second look.
            if seen.insert((acknowledged, fingerprint(&mut image, &mut contents))) {
                cuts.push(Cut { image, acknowledged, at: format!("{at}, {survives:?}") });
            }
        }
    };
    for event in events {
        if disk.ends_a_sync(event) {
            syncs += 1;
            cut(&disk, steps.len(), &format!("before sync {syncs}"));
        }
        disk.take(event);
        if let Some((store, name)) = acknowledgement(event) {
            let folder = passing_directory();
            disk::write_down(&disk.image(Survives::All), folder.path());
            let shown = shown(&folder.path().join(&store)).unwrap();
            steps.push(Step { name, store, shown });
            cut(&disk, steps.len(), &format!("after {}", steps.last().unwrap().name));
        }
    }
    let names: Vec<&str> = steps.iter().map(|step| step.name.as_str()).collect();
    println!("{} steps ({}), {syncs} syncs, {} disks", steps.len(), names.join(" "), cuts.len());
    assert_eq!(disk.image(Survives::All), files_under(root), "the model has other files");
    (steps, cuts)
}

/// A hash of an image, whose contents are kept once for all disks.
fn fingerprint(image: &mut Image, contents: &mut HashMap<blake3::Hash, Arc<[u8]>>) -> blake3::Hash {
    let mut hasher = blake3::Hasher::new();
    for (path, content) in image {
        hasher.update(path.as_bytes());
        hasher.update(&[0, u8::from(content.is_some())]);
        if let Some(content) = content {
            let hash = blake3::hash(content);
            hasher.update(hash.as_bytes());
            *content = contents.entry(hash).or_insert_with(|| content.clone()).clone();
        }
    }
    hasher.finalize()
}

fn files_under(root: &Path) -> Image {
    Disk::of(root).image(Survives::All)
}

/// What a store may show: what the last acknowledged step left, or what the one in progress leaves.
fn allowed<'a>(steps: &'a [Step], acknowledged: usize, store: &str) -> Vec<&'a Shown> {
    let of_store =
        |steps: &'a [Step]| steps.iter().filter(|step| step.store == store).map(|step| &step.shown);
    let before = of_store(&steps[..acknowledged]).next_back();
    let next = steps.get(acknowledged).filter(|step| step.store == store).map(|step| &step.shown);
    before.into_iter().chain(next).collect()
}

/// Opens the stores of a disk, and says what is wrong with them.
fn faults(
    cut: &Cut,
    steps: &[Step],
    end: &Image,
    folder: &Path,
    index_lost: &AtomicUsize,
) -> Vec<String> {
    let (mut faults, empty) = (Vec::new(), Some(Vec::new()));
    for store in [workload::STORE, workload::OTHERS, workload::FAILED] {
        let mut allowed = allowed(steps, cut.acknowledged, store);
        // Before its first acknowledgement there may be none.
        let is_first = !steps[..cut.acknowledged].iter().any(|step| step.store == store);
        if is_first {
            allowed.extend([&None, &empty]);
        }
        let place = folder.join(store);
        for writer in [false, true] {
            let outcome = look(&place, writer, index_lost);
            let who = if writer { "a writer" } else { "a reader" };
            match outcome {
                Err(fault) => faults.push(format!("{store}: {who}: {fault}")),
                Ok(shown) if allowed.contains(&&shown) => {}
                Ok(shown) => {
                    let rows = shown.as_ref().map_or(-1, |rows| rows.len() as i64);
                    let expected: Vec<i64> = allowed
                        .iter()
                        .map(|shown| shown.as_ref().map_or(-1, |rows| rows.len() as i64))
                        .collect();
                    faults.push(format!("{store}: {who} is shown {rows} rows, not {expected:?}"));
                }
            }
        }
    }
    faults.extend(backup_fault(cut, steps, folder));
    let exports = [workload::XML, workload::LINES];
    faults.extend(exports.iter().filter_map(|export| export_fault(cut, steps, end, export)));
    faults
}

/// What is wrong with an export: what has its name is all of it, and one that was acknowledged is
/// there.
fn export_fault(cut: &Cut, steps: &[Step], end: &Image, export: &str) -> Option<String> {
    let at = steps.iter().position(|step| step.store == export)?;
    let (own, below) = (format!("/{export}"), format!("/{export}/"));
    let is_of = |path: &str| path == own || path.starts_with(&below);
    let of = |image: &Image| -> Image {
        let files = image.iter().filter(|(path, _)| is_of(path));
        files.map(|(path, content)| (path.clone(), content.clone())).collect()
    };
    let found = of(&cut.image);
    if found.is_empty() {
        return (cut.acknowledged > at)
            .then(|| format!("the acknowledged export {export} is lost"));
    }
    (found != of(end)).then(|| format!("{export} has {} files of its own", found.len()))
}

/// What a store shows to a reader, or to the writer that comes first; whatever is wrong is an
/// error.
fn look(store: &Path, writer: bool, index_lost: &AtomicUsize) -> Result<Shown, String> {
    let opened = if writer { Database::open_existing_writer(store) } else { Database::open(store) };
    let database = match opened {
        Ok(database) => database,
        Err(DatabaseError::Store(StoreError::Absent { .. })) => return Ok(None),
        Err(error) => return Err(error.to_string()),
    };
    let check = database.check(CheckOptions { deep: true }, &mut |_| {});
    let check = check.map_err(|error| error.to_string())?;
    let mut codes: Vec<CheckCode> = check.findings.iter().map(|(code, ..)| code).collect();
    if !writer && codes.contains(&CheckCode::IndexAbsent) {
        // Between two renames there is none: a scan answers.
        index_lost.fetch_add(1, Ordering::Relaxed);
        codes.retain(|code| *code != CheckCode::IndexAbsent);
    }
    if !codes.is_empty() {
        return Err(format!("{:#?}", check.findings));
    }
    all_of(&database).map(Some).map_err(|error| error.to_string())
}

/// What is wrong with the backup: what looks like one is one, and one that was acknowledged is
/// there.
fn backup_fault(cut: &Cut, steps: &[Step], folder: &Path) -> Option<String> {
    let backup = folder.join(workload::BACKUP);
    let at = steps.iter().position(|step| step.store == workload::BACKUP)?;
    if !backup.exists() {
        return (cut.acknowledged > at).then(|| "an acknowledged backup is lost".to_owned());
    }
    let place = folder.join("restored");
    if let Err(error) = restore(&backup, &place) {
        return Some(format!("the backup: {error}"));
    }
    let expected = steps[..at].iter().rfind(|step| step.store == workload::STORE)?;
    match shown(&place) {
        Ok(shown) if shown == expected.shown => None,
        outcome => Some(format!("the backup holds something else: {:?}", outcome.is_ok())),
    }
}

fn number_of(variable: &str) -> Option<usize> {
    std::env::var(variable).ok().map(|text| text.parse().expect("a number"))
}

#[test]
fn a_loss_of_power_loses_nothing_that_was_acknowledged() {
    let root = tempfile::tempdir().unwrap();
    let root = root.path().canonicalize().unwrap();
    let command = workload::prepare(&root);
    let start = Disk::of(&root);
    let log = tempfile::tempdir().unwrap();
    let Some(events) = trace::record(&command, &log.path().join("trace")) else { return };
    let (steps, cuts) = play(&root, &events, start);
    let end = files_under(&root);
    assert!(cuts.len() >= 1000, "{} disks: the recording is too short", cuts.len());

    let is_full = std::env::var_os("FNSTORE_FULL_POWER").is_some();
    let number = number_of("FNSTORE_POWER_DISKS").unwrap_or(SOME);
    let stride = if is_full { 1 } else { cuts.len() / number };
    let mut wanted: Vec<usize> = (0..cuts.len()).step_by(stride.max(1)).collect();
    if let Some(one) = number_of("FNSTORE_POWER_DISK") {
        wanted = vec![one];
    }
    let (next, index_lost) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let wrong: Mutex<BTreeMap<usize, Vec<String>>> = Mutex::default();
    std::thread::scope(|scope| {
        let work = || {
            while let Some(number) = wanted.get(next.fetch_add(1, Ordering::Relaxed)) {
                let folder = passing_directory();
                let cut = &cuts[*number];
                disk::write_down(&cut.image, folder.path());
                let faults = faults(cut, &steps, &end, folder.path(), &index_lost);
                if !faults.is_empty() {
                    wrong.lock().unwrap().insert(*number, faults);
                }
            }
        };
        (0..WORKERS).for_each(|_| drop(scope.spawn(work)));
    });
    let wrong = wrong.into_inner().unwrap();
    for (number, faults) in &wrong {
        let Cut { at, acknowledged, .. } = &cuts[*number];
        println!("disk {number}, {at}, {acknowledged} steps acknowledged:");
        faults.iter().for_each(|fault| println!("    {fault}"));
    }
    let looked_at = wanted.len();
    println!(
        "{looked_at} disks, {} of them wrong; {} times no index",
        wrong.len(),
        index_lost.into_inner()
    );
    assert!(wrong.is_empty(), "{} of {looked_at} disks", wrong.len());
}
