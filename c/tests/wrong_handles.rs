//! Checked handles tell what a caller frees twice, frees as something else, frees while it is used,
//! or uses after that.
#![allow(clippy::unwrap_used, reason = "what fails in a test fails it")]

mod common;

use std::fs;
use std::process::{Command, Output};

use common::{compile, mini_framenet};

/// Runs some lines of C beside an open store `database`; `close` is a callback that closes it.
fn ran(lines: &str) -> Output {
    let dir = tempfile::tempdir().unwrap();
    let source = dir.path().join("wrong.c");
    let text = format!(
        r#"#include <fnstore.h>
        #include <stdio.h>
        static int close(uint64_t files, uint64_t total, void *database) {{
          if (files < total) fnstore_close((fnstore_database *)database);
          return 0;
        }}
        int main(int argc, char **argv) {{
          fnstore_error *error = NULL;
          fnstore_database *database = fnstore_open(argv[argc - 1], FNSTORE_OPEN_MODE_CREATE, &error);
          fnstore_text_free(fnstore_import(database, argv[1], "mini", "en", NULL, NULL, NULL, NULL, &error));
          (void)close;
          fnstore_answers *answers = fnstore_query(database, NULL, NULL, NULL, 0, &error);
          {lines}
          return 0;
        }}"#
    );
    fs::write(&source, text).unwrap();
    let program = compile(&source, dir.path());
    let mut wrong = Command::new(program);
    wrong.env("FNSTORE_CHECK_HANDLES", "1").args([mini_framenet(), dir.path().join("store")]);
    wrong.output().unwrap()
}

fn told(lines: &str) -> String {
    let output = ran(lines);
    assert!(!output.status.success(), "{output:?}");
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn what_is_freed_twice_or_as_something_else_ends_the_program() {
    let twice = told("fnstore_answers_free(answers); fnstore_answers_free(answers);");
    assert_eq!(twice.trim_end(), "fnstore: a list of answers is freed twice");
    let other = told("fnstore_lines_free((fnstore_lines *)answers);");
    assert_eq!(other.trim_end(), "fnstore: a list of answers is freed as a list of lines");
    let never = told("char text[] = \"a\"; (void)answers, fnstore_text_free(text);");
    assert_eq!(never.trim_end(), "fnstore: what is freed as a text was never given");
}

#[test]
fn what_is_freed_while_it_is_used_ends_the_program() {
    let used = told(
        r#"(void)answers;
        fnstore_import(database, argv[1], "two", "en", NULL, close, database, NULL, &error);"#,
    );
    assert_eq!(used.trim_end(), "fnstore: a database is freed while it is used");
}

#[test]
fn what_was_freed_is_an_error_to_use() {
    let output = ran(r#"fnstore_answers_free(answers);
        fnstore_answer *answer = fnstore_answers_next(answers, &error);
        puts(answer ? "an answer" : fnstore_error_code(error));
        fnstore_error_free(error);
        fnstore_close(database);"#);
    assert!(output.status.success(), "{output:?}");
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "F-handle\n");
}
