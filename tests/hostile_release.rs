//! Releases made to harm: each is refused with its file and, in XML, its line, in bounded memory,
//! and the store stays as it was.
//!
//! The program runs under a limit on its memory, so that a bomb that goes off ends the test.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use crate::cli_program::{Ran, fnstore_in, mini_framenet, new_store};
use crate::{import_zip_equals_directory, mini};

/// Address space of the program, in KiB: RocksDB, the index's 48 MB and the threads' stacks need
/// some 700 MB of it.
const MEMORY: u32 = 1_500_000;

/// Address space that the allocator takes at a time, in KiB: a GiB by default, which it reserves
/// and does not use.
const RESERVE: &str = "65536";

fn import_with_little_memory(store: &Path, release: &Path) -> Ran {
    Ran::of(
        Command::new("sh")
            .args(["-c", &format!("ulimit -v {MEMORY} && exec \"$0\" \"$@\"")])
            .arg(env!("CARGO_BIN_EXE_fnstore"))
            .args(["import", "--release", "hostile"])
            .arg(release)
            .env("FNSTORE_DIR", store)
            .env("MIMALLOC_ARENA_RESERVE", RESERVE)
            .output()
            .unwrap(),
    )
}

/// Fails to import, as bad data with every one of these messages, into a store that stays as it is.
fn refused(release: &Path, messages: &[&str]) {
    let store = new_store();
    let state = |store: &Path| {
        let ran = fnstore_in(store, &["check", "--deep", "--format", "jsonl"]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        let mut record = ran.records().remove(0);
        // What is left of a refused import is invisible and swept by the next.
        record
            .as_object_mut()
            .unwrap()
            .retain(|name, _| !["rows", "unlisted_rows"].contains(&name.as_str()));
        (record, fnstore_in(store, &["query", "--count"]).stdout)
    };
    let before = state(store.path());
    let ran = import_with_little_memory(store.path(), release);
    assert_eq!(ran.code, Some(65), "{ran:?}");
    for message in messages {
        assert!(ran.stderr.contains(message), "{} has no `{message}`", ran.stderr);
    }
    assert!(ran.stderr.len() < 2000, "a message, not the file: {}", ran.stderr.len());
    assert_eq!(state(store.path()), before);
}

/// A copy of the mini lexicon, to be made hostile.
fn copy() -> (TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("release");
    mini::copy(&mini_framenet(), &root);
    (dir, root)
}

/// The mini lexicon with one of its LU files edited.
fn edited(edit: impl FnOnce(&str) -> Vec<u8>) -> (TempDir, PathBuf) {
    let (dir, root) = copy();
    let file = root.join("lu/lu1003.xml");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(file, edit(&text)).unwrap();
    (dir, root)
}

#[test]
fn the_memory_is_enough_for_a_release_that_is_none_of_this() {
    let dir = tempfile::tempdir().unwrap();
    let ran = import_with_little_memory(&dir.path().join("store"), &mini_framenet());
    assert_eq!(ran.code, Some(0), "{ran:?}");
}

#[test]
fn entities_are_not_expanded() {
    let bomb = "<!DOCTYPE lexUnit [<!ENTITY a \"aaaaaaaaaaaaaaaa\">\n\
                <!ENTITY b \"&a;&a;&a;&a;&a;&a;&a;&a;\"><!ENTITY c \"&b;&b;&b;&b;&b;&b;&b;&b;\">\n\
                <!ENTITY x SYSTEM \"file:///etc/passwd\">]>\n<lexUnit";
    for (place, entity) in [("<definition>", "&c;"), ("<definition>", "&x;")] {
        let (_dir, root) = edited(|text| {
            let text = text.replacen("<lexUnit", bomb, 1);
            text.replacen(place, &format!("{place}{entity}"), 1).into_bytes()
        });
        refused(&root, &["lu/lu1003.xml:", &format!("unknown entity `{entity}`")]);
    }
    let (_dir, root) = edited(|text| {
        text.replacen("<lexUnit", bomb, 1).replacen("name=\"", "name=\"&c;", 1).into_bytes()
    });
    refused(&root, &["lu/lu1003.xml:", "malformed XML"]);
}

#[test]
fn elements_nested_without_end_are_refused() {
    let (_dir, root) =
        edited(|text| text.replacen("</lexUnit>", &"<a>".repeat(5_000_000), 1).into_bytes());
    refused(&root, &["lu/lu1003.xml:", "nested more than 64 deep"]);
}

#[test]
fn a_huge_attribute_and_a_huge_file_are_refused() {
    let (_dir, root) = edited(|text| {
        let name = format!("name=\"{}", "x".repeat(8 << 20));
        text.replacen("name=\"", &name, 1).into_bytes()
    });
    refused(&root, &["lu/lu1003.xml:", "attribute `name` is longer than 65536 bytes"]);
    let (_dir, root) = edited(|text| [text.as_bytes(), &vec![b' '; 40 << 20]].concat());
    refused(&root, &["`lu/lu1003.xml` is larger than 32 MiB"]);
}

/// Imports into a store of its own, in little memory; gives what the report counts of a code.
fn counted(release: &Path, code: &str) -> u64 {
    let dir = tempfile::tempdir().unwrap();
    let ran = import_with_little_memory(&dir.path().join("store"), release);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let line = ran.stdout.lines().chain(ran.stderr.lines()).find(|line| line.contains(code));
    let line = line.unwrap_or_else(|| panic!("no {code} in {ran:?}"));
    let digits = line.split_whitespace().map(|word| word.replace(',', ""));
    digits.filter_map(|word| word.parse().ok()).next().unwrap()
}

#[test]
fn a_file_of_nothing_but_oddities_is_counted_in_little_memory() {
    let (_dir, root) = edited(|text| {
        text.replacen("</lexUnit>", &format!("{}</lexUnit>", "<a/>\n".repeat(2_000_000)), 1)
            .into_bytes()
    });
    assert_eq!(counted(&root, "W-unknown-element"), 2_000_000);
}

#[test]
fn an_element_with_millions_of_attributes_is_counted_in_little_memory() {
    let (_dir, root) = edited(|text| {
        let attributes: String =
            (0..2_000_000).map(|number| format!("a{number:x}=\"\" ")).collect();
        text.replacen("<subCorpus ", &format!("<subCorpus {attributes}"), 1).into_bytes()
    });
    assert_eq!(counted(&root, "W-unknown-attribute"), 2_000_000);
}

#[test]
fn an_attribute_that_stands_there_millions_of_times_is_counted_in_little_memory() {
    let (_dir, root) = edited(|text| {
        let attributes = "a=\"\" ".repeat(6_000_000);
        text.replacen("<subCorpus ", &format!("<subCorpus {attributes}"), 1).into_bytes()
    });
    assert_eq!(counted(&root, "W-attribute-repeated"), 5_999_999);
}

#[test]
fn a_file_of_more_elements_than_any_that_is_read_is_refused_with_its_line() {
    let (_dir, root) = copy();
    let file = root.join("frame/Roaming.xml");
    let text = fs::read_to_string(&file).unwrap();
    let many = format!("{}</frame>", "<FE/>".repeat(1 << 16));
    fs::write(&file, text.replacen("</frame>", &many, 1)).unwrap();
    refused(&root, &["frame/Roaming.xml:", ": more than 1048576 elements"]);
}

#[test]
fn bytes_that_are_no_utf_8_are_refused_with_their_line() {
    let (_dir, root) = edited(|text| {
        let at = text.find("</header>").unwrap();
        [&text.as_bytes()[..at], b"\xc3\x28", &text.as_bytes()[at..]].concat()
    });
    refused(&root, &["lu/lu1003.xml:", "not UTF-8"]);
    let (_dir, root) = edited(|text| text.replacen("UTF-8", "ISO-8859-1", 1).into_bytes());
    refused(&root, &["lu/lu1003.xml:1:", "declared to be in `ISO-8859-1`, expected UTF-8"]);
    let (_dir, root) = edited(|text| {
        [0xff, 0xfe].into_iter().chain(text.bytes().flat_map(|byte| [byte, 0])).collect()
    });
    refused(&root, &["lu/lu1003.xml:1:", "UTF-16, expected UTF-8"]);
}

/// A zip of the mini lexicon with one more file.
fn zipped(name: &str, content: &[u8]) -> (TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("mini.zip");
    import_zip_equals_directory::zip(&mini_framenet(), &path, "mini/");
    let file = File::options().read(true).write(true).open(&path).unwrap();
    let mut zip = ZipWriter::new_append(file).unwrap();
    zip.start_file(name, SimpleFileOptions::default()).unwrap();
    for piece in content.chunks(1 << 20) {
        zip.write_all(piece).unwrap();
    }
    zip.finish().unwrap();
    (dir, path)
}

/// Where the archive's directory describes its last file, from its signature on.
fn last_entry(archive: &[u8]) -> usize {
    archive.windows(4).rposition(|bytes| bytes == b"PK\x01\x02").unwrap()
}

#[test]
fn an_archive_that_swells_is_refused() {
    let blank = vec![b' '; 300 << 20];
    let (_dir, path) = zipped("mini/lu/lu9999.xml", &blank);
    assert!(fs::metadata(&path).unwrap().len() < 1 << 20, "it is small");
    refused(&path, &["`lu/lu9999.xml` is larger than 32 MiB"]);
    // The same, declared to be small.
    let mut archive = fs::read(&path).unwrap();
    let size = last_entry(&archive) + 24;
    archive[size..size + 4].copy_from_slice(&[0, 4, 0, 0]);
    fs::write(&path, archive).unwrap();
    refused(&path, &["`lu/lu9999.xml`: File is larger than its declared"]);
}

#[test]
fn names_that_lead_out_of_the_archive_are_refused() {
    for name in ["../evil.xml", "mini/lu/../../../evil.xml", "/etc/evil.xml", "C:\\evil.xml"] {
        let (dir, path) = zipped(name, b"<a/>");
        refused(&path, &["leads out of the archive"]);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "nothing was unpacked");
    }
}

