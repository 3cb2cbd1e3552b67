//! The beam search gives the outputs and scores of CTranslate2's `translate_batch` with
//! `suppress_sequences`, on a tiny model (see training/parity/suppress.py).
//!
//! Definitions agree when the search stops as soon as `round(beam_size * patience)` outputs are
//! finished, and scores are renormalised among what is not banned: CTranslate2 suppresses logits
//! before the softmax. It strips the end from its outputs, but counts it in their length. By
//! default it does not let an output be empty; the cases do.

use std::path::Path;
use std::sync::Arc;

use fnstore::engine::{
    AvoidTokens, BeamSettings, Constraint, Device, EncoderDecoder, LengthLimit, LengthPenalty,
    Scheduler, StepNetwork, Stopping,
};
use serde::Deserialize;

#[derive(Deserialize)]
struct Golden {
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    source: Vec<u32>,
    beam_size: usize,
    suppress_sequences: Vec<Vec<u32>>,
    max_decoding_length: usize,
    length_penalty: f32,
    patience: f32,
    outputs: Vec<Output>,
}

#[derive(Deserialize)]
struct Output {
    tokens: Vec<u32>,
    score: f32,
}

/// Outputs as CTranslate2 writes them, without the end, with their normalised scores.
fn search(network: &mut EncoderDecoder, case: &Case, renormalize: bool) -> Vec<(Vec<u32>, f32)> {
    let settings = BeamSettings {
        beam_size: case.beam_size,
        n_best: case.beam_size,
        length_penalty: LengthPenalty::Power(case.length_penalty),
        length_limit: LengthLimit::tokens(case.max_decoding_length),
        stopping: Stopping::FirstFull,
        patience: case.patience,
        renormalize,
        ..BeamSettings::default()
    };
    let avoid = AvoidTokens::new(&case.suppress_sequences).unwrap();
    let constraint = Constraint { tokens: Some(Arc::new(avoid)), ..Constraint::default() };
    let mut scheduler = Scheduler::new(case.beam_size);
    let source = scheduler.add_source(case.source.clone());
    scheduler.submit(source, constraint, settings).unwrap();
    let mut outputs = Vec::new();
    while !scheduler.is_idle() {
        for finished in scheduler.step(network).unwrap() {
            outputs.extend(finished.hypotheses);
        }
    }
    scheduler.clear(network);
    let eos = network.eos_token();
    let stripped = |mut tokens: Vec<u32>| {
        tokens.pop_if(|token| *token == eos);
        tokens
    };
    outputs.into_iter().map(|h| (stripped(h.tokens), h.normalized_score)).collect()
}

#[test]
fn each_search_gives_what_ctranslate2_gives() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/parity/marian");
    let golden = std::fs::read(directory.join("suppress.json")).unwrap();
    let Golden { cases } = serde_json::from_slice(&golden).unwrap();
    assert!(!cases.is_empty());
    let mut network = EncoderDecoder::open(&directory, &Device::cpu()).unwrap();
    let mut renormalised_differently = 0;
    for case in &cases {
        let about = format!(
            "source {:?}, beam {}, bans {:?}, limit {}, patience {}",
            case.source,
            case.beam_size,
            case.suppress_sequences,
            case.max_decoding_length,
            case.patience
        );
        let found = search(&mut network, case, true);
        let tokens: Vec<&[u32]> = found.iter().map(|output| output.0.as_slice()).collect();
        let expected: Vec<&[u32]> = case.outputs.iter().map(|o| o.tokens.as_slice()).collect();
        assert_eq!(tokens, expected, "{about}");
        for ((_, score), output) in found.iter().zip(&case.outputs) {
            assert!((score - output.score).abs() < 1e-4, "{about}: {score}, not {}", output.score);
        }
        let unmasked = search(&mut network, case, false);
        let differs = |((_, a), (_, b)): (&(_, f32), &(_, f32))| (a - b).abs() > 1e-3;
        renormalised_differently += usize::from(unmasked.iter().zip(&found).any(differs));
    }
    // Else this test would say nothing about renormalising.
    assert!(renormalised_differently > cases.len() / 4, "{renormalised_differently}");
}
