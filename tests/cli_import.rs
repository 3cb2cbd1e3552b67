//! `fnstore import`: what it says, and that a failed one changes nothing.

use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::cli_program::{Ran, fnstore, fnstore_in, mini_framenet, new_store};

fn import(store: &Path, release: &Path, more: &[&str]) -> Ran {
    fnstore_in(store, &[&["import", release.to_str().unwrap()], more].concat())
}

/// A copy of the mini lexicon that a test may break.
fn copy_of_the_lexicon(to: &Path) -> PathBuf {
    let root = to.join("copy");
    for file in files_of_the_lexicon() {
        let target = root.join(&file);
        std::fs::create_dir_all(target.parent().unwrap()).unwrap();
        std::fs::copy(mini_framenet().join(&file), target).unwrap();
    }
    root
}

fn files_of_the_lexicon() -> Vec<PathBuf> {
    let mut files = Vec::new();
    for folder in ["", "frame", "lu", "fulltext"] {
        for entry in std::fs::read_dir(mini_framenet().join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.is_file() {
                files.push(Path::new(folder).join(path.file_name().unwrap()));
            }
        }
    }
    files.sort();
    files
}

fn names_in(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<String> = entries.map(|name| name.into_string().unwrap()).collect();
    names.sort();
    names
}

fn zip_of_the_lexicon(path: &Path) {
    let mut zip = zip::ZipWriter::new(File::create(path).unwrap());
    for file in files_of_the_lexicon() {
        let name = format!("mini/{}", file.display());
        zip.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
        let mut content = Vec::new();
        File::open(mini_framenet().join(file)).unwrap().read_to_end(&mut content).unwrap();
        zip.write_all(&content).unwrap();
    }
    zip.finish().unwrap();
}

/// Fails to import, as told, into a store that must stay as it is.
fn refused(release: &Path, code: i32, message: &str) {
    let store = new_store();
    let before = [fnstore_in(store.path(), &["query", "--count"]).stdout, releases(store.path())];
    let ran = import(store.path(), release, &["--release", "other"]);
    assert_eq!(ran.code, Some(code), "{ran:?}");
    assert!(ran.stderr.starts_with("error: "), "{}", ran.stderr);
    assert!(ran.stderr.contains(message), "{} has no `{message}`", ran.stderr);
    assert_eq!(ran.stdout, "");
    let after = [fnstore_in(store.path(), &["query", "--count"]).stdout, releases(store.path())];
    assert_eq!(after, before);
}

fn releases(store: &Path) -> String {
    fnstore_in(store, &["releases", "--format", "jsonl"]).stdout
}

#[test]
fn the_summary_counts_what_came_in_and_what_was_odd() {
    let dir = tempfile::tempdir().unwrap();
    let ran = import(dir.path(), &mini_framenet(), &[]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    for line in [
        "  lexical units               17  15 with a file",
        "  documents                    2",
        "  exemplar sets               34  32 MANUAL, 1 AUTO_EDITED, 1 AUTO_APP",
        "  full-text sets               8  7 MANUAL, 1 UNANN",
        "  construction sets            1",
    ] {
        assert!(ran.stdout.lines().any(|printed| printed == line), "no `{line}`:\n{}", ran.stdout);
    }
    for code in ["W-duplicate-label", "W-frame-missing", "W-sentence-conflict"] {
        assert!(ran.stdout.contains(code), "{code}");
    }
    assert_eq!(ran.stderr, "", "no progress where nobody looks");
}

#[test]
fn the_report_holds_counts_sizes_and_examples() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("report.json");
    let more = ["--release", "mini", "--language", "en-GB", "--report", file.to_str().unwrap()];
    let ran = import(&dir.path().join("store"), &mini_framenet(), &more);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let report: Value = serde_json::from_reader(File::open(file).unwrap()).unwrap();
    assert_eq!(report["release"], "mini");
    assert_eq!(report["language"], "en-GB");
    assert_eq!(report["counts"]["sentence_occurrences"], 40);
    assert_eq!(report["statuses"]["fulltext/UNANN"], 1);
    assert!(report["source_bytes"].as_u64().unwrap() > 100_000);
    assert!(report["store_bytes"].as_u64().unwrap() > 0);
    let missing = report["warnings"].as_array().unwrap();
    let missing = missing.iter().find(|warning| warning["code"] == "W-lu-missing").unwrap();
    assert_eq!(missing["count"], 1);
    assert_eq!(missing["examples"][0]["file"], "fulltext/MINI__HarbourLog.xml");
    assert!(missing["examples"][0]["line"].as_u64().unwrap() > 0);
}

