//! What each training of an experiment gave, kept in a file: a stopped run resumes after its last
//! training.

use std::path::Path;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{ExperimentError, Result};
use crate::learn::Checkpoint;

/// How far an experiment is.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ExperimentProgress {
    /// So many sentences are encoded.
    Encoded {
        /// Those finished.
        done: usize,
        /// Those in all.
        total: usize,
    },
    /// The run resumes after so many trainings.
    Resumed {
        /// Trainings that are done.
        done: usize,
        /// Trainings in all.
        total: usize,
    },
    /// A training is over.
    Trained {
        /// Trainings that are done.
        done: usize,
        /// Trainings in all.
        total: usize,
        /// What was learnt from.
        what: String,
        /// F1 on the part that measures, in [0, 1].
        f1: f64,
    },
}

/// Which training of an experiment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Key {
    /// The share of the full text.
    pub(super) share: String,
    /// Name of the arm.
    pub(super) arm: String,
    /// Number of the draw, from 0.
    pub(super) resample: usize,
}

/// What one training learnt from, and how its model does.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Training<F> {
    #[serde(flatten)]
    pub(super) key: Key,
    /// Sentences of full text in the share.
    pub(super) sentences: usize,
    /// Exemplars beside them.
    pub(super) exemplars: usize,
    /// Annotation sets that the arm adds.
    pub(super) added: usize,
    pub(super) figures: F,
    /// Of the generated sets of the draw, in order, whether the model gives each its frame.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) agreed: Vec<bool>,
}

/// The trainings of an experiment that are done.
pub(super) struct Ledger<F> {
    kept_in: Option<Checkpoint>,
    trainings: Vec<Training<F>>,
    /// Those that this run asks for, in order; a file may have more.
    keys: Vec<Key>,
}

#[derive(Serialize, Deserialize)]
struct Rest<F> {
    trainings: Vec<Training<F>>,
}

impl<F: Clone + Serialize + DeserializeOwned> Ledger<F> {
    /// The trainings of a run, those that a file has among them if one is named; `run` is all that
    /// figures depend on.
    ///
    /// # Errors
    /// When the file cannot be read or written, or is of another run.
    pub(super) fn open(
        path: Option<&Path>,
        run: Value,
        keys: Vec<Key>,
        progress: &mut dyn FnMut(ExperimentProgress),
    ) -> Result<Self> {
        let kept_in = path.map(|path| Checkpoint::new(path, run));
        let mut ledger = Self { kept_in, trainings: Vec::new(), keys };
        if let Some(kept_in) = &ledger.kept_in {
            let rest = kept_in.load::<Rest<F>>()?;
            kept_in.prepare()?;
            if let Some((_, rest)) = rest {
                ledger.trainings = rest.trainings;
                let (done, total) = (ledger.finished().len(), ledger.keys.len());
                progress(ExperimentProgress::Resumed { done, total });
            }
        }
        Ok(ledger)
    }

    /// The training of a key, if it is done.
    pub(super) fn get(&self, key: &Key) -> Option<&Training<F>> {
        self.trainings.iter().find(|training| training.key == *key)
    }

    /// Takes a training that is done, and keeps it in the file.
    pub(super) fn add(
        &mut self,
        training: Training<F>,
        f1: f64,
        progress: &mut dyn FnMut(ExperimentProgress),
    ) -> Result<()> {
        let Key { share, arm, resample } = &training.key;
        let what = format!("share {share}, arm {arm}, draw {}", resample + 1);
        self.trainings.push(training);
        if let Some(kept_in) = &self.kept_in {
            let rest = Rest { trainings: self.trainings.clone() };
            kept_in.save(&[], rest).map_err(ExperimentError::from)?;
        }
        let (done, total) = (self.finished().len(), self.keys.len());
        progress(ExperimentProgress::Trained { done, total, what, f1 });
        Ok(())
    }

    /// Those that this run asks for and that are done, in order.
    pub(super) fn finished(&self) -> Vec<Training<F>> {
        self.keys.iter().filter_map(|key| self.get(key).cloned()).collect()
    }
}
