//! `tools/c++` compiles RocksDB's files by many at once, and leaves of each what it defines.
//!
//! A crate of a few small files stands in for RocksDB.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const FILES: [(&str, &str); 3] = [
    ("cache/one.cc", "static int own() { return 1; } int one() { return own(); }"),
    ("db/two.cc", "#include <string>\nint two() { return (int)std::string(\"ab\").size(); }"),
    ("util/three.cc", "int three() { return VALUE; }"),
];

/// The function of each of these files, as their objects name it.
const NAMES: [&str; 3] = ["_Z3onev", "_Z3twov", "_Z5threev"];

/// A crate's directory, whose path has what a shell takes for more than letters.
struct Crate {
    _temporary: tempfile::TempDir,
    place: PathBuf,
}

impl Crate {
    fn new(files: &[(&str, &str)]) -> Self {
        let temporary = tempfile::tempdir().unwrap();
        let place = temporary.path().join("it's a crate");
        let new = Self { _temporary: temporary, place };
        let list: Vec<&str> = files.iter().map(|(name, _)| *name).collect();
        for (name, text) in files {
            new.write(&format!("rocksdb/{name}"), text);
        }
        new.write("rocksdb_lib_sources.txt", &list.join("\n"));
        let common = Path::new(env!("CARGO_MANIFEST_DIR")).join("tools/rocksdb.h");
        for line in fs::read_to_string(common).unwrap().lines() {
            if let Some(header) = line.strip_prefix("#include \"") {
                new.write(&format!("rocksdb/include/{}", header.trim_end_matches('"')), "");
            }
        }
        fs::create_dir(new.place.join("out")).unwrap();
        new
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.place.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn run(&self, arguments: &[&str]) {
        let compiler = Path::new(env!("CARGO_MANIFEST_DIR")).join("tools/c++");
        let output = Command::new(compiler).args(arguments).current_dir(&self.place).output();
        let output = output.unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }

    /// Compiles the files as the crate's build does, and says what a program of them prints.
    fn built(&self, files: &[(&str, &str)]) -> String {
        let mut last = vec!["-o".to_owned(), "program".to_owned(), "main.cc".to_owned()];
        for (name, _) in files {
            let (source, object) = (format!("rocksdb/{name}"), object(name));
            let include = format!("-I{}", self.place.join("rocksdb/include").display());
            self.run(&["-O1", "-DVALUE=3", &include, "-o", &object, "-c", &source]);
            last.push(object);
        }
        self.write(
            "main.cc",
            "#include <cstdio>\nint one(); int two(); int three();\n\
             int main() { std::printf(\"%d %d %d\", one(), two(), three()); }",
        );
        self.run(&last.iter().map(String::as_str).collect::<Vec<_>>());
        let output = Command::new(self.place.join("program")).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    }

    /// Which of the functions stand in the object of a file.
    fn functions(&self, name: &str) -> Vec<&'static str> {
        let bytes = fs::read(self.place.join(object(name))).unwrap();
        let stands = |of: &&str| bytes.windows(of.len()).any(|part| part == of.as_bytes());
        NAMES.into_iter().filter(stands).collect()
    }
}

fn object(name: &str) -> String {
    format!("out/{}.o", name.replace('/', "-"))
}

#[test]
fn files_that_are_compiled_as_one_define_what_each_defines() {
    let made = Crate::new(&FILES);
    assert_eq!(made.built(&FILES), "1 2 3");
    let objects = FILES.map(|(name, _)| made.functions(name));
    assert_eq!(objects, [NAMES.to_vec(), vec![], vec![]]);
    let compiler = Command::new("c++").arg("-v").output().unwrap();
    if String::from_utf8_lossy(&compiler.stderr).contains("\ngcc version") {
        assert!(made.place.join("out/together/headers/rocksdb.h.gch").exists());
    }
}

/// More sources than are compiled as one.
#[test]
fn many_files_are_compiled_as_several() {
    let long = format!("{}\n/*{}*/", FILES[1].1, "-".repeat(260_000));
    let mut files = FILES;
    files[1].1 = &long;
    let made = Crate::new(&files);
    assert_eq!(made.built(&files), "1 2 3");
    let objects = files.map(|(name, _)| made.functions(name));
    assert_eq!(objects, [vec![NAMES[0]], vec![NAMES[1], NAMES[2]], vec![]]);
}

/// Two files have a function of one name, each its own.
#[test]
fn files_that_cannot_be_compiled_as_one_are_compiled_alone() {
    let mut files = FILES;
    files[2].1 = "static int own() { return 3; } int three() { return own(); }";
    let made = Crate::new(&files);
    assert_eq!(made.built(&files), "1 2 3");
    assert!(made.place.join("out/together/cache-one.cc-util-three.cc.o").exists());
}

#[test]
fn a_file_of_which_the_list_knows_nothing_is_compiled_as_it_came() {
    let made = Crate::new(&[("db/two.cc", FILES[1].1)]);
    made.write("rocksdb/cache/one.cc", FILES[0].1);
    let one = "cache/one.cc";
    made.run(&["-o", &object(one), "-c", "rocksdb/cache/one.cc"]);
    assert_eq!(made.functions(one), [NAMES[0]]);
    fs::remove_file(made.place.join(object(one))).unwrap();
    fs::remove_file(made.place.join("rocksdb_lib_sources.txt")).unwrap();
    made.run(&["-o", &object(one), "-c", "rocksdb/cache/one.cc"]);
    assert_eq!(made.functions(one), [NAMES[0]], "there is no list");
}
