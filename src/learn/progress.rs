//! How far training is.

/// What training has just done; `D` is measured on development data, `L` may be left out.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum TrainingProgress<D, L> {
    /// An item is too long for the encoder, and is neither trained on nor measured.
    LeftOut(L),
    /// So many sentences or sentence pairs are encoded.
    Encoded {
        /// Those finished.
        done: usize,
        /// Those in all.
        total: usize,
    },
    /// Training resumes from a checkpoint.
    Resumed {
        /// The last epoch that is done.
        epoch: usize,
    },
    /// A step of an epoch is taken.
    Step {
        /// Number of the epoch, from 1.
        epoch: usize,
        /// Steps done in it.
        done: usize,
        /// Steps in it.
        total: usize,
    },
    /// An epoch is over.
    Epoch {
        /// Its number, from 1.
        epoch: usize,
        /// Mean loss over its steps, natural log.
        loss: f64,
        /// What the development data says of it.
        dev: D,
    },
}
