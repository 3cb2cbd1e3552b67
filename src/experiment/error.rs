//! What can go wrong in an experiment.

use crate::database::DatabaseError;
use crate::learn::{FileError, NetworkError};
use crate::model::{Split, coded};

/// Checks on which part an experiment measures, and how often it draws.
pub(super) fn check_measure(part: Split, resamples: usize) -> Result<(), ExperimentError> {
    let wrong =
        |name, found: String, expected| Err(ExperimentError::Setting { name, found, expected });
    if part == Split::Train {
        return wrong("part", part.as_str().to_owned(), "`dev` or `test`");
    }
    if resamples == 0 {
        return wrong("number of resamples", "0".to_owned(), "1 or more");
    }
    Ok(())
}

/// What can go wrong in an experiment.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExperimentError {
    /// A setting is out of range.
    #[error("E-setting: {name} is `{found}`, expected {expected}")]
    Setting {
        /// What is set.
        name: &'static str,
        /// What was given.
        found: String,
        /// What may be.
        expected: &'static str,
    },
    /// There is nothing to augment with.
    #[error(
        "E-no-generated: the query `{query}` finds no generated set whose seed is among the {seeds} sets to draw from; expand them first, or name other generated sets"
    )]
    NoGenerated {
        /// What was asked for.
        query: String,
        /// Human sets to draw from.
        seeds: usize,
    },
    /// A query finds no training sentence to draw from.
    #[error(
        "E-no-text: the query `{query}` finds no annotated full text of the part `train`; name others or none"
    )]
    NoText {
        /// What was asked for.
        query: String,
    },
    /// A generated set would be learnt from without its seed. The draw excludes this; it is checked
    /// all the same.
    #[error(
        "E-outside-share: the generated set {set} of seed {seed} is outside of the share {share}; this is a fault of fnstore, please report it"
    )]
    Leak {
        /// The generated set.
        set: String,
        /// Its seed.
        seed: String,
        /// The share that was drawn.
        share: String,
    },
    /// The arm of substitutions has no tagger.
    #[error(
        "E-no-tagger: the arm `substitution` compares parts of speech and needs a tagger; install the model `tagger` or leave the arm out"
    )]
    NoTagger,
    /// The checkpoint cannot be used.
    #[error(transparent)]
    File(#[from] FileError),
    /// The store failed.
    #[error("cannot read what to learn from")]
    Database {
        /// Why.
        #[from]
        source: DatabaseError,
    },
    /// A network of an arm cannot be trained, or cannot tag.
    #[error("cannot train or ask a network")]
    Network {
        /// Why.
        #[from]
        source: NetworkError,
    },
}

coded!(ExperimentError {
    Self::Setting { .. } => Failed.coded("E-setting"),
    Self::NoGenerated { .. } => BadInput.coded("E-no-generated"),
    Self::NoText { .. } => BadInput.coded("E-no-text"),
    Self::Leak { .. } => Failed.coded("E-outside-share"),
    Self::NoTagger => Failed.coded("E-no-tagger"),
    Self::File(error) => error.trouble(),
    Self::Database { source } => source.trouble(),
    Self::Network { source } => source.trouble(),
});
