//! Experiments: whether generated sets help the models that learn from them.
//!
//! A share of the full text is drawn by sentence. A model learns from it alone, and from it with
//! the generated sets of exactly those sentences; both are measured on held-out documents. Draws
//! are repeated, and the arms of one draw are compared in pairs.
//!
//! ```text
//! draws        draw.rs         shares, resamples, exemplars by date, generated sets by seed
//! arms         frame_id.rs     identification of frames: which generated sets are learnt from
//!              substitution.rs the new trigger in the old sentence
//!              fes.rs          labelling of frame elements
//! trainings    ledger.rs       what each gave; a stopped run resumes after the last
//! comparison   comparison.rs   mean, deviation and gain of each arm
//!              paired.rs       the paired t-test
//! ```
//!
//! No arm learns from a set whose seed is outside the share: the draw takes generated sets by their
//! seeds, and `draw.rs` checks each of them again before it is learnt from.
//!
//! Sources: Culkin, Hu, Stengel-Eskin, Qin and Van Durme (2021), section 6.3; Cui and Swayamdipta
//! (2024), section 4.1.

mod comparison;
mod draw;
mod error;
mod fes;
mod frame_id;
mod ledger;
mod paired;
mod substitution;

pub use comparison::Comparison;
pub use draw::Share;
pub use error::ExperimentError;
pub use fes::{FeArm, FeOptions, fes};
pub use frame_id::{Arm, FrameIdOptions, Source, frame_id};
pub use ledger::ExperimentProgress;
pub use paired::{PairedTest, paired_t};

type Result<T> = std::result::Result<T, ExperimentError>;
