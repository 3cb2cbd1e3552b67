//! What an epoch leaves behind, in a file: a run that was killed goes on from there and ends with
//! the weights that it would have ended with.
//!
//! One safetensors file, replaced as a whole after each epoch: the weights and the optimizer's
//! moments (`now.NAME`, `first.NAME`, `second.NAME`), the best weights so far (`best.NAME`), and a
//! JSON text with the rest ([`Note`]). The text also says what the run is made of, and a run made
//! of anything else is refused: its end would be neither one's. The weights are those of any
//! [`Weighted`] network.

use std::io;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{AdamW, FileError, SplitMix64, TrainingProgress, TrainingState, Weighted};
use crate::durable::WholeFile;
use crate::engine::{NamedTensor, Weights, WeightsError, write_tensors};

/// The format that this build writes and reads.
const FORMAT: u32 = 1;

/// What a checkpoint holds beside tensors.
#[derive(Debug, Serialize, Deserialize)]
struct Note<R> {
    format: u32,
    /// What the run is made of ([`Checkpoint::new`]).
    run: Map<String, Value>,
    #[serde(flatten)]
    rest: R,
}

/// The rest of a training; `D` is measured on development data.
#[derive(Debug, Serialize, Deserialize)]
struct Rest<D> {
    /// Empty in a file of an earlier program, which named them otherwise.
    #[serde(default)]
    sizes: Vec<usize>,
    epoch: usize,
    /// Steps of the optimizer.
    steps: i32,
    random: u64,
    order: Vec<usize>,
    best_epoch: usize,
    best_dev: D,
}

/// The checkpoint of one run.
pub(crate) struct Checkpoint {
    path: PathBuf,
    /// All that the weights depend on.
    run: Map<String, Value>,
}

impl Checkpoint {
    /// The checkpoint of a run at a path, whether or not there is one yet. `run` is an object with
    /// all that the weights depend on; rates stand in it as texts, because a number that is read
    /// back from JSON may differ in its last bit.
    pub(crate) fn new(path: &Path, run: Value) -> Self {
        let Value::Object(run) = run else { unreachable!("it is written as an object") };
        Self { path: path.to_owned(), run }
    }

    /// Tries, before the work, whether the file can be written.
    pub(crate) fn prepare(&self) -> Result<(), FileError> {
        let tried = WholeFile::create(&self.path).map(drop);
        tried.map_err(FileError::io("write checkpoint", &self.path))
    }

    /// Writes tensors with the rest of a training; an older file is there until this one is.
    pub(crate) fn save<R: Serialize>(
        &self,
        tensors: &[NamedTensor<'_>],
        rest: R,
    ) -> Result<(), FileError> {
        let note = Note { format: FORMAT, run: self.run.clone(), rest };
        let note = serde_json::to_string(&note).expect("names and numbers have JSON");
        write_tensors(&self.path, tensors, Some(&note))
            .map_err(|e| self.failed("write checkpoint", e))
    }

    /// The tensors and the rest that were saved last; none when there is no file.
    pub(crate) fn load<R: DeserializeOwned>(&self) -> Result<Option<(Weights, R)>, FileError> {
        if !self.path.exists() {
            return Ok(None);
        }
        let weights =
            Weights::open_file(&self.path).map_err(|e| self.failed("read checkpoint", e))?;
        let rest = self.note(&weights)?.rest;
        Ok(Some((weights, rest)))
    }

    /// Writes a state; an older one is there until this one is.
    pub(crate) fn write<D: Clone + Serialize, N: Weighted>(
        &self,
        state: &TrainingState<D, N>,
    ) -> Result<(), FileError> {
        let TrainingState { now, adam, best, .. } = state;
        let rest = Rest {
            sizes: now.sizes(),
            epoch: state.epoch,
            steps: adam.steps(),
            random: state.random.state(),
            order: state.order.clone(),
            best_epoch: state.best_epoch,
            best_dev: state.best_dev.clone(),
        };
        let mut tensors = now.tensors("now.");
        tensors.extend(best.tensors("best."));
        for (prefix, moments) in [("first.", &adam.first), ("second.", &adam.second)] {
            // Those that are trained come first, and moments go by them.
            let of_tensors = now.tensors(prefix).into_iter().zip(moments);
            tensors
                .extend(of_tensors.map(|((name, shape, _), moments)| (name, shape, &moments[..])));
        }
        self.save(&tensors, rest)
    }

    /// The state that was written last, of weights of a kind; none when there is no file.
    pub(crate) fn read<D: DeserializeOwned, N: Weighted>(
        &self,
        kind: N::Kind,
    ) -> Result<Option<TrainingState<D, N>>, FileError> {
        let Some((weights, note)) = self.load::<Rest<D>>()? else { return Ok(None) };
        if note.sizes.len() < 2 {
            let found =
                format!("the sizes {:?} of a network, as an earlier program wrote", note.sizes);
            let expected = "two sizes or more; remove the file, or name another";
            return Err(FileError::content(&self.path, 1, found, expected));
        }
        let failed = |error| self.failed("read checkpoint", error);
        let read = |prefix: &str| N::read(&weights, prefix, &note.sizes, kind).map_err(failed);
        let (now, best) = (read("now.")?, read("best.")?);
        let moments = |prefix: &str| -> Result<Vec<Vec<f32>>, FileError> {
            let trained = now.tensors(prefix).into_iter().take(now.lengths().len());
            let moments =
                trained.map(|(name, shape, _)| Ok(weights.tensor(&name, &shape)?.into_data()));
            moments.collect::<Result<_, _>>().map_err(failed)
        };
        let adam = AdamW::at(note.steps, moments("first.")?, moments("second.")?);
        Ok(Some(TrainingState {
            now,
            adam,
            random: SplitMix64::new(note.random),
            order: note.order,
            epoch: note.epoch,
            best,
            best_epoch: note.best_epoch,
            best_dev: note.best_dev,
        }))
    }

    /// The state that a run resumes from, which is told; none where the run begins. The file is
    /// tried before the work.
    pub(crate) fn resumed<D: DeserializeOwned, N: Weighted, L>(
        &self,
        kind: N::Kind,
        progress: &mut dyn FnMut(TrainingProgress<D, L>),
    ) -> Result<Option<TrainingState<D, N>>, FileError> {
        let state = self.read(kind)?;
        self.prepare()?;
        if let Some(TrainingState { epoch, .. }) = &state {
            progress(TrainingProgress::Resumed { epoch: *epoch });
        }
        Ok(state)
    }

    /// The text beside the tensors, when it is of this run.
    fn note<R: DeserializeOwned>(&self, weights: &Weights) -> Result<Note<R>, FileError> {
        let expected = "a checkpoint of a training";
        let refuse = |found: String| FileError::content(&self.path, 1, found, expected);
        let note = weights.note().ok_or_else(|| refuse("tensors without a note".to_owned()))?;
        let note: Note<R> = serde_json::from_str(note).map_err(|e| refuse(e.to_string()))?;
        if note.format != FORMAT {
            return Err(refuse(format!("format {}", note.format)));
        }
        let shown = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        for (setting, expected) in &self.run {
            let found = note.run.get(setting).unwrap_or(&Value::Null);
            if found != expected {
                return Err(FileError::Run {
                    path: self.path.clone(),
                    setting: setting.clone(),
                    found: shown(found),
                    expected: shown(expected),
                });
            }
        }
        Ok(note)
    }

    fn failed(&self, action: &'static str, error: WeightsError) -> FileError {
        FileError::io(action, &self.path)(io::Error::other(error))
    }
}
