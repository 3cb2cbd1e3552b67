//! Identification of frames: which words of a sentence evoke a frame, and which.
//!
//! A small network over the states of several layers of a frozen encoder scores all frames and NULL
//! at a span of at most three words. The LUs of a lexicon say which spans may be targets and which
//! frames they may evoke.
//!
//! ```text
//! data             data.rs         sentences with targets, of a store
//! candidates       candidates.rs   forms of LUs
//! annotation       evidence.rs     forms that it attests, verbs around objects
//! parts of speech  reading.rs      which LUs fit where their forms stand
//! words, spans     features.rs     numbers of a span; standard.rs: of mean 0 and deviation 1
//! scores           scorer.rs       one hidden layer, softmax over frames and NULL, the choice of spans
//! training         train.rs        steps, epochs, the best one kept; corpus.rs: encoded sentences;
//!                                  train/trials.rs: many trainings on the same encoded sentences
//! on disk          model.rs        config.json and model.safetensors
//! answers          identifier.rs   texts in, targets with frames out; the judge
//! how good         measure.rs      F1 of spans with frames, accuracy at gold targets
//! ```
//!
//! Source: Culkin, Hu, Stengel-Eskin, Qin and Van Durme (2021), section 6.3, with a frozen encoder
//! in place of their LSTM.

mod candidates;
mod corpus;
mod data;
mod evidence;
mod features;
mod identifier;
mod measure;
mod model;
mod reading;
mod scorer;
mod standard;
pub mod train;

pub use crate::learn::EncodedSentence;
pub use candidates::{Candidate, Candidates};
pub use data::{FrameSentence, FullText, Made, Target, lexunits, released_lexunits};
pub use evidence::{Parting, is_by_people, parting};
pub use features::{MAX_WORDS, WordSpan};
pub use identifier::{FoundEncoded, FoundTarget, FrameIdentifier, Question};
pub use measure::{Figures, LexunitName};
pub use model::{FrameConfig, FrameTraining};
pub use scorer::Search;
