//! Whatever the planner picks, the answers are those of a plain filter over all records: random
//! queries over several releases and all origins, sorted and cut at random, beside an index that is
//! up to date and one that lags behind.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use fnstore::database::{Database, ImportOptions, Write};
use fnstore::model::{
    AnnotationSet, AnnotationSetId, CorpusId, Document, DocumentId, Extent, FeStatus, Flags,
    Generation, IdSpace, Judgement, LayerName, Method, Occurrence, Provenance, Release, ReleaseId,
    Sentence, SentenceId, Span,
};
use fnstore::query::{
    Case, Comparison, Expression, Field, FieldKind, LabelField, LabelTest, Pattern, Selection,
    SortKey, Term, Test,
};
use fnstore::store::Subject;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use crate::{generated, mini};

/// What there is to know of a set, by the names of the query language.
#[derive(Debug, Default)]
struct Facts {
    key: String,
    texts: BTreeMap<Field, BTreeSet<String>>,
    /// Other names that `doc` and `recipe` answer to.
    aliases: BTreeMap<Field, BTreeSet<String>>,
    numbers: BTreeMap<Field, Vec<f64>>,
    sets: BTreeMap<Field, AnnotationSetId>,
    labels: Vec<Label>,
    /// The last revision that wrote it.
    revision: u64,
}

#[derive(Debug)]
struct Label {
    name: String,
    gf: Option<String>,
    pt: Option<String>,
    ni: Option<String>,
    overt: bool,
}

/// The documents of a release by corpus and number.
type Documents = BTreeMap<(CorpusId, DocumentId), Document>;

fn facts(database: &Database) -> Vec<Facts> {
    let store = database.store();
    let mut of_release = BTreeMap::new();
    let mut of_set = BTreeMap::new();
    for change in store.changes_since(0).unwrap() {
        let change = change.unwrap();
        match change.subject {
            Subject::Release => {
                of_release.insert(change.release, change.revision);
            }
            Subject::Set(set, _) => {
                of_set.insert((change.release, set), change.revision);
            }
            _ => {}
        }
    }
    let mut all = Vec::new();
    for release in database.releases().unwrap() {
        let documents = store.documents(release.id).unwrap().map(Result::unwrap);
        let documents: Documents =
            documents.map(|document| ((document.corpus, document.id), document)).collect();
        for set in store.annotation_sets(release.id).unwrap() {
            let set = set.unwrap();
            let mut facts = facts_of(database, &release, &documents, &set);
            let revisions = [of_release.get(&release.id), of_set.get(&(release.id, set.id))];
            facts.revision = revisions.into_iter().flatten().copied().max().unwrap();
            all.push(facts);
        }
    }
    all
}

fn facts_of(
    database: &Database,
    release: &Release,
    documents: &Documents,
    set: &AnnotationSet,
) -> Facts {
    let store = database.store();
    let mut facts = Facts { key: format!("{} {}", release.name, set.id), ..Facts::default() };
    let sentence = store.sentence(release.id, set.sentence).unwrap().unwrap();
    let frame = store.frame(release.id, set.frame).unwrap().unwrap();
    let lu = store.lexunit(release.id, set.frame, set.lu).unwrap().unwrap();
    let (lemma, pos) = lu.name.rsplit_once('.').unwrap();
    let pieces: Vec<&str> =
        set.targets.iter().map(|span| span.of(&sentence.text).unwrap()).collect();
    for (field, text) in [
        (Field::Release, release.name.as_str()),
        (Field::Frame, &frame.name),
        (Field::Lu, &lu.name),
        (Field::Lemma, lemma),
        (Field::Pos, pos),
        (Field::Trigger, &pieces.join(" ")),
        (Field::Text, &sentence.text),
        (Field::Status, &set.status),
        (Field::Origin, set.provenance.origin().as_str()),
    ] {
        facts.texts.insert(field, BTreeSet::from([text.to_owned()]));
    }
    let mut ancestors = BTreeSet::from([frame.name.clone()]);
    let mut size = 0;
    while size != ancestors.len() {
        size = ancestors.len();
        for relation in store.relations(release.id).unwrap().map(Result::unwrap) {
            if relation.kind == "Inheritance" && ancestors.contains(&relation.child_name) {
                ancestors.insert(relation.parent_name);
            }
        }
    }
    facts.texts.insert(Field::Inherits, ancestors);
    add_labels(&mut facts, set);
    facts.sets.insert(Field::Id, set.id);
    let scores = store.judgements(release.id, set.id).unwrap();
    let scores: Vec<f64> = scores.map(|judgement| f64::from(judgement.unwrap().score)).collect();
    if !scores.is_empty() {
        facts.numbers.insert(Field::Judgement, scores);
    }
    let mut home = set.clone();
    if let Provenance::Generated(made) = &set.provenance {
        add_generation(&mut facts, made);
        home = store.annotation_set(release.id, made.seed).unwrap().unwrap();
    }
    let occurrences = store.sentence(release.id, home.sentence).unwrap().unwrap().occurrences;
    add_place(&mut facts, documents, &home, &occurrences);
    facts
}

