//! The beam search gives the outputs and scores of `generate(num_beams=.., bad_words_ids=..)` in
//! transformers, on tiny models of every layout (see training/parity).
//!
//! Definitions agree but for these points, which the cases avoid:
//!
//! - a ban of the end token alone is dropped by transformers and kept here;
//! - where bans leave fewer outputs than the beam is wide, transformers fills up with sequences of
//!   score -inf or -1e9, and this search returns fewer;
//! - `generate(num_beams=1)` is greedy search, which a beam of one equals.

use std::path::Path;
use std::sync::Arc;

use fnstore::engine::{
    AvoidTokens, BeamSettings, Constraint, Device, EncoderDecoder, Finished, JobId, LengthLimit,
    LengthPenalty, Scheduler, Stopping,
};
use serde::Deserialize;

use crate::seq2seq_parity::MODELS;

#[derive(Deserialize)]
struct Golden {
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    source: Vec<u32>,
    beam_size: usize,
    bad_words_ids: Vec<Vec<u32>>,
    max_new_tokens: usize,
    length_penalty: f32,
    #[serde(default)]
    early_stopping: EarlyStopping,
    outputs: Vec<Output>,
}

/// The argument of `generate`: `false`, `true` or `"never"`.
#[derive(Deserialize)]
#[serde(untagged)]
enum EarlyStopping {
    Flag(bool),
    Word(String),
}

impl Default for EarlyStopping {
    fn default() -> Self {
        Self::Flag(false)
    }
}

#[derive(Deserialize)]
struct Output {
    tokens: Vec<u32>,
    score: f32,
}

fn open(model: &str) -> (EncoderDecoder, Vec<Case>) {
    let parity = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/parity");
    let directory = parity.join(model);
    let read = |name: &str| {
        let golden: Golden =
            serde_json::from_slice(&std::fs::read(directory.join(name)).unwrap()).unwrap();
        assert!(!golden.cases.is_empty());
        golden.cases
    };
    // Beam sizes and bans; then ways of stopping, length penalties and limits.
    let mut cases = read("beam.json");
    if model == "marian" {
        cases.extend(read("beam_settings.json"));
    }
    (EncoderDecoder::open(&directory, &Device::cpu()).unwrap(), cases)
}

fn submit(scheduler: &mut Scheduler, case: &Case) -> JobId {
    let settings = BeamSettings {
        beam_size: case.beam_size,
        n_best: case.beam_size,
        length_penalty: LengthPenalty::Power(case.length_penalty),
        length_limit: LengthLimit::tokens(case.max_new_tokens),
        stopping: match &case.early_stopping {
            EarlyStopping::Flag(false) => Stopping::Heuristic,
            EarlyStopping::Flag(true) => Stopping::FirstFull,
            EarlyStopping::Word(word) => {
                assert_eq!(word, "never");
                Stopping::Exhaustive
            }
        },
        ..BeamSettings::default()
    };
    let avoid = AvoidTokens::new(&case.bad_words_ids).unwrap();
    let constraint = Constraint { tokens: Some(Arc::new(avoid)), ..Constraint::default() };
    let source = scheduler.add_source(case.source.clone());
    scheduler.submit(source, constraint, settings).unwrap()
}

fn run(scheduler: &mut Scheduler, network: &mut EncoderDecoder) -> Vec<Finished> {
    let mut all = Vec::new();
    while !scheduler.is_idle() {
        all.extend(scheduler.step(network).unwrap());
    }
    all
}

fn assert_equals(model: &str, case: &Case, finished: &Finished) {
    let about = format!(
        "{model}, source {:?}, beam {}, bans {:?}",
        case.source, case.beam_size, case.bad_words_ids
    );
    let tokens: Vec<&[u32]> = finished.hypotheses.iter().map(|h| h.tokens.as_slice()).collect();
    let expected: Vec<&[u32]> = case.outputs.iter().map(|o| o.tokens.as_slice()).collect();
    assert_eq!(tokens, expected, "{about}");
    for (hypothesis, output) in finished.hypotheses.iter().zip(&case.outputs) {
        let difference = (hypothesis.normalized_score - output.score).abs();
        assert!(difference < 1e-4, "{about}: {hypothesis:?}, not {}", output.score);
    }
}

#[test]
fn each_search_alone_gives_what_generate_gives() {
    for (model, _) in MODELS {
        let (mut network, cases) = open(model);
        for case in &cases {
            let mut scheduler = Scheduler::new(case.beam_size);
            submit(&mut scheduler, case);
            let finished = run(&mut scheduler, &mut network);
            assert_equals(model, case, &finished[0]);
            scheduler.clear(&mut network);
        }
    }
}

#[test]
fn searches_side_by_side_give_what_generate_gives() {
    for (model, _) in MODELS {
        let (mut network, cases) = open(model);
        let mut scheduler = Scheduler::new(40);
        let jobs: Vec<JobId> = cases.iter().map(|case| submit(&mut scheduler, case)).collect();
        let finished = run(&mut scheduler, &mut network);
        assert_eq!(finished.len(), cases.len());
        for (case, job) in cases.iter().zip(jobs) {
            let of_job = finished.iter().find(|finished| finished.job == job);
            assert_equals(model, case, of_job.unwrap());
        }
    }
}
