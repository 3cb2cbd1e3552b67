//! What a query means, field by field: the answers are those of a plain pass over all sets, asked a
//! closure written for the query; and narrowing the search never loses an answer.

use std::collections::BTreeSet;

use fnstore::database::{Database, DatabaseError, LookupError, Write};
use fnstore::internals::WithStore as _;
use fnstore::model::{
    AnnotationSet, Extent, FilterScores, Frame, FrameFit, Generation, IdSpace, LayerName, LexUnit,
    Origin, Provenance, Sentence, SentenceId, Span,
};
use fnstore::query::Expression;

use crate::{generated, mini};

/// All that a query can ask of a set, read from the store record by record.
struct Facts {
    id: String,
    set: AnnotationSet,
    sentence: Sentence,
    frame: Frame,
    lu: LexUnit,
    ancestors: BTreeSet<String>,
    /// Names, descriptions and corpora of the documents that list the sentence.
    documents: Vec<(String, String, String)>,
}

/// An FE label with what the GF and PT layers of its rank say of its span.
struct Element<'a> {
    name: &'a str,
    span: Option<Span>,
    null: Option<&'a str>,
    gf: Vec<&'a str>,
    pt: Vec<&'a str>,
}

impl Facts {
    fn lemma(&self) -> &str {
        self.lu.lemma()
    }

    fn trigger(&self) -> String {
        self.set.trigger(&self.sentence.text).to_lowercase()
    }

    fn text(&self) -> String {
        self.sentence.text.to_lowercase()
    }

    fn is(&self, origin: Origin) -> bool {
        self.set.provenance.origin() == origin
    }

    fn generation(&self) -> Option<&Generation> {
        match &self.set.provenance {
            Provenance::Generated(generation) => Some(generation),
            _ => None,
        }
    }

    /// Every FE label.
    fn elements(&self) -> Vec<Element<'_>> {
        let mut elements = Vec::new();
        for layer in self.set.layers.iter().filter(|layer| layer.name == LayerName::Fe) {
            for label in &layer.labels {
                let span = label.extent.span();
                let on_span = |name: &LayerName| -> Vec<&str> {
                    let layers = self.set.layers.iter();
                    let same =
                        layers.filter(|other| other.name == *name && other.rank == layer.rank);
                    let labels = same.flat_map(|other| &other.labels);
                    let here = labels.filter(|other| span.is_some() && other.extent.span() == span);
                    here.map(|other| other.name.as_str()).collect()
                };
                let null = match &label.extent {
                    Extent::Null(kind) => Some(kind.as_str()),
                    _ => None,
                };
                let (gf, pt) = (on_span(&LayerName::Gf), on_span(&LayerName::Pt));
                elements.push(Element { name: label.name.as_str(), span, null, gf, pt });
            }
        }
        elements
    }
}

fn facts(database: &Database) -> Vec<Facts> {
    let store = database.store();
    let mut facts = Vec::new();
    for release in database.releases().unwrap() {
        let relations: Vec<_> =
            store.relations(release.id).unwrap().collect::<Result<_, _>>().unwrap();
        let documents: Vec<_> =
            store.documents(release.id).unwrap().collect::<Result<_, _>>().unwrap();
        for set in store.annotation_sets(release.id).unwrap() {
            let set = set.unwrap();
            let sentence = store.sentence(release.id, set.sentence).unwrap().unwrap();
            let frame = store.frame(release.id, set.frame).unwrap().unwrap();
            let mut ancestors = BTreeSet::from([frame.name.clone()]);
            let mut size = 0;
            while size != ancestors.len() {
                size = ancestors.len();
                for relation in relations.iter().filter(|relation| relation.kind == "Inheritance") {
                    if ancestors.contains(&relation.child_name) {
                        ancestors.insert(relation.parent_name.clone());
                    }
                }
            }
            let listing = documents.iter().filter(|document| {
                sentence.occurrences.iter().any(|place| {
                    (place.corpus, place.document) == (Some(document.corpus), Some(document.id))
                })
            });
            facts.push(Facts {
                id: format!("{} {}", release.name, set.id),
                documents: listing
                    .map(|found| {
                        (found.name.clone(), found.file.clone(), found.corpus_name.clone())
                    })
                    .collect(),
                lu: store.lexunit(release.id, set.frame, set.lu).unwrap().unwrap(),
                ancestors,
                frame,
                sentence,
                set,
            });
        }
    }
    facts
}

