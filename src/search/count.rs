//! Counting answers, in all or by the value of a field, without putting them together.
//!
//! A count looks up only what the query and the field ask for: by frame or LU it reads no sentence.

use std::collections::HashMap;

use crate::database::{Database, Result};
use crate::query::{Expression, Field, QueryError, Selection};

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
        let mut count = 0;
        for found in self.matches(expression, &Selection::default())? {
            found?;
            count += 1;
        }
        Ok(count)
    }

    /// Number of the annotation sets for which a query holds, for each value of a field; the most
    /// frequent value first, values of one frequency in order of text. Every value is held in
    /// memory.
    ///
    /// A set with several values, as of `fe`, counts once for each of them.
    ///
    /// # Errors
    /// As [`Database::query`], and for `since`, which has no value.
    pub fn count_by(&self, expression: &Expression, field: Field) -> Result<Vec<ValueCount>> {
        if !field.has_value() {
            return Err(QueryError::NoValue { column: 1, field }.into());
        }
        let mut counts: HashMap<Option<String>, u64> = HashMap::new();
        for found in self.matches(expression, &Selection::default())? {
            let values = found?.values(field)?;
            if values.is_empty() {
                *counts.entry(None).or_default() += 1;
            }
            for value in values {
                *counts.entry(Some(value.to_string())).or_default() += 1;
            }
        }
        let mut counts: Vec<ValueCount> =
            counts.into_iter().map(|(value, count)| ValueCount { value, count }).collect();
        counts.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.value.cmp(&b.value)));
        Ok(counts)
    }
}
