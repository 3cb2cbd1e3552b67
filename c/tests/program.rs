//! A C program that uses every function, rightly and wrongly, under the sanitizers of addresses,
//! leaks and undefined behaviour.

mod common;

use std::fs;
use std::path::Path;
use std::process::Command;

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
