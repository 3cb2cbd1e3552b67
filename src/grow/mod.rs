//! The loop by which a database grows, whoever proposes the sentences.
//!
//! ```text
//! seeds --> Proposer --> Checker --> GeneratedWriter --> Sink
//!               ^           |
//!               +-- again --+
//! ```
//!
//! | file | what |
//! | --- | --- |
//! | `stages.rs` | the stages as traits: a [`Proposer`] writes sentences for a seed, a [`Checker`] says which may be kept, a [`Work`] is a seed on its way, an [`Observer`] hears of each event |
//! | `augmentation.rs` | the loop over them, [`Augmentation`] |
//! | `writer.rs` | [`GeneratedWriter`]: ids, sets, LUs and journals, commit by commit |
//! | `sink.rs` | where commits go: the store ([`StoreSink`]), or elsewhere |
//! | `model_files.rs` | the models' files, looked at before each commit |
//!
//! `expand/` rewrites annotated sentences in rounds, `generate/` gives LUs sentences of their
//! sisters. Another way to write sentences is one more [`Proposer`], and whoever opens its models.
//!
//! What a seed gets depends on the seed and the recipe, not on what is under way beside it. So runs
//! that were stopped, parted or ordered otherwise agree.

mod augmentation;
mod model_files;
mod sink;
mod stages;
#[cfg(test)]
mod tests;
mod writer;

pub(crate) use augmentation::{Augmentation, Ended};
pub(crate) use model_files::ModelFiles;
pub use sink::CommitError;
pub(crate) use sink::{Nowhere, Sink, StoreSink};
pub use stages::Stop;
pub(crate) use stages::{
    Begun, Checker, Event, Finish, Observer, Proposed, Proposer, Verdict, Why, Work,
};
pub(crate) use writer::{CarriedAlong, Generated, GeneratedWriter};
