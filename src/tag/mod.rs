//! Parts of speech: the tag of each word of a sentence.
//!
//! A small network over the frozen states of an encoder of the BERT family, the span aligner's. A
//! word's pieces are mean-pooled, and the word is tagged by itself, since its state has seen the
//! sentence.
//!
//! ```text
//! words, pieces    features.rs   D numbers of a word's state and a few of how it is written
//! training         train.rs      steps, epochs, the best one kept
//! on disk          model.rs      config.json and model.safetensors
//! answers          tagger.rs     one hidden layer, softmax over the tags: sentences in, tags out
//! how good         measure.rs    accuracy, of words that were not seen in training too, beside a baseline
//! data             sentence.rs   words with tags; penn.rs: the tags of FrameNet's full text
//! ```

mod features;
mod measure;
mod model;
mod penn;
mod sentence;
mod tagger;
pub mod train;

pub(crate) use features::{WRITING, writing_of};
pub use measure::{Accuracy, DevAccuracy, Measure, TagLexicon};
pub use model::{TaggerConfig, TaggerTraining};
pub use penn::penn_tag;
pub use sentence::TaggedSentence;
pub use tagger::{Tag, Tagger};
