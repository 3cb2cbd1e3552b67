//! A flipped byte in a file of the store is an error or makes no difference: never a wrong answer,
//! and `check --deep` finds it wherever it does make one. A damaged index shows nothing wrong, ends
//! nothing in a panic, and is built anew by the next writer.
//!
//! `FNSTORE_FULL_DAMAGE=1` flips twenty times as many bytes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use fnstore::database::Database;
use fnstore::internals::WithStore as _;
use fnstore::query::Expression;
use fnstore::upkeep::CheckOptions;
use tempfile::TempDir;

use crate::{generated, mini};

/// Stores that are damaged side by side: opening one that does not open waits for a writer that
/// might be at work, a fifth of a second, and that is most of what these tests do.
const WORKERS: usize = 8;

/// Bits to be flipped in a byte of a file of a store.
#[derive(Debug, Clone)]
pub(crate) struct Flip {
    /// Below the store's directory.
    pub(crate) file: PathBuf,
    pub(crate) place: usize,
    pub(crate) length: usize,
    pub(crate) bits: u8,
}

impl std::fmt::Display for Flip {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { file, place, length, bits } = self;
        write!(f, "bits {bits:#x} of byte {place} of {length} of {}", file.display())
    }
}

/// Bytes flipped in each file: the first and the last, and these parts of it.
fn flips(store: &Path, folder: &str, wanted: impl Fn(&str) -> bool) -> Vec<Flip> {
    let number = if std::env::var_os("FNSTORE_FULL_DAMAGE").is_some() { 80 } else { 4 };
    let mut flips = Vec::new();
    for (ordinal, path) in files(&store.join(folder), wanted).into_iter().enumerate() {
        let length = usize::try_from(fs::metadata(&path).unwrap().len()).unwrap();
        // A low-discrepancy walk through the file, another one for every file.
        let walk =
            (1..=number).map(|step| ((ordinal * 13 + step) as f64 * 0.618_033_988_75).fract());
        let places = walk.map(|part| (part * length as f64) as usize).chain([0, length.max(1) - 1]);
        let file = path.strip_prefix(store).unwrap().to_owned();
        let flip = |place| Flip { file: file.clone(), place, length, bits: 0x20 };
        flips.extend(places.filter(|place| *place < length).map(flip));
    }
    flips
}

/// Looks at copies of a store with one byte flipped, side by side.
pub(crate) fn each(store: &Path, flips: &[Flip], look: impl Fn(&Path, &Flip) + Sync) {
    let next = AtomicUsize::new(0);
    let work = || {
        let dir = tempfile::tempdir().unwrap();
        let copy = dir.path().join("store");
        mini::copy(store, &copy);
        while let Some(flip) = flips.get(next.fetch_add(1, Ordering::Relaxed)) {
            let path = copy.join(&flip.file);
            let whole = fs::read(&path).unwrap();
            let mut bytes = whole.clone();
            bytes[flip.place] ^= flip.bits;
            fs::write(&path, &bytes).unwrap();
            look(&copy, flip);
            fs::write(&path, &whole).unwrap();
        }
    };
    std::thread::scope(|scope| {
        (0..WORKERS).for_each(|_| drop(scope.spawn(work)));
    });
}

pub(crate) fn store() -> TempDir {
    let (dir, database, report) = mini::imported();
    generated::write(&database, report.release.id);
    drop(database);
    // Opened once more, so that nothing is left in the log alone.
    drop(Database::open_writer(dir.path()).unwrap());
    dir
}

pub(crate) fn files(dir: &Path, wanted: impl Fn(&str) -> bool) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> =
        entries.filter(|path| wanted(path.file_name().unwrap().to_str().unwrap())).collect();
    files.sort();
    files
}

/// Everything that the store says, or the first error.
pub(crate) fn everything(dir: &Path) -> Result<Vec<String>, String> {
    let database = Database::open(dir).map_err(|error| error.to_string())?;
    let mut all = Vec::new();
    for release in database.releases().map_err(|error| error.to_string())? {
        all.push(format!("{release:?}"));
    }
    for row in database.store().rows().map_err(|error| error.to_string())? {
        let row = row.map_err(|fault| format!("{fault:?}"))?;
        // The counter of commits apart, which opening a writer does not touch either.
        all.push(format!("{row:?}"));
    }
    for query in ["frame=Checking", "trigger=look*", "trigger=verified", "text=\"mended\""] {
        let expression: Expression = query.parse().unwrap();
        let answers = database.query(&expression).map_err(|error| error.to_string())?;
        for answer in answers {
            all.push(format!("{query} {:?}", answer.map_err(|error| error.to_string())?.set));
        }
    }
    Ok(all)
}

pub(crate) fn findings(dir: &Path) -> Vec<&'static str> {
    let report = Database::check_at(dir, CheckOptions { deep: true }, &mut |_| {});
    let report = match report {
        Ok(report) => report,
        Err(error) => panic!("a check of a damaged store failed: {error}"),
    };
    report.findings.iter().map(|(code, ..)| code.as_str()).collect()
}

#[test]
fn a_flipped_byte_in_a_table_is_an_error_or_makes_no_difference() {
    let dir = store();
    let expected = everything(dir.path()).unwrap();
    assert_eq!(findings(dir.path()), [""; 0]);
    let flips = flips(dir.path(), "db", |name| name.ends_with(".sst"));
    assert!(flips.len() > 60, "{flips:?}");
    let errors = AtomicUsize::new(0);
    each(dir.path(), &flips, |store, at| match everything(store) {
        Ok(seen) => assert!(seen == expected, "{at}: a wrong answer"),
        Err(error) => {
            errors.fetch_add(1, Ordering::Relaxed);
            assert!(!findings(store).is_empty(), "{at}: {error}, and the check found nothing");
        }
    });
    let (flips, errors) = (flips.len(), errors.into_inner());
    println!("{flips} bytes of tables flipped, {errors} of them reported");
    assert!(errors * 4 > flips, "{errors} of {flips}: data blocks were not hit");
}

