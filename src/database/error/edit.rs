//! What can be wrong with an edit.

use crate::model::coded;
use std::fmt;

/// An edit cannot be made; the transaction is as it was before it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EditError {
    /// The record to edit, or one that it refers to, is not there.
    #[error("E-absent: there is no {kind} `{id}` in the release")]
    Absent {
        /// What it should be, as in `frame`.
        kind: &'static str,
        /// Its number, or what else names it.
        id: String,
    },
    /// A field holds what it cannot.
    #[error("E-value: `{field}` is `{value}`; expected {expected}")]
    Value {
        /// The field, as in `layers[2].labels[0]`.
        field: String,
        /// What stands there.
        value: String,
        /// What could.
        expected: String,
    },
    /// What is to be deleted as generated was written by people.
    #[error(
        "E-human: the query finds {sets} sets that no expansion wrote; add `origin=generated`, or \
         remove them by edits"
    )]
    Human {
        /// How many.
        sets: u64,
    },
    /// Other records refer to the one that is to go.
    #[error("E-in-use: {kind} `{id}` cannot go: {by}; let these go first, or together with it")]
    InUse {
        /// What it is.
        kind: &'static str,
        /// Its number.
        id: String,
        /// What refers to it, with the number of them.
        by: String,
    },
    /// Another commit has changed what this transaction was built on.
    #[error(
        "E-changed: {kind} `{id}` was changed by revision {revision}, after this transaction \
         began at {began}; nothing was written, begin again"
    )]
    Conflict {
        /// What was changed.
        kind: &'static str,
        /// Its number.
        id: String,
        /// The commit that changed it.
        revision: u64,
        /// The revision that the transaction has seen.
        began: u64,
    },
    /// A commit cannot be taken back.
    #[error("E-undo: commit {revision} cannot be taken back: {why}")]
    NotKept {
        /// Its number.
        revision: u64,
        /// Why.
        why: String,
    },
    /// What a commit wrote has changed since, or others refer to it.
    #[error(
        "E-undo-conflict: commit {revision} cannot be taken back: {}{}; take back the later \
         commits first, or with it",
        in_the_way(records),
        if *more > 0 { format!(", and {more} more") } else { String::new() }
    )]
    ChangedSince {
        /// The commit.
        revision: u64,
        /// Some of the records: kind, number, and the last commit that changed each.
        records: Vec<(&'static str, String, Option<u64>)>,
        /// How many more.
        more: u64,
    },
}

fn in_the_way(records: &[(&'static str, String, Option<u64>)]) -> String {
    let told = records.iter().map(|(kind, id, by)| match by {
        Some(by) => format!("{kind} `{id}` (commit {by})"),
        None => format!("{kind} `{id}`"),
    });
    format!("in the way are {}", told.collect::<Vec<_>>().join(", "))
}

coded!(EditError {
    Self::Absent { .. } => Failed.coded("E-absent"),
    Self::Value { .. } => Failed.coded("E-value"),
    Self::Human { .. } => Failed.coded("E-human"),
    Self::InUse { .. } => Failed.coded("E-in-use"),
    Self::Conflict { .. } => Failed.coded("E-changed"),
    Self::NotKept { .. } => Failed.coded("E-undo"),
    Self::ChangedSince { .. } => Failed.coded("E-undo-conflict"),
});

impl EditError {
    pub(crate) fn absent(kind: &'static str, id: impl fmt::Display) -> Self {
        Self::Absent { kind, id: id.to_string() }
    }

    pub(crate) fn value(
        field: impl Into<String>,
        value: impl fmt::Display,
        expected: impl Into<String>,
    ) -> Self {
        Self::Value { field: field.into(), value: value.to_string(), expected: expected.into() }
    }
}