/// Whether two labels of these FEs share a letter.
fn overlap(set: &Facts, one: &str, other: &str) -> bool {
    let named = |name: &str| -> Vec<(usize, Span)> {
        let elements = set.elements().into_iter().enumerate();
        elements
            .filter(|(_, of)| of.name == name)
            .filter_map(|(at, of)| Some((at, of.span?)))
            .collect()
    };
    named(one).iter().any(|(at, a)| {
        named(other)
            .iter()
            .any(|(beside, b)| at != beside && a.start.max(b.start) < a.end.min(b.end))
    })
}

type Oracle = (&'static str, fn(&Facts) -> bool);

fn has(list: &[&str], wanted: &str) -> bool {
    list.contains(&wanted)
}

const NAMES: &[Oracle] = &[
    ("", |_| true),
    ("release=mini-framenet", |_| true),
    ("release=MINI*", |_| true),
    ("release~^fra", |_| false),
    ("frame=Checking", |set| set.frame.name == "Checking"),
    ("frame=checking", |set| set.frame.name == "Checking"),
    ("frame=*ing", |set| set.frame.name.ends_with("ing")),
    ("frame!=Checking", |set| set.frame.name != "Checking"),
    ("frame~\"^R\"", |set| set.frame.name.starts_with('R')),
    ("inherits=Happening", |set| set.ancestors.contains("Happening")),
    ("inherits=Checking", |set| set.ancestors.contains("Checking")),
    ("inherits!=Happening", |set| !set.ancestors.contains("Happening")),
    ("inherits=*ing", |set| set.ancestors.iter().any(|name| name.ends_with("ing"))),
    ("uses=Checking", |set| set.frame.name == "Giving_leave"),
    ("uses=Checking{distance=1}", |set| set.frame.name == "Giving_leave"),
    ("uses=Checking{distance<=1}", |set| {
        ["Giving_leave", "Checking"].contains(&set.frame.name.as_str())
    }),
    ("uses=Checking{distance>1}", |_| false),
    ("inherits=Happening{distance=0}", |set| set.frame.name == "Happening"),
    ("inherits=Happening{distance=1}", |set| {
        ["Checking", "Repairing", "Roaming"].contains(&set.frame.name.as_str())
    }),
    ("perspective=*", |_| false),
    ("subframe!=Checking", |_| true),
    ("related=Checking", |set| {
        ["Happening", "Repairing", "Giving_leave"].contains(&set.frame.name.as_str())
    }),
    ("related=Checking{distance=2}", |set| set.frame.name == "Roaming"),
    ("not related=Checking{distance<=2}", |set| {
        !["Happening", "Repairing", "Giving_leave", "Checking", "Roaming"]
            .contains(&set.frame.name.as_str())
    }),
    ("fe=Quarry overlaps fe=Matter", |set| overlap(set, "Quarry", "Matter")),
    ("fe=Quarry overlaps fe=Quarry", |set| overlap(set, "Quarry", "Quarry")),
    ("fe=Checker overlaps fe=Matter", |set| overlap(set, "Checker", "Matter")),
    ("not fe=Quarry overlaps fe=Matter", |set| !overlap(set, "Quarry", "Matter")),
    ("lu=check.v", |set| set.lu.name == "check.v"),
    ("lu=\"look over.v\"", |set| set.lu.name == "look over.v"),
    ("lu=look\\ over.v", |set| set.lu.name == "look over.v"),
    ("lu=*.n", |set| set.lu.name.ends_with(".n")),
    ("lu~^in", |set| set.lu.name.starts_with("in")),
    ("pos=v", |set| set.lu.name.ends_with(".v")),
    ("pos!=v", |set| !set.lu.name.ends_with(".v")),
    ("lemma=check", |set| set.lemma() == "check"),
    ("lemma=look*", |set| set.lemma().starts_with("look")),
    ("lemma~o.e", |set| set.lemma().contains("ove")),
];

const TEXTS: &[Oracle] = &[
    ("trigger=checked", |set| set.trigger() == "checked"),
    ("trigger=CHECKED", |set| set.trigger() == "checked"),
    ("trigger=\"looked over\"", |set| set.trigger() == "looked over"),
    ("trigger=look*over", |set| set.trigger().starts_with("look")),
    ("trigger=*ed", |set| set.trigger().ends_with("ed")),
    ("trigger=*e*", |set| set.trigger().contains('e')),
    ("trigger=*", |_| true),
    ("trigger=\"\"", |set| set.trigger().is_empty()),
    ("trigger!=checked", |set| set.trigger() != "checked"),
    ("trigger~\"^.{5}$\"", |set| set.trigger().chars().count() == 5),
    ("trigger=che.ked", |_| false),
    ("text=\"They never mended the fence . \"", |set| set.text().starts_with("they never")),
    ("text=\"They never mended the fence .\"", |set| set.text().starts_with("they never")),
    ("text=\" They never mended the fence .\"", |set| set.text().starts_with("they never")),
    ("text=\"They never mended the\"", |_| false),
    ("text!=\"They never mended the fence .\"", |set| !set.text().starts_with("they never")),
    ("text=\"* fence .\"", |set| set.text().trim().ends_with(" fence .")),
    ("text=\"* fence . \"", |set| set.text().trim().ends_with(" fence .")),
    ("text=\"*.\"", |set| set.text().trim().ends_with('.')),
    ("text=\" they *\"", |set| set.text().trim().starts_with("they ")),
    ("text!=\"*.\"", |set| !set.text().trim().ends_with('.')),
    ("text~\" $\"", |set| set.text().ends_with(' ')),
    ("text~\"\\.$\"", |set| set.text().ends_with('.')),
    ("text=*the*", |set| set.text().contains("the")),
    ("text=*hecke*", |set| set.text().contains("hecke")),
    ("text=\"* caf\u{e9} *\"", |set| set.text().contains(" caf\u{e9} ")),
    ("text~\"\\bthe\\b\"", |set| set.text().split(' ').any(|word| word == "the")),
    ("text~\"[0-9]\"", |set| set.text().contains('5')),
    ("text~\" < 5 & \"", |set| set.text().contains(" < 5 & ")),
    ("text!=*the*", |set| !set.text().contains("the")),
];

const LABELS: &[Oracle] = &[
    ("fe=Checker", |set| set.elements().iter().any(|fe| fe.name == "Checker")),
    ("fe=check*", |set| set.elements().iter().any(|fe| fe.name.starts_with("Check"))),
    ("fe!=Checker", |set| set.elements().iter().all(|fe| fe.name != "Checker")),
    ("fe=Checker{gf=Ext}", |set| {
        set.elements().iter().any(|fe| fe.name == "Checker" && has(&fe.gf, "Ext"))
    }),
    ("fe=Checker{gf=Ext pt=NP}", |set| {
        let of = |fe: &Element<'_>| has(&fe.gf, "Ext") && has(&fe.pt, "NP");
        set.elements().iter().any(|fe| fe.name == "Checker" && of(fe))
    }),
    ("fe=*{pt=PP*}", |set| {
        set.elements().iter().any(|fe| fe.pt.iter().any(|pt| pt.starts_with("PP")))
    }),
    ("fe=Checker{overt=false}", |set| {
        set.elements().iter().any(|fe| fe.name == "Checker" && fe.span.is_none())
    }),
    ("fe=*{ni=CNI}", |set| set.elements().iter().any(|fe| fe.null == Some("CNI"))),
    ("fe=Matter{gf!=Obj}", |set| {
        set.elements().iter().any(|fe| fe.name == "Matter" && !has(&fe.gf, "Obj"))
    }),
    ("gf=Ext", |set| set.elements().iter().any(|fe| has(&fe.gf, "Ext"))),
    ("gf!=Ext", |set| set.elements().iter().all(|fe| !has(&fe.gf, "Ext"))),
    ("pt=NP", |set| set.elements().iter().any(|fe| has(&fe.pt, "NP"))),
    ("pt=PP*", |set| set.elements().iter().any(|fe| fe.pt.iter().any(|pt| pt.starts_with("PP")))),
    ("ni=DNI", |set| set.elements().iter().any(|fe| fe.null == Some("DNI"))),
    ("ni=*", |set| set.elements().iter().any(|fe| fe.null.is_some())),
    ("ni=X*", |set| set.elements().iter().any(|fe| fe.null == Some("XNI"))),
];

const SETS: &[Oracle] = &[
    ("status=MANUAL", |set| set.set.status == "MANUAL"),
    ("status=auto*", |set| set.set.status.starts_with("AUTO")),
    ("corpus=MINI", |set| set.documents.iter().any(|document| document.2 == "MINI")),
    ("corpus!=MINI", |set| set.documents.iter().all(|document| document.2 != "MINI")),
    ("corpus=OTHER", |set| set.documents.iter().any(|document| document.2 == "OTHER")),
    ("corpus=MINI origin=exemplar", |set| set.id.ends_with(" x7064")),
    ("doc=Almanac", |set| set.id.ends_with(" x7066")),
    ("doc=HarbourLog", |set| set.documents.iter().any(|document| document.0 == "HarbourLog")),
    ("doc=MINI__*", |set| set.documents.iter().any(|document| document.1.starts_with("MINI__"))),
    ("split=train", |set| set.is(Origin::FullText)),
    ("split=test", |_| false),
    ("split!=train", |set| !set.is(Origin::FullText)),
    ("origin=exemplar", |set| set.is(Origin::Exemplar)),
    ("origin=fulltext", |set| set.is(Origin::FullText)),
    ("origin!=generated", |set| !set.is(Origin::Generated)),
    ("origin=user or origin=imported", |_| false),
    ("id=x7042", |set| set.id.ends_with(" x7042")),
    ("id!=x7042", |set| !set.id.ends_with(" x7042")),
    ("id=x7042,x7001,x7064", |set| {
        [" x7042", " x7001", " x7064"].iter().any(|id| set.id.ends_with(id))
    }),
    ("sentence=x5011", |set| set.sentence.id == SentenceId::new(IdSpace::Exemplar, 5011)),
    ("sentence!=x5011", |set| set.sentence.id != SentenceId::new(IdSpace::Exemplar, 5011)),
    ("since=0", |_| true),
    ("since=1", |set| set.is(Origin::Generated)),
    ("since=99", |_| false),
];

const GENERATED: &[Oracle] = &[
    ("origin=generated", |set| set.generation().is_some()),
    ("method=paraphrase", |set| set.generation().is_some()),
    ("method!=paraphrase", |set| set.generation().is_none()),
    ("round=2", |set| set.generation().is_some_and(|made| made.round == 2)),
    ("round<2", |set| set.generation().is_some_and(|made| made.round < 2)),
    ("round>=1", |set| set.generation().is_some()),
    ("round!=2", |set| set.generation().is_none_or(|made| made.round != 2)),
    ("recipe=1", |set| set.generation().is_some()),
    ("recipe=0707*", |set| set.generation().is_some()),
    ("recipe=2", |_| false),
    ("flag=weak-alignment", |set| set.generation().is_some_and(|made| made.flags.weak_alignment)),
    ("flag!=weak-alignment", |set| set.generation().is_none_or(|made| !made.flags.weak_alignment)),
    ("flag=copy", |_| false),
    ("paraphrase<1", |set| set.generation().is_some_and(|made| made.paraphrase < 1.0)),
    ("paraphrase=1.25", |set| set.generation().is_some_and(|made| made.paraphrase == 1.25)),
    ("aligner>=0.95", |set| set.generation().is_some_and(|made| made.aligner >= 0.95)),
    ("aligner=0.99", |set| set.generation().is_some_and(|made| made.aligner == 0.99)),
    ("aligner>0.99", |_| false),
    ("aligner<=0.99", |set| set.generation().is_some()),
    ("aligner!=0.5", |set| set.generation().is_none_or(|made| made.aligner != 0.5)),
    ("seed=x7012", |set| set.generation().is_some()),
    ("source=x7012 round=1", |set| set.generation().is_some_and(|made| made.round == 1)),
    ("seed=x7013", |_| false),
    ("p>=0 or r>=0 or judgement>=0", |_| false),
];

const CONNECTIVES: &[Oracle] = &[
    ("frame=Checking origin=fulltext", |set| {
        set.frame.name == "Checking" && set.is(Origin::FullText)
    }),
    ("frame=Checking and not lu=check.v", |set| {
        set.frame.name == "Checking" && set.lu.name != "check.v"
    }),
    ("frame=Checking or trigger=mended", |set| {
        set.frame.name == "Checking" || set.trigger() == "mended"
    }),
    ("lu=mend.v or trigger=checked or id=x7058", |set| {
        set.lu.name == "mend.v" || set.trigger() == "checked" || set.id.ends_with(" x7058")
    }),
    ("(trigger=checked or trigger=mended) text=*the*", |set| {
        ["checked", "mended"].contains(&set.trigger().as_str()) && set.text().contains("the")
    }),
    ("trigger=checked lu=inspect.v", |_| false),
    ("not (frame=Checking or origin=fulltext)", |set| {
        set.frame.name != "Checking" && !set.is(Origin::FullText)
    }),
    ("not not trigger=checked", |set| set.trigger() == "checked"),
    ("trigger=checked or split=train", |set| {
        set.trigger() == "checked" || set.is(Origin::FullText)
    }),
    ("since=1 trigger=v*ed", |set| set.is(Origin::Generated)),
];

/// Asks every query of the table, plain and so wrapped that it cannot narrow the search.
fn check(table: &[Oracle]) {
    let (_dir, database, report) = mini::imported();
    generated::write(&database, report.release.id);
    let facts = facts(&database);
    assert_eq!(facts.len(), 44);
    for (query, oracle) in table {
        let expected: Vec<&str> =
            facts.iter().filter(|set| oracle(set)).map(|set| set.id.as_str()).collect();
        assert_eq!(mini::answers(&database, query), expected, "`{query}`");
        let scanned = format!("not not ({query})");
        assert_eq!(mini::answers(&database, &scanned), expected, "`{scanned}`");
        let combined = format!("({query}) ({query})");
        assert_eq!(mini::answers(&database, &combined), expected, "`{combined}`");
    }
}

#[test]
fn names_answer_as_the_records_do() {
    check(NAMES);
}

#[test]
fn triggers_and_texts_answer_as_the_records_do() {
    check(TEXTS);
}

#[test]
fn labels_answer_as_the_records_do() {
    check(LABELS);
}

#[test]
fn provenance_and_place_answer_as_the_records_do() {
    check(SETS);
}

#[test]
fn generated_sets_answer_as_the_records_do() {
    check(GENERATED);
}

#[test]
fn a_score_is_found_by_what_is_shown_of_it() {
    let (_dir, database, report) = mini::imported();
    let (sentence, mut set) = generated::sets(&database, report.release.id).remove(0);
    let Provenance::Generated(made) = &mut set.provenance else { panic!("not generated") };
    // The nearest f32 lies below 0.95, 0.7 and 0.9, and above 0.99 and 0.1.
    (made.aligner, made.paraphrase) = (0.95, 0.7);
    made.filter = Some(FilterScores { precision: 0.99, recall: 0.1, filter: [3; 16] });
    made.fit = Some(FrameFit { probability: 0.9, model: [4; 16] });
    let write = Write { sentences: vec![sentence], sets: vec![set], ..Write::default() };
    database.write(report.release.id, &write).unwrap();
    let shown =
        [("aligner", 0.95), ("paraphrase", 0.7), ("p", 0.99), ("r", 0.1), ("frame_fit", 0.9)];
    let tests = [("=", true), (">=", true), ("<=", true), (">", false), ("<", false)];
    for (field, score) in shown {
        for (how, is_found) in tests {
            let query = format!("{field}{how}{score}");
            let found = mini::answers(&database, &query);
            assert_eq!(found == ["mini-framenet g101"], is_found, "`{query}` {found:?}");
            assert_eq!(mini::answers(&database, &format!("not not {query}")), found, "`{query}`");
        }
    }
}

#[test]
fn a_score_of_minus_zero_is_zero() {
    let (_dir, database, report) = mini::imported();
    let (sentence, mut set) = generated::sets(&database, report.release.id).remove(0);
    let Provenance::Generated(made) = &mut set.provenance else { panic!("not generated") };
    (made.aligner, made.paraphrase) = (-0.0, 0.0);
    let write = Write { sentences: vec![sentence], sets: vec![set], ..Write::default() };
    database.write(report.release.id, &write).unwrap();
    for query in ["aligner=0", "aligner>=0", "paraphrase=-0", "paraphrase<=-0"] {
        assert_eq!(mini::answers(&database, query), ["mini-framenet g101"], "`{query}`");
    }
}

#[test]
fn connectives_combine_answers() {
    check(CONNECTIVES);
}

#[test]
fn letters_that_fold_by_their_neighbours_lose_no_answer() {
    let (_dir, database, report) = mini::imported();
    let release = report.release.id;
    // A capital sigma at a word's end, which lower-casing a whole word would write another way.
    let (mut sentence, mut set) = generated::sets(&database, release).remove(0);
    sentence.text = "He \u{39f}\u{394}\u{39f}\u{3a3}\nthe figures .".to_owned();
    set.targets = vec![Span::new(3, 11), Span::new(12, 15)];
    let write = fnstore::database::Write {
        sentences: vec![sentence],
        sets: vec![set],
        ..Default::default()
    };
    database.write(release, &write).unwrap();
    for query in [
        "trigger=\u{3bf}\u{3b4}\u{3bf}\u{3c3}*",
        "trigger=\"\u{39f}\u{394}\u{39f}\u{3a3} the\"",
        "trigger=*\u{3b4}*the",
        "text=\"He \u{39f}\u{394}\u{39f}\u{3a3}\nthe figures .\"",
    ] {
        let found = mini::answers(&database, query);
        assert_eq!(found, ["mini-framenet g101"], "`{query}`");
        assert_eq!(mini::answers(&database, &format!("not not ({query})")), found, "`{query}`");
    }
}

#[test]
fn a_trigger_over_two_lines_is_found_by_a_star() {
    let (_dir, database, report) = mini::imported();
    let release = report.release.id;
    let (mut sentence, mut set) = generated::sets(&database, release).remove(0);
    sentence.text = "He went\nover it .".to_owned();
    set.targets = vec![Span::new(3, 12)];
    let write = fnstore::database::Write {
        sentences: vec![sentence],
        sets: vec![set],
        ..Default::default()
    };
    database.write(release, &write).unwrap();
    let found = mini::answers(&database, "trigger=went*over");
    assert_eq!(found, ["mini-framenet g101"]);
    assert_eq!(mini::answers(&database, "not not trigger=went*over"), found);
}

#[test]
fn answers_come_in_order_of_key_with_their_names() {
    let (_dir, database, _) = mini::imported();
    let everything = Expression::parse("").unwrap();
    let answers: Vec<_> = database.query(&everything).unwrap().map(Result::unwrap).collect();
    let keys: Vec<_> = answers
        .iter()
        .map(|answer| (answer.set.frame, answer.set.lu, answer.set.sentence, answer.set.id))
        .collect();
    assert!(keys.is_sorted());
    let harbour = answers.iter().find(|answer| answer.set.id.to_string() == "f8002").unwrap();
    assert_eq!((&*harbour.frame, &*harbour.lexunit), ("Checking", "check.v"));
    assert_eq!(harbour.document.as_deref(), Some("HarbourLog"));
    assert_eq!(harbour.trigger(), "checked");
}

#[test]
fn a_name_that_is_not_there_is_an_error_with_the_nearest_one() {
    let (_dir, database, _) = mini::imported();
    for (query, kind, nearest) in [
        ("frame=Cheking", "frame", "Checking"),
        ("inherits=Hapening", "frame", "Happening"),
        ("lu=chek.v", "lexical unit", "check.v"),
        ("fe=Cheker", "frame element", "Checker"),
        ("release=mini-framnet", "release", "mini-framenet"),
        ("origin=exemplar or not frame=Cheking", "frame", "Checking"),
    ] {
        let error = match database.query(&Expression::parse(query).unwrap()) {
            Err(error) => error,
            Ok(_) => panic!("`{query}` was answered"),
        };
        assert!(matches!(error, DatabaseError::Lookup(LookupError::UnknownName { .. })), "{error}");
        let message = error.to_string();
        assert!(message.contains(kind), "{message}");
        assert!(message.contains(&format!("did you mean `{nearest}`?")), "{message}");
    }
}

#[test]
fn a_value_that_nothing_has_is_an_error_with_those_there_are() {
    let (_dir, database, _) = mini::imported();
    for (query, message) in [
        (
            "lu_status=Propsed",
            "there is no lexicographic status `Propsed`; did you mean `Proposed`?",
        ),
        (
            "frame=Checking pos=verb",
            "there is no part of speech `verb`; there are `A`, `ADV`, `ART`, `AVP`, `C`, `CCON`, `IDIO`, \
             `INTJ`, `N`, `NUM`, `PREP`, `PRON`, `SCON`, `V`, `X`",
        ),
        ("status!=manul", "there is no status of annotation sets `manul`; did you mean `MANUAL`?"),
    ] {
        let error = match database.query(&Expression::parse(query).unwrap()) {
            Err(error) => error,
            Ok(_) => panic!("`{query}` was answered"),
        };
        assert_eq!(error.to_string(), message);
    }
    // What an expansion or an import may yet give is asked for before there is any.
    for query in ["lu_status!=Proposed", "status=generated", "pos!=adv", "pos=verb*", "status=x*"] {
        assert!(database.query(&Expression::parse(query).unwrap()).is_ok(), "{query}");
    }
}