#[test]
fn a_zip_holds_the_same_release_as_its_directory() {
    let dir = tempfile::tempdir().unwrap();
    let zip = dir.path().join("mini.zip");
    zip_of_the_lexicon(&zip);
    let store = new_store();
    assert_eq!(import(store.path(), &zip, &[]).code, Some(0));
    let listed = releases(store.path());
    let listed: Vec<Value> =
        listed.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(listed.len(), 2);
    assert_eq!(listed[1]["name"], "mini");
    assert_eq!(listed[0]["counts"], listed[1]["counts"]);
}

#[test]
fn a_second_import_of_a_release_is_an_error_that_names_the_way_out() {
    let store = new_store();
    let count = fnstore_in(store.path(), &["query", "--count"]).stdout;
    let ran = import(store.path(), &mini_framenet(), &[]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("already holds a release `mini-framenet`"), "{}", ran.stderr);
    assert!(ran.stderr.contains("--release NAME"), "{}", ran.stderr);
    assert_eq!(fnstore_in(store.path(), &["query", "--count"]).stdout, count);
}

#[test]
fn a_path_that_is_not_there_is_an_error() {
    refused(Path::new("/no/such/release.zip"), 2, "cannot read `/no/such/release.zip`");
}

#[test]
fn a_directory_that_is_no_release_is_bad_data() {
    refused(
        &mini_framenet().join("lu"),
        65,
        "holds no FrameNet release: expected frame/*.xml, lu/*.xml or fulltext/*.xml",
    );
}

#[test]
fn a_release_of_top_files_alone_is_bad_data() {
    let dir = tempfile::tempdir().unwrap();
    let root = copy_of_the_lexicon(dir.path());
    for folder in ["frame", "lu", "fulltext"] {
        std::fs::remove_dir_all(root.join(folder)).unwrap();
    }
    refused(&root, 65, "holds no FrameNet release: expected frame/*.xml");
}

#[test]
fn what_is_no_release_makes_no_store() {
    let dir = tempfile::tempdir().unwrap();
    let store = dir.path().join("store");
    assert_eq!(import(&store, &mini_framenet().join("lu"), &[]).code, Some(65));
    assert!(!store.exists());
}

#[test]
fn a_truncated_zip_is_bad_data() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("mini.zip");
    zip_of_the_lexicon(&path);
    let length = std::fs::metadata(&path).unwrap().len();
    File::options().write(true).open(&path).unwrap().set_len(length / 2).unwrap();
    refused(&path, 65, "as a zip archive");
}

#[test]
fn a_zip_with_a_flipped_byte_is_bad_data() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("mini.zip");
    zip_of_the_lexicon(&path);
    let mut archive = zip::ZipArchive::new(File::open(&path).unwrap()).unwrap();
    let entry = archive.by_name("mini/lu/lu1003.xml").unwrap();
    let middle = entry.data_start().unwrap() + entry.compressed_size() / 2;
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[usize::try_from(middle).unwrap()] ^= 0xff;
    std::fs::write(&path, bytes).unwrap();
    refused(&path, 65, "`lu/lu1003.xml`");
}

#[test]
fn malformed_xml_is_bad_data_with_file_and_line() {
    let dir = tempfile::tempdir().unwrap();
    let root = copy_of_the_lexicon(dir.path());
    let file = root.join("lu/lu1003.xml");
    let text = std::fs::read_to_string(&file).unwrap();
    let line = text.lines().position(|line| line.contains("</header>")).unwrap() + 1;
    std::fs::write(&file, text.replace("</header>", "</heading>")).unwrap();
    refused(&root, 65, &format!("lu/lu1003.xml:{line}: malformed XML"));
}

#[test]
fn a_strict_import_ends_at_the_first_oddity() {
    let store = new_store();
    let ran = import(store.path(), &mini_framenet(), &["--release", "other", "--strict"]);
    assert_eq!(ran.code, Some(65));
    assert!(ran.stderr.contains("W-"), "{}", ran.stderr);
    assert!(ran.stderr.contains("\n\nhint: without `--strict`"), "{}", ran.stderr);
    assert_eq!(releases(store.path()).lines().count(), 1);
}

