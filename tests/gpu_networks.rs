//! Networks on a GPU say what they say on the CPU, also where the GPU is full or goes away.
//!
//! As `gpu_kernels`, these tests take whatever adapter there is.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use fnstore::engine::{
    BeamSettings, Device, Encoder, EncoderDecoder, EncoderInput, GpuOptions, NnError, Numbers,
    RowMask, SlotCandidates, StepNetwork, StepRow, Trial,
};
use fnstore::paraphrase::{Constraints, Paraphraser, Request, RequestOutcome, Settings};

use crate::gpu_kernels::{device, is_software};
use crate::seq2seq_parity::MODELS;

fn parity(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/parity").join(name)
}

fn with(trial: Trial) -> GpuOptions {
    GpuOptions { trial, ..GpuOptions::default() }
}

/// How often a network said that the device was full or lost.
static TOLD: AtomicUsize = AtomicUsize::new(0);

fn count(text: &str) {
    assert!(text.contains("GPU"), "{text}");
    TOLD.fetch_add(1, Ordering::Relaxed);
}

#[test]
fn an_encoder_has_the_states_of_the_cpu() {
    let Some(device) = device(&GpuOptions::default()) else { return };
    let inputs: Vec<EncoderInput> = (1..20)
        .map(|length| EncoderInput {
            ids: (0..length).map(|i| i * 7 % 61).collect(),
            type_ids: vec![],
        })
        .collect();
    let wanted = Encoder::open(&parity("bert"), &Device::cpu()).unwrap().encode(&inputs).unwrap();
    let lost = with(Trial { lose_after: Some(40), ..Trial::default() });
    for device in [device, crate::gpu_kernels::device(&lost).unwrap()] {
        let encoder = Encoder::open(&parity("bert"), &device).unwrap();
        for _ in 0..3 {
            let found = encoder.encode(&inputs).unwrap();
            for (found, wanted) in found.iter().zip(&wanted) {
                for (found, wanted) in found.data().iter().zip(wanted.data()) {
                    assert!((found - wanted).abs() < 1e-3, "{found} {wanted}");
                }
            }
        }
    }
}

/// More than a small device has room for.
fn many_sources() -> Vec<Vec<u32>> {
    (0..48).map(|i| (0..9).map(|k| 2 + (i * 5 + k) % 90).collect()).collect()
}

/// Steps of a few beams over several sources, some tokens banned.
fn steps(network: &mut EncoderDecoder) -> Result<Vec<SlotCandidates>, NnError> {
    steps_from(network, &[&[5, 44, 17, 1], &[88, 3, 3, 61, 20, 9, 1], &[7, 1]])
}

fn steps_from(
    network: &mut EncoderDecoder,
    sources: &[&[u32]],
) -> Result<Vec<SlotCandidates>, NnError> {
    let slots = network.open(sources)?;
    let first = |slot| StepRow { slot, parent: None, token: 0, score: 0.0 };
    let mut rows: Vec<StepRow> = slots.iter().map(|slot| first(*slot)).collect();
    let mut all = Vec::new();
    for step in 0..6 {
        let mask = |row| RowMask {
            row,
            banned: [2, 9, 40 + step].into(),
            extra: vec![1],
            eos_allowed: row % 2 == 0,
            renormalize: row % 3 == 0,
        };
        let masks: Vec<RowMask> = (0..rows.len() as u32).map(mask).collect();
        let found = network.step(&rows, &masks, 5)?;
        rows.clear();
        for of_slot in &found {
            rows.extend(of_slot.best.iter().take(4).map(|best| StepRow {
                slot: of_slot.slot,
                parent: Some(best.parent),
                token: best.token,
                score: -0.5 * step as f32,
            }));
        }
        all.extend(found);
    }
    slots.iter().for_each(|slot| network.close(*slot));
    Ok(all)
}

fn assert_same(found: &[SlotCandidates], wanted: &[SlotCandidates]) {
    assert_eq!(found.len(), wanted.len());
    for (found, wanted) in found.iter().zip(wanted) {
        for (found, wanted) in [
            (&found.best, &wanted.best),
            (&found.extra, &wanted.extra),
            (&found.first, &wanted.first),
        ] {
            assert_eq!(found.len(), wanted.len());
            for (a, b) in found.iter().zip(wanted) {
                assert_eq!((a.parent, a.token), (b.parent, b.token));
                assert!((a.log_prob - b.log_prob).abs() < 1e-3, "{a:?} {b:?}");
            }
        }
    }
}