#[test]
fn a_table_that_is_missing_or_cut_short_is_an_error() {
    let dir = store();
    for table in files(&dir.path().join("db"), |name| name.ends_with(".sst")) {
        let bytes = fs::read(&table).unwrap();
        fs::write(&table, &bytes[..bytes.len() / 2]).unwrap();
        for _ in 0..2 {
            let error = everything(dir.path()).expect_err("half a table");
            assert!(error.contains(".sst` is missing or damaged"), "{error}");
            assert_eq!(findings(dir.path()), ["C-open"]);
            let error = Database::open_existing_writer(dir.path()).err().unwrap().to_string();
            assert!(error.contains(".sst` is missing or damaged"), "{error}");
            let _ = fs::remove_file(&table);
        }
        fs::write(&table, bytes).unwrap();
    }
    everything(dir.path()).unwrap();
}

#[test]
fn a_flipped_byte_in_the_manifest_is_an_error_or_makes_no_difference() {
    let dir = store();
    let expected = everything(dir.path()).unwrap();
    let flips = flips(dir.path(), "db", |name| name.starts_with("MANIFEST"));
    each(dir.path(), &flips, |store, at| {
        if let Ok(seen) = everything(store) {
            assert!(seen == expected, "{at}: a wrong answer");
        }
    });
    println!("{} bytes of the manifest flipped", flips.len());
}

#[test]
fn a_flipped_byte_in_the_index_shows_nothing_wrong_and_is_found() {
    let dir = store();
    let expected = everything(dir.path()).unwrap();
    let flips = flips(dir.path(), "index", |name| !name.ends_with(".lock"));
    assert!(flips.len() > 20, "{flips:?}");
    let found = AtomicUsize::new(0);
    each(dir.path(), &flips, |store, at| {
        let seen = everything(store).unwrap_or_else(|error| panic!("{at}: {error}"));
        let extra = seen.iter().find(|line| !expected.contains(line));
        assert_eq!(extra, None, "{at}: a wrong answer");
        let findings = findings(store);
        found.fetch_add(usize::from(!findings.is_empty()), Ordering::Relaxed);
        assert!(seen == expected || !findings.is_empty(), "{at}: hidden, and not found");
    });
    println!("{} bytes of the index flipped, {} found", flips.len(), found.into_inner());
}

/// Segments have checksums; the lists of them have none, and what is wrong there a deep check
/// finds.
#[test]
fn a_writer_builds_a_damaged_index_anew() {
    let dir = store();
    let flips = flips(dir.path(), "index", |name| !name.ends_with(".lock"));
    let replaced = AtomicUsize::new(0);
    each(dir.path(), &flips, |store, at| {
        let dir = tempfile::tempdir().unwrap();
        mini::copy(store, dir.path());
        let database = Database::open_existing_writer(dir.path()).unwrap();
        let is_new = database.index_fault().is_some();
        replaced.fetch_add(usize::from(is_new), Ordering::Relaxed);
        let release = database.releases().unwrap()[0].id;
        // Entries are removed and added, in segments that were there.
        generated::write(&database, release);
        database.close().unwrap();
        let is_list = at.file.extension().is_some_and(|extension| extension == "json");
        assert!(is_new || is_list, "{at}: a checksum that is wrong was not seen");
        if is_new {
            assert_eq!(findings(dir.path()), [""; 0], "{at}");
        }
    });
    println!("{} bytes of the index flipped, {} repaired", flips.len(), replaced.into_inner());
}

#[test]
fn the_program_says_what_is_wrong_with_an_index_and_never_panics() {
    let dir = store();
    let warned = AtomicUsize::new(0);
    let flips = flips(dir.path(), "index", |name| !name.ends_with(".lock"));
    let flips: Vec<Flip> = flips.into_iter().step_by(3).collect();
    each(dir.path(), &flips, |store, at| {
        for arguments in [&["query", "trigger=look*"][..], &["check", "--deep"]] {
            let output = Command::new(env!("CARGO_BIN_EXE_fnstore"))
                .args(arguments)
                .env("FNSTORE_DIR", store)
                .output()
                .unwrap();
            let text = String::from_utf8_lossy(&output.stderr);
            assert!(matches!(output.status.code(), Some(0 | 1)), "{at}: {arguments:?}: {output:?}");
            assert!(!text.contains("panicked"), "{at}: {arguments:?}: {text}");
            if text.contains("C-index-damaged") {
                warned.fetch_add(1, Ordering::Relaxed);
                assert!(text.contains("`fnstore reindex`"), "{at}: {text}");
                assert_eq!(output.stdout.iter().filter(|byte| **byte == b'\n').count(), 3, "{at}");
            }
        }
    });
    let (flips, warned) = (flips.len(), warned.into_inner());
    println!("{flips} bytes of the index flipped, {warned} queries with a warning");
    assert!(warned > 0, "no query met what was damaged");
}

#[test]
fn an_index_of_nonsense_is_built_again() {
    let dir = store();
    let expected = everything(dir.path()).unwrap();
    for file in files(&dir.path().join("index"), |name| !name.ends_with(".lock")) {
        fs::write(file, "no index").unwrap();
    }
    assert_eq!(everything(dir.path()).unwrap(), expected, "a scan answers");
    assert_eq!(findings(dir.path()), ["C-index-damaged"]);
    assert_eq!(Database::reindex(dir.path()).unwrap().entries, 44);
    assert_eq!(findings(dir.path()), [""; 0]);
    assert_eq!(everything(dir.path()).unwrap(), expected);
}