fn add_labels(facts: &mut Facts, set: &AnnotationSet) {
    for layer in set.layers.iter().filter(|layer| layer.name == LayerName::Fe) {
        for label in &layer.labels {
            let span = label.extent.span();
            let on_span = |name: LayerName| {
                let same = set.layers.iter().filter(|l| l.name == name && l.rank == layer.rank);
                let mut labels = same.flat_map(|layer| &layer.labels);
                let found = labels.find(|other| span.is_some() && other.extent.span() == span);
                found.map(|other| other.name.clone())
            };
            let ni = match &label.extent {
                Extent::Null(kind) => Some(kind.as_str().to_owned()),
                _ => None,
            };
            let (gf, pt) = (on_span(LayerName::Gf), on_span(LayerName::Pt));
            for (field, value) in [
                (Field::Fe, &Some(label.name.clone())),
                (Field::Gf, &gf),
                (Field::Pt, &pt),
                (Field::Ni, &ni),
            ] {
                facts.texts.entry(field).or_default().extend(value.clone());
            }
            let overt = span.is_some();
            facts.labels.push(Label { name: label.name.clone(), gf, pt, ni, overt });
        }
    }
}

fn add_generation(facts: &mut Facts, made: &Generation) {
    let mut add = |field, text: String| {
        facts.texts.entry(field).or_default().insert(text);
    };
    add(Field::Method, made.method.as_str().to_owned());
    add(Field::Recipe, made.recipe.0.to_string());
    for (name, is_set) in [
        ("copy", made.flags.copy),
        ("duplicate", made.flags.duplicate),
        ("weak-alignment", made.flags.weak_alignment),
        ("unmet", made.flags.unmet),
        ("unknown-word", made.flags.unknown_word),
    ] {
        if is_set {
            add(Field::Flag, name.to_owned());
        }
    }
    facts.aliases.insert(Field::Recipe, BTreeSet::from(["07".repeat(16)]));
    facts.numbers.insert(Field::Round, vec![f64::from(made.round)]);
    facts.numbers.insert(Field::Paraphrase, vec![f64::from(made.paraphrase)]);
    facts.numbers.insert(Field::Aligner, vec![f64::from(made.aligner)]);
    facts.sets.insert(Field::Seed, made.seed);
    facts.sets.insert(Field::Source, made.source);
}

/// Corpus, document and part of the data, by the set that others grew from.
fn add_place(
    facts: &mut Facts,
    documents: &Documents,
    home: &AnnotationSet,
    places: &[Occurrence],
) {
    let key = match &home.provenance {
        Provenance::FullText { corpus, document } => Some((*corpus, *document)),
        Provenance::Exemplar { lu, .. } => {
            let place = places.iter().find(|place| place.lu == Some(*lu) && place.corpus.is_some());
            place.and_then(|place| place.corpus.zip(place.document))
        }
        _ => {
            let place = places.iter().find(|place| place.corpus.is_some());
            place.and_then(|place| place.corpus.zip(place.document))
        }
    };
    if let Provenance::Imported { file } = &home.provenance {
        facts.texts.entry(Field::Doc).or_default().insert(file.clone());
        facts.aliases.entry(Field::Doc).or_default().insert(file.clone());
    }
    let Some(document) = key.and_then(|key| documents.get(&key)) else { return };
    facts.texts.insert(Field::Corpus, BTreeSet::from([document.corpus_name.clone()]));
    facts.texts.insert(Field::Doc, BTreeSet::from([document.name.clone()]));
    facts.aliases.entry(Field::Doc).or_default().insert(document.file.clone());
    let is_exemplar = matches!(home.provenance, Provenance::Exemplar { .. });
    if !is_exemplar && !document.file.is_empty() {
        facts.texts.insert(Field::Split, BTreeSet::from(["train".to_owned()]));
    }
}