#[test]
fn an_archive_with_two_files_of_one_name_is_refused() {
    let (_dir, path) = zipped("mini/lu/lu1004.xmk", b"<a/>");
    let mut archive = fs::read(&path).unwrap();
    while let Some(at) = archive.windows(4).position(|bytes| bytes == b".xmk") {
        archive[at..at + 4].copy_from_slice(b".xml");
    }
    fs::write(&path, archive).unwrap();
    refused(&path, &["two of its files have one name"]);
}

#[test]
fn a_link_in_an_archive_is_refused() {
    let (_dir, path) = zipped("mini/readme", b"x");
    let file = File::options().read(true).write(true).open(&path).unwrap();
    let mut zip = ZipWriter::new_append(file).unwrap();
    zip.add_symlink("mini/lu/lu9999.xml", "/etc/passwd", SimpleFileOptions::default()).unwrap();
    zip.finish().unwrap();
    refused(&path, &["`mini/lu/lu9999.xml` is a link"]);
}

#[test]
fn an_archive_cut_short_anywhere_is_refused() {
    let (_dir, path) = zipped("mini/lu/lu9999.txt", b"x");
    let archive = fs::read(&path).unwrap();
    for part in [1, 3, 9] {
        fs::write(&path, &archive[..archive.len() * part / 10]).unwrap();
        refused(&path, &["as a zip archive"]);
    }
}

#[cfg(unix)]
#[test]
fn a_link_out_of_a_directory_is_refused_and_one_inside_is_not() {
    use std::os::unix::fs::symlink;

    let (dir, root) = copy();
    let moved = root.join("lu/lu1003.xml");
    fs::rename(&moved, root.join("elsewhere.xml")).unwrap();
    symlink(root.join("elsewhere.xml"), &moved).unwrap();
    // The release itself may be named by a link.
    let alias = dir.path().join("alias");
    symlink(&root, &alias).unwrap();
    let ran = import_with_little_memory(&dir.path().join("store"), &alias);
    assert_eq!(ran.code, Some(0), "{ran:?}");

    for target in ["/etc/passwd", "/proc/self/environ", "../../../../../../../../etc/passwd"] {
        let link = root.join("lu/lu9999.xml");
        symlink(target, &link).unwrap();
        refused(&root, &["lu/lu9999.xml` is a link that leads out of the release, to `/"]);
        fs::remove_file(link).unwrap();
    }
    symlink("/etc", root.join("fulltext/etc")).unwrap();
    refused(&root, &["fulltext/etc` is a link that leads out of the release, to `/etc`"]);
}
