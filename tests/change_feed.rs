//! The list of changes: every commit, in order, as a copy of the store would need it.

use fnstore::database::Database;
use fnstore::edit::Removal;
use fnstore::internals::WithStore as _;
use fnstore::model::{FrameId, Judgement, LexUnit, LuId};
use fnstore::store::{Action, Change, Subject};

use crate::{edits, generated, mini};

fn changes(database: &Database, since: u64) -> Vec<Change> {
    database.changes(since).unwrap().map(Result::unwrap).collect()
}

fn told(database: &Database, since: u64) -> Vec<String> {
    let changes = changes(database, since);
    changes.iter().map(|it| format!("{} {:?}", it.action.as_str(), it.subject)).collect()
}

#[test]
fn every_kind_of_commit_is_listed_once_and_in_order() {
    let (dir, database, report) = mini::imported();
    let release = report.release.id;
    let imported = changes(&database, 0);
    assert_eq!((imported.len(), &imported[0].subject), (1, &Subject::Release));
    let since = database.store().revision().unwrap();

    generated::write(&database, release);
    let written = told(&database, since);
    assert_eq!(written.len(), 3, "an LU and two sets: {written:?}");
    assert!(written.iter().all(|change| change.starts_with("added ")), "{written:?}");

    let since = database.store().revision().unwrap();
    let mut edits = database.transaction(release).unwrap();
    let frame = FrameId(102);
    let lu = edits.add_lexunit(LexUnit::named(frame, LuId(0), "peruse.v")).unwrap();
    let sentence = edits.add_sentence(edits::new_sentence("He checked it .")).unwrap();
    let set = edits.add_annotation_set(edits::new_set(sentence, (3, 10), &[])).unwrap();
    let judgement = Judgement {
        reviewer: "kim".to_owned(),
        score: 90,
        time: 7,
        note: String::new(),
        question: String::new(),
        shown: None,
    };
    edits.set_judgement(set, judgement).unwrap();
    edits.commit().unwrap();
    let mut edits = database.transaction(release).unwrap();
    let named = edits.lexunit(frame, lu).unwrap().unwrap();
    edits.set_lexunit(LexUnit { definition: "read".to_owned(), ..named }).unwrap();
    edits.remove_sentence(sentence, Removal::Cascade).unwrap();
    let last = edits.commit().unwrap();

    let reader = Database::open(dir.path()).unwrap();
    let kinds = |since| -> Vec<(u64, Action, &'static str)> {
        let kind = |change: &Change| match change.subject {
            Subject::LexUnit(..) => "LU",
            Subject::Sentence(_) => "sentence",
            Subject::Set(..) => "set",
            Subject::Judgement(..) => "judgement",
            Subject::Decision(..) => "decision",
            Subject::Edition(_) => "edition",
            _ => "other",
        };
        let changes = changes(&reader, since);
        changes.iter().map(|change| (change.revision, change.action, kind(change))).collect()
    };
    let first = last - 1;
    assert_eq!(
        kinds(since),
        [
            (first, Action::Added, "LU"),
            (first, Action::Added, "sentence"),
            (first, Action::Added, "set"),
            (first, Action::Added, "judgement"),
            (last, Action::Edited, "LU"),
            (last, Action::Removed, "sentence"),
            (last, Action::Removed, "set"),
            (last, Action::Removed, "judgement"),
        ]
    );
    assert_eq!(kinds(last), []);
}
