//! Whatever the planner picks, the answers are those of a plain filter over all records: random
//! queries over several releases and all origins, sorted and cut at random, beside an index that is
//! up to date and one that lags behind.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use fnstore::database::{Database, Write};
use fnstore::internals::WithStore as _;
use fnstore::model::{
    AnnotationSet, AnnotationSetId, Extent, FeStatus, FilterScores, Flags, Generation, IdSpace,
    Judgement, Label, Method, Provenance, ReleaseId, Sentence, SentenceId, Span,
};
use fnstore::query::{
    Case, Comparison, Distance, Expression, Field, FieldKind, LabelField, LabelTest, Pattern,
    Selection, SortKey, Term, Test,
};
use fnstore::transfer::ImportOptions;
use fnstore::upkeep::CheckOptions;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use crate::query_facts::{Facts, compared, facts, holds};
use crate::{generated, mini};

/// Values to ask for: what the sets have, whole, in part, in other letters, and what none has.
fn patterns(field: Field, facts: &[Facts]) -> BoxedStrategy<Pattern> {
    let of_facts = facts.iter().flat_map(|set| {
        let all = [set.texts.get(&field), set.aliases.get(&field)];
        all.into_iter().flatten().flatten().cloned().collect::<Vec<_>>()
    });
    let mut values: BTreeSet<String> = of_facts.collect();
    values.insert("nowhere".to_owned());
    let values: Vec<String> = values.into_iter().collect();
    let must_exist = matches!(
        field,
        Field::Release
            | Field::Frame
            | Field::Inherits
            | Field::Uses
            | Field::Perspective
            | Field::Subframe
            | Field::Related
            | Field::Lu
            | Field::Fe
            | Field::Pos
            | Field::LuStatus
            | Field::Status
            | Field::Corpus
            | Field::Doc
            | Field::Edition
            | Field::Gf
            | Field::Pt
    );
    let value = proptest::sample::select(values);
    (value, 0..12_u8, any::<prop::sample::Index>(), any::<prop::sample::Index>())
        .prop_map(move |(value, form, from, to)| {
            let ends: Vec<usize> =
                value.char_indices().map(|(at, _)| at).chain([value.len()]).collect();
            let (a, b) = (*from.get(&ends), *to.get(&ends));
            let part = &value[a.min(b)..a.max(b)];
            let star = |text: &str| text.replace('\\', r"\\").replace('*', r"\*");
            let pattern = |source: &str| Pattern::wildcard(source, Case::Fold);
            let regex = |source: &str| Pattern::regex(source, Case::Fold).unwrap();
            match form {
                0 | 1 if !must_exist || value != "nowhere" => Pattern::exact(&value, Case::Fold),
                2 if field == Field::Ni => Pattern::exact("INI", Case::Fold),
                2 if !must_exist || value != "nowhere" => {
                    Pattern::exact(&value.to_uppercase(), Case::Fold)
                }
                3 => pattern(&format!("{}*", star(part))),
                4 => pattern(&format!("*{}*", star(&value[..a]))),
                5 => pattern(&format!("{}*{}", star(&value[..a.min(b)]), star(&value[a.max(b)..]))),
                6 => regex(&regex::escape(part)),
                7 => regex(&format!(r"\b{}\b", regex::escape(part))),
                9 => regex(&format!(r"(?-u:\b){}(?-u:\b)", regex::escape(part))),
                10 => regex(&format!(r"\b{{start}}{}\b{{end}}", regex::escape(part))),
                11 => regex(&format!(r"\b{{end-half}}{}\b{{start-half}}", regex::escape(part))),
                _ => regex(&format!("^(?:{}|{})", regex::escape(part), regex::escape(&value))),
            }
        })
        .prop_filter("exact kinds are checked when they are read", move |pattern| {
            let kinds = ["INI", "DNI", "CNI", "INC"];
            field != Field::Ni || pattern.as_exact().is_none_or(|kind| kinds.contains(&kind))
        })
        .boxed()
}

fn comparison() -> impl Strategy<Value = Comparison> {
    proptest::sample::select(vec![
        Comparison::Equal,
        Comparison::Less,
        Comparison::LessOrEqual,
        Comparison::Greater,
        Comparison::GreaterOrEqual,
    ])
}

