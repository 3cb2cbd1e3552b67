//! What is drawn depends on the seed and the source alone, to the bit.

use std::path::Path;
use std::sync::Arc;

use fnstore::engine::{
    AvoidTokens, Constraint, Device, EncoderDecoder, Hypothesis, LengthLimit, SampleSettings,
    Scheduler,
};

const SOURCES: [&[u32]; 4] =
    [&[5, 44, 17, 1], &[88, 3, 3, 61, 20, 9, 1], &[12, 1], &[71, 8, 90, 2, 33, 1]];

fn settings(seed: u64) -> SampleSettings {
    SampleSettings {
        samples: 6,
        seed,
        top_k: 30,
        top_p: 0.95,
        temperature: 1.3,
        length_limit: LengthLimit::tokens(14),
        ..SampleSettings::default()
    }
}

/// Samples of each source, all side by side.
fn draw(threads: usize, sources: &[&[u32]], settings: SampleSettings) -> Vec<Vec<Hypothesis>> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/parity/marian");
    let mut network = EncoderDecoder::open(&directory, &Device::Cpu { threads }).unwrap();
    let avoid = Arc::new(AvoidTokens::new([vec![0], vec![48]]).unwrap());
    let constraint = Constraint { tokens: Some(avoid), ..Constraint::default() };
    let mut scheduler = Scheduler::new(100);
    let mut jobs = Vec::new();
    for source in sources {
        let source = scheduler.add_source(source.to_vec());
        jobs.push(scheduler.submit(source, constraint.clone(), settings).unwrap());
    }
    let mut outputs = vec![Vec::new(); jobs.len()];
    while !scheduler.is_idle() {
        for finished in scheduler.step(&mut network).unwrap() {
            let at = jobs.iter().position(|job| *job == finished.job).unwrap();
            outputs[at] = finished.hypotheses;
        }
    }
    outputs
}

#[test]
fn samples_are_the_same_bits_in_every_batch_and_on_every_number_of_threads() {
    let together = draw(3, &SOURCES, settings(7));
    for (source, outputs) in SOURCES.iter().zip(&together) {
        assert_eq!(outputs.len(), 6);
        assert!(outputs.iter().all(|output| !output.tokens.contains(&48)));
        assert_eq!(&draw(1, &[source], settings(7))[0], outputs);
    }
    assert_ne!(draw(1, &SOURCES, settings(8)), together);
}

#[test]
fn a_sample_is_scored_by_the_network_as_it_is() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/parity/marian");
    let mut network = EncoderDecoder::open(&directory, &Device::cpu()).unwrap();
    for (source, outputs) in SOURCES.iter().zip(draw(2, &SOURCES, settings(3))) {
        for output in outputs {
            let logits = network.forced_logits(&[(source, &output.tokens)]).unwrap().remove(0);
            let score: f64 = (0..output.tokens.len())
                .map(|at| {
                    let row = logits.row(at);
                    let sum: f64 = row.iter().map(|logit| f64::from(*logit).exp()).sum();
                    f64::from(row[output.tokens[at] as usize]) - sum.ln()
                })
                .sum();
            assert!((f64::from(output.score) - score).abs() < 1e-3, "{output:?}: {score}");
        }
    }
}
