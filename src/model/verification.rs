//! What a verifier says of an annotation set.

use super::AnnotationSetId;

/// What a verifier says of an annotation set; a set has one at most.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Verification {
    /// The set.
    pub set: AnnotationSetId,
    /// The probability in `[0, 1]` that the target evokes the frame; `None` where the verifier
    /// could not be asked, as of a target longer than its prompt.
    pub evokes: Option<f32>,
    /// The probability in `[0, 1]` that the text says what its source says, where it evokes the
    /// frame; `None` of sets that were not rewritten, and of texts too long to be asked about.
    pub same_meaning: Option<f32>,
    /// How likely a rewriter takes the source for a rewriting of the text; `None` of sets that were
    /// not rewritten, of texts too long to be asked about, and where no rewriter was asked.
    pub reverse: Option<Reverse>,
    /// Which verifier says so: the first 16 bytes of its fingerprint.
    pub verifier: [u8; 16],
    /// The first 16 bytes of the BLAKE3 hash of all that was asked, and of whom: a set of which
    /// another hash is made now was asked about something else.
    pub asked: [u8; 16],
}

impl Verification {
    /// The fingerprint of the verifier, in hexadecimal digits.
    #[must_use]
    pub fn fingerprint(&self) -> String {
        super::hexadecimal(&self.verifier)
    }
}

/// How likely a source is, given the text that was made of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reverse {
    /// Length-normalised negative log-likelihood of the source (natural log, end counted): lower is
    /// better. Times [`tokens`](Self::tokens) it is that of the whole source.
    pub score: f32,
    /// Tokens of the source, the end counted.
    pub tokens: u32,
    /// Which rewriter says so: the first 16 bytes of its fingerprint.
    pub rewriter: [u8; 16],
}