/// Eighths, and the scores of the sets as they are shown: most differ from the f32 that is stored.
fn bounds(field: Field, facts: &[Facts]) -> proptest::sample::Select<f64> {
    let scores = facts.iter().filter_map(|set| set.numbers.get(&field)).flatten();
    let shown = scores.map(|score| (*score as f32).to_string().parse::<f64>().unwrap());
    let mut bounds: Vec<f64> = (0..=8_u8).map(|at| f64::from(at) / 8.0).chain(shown).collect();
    bounds.sort_by(f64::total_cmp);
    bounds.dedup();
    proptest::sample::select(bounds)
}

pub(crate) fn term(field: Field, facts: &[Facts]) -> BoxedStrategy<Expression> {
    let test = match field.kind() {
        FieldKind::Name | FieldKind::Text | FieldKind::NullInstantiation => {
            patterns(field, facts).prop_map(Test::Pattern).boxed()
        }
        FieldKind::Relation => {
            let distance = (comparison(), 0..4_u64)
                .prop_map(|(comparison, steps)| Distance { comparison, steps });
            (patterns(field, facts), proptest::option::of(distance))
                .prop_map(|(name, distance)| Test::Relative(name, distance))
                .boxed()
        }
        FieldKind::Label => {
            let test = |name, field| {
                (patterns(field, facts), any::<bool>()).prop_map(move |(pattern, negated)| {
                    LabelTest::Pattern { field: name, negated, pattern }
                })
            };
            let test = prop_oneof![
                test(LabelField::Gf, Field::Gf),
                test(LabelField::Pt, Field::Pt),
                test(LabelField::Ni, Field::Ni),
                any::<bool>().prop_map(LabelTest::Overt),
            ];
            let tests = proptest::collection::vec(test, 0..3);
            let label = (patterns(field, facts), tests).boxed();
            prop_oneof![
                2 => label.clone().prop_map(|(name, all)| Test::Label(name, all)),
                1 => [label.clone(), label].prop_map(|sides| Test::Overlap(Box::new(sides))),
            ]
            .boxed()
        }
        FieldKind::Choice => {
            proptest::sample::select(field.choices()).prop_map(Test::Choice).boxed()
        }
        FieldKind::Integer => {
            (comparison(), 0..8_u64).prop_map(|(how, bound)| Test::Integer(how, bound)).boxed()
        }
        FieldKind::Percentage => {
            (comparison(), 0..=100_u64).prop_map(|(how, bound)| Test::Integer(how, bound)).boxed()
        }
        FieldKind::Decimal | FieldKind::Fraction => (comparison(), bounds(field, facts))
            .prop_map(|(how, bound)| Test::Decimal(how, bound))
            .boxed(),
        FieldKind::Revision => (0..8_u64).prop_map(Test::Revision).boxed(),
        FieldKind::Id => {
            let ids = facts.iter().filter_map(|set| set.sets.get(&field).copied());
            let none = AnnotationSetId::new(IdSpace::FullText, 1);
            let ids: BTreeSet<_> = ids.chain([none]).collect();
            let most = ids.len().min(3);
            proptest::sample::subsequence(Vec::from_iter(ids), 1..=most)
                .prop_map(|ids| Test::Sets(ids.into_iter().collect()))
                .boxed()
        }
        FieldKind::Sentence => {
            let ids = facts.iter().map(|set| set.sets[&Field::Sentence].bits());
            let none = SentenceId::new(IdSpace::FullText, 1).bits();
            let ids: BTreeSet<u64> = ids.chain([none]).collect();
            let id = |bits| SentenceId::from_bits(bits).unwrap();
            proptest::sample::subsequence(Vec::from_iter(ids), 1..=3)
                .prop_map(move |ids| Test::Sentences(ids.into_iter().map(id).collect()))
                .boxed()
        }
    };
    let term = move |test| Some(Expression::Term(Term::new(field, test).ok()?));
    test.prop_filter_map("no test that the field has", term).boxed()
}

pub(crate) fn all_of(parts: Vec<Expression>) -> Expression {
    Expression::all_of(parts).unwrap()
}

pub(crate) fn any_of(parts: Vec<Expression>) -> Expression {
    Expression::any_of(parts).unwrap()
}

fn expression(facts: &[Facts]) -> impl Strategy<Value = Expression> {
    let terms: Vec<BoxedStrategy<Expression>> =
        Field::ALL.iter().map(|field| term(*field, facts)).collect();
    let leaf = prop_oneof![
        20 => proptest::strategy::Union::new(terms),
        1 => Just(Expression::Everything),
    ];
    leaf.prop_recursive(4, 12, 3, |inner| {
        prop_oneof![
            4 => proptest::collection::vec(inner.clone(), 1..4).prop_map(all_of),
            3 => proptest::collection::vec(inner.clone(), 1..4).prop_map(any_of),
            1 => inner.prop_map(|inner| inner.negated().unwrap()),
        ]
    })
}