#[test]
fn a_report_that_cannot_be_written_fails_before_the_import() {
    let dir = tempfile::tempdir().unwrap();
    let store = dir.path().join("store");
    let ran = import(&store, &mini_framenet(), &["--report", "/no/such/folder/report.json"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("cannot write the report"), "{}", ran.stderr);
    assert!(!store.exists());
}

#[test]
fn a_first_import_that_fails_leaves_no_store_and_no_report() {
    let dir = tempfile::tempdir().unwrap();
    let (store, report) = (dir.path().join("store"), dir.path().join("report.json"));
    std::fs::write(&report, "of an earlier import").unwrap();
    let more = ["--strict", "--report", report.to_str().unwrap()];
    assert_eq!(import(&store, &mini_framenet(), &more).code, Some(65));
    // Others may wait for the lock: its file stays.
    assert_eq!(names_in(&store), ["writer.lock"]);
    let ran = fnstore_in(&store, &["query", "--count"]);
    assert!(ran.stderr.contains("(S-absent)"), "{ran:?}");
    assert_eq!(std::fs::read_to_string(&report).unwrap(), "of an earlier import");
    assert_eq!(names_in(dir.path()), ["report.json", "store"], "nothing is left beside it");
    // What lay in the directory before stays.
    std::fs::write(store.join("notes.txt"), "mine").unwrap();
    assert_eq!(import(&store, &mini_framenet(), &["--strict"]).code, Some(65));
    assert_eq!(names_in(&store), ["notes.txt", "writer.lock"]);
    assert_eq!(import(&store, &mini_framenet(), &more[1..]).code, Some(0));
    assert!(std::fs::read_to_string(&report).unwrap().contains("\"counts\""));
}

#[test]
fn a_release_without_a_name_is_refused() {
    let store = tempfile::tempdir().unwrap();
    let lines = store.path().join("spans.jsonl");
    std::fs::write(&lines, "{\"text\": \"a b\", \"spans\": []}\n").unwrap();
    for source in [mini_framenet(), lines] {
        for name in ["", " ", "two\nlines", "tab\there"] {
            let ran = import(&store.path().join("new"), &source, &["--release", name]);
            assert_eq!(ran.code, Some(2), "{}", ran.stderr);
            assert!(
                ran.stderr.contains("E-release-name: a release cannot be called `"),
                "{}",
                ran.stderr
            );
            assert!(ran.stderr.contains("`--release NAME` names the release"), "{}", ran.stderr);
            assert_eq!(names_in(&store.path().join("new")), ["writer.lock"], "no store is left");
        }
    }
}

#[test]
fn an_option_that_would_do_nothing_is_refused() {
    let store = new_store();
    let out = tempfile::tempdir().unwrap();
    let export = out.path().join("export.jsonl");
    let ran = fnstore_in(store.path(), &["export", "--to", "jsonl", export.to_str().unwrap()]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let spans = store.path().join("spans.jsonl");
    std::fs::write(&spans, "{\"text\": \"a b\", \"spans\": []}\n").unwrap();
    for (file, options, message) in [
        (&export, ["--language", "de"].as_slice(), "`--language` cannot be used with"),
        (&export, &["--strict"], "`--strict` is for FrameNet's XML"),
        (&spans, &["--strict"], "`--strict` is for FrameNet's XML"),
    ] {
        let ran = import(store.path(), file, &[&["--release", "other"], options].concat());
        assert_eq!(ran.code, Some(2), "{}", ran.stderr);
        assert!(ran.stderr.contains(message), "{}", ran.stderr);
    }
    let ran = import(store.path(), &spans, &["--release", "other", "--language", "de"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let listed = releases(store.path());
    assert!(listed.contains("\"language\":\"de\""), "{listed}");
}

#[test]
fn additions_without_their_base_are_bad_data_with_a_code() {
    let store = new_store();
    let script = store.path().join("edits.jsonl");
    std::fs::write(&script, "{\"op\": \"add-semtype\", \"name\": \"Alone\"}\n").unwrap();
    let ran = fnstore_in(store.path(), &["edit", script.to_str().unwrap()]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let out = tempfile::tempdir().unwrap();
    let export = out.path().join("user.jsonl");
    let arguments = ["export", "origin=user", "--to", "jsonl", export.to_str().unwrap()];
    let ran = fnstore_in(store.path(), &arguments);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let ran = import(&store.path().join("none"), &export, &[]);
    assert_eq!(ran.code, Some(65), "{}", ran.stderr);
    assert!(ran.stderr.contains("E-no-base: "), "{}", ran.stderr);
}

#[test]
fn an_option_of_another_command_is_hinted_at() {
    let typed = fnstore(&["import", "nothing.zip", "--as", "mine"]);
    assert_eq!(typed.code, Some(2));
    assert!(typed.stderr.contains("say `--release mine`"), "{}", typed.stderr);
    let file = tempfile::NamedTempFile::new().unwrap();
    let text = file.path().to_str().unwrap();
    let other = fnstore(&["annotate", text, "--into", "new", "--release", "mine"]);
    assert_eq!(other.code, Some(2));
    assert!(other.stderr.contains("`--as mine` names what is written"), "{}", other.stderr);
}
