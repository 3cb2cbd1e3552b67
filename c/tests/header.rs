//! The header is what the sources say, the library exports its functions alone, C and C++ compile
//! it, and a test calls each function.
//!
//! `FNSTORE_WRITE_GOLDEN=1` writes it.

#![allow(clippy::unwrap_used, reason = "what fails in a test fails it")]

mod common;

use std::collections::BTreeSet;
use std::fs;

use common::{compiler, exported, root, run};

fn header() -> String {
    fs::read_to_string(root().join("include/fnstore.h")).unwrap()
}

/// The functions that a header declares.
fn declared(header: &str) -> BTreeSet<String> {
    let without_comments: String = header
        .split("/*")
        .map(|part| part.split_once("*/").map_or(part, |(_, rest)| rest))
        .collect();
    let names = without_comments.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
    let text = &without_comments;
    names
        .filter(|name| name.starts_with("fnstore_") && text.contains(&format!("{name}(")))
        .map(str::to_owned)
        .collect()
}

#[test]
fn the_header_is_what_the_sources_say() {
    let config = cbindgen::Config::from_file(root().join("cbindgen.toml")).unwrap();
    let made = cbindgen::generate_with_config(root(), config).unwrap();
    let mut written = Vec::new();
    made.write(&mut written);
    let written = String::from_utf8(written).unwrap();
    if std::env::var_os("FNSTORE_WRITE_GOLDEN").is_some() {
        fs::write(root().join("include/fnstore.h"), &written).unwrap();
    }
    assert!(written == header(), "FNSTORE_WRITE_GOLDEN=1 writes c/include/fnstore.h");
}

#[test]
fn the_library_exports_the_functions_of_the_header_and_nothing_else() {
    let Some(exported) = exported() else { return };
    let mut declared = declared(&header());
    // It is compiled into the program.
    assert!(declared.remove("fnstore_abi_is_right"));
    assert!(declared.len() > 60, "{declared:?}");
    assert_eq!(exported, declared);
}

#[test]
fn the_program_that_tests_the_interface_calls_every_function() {
    let program = fs::read_to_string(root().join("tests/interface.c")).unwrap();
    // The header's own function calls it.
    let others = declared(&header()).into_iter().filter(|name| name != "fnstore_abi_version");
    let left_out: Vec<String> =
        others.filter(|name| !program.contains(&format!("{name}("))).collect();
    assert_eq!(left_out, [""; 0]);
}

#[test]
fn c_and_cpp_compile_the_header_twice_without_a_warning() {
    let dir = tempfile::tempdir().unwrap();
    let text = "#include <fnstore.h>\n#include <fnstore.h>\n\
                int main(void) { return fnstore_abi_is_right() ? 0 : 1; }\n";
    for (name, standard) in [("a.c", "-std=c99"), ("a.cpp", "-std=c++11")] {
        let source = dir.path().join(name);
        fs::write(&source, text).unwrap();
        let mut compile = compiler();
        compile.args([standard, "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only"]);
        run(compile.arg(source));
    }
}

#[test]
fn unsafe_blocks_stand_in_one_file_each_with_its_reason() {
    let mut count = 0;
    for entry in fs::read_dir(root().join("src")).unwrap() {
        let path = entry.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        for (at, _) in lines.iter().enumerate().filter(|(_, line)| line.contains("unsafe {")) {
            count += 1;
            assert!(path.ends_with("boundary.rs"), "{}: line {}", path.display(), at + 1);
            let comment = lines[..at].iter().rev().take_while(|line| line.contains("// "));
            let reason = comment.last().is_some_and(|first| first.contains("// SAFETY: "));
            assert!(reason, "line {} has no SAFETY comment", at + 1);
        }
    }
    assert!(count > 5);
}
