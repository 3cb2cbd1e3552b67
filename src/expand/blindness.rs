//! What an expansion does not read: annotation that is held out for tests.
//!
//! The guide counts which frame elements the LUs of a frame come with, and words that no sentence
//! attests are flagged. Both would carry what test documents say into training data.

use std::collections::HashSet;

use super::{ExpandError, RecipeError, Result};
use crate::database::Database;
use crate::model::{AnnotationSetId, ReleaseId, SplitList, SplitListId, hexadecimal};
use crate::query::{Expression, Selection};

/// The annotation that an expansion is blind to.
#[derive(Debug, Clone, PartialEq)]
pub struct BlindTo {
    expression: Expression,
    /// The split list that the expression is read under.
    list: Option<SplitListId>,
}

impl BlindTo {
    /// The sets that an expression finds, read under a split list.
    #[must_use]
    pub fn new(expression: Expression, list: Option<&SplitList>) -> Self {
        Self { expression, list: list.map(|list| list.id.clone()) }
    }

    /// What a recipe says of it.
    pub(super) fn description(&self) -> serde_json::Value {
        let list = self.list.as_ref().map(|list| hexadecimal(&list.fingerprint));
        serde_json::json!({ "query": self.expression.to_string(), "split_list": list })
    }

    /// The sets that are held out.
    ///
    /// # Errors
    /// When the database is under another split list, or as [`Database::query`].
    pub(super) fn held_out(&self, database: &Database) -> Result<HeldOut> {
        let under = database.split_list().map(|list| &list.id);
        if !SplitListId::same(under, self.list.as_ref()) {
            let name = |list: Option<&SplitListId>| {
                list.map_or_else(|| "none".to_owned(), |list| list.name.clone())
            };
            let (found, expected) = (name(under), name(self.list.as_ref()));
            return Err(ExpandError::Recipe(RecipeError::SplitList { found, expected }));
        }
        let mut sets = HashSet::new();
        for found in database.matches(&self.expression, &Selection::default())? {
            let found = found?;
            sets.insert((found.release(), found.set().id));
        }
        Ok(HeldOut(sets))
    }
}

/// Sets that an expansion does not read.
#[derive(Debug, Clone, Default)]
pub(super) struct HeldOut(HashSet<(ReleaseId, AnnotationSetId)>);

impl HeldOut {
    pub(super) fn holds(&self, release: ReleaseId, set: AnnotationSetId) -> bool {
        self.0.contains(&(release, set))
    }
}
