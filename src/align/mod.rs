//! Span alignment: where a span of a sentence went in its paraphrase.
//!
//! The aligner of Culkin et al. 2021 (section 4.1). A frozen encoder reads a sentence and its
//! paraphrase together, and both spans are mean-pooled. A small network, the *head*, scores every
//! candidate. **Spans, candidates, `k` and positional cues count words** ([`crate::text::words`],
//! or the words of the data), pooled over their pieces.
//!
//! ```text
//! words, pieces    encode.rs     [CLS] S [SEP] S' [SEP] through the encoder
//! pooled states    features.rs   2 D + 4 features of a pair of spans, and ten more where a linker
//!                                stands beside the head: link_scores.rs, linked.rs
//! candidates       candidates.rs all spans within k words of the source span's length
//! scores           scorer.rs     the head's network; head.rs: its configuration; trained.rs: its directory,
//!                                and where its encoder is
//! links            link_network.rs  the linker's network over link_features.rs; linker.rs: by itself
//! training         train/        of heads and of linkers; nothing else here imports it
//! answer           aligner.rs    the best candidate, piece by piece; each.rs: where some are refused
//! data files       data.rs       items with gold spans; dataset.rs: and the lines on which they stand
//! how good         metrics.rs    precision, recall, F1; breakdown.rs: on which spans;
//!                                diversity.rs: how far parts of speech change
//! by people        tasks.rs      what annotators are asked, what they answer, how far they agree
//! words alone      words/        statistical word aligners, its baseline; embedding.rs: by nearest states
//! ```
//!
//! Bibliography: Culkin, Hu, Stengel-Eskin, Qin and Van Durme 2021, Iterative Paraphrastic
//! Augmentation with Discriminative Span Alignment (TACL 9).

mod aligner;
mod breakdown;
mod candidates;
mod data;
mod dataset;
mod diversity;
mod each;
mod embedding;
mod encode;
mod error;
mod features;
mod head;
mod link_features;
mod link_network;
mod link_scores;
mod linked;
pub mod linker;
mod metrics;
mod scorer;
mod tasks;
pub mod train;
mod trained;
pub mod words;

pub use aligner::{
    AlignRequest, Aligner, Alignment, Prediction, Ranking, WordRanking, WordRequest,
};
pub use breakdown::{Bin, Breakdown, DISTANCE_BIN, DISTANCE_BINS, LONGEST, Lengths, SeenSpans};
pub use candidates::{WordSpan, candidates};
pub use data::AlignedSpan;
pub use dataset::Dataset;
pub use diversity::TagDistances;
pub use embedding::EmbeddingAligner;
pub use error::{AlignError, FileLine, TooLong};
pub use features::Features;
pub use head::{HeadConfig, Labels, TrainingRecord};
pub use metrics::{Agreement, AlignmentReport, Counts, best_threshold};
pub use tasks::{AnnotatorAgreement, Answer, Collection, Task, TaskProblem};
pub use trained::encoder_of;
