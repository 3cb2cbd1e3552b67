//! What the library is built from, and **no part of the promise**: any release may change it.
//!
//! Here stand the kernels, the networks and their trainers, the readers of weights, RocksDB's and
//! Tantivy's sides, and the readers and writers of FrameNet's XML. A tool that needs one of them
//! pins the version of this crate.

use crate::database::Database;
use crate::store::Store;

#[cfg(feature = "neural")]
#[doc(inline)]
pub use crate::{
    FileError, NetworkError, SmallNetwork, TrainerOptions, TrainingProgress, align, augment,
    endpoint, engine, experiment, filter, generate, identify, label, paraphrase, prompt, score,
    tag, vectors, verify,
};
#[doc(inline)]
pub use crate::{durable, exchange, framenet, index, lexica, mine, promise, review, store};

pub use crate::model::{ErrorRecord, whole_message};

/// The rows of a database, as the program and the tests get at them. What is written here passes
/// neither the index nor any check.
pub trait WithStore {
    /// The store below: every record by its id.
    fn store(&self) -> &Store;
}

impl WithStore for Database {
    fn store(&self) -> &Store {
        Database::store(self)
    }
}
