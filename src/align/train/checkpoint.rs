//! What an epoch leaves behind, in a file: a run that was killed goes on from there and ends with
//! the weights that it would have ended with.
//!
//! One safetensors file, replaced as a whole after each epoch: the weights and the optimizer's
//! moments (`now.NAME`, `first.NAME`, `second.NAME`), the best weights so far (`best.NAME`), and a
//! JSON text with the rest ([`Note`]). The text also says what the run is made of, and a run made
//! of anything else is refused: its end would be neither one's.

use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::Options;
use super::fit::State;
use crate::align::data::AlignedSpan;
use crate::align::error::AlignError;
use crate::align::metrics::Report;
use crate::align::scorer::ACTIVATION;
use crate::compute::Device;
use crate::durable::WholeFile;
use crate::learn::{AdamW, FileError, Mlp, SplitMix64};
use crate::nn::{Weights, WeightsError, write_tensors};

/// The format that this build writes and reads.
const FORMAT: u32 = 1;

/// What a checkpoint holds beside tensors.
#[derive(Debug, Serialize, Deserialize)]
struct Note {
    format: u32,
    /// What the run is made of ([`Checkpoint::new`]).
    run: Map<String, Value>,
    inputs: usize,
    hidden: usize,
    epoch: usize,
    /// Steps of the optimizer.
    steps: i32,
    random: u64,
    order: Vec<usize>,
    best_epoch: usize,
    best_dev: Report,
}

/// The checkpoint of one run.
pub(super) struct Checkpoint {
    path: PathBuf,
    /// All that the weights depend on.
    run: Map<String, Value>,
}

impl Checkpoint {
    /// The checkpoint of a run at a path, whether or not there is one yet; of encoder and linker
    /// the fingerprints.
    pub(super) fn new(
        path: &Path,
        options: &Options,
        device: &Device,
        (encoder, linker): (String, Option<String>),
        [data, dev]: [&[AlignedSpan]; 2],
    ) -> Self {
        let hash = |items: &[AlignedSpan]| {
            let json = serde_json::to_vec(items).expect("words and numbers have JSON");
            blake3::hash(&json).to_string()
        };
        // A number that is read back from JSON may differ in its last bit; its text does not.
        let exactly = |rate: f32| format!("{rate:?}");
        // A GPU adds in another order: what it goes on with is neither one's head.
        let device = match device {
            Device::Cpu { .. } => "cpu",
            Device::Gpu(_) => "gpu",
        };
        let run = json!({
            "device": device,
            "encoder": encoder,
            "linker": linker,
            "data": hash(data),
            "dev": hash(dev),
            "layer": options.layer,
            "features": options.features.names(),
            "labels": options.labels,
            "k": options.k,
            "hidden": options.hidden,
            "epochs": options.training.epochs,
            "patience": options.training.patience,
            "batch": options.training.batch,
            "sample": options.sample,
            "learning_rate": exactly(options.training.learning_rate),
            "weight_decay": exactly(options.training.weight_decay),
            "seed": options.training.seed,
        });
        let Value::Object(run) = run else { unreachable!("it is written as an object") };
        Self { path: path.to_owned(), run }
    }

    /// Tries, before the work, whether the file can be written.
    pub(super) fn prepare(&self) -> Result<(), AlignError> {
        let tried = WholeFile::create(&self.path).map(drop);
        Ok(tried.map_err(FileError::io("write checkpoint", &self.path))?)
    }

    /// Writes a state; an older one is there until this one is.
    pub(super) fn write(&self, state: &State) -> Result<(), AlignError> {
        let State { mlp, adam, best, .. } = state;
        let note = Note {
            format: FORMAT,
            run: self.run.clone(),
            inputs: mlp.inputs(),
            hidden: mlp.hidden(),
            epoch: state.epoch,
            steps: adam.steps(),
            random: state.random.state(),
            order: state.order.clone(),
            best_epoch: state.best_epoch,
            best_dev: state.best_dev,
        };
        let note = serde_json::to_string(&note).expect("names and numbers have JSON");
        let mut tensors = mlp.tensors("now.");
        tensors.extend(best.tensors("best."));
        for (prefix, moments) in [("first.", &adam.first), ("second.", &adam.second)] {
            // Those that are trained come first, and moments go by them.
            let of_tensors = mlp.tensors(prefix).into_iter().zip(moments);
            tensors
                .extend(of_tensors.map(|((name, shape, _), moments)| (name, shape, &moments[..])));
        }
        write_tensors(&self.path, &tensors, Some(&note))
            .map_err(|e| self.failed("write checkpoint", e))
    }

    /// The state that was written last; none when there is no file.
    pub(super) fn read(&self) -> Result<Option<State>, AlignError> {
        if !self.path.exists() {
            return Ok(None);
        }
        let failed = |error| self.failed("read checkpoint", error);
        let weights = Weights::open_file(&self.path).map_err(failed)?;
        let note = self.note(&weights)?;
        let sizes = [note.inputs, note.hidden, 1];
        let mlp = |prefix: &str| Mlp::read(&weights, prefix, &sizes, ACTIVATION).map_err(failed);
        let (mlp, best) = (mlp("now.")?, mlp("best.")?);
        let moments = |prefix: &str| -> Result<Vec<Vec<f32>>, AlignError> {
            let trained = mlp.tensors(prefix).into_iter().take(mlp.lengths().count());
            let moments =
                trained.map(|(name, shape, _)| Ok(weights.tensor(&name, &shape)?.into_data()));
            moments.collect::<Result<_, _>>().map_err(failed)
        };
        let adam = AdamW::at(note.steps, moments("first.")?, moments("second.")?);
        Ok(Some(State {
            mlp,
            adam,
            random: SplitMix64::new(note.random),
            order: note.order,
            epoch: note.epoch,
            best,
            best_epoch: note.best_epoch,
            best_dev: note.best_dev,
        }))
    }

