//! What can go wrong in a generation.

use std::path::PathBuf;

use crate::database::DatabaseError;
use crate::endpoint::EndpointError;
use crate::engine::{DecodeError, TokenizeError};
use crate::expand::{ExpandError, SeedsError};
use crate::grow::CommitError;
use crate::model::coded;
use crate::prompt::PromptError;
use crate::score::ScoreError;
use crate::store::StoreError;
use crate::verify::VerifyError;

/// A generation cannot start or go on. What was committed before stays.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GenerateError {
    /// The database failed, or the expression names what it does not hold.
    #[error(transparent)]
    Database(#[from] DatabaseError),
    /// The expression finds no LU without sentences, or asks for annotation.
    #[error("{0} ({code})", code = lexunits_code(.0))]
    LexUnits(Box<ExpandError>),
    /// No LU that is asked for has a sister with annotation.
    #[error(
        "no annotated LU of {} has the part of speech of {lexunits}; expected a sister LU with \
         sentences that people annotated (N-sisters)",
        frames.join(", ")
    )]
    NoSisters {
        /// The LUs.
        lexunits: String,
        /// Names of their frames.
        frames: Vec<String>,
    },
    /// No LU that is asked for has a sentence of its own.
    #[error(
        "no set of {lexunits} has frame elements that people annotated; expected LUs with sentences \
         of their own, or sisters' sentences (N-sisters)"
    )]
    NoneOfTheirOwn {
        /// The LUs.
        lexunits: String,
    },
    /// Spans are to be written, and there is no language model or endpoint for it.
    #[error(
        "method `infill` writes words and was given no language model and no endpoint (N-generator)"
    )]
    NoGenerator,
    /// LUs are to take over their own sentences, in which nothing is written anew.
    #[error(
        "LUs are to get their own sentences, and no words of these are written anew; expected the \
         method `infill` (N-own)"
    )]
    OwnUnfilled,
    /// Doubtful sentences are to be left out, and nothing tells how likely a sentence is.
    #[error(
        "the least worth is {least}, and no language model ranks; expected one, or 0 (N-ranker)"
    )]
    NoRanker {
        /// What was asked for.
        least: f32,
    },
    /// A number of the recipe is out of its range.
    #[error("{name} is {found}, expected {expected} (N-range)")]
    Range {
        /// Name of the number.
        name: &'static str,
        /// What it is.
        found: String,
        /// What it may be.
        expected: String,
    },
    /// A prompt file cannot be used.
    #[error(transparent)]
    GenerationPrompt(#[from] PromptError),
    /// The language model cannot be opened or failed.
    #[error("the language model failed")]
    Score(#[source] Box<ScoreError>),
    /// An encoder-decoder cannot be opened.
    #[error("cannot open the encoder-decoder `{}` (N-model)", path.display())]
    Seq2Seq {
        /// Its directory.
        path: PathBuf,
        /// Why.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// An encoder-decoder has no sentinels with which blanks are written.
    #[error(
        "the encoder-decoder `{}` cannot fill blanks: {found}; expected a T5 with the tokenizer that it was          trained with, which has the tokens `<extra_id_0>`, `<extra_id_1>`, ... (N-sentinels)",
        path.display()
    )]
    Sentinels {
        /// Its directory.
        path: PathBuf,
        /// What it has.
        found: String,
    },
    /// The encoder-decoder failed.
    #[error("the encoder-decoder failed")]
    Decode(#[source] Box<DecodeError>),
    /// A sentence or an answer cannot be cut into tokens or spelled.
    #[error("cannot tokenise for the encoder-decoder")]
    Tokenize(#[source] Box<TokenizeError>),
    /// What was made could not be committed.
    #[error(transparent)]
    Commit(CommitError),
    /// The endpoint failed.
    #[error(transparent)]
    Endpoint(#[from] EndpointError),
    /// The frame model failed.
    #[error("the frame model failed")]
    Judging(#[source] Box<crate::learn::NetworkError>),
    /// The verifier failed.
    #[error("the verifier failed")]
    Verifying(#[source] Box<VerifyError>),
    /// A classifier failed.
    #[error("the classifier of frame elements failed")]
    Reading(#[source] Box<dyn std::error::Error + Send + Sync>),
}

coded!(GenerateError {
    Self::Database(error) => error.trouble(),
    Self::Commit(error) => error.trouble(),
    Self::Endpoint(error) => error.trouble(),
    Self::GenerationPrompt(error) => error.trouble(),
    Self::Score(error) => error.trouble(),
    Self::Decode(error) => error.trouble(),
    Self::Judging(error) => error.trouble(),
    Self::Verifying(error) => error.trouble(),
    Self::LexUnits(error) => Failed.coded(lexunits_code(error)),
    Self::NoSisters { .. } | Self::NoneOfTheirOwn { .. } => Failed.coded("N-sisters"),
    Self::NoGenerator => Failed.coded("N-generator"),
    Self::OwnUnfilled => Failed.coded("N-own"),
    Self::NoRanker { .. } => Failed.coded("N-ranker"),
    Self::Range { .. } => Failed.coded("N-range"),
    Self::Seq2Seq { .. } => Failed.coded("N-model"),
    Self::Sentinels { .. } => Failed.coded("N-sentinels"),
});

/// The code of LUs for which nothing is generated: people annotated them, or the words are wrong.
fn lexunits_code(error: &ExpandError) -> &'static str {
    match error {
        ExpandError::Seeds(SeedsError::NoneWithoutSentences { attested })
            if !attested.is_empty() =>
        {
            "N-attested"
        }
        _ => "N-lexunits",
    }
}

impl GenerateError {
    /// Whether whoever asked for it stopped it.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        let search = match self {
            Self::Endpoint(error) => return matches!(error, EndpointError::Stopped),
            Self::Verifying(error) => return error.is_stopped(),
            Self::Decode(error) => error,
            Self::Score(error) => match &**error {
                ScoreError::Decode(error) => error,
                _ => return false,
            },
            _ => return false,
        };
        matches!(search, DecodeError::Stopped)
    }

    pub(super) fn stopped() -> Self {
        Self::Decode(Box::new(DecodeError::Stopped))
    }
}

impl From<ScoreError> for GenerateError {
    fn from(error: ScoreError) -> Self {
        Self::Score(Box::new(error))
    }
}

impl From<CommitError> for GenerateError {
    fn from(error: CommitError) -> Self {
        match error {
            CommitError::Database(error) => Self::Database(error),
            other => Self::Commit(other),
        }
    }
}

impl From<StoreError> for GenerateError {
    fn from(error: StoreError) -> Self {
        Self::Database(error.into())
    }
}

impl From<ExpandError> for GenerateError {
    fn from(error: ExpandError) -> Self {
        match error {
            ExpandError::Database(error) => Self::Database(error),
            ExpandError::Identify(error) => Self::Judging(Box::new(error)),
            ExpandError::Verify(error) => Self::Verifying(Box::new(error)),
            other => Self::LexUnits(Box::new(other)),
        }
    }
}
