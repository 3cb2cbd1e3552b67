//! Counting answers, in all or by the value of a field, without putting them together.
//!
//! What commits have counted, or an index holds exactly, is not counted again (`counting`).
//! Otherwise a count looks up only what the query and the field ask for: by frame or LU it reads no
//! sentence.

use std::collections::HashMap;

use crate::database::{Database, DatabaseError, Result};
use crate::query::{Expression, Field, QueryError};
use crate::search::Match;

/// How many annotation sets have a value, or several values together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValueCount {
    /// A value of each field; `None` for the sets that have none, as human sets have no round.
    pub values: Vec<Option<String>>,
    /// Number of sets.
    pub count: u64,
}

impl ValueCount {
    /// The value of the first field.
    #[must_use]
    pub fn value(&self) -> Option<&str> {
        self.values.first()?.as_deref()
    }
}

/// How many sets have each of some values.
type Counts = HashMap<Vec<Option<String>>, u64>;

/// Each combination of values that a set has of some fields; of none the empty one.
pub(super) fn combinations(
    fields: &[Field],
    found: &Match<'_>,
) -> Result<Vec<Vec<Option<String>>>> {
    let mut combinations = vec![Vec::with_capacity(fields.len())];
    for &field in fields {
        let values = found.values(field)?;
        let mut texts: Vec<_> = values.iter().map(|of| Some(of.to_string())).collect();
        if texts.is_empty() {
            texts.push(None);
        }
        let longer = combinations.iter().flat_map(|before| {
            texts.iter().map(|text| [before.as_slice(), std::slice::from_ref(text)].concat())
        });
        combinations = longer.collect();
    }
    Ok(combinations)
}

/// Counts so many sets for each combination of values that one of them has.
fn add_values(counts: &mut Counts, fields: &[Field], found: &Match<'_>, sets: u64) -> Result<()> {
    for values in combinations(fields, found)? {
        *counts.entry(values).or_default() += sets;
    }
    Ok(())
}

/// Refuses a field that no set has a value of.
pub(super) fn require_values(fields: &[Field]) -> Result<()> {
    match fields.iter().find(|field| !field.has_value()) {
        Some(&field) => Err(QueryError::NoValue { column: 1, field }.into()),
        None => Ok(()),
    }
}

impl Database {
    /// Number of the annotation sets for which a query holds. No set is read where it asks for
    /// what commits count, or for what an index holds that is as new as the store.
    ///
    /// # Errors
    /// As [`Database::query`].
    pub fn count(&self, expression: &Expression) -> Result<u64> {
        if let Some(matches) = self.matches_counted(expression, &[])? {
            return Ok(matches.iter().map(|(_, sets)| sets).sum());
        }
        let mut count = 0;
        let add = |sets: &mut u64, _: Match<'_>| {
            *sets += 1;
            Ok(None)
        };
        let take = |sets: u64| {
            count += sets;
            Ok::<_, DatabaseError>(())
        };
        self.fold_matches(expression, || 0, add, take)?;
        Ok(count)
    }

    /// Number of the annotation sets for which a query holds, for each value of a field, or for the
    /// values of several fields together; the most frequent first, those of one frequency in order
    /// of text. Every value is held in memory.
    ///
    /// A set with several values, as of `fe`, counts once for each of them.
    ///
    /// # Errors
    /// As [`Database::query`], and for `since`, which has no value.
    pub fn count_by(&self, expression: &Expression, fields: &[Field]) -> Result<Vec<ValueCount>> {
        require_values(fields)?;
        let mut counts = Counts::new();
        match self.matches_counted(expression, fields)? {
            Some(matches) => {
                for (found, sets) in matches.iter() {
                    add_values(&mut counts, fields, found, *sets)?;
                }
            }
            None => {
                let add = |counts: &mut Counts, found: Match<'_>| {
                    Ok(add_values(counts, fields, &found, 1).err())
                };
                let take = |some: Counts| {
                    for (values, sets) in some {
                        *counts.entry(values).or_default() += sets;
                    }
                    Ok::<_, DatabaseError>(())
                };
                self.fold_matches(expression, Counts::new, add, take)?;
            }
        }
        let mut counts: Vec<ValueCount> =
            counts.into_iter().map(|(values, count)| ValueCount { values, count }).collect();
        counts.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.values.cmp(&b.values)));
        Ok(counts)
    }
}
