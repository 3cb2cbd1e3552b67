//! Version 1 of the records that exist because people write: judgements, and the count of the
//! numbers that the store gave out.

fields! {
    JudgementRecord { score, time, note }
    OwnIdsRecord { numbers, tagged }
}

/// `judgement`
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) struct JudgementRecord {
    pub(in super::super) score: u8,
    /// Seconds since 1970 (UTC).
    pub(in super::super) time: u64,
    pub(in super::super) note: String,
}

/// `meta` (`own_ids`): how many numbers of its own range the store has given to user-made records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(in super::super) struct OwnIdsRecord {
    /// To frames, FEs, LUs, relations, semantic types, corpora and documents.
    pub(in super::super) numbers: u32,
    /// To sentences and sets.
    pub(in super::super) tagged: u64,
}
