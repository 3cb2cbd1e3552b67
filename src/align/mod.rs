//! Span alignment: where a span of a sentence went in its paraphrase.
mod candidates;
mod data;
mod error;
mod features;
mod gradient;
mod metrics;
mod mlp;
mod random;

pub use candidates::{WordSpan, candidates};
pub use data::AlignedSpan;
pub use error::AlignError;
pub use metrics::{Agreement, Counts, Report, best_threshold};
