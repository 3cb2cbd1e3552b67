//! A release reads the same from a zip file and from a directory, and the same every time.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

use fnstore::database::Database;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use crate::mini;

/// Packs a directory; every name gets a prefix, as a release's folder in its archive.
pub(crate) fn zip(directory: &Path, archive: &Path, prefix: &str) {
    let mut writer = ZipWriter::new(File::create(archive).unwrap());
    add(&mut writer, directory, prefix);
    writer.finish().unwrap();
}

fn add(writer: &mut ZipWriter<File>, directory: &Path, prefix: &str) {
    for entry in fs::read_dir(directory).unwrap() {
        let entry = entry.unwrap();
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.path().is_dir() {
            add(writer, &entry.path(), &format!("{name}/"));
        } else {
            writer.start_file(name, SimpleFileOptions::default()).unwrap();
            writer.write_all(&fs::read(entry.path()).unwrap()).unwrap();
        }
    }
}

#[test]
fn a_zip_file_gives_the_same_records_as_its_directory() {
    let (_dir, from_directory, report) = mini::imported();
    for prefix in ["", "mini/", "outer/mini/"] {
        let dir = tempfile::tempdir().unwrap();
        let archive = dir.path().join("mini-framenet.zip");
        zip(&mini::framenet(), &archive, prefix);
        let from_zip = Database::open_writer(&dir.path().join("store")).unwrap();
        let zipped = mini::import(&from_zip, &archive).unwrap();
        assert_eq!(zipped.release.name, "mini-framenet");
        assert_eq!(zipped.release.source_bytes, report.release.source_bytes);
        assert_eq!(mini::content(&from_zip), mini::content(&from_directory), "prefix `{prefix}`");
        assert_eq!(zipped.warnings.total(), report.warnings.total());
    }
}

#[test]
fn a_directory_around_the_release_may_be_given_too() {
    let (_dir, expected, _) = mini::imported();
    let dir = tempfile::tempdir().unwrap();
    mini::copy(&mini::framenet(), &dir.path().join("outer/mini-framenet"));
    let database = Database::open_writer(&dir.path().join("store")).unwrap();
    let outer = fnstore::transfer::ImportOptions {
        release: Some("mini-framenet".to_owned()),
        ..Default::default()
    };
    database.import(&dir.path().join("outer"), &outer, &mut |_| {}).unwrap();
    assert_eq!(mini::content(&database), mini::content(&expected));
}

#[test]
fn two_imports_give_the_same_ids_records_and_warnings() {
    let (_first_dir, first, first_report) = mini::imported();
    let (_second_dir, second, second_report) = mini::imported();
    assert_eq!(mini::content(&first), mini::content(&second));
    let warnings = |report: &fnstore::transfer::ImportReport| -> Vec<String> {
        let examples = report.warnings.iter().flat_map(|(.., examples)| examples);
        examples.map(ToString::to_string).collect()
    };
    assert_eq!(warnings(&first_report), warnings(&second_report));
}