fn fold(text: &str) -> String {
    text.chars().flat_map(char::to_lowercase).collect()
}

/// Whether a text is the pieces with anything between them, tried at every place.
fn is_pieced(pieces: &[String], text: &str) -> bool {
    match pieces {
        [] => false,
        [last] => text == last,
        [first, rest @ ..] => text.strip_prefix(first.as_str()).is_some_and(|left| {
            (0..=left.len()).any(|at| left.is_char_boundary(at) && is_pieced(rest, &left[at..]))
        }),
    }
}

fn matches(pattern: &Pattern, text: &str) -> bool {
    if let Some(source) = pattern.as_regex() {
        let regex = regex::RegexBuilder::new(source).case_insensitive(true).build();
        return regex.unwrap().is_match(text);
    }
    let pieces: Vec<String> = pattern.pieces().unwrap().iter().map(|piece| fold(piece)).collect();
    is_pieced(&pieces, &fold(text))
}

fn compares(comparison: Comparison, value: f64, bound: f64) -> bool {
    match comparison {
        Comparison::Equal => value == bound,
        Comparison::Less => value < bound,
        Comparison::LessOrEqual => value <= bound,
        Comparison::Greater => value > bound,
        Comparison::GreaterOrEqual => value >= bound,
    }
}

fn passes(facts: &Facts, term: &Term) -> bool {
    let texts = || {
        let of = |all: &'_ BTreeMap<Field, BTreeSet<String>>| {
            all.get(&term.field).cloned().unwrap_or_default()
        };
        &of(&facts.texts) | &of(&facts.aliases)
    };
    let numbers = || facts.numbers.get(&term.field).into_iter().flatten().copied();
    match &term.test {
        Test::Pattern(pattern) => texts().iter().any(|text| matches(pattern, text)),
        Test::Label(name, tests) => facts.labels.iter().any(|label| {
            matches(name, &label.name)
                && tests.iter().all(|test| match test {
                    LabelTest::Overt(wanted) => label.overt == *wanted,
                    LabelTest::Pattern { field, negated, pattern } => {
                        let value = match field {
                            LabelField::Gf => &label.gf,
                            LabelField::Pt => &label.pt,
                            LabelField::Ni => &label.ni,
                        };
                        value.as_ref().is_some_and(|value| matches(pattern, value)) != *negated
                    }
                })
        }),
        Test::Choice(word) => texts().contains(*word),
        Test::Integer(comparison, bound) => {
            numbers().any(|number| compares(*comparison, number, *bound as f64))
        }
        Test::Decimal(comparison, bound) => {
            numbers().any(|number| compares(*comparison, number, *bound))
        }
        Test::Set(id) => facts.sets.get(&term.field) == Some(id),
        Test::Revision(revision) => facts.revision > *revision,
    }
}

fn holds(facts: &Facts, expression: &Expression) -> bool {
    match expression {
        Expression::Everything => true,
        Expression::And(parts) => parts.iter().all(|part| holds(facts, part)),
        Expression::Or(parts) => parts.iter().any(|part| holds(facts, part)),
        Expression::Not(inner) => !holds(facts, inner),
        Expression::Term(term) => passes(facts, term),
    }
}

/// The order of two sets by one key; what has no value comes last.
fn compared(a: &Facts, b: &Facts, key: &SortKey) -> Ordering {
    let directed = |order: Ordering| if key.descending { order.reverse() } else { order };
    if let (Some(a), Some(b)) = (a.numbers.get(&key.field), b.numbers.get(&key.field)) {
        let end = |numbers: &[f64]| {
            let ends = numbers.iter().copied();
            if key.descending {
                ends.fold(f64::MIN, f64::max)
            } else {
                ends.fold(f64::MAX, f64::min)
            }
        };
        return directed(end(a).total_cmp(&end(b)));
    }
    if let (Some(a), Some(b)) = (a.sets.get(&key.field), b.sets.get(&key.field)) {
        return directed(a.cmp(b));
    }
    let text = |facts: &Facts| {
        let texts = facts.texts.get(&key.field).into_iter().flatten();
        let texts = texts.map(|text| (fold(text), text.clone()));
        if key.descending { texts.max() } else { texts.min() }
    };
    let has_value = |facts: &Facts| {
        facts.numbers.contains_key(&key.field)
            || facts.sets.contains_key(&key.field)
            || text(facts).is_some()
    };
    match (text(a), text(b)) {
        (Some(a), Some(b)) => directed(a.cmp(&b)),
        _ => has_value(b).cmp(&has_value(a)),
    }
}

