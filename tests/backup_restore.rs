//! A backup is the store at one moment, knows when it is damaged, and comes back whole or not at
//! all.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use fnstore::database::{BackupError, Database, DatabaseError, Write};
use fnstore::internals::WithStore as _;
use fnstore::store::StoreError;
use fnstore::upkeep::{BackupManifest, CheckOptions, restore};

use crate::{generated, mini};

fn backup_error(outcome: Result<BackupManifest, DatabaseError>) -> BackupError {
    match outcome {
        Err(DatabaseError::Backup(error)) => error,
        Err(error) => panic!("not the backup's: {error}"),
        Ok(_) => panic!("it worked"),
    }
}

fn content_of(dir: &Path) -> Vec<String> {
    mini::content(&Database::open(dir).unwrap())
}

#[test]
fn a_backup_beside_a_writer_comes_back_as_it_was() {
    let (dir, writer, report) = mini::imported();
    generated::write(&writer, report.release.id);
    let before = mini::content(&writer);
    let out = tempfile::tempdir().unwrap();
    let backup = out.path().join("backups/first");
    // From a reader's handle, while the writer's is open; and from the writer's own.
    let manifest = Database::open(dir.path()).unwrap().backup(&backup).unwrap();
    assert_eq!(manifest.revision, writer.store().revision().unwrap());
    assert_eq!(manifest.releases, ["mini-framenet"]);
    let second = out.path().join("backups/second");
    writer.backup(&second).unwrap();
    assert_eq!(content_of(&second), before, "a store to read from");

    let (_, mut set) = generated::sets(&writer, report.release.id).remove(0);
    set.status = "CHANGED".to_owned();
    writer.write(report.release.id, &Write { sets: vec![set], ..Write::default() }).unwrap();
    assert_ne!(mini::content(&writer), before);
    drop(writer);

    fs::write(dir.path().join("notes"), "mine").unwrap();
    restore(&backup, dir.path()).unwrap();
    let database = Database::open_existing_writer(dir.path()).unwrap();
    assert_eq!(mini::content(&database), before);
    assert_eq!(mini::answers(&database, "trigger=vetted").len(), 1);
    let journal = database.store().journal(
        report.release.id,
        generated::seed(),
        0,
        fnstore::model::RecipeId(1),
    );
    assert_eq!(journal.unwrap().unwrap().round, 2);
    let check = database.check(CheckOptions { deep: true }, &mut |_| {}).unwrap();
    assert!(check.findings.is_empty(), "{:?}", check.findings);
    let mut left: Vec<_> =
        fs::read_dir(dir.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["db", "index", "notes", "writer.lock"]);
}

#[test]
fn a_backup_from_a_handle_that_other_threads_use_is_one_revision() {
    let (dir, writer, _) = mini::imported();
    let (reader, out) = (Database::open(dir.path()).unwrap(), tempfile::tempdir().unwrap());
    let begun = writer.store().revision().unwrap();
    let is_over = AtomicBool::new(false);
    let place = |turn: usize| out.path().join(turn.to_string());
    let taken: Vec<_> = std::thread::scope(|scope| {
        // Each commit adds a recipe.
        scope.spawn(|| {
            for number in 1..20_000_u128 {
                if is_over.load(Ordering::Relaxed) {
                    break;
                }
                writer.store().recipe(number.to_be_bytes(), "{}").unwrap();
            }
        });
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                mini::answers(&reader, "trigger=checked");
            }
        });
        let handles = [&writer, &reader].into_iter().cycle();
        let turns = handles.take(10).enumerate();
        let taken = turns.map(|(turn, handle)| handle.backup(&place(turn))).collect();
        is_over.store(true, Ordering::Relaxed);
        taken
    });
    let mut revisions = Vec::new();
    for (turn, manifest) in taken.into_iter().enumerate() {
        let (revision, store) = (manifest.unwrap().revision, out.path().join("store"));
        restore(&place(turn), &store).unwrap();
        let restored = Database::open(&store).unwrap();
        assert_eq!(restored.store().revision().unwrap(), revision);
        let recipes = restored.store().recipes().unwrap().len() as u64;
        assert_eq!(recipes, revision - begun, "turn {turn}");
        revisions.push(revision);
    }
    assert!(revisions.is_sorted() && revisions[0] < revisions[9], "{revisions:?}");
}

