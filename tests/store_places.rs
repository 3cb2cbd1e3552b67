//! Where a store lies: a relative path stays where it was, and nobody else's folder becomes one.

use std::path::Path;
use std::process::Command;

use fnstore::database::Database;
use fnstore::internals::WithStore as _;
use fnstore::model::{FrameId, LexUnit, LuId};

use crate::cli_program::{fnstore_in, mini_framenet, new_store};
use crate::mini;

const PLACE: &str = "FNSTORE_TEST_RELATIVE_STORE";

#[test]
#[ignore = "the process that `a_relative_path_holds_wherever_the_process_goes` starts"]
fn go_elsewhere_with_open_handles() {
    let Some(folder) = std::env::var_os(PLACE) else { return };
    std::env::set_current_dir(&folder).unwrap();
    let store = Path::new("store");
    let writer = Database::open_writer(store).unwrap();
    let report = mini::import(&writer, &mini::framenet()).unwrap();
    let reader = Database::open(store).unwrap();
    std::env::set_current_dir("/").unwrap();
    for round in 0..3 {
        let mut edits = writer.transaction(report.release.id).unwrap();
        let name = format!("peruse{round}.v");
        edits.add_lexunit(LexUnit::named(FrameId(102), LuId(0), &name)).unwrap();
        let revision = edits.commit().unwrap();
        // Files are made and others go: a relative name would lead elsewhere.
        writer.store().compact().unwrap();
        reader.refresh().unwrap();
        assert_eq!(reader.store().revision().unwrap(), revision);
        assert_eq!(mini::answers(&reader, "trigger=look*").len(), 3);
        assert_eq!(mini::answers(&reader.snapshot().unwrap(), "").len(), 42);
    }
    writer.close().unwrap();
    reader.refresh().unwrap();
    assert_eq!(reader.dir(), Path::new(&folder).join("store"));
    assert!(!Path::new("/store").exists());
}

#[test]
fn a_relative_path_holds_wherever_the_process_goes() {
    let folder = tempfile::tempdir().unwrap();
    let ran = Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "--nocapture"])
        .arg("store_places::go_elsewhere_with_open_handles")
        .env(PLACE, folder.path().canonicalize().unwrap())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&ran.stdout);
    assert!(ran.status.success() && said.contains("1 passed"), "{said}");
}

#[test]
fn commands_make_no_store_of_somebodys_folder_and_say_so_with_a_code() {
    let (folder, source) = (tempfile::tempdir().unwrap(), new_store());
    let letter = folder.path().join("letter.txt");
    std::fs::write(&letter, "mine").unwrap();
    let beside = tempfile::tempdir().unwrap();
    let backup = beside.path().join("backup");
    assert_eq!(fnstore_in(source.path(), &["backup", backup.to_str().unwrap()]).code, Some(0));
    let release = mini_framenet();
    let (release, backup) = (release.to_str().unwrap(), backup.to_str().unwrap());
    for (place, reason) in [
        (folder.path().to_owned(), "it holds `letter.txt` and no store"),
        (letter.clone(), "it is a file; expected a folder"),
        (letter.join("store"), "letter.txt` is a file; expected a folder"),
    ] {
        for arguments in
            [&["import", release][..], &["query"], &["restore", backup], &["reindex"], &["changes"]]
        {
            let ran = fnstore_in(&place, arguments);
            assert_eq!(ran.code, Some(2), "{arguments:?}: {}", ran.stderr);
            let is_told = ran.stderr.contains(reason) && ran.stderr.contains("(S-not-a-store)");
            assert!(is_told, "{arguments:?}: {}", ran.stderr);
            assert!(ran.stderr.contains("hint: `--store DIR`"), "{}", ran.stderr);
        }
    }
    let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().flatten().collect();
    assert_eq!(left.len(), 1, "{left:?}");
    assert_eq!(std::fs::read_to_string(&letter).unwrap(), "mine");
    // A new folder below it is nobody's.
    let ran = fnstore_in(&folder.path().join("store"), &["import", release]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
}
