//! `check`, `reindex`, `backup`, `restore`, `completions`, `man`: as their user runs them.

use std::fs;

use fnstore::database::Database;
use serde_json::Value;

use crate::cli_program::{Ran, fnstore, fnstore_in, mini_framenet, new_store};
use crate::cli_schema::faults_in;

fn json(ran: &Ran) -> Value {
    serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"))
}

#[test]
fn a_check_of_a_whole_store_says_so() {
    for arguments in [vec!["check"], vec!["check", "--deep"]] {
        let ran = fnstore(&arguments);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert!(ran.stdout.ends_with("nothing is wrong\n"), "{}", ran.stdout);
        assert_eq!(ran.stderr, "");
    }
    let ran = fnstore(&["check", "--deep", "--format", "json"]);
    assert_eq!(faults_in("check.schema.json", &json(&ran)), [""; 0]);
    assert_eq!(json(&ran)["rows"]["annotation"], 42);
}

#[test]
fn a_check_that_finds_something_exits_with_one_and_names_the_code() {
    let store = new_store();
    fs::remove_dir_all(store.path().join("index")).unwrap();
    let ran = fnstore_in(store.path(), &["check"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stdout.contains("C-index-absent  1  no index that this build reads"), "{ran:?}");
    let ran = fnstore_in(store.path(), &["check", "--format", "jsonl"]);
    assert_eq!(ran.code, Some(1));
    assert_eq!(faults_in("check.schema.json", &json(&ran)), [""; 0]);
    assert_eq!(json(&ran)["findings"][0]["code"], "C-index-absent");
    let ran = fnstore_in(store.path(), &["check", "--format", "tsv"]);
    let rows = "code\tcount\tfamily\tdetail\nC-index-absent\t1\tindex\t";
    assert!(ran.stdout.starts_with(rows), "{ran:?}");

    let ran = fnstore_in(store.path(), &["reindex", "--format", "json"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(faults_in("reindex.schema.json", &json(&ran)), [""; 0]);
    assert_eq!(json(&ran)["entries"], 42);
    assert_eq!(fnstore_in(store.path(), &["check", "--deep"]).code, Some(0));
}

#[test]
fn a_store_whose_files_are_gone_is_a_finding() {
    let store = new_store();
    for entry in fs::read_dir(store.path().join("db")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|kind| kind == "sst") {
            fs::remove_file(path).unwrap();
        }
    }
    let ran = fnstore_in(store.path(), &["check"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stdout.contains("C-open"), "{ran:?}");
}

#[test]
fn a_backup_is_written_restored_and_refused() {
    let (store, dir) = (new_store(), tempfile::tempdir().unwrap());
    let place = dir.path().join("backup");
    let place = place.to_str().unwrap();
    let ran = fnstore_in(store.path(), &["backup", place, "--format", "json"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(faults_in("backup.schema.json", &json(&ran)), [""; 0]);
    let again = fnstore_in(store.path(), &["backup", place]);
    assert_eq!(again.code, Some(2));
    assert!(again.stderr.contains("name a directory that does not exist or is empty"), "{again:?}");

    let other = dir.path().join("other");
    let ran = fnstore_in(&other, &["restore", place, "--format", "table"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stdout.starts_with("mini-framenet at revision 1: "), "{ran:?}");
    assert_eq!(fnstore_in(&other, &["query", "--count"]).stdout, "42\n");
    assert_eq!(fnstore_in(&other, &["check", "--deep"]).code, Some(0));

    let ran = fnstore_in(&other, &["restore", store.path().to_str().unwrap()]);
    assert_eq!(ran.code, Some(65), "{ran:?}");
    assert!(ran.stderr.contains("holds no backup: there is no `backup.json`"), "{ran:?}");
    fs::write(dir.path().join("backup/db/CURRENT"), "MANIFEST-000001\n").unwrap();
    let ran = fnstore_in(&other, &["restore", place, "--yes"]);
    assert_eq!(ran.code, Some(65), "{ran:?}");
    assert!(ran.stderr.contains("`db/CURRENT` has another hash"), "{ran:?}");
    assert_eq!(fnstore_in(&other, &["query", "--count"]).stdout, "42\n");
}

#[test]
fn a_store_that_is_there_is_replaced_only_when_one_says_so() {
    let (store, dir) = (new_store(), tempfile::tempdir().unwrap());
    let place = dir.path().join("backup");
    let place = place.to_str().unwrap();
    assert_eq!(fnstore_in(store.path(), &["backup", place]).code, Some(0));
    let release = mini_framenet();
    let second = ["import", release.to_str().unwrap(), "--release", "second"];
    assert_eq!(fnstore_in(store.path(), &second).code, Some(0));
    let count = || fnstore_in(store.path(), &["query", "--count"]).stdout;

    let refused = fnstore_in(store.path(), &["restore", place]);
    assert_eq!(refused.code, Some(2), "{refused:?}");
    let (old, new) = ("(mini-framenet, second at revision 2)", "(mini-framenet at revision 1)");
    for said in [old, new, "would replace the store", "say `--yes`"] {
        assert!(refused.stderr.contains(said), "{said}: {}", refused.stderr);
    }
    assert_eq!(count(), "84\n");
    let ran = fnstore_in(store.path(), &["restore", place, "--yes"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(count(), "42\n");
}

#[test]
fn a_store_that_does_not_open_is_not_replaced_unasked_either() {
    let (store, dir) = (new_store(), tempfile::tempdir().unwrap());
    let place = dir.path().join("backup");
    let place = place.to_str().unwrap();
    assert_eq!(fnstore_in(store.path(), &["backup", place]).code, Some(0));
    fs::write(store.path().join("db/CURRENT"), "MANIFEST-999999\n").unwrap();
    let refused = fnstore_in(store.path(), &["restore", place]);
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(refused.stderr.contains("(it does not open)"), "{}", refused.stderr);
    let ran = fnstore_in(store.path(), &["restore", place, "--yes"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(fnstore_in(store.path(), &["check", "--deep"]).code, Some(0));
}

#[test]
fn writers_are_refused_while_another_process_writes_and_the_rest_works() {
    let (store, dir) = (new_store(), tempfile::tempdir().unwrap());
    let place = dir.path().join("backup");
    let place = place.to_str().unwrap();
    let _writer = Database::open_existing_writer(store.path()).unwrap();
    for arguments in [vec!["check", "--deep"], vec!["backup", place]] {
        let ran = fnstore_in(store.path(), &arguments);
        assert_eq!(ran.code, Some(0), "{ran:?}");
    }
    for arguments in [vec!["reindex"], vec!["restore", place, "--yes"]] {
        let ran = fnstore_in(store.path(), &arguments);
        assert_eq!(ran.code, Some(75), "{ran:?}");
        let holder = format!("is being written by process {} on ", std::process::id());
        assert!(ran.stderr.contains(&holder), "{ran:?}");
        let command = std::env::args().next().unwrap();
        assert!(ran.stderr.contains(&command), "{ran:?} has no `{command}`");
    }
}

#[test]
fn without_a_store_every_command_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let nowhere = dir.path().join("nowhere");
    let place = dir.path().join("backup");
    for arguments in [vec!["check"], vec!["reindex"], vec!["backup", place.to_str().unwrap()]] {
        let ran = fnstore_in(&nowhere, &arguments);
        assert_eq!(ran.code, Some(66), "{ran:?}");
        assert!(ran.stderr.contains("there is no store in"), "{ran:?}");
        assert!(!nowhere.exists() && !place.exists(), "{arguments:?} made something");
    }
}

#[test]
fn completions_know_every_command_in_every_shell() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let ran = fnstore(&["completions", shell]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        for command in ["import", "query", "check", "restore"] {
            assert!(ran.stdout.contains(command), "{shell} lacks {command}");
        }
    }
    let ran = fnstore(&["completions", "tcsh"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("possible values: bash"), "{ran:?}");
}

#[test]
fn the_bash_completion_is_a_script_that_bash_takes() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("fnstore.bash");
    fs::write(&file, fnstore(&["completions", "bash"]).stdout).unwrap();
    let script = format!(
        "source {} && COMP_WORDS=(fnstore che) COMP_CWORD=1 && _fnstore fnstore che && \
         echo \"${{COMPREPLY[@]}}\"",
        file.display()
    );
    let Ok(output) = std::process::Command::new("bash").args(["-c", &script]).output() else {
        skipped!("there is no bash");
        return;
    };
    assert_eq!(String::from_utf8_lossy(&output.stdout), "check\n", "{output:?}");
}

#[test]
fn the_manual_has_a_page_for_every_command() {
    let dir = tempfile::tempdir().unwrap();
    let man = dir.path().join("man1");
    let ran = fnstore(&["man", man.to_str().unwrap()]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), ""), "{ran:?}");
    for page in ["fnstore.1", "fnstore-query.1", "fnstore-check.1", "fnstore-restore.1"] {
        let text = fs::read_to_string(man.join(page)).unwrap();
        assert!(text.contains(".SH SYNOPSIS"), "{page}");
    }
    let ran = fnstore(&["man"]);
    assert!(ran.stdout.contains(".SH SUBCOMMANDS") && ran.stdout.contains("Exit codes"), "{ran:?}");
    let ran = fnstore(&["man", "/proc/nowhere/man1"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("cannot write manual pages to"), "{ran:?}");
}
