//! What the constraints of a search hold in the cases that other constrained decoders are known to
//! miss.
//!
//! The cases were found in Sockeye, fairseq, Hugging Face transformers and NeuroLogic by running
//! them or reading their source; each test names those that miss it. Numbers are token ids.

use std::path::Path;
use std::sync::Arc;

use fnstore::engine::{
    AvoidTokens, BeamSettings, Constraint, Device, EncoderDecoder, Finished, LengthLimit,
    RequireTokens, Scheduler,
};

const EOS: u32 = 1;

fn avoiding(sequences: &[&[u32]]) -> Constraint {
    let tokens = Some(Arc::new(AvoidTokens::new(sequences).unwrap()));
    Constraint { tokens, ..Constraint::default() }
}

fn requiring(goals: &[&[&[u32]]]) -> Constraint {
    let required_tokens = Some(Arc::new(RequireTokens::new(goals).unwrap()));
    Constraint { required_tokens, ..Constraint::default() }
}

/// Whether a sequence of tokens could have been produced under the bans.
fn is_blocked(constraint: &Constraint, tokens: &[u32]) -> bool {
    let mut state = constraint.start(99);
    tokens.iter().any(|&token| {
        let blocked = constraint.blocked(state, EOS);
        state = constraint.advance(state, token);
        blocked.is_some_and(|blocked| blocked.tokens.contains(&token))
    })
}

/// What is unmet after tokens.
fn unmet(constraint: &Constraint, tokens: &[u32]) -> Vec<usize> {
    let start = constraint.start(99);
    let state = tokens.iter().fold(start, |state, &token| constraint.advance(state, token));
    constraint.unmet(state)
}

fn open() -> EncoderDecoder {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/parity/marian");
    EncoderDecoder::open(&directory, &Device::cpu()).unwrap()
}

const SOURCE: [u32; 6] = [71, 8, 90, 2, 33, EOS];

fn search(constraint: Constraint, max_length: usize) -> Finished {
    let mut network = open();
    let mut scheduler = Scheduler::new(8);
    let length_limit = LengthLimit::tokens(max_length);
    let settings =
        BeamSettings { beam_size: 8, n_best: 8, length_limit, ..BeamSettings::default() };
    let source = scheduler.add_source(SOURCE.to_vec());
    scheduler.submit(source, constraint, settings).unwrap();
    loop {
        if let Some(finished) = scheduler.step(&mut network).unwrap().pop() {
            return finished;
        }
    }
}

/// Sockeye leaks it.
#[test]
fn a_banned_phrase_that_begins_inside_another_is_blocked() {
    assert!(is_blocked(&avoiding(&[&[1, 2, 3], &[2, 4]]), &[1, 2, 4]));
}

/// Sockeye leaks it.
#[test]
fn a_banned_phrase_that_begins_again_inside_itself_is_blocked() {
    assert!(is_blocked(&avoiding(&[&[1, 1, 2]]), &[1, 1, 1, 2]));
    assert!(!is_blocked(&avoiding(&[&[1, 1, 2]]), &[1, 2, 1, 2]));
}

/// Sockeye cannot ban the first, transformers drops a ban of the second.
#[test]
fn token_0_and_the_end_can_be_banned() {
    assert!(is_blocked(&avoiding(&[&[0]]), &[5, 0]));
    let state = avoiding(&[&[EOS]]).start(99);
    assert!(!avoiding(&[&[EOS]]).blocked(state, EOS).unwrap().may_end);
}

/// Transformers, fairseq and Sockeye miss it.
#[test]
fn a_phrase_after_a_false_start_is_met() {
    assert_eq!(unmet(&requiring(&[&[&[1, 2, 3]]]), &[1, 1, 2, 3]), [0; 0]);
}

/// All of them miss it.
#[test]
fn a_phrase_that_begins_again_inside_itself_is_met() {
    assert_eq!(unmet(&requiring(&[&[&[1, 1, 2]]]), &[1, 1, 1, 2]), [0; 0]);
}

/// Transformers and Sockeye miss one of them.
#[test]
fn two_phrases_with_the_same_beginning_are_both_met() {
    assert_eq!(unmet(&requiring(&[&[&[1, 2]], &[&[1, 3]]]), &[1, 3, 1, 2]), [0; 0]);
}

/// Fairseq forgets it where constraints are ordered.
#[test]
fn what_was_met_stays_met_when_another_phrase_breaks_off() {
    assert_eq!(unmet(&requiring(&[&[&[5]], &[&[1, 2]]]), &[5, 1, 9, 1, 2]), [0; 0]);
}

/// Sockeye misses it.
#[test]
fn a_phrase_that_ends_the_attempt_at_another_is_met() {
    assert_eq!(unmet(&requiring(&[&[&[5, 6]], &[&[7]]]), &[5, 7]), [0]);
}

/// Fairseq ends with a failed assertion.
#[test]
fn a_search_that_meets_the_length_limit_gives_its_unfinished_outputs() {
    let finished = search(requiring(&[&[&[40, 41, 42, 43]]]), 3);
    assert!(!finished.hypotheses.is_empty());
    assert!(finished.hypotheses.iter().all(|hypothesis| !hypothesis.ended));
}

/// Transformers does not say so.
#[test]
fn an_output_says_which_phrases_are_unmet() {
    let finished = search(requiring(&[&[&[40]], &[&[41, 42, 43, 44]]]), 3);
    for hypothesis in &finished.hypotheses {
        let expected: &[usize] = if hypothesis.tokens.contains(&40) { &[0] } else { &[] };
        let missing: Vec<usize> = [0, 1].into_iter().filter(|at| !expected.contains(at)).collect();
        assert_eq!(hypothesis.unmet, missing, "{hypothesis:?}");
    }
}

/// Sockeye checks the first alone.
#[test]
fn every_one_of_the_n_best_meets_all_phrases() {
    let finished = search(requiring(&[&[&[40, 41]], &[&[60]], &[&[60]]]), 16);
    assert_eq!(finished.hypotheses.len(), 8);
    for hypothesis in &finished.hypotheses {
        assert!(hypothesis.unmet.is_empty() && hypothesis.ended);
        assert!(hypothesis.tokens.windows(2).any(|pair| pair == [40, 41]), "{hypothesis:?}");
        assert!(hypothesis.tokens.iter().filter(|token| **token == 60).count() >= 2);
    }
}

/// In fairseq and transformers a difference of 100 in score moves an output to another bank.
#[test]
fn phrases_are_met_however_absurd_the_model_finds_them() {
    // Twelve tokens that the model finds absurd: scores differ by far more than 100.
    let absurd: Vec<u32> = (50..62).collect();
    let goals: Vec<Vec<&[u32]>> = absurd.chunks(2).map(|goal| vec![goal]).collect();
    let required_tokens = Some(Arc::new(RequireTokens::new(&goals).unwrap()));
    let finished = search(Constraint { required_tokens, ..Constraint::default() }, 24);
    let best = &finished.hypotheses[0];
    assert!(best.unmet.is_empty(), "{best:?}");
    assert!(best.score < -100.0, "{}", best.score);
}
