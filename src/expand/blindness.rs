//! What an expansion does not read: annotation that is held out for tests.
//!
//! The guide counts which frame elements the LUs of a frame come with, and words that no sentence attests
//! are flagged. Both would carry what test documents say into training data.

use std::collections::HashSet;

use super::{ExpandError, Result};
use crate::database::Database;
use crate::model::{AnnotationSetId, ReleaseId, SplitList, hexadecimal};
use crate::query::{Expression, Selection};

/// The annotation that an expansion is blind to.
#[derive(Debug, Clone, PartialEq)]
pub struct BlindTo {
    expression: Expression,
    /// The split list that the expression is read under, by name and fingerprint.
    list: Option<(String, [u8; 16])>,
}

impl BlindTo {
    /// The sets that an expression finds, read under a split list.
    #[must_use]
    pub fn new(expression: Expression, list: Option<&SplitList>) -> Self {
        let list = list.map(|list| (list.name.clone(), list.fingerprint));
        Self { expression, list }
    }

    /// What a recipe says of it.
    pub(super) fn description(&self) -> serde_json::Value {
        let list = self.list.as_ref().map(|(_, print)| hexadecimal(print));
        serde_json::json!({ "query": self.expression.to_string(), "split_list": list })
    }

    /// The sets that are held out.
    ///
    /// # Errors
    /// When the database is under another split list, or as [`Database::query`].
    pub(super) fn held_out(&self, database: &Database) -> Result<HeldOut> {
        let under = database.split_list().map(|list| (list.name.clone(), list.fingerprint));
        if under.as_ref().map(|(_, print)| print) != self.list.as_ref().map(|(_, print)| print) {
            let name = |list: Option<(String, [u8; 16])>| {
                list.map_or_else(|| "none".to_owned(), |(name, _)| name)
            };
            let (found, expected) = (name(under), name(self.list.clone()));
            return Err(ExpandError::SplitList { found, expected });
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
