//! A process that may open no more files ends a command with an error that says so; the store is as
//! it was.

#![cfg(unix)]

use std::process::Command;

use crate::cli_program::{fnstore_in, mini_framenet, new_store};

/// Arguments: the program, the number of files that may be open, and the command.
const LIMITED: &str = r#"limit=$1; shift; ulimit -n "$limit" && exec "$0" "$@""#;

#[test]
fn out_of_file_handles_is_an_error_that_leaves_the_store_as_it_was() {
    let store = new_store();
    let mut refused = 0;
    let release = mini_framenet();
    let release = release.to_str().unwrap();
    // From so few that nothing opens to so many that an import is under way.
    for limit in [12, 24, 32, 40, 48, 56, 64, 80] {
        let name = format!("limit-{limit}");
        for command in [&["import", release, "--release", &name][..], &["query", "--count"]] {
            let before = fnstore_in(store.path(), &["query", "--count"]).stdout;
            let output = Command::new("sh")
                .args(["-c", LIMITED, env!("CARGO_BIN_EXE_fnstore"), &limit.to_string()])
                .args(command)
                .env("FNSTORE_DIR", store.path())
                .output()
                .unwrap();
            let said = String::from_utf8_lossy(&output.stderr);
            match output.status.code() {
                Some(0) if command[0] == "query" => {
                    assert_eq!(String::from_utf8_lossy(&output.stdout), before);
                }
                Some(0) => continue,
                Some(2 | 74) => {
                    refused += 1;
                    // Tantivy tells of its threads alone that one of them failed.
                    let is_told =
                        said.contains("Too many open files") || said.contains("(S-index)");
                    assert!(is_told, "{limit}: {said}");
                    assert!(said.contains("limit on open files (`ulimit -n`)"), "{limit}: {said}");
                }
                code => panic!("{limit}, {command:?}: {code:?}: {said}"),
            }
            let after = fnstore_in(store.path(), &["query", "--count"]);
            assert_eq!(after.stdout, before, "{limit}: {}", after.stderr);
        }
    }
    assert!(refused > 2, "{refused} commands were refused: the limits are too high");
    let check = fnstore_in(store.path(), &["check", "--deep"]);
    assert_eq!(check.code, Some(0), "{check:?}");
    let later = fnstore_in(store.path(), &["import", release, "--release", "later"]);
    assert_eq!(later.code, Some(0), "{}", later.stderr);
}
