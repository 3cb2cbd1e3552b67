//! What the tests share: the library that cargo has built beside them, and the C compiler.
#![allow(dead_code, reason = "each test takes a part of it")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Where cargo puts `libfnstore.so`: above the folder of its tests. `cargo build --package
/// fnstore-c` builds it, which no test does by itself.
pub(crate) fn library_dir() -> PathBuf {
    let program = std::env::current_exe().unwrap();
    program.ancestors().nth(2).unwrap().to_owned()
}

/// The library's file, which must be made of the sources that stand here.
pub(crate) fn library() -> PathBuf {
    let (prefix, suffix) = (std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    let file = library_dir().join(format!("{prefix}fnstore{suffix}"));
    assert!(file.is_file(), "there is no {}", file.display());
    let made = file.metadata().unwrap().modified().unwrap();
    for entry in root().join("src").read_dir().unwrap() {
        let source = entry.unwrap();
        let is_older = source.metadata().unwrap().modified().unwrap() <= made;
        assert!(is_older, "{} is newer than {}", source.path().display(), file.display());
    }
    file
}

/// The system's C compiler, which finds the header.
pub(crate) fn compiler() -> Command {
    let mut compiler = Command::new(std::env::var_os("CC").unwrap_or("cc".into()));
    compiler.arg("-I").arg(root().join("include"));
    compiler
}

/// Runs a program, which must succeed.
pub(crate) fn run(program: &mut Command) -> Output {
    let output = program.output().unwrap_or_else(|error| panic!("{program:?}: {error}"));
    let said = String::from_utf8_lossy(&output.stderr);
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{program:?}: {}\n{said}\n{printed}", output.status);
    output
}

/// The symbols that the library exports; none where nothing can say so.
pub(crate) fn exported() -> Option<BTreeSet<String>> {
    if !cfg!(target_os = "linux") {
        return None;
    }
    let output = run(Command::new("nm").args(["-D", "--defined-only"]).arg(library()));
    let text = String::from_utf8(output.stdout).unwrap();
    Some(
        text.lines().filter_map(|line| line.split_whitespace().last()).map(str::to_owned).collect(),
    )
}

/// Compiles a program of C into a folder, with the sanitizers, against the library under the name
/// by which it is looked for; gives its place.
pub(crate) fn compile(source: &Path, dir: &Path) -> PathBuf {
    let program = dir.join(source.file_stem().unwrap());
    let mut compile = compiler();
    compile.args(["-std=c11", "-D_DEFAULT_SOURCE", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]);
    compile.args(["-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]);
    compile.arg(source).arg("-o").arg(&program).arg(library());
    #[cfg(target_os = "linux")]
    std::os::unix::fs::symlink(library(), dir.join("libfnstore.so.1")).unwrap();
    let places = [dir, &library_dir()].map(|place| format!("-Wl,-rpath,{}", place.display()));
    run(compile.args(places).arg("-pthread"));
    program
}

/// A small release.
pub(crate) fn mini_framenet() -> PathBuf {
    root().join("../tests/data/mini-framenet")
}
