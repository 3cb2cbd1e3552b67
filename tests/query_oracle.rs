//! Queries against the whole store: a plan may look at less, never answer otherwise.

use fnstore::database::{Answer, Database, DatabaseError};

use crate::mini::{answers, database};

/// Queries of every field and connective that the mini lexicon can answer.
const QUERIES: [&str; 40] = [
    "",
    "frame=Checking",
    "frame=checking",
    "frame=Check* or frame=Repairing",
    "frame!=Checking",
    "inherits=Happening",
    "inherits=Happening not frame=Checking",
    "lu=check.v",
    "lu=*.v frame=Checking",
    "lu~^re",
    "pos=v",
    "pos!=v",
    "lemma=check",
    "lemma=\"look over\"",
    "trigger=checked",
    "trigger=CHECKED",
    "trigger=check*",
    "trigger=*ed or trigger=*ing",
    "trigger~ed$",
    "trigger=\"looked over\"",
    "text~\\bthe\\b",
    "text=*the*",
    "not text~\\bthe\\b",
    "fe=Matter",
    "fe=Matter{gf=Obj}",
    "fe=Checker{overt=true} not fe=Matter",
    "fe=*{ni=CNI}",
    "gf=Obj pt=NP",
    "ni=INI or ni=DNI",
    "ni=X*",
    "status=MANUAL",
    "status=AUTO* or status=UNANN",
    "origin=exemplar",
    "origin=fulltext frame=Checking",
    "doc=HarbourLog",
    "corpus=MINI trigger=*",
    "split=train",
    "id=x7020 or id=f8006",
    "(frame=Checking or lu=mend.v) not (trigger=checked or origin=fulltext)",
    "since=0 frame=Repairing",
];

fn ids(answers: &[Answer]) -> Vec<String> {
    answers.iter().map(|answer| answer.set.id.to_string()).collect()
}

#[test]
fn narrowing_the_search_changes_no_answer() {
    let dir = tempfile::tempdir().unwrap();
    let (database, _) = database(dir.path());
    let mut answered = 0;
    for query in QUERIES {
        let narrow = answers(&database, query);
        // What stands under `not` narrows nothing, so this looks at every set.
        let wide = answers(&database, &format!("not not ({query})"));
        assert_eq!(ids(&narrow), ids(&wide), "{query}");
        answered += usize::from(!narrow.is_empty());
    }
    assert!(answered > 35, "only {answered} queries have answers");
}

#[test]
fn a_query_and_its_negation_share_out_all_sets() {
    let dir = tempfile::tempdir().unwrap();
    let (database, _) = database(dir.path());
    let all = answers(&database, "").len();
    for query in QUERIES {
        let (with, without) =
            (answers(&database, query).len(), answers(&database, &format!("not ({query})")).len());
        assert_eq!(with + without, all, "{query}");
    }
}

#[test]
fn answers_are_what_the_words_say() {
    let dir = tempfile::tempdir().unwrap();
    let (database, _) = database(dir.path());
    for answer in answers(&database, "frame=Checking trigger=check*") {
        assert_eq!(&*answer.frame, "Checking");
        assert!(answer.trigger().to_lowercase().starts_with("check"), "{}", answer.trigger());
    }
    for answer in answers(&database, "fe=Matter{gf=Obj pt=NP}") {
        let mut elements = answer.elements();
        assert!(
            elements
                .any(|fe| fe.label.name == "Matter" && fe.gf == Some("Obj") && fe.pt == Some("NP"))
        );
    }
    assert_eq!(answers(&database, "origin=exemplar").len(), 34);
    assert_eq!(answers(&database, "origin=fulltext").len(), 8);
    assert_eq!(answers(&database, "status=UNANN").len(), 1);
}

#[test]
fn answers_come_in_order_of_frame_unit_sentence_and_set() {
    let dir = tempfile::tempdir().unwrap();
    let (database, _) = database(dir.path());
    for query in QUERIES {
        let keys: Vec<_> = answers(&database, query)
            .iter()
            .map(|a| (a.release.id, a.set.frame, a.set.lu, a.set.sentence, a.set.id))
            .collect();
        assert!(keys.is_sorted(), "{query}");
    }
}

#[test]
fn a_name_that_is_not_there_is_an_error_with_the_nearest_one() {
    let dir = tempfile::tempdir().unwrap();
    let (database, _) = database(dir.path());
    let error = |query: &str| -> DatabaseError {
        let expression = query.parse().unwrap();
        let Err(error) = Database::query(&database, &expression).map(drop) else {
            panic!("{query} was answered")
        };
        error
    };
    for (query, message) in [
        ("frame=Cheking", "there is no frame `Cheking`; did you mean `Checking`?"),
        ("not frame=Cheking", "there is no frame `Cheking`; did you mean `Checking`?"),
        ("lu=inspct.v", "there is no lexical unit `inspct.v`; did you mean `inspect.v`?"),
        ("fe=Mater", "there is no frame element `Mater`; did you mean `Matter`?"),
        ("release=mini", "there is no release `mini`"),
        ("frame=Zzzzzzz", "there is no frame `Zzzzzzz`"),
    ] {
        assert_eq!(error(query).to_string(), message, "{query}");
    }
}
