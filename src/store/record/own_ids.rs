//! The record of how many numbers of its own range the store has given to user-made records.

fields! {
    OwnIdsRecord { numbers, tagged }
}

/// `meta` (`own_ids`)
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(in super::super) struct OwnIdsRecord {
    /// To frames, FEs, LUs, relations, semantic types, corpora and documents.
    pub(in super::super) numbers: u32,
    /// To sentences and sets.
    pub(in super::super) tagged: u64,
}
