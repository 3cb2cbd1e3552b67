//! What people say of sets: one judgement of each reviewer, found by queries.

use fnstore::database::{Database, DatabaseError};
use fnstore::internals::WithStore as _;
use fnstore::model::{AnnotationSetId, Judgement};

use crate::{generated, mini};

fn judgement(reviewer: &str, score: u8) -> Judgement {
    Judgement {
        reviewer: reviewer.to_owned(),
        score,
        time: 1_700_000_000,
        note: "ok".to_owned(),
        question: String::new(),
        shown: None,
    }
}

#[test]
fn answers_to_other_questions_stand_beside_and_no_query_takes_them_for_the_frames() {
    let (_dir, database, report) = mini::imported();
    let release = report.release.id;
    generated::write(&database, release);
    let set = AnnotationSetId::parse("g101").unwrap();
    let other = |question: &str, score| Judgement {
        question: question.to_owned(),
        ..judgement("kim", score)
    };
    let mut edits = database.transaction(release).unwrap();
    for (question, score) in [("", 80), ("meaning", 10), ("evokes Roaming", 0), ("meaning", 20)] {
        edits.set_judgement(set, other(question, score)).unwrap();
    }
    let all = [other("", 80), other("evokes Roaming", 0), other("meaning", 20)];
    assert_eq!(edits.judgements(set).unwrap(), all);
    edits.commit().unwrap();
    let stored = database.store().judgements(release, set).unwrap();
    assert_eq!(stored.map(Result::unwrap).collect::<Vec<_>>(), all);
    for (query, found) in [("judgement=80", 1), ("judgement<50", 0), ("judgement_mean=80", 1)] {
        assert_eq!(mini::answers(&database, query).len(), found, "{query}");
    }
    let mut edits = database.transaction(release).unwrap();
    let wrong = edits.set_judgement(set, other("a\nb", 1)).unwrap_err().to_string();
    assert!(wrong.contains("`question`"), "{wrong}");
    edits.remove_judgement(set, "kim", "meaning").unwrap();
    edits.commit().unwrap();
    assert_eq!(database.store().judgements(release, set).unwrap().count(), 2);
}

#[test]
fn the_question_of_every_set_has_a_name_which_records_leave_out() {
    let (_dir, database, report) = mini::imported();
    let release = report.release.id;
    generated::write(&database, release);
    let set = AnnotationSetId::parse("g101").unwrap();
    let asked = |question: &str, reviewer: &str| Judgement {
        question: question.to_owned(),
        ..judgement(reviewer, 20)
    };
    let mut edits = database.transaction(release).unwrap();
    edits.set_judgement(set, asked("evokes", "kim")).unwrap();
    edits.set_judgement(set, asked("evokes Checking", "lee")).unwrap();
    edits.commit().unwrap();
    let stored = database.store().judgements(release, set).unwrap();
    let questions: Vec<String> = stored.map(|row| row.unwrap().question).collect();
    assert_eq!(questions, ["", ""]);
    assert_eq!(mini::answers(&database, "judgement_mean=20"), ["mini-framenet g101"]);
    let all = fnstore::review::agreement(&database).unwrap();
    assert_eq!(all.questions[&fnstore::review::Question::Evokes].outputs().shared, 1);
    let mut edits = database.transaction(release).unwrap();
    edits.remove_judgement(set, "kim", "evokes").unwrap();
    edits.remove_judgement(set, "lee", "").unwrap();
    edits.commit().unwrap();
    assert_eq!(database.store().judgements(release, set).unwrap().count(), 0);
}

#[test]
fn a_reviewer_has_one_judgement_of_a_set_and_any_of_them_is_found() {
    let (dir, database, report) = mini::imported();
    let release = report.release.id;
    generated::write(&database, release);
    let set = AnnotationSetId::parse("g101").unwrap();
    let judge = |judgements: &[Judgement]| {
        let mut edits = database.transaction(release).unwrap();
        for judgement in judgements {
            edits.set_judgement(set, judgement.clone()).unwrap();
        }
        edits.commit().unwrap()
    };
    judge(&[judgement("kim", 20), judgement("Kim Lee", 90), judgement("kim", 40)]);
    let reader = Database::open(dir.path()).unwrap();
    for database in [&database, &reader] {
        let of_set = database.store().judgements(release, set).unwrap();
        let of_set: Vec<Judgement> = of_set.map(Result::unwrap).collect();
        assert_eq!(of_set, [judgement("Kim Lee", 90), judgement("kim", 40)]);
        for (query, found) in [
            ("judgement>=80", 1),
            ("judgement=40", 1),
            ("judgement=20", 0),
            ("judgement<30", 0),
            ("origin=generated judgement!=40", 1),
            ("origin=generated not judgement>0", 1),
            ("judgement_mean=65", 1),
            ("judgement_mean>=65.1", 0),
            ("judgement_mean<65.1", 1),
            ("origin=generated judgement_mean!=65", 1),
        ] {
            assert_eq!(mini::answers(database, query).len(), found, "{query}");
        }
    }
    let mut edits = database.transaction(release).unwrap();
    edits.remove_judgement(set, "kim", "").unwrap();
    assert_eq!(edits.judgements(set).unwrap(), [judgement("Kim Lee", 90)]);
    let error = edits.remove_judgement(set, "kim", "").unwrap_err();
    assert_eq!(
        error.to_string(),
        "E-value: `reviewer` is `kim`; expected someone who has judged `g101` on the same question"
    );
    edits.commit().unwrap();
    assert_eq!(mini::answers(&database, "judgement=40").len(), 0);
}

#[test]
fn a_score_beyond_the_scale_a_nameless_reviewer_and_an_unknown_set_are_refused() {
    let (_dir, database, report) = mini::imported();
    let mut edits = database.transaction(report.release.id).unwrap();
    let set = AnnotationSetId::parse("x7002").unwrap();
    for (set, judgement, message) in [
        (set, judgement("kim", 101), "E-value: `score` is `101`; expected 0 to 100"),
        (set, judgement("", 50), "E-value: `reviewer` is ``"),
        (set, judgement("a\nb", 50), "E-value: `reviewer` is `a\\nb`"),
        (set.next().next().next().next().next(), judgement("kim", 5), "E-absent: there is no"),
    ] {
        let error = edits.set_judgement(set, judgement).unwrap_err();
        assert!(matches!(error, DatabaseError::Edit(_)));
        assert!(error.to_string().starts_with(message), "{error}");
    }
}
