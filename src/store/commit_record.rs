//! A commit as the JSON record that programs read.

use serde::{Serialize, Serializer};

use super::Commit;
use crate::model::Positive;

/// A commit as JSON; see `schema/history.schema.json`.
#[derive(Debug, Serialize)]
struct CommitRecord<'a> {
    revision: Positive,
    at: u64,
    by: &'a str,
    note: &'a str,
    undoes: &'a [Positive],
    changes: u64,
    undo: bool,
}

impl Serialize for Commit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { revision, at, by, note, undoes, changes, .. } = self;
        let record = CommitRecord {
            revision: *revision,
            at: *at,
            by,
            note,
            undoes,
            changes: u64::from(*changes),
            undo: self.can_be_undone(),
        };
        record.serialize(serializer)
    }
}
