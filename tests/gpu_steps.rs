//! A step of a network is one submission and brings along what the host decides, and no more.
//!
//! As `gpu_kernels`, these tests take whatever adapter there is.

use fnstore::engine::kernels::{Blocks, TokenMask, Weight, best_tokens, gather};
use fnstore::engine::{
    Device, Gpu, GpuOptions, GpuProfile, LanguageModel, Numbers, RowMask, StepNetwork, StepRow,
    Tensor, Trial,
};

use crate::gpu_kernels::device;
use crate::language_parity::directory;

fn profiled() -> Option<Device> {
    device(&GpuOptions { profile: true, ..GpuOptions::default() })
}

fn gpu(device: &Device) -> &Gpu {
    let Device::Gpu(gpu) = device else { unreachable!("a GPU was opened") };
    gpu
}

fn profile(device: &Device) -> GpuProfile {
    gpu(device).profiles().remove(0)
}

/// Opens prompts and takes steps of some rows each; what the last one cost.
fn last_step(device: &Device, model: &mut LanguageModel, rows: usize, steps: usize) -> GpuProfile {
    let prompts: Vec<Vec<u32>> = (0..rows as u32).map(|i| vec![1, 5, 2 + i % 50, 7]).collect();
    let prompts: Vec<&[u32]> = prompts.iter().map(Vec::as_slice).collect();
    let slots = model.open(&prompts).unwrap();
    let banned: std::sync::Arc<[u32]> = (2..40).collect();
    for step in 0..steps {
        let row = |slot: &_| StepRow {
            slot: *slot,
            parent: (step > 0).then_some(0),
            token: 41 + step as u32 % 5,
            score: 0.0,
        };
        let mask = |row| RowMask { row, banned: banned.clone(), ..RowMask::default() };
        let masks: Vec<RowMask> = (0..rows as u32).map(mask).collect();
        gpu(device).restart_profile();
        model.step(&slots.iter().map(row).collect::<Vec<_>>(), &masks, 4).unwrap();
    }
    let profile = profile(device);
    slots.iter().for_each(|slot| model.close(*slot));
    profile
}

#[test]
fn a_language_models_step_is_one_submission_whatever_its_numbers() {
    let Some(device) = profiled() else { return };
    for (name, numbers) in [
        ("llama", Numbers::F32),
        ("llama", Numbers::Blocks),
        ("qwen3", Numbers::Blocks),
        ("gemma3", Numbers::F32),
        ("gemma3", Numbers::Blocks),
    ] {
        let path = directory(name).join("model.gguf");
        let mut model = LanguageModel::open(&path, &device, numbers).unwrap();
        // The first step runs what opening the prompts recorded, too.
        for (rows, steps) in [(1, 2), (3, 2), (40, 9)] {
            let step = last_step(&device, &mut model, rows, steps);
            let kind = format!("{name} in {numbers}, {rows} rows");
            assert_eq!((step.submissions, step.steps), (1, 1), "{kind}");
            // Neither embeddings nor angles cross: a few numbers a row, its paths and one ban list
            // for all rows, and the parameters of each call.
            let paths = 2 * rows * (4 + steps);
            let most = 4 * (16 * rows + paths + 100) + 256 * step.calls as usize;
            assert!(step.bytes_up <= most as u64, "{kind}: {} of {most}", step.bytes_up);
        }
    }
}

#[test]
fn a_list_that_lies_on_the_device_starts_no_submission() {
    let Some(device) = profiled() else { return };
    let table = Tensor::new(&[3, 1], vec![1.0, 2.0, 3.0]).unwrap().to_device(&device).unwrap();
    // More than an arena's first size.
    let at: Vec<u32> = (0..300_000).map(|i| i % 3).collect();
    gather(&device, &table, &at).unwrap().to_host().unwrap();
    gpu(&device).restart_profile();
    for _ in 0..12 {
        gather(&device, &table, &at).unwrap();
    }
    assert_eq!(profile(&device).submissions, 0);
    let last = gather(&device, &table, &at).unwrap().to_host().unwrap();
    assert!(last.data().iter().zip(&at).all(|(found, at)| *found == (at + 1) as f32));
    let profile = profile(&device);
    assert_eq!(profile.submissions, 1);
    assert!(profile.bytes_up < 2 * 4 * 300_000, "{}", profile.bytes_up);
}

