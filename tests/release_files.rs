//! Files as they come: with an operating system's litter, with names of another system, through a
//! pipe, with something after their end.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use fnstore::database::Database;
use fnstore::framenet::WarningCode;
use fnstore::transfer::ImportReport;
use tempfile::TempDir;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use crate::cli_program::{Ran, fnstore_in, mini_framenet};
use crate::{framenet_round_trip, import_zip_equals_directory, mini};

/// A copy of the mini lexicon.
fn copy() -> (TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let release = dir.path().join("mini-framenet");
    mini::copy(&mini::framenet(), &release);
    (dir, release)
}

/// Imports a release that holds the mini lexicon and no more; gives the number and first file of a
/// code.
fn same_as_mini(release: &Path, code: WarningCode) -> (u64, String) {
    let store = tempfile::tempdir().unwrap();
    let database = Database::open_writer(store.path()).unwrap();
    let report = mini::import(&database, release).unwrap();
    let (_mini_store, expected, of_mini) = mini::imported();
    assert_eq!(mini::content(&database), mini::content(&expected));
    let (_, count, examples) = report.warnings.iter().find(|(found, ..)| *found == code).unwrap();
    let own = if code.is_trait() { 0 } else { count };
    assert_eq!(report.warnings.faults(), of_mini.warnings.faults() + own);
    (count, examples[0].file.clone())
}

#[test]
fn litter_in_a_directory_is_passed_over_and_counted() {
    let (_dir, release) = copy();
    fs::write(release.join("lu/._lu1001.xml"), b"\0\x05\x16\x07").unwrap();
    fs::write(release.join("lu/.#lu1001.xml"), "").unwrap();
    fs::write(release.join(".DS_Store"), b"\0\0\0\x01Bud1").unwrap();
    fs::create_dir_all(release.join("__MACOSX/lu")).unwrap();
    fs::write(release.join("__MACOSX/lu/._lu1001.xml"), "").unwrap();
    let (count, first) = same_as_mini(&release, WarningCode::Litter);
    // A folder of litter counts once.
    assert_eq!((count, first.as_str()), (4, ".DS_Store"));
}

#[test]
fn litter_in_an_archive_is_passed_over_and_counted() {
    let (dir, release) = copy();
    let path = dir.path().join("mini-framenet.zip");
    import_zip_equals_directory::zip(&release, &path, "mini/");
    let file = File::options().read(true).write(true).open(&path).unwrap();
    let mut zip = ZipWriter::new_append(file).unwrap();
    for name in ["__MACOSX/mini/._frameIndex.xml", "mini/lu/._lu1001.xml", "mini/.DS_Store"] {
        zip.start_file(name, SimpleFileOptions::default()).unwrap();
        zip.write_all(b"\0\x05\x16\x07").unwrap();
    }
    zip.finish().unwrap();
    let (count, first) = same_as_mini(&path, WarningCode::Litter);
    assert_eq!((count, first.as_str()), (3, "__MACOSX/mini/._frameIndex.xml"));
}

#[test]
fn xml_that_is_no_part_of_a_release_is_counted() {
    let (_dir, release) = copy();
    fs::create_dir(release.join("miscXML")).unwrap();
    fs::write(release.join("miscXML/differences.xml"), "<differences/>").unwrap();
    fs::write(release.join("docs.txt"), "no XML").unwrap();
    let (count, first) = same_as_mini(&release, WarningCode::FileNotRead);
    assert_eq!((count, first.as_str()), (1, "miscXML/differences.xml"));
}

/// A zip of a directory with `\` between the parts of names, as some programs on Windows write it.
fn zip_of_windows(release: &Path, path: &Path) {
    let mut zip = ZipWriter::new(File::create(path).unwrap());
    for folder in ["", "frame", "lu", "fulltext"] {
        for entry in fs::read_dir(release.join(folder)).unwrap() {
            let file = entry.unwrap().path();
            if file.is_file() {
                let name = Path::new("mini").join(file.strip_prefix(release).unwrap());
                let name = name.to_str().unwrap().replace('/', "\\");
                zip.start_file(name, SimpleFileOptions::default()).unwrap();
                zip.write_all(&fs::read(&file).unwrap()).unwrap();
            }
        }
    }
    zip.finish().unwrap();
}

