//! A release that seems to be in another language than English asks for its language.

use std::fs;
use std::path::{Path, PathBuf};

use fnstore::database::Database;
use fnstore::framenet::WarningCode;
use fnstore::transfer::{ImportOptions, ImportReport};
use tempfile::TempDir;

use crate::mini;

/// A copy of the mini lexicon under a name.
fn copy(name: &str) -> (TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let release = dir.path().join(name);
    mini::copy(&mini::framenet(), &release);
    (dir, release)
}

fn import(release: &Path, language: Option<&str>) -> ImportReport {
    let store = tempfile::tempdir().unwrap();
    let database = Database::open_writer(store.path()).unwrap();
    let language = language.map(str::to_owned);
    let options = ImportOptions { language, ..ImportOptions::default() };
    database.import(release, &options, &mut |_| {}).unwrap()
}

/// File and detail of the warning, when there is one.
fn asked(report: &ImportReport) -> Option<(String, String)> {
    let found = report.warnings.iter().find(|(code, ..)| *code == WarningCode::LanguageGuessed);
    let (_, count, examples) = found?;
    assert_eq!(count, 1);
    Some((examples[0].file.clone(), examples[0].detail.clone()))
}

fn replace(release: &Path, file: &str, from: &str, to: &str) {
    let path = release.join(file);
    let content = fs::read_to_string(&path).unwrap();
    assert!(content.contains(from), "{file} lacks {from}");
    fs::write(path, content.replace(from, to)).unwrap();
}

#[test]
fn english_is_not_asked_about() {
    let (_dir, release) = copy("fndata-1.6");
    let report = import(&release, None);
    assert_eq!((asked(&report), report.release.language.as_str()), (None, "en"));
}

#[test]
fn a_name_of_a_project_asks_for_its_language() {
    let (_dir, release) = copy("salsa-2.0");
    let report = import(&release, None);
    let detail = "`salsa-2.0` holds `salsa`, which stands for `de`; recorded as `en`, the default: \
                  import it as `de`, or as `en` if that is right";
    assert_eq!(asked(&report), Some(("salsa-2.0".to_owned(), detail.to_owned())));
    assert_eq!(report.release.language, "en", "a guess changes no record");
}

#[test]
fn a_folder_inside_the_path_counts_as_its_name() {
    let (dir, _release) = copy("fn-br");
    let report = import(dir.path(), None);
    assert_eq!(asked(&report).unwrap().0, "fn-br");
}

#[test]
fn a_name_space_or_a_declared_language_asks() {
    let (_dir, release) = copy("own");
    replace(
        &release,
        "frame/Checking.xml",
        "http://framenet.icsi.berkeley.edu",
        "http://jfn.st.hc.keio.ac.jp",
    );
    let (file, detail) = asked(&import(&release, None)).unwrap();
    assert_eq!(file, "frame/Checking.xml");
    assert!(detail.contains("`jfn` stands for `ja`"), "{detail}");
}

#[test]
fn letters_beyond_ascii_ask() {
    let (_dir, release) = copy("own");
    let file = "fulltext/MINI__BikeRide.xml";
    replace(&release, file, "</text>", " \u{fc}ber Gr\u{f6}\u{df}e t\u{e4}uschen</text>");
    let (shown, detail) = asked(&import(&release, None)).unwrap();
    assert!(detail.contains("% of the letters of texts are beyond ASCII"), "{detail}");
    assert!(detail.contains("import it as `TAG`"), "{detail}");
    assert!(shown.ends_with(".xml"), "{shown}");
}

#[test]
fn names_of_lus_ask_where_there_are_no_texts() {
    let (_dir, release) = copy("own");
    for folder in ["lu", "fulltext"] {
        fs::remove_dir_all(release.join(folder)).unwrap();
    }
    let kana = "name=\"\u{3057}\u{3089}\u{3079}\u{308b}";
    for entry in fs::read_dir(release.join("frame")).unwrap() {
        let path = entry.unwrap().path();
        let content = fs::read_to_string(&path).unwrap();
        fs::write(path, content.replace("POS=\"V\" name=\"", &format!("POS=\"V\" {kana}")))
            .unwrap();
    }
    let (_, detail) = asked(&import(&release, None)).unwrap();
    assert!(detail.contains("of the letters of LU names are kana"), "{detail}");
    assert!(detail.contains("import it as `ja`"), "{detail}");
}

#[test]
fn a_language_that_was_given_is_believed() {
    let (_dir, release) = copy("salsa");
    for language in ["de", "en"] {
        let report = import(&release, Some(language));
        assert_eq!((asked(&report), report.release.language.as_str()), (None, language));
    }
}
