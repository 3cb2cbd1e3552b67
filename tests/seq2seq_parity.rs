//! Encoder-decoders of every layout give the logits that transformers gives (see training/parity).

use std::path::Path;

use fnstore::engine::{Device, EncoderDecoder, Layout, Numbers, StepNetwork, StepRow};
use serde::Deserialize;

#[derive(Deserialize)]
struct Golden {
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    source: Vec<u32>,
    target: Vec<u32>,
    logits: Vec<Vec<f32>>,
}

/// A tiny model of each layout; T5's in its first form and in that of T5 1.1.
pub(crate) const MODELS: [(&str, Layout); 4] = [
    ("marian", Layout::Marian),
    ("bart", Layout::Bart),
    ("t5", Layout::T5),
    ("flan-t5", Layout::T5),
];

fn open(name: &str, numbers: Numbers) -> (EncoderDecoder, Vec<Case>) {
    let parity = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/parity");
    let golden = std::fs::read(parity.join(name).join("logits.json")).unwrap();
    let golden: Golden = serde_json::from_slice(&golden).unwrap();
    let network = EncoderDecoder::open_in(&parity.join(name), &Device::cpu(), numbers);
    (network.unwrap(), golden.cases)
}

#[test]
fn forced_targets_get_the_logits_of_transformers_step_by_step() {
    for (name, layout) in MODELS {
        let (mut network, cases) = open(name, Numbers::F32);
        assert_eq!(network.config().layout, layout);
        let difference = largest_difference(name, &mut network, &cases);
        assert!(difference < 1e-3, "{name}: {difference}");
    }
}

#[test]
fn in_8_bits_they_get_nearly_those() {
    for (name, _) in MODELS {
        let (mut network, cases) = open(name, Numbers::Int8);
        let difference = largest_difference(name, &mut network, &cases);
        // Logits reach 10 to 20; 0 would say that nothing was rounded.
        assert!((1e-3..1.5).contains(&difference), "{name}: {difference}");
    }
}

fn largest_difference(name: &str, network: &mut EncoderDecoder, cases: &[Case]) -> f32 {
    let mut largest = 0.0;
    let pairs: Vec<(&[u32], &[u32])> =
        cases.iter().map(|case| (case.source.as_slice(), case.target.as_slice())).collect();
    let logits = network.forced_logits(&pairs).unwrap();
    assert_eq!(logits.len(), cases.len());
    for (case, logits) in cases.iter().zip(&logits) {
        assert_eq!(logits.rows(), case.target.len());
        for (step, want) in case.logits.iter().enumerate() {
            for (got, want) in logits.row(step).iter().zip(want) {
                assert!(got.is_finite(), "{name}, source {:?}, step {step}", case.source);
                largest = f32::max(largest, (got - want).abs());
            }
        }
    }
    largest
}

#[test]
fn steps_return_log_softmax_of_those_logits() {
    let (mut network, cases) = open("marian", Numbers::F32);
    let sources: Vec<&[u32]> = cases.iter().map(|case| case.source.as_slice()).collect();
    let slots = network.open(&sources).unwrap();
    let start = network.start_token();
    let rows: Vec<StepRow> = slots
        .iter()
        .map(|slot| StepRow { slot: *slot, parent: None, token: start, score: 0.0 })
        .collect();
    let vocab_size = network.vocab_size();
    let steps = network.step(&rows, &[], vocab_size).unwrap();
    for (case, step) in cases.iter().zip(&steps) {
        assert_eq!(step.best.len(), vocab_size);
        let total: f32 = case.logits[0].iter().map(|logit| logit.exp()).sum();
        for candidate in &step.best {
            let want = case.logits[0][candidate.token as usize] - total.ln();
            assert!((candidate.log_prob - want).abs() < 1e-3);
        }
        assert!(step.best.is_sorted_by(|a, b| a.log_prob >= b.log_prob));
    }
}
