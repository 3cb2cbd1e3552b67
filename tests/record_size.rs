//! A record that could not be read again is refused where it would be written, and the store stays
//! as it was.

use std::fs;

use fnstore::database::{Database, DatabaseError};
use fnstore::internals::WithStore as _;
use fnstore::model::{CorpusId, Document, DocumentId, IdSpace, SentenceId};
use fnstore::store::StoreError;

use crate::cli_program::{fnstore_in, mini_framenet, new_store};
use crate::mini;

fn document(sentences: u64) -> Document {
    Document {
        id: DocumentId(1),
        corpus: CorpusId(1),
        corpus_name: "chat".to_owned(),
        corpus_description: None,
        name: "train".to_owned(),
        description: None,
        in_headers: None,
        file: String::new(),
        sentences: (0..sentences).map(|n| SentenceId::new(IdSpace::Exemplar, n % 200)).collect(),
    }
}

#[test]
fn a_document_of_too_many_sentences_is_refused_and_the_largest_is_read_again() {
    let (_dir, database, report) = mini::imported();
    let (store, release) = (database.store(), report.release.id);
    let most = document((8 << 20) - 64);
    let mut batch = store.batch(release);
    batch.put_document(&most).unwrap();
    store.commit(batch).unwrap();
    let read = store.document(release, CorpusId(1), DocumentId(1)).unwrap().unwrap();
    assert_eq!(read.sentences.len(), most.sentences.len());

    let before = store.revision().unwrap();
    let error = store.batch(release).put_document(&document(8_500_000)).unwrap_err();
    let StoreError::TooLarge { family, name, bytes, limit } = &error else { panic!("{error}") };
    assert_eq!(
        (*family, name.as_str(), *bytes > 8_500_000, *limit),
        ("document", "train", true, 64)
    );
    let message = error.to_string();
    assert!(message.starts_with("the document record of `train` has "), "{message}");
    assert!(
        message.ends_with("spread its sentences over several documents (E-record-size)"),
        "{message}"
    );
    assert_eq!(store.revision().unwrap(), before);
}

#[test]
fn an_import_of_an_lu_with_too_many_valence_patterns_ends_with_its_name() {
    let store = new_store();
    let before = mini::content(&Database::open(store.path()).unwrap());
    let dir = tempfile::tempdir().unwrap();
    let release = dir.path().join("release");
    mini::copy(&mini_framenet(), &release);
    let file = release.join("lu/lu1008.xml");
    let text = fs::read_to_string(&file).unwrap();
    let mut valences = String::from("<valences><FERealization><pattern>");
    for _ in 0..1_040_000 {
        valences.push_str("<valenceUnit/>");
    }
    valences.push_str("</pattern></FERealization></valences>");
    assert_eq!(text.matches("<valences/>").count(), 1);
    fs::write(&file, text.replace("<valences/>", &valences)).unwrap();
    let arguments = ["import", release.to_str().unwrap(), "--release", "large"];
    let ran = fnstore_in(store.path(), &arguments);
    assert_eq!(ran.code, Some(65), "{}", ran.stderr);
    let message = "error: lu/lu1008.xml: the lexunit record of `verify.v` has ";
    assert!(ran.stderr.contains(message), "{}", ran.stderr);
    assert_eq!(mini::content(&Database::open(store.path()).unwrap()), before);
    let checked = fnstore_in(store.path(), &["check", "--deep"]);
    assert_eq!(checked.code, Some(0), "{}", checked.stdout);
}

#[test]
fn a_database_says_it_as_its_store_does() {
    let error = DatabaseError::from(StoreError::TooLarge {
        family: "sentence",
        name: "x".repeat(100),
        bytes: 1,
        limit: 64,
    });
    let shown = format!("`{}...`", "x".repeat(60));
    assert!(error.to_string().contains(&shown), "{error}");
}
