//! The default rewriter writes the same texts on a GPU as on the CPU, ties aside, for 200
//! sentences; for 40 of them on the software adapter, which takes most of a second for each.
//!
//! As `gpu_kernels`, these tests take whatever adapter there is. Beams are small and sentences
//! short for the software adapter's sake.

use std::path::Path;

use fnstore::engine::{BeamSettings, Device, GpuOptions, Numbers, SampleSettings};
use fnstore::paraphrase::{
    Constraints, Paraphrase, Paraphraser, Request, RequestOutcome, Settings,
};

use crate::gpu_kernels::{device, is_software};

/// How far scores of the two may lie apart: what docs/concepts/compute.md states.
const TOLERANCE: f32 = 1e-3;

const WHO: [&str; 10] = [
    "The committee",
    "My neighbour",
    "A young teacher",
    "Nobody",
    "The two brothers",
    "Her employer",
    "The government",
    "Every visitor",
    "An old friend",
    "The engineers",
];

/// What they did, and the word that must not come back.
const WHAT: [(&str, &str); 20] = [
    ("examined the new proposal.", "examined"),
    ("repaired the broken window.", "repaired"),
    ("could remember the answer.", "remember"),
    ("bought a house near the river.", "bought"),
    ("refused to pay the bill.", "refused"),
    ("confirmed the report last week.", "confirmed"),
    ("walked slowly across the bridge.", "walked"),
    ("wanted to discuss the problem.", "discuss"),
    ("left the town before the war.", "left"),
    ("found the letter in a drawer.", "found"),
    ("asked whether it was true.", "asked"),
    ("built a wall around the garden.", "built"),
    ("was afraid of the result.", "afraid"),
    ("sent a message to the captain.", "sent"),
    ("had forgotten the whole story.", "forgotten"),
    ("began to cook at noon.", "began"),
    ("sold the car to a stranger.", "sold"),
    ("heard a noise in the kitchen.", "heard"),
    ("promised to return the books.", "promised"),
    ("agreed with the decision.", "agreed"),
];

fn requests(count: usize) -> Vec<Request> {
    let pairs = WHO.iter().flat_map(|who| WHAT.iter().map(move |what| (who, what)));
    let request = |(who, (what, avoid)): (&&str, &(&str, &str))| Request {
        text: format!("{who} {what}"),
        constraints: Constraints::avoiding([*avoid]),
    };
    pairs.map(request).take(count).collect()
}

fn rewrite(device: &Device, requests: &[Request], settings: &Settings) -> Vec<RequestOutcome> {
    let model = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/paraphrase");
    Paraphraser::open_in(&model, device, Numbers::F32)
        .unwrap()
        .paraphrase(requests, settings)
        .unwrap()
}

/// Whether two lists are the same but for the order, or the last place, of texts that tie.
fn assert_same(found: &[Paraphrase], wanted: &[Paraphrase]) {
    let is_close = |a: &Paraphrase, b: &Paraphrase| (a.score - b.score).abs() < TOLERANCE;
    assert_eq!(found.len(), wanted.len(), "{found:?} {wanted:?}");
    for (place, found) in found.iter().enumerate() {
        assert!(is_close(found, &wanted[place]), "{found:?} {wanted:?}");
        let twin = wanted.iter().find(|wanted| wanted.text == found.text);
        let last = wanted.last().expect("the lists are of one length");
        assert!(is_close(found, twin.unwrap_or(last)), "{found:?} {wanted:?}");
    }
}

#[test]
fn sentences_get_the_texts_of_the_cpu() {
    let Some(device) = device(&GpuOptions::default()) else { return };
    let is_slow = is_software(&device);
    let places = 0..WHO.len() * WHAT.len();
    let fifth = places.map(|place| (place / WHAT.len() + place).is_multiple_of(5));
    let requests: Vec<Request> = requests(200)
        .into_iter()
        .zip(fifth)
        .filter_map(|(request, is_asked)| (is_asked || !is_slow).then_some(request))
        .collect();
    assert_eq!(requests.len(), if is_slow { 40 } else { 200 });
    let beam = BeamSettings { beam_size: 2, n_best: 2, ..BeamSettings::default() };
    let settings = Settings { beam, ..Settings::default() };
    let wanted = rewrite(&Device::cpu(), &requests, &settings);
    let found = rewrite(&device, &requests, &settings);
    let mut different = 0;
    for (found, wanted) in found.iter().zip(&wanted) {
        assert!(!wanted.paraphrases().is_empty());
        assert_same(found.paraphrases(), wanted.paraphrases());
        different += usize::from(found.paraphrases()[0].text != wanted.paraphrases()[0].text);
    }
    println!("{different} of {} best texts tie with others and differ", requests.len());
}

/// Tokens are drawn on the device, by numbers that come from the host.
#[test]
fn a_seed_draws_the_same_samples_as_on_the_cpu() {
    let Some(device) = device(&GpuOptions::default()) else { return };
    let requests = requests(12);
    let sample =
        SampleSettings { samples: 3, seed: 5, top_k: 40, top_p: 0.9, ..SampleSettings::default() };
    let settings = Settings { sample: Some(sample), ..Settings::default() };
    let wanted = rewrite(&Device::cpu(), &requests, &settings);
    let found = rewrite(&device, &requests, &settings);
    assert_eq!((found.len(), wanted.len()), (requests.len(), requests.len()));
    // Samples that repeat the sentence or hold what is to be avoided are left out, for some
    // requests all.
    assert!(wanted.iter().any(|outcome| !outcome.paraphrases().is_empty()));
    for (found, wanted) in found.iter().zip(&wanted) {
        let of = |outcome: &RequestOutcome| -> Vec<(String, f32)> {
            outcome.paraphrases().iter().map(|p| (p.text.clone(), p.score)).collect()
        };
        let (found, wanted) = (of(found), of(wanted));
        assert_eq!(found.len(), wanted.len(), "{found:?} {wanted:?}");
        for (found, wanted) in found.iter().zip(&wanted) {
            assert_eq!(found.0, wanted.0);
            assert!((found.1 - wanted.1).abs() < TOLERANCE, "{found:?} {wanted:?}");
        }
    }
}
