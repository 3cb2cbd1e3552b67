//! An import that fails, or never ends, leaves the database as it was.

use std::io::Write;
use std::path::Path;

use fnstore::database::{Database, DatabaseError, ImportOptions};
use fnstore::framenet::FramenetError;
use fnstore::model::{LuId, ReleaseId, Sentence};

use crate::mini::{answers, copy, database, import, lexicon, records};

fn broken(dir: &Path, file: &str, content: &str) {
    copy(&lexicon(), dir);
    std::fs::write(dir.join(file), content).unwrap();
}

#[test]
fn a_malformed_file_is_named_with_its_line_and_nothing_stays() {
    let dir = tempfile::tempdir().unwrap();
    let (database, report) = database(dir.path());
    let before = records(&database, report.release.id);
    let other = tempfile::tempdir().unwrap();
    broken(&other.path().join("late"), "fulltext/MINI__BikeRide.xml", "<fullTextAnnotation>\n<sen");
    let error = import(&database, &other.path().join("late")).unwrap_err();
    let DatabaseError::Framenet(FramenetError::Xml { file, line, .. }) = &error else {
        panic!("{error}")
    };
    assert_eq!((file.as_str(), *line), ("fulltext/MINI__BikeRide.xml", 2));
    assert_eq!(database.releases().unwrap().len(), 1);
    assert_eq!(records(&database, report.release.id), before);
    assert_eq!(answers(&database, "").len(), 42);
    assert_eq!(
        answers(&database, "trigger=checked").len(),
        answers(&database, "trigger~^checked$").len()
    );
}

#[test]
fn a_wrong_number_is_named_with_its_element() {
    let dir = tempfile::tempdir().unwrap();
    let database = Database::open_writer(&dir.path().join("store")).unwrap();
    let release = dir.path().join("odd");
    broken(&release, "semTypes.xml", "<semTypes>\n<semType ID=\"seven\" name=\"x\"/></semTypes>");
    let message = import(&database, &release).unwrap_err().to_string();
    assert_eq!(message, "semTypes.xml:2: ID of `semType` is `seven`, expected a whole number");
    assert!(database.releases().unwrap().is_empty());
}

#[test]
fn strict_makes_the_first_warning_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let database = Database::open_writer(dir.path()).unwrap();
    let options = ImportOptions { strict: true, ..ImportOptions::default() };
    let error = database.import(&lexicon(), &options, &mut |_| {}).unwrap_err();
    assert!(matches!(error, DatabaseError::Framenet(FramenetError::Strict(_))), "{error}");
    assert!(database.releases().unwrap().is_empty());
}

#[test]
fn what_an_import_that_never_ended_wrote_is_invisible_and_then_removed() {
    let dir = tempfile::tempdir().unwrap();
    {
        let database = Database::open_writer(dir.path()).unwrap();
        let store = database.store();
        let release = store.begin_release().unwrap();
        let mut batch = store.batch(release);
        let stray = 9_999;
        batch
            .put_sentence(&Sentence {
                id: fnstore::model::SentenceId::new(fnstore::model::IdSpace::Exemplar, stray),
                xml_id: Some(stray),
                text: "left behind".to_owned(),
                occurrences: Vec::new(),
            })
            .unwrap();
        store.write_unlisted(batch).unwrap();
        // The process ends here.
    }
    let database = Database::open_writer(dir.path()).unwrap();
    assert!(database.releases().unwrap().is_empty());
    assert!(answers(&database, "").is_empty());
    let report = import(&database, &lexicon()).unwrap();
    let texts = database.store().sentences(report.release.id).unwrap();
    assert!(texts.map(Result::unwrap).all(|sentence| sentence.text != "left behind"));
}

#[test]
fn a_release_is_imported_once_under_a_name_and_again_under_another() {
    let dir = tempfile::tempdir().unwrap();
    let (database, first) = database(dir.path());
    let error = import(&database, &lexicon()).unwrap_err();
    assert!(matches!(&error, DatabaseError::ReleaseExists { name, .. } if name == "mini-framenet"));
    let options = ImportOptions { release: Some("other".to_owned()), ..ImportOptions::default() };
    let second = database.import(&lexicon(), &options, &mut |_| {}).unwrap().release;
    assert_eq!((first.release.id, second.id), (ReleaseId(1), ReleaseId(2)));
    assert_eq!(
        records(&database, ReleaseId(1)),
        records(&database, ReleaseId(2)),
        "ids are stable"
    );
    assert_eq!(answers(&database, "release=other").len(), 42);
    assert_eq!(answers(&database, "").len(), 84);
}

#[test]
fn a_zip_file_and_a_directory_give_the_same_records() {
    let dir = tempfile::tempdir().unwrap();
    let archive = dir.path().join("mini-framenet.zip");
    let mut writer = zip::ZipWriter::new(std::fs::File::create(&archive).unwrap());
    let mut waiting = vec![lexicon()];
    while let Some(folder) = waiting.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                waiting.push(path);
                continue;
            }
            let below = path.strip_prefix(lexicon()).unwrap().to_str().unwrap().to_owned();
            let options = zip::write::SimpleFileOptions::default();
            writer.start_file(format!("fndata/{below}"), options).unwrap();
            writer.write_all(&std::fs::read(&path).unwrap()).unwrap();
        }
    }
    writer.finish().unwrap();

    let (from_directory, one) = database(&dir.path().join("a"));
    let from_zip = Database::open_writer(&dir.path().join("b")).unwrap();
    let two = import(&from_zip, &archive).unwrap();
    assert_eq!(records(&from_zip, two.release.id), records(&from_directory, one.release.id));
    assert_eq!(two.release.counts, one.release.counts);

    let whole = std::fs::read(&archive).unwrap();
    std::fs::write(&archive, &whole[..whole.len() / 2]).unwrap();
    let error = import(&from_zip, &archive).unwrap_err();
    assert!(matches!(error, DatabaseError::Framenet(FramenetError::Archive { .. })), "{error}");
}

#[test]
fn what_is_no_release_is_said_to_be_none() {
    let dir = tempfile::tempdir().unwrap();
    let database = Database::open_writer(&dir.path().join("store")).unwrap();
    let error = import(&database, &dir.path().join("nowhere")).unwrap_err();
    assert!(matches!(error, DatabaseError::Framenet(FramenetError::Io { .. })), "{error}");
    let error = import(&database, dir.path()).unwrap_err();
    assert!(error.to_string().contains("expected `frameIndex.xml`"), "{error}");
    assert!(
        database
            .store()
            .lexunit(ReleaseId(1), fnstore::model::FrameId(1), LuId(1))
            .unwrap()
            .is_none()
    );
}
