//! A release: one import of one lexicon.

use super::{CorpusId, DocumentId, ReleaseId};

/// A FrameNet release (or a dataset of that shape) inside a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Release {
    /// Its number in keys.
    pub id: ReleaseId,
    /// Its name, as in `bfn-1.5`; unique in a store.
    pub name: String,
    /// Language tag, as in `en`.
    pub language: String,
    /// File or directory it was read from, as given.
    pub source: String,
    /// Bytes of the source's XML, unpacked.
    pub source_bytes: u64,
    /// When it was imported, seconds since 1970 (UTC).
    pub imported: u64,
    /// What was counted while reading.
    pub counts: ReleaseCounts,
}

/// What a release holds. An *occurrence* is one appearance in a file: a sentence listed under two
/// LUs occurs twice and is stored once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[allow(missing_docs, reason = "the names say it")]
pub struct ReleaseCounts {
    pub frames: u64,
    /// LUs named by frame files, with or without a file in `lu/`.
    pub lexunits: u64,
    pub lu_files: u64,
    pub documents: u64,
    pub frame_relations: u64,
    pub sem_types: u64,
    pub exemplar_sets: u64,
    pub fulltext_sets: u64,
    pub construction_sets: u64,
    /// Occurrences of UNANN sets of sentence layers (part of speech, named entities, ...).
    pub sentence_layer_occurrences: u64,
    /// Distinct sets of sentence layers.
    pub sentence_layer_sets: u64,
    pub sentence_occurrences: u64,
    /// Distinct sentences.
    pub sentences: u64,
}

/// A full-text document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    /// Number of the document.
    pub id: DocumentId,
    /// Number of its corpus.
    pub corpus: CorpusId,
    /// Name of the corpus, as in `ANC`.
    pub corpus_name: String,
    /// The document's description, which serves as its name.
    pub name: String,
    /// Stem of its file under `fulltext/`.
    pub file: String,
    /// Its sentences in reading order.
    pub sentences: Vec<super::SentenceId>,
}
