//! What is short, what is locked and what is damaged are told apart: a full disk says nothing of a
//! backup, and too few files nothing of a store.

#![cfg(unix)]

use std::path::Path;
use std::process::Command;

use crate::cli_program::{Ran, fnstore_in, new_store};
use crate::damaged_files::files;

/// Arguments: the program, a limit, the number, and the command.
const LIMITED: &str = r#"trap '' XFSZ; ulimit "$1" "$2" && shift 2 && exec "$0" "$@""#;

fn limited(store: &Path, (which, limit): (&str, u32), arguments: &[&str]) -> Ran {
    let mut command = Command::new("sh");
    command.args(["-c", LIMITED, env!("CARGO_BIN_EXE_fnstore"), which, &limit.to_string()]);
    Ran::of(command.args(arguments).env("FNSTORE_DIR", store).output().unwrap())
}

#[test]
fn what_is_short_says_nothing_of_a_backup_or_a_store() {
    let (store, other) = (new_store(), tempfile::tempdir().unwrap());
    let backup = other.path().join("backup");
    let backup = backup.to_str().unwrap();
    assert_eq!(fnstore_in(store.path(), &["backup", backup]).code, Some(0));
    let before = fnstore_in(store.path(), &["query", "--count"]).stdout;
    let files = [12, 20, 28, 36, 44, 52, 60, 68].map(|limit| ("-n", limit));
    // In blocks of 512 bytes.
    let room = [1, 2, 8, 24, 64, 128].map(|limit| ("-f", limit));
    let mut refused = 0;
    for limit in files.into_iter().chain(room) {
        for arguments in [&["restore", backup, "--yes"][..], &["check"]] {
            let ran = limited(store.path(), limit, arguments);
            if ran.code == Some(0) {
                continue;
            }
            refused += 1;
            assert!(matches!(ran.code, Some(2 | 74)), "{limit:?} {arguments:?}: {ran:?}");
            let is_told = ["Too many open files", "File too large", "(S-index)"]
                .iter()
                .any(|words| ran.stderr.contains(words));
            assert!(is_told, "{limit:?} {arguments:?}: {}", ran.stderr);
            for wrong in ["damaged", "restore a backup", "C-"] {
                assert!(!ran.stderr.contains(wrong), "{limit:?} {arguments:?}: {}", ran.stderr);
            }
        }
        assert_eq!(fnstore_in(store.path(), &["query", "--count"]).stdout, before);
    }
    assert!(refused > 6, "{refused} commands were refused: the limits are too high");
    assert_eq!(fnstore_in(store.path(), &["restore", backup, "--yes"]).code, Some(0));
}

#[test]
fn a_limit_on_the_size_of_files_is_an_error_and_no_kill() {
    let store = new_store();
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -f 1; exec \"$0\" query", env!("CARGO_BIN_EXE_fnstore")]);
    let out = std::fs::File::create(store.path().join("answers.jsonl")).unwrap();
    let ran = Ran::of(command.env("FNSTORE_DIR", store.path()).stdout(out).output().unwrap());
    assert_eq!(ran.code, Some(74), "{ran:?}");
    assert!(ran.stderr.contains("File too large"), "{ran:?}");
}

#[test]
fn what_was_typed_does_nothing_to_a_terminal() {
    let store = new_store();
    // The start of a control sequence, in one letter.
    let ran = fnstore_in(store.path(), &["query", "--wr\u{9b}31mong"]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("--wr<U+009B>31mong"), "{ran:?}");
    assert!(!ran.stderr.contains('\u{9b}'), "{ran:?}");
}

#[test]
fn a_list_of_tables_that_is_gone_is_damage() {
    let store = new_store();
    let manifest = files(&store.path().join("db"), |name| name.starts_with("MANIFEST")).remove(0);
    std::fs::remove_file(&manifest).unwrap();
    for arguments in [&["query", "--count"][..], &["reindex"]] {
        let ran = fnstore_in(store.path(), arguments);
        assert_eq!(ran.code, Some(2), "{ran:?}");
        assert!(ran.stderr.contains("MANIFEST") && ran.stderr.contains("(C-open)"), "{ran:?}");
    }
    let check = fnstore_in(store.path(), &["check"]);
    assert_eq!(check.code, Some(1), "{check:?}");
    assert!(check.stdout.contains("C-open"), "{check:?}");
}
