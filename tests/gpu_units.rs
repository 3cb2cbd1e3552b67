//! Networks on matrix units say what they say on the CPU, in few calls, and a row's bits do not
//! depend on the rows beside it.
//!
//! The units are spelled out where an adapter has none, as on a software adapter.

use fnstore::engine::{
    Device, Gpu, GpuOptions, LanguageModel, Numbers, SlotCandidates, StepNetwork, StepRow, Trial,
};

use crate::bert_parity::golden;
use crate::gpu_kernels::device;
use crate::language_parity::directory;

/// A device whose units are spelled out; none, aloud, where it has no 16-bit floats.
fn with_units() -> Option<Device> {
    let trial = Trial { units: true, ..Trial::default() };
    let device = device(&GpuOptions { trial, profile: true, ..GpuOptions::default() })?;
    if !device.unpacks(Numbers::Blocks) {
        skipped!("{device:?} has no 16-bit floats");
        return None;
    }
    Some(device)
}

fn gpu(device: &Device) -> &Gpu {
    let Device::Gpu(gpu) = device else { unreachable!("a GPU was opened") };
    gpu
}

fn open(name: &str, device: &Device) -> LanguageModel {
    LanguageModel::open(&directory(name).join("model.gguf"), device, Numbers::Blocks).unwrap()
}

#[derive(serde::Deserialize)]
struct Case {
    ids: Vec<u32>,
    logits: Vec<Vec<f32>>,
}

#[test]
fn every_layout_gives_nearly_the_logits_of_transformers() {
    let Some(device) = with_units() else { return };
    assert_eq!(device.format(Numbers::Blocks), "blocks-f16-units");
    assert_eq!(device.format(Numbers::F32), "f32");
    for name in ["llama", "llama3", "qwen2", "qwen3", "gemma3"] {
        let cases: Vec<Case> = golden(&format!("{name}/logits.json"));
        let sequences: Vec<&[u32]> = cases.iter().map(|case| case.ids.as_slice()).collect();
        let found = open(name, &device).logits(&sequences).unwrap();
        let mut largest: f32 = 0.0;
        for (case, found) in cases.iter().zip(&found) {
            for (found, wanted) in found.data().iter().zip(case.logits.iter().flatten()) {
                assert!(found.is_finite());
                largest = largest.max((found - wanted).abs());
            }
        }
        assert!((1e-6..0.05).contains(&largest), "{name}: {largest}");
    }
}

/// Steps of prompts side by side, each with the same next tokens.
fn steps(model: &mut LanguageModel, prompts: usize) -> Vec<Vec<SlotCandidates>> {
    let of = |i: u32| -> Vec<u32> { (0..3 + i % 9).map(|k| 1 + (i * 7 + k * 5) % 50).collect() };
    let prompts: Vec<Vec<u32>> = (0..prompts as u32).map(of).collect();
    let prompts: Vec<&[u32]> = prompts.iter().map(Vec::as_slice).collect();
    let slots = model.open(&prompts).unwrap();
    let found = (0..3).map(|step| {
        let row = |slot: &_| StepRow {
            slot: *slot,
            parent: (step > 0).then_some(0),
            token: 9 + step,
            score: 0.0,
        };
        let rows: Vec<StepRow> = slots.iter().map(row).collect();
        model.step(&rows, &[], 5).unwrap()
    });
    let found = found.collect();
    slots.iter().for_each(|slot| model.close(*slot));
    found
}

#[test]
fn a_row_has_the_same_bits_beside_any_number_of_rows() {
    let Some(device) = with_units() else { return };
    for name in ["llama", "qwen2", "qwen3"] {
        let mut model = open(name, &device);
        let all = steps(&mut model, 130);
        for count in [1, 4, 5, 63, 64, 65] {
            let few = steps(&mut model, count);
            for (few, all) in few.iter().zip(&all) {
                for (few, all) in few.iter().zip(all) {
                    assert_eq!(few.best, all.best, "{name}, {count} rows");
                }
            }
        }
    }
}

#[test]
fn a_layer_is_ten_calls_and_a_step_one_submission() {
    let Some(device) = with_units() else { return };
    for name in ["llama", "qwen2"] {
        let mut model = open(name, &device);
        let slot = model.open(&[&[3, 9, 4]]).unwrap()[0];
        let row = |parent| StepRow { slot, parent, token: 4, score: 0.0 };
        model.step(&[row(None)], &[], 5).unwrap();
        gpu(&device).restart_profile();
        model.step(&[row(Some(0))], &[], 5).unwrap();
        let profile = gpu(&device).profiles().remove(0);
        // Beside the layers: embeddings, the last sums, a norm, the projection and the best tokens.
        let most = 10 * model.config().layers as u64 + 8;
        assert!(profile.calls <= most, "{name}: {} calls of {most}", profile.calls);
        assert_eq!((profile.submissions, profile.steps), (1, 1));
    }
}

#[test]
fn a_device_that_is_lost_goes_on_without_units_and_says_nearly_the_same() {
    let Some(device_of) = with_units() else { return };
    let wanted = steps(&mut open("llama", &device_of), 9);
    let all = gpu(&device_of).submissions();
    for lose_after in [all - 3, all - 1] {
        let trial = Trial { units: true, lose_after: Some(lose_after), ..Trial::default() };
        let options = GpuOptions { trial, ..GpuOptions::default() };
        let Some(device) = device(&options) else { return };
        let found = steps(&mut open("llama", &device), 9);
        for (found, wanted) in found.iter().flatten().zip(wanted.iter().flatten()) {
            for (found, wanted) in found.best.iter().zip(&wanted.best) {
                let difference = (found.log_prob - wanted.log_prob).abs();
                assert!(difference < 0.1, "{found:?} {wanted:?}");
            }
        }
    }
}
