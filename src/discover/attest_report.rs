//! What gives LUs sentences of a corpus: how it is told to, and what it did.

use std::time::Duration;

use serde::Serialize;

use crate::generate::Lacking;
use crate::model::seconds;

/// How LUs get sentences of a corpus.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AttestOptions {
    /// Which LUs lack sentences.
    pub lacking: Lacking,
    /// Most sentences of an LU that are written: the likeliest.
    pub keep: usize,
    /// Sentences of an LU that are asked about.
    pub candidates: usize,
    /// Least probability that the LU evokes its frame in what is written, by each model that is
    /// asked.
    pub least: f32,
    /// Most LUs that get sentences.
    pub limit: Option<usize>,
}

impl Default for AttestOptions {
    fn default() -> Self {
        Self { lacking: Lacking::default(), keep: 5, candidates: 10, least: 0.5, limit: None }
    }
}

/// What became of LUs without sentences; as JSON, see `schema/attest.schema.json`.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct AttestReport {
    /// LUs without sentences that match.
    pub lexunits: u64,
    /// Those that were looked for in the corpus.
    pub looked_at: u64,
    /// Those that a limit or an interruption left to a later run.
    pub left: u64,
    /// Those of which the corpus has sentences that can be asked about.
    pub in_corpus: u64,
    /// Those that got a sentence.
    pub given: u64,
    /// Sentences written.
    pub sentences: u64,
    /// Sentences that the verifier was asked about.
    pub asked: u64,
    /// Those in which it finds the frame too unlikely.
    pub unlikely: u64,
    /// Those in which it finds another frame that has the word likelier.
    pub nearer: u64,
    /// Those that it could not read, as they are too long.
    pub unread: u64,
    /// Sentences passed over in which the word is part of a name.
    pub in_names: u64,
    /// Sentences passed over in which the word is of another part of speech.
    pub of_other_pos: u64,
    /// Sentences left out in which a frame model finds the frame too unlikely.
    pub unfit: u64,
    /// Sentences kept of which the frame model cannot say it: the verifier alone is asked.
    pub without_fit: u64,
    /// How long it took.
    #[serde(rename = "seconds", serialize_with = "seconds")]
    pub elapsed: Duration,
    /// Whether the run was stopped; the same command goes on with LUs that have none yet, and asks
    /// again about those for which nothing was good enough.
    pub interrupted: bool,
}
