//! Sentences and where they occur.

use super::{CorpusId, DocumentId, LuId, SentenceId};

/// A sentence. Its text is never changed: every span counts on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sentence {
    /// Its id.
    pub id: SentenceId,
    /// FrameNet's number, which differs from the id's when one number stood for two texts;
    /// `None` for sentences that are not FrameNet's.
    pub xml_id: Option<u64>,
    /// Text, byte-exact; most exemplars of FrameNet end in a space.
    pub text: String,
    /// Every place that lists it.
    pub occurrences: Vec<Occurrence>,
}

/// One place that lists a sentence.
#[derive(Debug, Clone, PartialEq, Eq, Default, serde::Serialize)]
pub struct Occurrence {
    /// The LU file, for exemplars.
    pub lu: Option<LuId>,
    /// The LU file's subcorpus, for exemplars.
    pub subcorpus: Option<String>,
    /// Number of the corpus, when given.
    pub corpus: Option<CorpusId>,
    /// Number of the document, when given.
    pub document: Option<DocumentId>,
    /// Paragraph, from 1, when given.
    pub paragraph: Option<u32>,
    /// Sentence number in the paragraph or document, when given.
    pub number: Option<u32>,
    /// FrameNet's position in the corpus, when given.
    pub position: Option<u64>,
}
