//! The record of the store as a whole: its releases and its last commit.

use crate::model::{Release, ReleaseCounts};

coded! {
    ReleaseCounts as [u64; 13]: |counts| counts.named().map(|(_, count)| count), |counts| Ok(of(counts));
}

/// Counts in the order of the fields of `ReleaseCounts`.
fn of(counts: [u64; 13]) -> ReleaseCounts {
    let mut named = ReleaseCounts::default();
    for ((_, slot), count) in named.slots().into_iter().zip(counts) {
        *slot = count;
    }
    named
}

fields! {
    Release { id, name, language, source, source_bytes, imported, counts }
    MetaRecord { created_by, written_by, revision, next_release, releases }
}

/// `meta` (`book`)
#[derive(Debug, Clone)]
pub(in super::super) struct MetaRecord {
    /// fnstore version that made the store.
    pub(in super::super) created_by: String,
    /// fnstore version that wrote it last.
    pub(in super::super) written_by: String,
    /// Number of the last commit.
    pub(in super::super) revision: u64,
    /// Number for the next release; never reused.
    pub(in super::super) next_release: u16,
    /// The visible releases.
    pub(in super::super) releases: Vec<Release>,
}
