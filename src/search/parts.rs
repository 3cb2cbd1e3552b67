//! The answers of a query in parts, which several threads can read at once.

use std::collections::BTreeSet;

use super::evaluate::Evaluator;
use super::plan::{Narrowed, Planner};
use super::select::{Answers, Matches};
use crate::database::{Database, Held, Result};
use crate::query::Expression;

/// A part of where the answers of a query lie.
#[derive(Debug, Clone)]
pub struct Part(Narrowed);

impl Database {
    /// Where the answers of a query lie, in at most `most` parts. [`answers_in`](Self::answers_in)
    /// reads one; the answers of all parts, in their order, are those of [`query`](Self::query).
    ///
    /// # Errors
    /// As [`query`](Self::query).
    ///
    /// # Panics
    /// If `most` is 0.
    #[doc(hidden)]
    pub fn parts(&self, expression: &Expression, most: usize) -> Result<Vec<Part>> {
        assert!(most > 0, "there is at least one part");
        self.refresh()?;
        let catalog = self.catalog_for(expression)?;
        self.check_names(&catalog, expression)?;
        let plan = Planner::new(self, &catalog, expression).plan(expression)?;
        let parts = match plan.narrowed {
            Narrowed::Releases(releases) => {
                let mut frames = BTreeSet::new();
                for release in releases {
                    for row in self.store.frame_names(release)? {
                        frames.insert((release, row?.0));
                    }
                }
                cut(frames, most).map(Narrowed::Frames).collect()
            }
            Narrowed::Frames(frames) => cut(frames, most).map(Narrowed::Frames).collect(),
            Narrowed::LexUnits(lus) => cut(lus, most).map(Narrowed::LexUnits).collect(),
            Narrowed::Sets(sets) => cut(sets, most).map(Narrowed::Sets).collect::<Vec<_>>(),
        };
        Ok(parts.into_iter().map(Part).collect())
    }

    /// The answers of a query in one of its parts, as of the handle's view.
    ///
    /// # Errors
    /// When the store fails.
    #[doc(hidden)]
    pub fn answers_in(&self, expression: &Expression, part: &Part) -> Result<Answers<'_>> {
        let evaluator = Evaluator::new(self.catalog_for(expression)?, expression, false)?;
        let rows = part.0.clone().sets(Held::Borrowed(self), None);
        Ok(Answers::new(Matches::scanned(evaluator, rows)))
    }
}

/// Cuts a set into runs of about the same length.
fn cut<T: Ord>(all: BTreeSet<T>, most: usize) -> impl Iterator<Item = BTreeSet<T>> {
    let length = all.len().div_ceil(most).max(1);
    let mut all = all.into_iter();
    std::iter::from_fn(move || {
        let run: BTreeSet<T> = all.by_ref().take(length).collect();
        (!run.is_empty()).then_some(run)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transfer::ImportOptions;

    #[test]
    fn all_parts_together_are_the_answers_in_their_order() {
        let store = tempfile::tempdir().unwrap();
        let mini = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/mini-framenet");
        let database = Database::open_writer(store.path()).unwrap();
        database.import(mini.as_ref(), &ImportOptions::default(), &mut |_| {}).unwrap();
        for query in ["", "frame=Checking", "lu=inspect.v", "trigger=look*", "not frame=Checking"] {
            let query = Expression::parse(query).unwrap();
            let ids = |answers: Answers<'_>| -> Vec<_> {
                answers.map(|answer| answer.unwrap().set.id).collect()
            };
            let expected = ids(database.query(&query).unwrap());
            assert!(!expected.is_empty());
            for most in [1, 2, 7, 1000] {
                let parts = database.parts(&query, most).unwrap();
                assert!(parts.len() <= most);
                let found: Vec<_> = (parts.iter())
                    .flat_map(|part| ids(database.answers_in(&query, part).unwrap()))
                    .collect();
                assert_eq!(found, expected, "{query} in {most}");
                let bare: Vec<_> = (parts.iter())
                    .flat_map(|part| database.answers_in(&query, part).unwrap().without_sentences())
                    .map(Result::unwrap)
                    .collect();
                let ids_of_bare: Vec<_> = bare.iter().map(|answer| answer.set.id).collect();
                assert_eq!(ids_of_bare, expected);
                assert!(query.to_string().contains("trigger") || bare[0].sentence.text.is_empty());
            }
        }
        assert!(database.parts(&Expression::parse("frame=Cheking").unwrap(), 2).is_err());
    }
}