#[test]
fn names_with_backslashes_are_read_from_an_archive_and_from_a_directory() {
    let (dir, release) = copy();
    let path = dir.path().join("mini-framenet.zip");
    zip_of_windows(&release, &path);
    let (_store, expected, of_mini) = mini::imported();
    // Unpacked by a program that takes the names as they are.
    let flat = dir.path().join("flat/mini-framenet");
    fs::create_dir_all(&flat).unwrap();
    for folder in ["", "frame", "lu", "fulltext"] {
        for entry in fs::read_dir(release.join(folder)).unwrap() {
            let file = entry.unwrap().path();
            if file.is_file() {
                let name = file.strip_prefix(&release).unwrap().to_str().unwrap();
                fs::copy(&file, flat.join(name.replace('/', "\\"))).unwrap();
            }
        }
    }
    for release in [&path, &flat] {
        let store = tempfile::tempdir().unwrap();
        let database = Database::open_writer(store.path()).unwrap();
        let report = mini::import(&database, release).unwrap();
        assert_eq!(mini::content(&database), mini::content(&expected), "{}", release.display());
        assert_eq!(report.warnings.total(), of_mini.warnings.total());
    }
}

#[test]
fn two_names_that_differ_in_their_slashes_are_one_name() {
    let (dir, release) = copy();
    let path = dir.path().join("mini-framenet.zip");
    import_zip_equals_directory::zip(&release, &path, "");
    let file = File::options().read(true).write(true).open(&path).unwrap();
    let mut zip = ZipWriter::new_append(file).unwrap();
    zip.start_file("lu\\lu1001.xml", SimpleFileOptions::default()).unwrap();
    zip.finish().unwrap();
    let ran = fnstore_in(&dir.path().join("store"), &["import", path.to_str().unwrap()]);
    assert_eq!(ran.code, Some(65), "{ran:?}");
    assert!(ran.stderr.contains("two of its files have one name"), "{}", ran.stderr);
}

#[cfg(unix)]
#[test]
fn a_link_that_leads_nowhere_is_a_warning() {
    let (_dir, release) = copy();
    std::os::unix::fs::symlink("gone.xml", release.join("lu/lu9.xml")).unwrap();
    std::os::unix::fs::symlink("lu8.xml", release.join("lu/lu8.xml")).unwrap();
    let (count, first) = same_as_mini(&release, WarningCode::LinkDangling);
    assert_eq!((count, first.as_str()), (2, "lu/lu8.xml"));
}

#[test]
fn what_follows_a_root_element_is_a_warning_that_names_it() {
    for (rest, detail) in [
        (
            "\n<frame name=\"Baking\" ID=\"9\"><definition/></frame>\n",
            "element `frame` (ID `9`, name `Baking`) after the root element; not read",
        ),
        ("\nEOF\n", "text `EOF` (5 bytes) after the root element; not read"),
    ] {
        let (_dir, release) = copy();
        let file = release.join("frame/Roaming.xml");
        let content = fs::read_to_string(&file).unwrap();
        fs::write(&file, content.trim_end().to_owned() + rest).unwrap();
        let store = tempfile::tempdir().unwrap();
        let database = Database::open_writer(store.path()).unwrap();
        let report = mini::import(&database, &release).unwrap();
        let found = report.warnings.iter().find(|(code, ..)| *code == WarningCode::OutsideRoot);
        let (_, count, examples) = found.unwrap();
        let example = (count, examples[0].file.as_str(), examples[0].detail.as_str());
        assert_eq!(example, (1, "frame/Roaming.xml", detail));
        assert!(examples[0].line > 1, "{}", examples[0]);
    }
}