#[test]
fn a_backup_inside_the_store_is_refused() {
    let (dir, writer, _) = mini::imported();
    for place in ["", "backup", "db/backup", "new/../backup"] {
        let error = backup_error(writer.backup(&dir.path().join(place)));
        assert!(matches!(error, BackupError::Place { .. }), "{place}: {error}");
        assert!(!dir.path().join("backup").exists() && !dir.path().join("new").exists());
    }
    assert_eq!(mini::answers(&writer, "").len(), 42);
}

#[test]
fn a_backup_is_restored_where_no_store_is() {
    let (dir, writer, _) = mini::imported();
    let before = mini::content(&writer);
    let out = tempfile::tempdir().unwrap();
    writer.backup(&out.path().join("backup")).unwrap();
    let other = dir.path().join("new/store");
    restore(&out.path().join("backup"), &other).unwrap();
    assert_eq!(content_of(&other), before);
}

#[test]
fn rows_of_an_unfinished_import_stay_out_of_a_backup() {
    let (_dir, writer, report) = mini::imported();
    let out = tempfile::tempdir().unwrap();
    let rows = writer.backup(&out.path().join("a")).unwrap().rows;
    let ghost = writer.store().begin_release().unwrap();
    let mut batch = writer.store().batch(ghost);
    batch.put_annotation_set(&generated::sets(&writer, report.release.id).remove(0).1).unwrap();
    writer.store().write_unlisted(batch).unwrap();
    assert_eq!(writer.backup(&out.path().join("b")).unwrap().rows, rows);
}

#[test]
fn a_damaged_backup_replaces_nothing() {
    let (dir, writer, _) = mini::imported();
    let before = mini::content(&writer);
    drop(writer);
    let reader = Database::open(dir.path()).unwrap();
    let out = tempfile::tempdir().unwrap();
    for damage in ["flip", "missing", "more", "no manifest", "no JSON"] {
        let backup = out.path().join(damage.replace(' ', "-"));
        reader.backup(&backup).unwrap();
        let files = fs::read_dir(backup.join("db")).unwrap().map(|entry| entry.unwrap().path());
        let table = files.filter(|path| path.extension().is_some_and(|kind| kind == "sst"));
        let table = table.max_by_key(|path| fs::metadata(path).unwrap().len()).unwrap();
        match damage {
            "flip" => {
                let mut bytes = fs::read(&table).unwrap();
                let middle = bytes.len() / 2;
                bytes[middle] ^= 1;
                fs::write(&table, bytes).unwrap();
            }
            "missing" => fs::remove_file(&table).unwrap(),
            "more" => fs::write(backup.join("db/000999.sst"), "foreign").unwrap(),
            "no manifest" => fs::remove_file(backup.join("backup.json")).unwrap(),
            _ => fs::write(backup.join("backup.json"), "{").unwrap(),
        }
        let error = backup_error(restore(&backup, dir.path()));
        match damage {
            "flip" | "missing" | "more" => {
                assert!(matches!(error, BackupError::Damaged { .. }), "{damage}: {error}");
                assert!(error.to_string().contains(".sst`"), "{error}");
            }
            _ => assert!(matches!(error, BackupError::NotABackup { .. }), "{damage}: {error}"),
        }
        assert_eq!(content_of(dir.path()), before);
    }
    let elsewhere = dir.path().join("elsewhere");
    backup_error(restore(&out.path().join("flip"), &elsewhere));
    assert!(!elsewhere.exists(), "what is damaged makes no store");
}

#[test]
fn a_manifest_that_says_what_the_store_is_not_restores_nothing() {
    let (dir, writer, _) = mini::imported();
    let out = tempfile::tempdir().unwrap();
    let backup = out.path().join("backup");
    writer.backup(&backup).unwrap();
    let before = mini::content(&writer);
    drop(writer);
    let whole = fs::read_to_string(backup.join("backup.json")).unwrap();
    for member in ["format", "revision", "releases", "rows", "bytes"] {
        let mut manifest: serde_json::Value = serde_json::from_str(&whole).unwrap();
        manifest[member] = match &manifest[member] {
            serde_json::Value::String(_) => "2.9".into(),
            serde_json::Value::Array(_) => vec!["another"].into(),
            _ => u64::MAX.into(),
        };
        fs::write(backup.join("backup.json"), manifest.to_string()).unwrap();
        let error = backup_error(restore(&backup, dir.path()));
        assert!(matches!(error, BackupError::Damaged { .. }), "{member}: {error}");
        assert!(error.to_string().contains(&format!("says {member} ")), "{error}");
        assert_eq!(content_of(dir.path()), before, "{member}");
    }
    fs::write(backup.join("backup.json"), format!("{whole}{}", " ".repeat(64 << 20))).unwrap();
    let error = backup_error(restore(&backup, dir.path()));
    assert!(error.to_string().contains("larger than 64 MiB"), "{error}");
    fs::write(backup.join("backup.json"), whole).unwrap();
    restore(&backup, dir.path()).unwrap();
    assert_eq!(content_of(dir.path()), before);
}