fn selection() -> impl Strategy<Value = Selection> {
    let fields: Vec<Field> = Field::ALL.iter().copied().filter(|field| field.has_value()).collect();
    let key = (proptest::sample::select(fields), any::<bool>())
        .prop_map(|(field, descending)| SortKey { field, descending });
    let limit = proptest::option::of(0..20_usize);
    (proptest::collection::vec(key, 0..3), 0..6_usize, limit)
        .prop_map(|(sort, offset, limit)| Selection { sort, offset, limit, ..Selection::default() })
}

/// Sets of people and of other files, on sentences of their own and on one of a document.
fn add_people_and_files(database: &Database, release: ReleaseId) {
    let store = database.store();
    let models: Vec<AnnotationSet> =
        store.annotation_sets(release).unwrap().map(Result::unwrap).collect();
    let full_text =
        models.iter().find(|set| matches!(set.provenance, Provenance::FullText { .. })).unwrap();
    let own = Sentence {
        id: SentenceId::new(IdSpace::Imported, 1),
        xml_id: None,
        text: "Caf\u{e9} owners CHECKED \u{130}t twice , not once .".to_owned(),
        occurrences: Vec::new(),
    };
    // Digits and letters that are words to the index and none to a pattern, or the other way round.
    let odd = Sentence {
        id: SentenceId::new(IdSpace::Imported, 2),
        text: "1\u{bd} cups of \u{39b}\u{3cc}\u{3b3}\u{3bf}\u{3c2} , x\u{b2} \u{212a}ept a\u{212a}m\u{b3} na\u{ef}ve_foo ."
            .to_owned(),
        ..own.clone()
    };
    let of = |number, provenance, sentence: SentenceId, targets| {
        let mut layers = full_text.layers.clone();
        // Labels of the full text stay where another text has their spans.
        if let Some(other) = [&own, &odd].into_iter().find(|other| other.id == sentence) {
            let is_inside = |label: &Label| match &label.extent {
                Extent::Overt(span) => other.text.get(span.start as usize..span.end as usize),
                _ => Some(""),
            };
            layers.iter_mut().for_each(|layer| layer.labels.retain(|of| is_inside(of).is_some()));
        }
        AnnotationSet {
            id: AnnotationSetId::new(IdSpace::Imported, number),
            xml_id: None,
            sentence,
            provenance,
            targets,
            layers,
            ..full_text.clone()
        }
    };
    let imported = Provenance::Imported { file: "Spans.jsonl".to_owned() };
    let sets = vec![
        of(1, Provenance::User, own.id, vec![Span::new(13, 20)]),
        of(2, Provenance::User, full_text.sentence, full_text.targets.clone()),
        of(3, imported.clone(), own.id, vec![Span::new(0, 5), Span::new(13, 20)]),
        of(4, imported.clone(), full_text.sentence, full_text.targets.clone()),
        of(5, imported, odd.id, vec![Span::new(0, 8)]),
        of(6, Provenance::User, odd.id, vec![Span::new(12, 22)]),
    ];
    database
        .write(release, &Write { sentences: vec![own, odd], sets, ..Write::default() })
        .unwrap();
}

/// Judgements of some sets, by one reviewer or two.
fn judge(database: &Database, release: ReleaseId) {
    let sets: Vec<AnnotationSet> =
        database.store().annotation_sets(release).unwrap().map(Result::unwrap).collect();
    let mut edits = database.transaction(release).unwrap();
    for (number, set) in (0_u8..).zip(sets).step_by(3).take(14) {
        for reviewer in ["kim", "lee"].into_iter().take(1 + usize::from(number % 2)) {
            let score = (number * 2 + if reviewer == "kim" { 0 } else { 31 }) % 101;
            let reviewer = reviewer.to_owned();
            let judgement = Judgement {
                reviewer,
                question: String::new(),
                score,
                time: 0,
                note: String::new(),
                shown: None,
            };
            edits.set_judgement(set.id, judgement).unwrap();
        }
    }
    let listed = database.releases().unwrap().into_iter().find(|of| of.id == release).unwrap();
    for (name, query) in [("first", "round=1 or frame=Checking"), ("other", "trigger=c*")] {
        let query = format!("release=\"{}\" ({query})", listed.name);
        let edition = database.edition_of(name, &query.parse().unwrap(), 7).unwrap();
        let (of, edition) = edition.unwrap();
        assert_eq!(of, release);
        edits.add_edition(edition).unwrap();
    }
    edits.commit().unwrap();
}

