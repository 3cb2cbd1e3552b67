//! The records of a database as plain facts, and a filter over them: what queries are compared
//! with.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use fnstore::database::Database;
use fnstore::internals::WithStore as _;
use fnstore::model::{
    AnnotationSet, AnnotationSetId, CorpusId, Document, DocumentId, Extent, Generation, LayerName,
    Occurrence, Provenance, Release, Span,
};
use fnstore::query::{
    Comparison, Expression, Field, LabelField, LabelTest, Pattern, SortKey, Term, Test,
};
use fnstore::store::Subject;

/// What there is to know of a set, by the names of the query language.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    pub(crate) key: String,
    pub(crate) texts: BTreeMap<Field, BTreeSet<String>>,
    /// Other names that `doc` and `recipe` answer to.
    pub(crate) aliases: BTreeMap<Field, BTreeSet<String>>,
    pub(crate) numbers: BTreeMap<Field, Vec<f64>>,
    pub(crate) sets: BTreeMap<Field, AnnotationSetId>,
    pub(crate) labels: Vec<Label>,
    /// Of each field of relations the frames that they lead to, with their distances.
    pub(crate) relatives: BTreeMap<Field, BTreeMap<String, u64>>,
    /// The last revision that wrote it.
    pub(crate) revision: u64,
}

#[derive(Debug)]
pub(crate) struct Label {
    pub(crate) name: String,
    pub(crate) gf: Option<String>,
    pub(crate) pt: Option<String>,
    pub(crate) ni: Option<String>,
    pub(crate) span: Option<Span>,
}

/// The documents of a release by corpus and number.
type Documents = BTreeMap<(CorpusId, DocumentId), Document>;

