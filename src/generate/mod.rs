//! Annotated sentences for LUs that have none, from those of their sisters.
//!
//! FrameNet 1.5 has 2,540 LUs that nobody annotated. For each of them
//!
//! 1. a sentence of a *sister LU*, of the same frame and part of speech, is taken (`sisters.rs`);
//! 2. the LU takes the place of the sister in its form (`form.rs`, `draft.rs`), and all annotation
//!    moves along (`edits.rs`);
//! 3. under [`Method::Infill`](crate::model::Method::Infill), FEs whose words may not go with the
//!    LU are blanks (`blanks.rs`). A language model that was trained for it (`trained.rs`), any
//!    other (`language.rs`), an encoder-decoder of the T5 layout (`seq2seq.rs`) or an endpoint
//!    (`remote.rs`) writes the words of all blanks of a sentence, told of nothing, of the FEs, or
//!    of frame and FEs ([`Mode`]; `prompt.rs`, `answer.rs`);
//! 4. of several candidates those are kept whose new words a classifier reads as their FEs
//!    ([`ReadsAs`]), where there is one; of these the one is taken that a judge would most likely
//!    accept, as far as language model, classifier and frame model tell (`candidate_ranker.rs`);
//! 5. what is kept becomes a generated set (`checker.rs`), about which a verifier is asked, where
//!    there is one.
//!
//! The loop is that of `grow/`; `proposer.rs` and `checker.rs` are its stages.
//!
//! Cui and Swayamdipta (2024), Annotating FrameNet via Structure-Conditioned Language Generation;
//! Pancholy, Petruck and Swayamdipta (2021), Sister Help.

mod agreement;
mod answer;
mod blanks;
mod candidate_ranker;
mod checker;
mod classifying;
mod draft;
mod edits;
mod error;
mod estimate;
mod evaluate;
mod form;
mod generator;
mod job;
mod language;
mod placement;
mod prompt;
mod proposer;
mod recipe;
mod remote;
mod report;
mod run;
mod seeds;
mod seq2seq;
mod sisters;
mod tally;
mod trained;

pub use crate::grow::CommitError;
pub use answer::Answer;
pub use blanks::{Blank, Census, NotBlank, census};
pub use classifying::stamped;
pub use draft::Draft;
pub(crate) use draft::{Placed, place};
pub use error::GenerateError;
pub use estimate::estimate;
pub use evaluate::{
    Evaluated, EvaluationProgress, OnProgress, Quality, TestSpans, Writer, evaluate_sets,
    evaluate_test_spans,
};
pub(crate) use form::tag_of;
pub use generator::{Generator, ReadAs, Reading, ReadsAs};
pub use language::LanguageFiller;
pub use prompt::{GenerationPrompt, Mode};
pub use recipe::{GenerationRecipe, Lacking};
pub use remote::RemoteFiller;
pub use report::{Estimate, Fate, GenerationProgress, GenerationReport, Skip, UNLIKELY};
pub use run::run_with;
pub use seq2seq::{Seq2SeqFiller, is_seq2seq};
pub use sisters::SisterRule;
pub use trained::TrainedFiller;

type Result<T> = std::result::Result<T, GenerateError>;
