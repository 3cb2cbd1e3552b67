//! A corpus that its documents call by several names is found by each of them, and each time.

use std::collections::BTreeSet;
use std::path::Path;

use fnstore::database::Database;
use fnstore::query::Expression;

use crate::mini;
use crate::others_releases::replace;

/// A release in which a sentence names corpus 302 and no document, and another LU file calls that
/// corpus otherwise.
fn release() -> (tempfile::TempDir, std::path::PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let release = dir.path().join("release");
    mini::copy(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/mini-framenet-1.7"),
        &release,
    );
    let place = "sentNo=\"0\" aPos=\"20224298\"";
    replace(&release, "lu/lu50101.xml", place, &format!("corpID=\"302\" {place}"));
    let header = "<header>\n        <corpus name=\"OTHER\" ID=\"302\">\
                  <document description=\"x\" name=\"y\" ID=\"999\"/></corpus>";
    replace(&release, "lu/lu50102.xml", "<header>", header);
    (dir, release)
}

#[test]
fn each_name_of_a_corpus_finds_it_every_time() {
    let (dir, release) = release();
    let store = dir.path().join("store");
    mini::import(&Database::open_writer(&store).unwrap(), &release).unwrap();
    let mut names = BTreeSet::new();
    for _ in 0..12 {
        // Hash maps are in another order in every one.
        let database = Database::open(&store).unwrap();
        assert_eq!(mini::answers(&database, "corpus=OTHER").len(), 1);
        let expression: Expression = "corpus=OTHER".parse().unwrap();
        let catalog = database.catalog().unwrap();
        let release = catalog.releases()[0].id;
        names.insert(
            catalog.corpus_names(release, fnstore::model::CorpusId(302)).unwrap().join(" "),
        );
        assert_eq!(database.count(&expression).unwrap(), 1);
    }
    assert_eq!(names.len(), 1, "{names:?}");
    assert!(names.pop_first().unwrap().contains("OTHER"));
}

#[test]
fn every_corpus_of_a_name_is_found() {
    let of = |called: &str, queries: &[&str]| -> BTreeSet<String> {
        let (dir, release) = release();
        replace(&release, "lu/lu50101.xml", "name=\"MINI_EX\"", &format!("name=\"{called}\""));
        let database = Database::open_writer(&dir.path().join("store")).unwrap();
        mini::import(&database, &release).unwrap();
        queries.iter().flat_map(|query| mini::answers(&database, query)).collect()
    };
    let apart = of("MINI_EX", &["corpus=MINI", "corpus=MINI_EX"]);
    assert!(apart.len() > of("MINI_EX", &["corpus=MINI"]).len());
    assert_eq!(of("MINI", &["corpus=MINI"]), apart);
}
