//! How many rows a scan would read, found out without reading them all: for planning queries.

use crate::model::{FrameId, LuId, ReleaseId};

use super::family::Family;
use super::key::Prefix;
use super::{Store, StoreError};

/// A run of annotation sets in order of key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SetRange {
    /// All of a release.
    Release(ReleaseId),
    /// Those of a frame.
    Frame(ReleaseId, FrameId),
    /// Those of an LU.
    LexUnit(ReleaseId, FrameId, LuId),
}

impl SetRange {
    pub(super) fn prefix(self) -> Vec<u8> {
        match self {
            Self::Release(release) => Prefix::of(release),
            Self::Frame(release, frame) => Prefix::of(release).then(frame),
            Self::LexUnit(release, frame, lu) => Prefix::of(release).then(frame).then(lu),
        }
        .bytes()
    }
}

impl Store {
    /// Number of annotation sets in a scope, counted as far as `at_most`. Reads that many keys, and
    /// decodes none.
    ///
    /// # Errors
    /// When the engine fails.
    pub fn count_annotation_sets(
        &self,
        scope: SetRange,
        at_most: usize,
    ) -> Result<usize, StoreError> {
        let mut count = 0;
        for row in self.engine.scan(Family::Annotation, scope.prefix())?.take(at_most) {
            row?;
            count += 1;
        }
        Ok(count)
    }

    /// About how many annotation sets the store holds in all. Rows that were written twice or
    /// deleted count until compaction; a reader's handle may know only of those in memory.
    ///
    /// # Errors
    /// When the engine fails.
    pub fn estimated_annotation_sets(&self) -> Result<u64, StoreError> {
        self.engine.estimated_records(Family::Annotation)
    }
}
