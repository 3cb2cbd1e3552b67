//! A store that is written commit by commit keeps few files, so that few may be open: 2,000
//! decisions at 256 descriptors, or as many as `FNSTORE_MANY_COMMITS` says.

#![cfg(target_os = "linux")]

use std::path::Path;
use std::process::Command;

use fnstore::database::Database;
use serde_json::json;

use crate::cli_program::new_store;
use crate::generated;
use crate::review_server::Review;

/// Files that a process may have open.
const DESCRIPTORS: &str = "256";

/// Table files that a store of a few rows may have, however often it was written.
const TABLES: usize = 80;

/// Arguments: the program, the number of files that may be open, and the command.
const LIMITED: &str = r#"limit=$1; shift; ulimit -n "$limit" && exec "$0" "$@""#;

fn limited() -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", LIMITED, env!("CARGO_BIN_EXE_fnstore"), DESCRIPTORS]);
    command
}

fn tables(store: &Path) -> usize {
    let files = std::fs::read_dir(store.join("db")).unwrap().map(|file| file.unwrap().path());
    files.filter(|path| path.extension().is_some_and(|it| it == "sst")).count()
}

#[test]
fn as_many_commits_as_one_likes_leave_few_files() {
    let commits = std::env::var("FNSTORE_MANY_COMMITS").ok().map(|it| it.parse().unwrap());
    let commits: usize = commits.unwrap_or(2_000);
    let store = new_store();
    let database = Database::open_writer(store.path()).unwrap();
    generated::write(&database, database.release("mini-framenet").unwrap().id);
    drop(database);
    let review = Review::start_by(limited(), store.path(), &[]);
    let item = review.item(None)["n"].clone();
    let (mut most_tables, mut most_open) = (0, 0);
    for number in 0..commits {
        let decision = json!([{ "item": item, "score": number % 101 }]);
        let (status, said) = review.post("decide", &decision);
        assert_eq!(status, 200, "decision {number}: {said}");
        if number % 20 == 0 {
            most_tables = most_tables.max(tables(store.path()));
            most_open = most_open.max(std::fs::read_dir(review.process("fd")).unwrap().count());
        }
    }
    println!("{commits} commits: at most {most_tables} tables, {most_open} files open");
    assert!(most_tables <= TABLES, "{most_tables} tables");
    let (status, item) = review.get("item?tab=t&n=0");
    assert_eq!(status, 200, "{item}");
    drop(review);
    let backup = tempfile::tempdir().unwrap();
    let backup = backup.path().join("backup");
    for arguments in [
        &["query", "--count"][..],
        &["reindex"],
        &["backup", backup.to_str().unwrap()],
        &["check", "--deep"],
    ] {
        let ran = limited().args(arguments).env("FNSTORE_DIR", store.path()).output().unwrap();
        assert!(ran.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&ran.stderr));
    }
}

#[test]
fn the_soft_limit_on_open_files_is_raised_to_the_hard_one() {
    let store = new_store();
    let mut command = Command::new("sh");
    command.args(["-c", r#"ulimit -Sn 128 && exec "$0" "$@""#, env!("CARGO_BIN_EXE_fnstore")]);
    let review = Review::start_by(command, store.path(), &[]);
    let limits = std::fs::read_to_string(review.process("limits")).unwrap();
    let files = limits.lines().find(|line| line.starts_with("Max open files")).unwrap();
    let numbers: Vec<&str> = files.split_whitespace().skip(3).take(2).collect();
    assert_eq!(numbers[0], numbers[1], "{files}");
    assert_ne!(numbers[0], "128", "{files}");
}