pub(crate) fn facts(database: &Database) -> Vec<Facts> {
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
        (Field::LuStatus, &lu.status),
        (Field::Lemma, lemma),
        (Field::Pos, pos),
        (Field::Trigger, &pieces.join(" ")),
        (Field::Text, &sentence.text),
        (Field::Status, &set.status),
        (Field::Origin, set.provenance.origin().as_str()),
    ] {
        facts.texts.insert(field, BTreeSet::from([text.to_owned()]));
    }
    add_relatives(&mut facts, database, release, &frame.name);
    add_labels(&mut facts, set);
    facts.sets.insert(Field::Id, set.id);
    // As if it were a set's: both are a space and a number.
    let sentence = AnnotationSetId::from_bits(set.sentence.bits()).unwrap();
    facts.sets.insert(Field::Sentence, sentence);
    let scores = store.judgements(release.id, set.id).unwrap();
    let scores: Vec<f64> = scores.map(|judgement| f64::from(judgement.unwrap().score)).collect();
    if !scores.is_empty() {
        let mean = scores.iter().sum::<f64>() / scores.len() as f64;
        facts.numbers.insert(Field::JudgementMean, vec![f64::from(mean as f32)]);
        facts.numbers.insert(Field::Judgement, scores);
    }
    let editions = store.editions(release.id).unwrap().map(Result::unwrap);
    let holding = editions.filter(|edition| edition.sets.iter().any(|of| of.set == set.id));
    let names: BTreeSet<String> = holding.map(|edition| edition.name).collect();
    if !names.is_empty() {
        facts.texts.insert(Field::Edition, names);
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

/// Distances by steps over all relations, until none gets shorter.
fn add_relatives(facts: &mut Facts, database: &Database, release: &Release, frame: &str) {
    let relations: Vec<_> =
        database.store().relations(release.id).unwrap().map(Result::unwrap).collect();
    for (field, kind, usual) in [
        (Field::Inherits, Some("Inheritance"), 0..=u64::MAX),
        (Field::Uses, Some("Using"), 1..=u64::MAX),
        (Field::Perspective, Some("Perspective_on"), 1..=u64::MAX),
        (Field::Subframe, Some("Subframe"), 1..=u64::MAX),
        (Field::Related, None, 1..=1),
    ] {
        let mut distances = BTreeMap::from([(frame.to_owned(), 0)]);
        for _ in 0..=relations.len() {
            for relation in &relations {
                let (child, parent) = (&relation.child_name, &relation.parent_name);
                let mut steps = Vec::new();
                if kind.is_none_or(|kind| kind == relation.kind) {
                    steps.push((child, parent));
                }
                if kind.is_none() {
                    steps.push((parent, child));
                }
                for (from, to) in steps {
                    let Some(so_far) = distances.get(from).copied() else { continue };
                    let shortest = distances.entry(to.clone()).or_insert(so_far + 1);
                    *shortest = (*shortest).min(so_far + 1);
                }
            }
        }
        let near = distances.iter().filter(|(_, steps)| usual.contains(*steps));
        let names: BTreeSet<String> = near.map(|(name, _)| name.clone()).collect();
        if !names.is_empty() {
            facts.texts.insert(field, names);
        }
        facts.relatives.insert(field, distances);
    }
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
            facts.labels.push(Label { name: label.name.clone(), gf, pt, ni, span });
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
        ("unlike-frame", made.flags.unlike_frame),
        ("lost-fe", made.flags.lost_element),
    ] {
        if is_set {
            add(Field::Flag, name.to_owned());
        }
    }
    facts.aliases.insert(Field::Recipe, BTreeSet::from(["07".repeat(16)]));
    facts.numbers.insert(Field::Round, vec![f64::from(made.round)]);
    facts.numbers.insert(Field::Paraphrase, vec![f64::from(made.paraphrase)]);
    facts.numbers.insert(Field::Aligner, vec![f64::from(made.aligner)]);
    if let Some(scores) = made.filter {
        facts.numbers.insert(Field::P, vec![f64::from(scores.precision)]);
        facts.numbers.insert(Field::R, vec![f64::from(scores.recall)]);
    }
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

pub(crate) fn fold(text: &str) -> String {
    let lower = text.chars().flat_map(char::to_lowercase);
    lower.map(|letter| if letter == '\u{3c2}' { '\u{3c3}' } else { letter }).collect()
}

/// Whether a text is the pieces with anything between them, tried at every place.
pub(crate) fn is_pieced(pieces: &[String], text: &str) -> bool {
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

fn has(label: &Label, name: &Pattern, tests: &[LabelTest]) -> bool {
    matches(name, &label.name)
        && tests.iter().all(|test| match test {
            LabelTest::Overt(wanted) => label.span.is_some() == *wanted,
            LabelTest::Pattern { field, negated, pattern } => {
                let value = match field {
                    LabelField::Gf => &label.gf,
                    LabelField::Pt => &label.pt,
                    LabelField::Ni => &label.ni,
                };
                value.as_ref().is_some_and(|value| matches(pattern, value)) != *negated
            }
        })
}

/// Whether a place of the text is in both labels.
fn share(one: &Label, other: &Label) -> bool {
    let (Some(one), Some(other)) = (one.span, other.span) else { return false };
    (one.start..one.end).any(|at| (other.start..other.end).contains(&at))
}

fn passes(facts: &Facts, term: &Term) -> bool {
    let texts = || {
        let of = |all: &'_ BTreeMap<Field, BTreeSet<String>>| {
            all.get(&term.field()).cloned().unwrap_or_default()
        };
        &of(&facts.texts) | &of(&facts.aliases)
    };
    let numbers = || facts.numbers.get(&term.field()).into_iter().flatten().copied();
    match term.test() {
        Test::Pattern(pattern) => texts().iter().any(|text| matches(pattern, text)),
        Test::Relative(name, distance) => {
            facts.relatives[&term.field()].iter().any(|(of, steps)| {
                let is_near = match (distance, term.field()) {
                    (Some(by), _) => compares(by.comparison, *steps as f64, by.steps as f64),
                    (None, Field::Inherits) => true,
                    (None, Field::Related) => *steps == 1,
                    (None, _) => *steps > 0,
                };
                is_near && matches(name, of)
            })
        }
        Test::Label(name, tests) => facts.labels.iter().any(|label| has(label, name, tests)),
        Test::Overlap(sides) => {
            let [(one, of_one), (other, of_other)] = &**sides;
            facts.labels.iter().enumerate().any(|(at, label)| {
                has(label, one, of_one)
                    && facts.labels.iter().enumerate().any(|(beside, second)| {
                        at != beside && has(second, other, of_other) && share(label, second)
                    })
            })
        }
        Test::Choice(word) => texts().contains(*word),
        Test::Integer(comparison, bound) => {
            numbers().any(|number| compares(*comparison, number, *bound as f64))
        }
        Test::Decimal(comparison, bound) => {
            // A score is an f32, and the number of a query is rounded to one.
            let bound = f64::from(*bound as f32);
            numbers().any(|number| compares(*comparison, number, bound))
        }
        Test::Sets(ids) => facts.sets.get(&term.field()).is_some_and(|set| ids.contains(*set)),
        Test::Sentences(ids) => {
            let sentence = facts.sets[&Field::Sentence].bits();
            ids.iter().any(|id| id.bits() == sentence)
        }
        Test::Revision(revision) => facts.revision > *revision,
    }
}

pub(crate) fn holds(facts: &Facts, expression: &Expression) -> bool {
    match expression {
        Expression::Everything => true,
        Expression::And(parts) => parts.iter().all(|part| holds(facts, part)),
        Expression::Or(parts) => parts.iter().any(|part| holds(facts, part)),
        Expression::Not(inner) => !holds(facts, inner),
        Expression::Term(term) => passes(facts, term),
    }
}

/// The order of two sets by one key; what has no value comes last.
pub(crate) fn compared(a: &Facts, b: &Facts, key: &SortKey) -> Ordering {
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
