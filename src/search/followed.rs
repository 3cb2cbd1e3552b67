//! Following the sets of a query.

use super::evaluate::Evaluator;
use super::matched::Match;
use crate::database::{Database, Result};
use crate::query::Expression;
use crate::store::{Action, Change, Subject, only};

impl Database {
    /// As [`changes`](Self::changes), of the sets that a query finds as of now. A set that was
    /// edited and that it does not find is listed as removed, as is any that was removed: whoever
    /// keeps the answers of the query drops it. The last change of each commit is marked among
    /// those that are given.
    ///
    /// Where the query finds a set, or finds it no more, since another record has changed (a
    /// frame's name, a judgement), no change of the set is listed.
    ///
    /// # Errors
    /// As [`changes`](Self::changes), and when the query is not right.
    pub fn changes_matching(
        &self,
        expression: &Expression,
        since: u64,
    ) -> Result<impl Iterator<Item = Result<Change>> + '_> {
        let changes = self.changes(since)?;
        let catalog = self.catalog_for(expression)?;
        self.check_names(&catalog, expression)?;
        let evaluator = Evaluator::new(catalog, expression, false)?;
        Ok(only(changes, move |change| {
            let Subject::Set(set, _) = &change.subject else { return Ok(None) };
            let found = match change.action {
                Action::Removed => None,
                Action::Added | Action::Edited => {
                    self.store.annotation_set(change.release, *set)?
                }
            };
            let found = found.map(|set| Match::new(&evaluator.facts, change.release, set));
            let is_answer = found.map_or(Ok(false), |found| evaluator.holds(&found))?;
            Ok(match (is_answer, change.action) {
                (true, _) => Some(change),
                // It never was one, or a later change tells that it is none any more.
                (false, Action::Added) => None,
                (false, _) => Some(Change { action: Action::Removed, ..change }),
            })
        }))
    }
}
