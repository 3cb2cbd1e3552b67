//! Search for the best outputs of a network under lexical constraints.
//!
//! [`Scheduler`] runs beam searches of many sources side by side through anything that is a
//! [`StepNetwork`](crate::nn::StepNetwork); a [`Constraint`] says what may not occur in an output.
//! Everything is deterministic: one network, source, constraint and settings give one result.
//!
//! - `constraint/`: banned phrases and token sequences as automata;
//! - `beam.rs`: the search of one source;
//! - `scheduler.rs`: many searches, one network;
//! - `settings.rs`: beam size, length normalisation, length limit, stopping.

mod beam;
mod constraint;
mod error;
mod scheduler;
mod settings;
#[cfg(test)]
pub(crate) mod toy;

pub use beam::{Hypothesis, Stop};
pub use constraint::{
    AvoidPhrases, AvoidTokens, Blocked, Constraint, ConstraintState, Vocabulary, violations,
};
pub use error::DecodeError;
pub use scheduler::{Finished, JobId, Scheduler, SourceId};
pub use settings::{BeamSettings, LengthLimit, LengthPenalty, Stopping};
