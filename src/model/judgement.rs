//! What a person says of an annotation set.

/// A reviewer's judgement of an annotation set; a reviewer has one of each set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judgement {
    /// Who judged: any name without control characters.
    pub reviewer: String,
    /// From 0, wrong, to 100, right.
    pub score: u8,
    /// When, in seconds since 1970 (UTC).
    pub time: u64,
    /// What the reviewer adds; may be empty.
    pub note: String,
}

impl Judgement {
    /// The highest score.
    pub const BEST: u8 = 100;
}