#[test]
fn a_second_root_element_in_any_kind_of_file_is_said() {
    let files = [
        "frameIndex.xml",
        "luIndex.xml",
        "fulltextIndex.xml",
        "semTypes.xml",
        "frRelation.xml",
        "lu/lu1001.xml",
        "fulltext/MINI__BikeRide.xml",
    ];
    let (dir, release) = copy();
    for name in files {
        let mut file = File::options().append(true).open(release.join(name)).unwrap();
        file.write_all(b"\n<again/>").unwrap();
    }
    let database = Database::open_writer(&dir.path().join("store")).unwrap();
    let report = mini::import(&database, &release).unwrap();
    let found = report.warnings.iter().find(|(code, ..)| *code == WarningCode::OutsideRoot);
    let (_, _, examples) = found.unwrap();
    let mut said: Vec<&str> = examples.iter().map(|example| example.file.as_str()).collect();
    said.sort_unstable();
    let mut expected = files.to_vec();
    expected.sort_unstable();
    assert_eq!(said, expected);
}

#[test]
fn a_second_end_of_the_root_element_is_malformed() {
    let (dir, release) = copy();
    let mut file = File::options().append(true).open(release.join("frame/Roaming.xml")).unwrap();
    file.write_all(b"\n</frame>").unwrap();
    let store = dir.path().join("store");
    let ran = fnstore_in(&store, &["import", release.to_str().unwrap()]);
    assert_eq!(ran.code, Some(65), "{ran:?}");
    assert!(ran.stderr.contains("frame/Roaming.xml:"), "{}", ran.stderr);
    assert!(!store.join("db").exists());
}

#[test]
fn extensions_may_be_written_large() {
    let (_dir, release) = copy();
    for folder in ["", "frame", "lu", "fulltext"] {
        for entry in fs::read_dir(release.join(folder)).unwrap() {
            let file = entry.unwrap().path();
            if file.extension().is_some_and(|extension| extension == "xml") {
                fs::rename(&file, file.with_extension("XML")).unwrap();
            }
        }
    }
    let (_store, expected, _) = mini::imported();
    let store = tempfile::tempdir().unwrap();
    let database = Database::open_writer(store.path()).unwrap();
    let report = mini::import(&database, &release).unwrap();
    assert_eq!(mini::content(&database), mini::content(&expected));
    let said = report.warnings.iter().find(|(code, ..)| *code == WarningCode::WrittenOtherwise);
    assert!(said.is_some_and(|(_, _, examples)| {
        examples.iter().any(|example| example.detail == "an export calls the file `lu1001.xml`")
    }));
}

/// The files and details of a code.
fn said(report: &ImportReport, code: WarningCode) -> Vec<(String, String)> {
    let found = report.warnings.iter().filter(|(found, ..)| *found == code);
    let examples = found.flat_map(|(_, _, examples)| examples);
    examples.map(|example| (example.file.clone(), example.detail.clone())).collect()
}

#[cfg(unix)]
#[test]
fn what_is_called_like_a_file_and_is_none_is_said_and_nothing_waits_for_it() {
    let (dir, release) = copy();
    let made = Command::new("mkfifo").arg(release.join("lu/lu9.xml")).status().unwrap();
    assert!(made.success());
    fs::create_dir(release.join("lu/lu8.xml")).unwrap();
    // A folder with `\` in its name, as an archive of Windows leaves it.
    fs::create_dir(release.join("frame\\more")).unwrap();
    fs::write(release.join("frame\\more/a.txt"), "").unwrap();
    fs::create_dir_all(release.join("a/b/c")).unwrap();
    let database = Database::open_writer(&dir.path().join("store")).unwrap();
    let report = mini::import(&database, &release).unwrap();
    let named = |file: &str, detail: &str| (file.to_owned(), detail.to_owned());
    let expected = [
        named("a/b/c", "a folder further down than any of a release; not looked into"),
        named("lu/lu8.xml", "called like a file of a release, and a folder; not read"),
        named(
            "lu/lu9.xml",
            "called like a file of a release, and neither a file nor a folder; not read",
        ),
    ];
    assert_eq!(said(&report, WarningCode::FileNotRead), expected);
}

