//! What can go wrong when texts are scored.

use crate::engine::{DecodeError, GgufError, NnError, TokenizeError};
use crate::model::coded;
use crate::prompt::PromptError;

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
    /// A question's file.
    #[error(transparent)]
    Prompt(#[from] PromptError),
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

coded!(ScoreError {
    Self::Prompt(error) => BadInput.coded(error.code().unwrap_or("P-read")),
    Self::File(error) => error.trouble(),
    Self::Network(error) => error.trouble(),
    Self::Decode(error) => error.trouble(),
});

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
    /// The prompt of a question is longer than the question's limit, or the model's context.
    #[error(
        "its prompt has {tokens} tokens, the start and the answer counted; at most {limit} are asked"
    )]
    LongPrompt {
        /// Its tokens.
        tokens: usize,
        /// The most that are asked.
        limit: usize,
    },
    /// A text that the question asks about is missing.
    #[error(
        "the field `{field}` is missing; the question has {fields}, and an empty one leaves its line out"
    )]
    MissingField {
        /// The field.
        field: String,
        /// The question's fields.
        fields: String,
    },
    /// The question has no such field.
    #[error("the question has no field `{field}`; its fields are {fields}")]
    UnknownField {
        /// The field.
        field: String,
        /// The question's fields.
        fields: String,
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
