//! LUs found from scratch: a lexicon of a few LUs grows, and what it finds is held against what was
//! hidden.
//!
//! Culkin et al. 2021, section 6.1. Of the frames that have LUs the 20 that were created first are
//! taken, of each the three LUs that were created first, and of each of these the three earliest
//! annotation sets. An expansion of these sets shall find the other annotated LUs of the frames
//! ([`Plan`]). It runs in a store that holds nothing else ([`Plan::write_store`]): no sister LU, no
//! count and no other sentence can tell what is hidden. `score` says what was found.
//!
//! Dates are read as instants ([`instant`](crate::model::instant)); many tie to the second. Then
//! numbers decide, or chance ([`Ties`]).

mod plan;
mod score;
mod store;

pub use plan::{FramePlan, Plan, SeedUnit, Sizes, Ties};
pub use score::{FrameScore, Output, RoundScore, Scores, Tally, score};
pub(super) use store::{copy, write_whole};
