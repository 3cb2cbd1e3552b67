//! Of several LUs of one name in a frame a prediction gets the one with most annotation, and it is
//! told.

use std::path::Path;

use fnstore::database::Database;
use fnstore::edit::Removal;
use fnstore::model::{AnnotationSetId, FrameFit, FrameId, LuId, Prediction, Span};
use fnstore::query::Expression;
use fnstore::search::Answer;
use fnstore::transfer::{AmbiguousLexUnit, PredictedTarget};

use crate::mini;

const CHECKING: FrameId = FrameId(102);
/// The two LUs `check.v`: 1001 has exemplars and full text, 1007 a single full-text set.
const CHECK: [LuId; 2] = [LuId(1001), LuId(1007)];

fn answers(database: &Database, query: &str) -> Vec<Answer> {
    let expression = Expression::parse(query).unwrap();
    database.query(&expression).unwrap().map(Result::unwrap).collect()
}

/// Predicts targets of LUs of Checking; gives what is ambiguous, and the LUs of the sets.
fn predict(
    database: &Database,
    release: &str,
    lexunits: &[&str],
) -> (Vec<AmbiguousLexUnit>, Vec<LuId>) {
    let lexicon = database.lexicons().unwrap().remove(0);
    let mut predictions = database.predictions(release, &lexicon, Path::new("news.txt")).unwrap();
    for (number, lexunit) in lexunits.iter().enumerate() {
        let target = PredictedTarget {
            pieces: vec![Span::new(0, 5)],
            frame: "Checking".to_owned(),
            lexunit: Some((*lexunit).to_owned()),
            prediction: Prediction {
                file: "news.txt".to_owned(),
                fit: FrameFit { probability: 0.5, model: [7; 16] },
                runners_up: Vec::new(),
            },
            elements: None,
        };
        predictions.add(&format!("Check {number} ."), vec![target]).unwrap();
    }
    let report = predictions.finish().unwrap();
    assert_eq!(report.release.name, release);
    let found = answers(database, &format!("release={release}"));
    (report.ambiguous, found.into_iter().map(|answer| answer.set.lu).collect())
}

fn sets_of(database: &Database, lu: LuId) -> Vec<AnnotationSetId> {
    let found = answers(database, "lu=check.v origin!=predicted").into_iter();
    found.filter(|answer| answer.set.lu == lu).map(|answer| answer.set.id).collect()
}

fn ambiguous(ids: [LuId; 2], targets: u64) -> Vec<AmbiguousLexUnit> {
    let (frame, lexunit) = ("Checking".to_owned(), "check.v".to_owned());
    vec![AmbiguousLexUnit { frame, lexunit, ids: ids.to_vec(), targets }]
}

#[test]
fn the_lu_with_most_annotation_is_taken_and_counted() {
    let (_dir, database, _) = mini::imported();
    let [first, second] = CHECK;
    assert!(sets_of(&database, first).len() > sets_of(&database, second).len());
    assert!(!sets_of(&database, second).is_empty());
    let (told, lus) = predict(&database, "one", &["check.v", "verify.v", "check.v"]);
    assert_eq!(told, ambiguous([first, second], 2));
    assert_eq!(lus.iter().filter(|lu| **lu == first).count(), 2, "{lus:?}");

    // Without its sets the first one has less.
    let release = database.releases().unwrap()[0].id;
    let mut edits = database.transaction(release).unwrap();
    for set in sets_of(&database, first) {
        edits.remove_annotation_set(set, Removal::Cascade).unwrap();
    }
    edits.commit().unwrap();
    let (told, lus) = predict(&database, "two", &["check.v"]);
    assert_eq!((told, lus), (ambiguous([second, first], 1), vec![second]));
}

#[test]
fn an_lu_that_is_alone_with_its_name_is_not_told() {
    let (_dir, database, _) = mini::imported();
    let (told, lus) = predict(&database, "one", &["verify.v"]);
    assert_eq!((told.len(), lus.len()), (0, 1));
    assert!(database.lexicons().unwrap()[0].lu_of_frame(CHECKING, CHECK[0]).unwrap().is_some());
}