/// Enough generated sets under one frame that the planner has something to choose.
fn add_many(database: &Database, release: ReleaseId) {
    let store = database.store();
    let human: Vec<AnnotationSet> =
        store.annotation_sets(release).unwrap().map(Result::unwrap).collect();
    let human: Vec<&AnnotationSet> =
        human.iter().filter(|set| set.id.space() != IdSpace::Generated).collect();
    let place = human.iter().find(|set| set.frame.0 == 102).unwrap();
    let mut write = Write::default();
    for number in 0..700_u64 {
        let at = number as usize;
        let verb = ["looked over", "vetted", "re-checked", "verified", "1\u{bd} cups"][at % 5];
        let noun = [
            "ropes",
            "x\u{b2}",
            "locks",
            "figures",
            "lock",
            "Ropes",
            "\u{39b}\u{39f}\u{393}\u{39f}\u{3a3}",
        ][at % 7];
        let sentence = Sentence {
            id: SentenceId::new(IdSpace::Generated, 1000 + number),
            xml_id: None,
            text: format!("{verb} the {noun} {number} times ."),
            occurrences: Vec::new(),
        };
        let seed = human[at % human.len()].id;
        let generation = Generation {
            seed,
            source: if at.is_multiple_of(3) { human[at % 7].id } else { seed },
            target_ordinal: 0,
            round: u16::try_from(number % 6 + 1).unwrap(),
            rank: 0,
            chain: Vec::new(),
            method: Method::Paraphrase,
            recipe: fnstore::model::RecipeId(1),
            flags: Flags {
                copy: at.is_multiple_of(2),
                unmet: at.is_multiple_of(5),
                ..Flags::default()
            },
            paraphrase: f32::from(u8::try_from(number % 17).unwrap()) / 10.0,
            aligner: f32::from(u8::try_from(number % 9).unwrap()) / 9.0,
            filter: (number % 4 != 0).then(|| FilterScores {
                precision: f32::from(u8::try_from(number % 7).unwrap()) / 7.0,
                recall: f32::from(u8::try_from(number % 5).unwrap()) / 8.0,
                filter: [3; 16],
            }),
            elements: Vec::new(),
            fit: None,
        };
        write.sets.push(AnnotationSet {
            id: AnnotationSetId::new(IdSpace::Generated, 1000 + number),
            xml_id: None,
            sentence: sentence.id,
            status: "GENERATED".to_owned(),
            created: String::new(),
            targets: vec![Span::new(0, u32::try_from(verb.len()).unwrap())],
            fe_status: FeStatus::Unknown,
            layers: Vec::new(),
            provenance: Provenance::Generated(Box::new(generation)),
            ..(*place).clone()
        });
        write.sentences.push(sentence);
    }
    database.write(release, &write).unwrap();
}

/// Two releases with sets of all origins.
pub(crate) fn filled(database: &Database) {
    let first = mini::import(database, &mini::framenet()).unwrap().release.id;
    let options = ImportOptions { release: Some("second".to_owned()), ..ImportOptions::default() };
    let second = database.import(&mini::framenet(), &options, &mut |_| {}).unwrap().release.id;
    generated::write(database, first);
    add_people_and_files(database, second);
    judge(database, first);
    add_many(database, first);
}

fn keys(database: &Database, expression: &Expression, selection: &Selection) -> Vec<String> {
    let answers = database.select(expression, selection).unwrap();
    let key =
        |answer: fnstore::search::Answer| format!("{} {}", answer.release.name, answer.set.id);
    answers.map(|answer| key(answer.unwrap())).collect()
}