#[test]
fn what_a_killed_backup_left_is_removed_by_the_next_into_the_folder() {
    let (_store, writer, _) = mini::imported();
    let out = tempfile::tempdir().unwrap();
    writer.backup(&out.path().join("first")).unwrap();
    // What a process that is gone leaves is a copy under a passing name that nobody has locked.
    let left = out.path().join(".fnstore-backup-aB3dE6");
    fs::create_dir_all(left.join("db")).unwrap();
    fs::write(left.join("db/000001.sst"), "half").unwrap();
    writer.backup(&out.path().join("second")).unwrap();
    let mut names: Vec<_> =
        fs::read_dir(out.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["first", "second"]);
}

#[test]
fn a_store_that_is_being_written_is_not_replaced() {
    let (dir, writer, _) = mini::imported();
    let out = tempfile::tempdir().unwrap();
    let backup = out.path().join("backup");
    writer.backup(&backup).unwrap();
    let error = restore(&backup, dir.path()).unwrap_err();
    let DatabaseError::Store(StoreError::Locked { holder, .. }) = &error else { panic!("{error}") };
    assert_eq!(holder.pid, std::process::id());
    drop(writer);
    restore(&backup, dir.path()).unwrap();
}

#[test]
fn a_backup_goes_only_where_nothing_is() {
    let (_store, writer, _) = mini::imported();
    let dir = tempfile::tempdir().unwrap();
    let place = dir.path().join("place");
    fs::create_dir(&place).unwrap();
    writer.backup(&place).unwrap();
    let error = backup_error(writer.backup(&place));
    assert!(matches!(error, BackupError::NotEmpty { .. }), "{error}");
    fs::write(dir.path().join("file"), "mine").unwrap();
    backup_error(writer.backup(&dir.path().join("file")));
    assert_eq!(fs::read_to_string(dir.path().join("file")).unwrap(), "mine");
    let left = fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name());
    let left = left.filter(|name| name.to_string_lossy().starts_with('.')).count();
    assert_eq!(left, 0, "nothing unfinished is left");
}

#[test]
fn a_backup_of_another_format_is_refused_and_replaces_nothing() {
    let (dir, writer, _) = mini::imported();
    let before = mini::content(&writer);
    let out = tempfile::tempdir().unwrap();
    let backup = out.path().join("backup");
    writer.backup(&backup).unwrap();
    drop(writer);
    let manifest = fs::read_to_string(backup.join("backup.json")).unwrap();
    assert_eq!(manifest.matches("\"format\": \"2.0\"").count(), 1);
    for (format, advice) in
        [("1.7", "as JSON lines with the program that wrote it"), ("3.0", "use fnstore")]
    {
        let other = manifest.replace("\"2.0\"", &format!("\"{format}\""));
        fs::write(backup.join("backup.json"), other).unwrap();
        let elsewhere = out.path().join("elsewhere");
        for place in [dir.path(), &elsewhere] {
            let error = restore(&backup, place).unwrap_err();
            assert!(matches!(error, DatabaseError::Store(StoreError::Format { .. })), "{error}");
            let message = error.to_string();
            assert!(message.contains(advice) && message.contains(format), "{message}");
        }
        assert!(!elsewhere.exists());
        assert_eq!(content_of(dir.path()), before);
    }
}

#[test]
fn a_backup_of_a_newer_minor_format_is_restored() {
    let (dir, writer, _) = mini::imported();
    let before = mini::content(&writer);
    drop(writer);
    crate::store_opening::put_meta(dir.path(), "format", &[0, 2, 0, 9]);
    let out = tempfile::tempdir().unwrap();
    let backup = out.path().join("backup");
    let manifest = Database::open(dir.path()).unwrap().backup(&backup).unwrap();
    assert_eq!(manifest.format, "2.9");
    restore(&backup, &out.path().join("store")).unwrap();
    assert_eq!(content_of(&out.path().join("store")), before);
}
