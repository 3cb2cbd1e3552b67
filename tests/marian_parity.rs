//! The encoder-decoder gives the logits that transformers gives (see training/parity).

use std::path::Path;

use fnstore::compute::Device;
use fnstore::nn::{EncoderDecoder, Row, StepNetwork};
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

fn open() -> (EncoderDecoder, Vec<Case>) {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/parity/marian");
    let golden = std::fs::read(directory.join("logits.json")).unwrap();
    let golden: Golden = serde_json::from_slice(&golden).unwrap();
    (EncoderDecoder::open(&directory, &Device::cpu()).unwrap(), golden.cases)
}

#[test]
fn forced_targets_get_the_logits_of_transformers_step_by_step() {
    let (mut network, cases) = open();
    let pairs: Vec<(&[u32], &[u32])> =
        cases.iter().map(|case| (case.source.as_slice(), case.target.as_slice())).collect();
    let logits = network.forced_logits(&pairs).unwrap();
    assert_eq!(logits.len(), cases.len());
    for (case, logits) in cases.iter().zip(&logits) {
        assert_eq!(logits.rows(), case.target.len());
        for (step, want) in case.logits.iter().enumerate() {
            for (token, (got, want)) in logits.row(step).iter().zip(want).enumerate() {
                let place = format!("source {:?}, step {step}, token {token}", case.source);
                assert!((got - want).abs() < 1e-3, "{place}: {got}, not {want}");
            }
        }
    }
}

#[test]
fn steps_return_log_softmax_of_those_logits() {
    let (mut network, cases) = open();
    let sources: Vec<&[u32]> = cases.iter().map(|case| case.source.as_slice()).collect();
    let slots = network.open(&sources).unwrap();
    let start = network.start_token();
    let rows: Vec<Row> = slots
        .iter()
        .map(|slot| Row { slot: *slot, parent: None, token: start, score: 0.0 })
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
