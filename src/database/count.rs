//! Counting answers, in all or by the value of a field, without putting them together.
//!
//! A count looks up only what the query and the field ask for: by frame or LU it reads no sentence.

use std::collections::{BTreeSet, HashMap};

use super::answer::elements;
use super::evaluate::{Subject, null_kind};
use super::{Database, DatabaseError, Result};
use crate::model::Pos;
use crate::query::{Expression, Field};

/// Fields that [`Database::count_by`] takes: those whose values repeat.
const COUNTABLE: [Field; 19] = [
    Field::Release,
    Field::Frame,
    Field::Lu,
    Field::Pos,
    Field::Trigger,
    Field::Lemma,
    Field::Fe,
    Field::Gf,
    Field::Pt,
    Field::Ni,
    Field::Status,
    Field::Corpus,
    Field::Doc,
    Field::Split,
    Field::Origin,
    Field::Method,
    Field::Round,
    Field::Recipe,
    Field::Flag,
];

/// How many annotation sets have a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValueCount {
    /// The value; `None` for the sets that have none, as human sets have no round.
    pub value: Option<String>,
    /// Number of sets.
    pub count: u64,
}

impl Database {
    /// Number of the annotation sets for which a query holds.
    ///
    /// # Errors
    /// As [`Database::query`].
    pub fn count(&self, expression: &Expression) -> Result<u64> {
        let (evaluator, sets) = self.planned(expression)?;
        let mut count = 0;
        for row in sets {
            let (release, set) = row?;
            count += u64::from(evaluator.subject(release, set)?.is_some());
        }
        Ok(count)
    }

    /// Number of the annotation sets for which a query holds, for each value of a field; the most
    /// frequent value first, values of one frequency in order of text.
    ///
    /// A set with several values, as of `fe`, counts once for each of them.
    ///
    /// # Errors
    /// As [`Database::query`], and when the field's values are texts, scores or ids.
    pub fn count_by(&self, expression: &Expression, field: Field) -> Result<Vec<ValueCount>> {
        if !COUNTABLE.contains(&field) {
            return Err(DatabaseError::Uncountable { field });
        }
        let (evaluator, sets) = self.planned(expression)?;
        let mut counts: HashMap<Option<String>, u64> = HashMap::new();
        for row in sets {
            let (release, set) = row?;
            let Some(subject) = evaluator.subject(release, set)? else { continue };
            let values = values(&subject, field)?;
            if values.is_empty() {
                *counts.entry(None).or_default() += 1;
            }
            for value in values {
                *counts.entry(Some(value)).or_default() += 1;
            }
        }
        let mut counts: Vec<ValueCount> =
            counts.into_iter().map(|(value, count)| ValueCount { value, count }).collect();
        counts.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.value.cmp(&b.value)));
        Ok(counts)
    }
}

/// The distinct values that a set has of a field.
fn values(subject: &Subject<'_, '_>, field: Field) -> Result<BTreeSet<String>> {
    let set = &subject.set;
    let catalog = &subject.evaluator.catalog;
    let labels = || elements(set);
    Ok(match field {
        Field::Release => catalog
            .release(subject.release)
            .map(|release| release.name.clone())
            .into_iter()
            .collect(),
        Field::Frame => one(&catalog.frame(subject.release, set.frame)?),
        Field::Lu => one(&subject.lexunit()?),
        Field::Pos => one(Pos::of_lu_name(&subject.lexunit()?).as_str()),
        Field::Lemma => {
            let name = subject.lexunit()?;
            one(name.rsplit_once('.').map_or(&*name, |(lemma, _)| lemma))
        }
        Field::Trigger => {
            subject.sentence()?.map(|sentence| set.trigger(&sentence.text)).into_iter().collect()
        }
        Field::Fe => labels().map(|fe| fe.label.name.clone()).collect(),
        Field::Gf => labels().filter_map(|fe| fe.gf.map(str::to_owned)).collect(),
        Field::Pt => labels().filter_map(|fe| fe.pt.map(str::to_owned)).collect(),
        Field::Ni => {
            labels().filter_map(|fe| null_kind(&fe.label.extent).map(str::to_owned)).collect()
        }
        Field::Status => one(&set.status),
        Field::Corpus | Field::Doc => places(subject, field)?,
        Field::Split => {
            subject.split()?.map(|split| split.as_str().to_owned()).into_iter().collect()
        }
        Field::Origin => one(set.provenance.origin().as_str()),
        Field::Method | Field::Round | Field::Recipe | Field::Flag => match subject.generation() {
            None => BTreeSet::new(),
            Some(made) => match field {
                Field::Method => one(made.method.as_str()),
                Field::Round => one(&made.round.to_string()),
                Field::Recipe => one(&made.recipe.to_string()),
                _ => made.flags.names().into_iter().map(str::to_owned).collect(),
            },
        },
        _ => return Err(DatabaseError::Uncountable { field }),
    })
}

fn one(value: &str) -> BTreeSet<String> {
    BTreeSet::from([value.to_owned()])
}

/// Names of the corpora or documents that list the set's sentence.
fn places(subject: &Subject<'_, '_>, field: Field) -> Result<BTreeSet<String>> {
    let catalog = &subject.evaluator.catalog;
    let mut names = BTreeSet::new();
    let Some(sentence) = subject.sentence()? else { return Ok(names) };
    for place in &sentence.occurrences {
        let document = catalog.document_at(subject.release, place)?;
        match (field, document, place.corpus) {
            (Field::Doc, Some(document), _) => names.extend([document.name.clone()]),
            (Field::Corpus, Some(document), _) => names.extend([document.corpus_name.clone()]),
            (Field::Corpus, None, Some(id)) => names.extend(catalog.corpus(subject.release, id)?),
            _ => {}
        }
    }
    Ok(names)
}
