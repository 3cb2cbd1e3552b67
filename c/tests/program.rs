//! A C program that uses every function, rightly and wrongly, under the sanitizers of addresses,
//! leaks and undefined behaviour.

#![allow(clippy::unwrap_used, reason = "what fails in a test fails it")]

mod common;

use std::fs;
use std::path::Path;
use std::process::Command;

use fnstore::database::Database;
use fnstore::transfer::ImportOptions;

use common::{compile, mini_framenet, root, run};

/// Copies a directory with what is in it.
fn copy(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let (path, to) = (entry.as_ref().unwrap().path(), to.join(entry.unwrap().file_name()));
        match path.is_dir() {
            true => copy(&path, &to),
            false => drop(fs::copy(&path, &to).unwrap()),
        }
    }
}

#[test]
fn every_function_is_used_rightly_and_wrongly_without_a_leak() {
    let dir = tempfile::tempdir().unwrap();
    let program = compile(&root().join("tests/interface.c"), dir.path());
    fs::write(dir.path().join("file"), "no store").unwrap();
    fs::create_dir(dir.path().join("foreign")).unwrap();
    fs::write(dir.path().join("foreign/letter.txt"), "Dear Kim,").unwrap();
    copy(&root().join("../tests/data/format-1/store"), &dir.path().join("outdated"));
    let mut interface = Command::new(&program);
    interface.env("ASAN_OPTIONS", "detect_leaks=1").env("UBSAN_OPTIONS", "print_stacktrace=1");
    interface.args([&mini_framenet(), dir.path(), &root().join("../models")]);
    let output = run(&mut interface);
    assert!(String::from_utf8_lossy(&output.stdout).ends_with("all as expected\n"));
}

#[test]
fn the_example_of_the_page_finds_what_is_asked_for() {
    let dir = tempfile::tempdir().unwrap();
    let store = dir.path().join("store");
    let writer = Database::open_writer(&store).unwrap();
    writer.import(&mini_framenet(), &ImportOptions::default(), &mut |_| {}).unwrap();
    writer.close().unwrap();
    let page = fs::read_to_string(root().join("../docs/reference/c.md")).unwrap();
    let (_, example) = page.split_once("```c\n").unwrap();
    let (example, _) = example.split_once("```").unwrap();
    let source = dir.path().join("example.c");
    fs::write(&source, example).unwrap();
    let program = compile(&source, dir.path());
    let output = run(Command::new(&program).arg(&store).arg("trigger=checked"));
    let lines = String::from_utf8(output.stdout).unwrap();
    assert_eq!(lines.lines().filter(|line| line.starts_with("checked\t")).count(), 7);
    let wrong = Command::new(&program).arg(&store).arg("frame=Cheking").output().unwrap();
    assert_eq!(wrong.status.code(), Some(1));
    assert!(String::from_utf8(wrong.stderr).unwrap().contains("Checking"));
}
