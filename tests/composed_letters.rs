//! Composed and decomposed letters are one: either spelling finds the other, and what is stored
//! stays as it was written.

use fnstore::database::{Database, DatabaseError, ReleaseError};
use fnstore::query::{Case, Expression, Pattern};
use fnstore::search::Answer;
use fnstore::transfer::ImportOptions;
use serde_json::json;
use tempfile::TempDir;

use crate::cli_program::{fnstore_in, new_store};

const COMPOSED: &str = "r\u{e9}sum\u{e9}";
const DECOMPOSED: &str = "re\u{301}sume\u{301}";
/// A letter that is composed in lower case alone.
const LINE_BELOW: [&str; 2] = ["\u{1e96}alal", "H\u{331}ALAL"];

/// A store of one text, in which a word is target, frame, LU and document.
fn store_of(word: &str) -> (TempDir, Database) {
    let dir = tempfile::tempdir().unwrap();
    let text = format!("The cafe\u{301} manager checked the {word} .");
    let start = text[..text.rfind(word).unwrap()].chars().count();
    let end = start + word.chars().count();
    let span = json!({"start": start, "end": end, "type": word, "lemma": word, "pos": "n"});
    let line = json!({"text": text, "id": word, "spans": [span]}).to_string();
    let file = dir.path().join("spans.jsonl");
    std::fs::write(&file, line).unwrap();
    let database = Database::open_writer(&dir.path().join("store")).unwrap();
    database.import_spans(&file, &ImportOptions::default(), &mut |_| {}).unwrap();
    (dir, database)
}

/// What a query finds.
fn answers(database: &Database, query: &str) -> Vec<Answer> {
    let expression = Expression::parse(query).unwrap();
    match database.query(&expression) {
        Ok(found) => found.map(Result::unwrap).collect(),
        Err(error) => panic!("{query}: {error}"),
    }
}

/// Queries for a word in each place where words are compared.
fn queries(word: &str) -> Vec<String> {
    let mut queries: Vec<String> = ["lemma", "trigger", "frame", "doc"]
        .iter()
        .flat_map(|field| [format!("{field}={word}"), format!("{field}~\"^{word}$\"")])
        .collect();
    queries.extend([
        format!("lu={word}.n"),
        format!("lu=*{word}.n"),
        format!("lemma={word}*"),
        format!("trigger=*{word}"),
        format!("text=*{word}*"),
        format!("text~\"the {word} \""),
        format!("text~'\\b{word}\\b'"),
        "text=*caf\u{e9}*".to_owned(),
        "text=*cafe\u{301}*".to_owned(),
    ]);
    queries
}

#[test]
fn either_spelling_finds_the_other() {
    for stored in [COMPOSED, DECOMPOSED] {
        let (_dir, database) = store_of(stored);
        for asked in [COMPOSED, DECOMPOSED] {
            for asked in [asked.to_owned(), asked.to_uppercase()] {
                for query in queries(&asked) {
                    let found = answers(&database, &query);
                    assert_eq!(found.len(), 1, "{stored:?}: {query:?}");
                    let answer = &found[0];
                    assert_eq!(answer.trigger(), stored, "the text stays as it was written");
                    assert_eq!(*answer.lexunit, format!("{stored}.n"));
                }
            }
        }
        for query in ["text=*resume*", "trigger~^resume$", "trigger=resume"] {
            assert!(answers(&database, query).is_empty(), "{query}");
        }
    }
}

#[test]
fn a_dot_of_an_expression_is_a_whole_letter() {
    let (_dir, database) = store_of(DECOMPOSED);
    for query in ["trigger~'^r.sum.$'", "lemma~'^r[e\u{e9}]sum\\w$'", "trigger~'^r[e\u{301}]s'"] {
        assert_eq!(answers(&database, query).len(), 1, "{query}");
    }
    assert!(answers(&database, "trigger=re*").is_empty(), "an e with an accent is no e");
}

#[test]
fn a_letter_that_is_composed_in_lower_case_alone_is_found() {
    for stored in LINE_BELOW {
        let (_dir, database) = store_of(stored);
        for asked in LINE_BELOW {
            for query in
                [format!("lu={asked}.n"), format!("trigger={asked}"), format!("text=*{asked}*")]
            {
                assert_eq!(answers(&database, &query).len(), 1, "{stored:?}: {query:?}");
            }
        }
    }
}

