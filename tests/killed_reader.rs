//! A reader that is killed leaves a directory among the temporary files; the next reader removes
//! it, and none of a reader that lives.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::cli_program::new_store;

fn fnstore(store: &Path, temporary: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fnstore"));
    command.args(arguments).env("FNSTORE_DIR", store).env("TMPDIR", temporary);
    command
}

/// Directories of readers that are complete.
fn directories(temporary: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(temporary).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.join("owner").exists()).collect()
}

/// A reader that goes on until it is killed, and its directory.
fn start(store: &Path, temporary: &Path) -> (Child, PathBuf) {
    let before = directories(temporary);
    let mut reader = fnstore(store, temporary, &["changes", "--follow"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    loop {
        let new = directories(temporary).into_iter().find(|dir| !before.contains(dir));
        if let Some(new) = new {
            return (reader, new);
        }
        assert_eq!(reader.try_wait().unwrap(), None, "the reader ended");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn kill(mut reader: Child) {
    reader.kill().unwrap();
    reader.wait().unwrap();
}

#[test]
fn a_killed_reader_leaves_nothing_for_long() {
    let (store, temporary) = (new_store(), tempfile::tempdir().unwrap());
    let (first, first_dir) = start(store.path(), temporary.path());
    let (second, second_dir) = start(store.path(), temporary.path());
    assert!(first_dir.exists(), "a reader's directory was removed while it lives");
    kill(first);
    assert!(first_dir.exists() && second_dir.exists(), "what is left is the next reader's to find");
    let count = fnstore(store.path(), temporary.path(), &["query", "--count"]).output().unwrap();
    assert_eq!(count.stdout, b"42\n");
    assert!(!first_dir.exists() && second_dir.exists(), "{:?}", directories(temporary.path()));
    kill(second);
    let count = fnstore(store.path(), temporary.path(), &["query", "--count"]).output().unwrap();
    assert_eq!(count.stdout, b"42\n");
    assert_eq!(fs::read_dir(temporary.path()).unwrap().count(), 0);
}

#[test]
fn without_a_place_for_temporary_files_the_error_names_the_variable() {
    let store = new_store();
    let nowhere = store.path().join("nowhere");
    let output = fnstore(store.path(), &nowhere, &["query", "--count"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(text.starts_with("error: cannot make a reader's directory in `"), "{text}");
    assert!(
        text.contains("/nowhere`; name a directory that can be written in the variable `TMPDIR`"),
        "{text}"
    );
}