#[test]
fn every_step_of_a_decoder_finds_the_candidates_of_the_cpu() {
    let Some(device) = device(&GpuOptions::default()) else { return };
    for (model, _) in MODELS {
        let mut here = EncoderDecoder::open(&parity(model), &Device::cpu()).unwrap();
        let mut there = EncoderDecoder::open(&parity(model), &device).unwrap();
        let wanted = steps(&mut here).unwrap();
        assert_same(&steps(&mut there).unwrap(), &wanted);
        // Entries of closed slots are used again.
        assert_same(&steps(&mut there).unwrap(), &wanted);
    }
}

#[test]
fn a_device_that_is_lost_at_any_step_changes_no_result() {
    let wanted =
        steps(&mut EncoderDecoder::open(&parity("marian"), &Device::cpu()).unwrap()).unwrap();
    let Some(device_of) = device(&GpuOptions::default()) else { return };
    let mut network = EncoderDecoder::open(&parity("marian"), &device_of).unwrap();
    let Device::Gpu(gpu) = &device_of else { unreachable!("a GPU was opened") };
    let loading = gpu.submissions();
    steps(&mut network).unwrap();
    let all = gpu.submissions();
    assert!(all > loading + 5, "{loading} {all}");
    let told = TOLD.load(Ordering::Relaxed);
    for lose_after in loading..all {
        let options = GpuOptions {
            notice: Some(count),
            ..with(Trial { lose_after: Some(lose_after), ..Trial::default() })
        };
        let device = device(&options).unwrap();
        let mut network = EncoderDecoder::open(&parity("marian"), &device).unwrap();
        assert_same(&steps(&mut network).unwrap(), &wanted);
    }
    assert!(TOLD.load(Ordering::Relaxed) >= told + (all - loading) as usize);
}

#[test]
fn a_full_device_takes_a_step_in_halves_with_the_same_results() {
    let sources = many_sources();
    let sources: Vec<&[u32]> = sources.iter().map(Vec::as_slice).collect();
    let run = |device: &Device| -> Result<Vec<SlotCandidates>, NnError> {
        let mut network = EncoderDecoder::open(&parity("marian"), device)?;
        let slots = network.open(&sources)?;
        let first = |slot: &_| StepRow { slot: *slot, parent: None, token: 0, score: 0.0 };
        network.step(&slots.iter().map(first).collect::<Vec<_>>(), &[], 3)
    };
    let wanted = run(&Device::cpu()).unwrap();
    let (mut halved, mut refused) = (false, false);
    let Some(whole) = device(&GpuOptions::default()) else { return };
    let fits = |eighths: u64| run(&small(eighths, None)).is_ok();
    for eighths in amounts(&whole, fits) {
        let told = TOLD.load(Ordering::Relaxed);
        match run(&small(eighths, Some(count))) {
            Ok(found) => {
                assert_same(&found, &wanted);
                halved |= TOLD.load(Ordering::Relaxed) > told;
            }
            Err(error) => {
                assert!(error.to_string().contains("has no room"), "{error}");
                refused = true;
            }
        }
    }
    assert!(
        halved && refused,
        "no amount of memory was too little for one step and enough for half"
    );
}

/// A device with so many times 32 KiB of memory.
fn small(eighths: u64, notice: Option<fn(&str)>) -> Device {
    let trial = Trial { memory: Some(eighths << 15), ..Trial::default() };
    device(&GpuOptions { notice, ..with(trial) }).expect("a device was opened before")
}

/// Amounts of memory to try, in order: all, but on the software adapter those about the least
/// with which something fits.
fn amounts(device: &Device, fits: impl Fn(u64) -> bool) -> Vec<u64> {
    let all = 8..80;
    if !is_software(device) {
        return all.collect();
    }
    let (mut low, mut high) = (all.start, all.end);
    while low < high {
        let middle = low.midpoint(high);
        if fits(middle) { high = middle } else { low = middle + 1 }
    }
    (low - 2..low + 8).chain([low + 16]).filter(|amount| all.contains(amount)).collect()
}

/// How often the CPU took over from a device that had no room for what its forerunner held.
static REFUSED: AtomicUsize = AtomicUsize::new(0);

fn count_refusals(text: &str) {
    REFUSED.fetch_add(usize::from(text.contains("cannot take what lay on")), Ordering::Relaxed);
}

