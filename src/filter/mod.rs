//! Filters of generated sets: which ones to keep.
//!
//! Culkin et al. 2021, section 6.1 and Table 4: people judge some outputs. From a set's round and
//! the scores of rewriter and aligner two classifiers learn which others they would accept. One
//! favours precision, one recall, and both scores are kept with each set (`p` and `r` in queries),
//! so that whoever uses the data chooses.
//!
//! ```text
//! what is looked at   evidence.rs     round, scores, whether the LU was proposed
//! data                judged.rs       evidence with people's judgements, as JSON lines
//! scores              network.rs      two hidden layers of ten, a sigmoid; committee.rs: the mean of several
//! training            train/          steps on weighted cross-entropy; folds.rs: weights and cuts chosen on held-out sentences
//! on disk             classifier.rs   config.json and model.safetensors; evidence in, both scores out
//! choice              choice.rs       which of several outputs is kept, by weights of the same evidence (`choice.toml`)
//! how good            table.rs        the paper's Table 4: heuristics and classifiers, with intervals
//! ```

mod choice;
mod classifier;
mod committee;
mod error;
mod evidence;
mod judged;
mod network;
mod table;
pub mod train;

pub use choice::{CHOICE, ChoiceWeights};
pub use classifier::{Filter, FilterConfig, FilterEdition, FilterTraining, MODEL_TYPE};
pub use error::FilterError;
pub use evidence::{FilterEvidence, Input};
pub use judged::Judged;
pub use table::{Rule, RuleFigures, Scored, Share, figures_of, heuristics, seeds_of};
