//! An export and a backup take the place that was named, or say why they cannot; nothing else is
//! touched.

#![cfg(unix)]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use assert_cmd::Command;
use tempfile::TempDir;

use crate::cli_program::{Ran, mini_framenet, new_store};

/// A store, and a directory to write in.
struct Places {
    store: TempDir,
    dir: TempDir,
}

impl Places {
    fn new() -> Self {
        Self { store: new_store(), dir: tempfile::tempdir().unwrap() }
    }

    /// Runs the program in a directory below.
    fn run(&self, directory: &str, arguments: &[&str]) -> Ran {
        let output = Command::new(env!("CARGO_BIN_EXE_fnstore"))
            .env("FNSTORE_DIR", self.store.path())
            .current_dir(self.dir.path().join(directory))
            .args(arguments)
            .output()
            .unwrap();
        Ran::of(output)
    }

    /// What lies in the directory, by name: what files hold, `/` for a directory, and where links
    /// lead.
    fn content(&self) -> BTreeMap<String, String> {
        let mut content = BTreeMap::new();
        for entry in fs::read_dir(self.dir.path()).unwrap() {
            let entry = entry.unwrap();
            let kind = entry.file_type().unwrap();
            let what = if kind.is_symlink() {
                format!("-> {}", fs::read_link(entry.path()).unwrap().display())
            } else if kind.is_dir() {
                format!("/{}", fs::read_dir(entry.path()).unwrap().count())
            } else {
                fs::read_to_string(entry.path()).unwrap()
            };
            content.insert(entry.file_name().into_string().unwrap(), what);
        }
        content
    }
}

/// Both ways to write a directory.
const TO_DIRECTORY: [&[&str]; 2] = [&["export", "--to", "framenet-xml"], &["backup"]];

#[test]
fn a_link_to_an_empty_directory_leads_to_what_is_written() {
    for command in TO_DIRECTORY {
        let places = Places::new();
        fs::create_dir(places.dir.path().join("real")).unwrap();
        symlink("real", places.dir.path().join("link")).unwrap();
        let ran = places.run(".", &[command, &["link"]].concat());
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        let content = places.content();
        assert_eq!(content.keys().collect::<Vec<_>>(), ["link", "real"]);
        assert_eq!(content["link"], "-> real");
        assert_ne!(content["real"], "/0");
    }
}

#[test]
fn the_working_directory_is_not_taken_away_from_who_works_in_it() {
    for (command, code) in TO_DIRECTORY.into_iter().zip(["(X-place)", "(B-place)"]) {
        let places = Places::new();
        fs::create_dir(places.dir.path().join("here")).unwrap();
        for name in [".", "../here", "./"] {
            let ran = places.run("here", &[command, &[name]].concat());
            assert_eq!(ran.code, Some(2), "{name}: {}", ran.stdout);
            assert!(ran.stderr.contains(code), "{name}: {}", ran.stderr);
            assert!(ran.stderr.contains("name a new directory in it"), "{name}: {}", ran.stderr);
            assert_eq!(places.content(), BTreeMap::from([("here".to_owned(), "/0".to_owned())]));
        }
        let ran = places.run("here", &[command, &["./new"]].concat());
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    }
}

#[test]
fn a_link_that_leads_nowhere_is_refused() {
    let places = Places::new();
    symlink("nowhere", places.dir.path().join("link")).unwrap();
    for command in [
        &["export", "--to", "framenet-xml", "link"][..],
        &["export", "--to", "jsonl", "link"],
        &["export", "--force", "--to", "jsonl", "link"],
        &["backup", "link"],
        &["--store", "link", "import", mini_framenet().to_str().unwrap()],
    ] {
        let ran = places.run(".", command);
        assert_eq!(ran.code, Some(2), "{command:?}: {}", ran.stdout);
        let said = "it is a link to `nowhere`, where nothing is";
        assert!(ran.stderr.contains(said), "{command:?}: {}", ran.stderr);
        let as_before = BTreeMap::from([("link".to_owned(), "-> nowhere".to_owned())]);
        assert_eq!(places.content(), as_before, "{command:?}");
    }
}