#[test]
fn a_device_that_has_no_room_for_what_lay_on_the_lost_one_changes_no_result() {
    let sources = many_sources();
    let sources: Vec<&[u32]> = sources.iter().map(Vec::as_slice).collect();
    let run = |device: &Device| {
        let mut network = EncoderDecoder::open(&parity("marian"), device)?;
        steps_from(&mut network, &sources)
    };
    let wanted = run(&Device::cpu()).unwrap();
    let Some(whole) = device(&GpuOptions::default()) else { return };
    let Device::Gpu(gpu) = &whole else { unreachable!("a GPU was opened") };
    run(&whole).unwrap();
    let last = gpu.submissions() - 1;
    // Enough for all rows of a step at once, for half of them, and for too few.
    for eighths in (60..68).step_by(if is_software(&whole) { 2 } else { 1 }) {
        // Where rows go in halves a step is more than one submission.
        for lose_after in [last, last + 2, last + 4] {
            let trial = Trial {
                memory: Some(eighths << 15),
                lose_after: Some(lose_after),
                ..Trial::default()
            };
            let options = GpuOptions { notice: Some(count_refusals), ..with(trial) };
            match run(&device(&options).unwrap()) {
                Ok(found) => assert_same(&found, &wanted),
                Err(error) => assert!(error.to_string().contains("has no room"), "{error}"),
            }
        }
    }
    assert!(REFUSED.load(Ordering::Relaxed) > 0, "the CPU never took over");
}

/// How often sources were encoded, and rows scored, in two halves.
static HALVED: [AtomicUsize; 2] = [AtomicUsize::new(0), AtomicUsize::new(0)];

fn count_halves(text: &str) {
    for (halved, what) in
        HALVED.iter().zip(["are encoded in two halves", "are scored in two halves"])
    {
        halved.fetch_add(usize::from(text.contains(what)), Ordering::Relaxed);
    }
}

fn halved() -> [usize; 2] {
    HALVED.each_ref().map(|halved| halved.load(Ordering::Relaxed))
}

/// Candidates of a step over many sources, and what each row looked at.
fn attentive_step(network: &mut EncoderDecoder) -> Result<Vec<SlotCandidates>, NnError> {
    let sources = many_sources();
    let slots = network.open(&sources.iter().map(Vec::as_slice).collect::<Vec<_>>())?;
    slots.iter().for_each(|slot| assert!(network.give_attention(*slot, true)));
    let first = |slot: &_| StepRow { slot: *slot, parent: None, token: 0, score: 0.0 };
    network.step(&slots.iter().map(first).collect::<Vec<_>>(), &[], 3)
}

#[test]
fn a_device_that_is_lost_between_two_halves_changes_no_result() {
    let open = |device: &Device| EncoderDecoder::open(&parity("marian"), device);
    let wanted = attentive_step(&mut open(&Device::cpu()).unwrap()).unwrap();
    let mut lost = [0, 0];
    let Some(any) = device(&GpuOptions::default()) else { return };
    let fits = |eighths: u64| {
        let device = small(eighths, None);
        open(&device).is_ok_and(|mut network| attentive_step(&mut network).is_ok())
    };
    for memory in amounts(&any, fits).into_iter().map(|eighths| eighths << 15) {
        let trial = Trial { memory: Some(memory), ..Trial::default() };
        let options = GpuOptions { notice: Some(count_halves), ..with(trial) };
        let Some(whole) = device(&options) else { return };
        let Device::Gpu(gpu) = &whole else { unreachable!("a GPU was opened") };
        let before = halved();
        let Ok(mut network) = open(&whole) else { continue };
        let loading = gpu.submissions();
        if attentive_step(&mut network).is_err() {
            continue;
        }
        let all = gpu.submissions();
        // One amount of memory of each kind will do.
        let kinds: Vec<usize> =
            (0..2).filter(|&kind| halved()[kind] > before[kind] && lost[kind] == 0).collect();
        if kinds.is_empty() {
            continue;
        }
        // Halves of sources are a submission each; a step, which is many, is lost here and there.
        for lose_after in (loading..loading + 6).chain((loading + 6..all).step_by(8)) {
            let trial = Trial { lose_after: Some(lose_after), ..trial };
            let found = attentive_step(&mut open(&device(&with(trial)).unwrap()).unwrap()).unwrap();
            assert_same(&found, &wanted);
            for (found, wanted) in found.iter().zip(&wanted) {
                assert_eq!(found.attention.len(), wanted.attention.len());
                for (found, wanted) in found.attention.iter().zip(&wanted.attention) {
                    assert_eq!(found.len(), wanted.len());
                    assert!(found.iter().zip(wanted).all(|(a, b)| (a - b).abs() < 1e-3));
                }
            }
        }
        kinds.into_iter().for_each(|kind| lost[kind] += 1);
    }
    assert_eq!(
        lost,
        [1, 1],
        "no amount of memory was enough for half of the sources, or rows, alone"
    );
}

