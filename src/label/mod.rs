//! Frame elements: which spans of a sentence express which FEs of a frame that a target evokes.
//!
//! A small network over the frozen states of an encoder of the BERT family scores every span of at
//! most [`LabellerConfig::longest`] words for every FE of the frame. FEs of other frames are not
//! asked. The best segmentation of the sentence is found exactly, under the rule that core FEs are
//! used once.
//!
//! ```text
//! states          encode.rs     the last two layers, mean-pooled over the pieces of each word
//! what is known   elements.rs   frames, their FEs, and the FEs that those are mapped to by relations
//! scores          network.rs    one hidden layer over products of words; gradients
//! segmentations   segments.rs   sums over all of them, the best one
//! given spans     span_labels.rs   which FE a span is, or none
//! training        train.rs      likelihood of the annotated segmentation, or of given spans
//! on disk         model.rs      config.json, elements.tsv, model.safetensors
//! answers         labeller.rs   targets in, FEs out; whether a span is an FE at all
//! how good        measure.rs    exact spans, by core type
//! data            data.rs       sentences of a store
//! ```
//!
//! Task and measure: Das and Smith (2011), Cui and Swayamdipta (2024, section 4).

mod data;
mod elements;
mod encode;
#[cfg(test)]
mod gradient;
mod labeller;
mod measure;
mod model;
mod network;
mod segments;
mod span_labels;
pub mod train;

pub use data::{GoldElement, LabelledSentence, LabelledTarget};
pub use elements::{FoundElement, Inventory};
pub use labeller::{LabelRequest, Labeller, SpanVerdict};
pub use measure::{DevFigures, ElementCounts, Measure};
pub use model::{Goal, LabellerConfig, LabellerTraining};