#[test]
fn a_folder_of_an_archive_with_a_backslash_is_a_folder() {
    let (dir, release) = copy();
    let path = dir.path().join("mini-framenet.zip");
    zip_of_windows(&release, &path);
    let file = File::options().read(true).write(true).open(&path).unwrap();
    let mut zip = ZipWriter::new_append(file).unwrap();
    for name in ["mini\\frame\\", "mini\\lu\\lu8.xml\\"] {
        zip.add_directory(name, SimpleFileOptions::default()).unwrap();
    }
    zip.finish().unwrap();
    let (_store, expected, _) = mini::imported();
    let database = Database::open_writer(&dir.path().join("store")).unwrap();
    let report = mini::import(&database, &path).unwrap();
    assert_eq!(mini::content(&database), mini::content(&expected));
    let said = said(&report, WarningCode::FileNotRead);
    assert_eq!(said.len(), 1, "{said:?}");
    assert_eq!(said[0].0, "mini/lu/lu8.xml");
}

#[cfg(target_os = "linux")]
#[test]
fn names_that_are_not_utf_8_are_told_apart() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let (dir, release) = copy();
    let content = fs::read_to_string(release.join("fulltext/MINI__BikeRide.xml")).unwrap();
    for (name, id) in [(&b"a\xff.xml"[..], "901"), (&b"a\xfe.xml"[..], "902")] {
        let path = release.join("fulltext").join(OsStr::from_bytes(name));
        fs::write(path, content.replace("\"402\"", &format!("\"{id}\""))).unwrap();
    }
    let database = Database::open_writer(&dir.path().join("store")).unwrap();
    mini::import(&database, &release).unwrap();
    let lexicon = database.lexicons().unwrap().remove(0);
    let files: Vec<String> = lexicon.documents().unwrap().map(|row| row.unwrap().file).collect();
    for file in ["a%FF", "a%FE"] {
        assert!(files.iter().any(|found| found == file), "{files:?}");
    }
}

#[test]
fn a_full_text_without_a_corpus_or_a_document_is_called_after_its_file() {
    for header in ["<header/>", "", "<header><corpus name=\"MINI\" ID=\"301\"/></header>"] {
        let (dir, release) = copy();
        let file = release.join("fulltext/MINI__BikeRide.xml");
        let content = fs::read_to_string(&file).unwrap();
        let (start, end) = (content.find("<header>").unwrap(), content.find("</header>").unwrap());
        let whole = content[start..end].to_owned() + "</header>";
        fs::write(&file, content.replace(&whole, header)).unwrap();
        let database = Database::open_writer(&dir.path().join("store")).unwrap();
        let report = mini::import(&database, &release).unwrap();
        let said = said(&report, WarningCode::HeaderMissing);
        assert_eq!(
            (said.len(), said[0].0.as_str()),
            (1, "fulltext/MINI__BikeRide.xml"),
            "{header}"
        );
        assert!(said[0].1.ends_with("is called `MINI__BikeRide`, after the file"), "{said:?}");
        assert_eq!(mini::answers(&database, "doc=MINI__BikeRide").len(), 2, "{header}");
        let out = dir.path().join("out/mini-framenet");
        fs::create_dir(dir.path().join("out")).unwrap();
        framenet_round_trip::export(&database, "", &out).unwrap().unwrap();
        let second = Database::open_writer(&dir.path().join("second")).unwrap();
        mini::import(&second, &out).unwrap();
        framenet_round_trip::assert_equal(&database, &second);
    }
}

#[test]
fn a_set_that_names_its_frame_and_gives_no_number_evokes_the_frame_of_that_name() {
    let (dir, release) = copy();
    let file = release.join("fulltext/MINI__BikeRide.xml");
    let content = fs::read_to_string(&file).unwrap();
    assert!(content.contains("frameID=\"104\" "));
    fs::write(&file, content.replace("frameID=\"104\" ", "")).unwrap();
    let database = Database::open_writer(&dir.path().join("store")).unwrap();
    let report = mini::import(&database, &release).unwrap();
    assert_eq!(said(&report, WarningCode::IdWritten).len(), 1);
    let (_store, expected, of_mini) = mini::imported();
    let missing = |report: &ImportReport| report.warnings.count(WarningCode::FrameMissing);
    assert_eq!(missing(&report), missing(&of_mini));
    for query in ["frame=Roaming", "lu=cycle.v"] {
        assert_eq!(mini::answers(&database, query), mini::answers(&expected, query));
    }
}

