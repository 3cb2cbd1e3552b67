//! What can go wrong in a search.

use crate::engine::nn::NnError;
use crate::model::coded;

/// A search that cannot be set up, or whose network failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// A banned phrase that would match everywhere.
    #[error("cannot ban phrase `{phrase}`: expected at least one letter or token; leave it out")]
    EmptyPhrase {
        /// The phrase.
        phrase: String,
    },
    /// More required phrases than a hypothesis can keep track of.
    #[error(
        "cannot require `{count}` phrases in one output: expected at most {limit}; leave some out"
    )]
    TooManyRequired {
        /// Phrases or sequences.
        count: usize,
        /// The most there can be.
        limit: usize,
    },
    /// Settings that no search can follow.
    #[error("cannot search with {setting} = `{value}`: expected {expected}")]
    Settings {
        /// The setting's name.
        setting: &'static str,
        /// Its value.
        value: String,
        /// What it should be.
        expected: &'static str,
    },
    /// Whoever asked for it stopped it between two steps.
    #[error("the search was stopped")]
    Stopped,
    /// The network failed.
    #[error("cannot {doing} in the network")]
    Network {
        /// `open sources`, `take a step`, `draw tokens` or `score texts`.
        doing: &'static str,
        /// What the network says.
        source: NnError,
    },
}

coded!(DecodeError {
    Self::Network { source, .. } => source.trouble(),
});
