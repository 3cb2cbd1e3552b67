//! What the small networks over a frozen encoder share: their inputs, and how they learn.
//!
//! The span aligner's head, the linker, the tagger, the filter, the ranker of proposals and the
//! classifier of entailment pairs are each an [`Mlp`]. `mlp.rs` has its weights, `network.rs` its
//! passes, `loss.rs` the losses, `trainer.rs` the loop of steps ([`TrainingState::train`]). That of
//! epochs, and what a checkpoint keeps, go for any [`Weighted`] network; the labeller's is another.
//! All but filter and ranker read the states of words ([`WordEncoder`]), and are alike on disk
//! ([`Artefact`]). Training gives the same
//! bits in every run: numbers are drawn from one seeded generator ([`SplitMix64`]), gradients are
//! summed in one order. Steps are taken by [`AdamW`] under a [`Schedule`].

mod adamw;
mod artefact;
mod checkpoint;
mod error;
mod files;
mod logistic;
mod loss;
mod mlp;
mod network;
mod products;
mod progress;
mod random;
mod regression;
mod trainer;
mod words;

pub(crate) use adamw::{AdamW, Schedule, Trained};
pub(crate) use artefact::{Artefact, Misread};
pub(crate) use checkpoint::Checkpoint;
pub use error::{NetworkError, SmallNetwork};
pub use files::FileError;
pub(crate) use files::{CONFIG, LINE_LIMIT, read_config, read_lines, write_model};
pub(crate) use logistic::{order, sigmoid, softplus};
pub(crate) use loss::{Choice, Labels, softmax};
pub(crate) use mlp::{Activation, EPSILON, Mlp, Part, Weighted};
pub(crate) use network::Network;
pub(crate) use products::product_of_columns;
pub use progress::TrainingProgress;
pub(crate) use random::SplitMix64;
pub(crate) use regression::logistic_regression;
pub use trainer::TrainerOptions;
pub(crate) use trainer::{Task, TrainingState, fit};
pub use words::EncodedSentence;
pub(crate) use words::{EncodedBy, TooManyPieces, WordEncoder, directions, mean_states, states_of};