/// Runs a shell command with the program as `$0`.
fn shell(store: &Path, command: &str, arguments: &[&Path]) -> Ran {
    Ran::of(
        Command::new("bash")
            .args(["-c", command])
            .arg(env!("CARGO_BIN_EXE_fnstore"))
            .args(arguments)
            .env("FNSTORE_DIR", store)
            .stdin(Stdio::null())
            .output()
            .unwrap(),
    )
}

/// The mini lexicon as a zip file whose folder has a name.
fn zipped(dir: &Path, folder: &str) -> PathBuf {
    let path = dir.join("some.zip");
    import_zip_equals_directory::zip(&mini_framenet(), &path, folder);
    path
}

#[test]
fn a_zip_file_comes_in_through_standard_input_and_through_a_pipe() {
    let dir = tempfile::tempdir().unwrap();
    let path = zipped(dir.path(), "fndata-0.1/");
    for (number, (command, source)) in [
        ("cat \"$1\" | \"$0\" import -", "-"),
        ("\"$0\" import - < \"$1\"", "-"),
        ("\"$0\" import <(cat \"$1\")", "/dev/fd/"),
    ]
    .into_iter()
    .enumerate()
    {
        let store = dir.path().join(number.to_string());
        let ran = shell(&store, command, &[&path]);
        assert_eq!(ran.code, Some(0), "{command}: {ran:?}");
        let releases = fnstore_in(&store, &["releases", "--format", "jsonl"]).records();
        assert_eq!(releases[0]["name"], "bfn-0.1", "{command}");
        assert!(releases[0]["source"].as_str().unwrap().starts_with(source), "{releases:?}");
        assert_eq!(fnstore_in(&store, &["query", "--count"]).stdout.trim(), "42");
    }
}

#[test]
fn what_comes_through_a_pipe_without_a_name_asks_for_one() {
    let dir = tempfile::tempdir().unwrap();
    let path = zipped(dir.path(), "");
    let store = dir.path().join("store");
    let ran = shell(&store, "\"$0\" import - < \"$1\"", &[&path]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    let message = "E-release-name: `-` gives the release no name; give it one";
    assert!(ran.stderr.contains(message), "{}", ran.stderr);
    assert!(ran.stderr.contains("`--release NAME` names the release"), "{}", ran.stderr);
    let ran = shell(&store, "\"$0\" import - --release own < \"$1\"", &[&path]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
}

#[test]
fn json_lines_come_in_through_a_pipe() {
    let dir = tempfile::tempdir().unwrap();
    let first = dir.path().join("first");
    fnstore_in(&first, &["import", mini_framenet().to_str().unwrap()]);
    let command = "FNSTORE_DIR=\"$1\" \"$0\" export --to jsonl | \"$0\" import -";
    let second = dir.path().join("second");
    let ran = shell(&second, command, &[&first]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(fnstore_in(&second, &["query", "--count"]).stdout.trim(), "42");
}

#[test]
fn nothing_and_nonsense_through_a_pipe_are_errors_and_make_no_store() {
    let dir = tempfile::tempdir().unwrap();
    let store = dir.path().join("store");
    for (command, code, message) in [
        ("\"$0\" import - < /dev/null", 2, "is empty; expected a release's zip file or JSON lines"),
        ("echo nonsense | \"$0\" import -", 65, "holds no FrameNet release: expected a zip file"),
        ("\"$0\" import /dev/null", 2, "`/dev/null` is empty"),
    ] {
        let ran = shell(&store, command, &[]);
        assert_eq!(ran.code, Some(code), "{command}: {ran:?}");
        assert!(ran.stderr.contains(message), "{command}: {}", ran.stderr);
        assert!(!store.exists(), "{command}");
    }
}