/// Values to ask for: what the sets have, whole, in part, in other letters, and what none has.
fn patterns(field: Field, facts: &[Facts]) -> BoxedStrategy<Pattern> {
    let of_facts = facts.iter().flat_map(|set| {
        let all = [set.texts.get(&field), set.aliases.get(&field)];
        all.into_iter().flatten().flatten().cloned().collect::<Vec<_>>()
    });
    let mut values: BTreeSet<String> = of_facts.collect();
    values.insert("nowhere".to_owned());
    let values: Vec<String> = values.into_iter().collect();
    let must_exist =
        matches!(field, Field::Release | Field::Frame | Field::Inherits | Field::Lu | Field::Fe);
    let value = proptest::sample::select(values);
    (value, 0..9_u8, any::<prop::sample::Index>(), any::<prop::sample::Index>())
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

fn term(field: Field, facts: &[Facts]) -> BoxedStrategy<Expression> {
    let test = match field.kind() {
        FieldKind::Name | FieldKind::Text | FieldKind::NullInstantiation => {
            patterns(field, facts).prop_map(Test::Pattern).boxed()
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
            (patterns(field, facts), tests).prop_map(|(name, all)| Test::Label(name, all)).boxed()
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
        FieldKind::Decimal | FieldKind::Fraction => (comparison(), 0..=8_u8)
            .prop_map(|(how, eighths)| Test::Decimal(how, f64::from(eighths) / 8.0))
            .boxed(),
        FieldKind::Revision => (0..8_u64).prop_map(Test::Revision).boxed(),
        FieldKind::Id => {
            let ids = facts.iter().filter_map(|set| set.sets.get(&field).copied());
            let none = AnnotationSetId::new(IdSpace::FullText, 1);
            let ids: BTreeSet<_> = ids.chain([none]).collect();
            proptest::sample::select(Vec::from_iter(ids)).prop_map(Test::Set).boxed()
        }
    };
    test.prop_map(move |test| Expression::Term(Term { field, test })).boxed()
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
            4 => proptest::collection::vec(inner.clone(), 1..4).prop_map(Expression::all_of),
            3 => proptest::collection::vec(inner.clone(), 1..4).prop_map(Expression::any_of),
            1 => inner.prop_map(Expression::negated),
        ]
    })
}

fn selection() -> impl Strategy<Value = Selection> {
    let fields: Vec<Field> = Field::ALL.iter().copied().filter(|field| field.has_value()).collect();
    let key = (proptest::sample::select(fields), any::<bool>())
        .prop_map(|(field, descending)| SortKey { field, descending });
    let limit = proptest::option::of(0..20_usize);
    (proptest::collection::vec(key, 0..3), 0..6_usize, limit)
        .prop_map(|(sort, offset, limit)| Selection { sort, offset, limit })
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
    let of = |number, provenance, sentence: SentenceId, targets| AnnotationSet {
        id: AnnotationSetId::new(IdSpace::Imported, number),
        xml_id: None,
        sentence,
        provenance,
        targets,
        ..full_text.clone()
    };
    let imported = Provenance::Imported { file: "Spans.jsonl".to_owned() };
    let sets = vec![
        of(1, Provenance::User, own.id, vec![Span::new(13, 20)]),
        of(2, Provenance::User, full_text.sentence, full_text.targets.clone()),
        of(3, imported.clone(), own.id, vec![Span::new(0, 5), Span::new(13, 20)]),
        of(4, imported, full_text.sentence, full_text.targets.clone()),
    ];
    database.write(release, &Write { sentences: vec![own], sets, ..Write::default() }).unwrap();
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
            let judgement = Judgement { reviewer, score, time: 0, note: String::new() };
            edits.set_judgement(set.id, judgement).unwrap();
        }
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
        let verb = ["looked over", "vetted", "re-checked", "verified"][at % 4];
        let noun = ["ropes", "locks", "figures", "lock", "Ropes"][at % 5];
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
            paraphrase: f32::from(u8::try_from(number % 17).unwrap()) / 8.0,
            aligner: f32::from(u8::try_from(number % 9).unwrap()) / 8.0,
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
fn filled(database: &Database) {
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
        |answer: fnstore::database::Answer| format!("{} {}", answer.release.name, answer.set.id);
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

#[test]
fn an_index_that_lags_changes_no_answer() {
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
    let reader = Database::open(dir.path()).unwrap();
    check(&reader, &facts(&reader));
}
