//! What the small networks over a frozen encoder share: their inputs, and how they learn.
//!
//! The span aligner's head, the linker and the tagger read the states of words ([`WordEncoder`]) and are
//! trained here, on any device, to the same bits in every run: numbers are drawn from one seeded generator
//! ([`SplitMix64`]), gradients are summed by the kernels in one order (`products.rs`), and steps are taken by
//! [`AdamW`] under a [`Schedule`]. The filter's networks, which read no states, learn with the same pieces.

mod adamw;
mod logistic;
mod products;
mod progress;
mod random;
mod words;

pub(crate) use adamw::{AdamW, Schedule, Trained};
pub(crate) use logistic::{sigmoid, softplus};
pub(crate) use products::{product_of_columns, transposed};
pub use progress::Progress;
pub(crate) use random::SplitMix64;
pub(crate) use words::{TooManyPieces, WordEncoder, states_of};