#[test]
fn a_link_to_a_file_stays_one_and_the_file_is_replaced_by_force_alone() {
    let places = Places::new();
    let file = places.dir.path().join("file");
    fs::write(&file, "old").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    symlink("file", places.dir.path().join("link")).unwrap();
    let before = places.content();
    let refused = places.run(".", &["export", "--to", "jsonl", "link"]);
    assert_eq!(refused.code, Some(2), "{}", refused.stdout);
    assert!(refused.stderr.contains("`--force` replaces it"), "{}", refused.stderr);
    assert_eq!(places.content(), before);
    let ran = places.run(".", &["export", "--force", "--to", "jsonl", "link"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let after = places.content();
    assert_eq!(after["link"], "-> file");
    assert!(after["file"].starts_with("{\"kind\""), "{}", &after["file"][..40]);
    assert_eq!(after.len(), 2);
    // What nobody else could read nobody else can read now.
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn no_place_inside_the_store_is_taken() {
    let places = Places::new();
    let inside = |name: &str| places.store.path().join(name);
    let current = fs::read_to_string(inside("db/CURRENT")).unwrap();
    symlink(places.store.path(), places.dir.path().join("link")).unwrap();
    let paths = ["db/CURRENT", "new", "db/new"].map(inside);
    let [file, new, folder] = paths.each_ref().map(|path| path.to_str().unwrap());
    for (command, code) in [
        (vec!["export", "--force", "--to", "csv", file], "(X-place)"),
        (vec!["export", "--to", "jsonl", "link/new.jsonl"], "(X-place)"),
        (vec!["export", "--to", "semafor", new], "(X-place)"),
        (vec!["export", "--to", "framenet-xml", folder], "(X-place)"),
        (vec!["backup", new], "(B-place)"),
        (vec!["backup", "link/deep/new"], "(B-place)"),
    ] {
        let ran = places.run(".", &command);
        assert_eq!(ran.code, Some(2), "{command:?}: {}", ran.stdout);
        let said = [code, "it is inside the store", "name a place outside it"];
        assert!(said.iter().all(|said| ran.stderr.contains(said)), "{command:?}: {}", ran.stderr);
    }
    let mut left: Vec<_> =
        fs::read_dir(inside("")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["db", "index", "writer.lock"]);
    assert_eq!(fs::read_to_string(inside("db/CURRENT")).unwrap(), current);
}

/// Arguments: the program, the store, a directory to mount on.
const MOUNTED: &str = r#"
mount -t tmpfs none "$2" || exit 99
export FNSTORE_DIR=$1
"$0" backup "$2" 2>&1; echo "code $?"
"$0" export --to framenet-xml "$2" 2>&1; echo "code $?"
"$0" export --to framenet-xml "$2/new" 2>&1; echo "code $?"
ls -A "$2"
"#;

#[test]
fn a_directory_that_a_file_system_is_mounted_on_is_told_before_the_work() {
    let places = Places::new();
    let on = places.dir.path().join("on");
    fs::create_dir(&on).unwrap();
    let output = std::process::Command::new("unshare")
        .args(["--map-root-user", "--mount", "sh", "-c", MOUNTED])
        .args([Path::new(env!("CARGO_BIN_EXE_fnstore")), places.store.path(), &on])
        .output();
    let output = match output {
        Ok(output) if output.status.code() != Some(99) => output,
        _ => {
            skipped!("no name space of its own to mount in");
            return;
        }
    };
    let text = String::from_utf8_lossy(&output.stdout);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.iter().filter(|line| **line == "code 2").count(), 2, "{text}");
    for code in ["(B-place)", "(X-place)"] {
        let told = lines.iter().find(|line| line.contains(code));
        let told = told.unwrap_or_else(|| panic!("no {code} in {text}"));
        assert!(told.contains("a file system is mounted on it"), "{told}");
    }
    assert!(text.ends_with("code 0\nnew\n"), "{text}");
}
