//! What an epoch of a labeller's training leaves behind, in a file: a run that was killed goes on from there and ends with the
//! weights that it would have ended with.
//!
//! One safetensors file, replaced as a whole after each epoch: weights, moments of the optimizer, the best weights so far
//! (`now.NAME`, `first.NAME`, `second.NAME`, `best.NAME`), and a JSON text with the rest. A checkpoint of a run that is made
//! of anything else is refused.

use std::io;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::error::LabelError;
use super::measure::DevFigures;
use super::network::{Parameters, Part, Shape};
use super::train::State;
use crate::durable::WholeFile;
use crate::learn::{AdamW, FileError, SplitMix64};
use crate::nn::{NamedTensor, Weights, WeightsError, write_tensors};

/// The format that this build writes and reads.
const FORMAT: u32 = 1;

/// What a checkpoint holds beside tensors.
#[derive(Debug, Serialize, Deserialize)]
struct Note {
    format: u32,
    /// All that the weights depend on.
    run: Map<String, Value>,
    /// Width, hidden units, frames, keys.
    shape: [usize; 4],
    epoch: usize,
    /// Steps of the optimizer.
    steps: i32,
    random: u64,
    best_epoch: usize,
    best_dev: DevFigures,
}

/// The checkpoint of one run.
pub(super) struct Checkpoint {
    pub(super) path: PathBuf,
    /// All that the weights depend on.
    pub(super) run: Map<String, Value>,
}

impl Checkpoint {
    /// Tries, before the work, whether the file can be written.
    pub(super) fn prepare(&self) -> Result<(), LabelError> {
        let tried = WholeFile::create(&self.path).map(drop);
        Ok(tried.map_err(FileError::io("write checkpoint", &self.path))?)
    }

    /// Writes a state; an older one is there until this one is.
    pub(super) fn write(&self, state: &State) -> Result<(), LabelError> {
        let Shape { width, hidden, frames, elements } = state.now.shape;
        let note = Note {
            format: FORMAT,
            run: self.run.clone(),
            shape: [width, hidden, frames, elements],
            epoch: state.epoch,
            steps: state.adam.steps(),
            random: state.random.state(),
            best_epoch: state.best_epoch,
            best_dev: state.best_dev,
        };
        let note = serde_json::to_string(&note).expect("names and numbers have JSON");
        let mut tensors: Vec<NamedTensor<'_>> = Vec::new();
        let parts = [
            ("now", &state.now.tensors),
            ("best", &state.best.tensors),
            ("first", &state.adam.first),
            ("second", &state.adam.second),
        ];
        for (prefix, numbers) in parts {
            tensors.extend(Part::ALL.iter().zip(numbers).map(|(part, numbers)| {
                (format!("{prefix}.{}", part.name()), part.shape(state.now.shape), &numbers[..])
            }));
        }
        write_tensors(&self.path, &tensors, Some(&note))
            .map_err(|error| self.failed("write checkpoint", error))
    }

    /// The state that was written last; none when there is no file.
    pub(super) fn read(&self) -> Result<Option<State>, LabelError> {
        if !self.path.exists() {
            return Ok(None);
        }
        let failed = |error| self.failed("read checkpoint", error);
        let weights = Weights::open_file(&self.path).map_err(failed)?;
        let note = self.note(&weights)?;
        let [width, hidden, frames, elements] = note.shape;
        let shape = Shape { width, hidden, frames, elements };
        let tensors = |prefix: &str| -> Result<Vec<Vec<f32>>, LabelError> {
            let tensor = |part: &Part| {
                let name = format!("{prefix}.{}", part.name());
                Ok(weights.tensor(&name, &part.shape(shape)).map_err(failed)?.into_data())
            };
            Part::ALL.iter().map(tensor).collect()
        };
        Ok(Some(State {
            now: Parameters { shape, tensors: tensors("now")? },
            adam: AdamW::at(note.steps, tensors("first")?, tensors("second")?),
            random: SplitMix64::new(note.random),
            epoch: note.epoch,
            best: Parameters { shape, tensors: tensors("best")? },
            best_epoch: note.best_epoch,
            best_dev: note.best_dev,
        }))
    }

    /// The text beside the tensors, when it is of this run.
    fn note(&self, weights: &Weights) -> Result<Note, LabelError> {
        let expected = "a checkpoint of `fnstore train fes`";
        let refuse = |found: String| FileError::content(&self.path, 1, found, expected);
        let note = weights.note().ok_or_else(|| refuse("tensors without a note".to_owned()))?;
        let note: Note = serde_json::from_str(note).map_err(|error| refuse(error.to_string()))?;
        if note.format != FORMAT {
            return Err(refuse(format!("format {}", note.format)).into());
        }
        for (setting, expected) in &self.run {
            let found = note.run.get(setting).unwrap_or(&Value::Null);
            if found != expected {
                return Err(LabelError::File(FileError::Run {
                    path: self.path.clone(),
                    setting: setting.clone(),
                    found: found.to_string(),
                    expected: expected.to_string(),
                }));
            }
        }
        Ok(note)
    }

    fn failed(&self, action: &'static str, error: WeightsError) -> LabelError {
        FileError::io(action, &self.path)(io::Error::other(error)).into()
    }
}
