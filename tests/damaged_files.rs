//! A flipped byte in a file of the store is an error or makes no difference: never a wrong answer, and
//! `check --deep` finds it wherever it does make one. A damaged index shows nothing wrong.
//!
//! `FNSTORE_FULL_DAMAGE=1` flips twenty times as many bytes.

use std::fs;
use std::path::{Path, PathBuf};

use fnstore::database::{CheckOptions, Database};
use fnstore::query::Expression;
use tempfile::TempDir;

use crate::{generated, mini};

/// Bytes flipped in each file: the first and the last, and these parts of it.
fn places(length: usize, file: usize) -> Vec<usize> {
    let number = if std::env::var_os("FNSTORE_FULL_DAMAGE").is_some() { 80 } else { 4 };
    // A low-discrepancy walk through the file, another one for every file.
    let walk = (1..=number).map(|step| ((file * 13 + step) as f64 * 0.618_033_988_75).fract());
    let mut places: Vec<usize> = walk.map(|part| (part * length as f64) as usize).collect();
    places.extend([0, length - 1]);
    places
}

fn store() -> TempDir {
    let (dir, database, report) = mini::imported();
    generated::write(&database, report.release.id);
    drop(database);
    // Opened once more, so that nothing is left in the log alone.
    drop(Database::open_writer(dir.path()).unwrap());
    dir
}

fn files(dir: &Path, wanted: impl Fn(&str) -> bool) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> =
        entries.filter(|path| wanted(path.file_name().unwrap().to_str().unwrap())).collect();
    files.sort();
    files
}

/// Everything that the store says, or the first error.
fn everything(dir: &Path) -> Result<Vec<String>, String> {
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

fn findings(dir: &Path) -> Vec<&'static str> {
    let report = Database::check_at(dir, CheckOptions { deep: true }, &mut |_| {});
    let report = match report {
        Ok(report) => report,
        Err(error) => panic!("a check of a damaged store failed: {error}"),
    };
    report.findings.iter().map(|(code, ..)| code.as_str()).collect()
}

/// Flips a byte of a file, looks, and flips it back.
fn with_flipped<T>(path: &Path, place: usize, look: impl FnOnce() -> T) -> T {
    let mut bytes = fs::read(path).unwrap();
    bytes[place] ^= 0x20;
    fs::write(path, &bytes).unwrap();
    let seen = look();
    bytes[place] ^= 0x20;
    fs::write(path, &bytes).unwrap();
    seen
}

#[test]
fn a_flipped_byte_in_a_table_is_an_error_or_makes_no_difference() {
    let dir = store();
    let expected = everything(dir.path()).unwrap();
    let tables = files(&dir.path().join("db"), |name| name.ends_with(".sst"));
    assert!(tables.len() > 10, "{tables:?}");
    let (mut errors, mut flips) = (0, 0);
    for (number, table) in tables.iter().enumerate() {
        let length = usize::try_from(fs::metadata(table).unwrap().len()).unwrap();
        for place in places(length, number) {
            flips += 1;
            let (seen, found) =
                with_flipped(table, place, || (everything(dir.path()), findings(dir.path())));
            let at = format!("byte {place} of {length} of {}", table.display());
            match seen {
                Ok(seen) => assert!(seen == expected, "{at}: a wrong answer"),
                Err(error) => {
                    errors += 1;
                    assert!(!found.is_empty(), "{at}: {error}, and the check found nothing");
                }
            }
        }
    }
    println!("{flips} bytes flipped, {errors} of them reported");
    assert!(errors * 4 > flips, "{errors} of {flips}: data blocks were not hit");
    assert_eq!(everything(dir.path()).unwrap(), expected);
    assert_eq!(findings(dir.path()), [""; 0]);
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
            assert!(Database::open_existing_writer(dir.path()).is_err());
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
    for manifest in files(&dir.path().join("db"), |name| name.starts_with("MANIFEST")) {
        let length = usize::try_from(fs::metadata(&manifest).unwrap().len()).unwrap();
        for place in places(length, 3) {
            let seen = with_flipped(&manifest, place, || everything(dir.path()));
            if let Ok(seen) = seen {
                assert!(seen == expected, "byte {place} of {length}: a wrong answer");
            }
        }
    }
}

#[test]
fn a_flipped_byte_in_the_index_shows_nothing_wrong_and_is_repaired() {
    let dir = store();
    let expected = everything(dir.path()).unwrap();
    let index = files(&dir.path().join("index"), |name| !name.ends_with(".lock"));
    assert!(index.len() > 4, "{index:?}");
    for (number, file) in index.iter().enumerate() {
        let length = usize::try_from(fs::metadata(file).unwrap().len()).unwrap();
        for place in places(length.max(1), number).into_iter().filter(|place| *place < length) {
            let at = format!("byte {place} of {length} of {}", file.display());
            let seen = with_flipped(file, place, || {
                // Tantivy trusts its files: what reads nonsense may end in a panic of a thread.
                std::panic::catch_unwind(|| (everything(dir.path()), findings(dir.path())))
            });
            if let Ok((Ok(seen), found)) = seen {
                let extra = seen.iter().find(|line| !expected.contains(line));
                assert_eq!(extra, None, "{at}: a wrong answer");
                assert!(seen == expected || !found.is_empty(), "{at}: hidden, and not found");
            }
        }
    }
    fs::write(&index[0], "no index").unwrap();
    assert_eq!(Database::reindex(dir.path()).unwrap().entries, 44);
    assert_eq!(findings(dir.path()), [""; 0]);
    assert_eq!(everything(dir.path()).unwrap(), expected);
}
