//! Sentences and where they occur.

use super::{CorpusId, Document, DocumentId, IdSpace, LuId, SentenceId};

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

impl Sentence {
    /// A sentence that is to be added; a transaction numbers it.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        let (id, text) = (SentenceId::new(IdSpace::Imported, 0), text.into());
        Self { id, xml_id: None, text, occurrences: Vec::new() }
    }

    /// The same sentence, which says that a document lists it; the document says so, too
    /// ([`Document::sentences`]).
    #[must_use]
    pub fn listed_by(mut self, document: &Document) -> Self {
        self.occurrences.push(Occurrence {
            corpus: Some(document.corpus),
            document: Some(document.id),
            ..Occurrence::default()
        });
        self
    }
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
