//! Rounds that only ban more go on from the round before, with the outputs of a fresh search.

use std::path::Path;

use fnstore::engine::{BeamSettings, Device};
use fnstore::paraphrase::{Constraints, Paraphraser, RequestOutcome, Settings};

const SENTENCES: [&str; 3] = [
    "Several witnesses confirmed that the car had stopped at the corner.",
    "The committee examined the new proposal before the end of the month.",
    "Nobody could remember where the keys of the cellar were kept.",
];

const ROUNDS: usize = 4;

/// Outcomes of every round of every sentence; steps, and those of them that were reused.
fn rounds(
    paraphraser: &mut Paraphraser,
    keep_steps: bool,
) -> (Vec<Vec<RequestOutcome>>, usize, usize) {
    let beam = BeamSettings { beam_size: 6, n_best: 6, ..BeamSettings::default() };
    let settings = Settings { beam, keep_steps, ..Settings::default() };
    let mut session = paraphraser.session(settings).unwrap();
    let mut all = Vec::new();
    let (mut steps, mut reused) = (0, 0);
    for sentence in SENTENCES {
        let source = session.open(sentence).unwrap();
        let mut constraints = Constraints::avoiding(sentence.split(' ').nth(2));
        let mut outcomes = Vec::new();
        for _ in 0..ROUNDS {
            session.submit(source, &constraints).unwrap();
            let rewrite = session.next_finished().unwrap().unwrap();
            steps += rewrite.steps;
            reused += rewrite.steps_reused;
            // Ban the longest word of the best text that is not banned yet.
            let best = rewrite.outcome.paraphrases()[0].text.clone();
            let words = best.split(|c: char| !c.is_alphanumeric());
            let longest = words.max_by_key(|word| word.len()).unwrap();
            constraints.avoid.push(longest.to_owned());
            outcomes.push(rewrite.outcome);
        }
        session.close(source);
        all.push(outcomes);
    }
    (all, steps, reused)
}

#[test]
fn rounds_that_go_on_equal_rounds_that_begin_anew_and_save_steps() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/paraphrase");
    let mut paraphraser = Paraphraser::open(&dir, &Device::cpu()).unwrap();
    let (anew, steps, none) = rounds(&mut paraphraser, false);
    let (going_on, same_steps, reused) = rounds(&mut paraphraser, true);
    assert_eq!(going_on, anew);
    assert_eq!((same_steps, none), (steps, 0));
    assert!(reused > 0 && reused < steps, "{reused} of {steps}");
    println!("{reused} of {steps} steps were those of the round before");
}
