//! A part of a release: what is there is imported, and what is not is said once.

use std::fs;
use std::path::{Path, PathBuf};

use fnstore::database::{Database, DatabaseError};
use fnstore::framenet::{FramenetError, WarningCode, WarningLog};
use fnstore::transfer::ImportOptions;
use fnstore::upkeep::CheckOptions;
use tempfile::TempDir;

use crate::framenet_round_trip::{assert_equal, export};
use crate::mini;

const TOP_FILES: [&str; 5] =
    ["frameIndex.xml", "luIndex.xml", "fulltextIndex.xml", "semTypes.xml", "frRelation.xml"];

/// A release without faults, without some of its files and folders.
fn without(missing: &[&str]) -> (TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let release = dir.path().join("mini-framenet");
    let (_store, database, _) = mini::imported();
    export(&database, "frame=Roaming", &release).unwrap().unwrap();
    for name in missing {
        let path = release.join(name);
        if path.is_dir() {
            fs::remove_dir_all(path).unwrap();
        } else {
            fs::remove_file(path).unwrap();
        }
    }
    (dir, release)
}

/// Codes, files and numbers of the faults.
fn faults(warnings: &WarningLog) -> Vec<(WarningCode, String, u64)> {
    let faults = warnings.iter().filter(|(code, ..)| !code.is_trait());
    faults
        .flat_map(|(code, count, examples)| {
            let once = if examples.len() as u64 == count { 1 } else { count };
            examples.iter().map(move |example| (code, example.file.clone(), once))
        })
        .collect()
}

/// Imports what is left without `missing`, which alone is said; checks it, exports it and imports
/// it again.
fn comes_in(missing: &[&str]) -> (TempDir, Database) {
    let (dir, release) = without(missing);
    let database = Database::open_writer(&dir.path().join("first")).unwrap();
    let report = mini::import(&database, &release).unwrap();
    let mut expected: Vec<(WarningCode, String, u64)> = Vec::new();
    for name in missing {
        let is_folder = !name.ends_with(".xml");
        let code = if is_folder { WarningCode::FolderMissing } else { WarningCode::FileMissing };
        let name = if is_folder { format!("{name}/") } else { (*name).to_owned() };
        expected.push((code, name, 1));
    }
    let mut found = faults(&report.warnings);
    found.sort();
    expected.sort();
    assert_eq!(found, expected);
    let found = database.check(CheckOptions { deep: true }, &mut |_| {}).unwrap().findings;
    assert!(found.is_empty(), "{missing:?}: {found:?}");

    let out = dir.path().join("out/mini-framenet");
    fs::create_dir(dir.path().join("out")).unwrap();
    export(&database, "", &out).unwrap().unwrap();
    for name in missing {
        assert!(!out.join(name).exists(), "{name}");
    }
    let second = Database::open_writer(&dir.path().join("second")).unwrap();
    assert_eq!(faults(&mini::import(&second, &out).unwrap().warnings), faults(&report.warnings));
    assert_equal(&database, &second);

    let lines = dir.path().join("out.jsonl");
    let mut file = fs::File::create(&lines).unwrap();
    database.export_jsonl(&"".parse().unwrap(), false, &mut file).unwrap().unwrap();
    let third = Database::open_writer(&dir.path().join("third")).unwrap();
    third.import_jsonl(&lines, None, &mut |_| {}).unwrap();
    assert_equal(&database, &third);
    (dir, database)
}

fn counts(database: &Database) -> [u64; 5] {
    let counts = database.releases().unwrap()[0].counts;
    [counts.frames, counts.lexunits, counts.documents, counts.exemplar_sets, counts.fulltext_sets]
}

#[test]
fn a_whole_release_gives_no_warning() {
    let (_dir, database) = comes_in(&[]);
    assert_eq!(counts(&database), [1, 2, 2, 3, 2]);
}

#[test]
fn frames_and_full_text_come_in_without_lu_files() {
    let (_dir, database) = comes_in(&["lu"]);
    assert_eq!(counts(&database), [1, 2, 2, 0, 2]);
    assert_eq!(mini::answers(&database, "frame=Roaming").len(), 2);
}

#[test]
fn lu_files_come_in_alone() {
    let mut missing = vec!["frame", "fulltext"];
    missing.extend(TOP_FILES);
    let (_dir, database) = comes_in(&missing);
    assert_eq!(counts(&database), [1, 2, 0, 3, 0]);
    assert_eq!(mini::answers(&database, "frame=Roaming").len(), 3);
    assert!(!mini::answers(&database, "fe=Traveller").is_empty(), "labels keep their FEs");
}

#[test]
fn full_text_comes_in_alone() {
    let mut missing = vec!["frame", "lu"];
    missing.extend(TOP_FILES);
    let (_dir, database) = comes_in(&missing);
    assert_eq!(mini::answers(&database, "frame=Roaming").len(), 2);
    assert_eq!(mini::answers(&database, "doc=BikeRide").len(), 1);
}

#[test]
fn frames_come_in_alone() {
    let (_dir, database) = comes_in(&["lu", "fulltext"]);
    assert_eq!(counts(&database), [1, 2, 0, 0, 0]);
}

#[test]
fn a_release_comes_in_without_indexes_relations_and_semantic_types() {
    let (_dir, database) = comes_in(&TOP_FILES);
    assert_eq!(counts(&database), [1, 2, 2, 3, 2]);
    for file in TOP_FILES {
        comes_in(&[file]);
    }
}

#[test]
fn a_strict_import_ends_at_what_is_not_there() {
    for (missing, code) in
        [("lu", WarningCode::FolderMissing), ("luIndex.xml", WarningCode::FileMissing)]
    {
        let (dir, release) = without(&[missing]);
        let database = Database::open_writer(&dir.path().join("store")).unwrap();
        let options = ImportOptions { strict: true, ..ImportOptions::default() };
        match database.import(&release, &options, &mut |_| {}) {
            Err(DatabaseError::Framenet(FramenetError::Strict(warning))) => {
                assert_eq!(warning.code, code, "{warning}");
            }
            other => panic!("{missing}: {other:?}"),
        }
    }
}

#[test]
fn a_folder_by_itself_is_no_release() {
    let (_dir, release) = without(&[]);
    for folder in ["lu", "frame"] {
        let store = tempfile::tempdir().unwrap();
        let database = Database::open_writer(store.path()).unwrap();
        let error = mini::import(&database, &release.join(folder)).unwrap_err();
        let DatabaseError::Framenet(FramenetError::NotARelease { path, .. }) = error else {
            panic!("{error}")
        };
        assert_eq!(path, release.join(folder));
    }
}

/// Where the release lies in a directory that holds other XML, too.
#[test]
fn the_folder_with_most_of_a_release_is_the_release() {
    let (dir, release) = without(&[]);
    let around: &Path = dir.path();
    fs::create_dir(around.join("lu")).unwrap();
    fs::write(around.join("lu/note.xml"), "<note/>").unwrap();
    let store = tempfile::tempdir().unwrap();
    let database = Database::open_writer(store.path()).unwrap();
    let report = mini::import(&database, around).unwrap();
    assert_eq!(report.release.counts.frames, 1);
    assert_eq!(report.warnings.faults(), 0);
    let unread = report.warnings.iter().find(|(code, ..)| *code == WarningCode::FileNotRead);
    let (_, count, examples) = unread.unwrap();
    assert_eq!((count, examples[0].file.as_str()), (1, "lu/note.xml"));
    drop(release);
}
