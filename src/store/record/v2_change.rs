//! Version 2 of the record of changes: what was done, to a record of any kind.
//!
//! Version 1 (format 1.0) knew releases, sets and LUs only, and not whether a row was new.

use bincode::{Decode, Encode};

fields! {
    ChangeRecord { release, action, subject }
}

/// `change`
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) struct ChangeRecord {
    pub(in super::super) release: u16,
    /// 0 added, 1 edited, 2 removed, 3 added or edited.
    pub(in super::super) action: u8,
    pub(in super::super) subject: SubjectRecord,
}

/// A record by its kind and number; sentences and sets as coded ids.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub(in super::super) enum SubjectRecord {
    Release,
    SemType(u32),
    Frame(u32),
    Relation(u32),
    /// Frame, LU.
    LexUnit(u32, u32),
    /// Corpus, document.
    Document(u32, u32),
    Sentence(u64),
    /// Sentence, set.
    SentenceLayers(u64, u64),
    /// Set, frame, LU, sentence.
    Set(u64, u32, u32, u64),
    /// Set, reviewer.
    Judgement(u64, String),
    /// Frame, name of an LU.
    Decision(u32, String),
    /// Name.
    Edition(String),
}
