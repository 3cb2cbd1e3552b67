//! What an epoch of a labeller's training leaves behind in a [`Checkpoint`]: weights, moments of
//! the optimizer and the best weights so far (`now.NAME`, `first.NAME`, `second.NAME`,
//! `best.NAME`), with the rest.

use serde::{Deserialize, Serialize};

use super::measure::DevFigures;
use super::network::{Parameters, Part, Shape};
use crate::learn::{AdamW, Checkpoint, NetworkError, SplitMix64};
use crate::nn::NamedTensor;

/// All that the epochs to come depend on.
pub(super) struct State {
    pub(super) now: Parameters,
    pub(super) adam: AdamW,
    pub(super) random: SplitMix64,
    /// Epochs done.
    pub(super) epoch: usize,
    /// The weights that did best on the development data.
    pub(super) best: Parameters,
    pub(super) best_epoch: usize,
    pub(super) best_dev: DevFigures,
}

/// What a checkpoint holds beside tensors.
#[derive(Debug, Serialize, Deserialize)]
struct Rest {
    /// Width, hidden units, frames, keys.
    shape: [usize; 4],
    epoch: usize,
    /// Steps of the optimizer.
    steps: i32,
    random: u64,
    best_epoch: usize,
    best_dev: DevFigures,
}

/// Writes a state; an older one is there until this one is.
pub(super) fn write(checkpoint: &Checkpoint, state: &State) -> Result<(), NetworkError> {
    let Shape { width, hidden, frames, elements } = state.now.shape;
    let rest = Rest {
        shape: [width, hidden, frames, elements],
        epoch: state.epoch,
        steps: state.adam.steps(),
        random: state.random.state(),
        best_epoch: state.best_epoch,
        best_dev: state.best_dev,
    };
    let parts = [
        ("now", &state.now.tensors),
        ("best", &state.best.tensors),
        ("first", &state.adam.first),
        ("second", &state.adam.second),
    ];
    let tensors = parts.into_iter().flat_map(|(prefix, numbers)| {
        Part::ALL.iter().zip(numbers).map(move |(part, numbers)| -> NamedTensor<'_> {
            (format!("{prefix}.{}", part.name()), part.shape(state.now.shape), &numbers[..])
        })
    });
    Ok(checkpoint.save(&tensors.collect::<Vec<_>>(), rest)?)
}

/// The state that was written last; none when there is no file.
pub(super) fn read(checkpoint: &Checkpoint) -> Result<Option<State>, NetworkError> {
    let Some((weights, rest)) = checkpoint.load::<Rest>()? else { return Ok(None) };
    let [width, hidden, frames, elements] = rest.shape;
    let shape = Shape { width, hidden, frames, elements };
    let tensors = |prefix: &str| -> Result<Vec<Vec<f32>>, NetworkError> {
        let tensor = |part: &Part| {
            let name = format!("{prefix}.{}", part.name());
            let tensor = weights.tensor(&name, &part.shape(shape));
            Ok(tensor.map_err(|error| checkpoint.unread(error))?.into_data())
        };
        Part::ALL.iter().map(tensor).collect()
    };
    Ok(Some(State {
        now: Parameters { shape, tensors: tensors("now")? },
        adam: AdamW::at(rest.steps, tensors("first")?, tensors("second")?),
        random: SplitMix64::new(rest.random),
        epoch: rest.epoch,
        best: Parameters { shape, tensors: tensors("best")? },
        best_epoch: rest.best_epoch,
        best_dev: rest.best_dev,
    }))
}