#[test]
fn an_arena_that_begins_anew_changes_no_list() {
    let Some(device) = device(&GpuOptions::default()) else { return };
    let table: Vec<f32> = (0..997).map(|i| i as f32).collect();
    let table = Tensor::new(&[997, 1], table).unwrap().to_device(&device).unwrap();
    let list =
        |seed: u32| (0..90_000).map(|i: u32| (i * 31 + seed * 7) % 997).collect::<Vec<u32>>();
    let mut waiting = Vec::new();
    for seed in 0..40 {
        let at = list(seed);
        waiting.push((seed, gather(&device, &table, &at).unwrap()));
        // Some wait for a while, and their lists are those of a later arena's neighbours.
        if seed % 7 == 6 {
            for (seed, found) in waiting.drain(..) {
                let found = found.to_host().unwrap();
                let wanted = list(seed);
                assert!(found.data().iter().zip(&wanted).all(|(a, b)| *a == *b as f32), "{seed}");
            }
        }
    }
}

#[test]
fn a_ban_list_of_many_rows_crosses_once() {
    let Some(device) = profiled() else { return };
    let (rows, tokens) = (50, 4000);
    let logits = (0..rows * tokens).map(|i| (i * 37 % 1009) as f32 / 100.0).collect();
    let logits = Tensor::new(&[rows, tokens], logits).unwrap();
    let there = logits.clone().to_device(&device).unwrap();
    let banned: Vec<u32> = (0..tokens as u32).filter(|token| token % 3 > 0).collect();
    let alone: Vec<u32> = (0..90).map(|token| 3 * token).collect();
    let masks: Vec<TokenMask<'_>> = (0..rows)
        .map(|row| TokenMask {
            banned: if row == 7 { &alone } else { &banned },
            extra: if row % 2 == 0 { &[5, 9] } else { &[] },
            renormalize: row % 3 == 0,
        })
        .collect();
    let scores = vec![0.0; rows];
    gpu(&device).restart_profile();
    let found = best_tokens(&device, &there, &scores, &masks, 3).unwrap();
    let most = 4 * (banned.len() + alone.len() + 2 + 7 * rows) + 1024;
    assert!(profile(&device).bytes_up <= most as u64, "{}", profile(&device).bytes_up);
    let wanted = best_tokens(&Device::cpu(), &logits, &scores, &masks, 3).unwrap();
    for (found, wanted) in found.iter().zip(&wanted) {
        let tokens = |scored: &[fnstore::engine::kernels::TokenScore]| {
            scored.iter().map(|scored| scored.token).collect::<Vec<_>>()
        };
        assert_eq!(tokens(&found.best), tokens(&wanted.best));
        assert_eq!(tokens(&found.extra), tokens(&wanted.extra));
    }
}

#[test]
fn rows_of_a_table_in_blocks_are_those_of_the_cpu_also_where_a_binding_holds_a_part() {
    let (inputs, outputs) = (100, 700);
    for (most, group, zero) in [(16, 32, 8), (16, 32, 0), (64, 16, 32), (256, 32, 128)] {
        let groups = outputs * usize::div_ceil(inputs, group);
        let quants = (0..outputs * inputs).map(|i| (i * 37 % most) as u8).collect();
        let number = |i: usize| (i * 53 % 101) as f32 / 101.0;
        let scales = (0..groups).map(number).collect();
        let least = (0..if zero == 0 { groups } else { 0 }).map(number).collect();
        let blocks = Blocks::new(inputs, (group, zero), quants, scales, least).unwrap();
        let ids: Vec<u32> = (0..90).map(|i| i * 61 % outputs as u32).collect();
        let of = |device: &Device| {
            let found = Weight::blocks(device, &blocks).look_up(device, &ids, 1.5);
            found.unwrap().to_host().unwrap()
        };
        let wanted = of(&Device::cpu());
        for binding in [None, Some(1 << 14)] {
            let trial = Trial { binding, ..Trial::default() };
            let Some(device) = device(&GpuOptions { trial, ..GpuOptions::default() }) else {
                return;
            };
            for (found, wanted) in of(&device).data().iter().zip(wanted.data()) {
                assert!((found - wanted).abs() <= 1e-6 * wanted.abs().max(1.0), "{found} {wanted}");
            }
        }
    }
}
