//! Counts and groups are those of the answers, whatever they are taken from: counts that commits
//! keep, an index that is up to date or lags behind, or the sets themselves.

use std::collections::BTreeMap;

use fnstore::database::{Database, Write};
use fnstore::internals::WithStore as _;
use fnstore::model::AnnotationSet;
use fnstore::query::{Expression, Field, Selection};
use fnstore::search::ValueCount;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use crate::query_facts::{Facts, facts};
use crate::query_planner::{all_of, any_of, filled, filled_beside_an_old_index, term};

/// Fields that kept counts or the index can answer, and some that they cannot.
const FIELDS: [Field; 20] = [
    Field::Release,
    Field::Frame,
    Field::Inherits,
    Field::Uses,
    Field::Perspective,
    Field::Subframe,
    Field::Related,
    Field::Lu,
    Field::Pos,
    Field::LuStatus,
    Field::Lemma,
    Field::Status,
    Field::Origin,
    Field::Round,
    Field::Trigger,
    Field::Recipe,
    Field::Paraphrase,
    Field::Aligner,
    Field::Text,
    Field::Fe,
];

/// Expressions of these fields.
fn expression(facts: &[Facts], fields: &[Field]) -> BoxedStrategy<Expression> {
    let terms: Vec<_> = fields.iter().map(|field| term(*field, facts)).collect();
    let leaf = prop_oneof![
        15 => proptest::strategy::Union::new(terms),
        1 => Just(Expression::Everything),
    ];
    let deeper = leaf.prop_recursive(3, 8, 3, |inner| {
        prop_oneof![
            4 => proptest::collection::vec(inner.clone(), 1..4).prop_map(all_of),
            3 => proptest::collection::vec(inner.clone(), 1..4).prop_map(any_of),
            1 => inner.prop_map(|inner| inner.negated().unwrap()),
        ]
    });
    deeper.boxed()
}

/// Counts by reading every answer.
fn scanned(database: &Database, expression: &Expression, fields: &[Field]) -> Vec<ValueCount> {
    let mut counts: BTreeMap<Vec<Option<String>>, u64> = BTreeMap::new();
    for found in database.matches(expression, &Selection::default()).unwrap() {
        let found = found.unwrap();
        let mut all = vec![Vec::new()];
        for field in fields {
            let values = found.values(*field).unwrap();
            let mut texts: Vec<_> = values.iter().map(|value| Some(value.to_string())).collect();
            if texts.is_empty() {
                texts.push(None);
            }
            let longer = |before: &Vec<_>, text: &Option<String>| {
                before.iter().chain([text]).cloned().collect::<Vec<_>>()
            };
            all = all
                .iter()
                .flat_map(|before| texts.iter().map(move |text| longer(before, text)))
                .collect();
        }
        for values in all {
            *counts.entry(values).or_default() += 1;
        }
    }
    let mut counts: Vec<_> =
        counts.into_iter().map(|(values, count)| ValueCount { values, count }).collect();
    counts.sort_by_key(|of| std::cmp::Reverse(of.count));
    counts
}

fn check(database: &Database, facts: &[Facts]) {
    let field = proptest::sample::select(FIELDS.to_vec());
    let expressions = prop_oneof![
        // All kept; all kept or indexed; whatever there is.
        expression(facts, &FIELDS[..14]),
        expression(facts, &FIELDS[..18]),
        expression(facts, &FIELDS),
    ];
    let strategy = (expressions, proptest::collection::vec(field, 0..3));
    let config = Config { failure_persistence: None, ..Config::with_cases(300) };
    let outcome = TestRunner::new(config).run(&strategy, |(expression, fields)| {
        let expected = scanned(database, &expression, &fields);
        let all: u64 = scanned(database, &expression, &[]).iter().map(|of| of.count).sum();
        prop_assert_eq!(database.count(&expression).unwrap(), all, "{}", expression);
        let found = database.count_by(&expression, &fields).unwrap();
        prop_assert_eq!(found, expected, "{} by {:?}", expression, fields);
        Ok(())
    });
    outcome.unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn counts_are_those_of_the_answers() {
    let dir = tempfile::tempdir().unwrap();
    let database = Database::open_writer(dir.path()).unwrap();
    filled(&database);
    check(&database, &facts(&database));
    // And after sets have gone and others have changed.
    let release = database.releases().unwrap()[0].id;
    let sets: Vec<AnnotationSet> =
        database.store().annotation_sets(release).unwrap().map(Result::unwrap).collect();
    let changed = sets
        .iter()
        .step_by(9)
        .map(|set| AnnotationSet { status: format!("{}2", set.status), ..set.clone() });
    let write = Write { sets: changed.collect(), ..Write::default() };
    database.write(release, &write).unwrap();
    check(&database, &facts(&database));
}

#[test]
fn counts_beside_an_index_that_lags_are_those_of_the_answers() {
    let dir = filled_beside_an_old_index();
    let reader = Database::open(dir.path()).unwrap();
    check(&reader, &facts(&reader));
}

#[test]
fn counts_beside_no_index_are_those_of_the_answers() {
    let dir = filled_beside_an_old_index();
    std::fs::remove_dir_all(dir.path().join("index")).unwrap();
    let reader = Database::open(dir.path()).unwrap();
    check(&reader, &facts(&reader));
}