/// Cache and encoder states of many sentences, of which a binding holds a fraction.
#[test]
fn keys_larger_than_a_binding_change_no_result() {
    let sources = many_sources();
    let sources: Vec<&[u32]> = sources.iter().map(Vec::as_slice).collect();
    // 204 keys of 40 numbers; there are 432 of sources and more of hypotheses.
    let trial = Trial { binding: Some(1 << 15), ..Trial::default() };
    let Some(device) = device(&with(trial)) else { return };
    let mut here = EncoderDecoder::open(&parity("marian"), &Device::cpu()).unwrap();
    let mut there = EncoderDecoder::open(&parity("marian"), &device).unwrap();
    let wanted = steps_from(&mut here, &sources).unwrap();
    assert_same(&steps_from(&mut there, &sources).unwrap(), &wanted);
}

#[test]
fn the_default_rewriter_says_the_same_on_a_gpu() {
    let Some(device) = device(&GpuOptions::default()) else { return };
    let (found, wanted) = (rewrite(&device), rewrite(&Device::cpu()));
    for (found, wanted) in found.iter().zip(&wanted) {
        assert_eq!(found.paraphrases().len(), wanted.paraphrases().len());
        for (found, wanted) in found.paraphrases().iter().zip(wanted.paraphrases()) {
            assert_eq!(found.text, wanted.text);
            assert!((found.score - wanted.score).abs() < 1e-3, "{found:?} {wanted:?}");
        }
    }
}

/// The bound of 16-bit weights that docs/concepts/compute.md states: a hundredth of the score, per
/// token.
#[test]
fn weights_of_16_bits_move_the_best_score_by_less_than_a_hundredth() {
    let options = GpuOptions { half: true, ..GpuOptions::default() };
    let Some(device) = device(&options) else { return };
    let Device::Gpu(gpu) = &device else { unreachable!("a GPU was opened") };
    if !gpu.keeps_half() {
        skipped!("{} has no 16-bit floats", gpu.adapter().name);
        return;
    }
    assert_eq!(device.format(Numbers::F32), "f16");
    for (found, wanted) in rewrite(&device).iter().zip(&rewrite(&Device::cpu())) {
        let (found, wanted) = (found.paraphrases()[0].score, wanted.paraphrases()[0].score);
        assert!((found - wanted).abs() < 1e-2, "{found} {wanted}");
        assert_ne!(found, wanted, "16 bits were not used");
    }
}

fn rewrite(device: &Device) -> Vec<RequestOutcome> {
    let texts = [
        ("The committee examined the new proposal.", &["examined"][..]),
        ("She repaired the old clock.", &["repaired", "clock"]),
        ("Nobody could remember where the keys were kept.", &[]),
    ];
    let requests: Vec<Request> = texts
        .iter()
        .map(|(text, avoid)| Request {
            text: (*text).to_owned(),
            constraints: Constraints::avoiding(avoid.iter().copied()),
        })
        .collect();
    let beam = BeamSettings { beam_size: 4, n_best: 3, ..BeamSettings::default() };
    let settings = Settings { beam, ..Settings::default() };
    let model = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/paraphrase");
    Paraphraser::open_in(&model, device, Numbers::F32)
        .unwrap()
        .paraphrase(&requests, &settings)
        .unwrap()
}

/// A model whose logits overflow: weights are finite, their products are not.
#[test]
fn a_score_that_is_no_number_is_the_error_that_it_is_on_the_cpu() {
    let Some(device) = device(&GpuOptions::default()) else { return };
    // Token embeddings just below the largest number; their scale brings them beyond.
    let directory = crate::model_bad_input::changed("marian", |tensors| {
        for (name, entry, bytes) in
            tensors.iter_mut().filter(|(name, ..)| name == "model.shared.weight")
        {
            let count = bytes.len() / 2;
            assert_eq!(entry["dtype"], "F16", "{name}");
            entry["dtype"] = "F32".into();
            let mut number = 3e38f32.to_be_bytes();
            number.reverse();
            *bytes = number.repeat(count);
        }
    });
    for device in [Device::cpu(), device] {
        let mut network = EncoderDecoder::open(directory.path(), &device).unwrap();
        let slot = network.open(&[&[5, 44, 1]]).unwrap()[0];
        let row = StepRow { slot, parent: None, token: 0, score: 0.0 };
        let error = network.step(&[row], &[], 2).unwrap_err();
        assert!(matches!(error, NnError::NonFinite { slot: 0, step: 0 }), "{error}");
    }
}