/// Asks random queries of a database, whose content `facts` hold.
fn check(database: &Database, facts: &[Facts]) {
    let config = Config { failure_persistence: None, ..Config::with_cases(150) };
    let strategy = (expression(facts), selection());
    let outcome = TestRunner::new(config).run(&strategy, |(expression, selection)| {
        prop_assert_eq!(&Expression::parse(&expression.to_string()), &Ok(expression.clone()));
        let mut expected: Vec<&Facts> =
            facts.iter().filter(|set| holds(set, &expression)).collect();
        let plain: Vec<String> = expected.iter().map(|set| set.key.clone()).collect();
        prop_assert_eq!(
            keys(database, &expression, &Selection::default()),
            plain,
            "{}",
            expression
        );
        expected.sort_by(|a, b| {
            let orders = selection.sort.iter().map(|key| compared(a, b, key));
            orders.fold(Ordering::Equal, Ordering::then)
        });
        let limit = selection.limit.unwrap_or(usize::MAX);
        let selected = expected.iter().skip(selection.offset).take(limit);
        let selected: Vec<String> = selected.map(|set| set.key.clone()).collect();
        prop_assert_eq!(
            keys(database, &expression, &selection),
            selected,
            "{} {:?}",
            expression,
            selection
        );
        Ok(())
    });
    outcome.unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn random_queries_answer_as_a_filter_over_all_records_does() {
    let dir = tempfile::tempdir().unwrap();
    let database = Database::open_writer(dir.path()).unwrap();
    filled(&database);
    let facts = facts(&database);
    assert!(facts.len() > 780, "{}", facts.len());
    check(&database, &facts);
}

/// A release with sets of all origins, and an index of before most of them.
pub(crate) fn filled_beside_an_old_index() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let database = Database::open_writer(dir.path()).unwrap();
    let first = mini::import(&database, &mini::framenet()).unwrap().release.id;
    generated::write(&database, first);
    drop(database);
    let old = tempfile::tempdir().unwrap();
    mini::copy(&dir.path().join("index"), &old.path().join("index"));
    let database = Database::open_writer(dir.path()).unwrap();
    add_people_and_files(&database, first);
    judge(&database, first);
    add_many(&database, first);
    drop(database);
    std::fs::remove_dir_all(dir.path().join("index")).unwrap();
    mini::copy(&old.path().join("index"), &dir.path().join("index"));
    dir
}

#[test]
fn an_index_that_lags_changes_no_answer() {
    let dir = filled_beside_an_old_index();
    let reader = Database::open(dir.path()).unwrap();
    check(&reader, &facts(&reader));
}

/// The planner takes the index for complete, and Tantivy leaves out terms above 65,530 bytes.
#[test]
fn terms_too_long_for_the_index_are_found_all_the_same() {
    let dir = tempfile::tempdir().unwrap();
    let database = Database::open_writer(dir.path()).unwrap();
    filled(&database);
    let release = database.releases().unwrap()[0].id;
    let model = human_set(&database, release);
    let long = "Long".repeat(16_400);
    let sentence = Sentence {
        id: SentenceId::new(IdSpace::Imported, 9),
        xml_id: None,
        text: format!("two {long} cups"),
        occurrences: Vec::new(),
    };
    let set = AnnotationSet {
        id: AnnotationSetId::new(IdSpace::Imported, 9),
        sentence: sentence.id,
        targets: vec![Span::new(4, 4 + u32::try_from(long.len()).unwrap())],
        ..model
    };
    let expected = [format!("{} {}", database.releases().unwrap()[0].name, set.id)];
    database
        .write(release, &Write { sentences: vec![sentence], sets: vec![set], ..Write::default() })
        .unwrap();
    for (field, pattern) in [
        (Field::Trigger, Pattern::exact(&long.to_uppercase(), Case::Fold)),
        (Field::Trigger, Pattern::wildcard("longlong*", Case::Fold)),
        (Field::Trigger, Pattern::regex("^(long)+$", Case::Fold).unwrap()),
        (Field::Text, Pattern::exact(&format!("two {long} cups"), Case::Fold)),
        (Field::Text, Pattern::wildcard("two longlong* cups", Case::Fold)),
        (Field::Text, Pattern::regex("glonglong", Case::Fold).unwrap()),
    ] {
        let expression = Expression::Term(Term::new(field, Test::Pattern(pattern)).unwrap());
        assert_eq!(keys(&database, &expression, &Selection::default()), expected, "{field}");
    }
    let report = database.check(CheckOptions { deep: true }, &mut |_| {}).unwrap();
    let of_index = report.findings.iter().flat_map(|(_, _, examples)| examples);
    let of_index: Vec<_> = of_index.filter(|finding| finding.family == "index").collect();
    assert!(of_index.is_empty(), "{of_index:?}");
}

/// A human set of a release, to be changed.
fn human_set(database: &Database, release: ReleaseId) -> AnnotationSet {
    let mut sets = database.store().annotation_sets(release).unwrap().map(Result::unwrap);
    let set = sets.find(|set| set.id.space() != IdSpace::Generated).unwrap();
    AnnotationSet { xml_id: None, provenance: Provenance::User, layers: Vec::new(), ..set }
}