    /// The text beside the tensors, when it is of this run.
    fn note(&self, weights: &Weights) -> Result<Note, AlignError> {
        let expected = "a checkpoint of `fnstore train`";
        let refuse = |found: String| FileError::content(&self.path, 1, found, expected);
        let note = weights.note().ok_or_else(|| refuse("tensors without a note".to_owned()))?;
        let note: Note = serde_json::from_str(note).map_err(|e| refuse(e.to_string()))?;
        if note.format != FORMAT {
            return Err(refuse(format!("format {}", note.format)).into());
        }
        let shown = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        for (setting, expected) in &self.run {
            let found = note.run.get(setting).unwrap_or(&Value::Null);
            if found != expected {
                return Err(AlignError::Checkpoint {
                    path: self.path.clone(),
                    setting: setting.clone(),
                    found: shown(found),
                    expected: shown(expected),
                });
            }
        }
        Ok(note)
    }

    fn failed(&self, action: &'static str, error: WeightsError) -> AlignError {
        FileError::io(action, &self.path)(io::Error::other(error)).into()
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{options, shifted_copies};
    use super::super::{
        Encoded,
        fit::{fit, start},
    };
    use super::*;

    fn data() -> Encoded {
        shifted_copies(&mut SplitMix64::new(22), 12)
    }

    fn checkpoint(path: &Path, options: &Options, data: &Encoded) -> Checkpoint {
        let device = Device::cpu();
        Checkpoint::new(
            path,
            options,
            &device,
            ("abc".to_owned(), None),
            [&data.items, &data.items],
        )
    }

    #[test]
    fn a_run_that_was_killed_ends_as_if_it_had_not_been() {
        let directory = tempfile::tempdir().unwrap();
        let data = data();
        let mut options = options();
        options.training.epochs = 5;
        let checkpoint = checkpoint(&directory.path().join("state"), &options, &data);
        assert!(checkpoint.read().unwrap().is_none());
        let train = |state: State, save: &mut dyn FnMut(&State) -> Result<(), AlignError>| {
            fit(&options, &Device::cpu(), state, [&data, &data], save, &mut |_| ())
        };
        let begin = || start(&options, 8, data.items.len());
        let whole = train(begin(), &mut |_| Ok(())).unwrap();
        for killed_after in 1..=5 {
            let killed = train(begin(), &mut |state| {
                checkpoint.write(state)?;
                let killed = FileError::io("go on", Path::new(""))(io::Error::other("killed"));
                if state.epoch == killed_after { Err(killed.into()) } else { Ok(()) }
            });
            assert!(killed.unwrap_err().to_string().contains("cannot go on"));
            let state = checkpoint.read().unwrap().unwrap();
            assert_eq!(state.epoch, killed_after);
            assert_eq!(train(state, &mut |_| Ok(())).unwrap(), whole);
        }
    }

    #[test]
    fn a_checkpoint_of_another_run_is_refused_and_says_what_differs() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("state");
        let (data, options) = (data(), options());
        checkpoint(&path, &options, &data).write(&start(&options, 8, 12)).unwrap();
        assert!(checkpoint(&path, &options, &data).read().unwrap().is_some());
        let mut other = options.clone();
        other.training.seed = 9;
        let error = checkpoint(&path, &other, &data).read().unwrap_err().to_string();
        assert!(error.contains("seed `1`, this run has `9`"), "{error}");
        let mut of_gpu = checkpoint(&path, &options, &data);
        of_gpu.run["device"] = json!("gpu");
        let error = of_gpu.read().unwrap_err().to_string();
        assert!(error.contains("device `cpu`, this run has `gpu`"), "{error}");
        let fewer = shifted_copies(&mut SplitMix64::new(22), 3);
        let error = checkpoint(&path, &options, &fewer).read().unwrap_err().to_string();
        assert!(error.contains("made with data"), "{error}");
    }

    #[test]
    fn rates_that_no_binary_fraction_is_equal_to_are_known_again() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("state");
        let data = data();
        for thousandths in 1..100_u8 {
            let rate = f32::from(thousandths) / 1000.0;
            let mut options = options();
            (options.training.learning_rate, options.training.weight_decay) = (rate, rate);
            checkpoint(&path, &options, &data).write(&start(&options, 8, 12)).unwrap();
            assert!(checkpoint(&path, &options, &data).read().unwrap().is_some(), "{rate}");
            options.training.learning_rate = rate.next_up();
            let error = checkpoint(&path, &options, &data).read().unwrap_err().to_string();
            assert!(error.contains(&format!("learning_rate `{rate}`")), "{error}");
        }
    }

    #[test]
    fn a_file_that_is_no_checkpoint_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("state");
        let checkpoint = checkpoint(&path, &options(), &data());
        std::fs::write(&path, "half a file").unwrap();
        assert!(matches!(checkpoint.read(), Err(AlignError::File(FileError::Io { .. }))));
        for note in [None, Some("{}")] {
            write_tensors(&path, &[], note).unwrap();
            assert!(matches!(checkpoint.read(), Err(AlignError::File(FileError::Content { .. }))));
        }
        let nowhere = Checkpoint { path: "/nowhere/state".into(), run: Map::new() };
        let error = nowhere.prepare().unwrap_err();
        assert!(error.to_string().contains("write checkpoint `/nowhere/state`"), "{error}");
        let error = nowhere.write(&start(&options(), 8, 1)).unwrap_err();
        assert!(error.to_string().contains("write checkpoint `/nowhere/state`"), "{error}");
    }
}
