//! What can go wrong when texts are scored.

use crate::decode::DecodeError;
use crate::nn::{GgufError, NnError};
use crate::tokenize::TokenizeError;

/// A language model that cannot be opened or used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ScoreError {
    /// The network.
    #[error(transparent)]
    Network(#[from] NnError),
    /// The search for continuations.
    #[error(transparent)]
    Decode(#[from] DecodeError),
    /// The file.
    #[error(transparent)]
    File(#[from] GgufError),
    /// The tokenizer.
    #[error(transparent)]
    Tokenizer(#[from] TokenizeError),
    /// The tokenizer knows more tokens than the network.
    #[error(
        "the tokenizer has {vocabulary} tokens and the network {network}; do they belong together?"
    )]
    Vocabulary {
        /// Tokens of the network.
        network: usize,
        /// Tokens of the tokenizer.
        vocabulary: usize,
    },
}

/// Why a text has no score.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ScoreRefusal {
    /// Nothing of it counts.
    #[error("there is no token to score")]
    Empty,
    /// It is longer than the model's context.
    #[error("it has {tokens} tokens, the start counted; the model takes at most {limit}")]
    TooLong {
        /// Its tokens.
        tokens: usize,
        /// The most that the model takes.
        limit: usize,
    },
    /// The part to score is none of the text.
    #[error("the span {start}..{end} holds no text of {bytes} bytes, or cuts a character")]
    Span {
        /// Its first byte.
        start: u32,
        /// One past its last.
        end: u32,
        /// The text's bytes.
        bytes: usize,
    },
}
