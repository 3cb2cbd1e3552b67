//! What a search for new LUs of a frame found.

use super::{AnnotationSetId, FrameId, LuId, Span};

/// What was found of a word that may be an LU of a frame; or, under an empty name, what the last
/// search of the frame looked at.
#[derive(Debug, Clone, PartialEq)]
pub struct Discovery {
    /// The frame.
    pub frame: FrameId,
    /// Name of the LU that it would be, as in `vet.v`; empty for the search itself.
    pub name: String,
    /// Its number, which is a proposed LU's; 0 for the search itself.
    pub lu: LuId,
    /// How likely it is an LU of the frame, 0 to 1.
    pub score: f32,
    /// Mean of the verifier's answers; `None` where none was asked.
    pub evokes: Option<f32>,
    /// How much likelier a language model finds it in the frame's sentences than the LUs that stand
    /// there: a mean difference of log-probabilities; `None` where none was asked.
    pub slot: Option<f32>,
    /// How much the frame's LUs lead to it in a WordNet.
    pub support: f32,
    /// Likeness to the frame's LUs by word vectors; `None` where it has no vector.
    pub likeness: Option<f32>,
    /// How it was come by: a relation and the LU that led to it, as in `hyponym of check.v`. Of the
    /// search itself: what it was made with.
    pub sources: Vec<String>,
    /// Sentences with the word, which a verifier was asked about, attested ones first.
    pub sentences: Vec<FoundSentence>,
    /// Of the search itself: words that are none of the frame's, each with the reason.
    pub refused: Vec<RefusedWord>,
    /// Of the search itself: how many words the frame's LUs lead to.
    pub candidates: u32,
    /// Of the search itself: how many words were asked about.
    pub asked: u32,
    /// The first half of the verifier's fingerprint; zeros where none was asked.
    pub verifier: [u8; 16],
    /// When it was found, seconds since 1970 (UTC).
    pub time: u64,
}

/// A sentence with a word that may evoke a frame.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundSentence {
    /// The sentence.
    pub text: String,
    /// The word, in bytes.
    pub target: Span,
    /// How likely a verifier finds it that the word evokes the frame; `None` where none was asked.
    pub evokes: Option<f32>,
    /// The exemplar in which the word took the place of an LU; `None` for a sentence of a corpus.
    pub made_of: Option<AnnotationSetId>,
    /// Where a sentence of a corpus stands: its file and line; else empty.
    pub place: String,
}

/// A word that is no LU of a frame, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusedWord {
    /// Name of the LU that it would be.
    pub name: String,
    /// Why, as in `nearer-frame`.
    pub reason: String,
    /// The frame that is nearer; else empty.
    pub by: String,
}

impl Discovery {
    /// How many sentences the verifier's answers are about, and how many of them are above 0.5.
    #[must_use]
    pub fn answers(&self) -> (u32, u32) {
        let answers: Vec<f32> = self.sentences.iter().filter_map(|of| of.evokes).collect();
        let above = answers.iter().filter(|evokes| **evokes > 0.5).count();
        (answers.len() as u32, above as u32)
    }
}