#[test]
fn names_are_looked_up_in_either_spelling() {
    for stored in [COMPOSED, DECOMPOSED] {
        let (_dir, database) = store_of(stored);
        let lexicon = database.lexicons().unwrap().remove(0);
        for asked in [COMPOSED, DECOMPOSED] {
            let frame = lexicon.frame_by_name(asked).unwrap().expect("it is there");
            assert_eq!(frame.name, stored);
            assert_eq!(lexicon.lus_by_name(&format!("{asked}.n")).unwrap().len(), 1);
            for case in [Case::Fold, Case::Sensitive] {
                let found = lexicon.find_frames(&Pattern::exact(asked, case)).unwrap();
                assert_eq!(found.count(), 1);
            }
            assert!(lexicon.frame_by_name(&asked.to_uppercase()).unwrap().is_none());
        }
        let names: Vec<String> = lexicon.frame_names().unwrap().map(|row| row.unwrap().1).collect();
        assert_eq!(names, [stored], "a list spells it as the release does");
    }
}

#[test]
fn two_spellings_of_a_release_are_one_name() {
    let (dir, database) = store_of(COMPOSED);
    let options =
        |name: &str| ImportOptions { release: Some(name.to_owned()), ..ImportOptions::default() };
    let spans = dir.path().join("spans.jsonl");
    database.import_spans(&spans, &options(COMPOSED), &mut |_| {}).unwrap();
    let error = database.import_spans(&spans, &options(DECOMPOSED), &mut |_| {}).unwrap_err();
    assert!(matches!(error, DatabaseError::Release(ReleaseError::Exists { .. })), "{error}");

    let mut lines = Vec::new();
    let all = format!("release={COMPOSED}").parse().unwrap();
    database.export_jsonl(&all, false, &mut lines).unwrap();
    let file = dir.path().join("release.jsonl");
    std::fs::write(&file, lines).unwrap();
    let error = database.import_jsonl(&file, Some(DECOMPOSED), &mut |_| {}).unwrap_err();
    assert!(matches!(error, DatabaseError::Release(ReleaseError::Exists { .. })), "{error}");

    let query = format!("release={COMPOSED}");
    let id = answers(&database, &query).remove(0).set.id;
    let found = database.the_annotation_set(id, Some(DECOMPOSED)).unwrap();
    assert_eq!((found.set.id, found.release.name.as_str()), (id, COMPOSED));

    assert_eq!(database.releases().unwrap().len(), 2);
    database.remove_release(DECOMPOSED).unwrap();
    assert_eq!(database.releases().unwrap().len(), 1);
    assert!(database.release(COMPOSED).is_err());
}

#[test]
fn edits_name_a_corpus_in_either_spelling_and_an_abbreviation_is_found_in_both() {
    let store = new_store();
    let script = [
        json!({"op": "add-document", "corpus": "CAF\u{c9}", "name": "Monday"}),
        json!({"op": "add-document", "corpus": "CAFE\u{301}", "name": "Tuesday"}),
        json!({"op": "add-semtype", "as": "t", "name": "Gadget"}),
        json!({"op": "edit-semtype", "semtype": "@t", "abbreviation": COMPOSED}),
    ];
    let lines: Vec<String> = script.iter().map(ToString::to_string).collect();
    let file = store.path().join("script.jsonl");
    std::fs::write(&file, lines.join("\n")).unwrap();
    let ran = fnstore_in(store.path(), &["edit", file.to_str().unwrap()]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);

    let database = Database::open(store.path()).unwrap();
    let lexicon = database.lexicons().unwrap().remove(0);
    let all = lexicon.documents().unwrap().map(Result::unwrap);
    let added: Vec<_> =
        all.filter(|it| ["Monday", "Tuesday"].contains(&it.name.as_str())).collect();
    assert_eq!(added.len(), 2);
    assert_eq!(added[0].corpus, added[1].corpus, "one corpus");
    assert!(added.iter().all(|it| it.corpus_name == "CAF\u{c9}"), "spelled as it was first");
    let semtype = lexicon.semtype_by_abbreviation(DECOMPOSED).unwrap().expect("it is there");
    assert_eq!(semtype.name, "Gadget");
}

#[test]
fn two_spellings_of_a_lemma_are_one_lu() {
    let dir = tempfile::tempdir().unwrap();
    let lines: Vec<String> = [COMPOSED, DECOMPOSED]
        .iter()
        .map(|word| {
            let span = json!({"start": 0, "end": word.chars().count(), "type": "Document",
                              "lemma": word, "pos": "n"});
            json!({"text": word, "id": word, "spans": [span]}).to_string()
        })
        .collect();
    let file = dir.path().join("spans.jsonl");
    std::fs::write(&file, lines.join("\n")).unwrap();
    let database = Database::open_writer(&dir.path().join("store")).unwrap();
    database.import_spans(&file, &ImportOptions::default(), &mut |_| {}).unwrap();
    let lexicon = database.lexicons().unwrap().remove(0);
    let names: Vec<String> = lexicon.lu_names().unwrap().map(|row| row.unwrap().2).collect();
    assert_eq!(names, [format!("{COMPOSED}.n")]);
    for query in ["frame=Document", &format!("trigger={DECOMPOSED}"), "lemma~^r"] {
        assert_eq!(answers(&database, query).len(), 2, "{query}");
    }
}
