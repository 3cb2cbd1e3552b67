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

/// Asks for every answer, also behind those that fail, and prints the codes of the failures.
const TAKES_ALL: &str = r#"
#include <fnstore.h>
#include <stdio.h>
int main(int argc, char **argv) {
  fnstore_error *error = NULL;
  fnstore_database *database = fnstore_open(argv[argc - 1], FNSTORE_OPEN_MODE_READ, &error);
  fnstore_answers *answers = fnstore_query(database, NULL, NULL, NULL, 0, &error);
  int count = 0;
  for (;;) {
    fnstore_answer *answer = fnstore_answers_next(answers, &error);
    if (!answer && !error) break;
    if (answer) count++;
    else puts(fnstore_error_code(error));
    fnstore_answer_free(answer);
    fnstore_error_free(error);
  }
  printf("%d\n", count);
  fnstore_answers_free(answers);
  fnstore_close(database);
  return 0;
}"#;

#[test]
fn an_answer_whose_text_holds_nul_is_an_error_and_the_others_come() {
    let dir = tempfile::tempdir().unwrap();
    let (first, second) = (dir.path().join("first"), dir.path().join("second"));
    let writer = Database::open_writer(&first).unwrap();
    writer.import(&mini_framenet(), &ImportOptions::default(), &mut |_| {}).unwrap();
    let mut lines = Vec::new();
    writer.export_jsonl(&"".parse().unwrap(), false, &mut lines).unwrap();
    writer.close().unwrap();
    let lines = String::from_utf8(lines).unwrap();
    let changed: Vec<String> = lines
        .lines()
        .map(|line| {
            match line.starts_with("{\"kind\":\"sentence\"") && line.contains(" checked ") {
                true => line.replacen(" checked ", "\\u0000checked ", 1),
                false => line.to_owned(),
            }
        })
        .collect();
    let file = dir.path().join("changed.jsonl");
    fs::write(&file, changed.join("\n") + "\n").unwrap();
    let writer = Database::open_writer(&second).unwrap();
    writer.import_jsonl(&file, None, &mut |_| {}).unwrap();
    let every = writer.query(&"".parse().unwrap()).unwrap();
    let every: Vec<bool> =
        every.map(|answer| answer.unwrap().sentence.text.contains('\0')).collect();
    writer.close().unwrap();
    let refused = every.iter().filter(|holds_nul| **holds_nul).count();
    assert!(refused > 0 && refused < every.len(), "{every:?}");
    let source = dir.path().join("takes_all.c");
    fs::write(&source, TAKES_ALL).unwrap();
    let program = compile(&source, dir.path());
    let output = run(Command::new(&program).arg(&second));
    let expected = format!("{}{}\n", "F-nul\n".repeat(refused), every.len() - refused);
    assert_eq!(String::from_utf8(output.stdout).unwrap(), expected);
}
