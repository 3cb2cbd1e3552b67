//! What a head's training is made of, and its checkpoint ([`learn`](crate::learn)).

use std::path::Path;

use serde_json::json;

use super::Options;
use crate::align::data::AlignedSpan;
use crate::engine::Device;
use crate::learn::Checkpoint;

/// The checkpoint of one run at a path, whether or not there is one yet; of encoder and linker the
/// fingerprints.
pub(super) fn checkpoint(
    path: &Path,
    options: &Options,
    device: &Device,
    (encoder, linker): (String, Option<String>),
    [data, dev]: [&[AlignedSpan]; 2],
) -> Checkpoint {
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
    Checkpoint::new(path, run)
}

#[cfg(test)]
mod tests {
    use super::super::fit::State;
    use super::super::tests::{options, shifted_copies};
    use super::super::{
        Encoded,
        fit::{fit, start},
    };
    use super::*;
    use crate::align::error::AlignError;
    use crate::align::metrics::AlignmentReport;
    use crate::align::scorer::ACTIVATION;
    use crate::engine::write_tensors;
    use crate::learn::{FileError, Mlp, SplitMix64};
    use std::io;

    fn data() -> Encoded {
        shifted_copies(&mut SplitMix64::new(22), 12)
    }

    fn of_run(path: &Path, options: &Options, data: &Encoded) -> Checkpoint {
        let device = Device::cpu();
        super::checkpoint(
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
        let checkpoint = of_run(&directory.path().join("state"), &options, &data);
        assert!(checkpoint.read::<AlignmentReport, Mlp>(ACTIVATION).unwrap().is_none());
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
            let state = checkpoint.read::<AlignmentReport, Mlp>(ACTIVATION).unwrap().unwrap();
            assert_eq!(state.epoch, killed_after);
            assert_eq!(train(state, &mut |_| Ok(())).unwrap(), whole);
        }
    }

    #[test]
    fn a_checkpoint_of_another_run_is_refused_and_says_what_differs() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("state");
        let (data, options) = (data(), options());
        of_run(&path, &options, &data).write(&start(&options, 8, 12)).unwrap();
        assert!(
            of_run(&path, &options, &data)
                .read::<AlignmentReport, Mlp>(ACTIVATION)
                .unwrap()
                .is_some()
        );
        let mut other = options.clone();
        other.training.seed = 9;
        let error = of_run(&path, &other, &data)
            .read::<AlignmentReport, Mlp>(ACTIVATION)
            .unwrap_err()
            .to_string();
        assert!(error.contains("seed `1`, this run has `9`"), "{error}");
        let of_gpu = Checkpoint::new(&path, json!({"device": "gpu"}));
        let error = of_gpu.read::<AlignmentReport, Mlp>(ACTIVATION).unwrap_err().to_string();
        assert!(error.contains("device `cpu`, this run has `gpu`"), "{error}");
        let fewer = shifted_copies(&mut SplitMix64::new(22), 3);
        let error = of_run(&path, &options, &fewer)
            .read::<AlignmentReport, Mlp>(ACTIVATION)
            .unwrap_err()
            .to_string();
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
            of_run(&path, &options, &data).write(&start(&options, 8, 12)).unwrap();
            assert!(
                of_run(&path, &options, &data)
                    .read::<AlignmentReport, Mlp>(ACTIVATION)
                    .unwrap()
                    .is_some(),
                "{rate}"
            );
            options.training.learning_rate = rate.next_up();
            let error = of_run(&path, &options, &data)
                .read::<AlignmentReport, Mlp>(ACTIVATION)
                .unwrap_err()
                .to_string();
            assert!(error.contains(&format!("learning_rate `{rate}`")), "{error}");
        }
    }

    #[test]
    fn a_file_that_is_no_checkpoint_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("state");
        let checkpoint = of_run(&path, &options(), &data());
        std::fs::write(&path, "half a file").unwrap();
        assert!(matches!(
            checkpoint.read::<AlignmentReport, Mlp>(ACTIVATION),
            Err(FileError::Io { .. })
        ));
        for note in [None, Some("{}")] {
            write_tensors(&path, &[], note).unwrap();
            assert!(matches!(
                checkpoint.read::<AlignmentReport, Mlp>(ACTIVATION),
                Err(FileError::Content { .. })
            ));
        }
        let nowhere = Checkpoint::new("/nowhere/state".as_ref(), json!({}));
        let error = nowhere.prepare().unwrap_err();
        assert!(error.to_string().contains("write checkpoint `/nowhere/state`"), "{error}");
        let error = nowhere.write(&start(&options(), 8, 1)).unwrap_err();
        assert!(error.to_string().contains("write checkpoint `/nowhere/state`"), "{error}");
    }
}
