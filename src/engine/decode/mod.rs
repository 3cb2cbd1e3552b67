//! Search for the best outputs of a network under lexical constraints.
//!
//! [`Scheduler`] runs searches of many sources side by side through anything that is a
//! [`StepNetwork`](crate::engine::StepNetwork); a [`Constraint`] says what may not occur in an
//! output, and what must. Everything is deterministic: one network, source, constraint and settings
//! give one result.
//!
//! - `constraint/`: banned and required phrases and token sequences as automata;
//! - `beam.rs`: the beam search of one source; `allocation.rs`: its beam when something is
//!   required;
//! - `coverage.rs`: how much of the source an output has looked at;
//! - `sampling.rs`: outputs that are drawn;
//! - `continuations.rs`: how one source may go on, and how likely given continuations are;
//! - `next_tokens.rs`: how likely given tokens are right after each of many prompts;
//! - `replay.rs`: the same search again under more bans;
//! - `scheduler.rs`: many searches, one network;
//! - `settings.rs`: beam size, length normalisation, length limit, stopping; sampling.

mod active;
mod allocation;
#[cfg(test)]
mod batching;
mod beam;
mod calls;
mod constraint;
mod continuations;
mod coverage;
mod error;
mod job;
#[cfg(test)]
mod known_oracle;
mod next_tokens;
#[cfg(test)]
mod oracle;
mod replay;
mod sampling;
mod scheduler;
mod settings;
mod stopping;
mod together;
#[cfg(test)]
pub(crate) mod toy;
mod waiting;

pub use beam::{Hypothesis, Stop};
pub use constraint::{
    AvoidPhrases, AvoidTokens, Blocked, Constraint, ConstraintState, KnownWords, RequirePhrases,
    RequireTokens, TokenOrder, Vocabulary, WordList, occurrences, violations,
};
pub use continuations::Continuations;
pub use error::DecodeError;
pub use job::{JobId, SourceId};
pub use next_tokens::NextTokens;
pub(crate) use next_tokens::neighbours;
pub use scheduler::{Finished, Scheduler};
pub use settings::{
    BeamSettings, LengthLimit, LengthPenalty, SampleSettings, SearchSettings, Stopping,
};
pub use stopping::{GoesOn, Paced, always};
pub use together::{search_all, search_all_while};
