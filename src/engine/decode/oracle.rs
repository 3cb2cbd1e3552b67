//! Tests of searches against the enumeration of all outputs of a toy network.

use std::sync::Arc;

use proptest::prelude::*;

use super::toy::{EOS, ToyNetwork};
use super::*;

pub(super) fn settings(beam_size: usize, max_length: usize) -> BeamSettings {
    BeamSettings {
        beam_size,
        n_best: beam_size,
        length_limit: LengthLimit::tokens(max_length),
        ..BeamSettings::default()
    }
}

pub(super) fn search(
    network: &mut ToyNetwork,
    source: &[u32],
    constraint: Constraint,
    settings: impl Into<SearchSettings>,
) -> Finished {
    let mut scheduler = Scheduler::new(1000);
    let source = scheduler.add_source(source.to_vec());
    scheduler.submit(source, constraint, settings).unwrap();
    let finished = run(&mut scheduler, network).remove(0);
    scheduler.clear(network);
    finished
}

pub(super) fn run(scheduler: &mut Scheduler, network: &mut ToyNetwork) -> Vec<Finished> {
    let mut all = Vec::new();
    while !scheduler.is_idle() {
        all.extend(scheduler.step(network).unwrap());
    }
    all
}

/// Outputs and ranks as full enumeration gives them.
pub(super) fn oracle(
    network: &ToyNetwork,
    source: &[u32],
    max_length: usize,
    allowed: impl Fn(&[u32]) -> bool,
) -> Vec<(Vec<u32>, f32)> {
    let mut all = network.enumerate(source, max_length);
    all.retain(|(tokens, _)| allowed(tokens));
    by_rank(&mut all);
    all
}

/// Sorts best first; what ranks the same by its tokens, for the enumeration has another order
/// among equals than the search.
fn by_rank(outputs: &mut [(Vec<u32>, f32)]) {
    let rank = |(tokens, score): &(Vec<u32>, f32)| {
        LengthPenalty::default().normalize(*score, tokens.len())
    };
    outputs.sort_by(|a, b| rank(b).total_cmp(&rank(a)).then_with(|| a.0.cmp(&b.0)));
}

pub(super) fn outputs(finished: &Finished) -> Vec<(Vec<u32>, f32)> {
    let falls = |a: &Hypothesis, b: &Hypothesis| a.normalized_score >= b.normalized_score;
    assert!(finished.hypotheses.is_sorted_by(falls), "the search ranks its outputs itself");
    let mut outputs: Vec<(Vec<u32>, f32)> =
        finished.hypotheses.iter().map(|h| (h.tokens.clone(), h.score)).collect();
    by_rank(&mut outputs);
    outputs
}

pub(super) const SURFACES: [&[u8]; 6] = [b"", b"", b" a", b"a", b" b", b"."];

pub(super) fn text(tokens: &[u32]) -> String {
    let bytes: Vec<u8> = tokens.iter().flat_map(|&t| SURFACES[t as usize]).copied().collect();
    String::from_utf8(bytes).unwrap()
}

fn banning(phrases: &[String]) -> Constraint {
    let vocabulary = Arc::new(Vocabulary::new(SURFACES));
    let here = Some(Arc::new(AvoidPhrases::new(vocabulary, phrases).unwrap()));
    Constraint { here, ..Constraint::default() }
}

#[test]
fn a_beam_as_wide_as_the_space_finds_what_enumeration_finds() {
    for seed in 0..5 {
        let mut network = ToyNetwork::new(4, 4);
        let expected = oracle(&network, &[seed], 4, |_| true);
        let wide = settings(4usize.pow(4), 4);
        let finished = search(&mut network, &[seed], Constraint::default(), wide);
        assert_eq!(outputs(&finished), expected);
        assert_eq!(finished.stop, Stop::LengthLimit);
    }
}

#[test]
fn exhaustive_stopping_never_does_worse_than_the_heuristic() {
    for seed in 0..20 {
        let best = |stopping| {
            let mut network = ToyNetwork::new(5, 6);
            network.sharpness = 5.0;
            let settings = BeamSettings { stopping, ..settings(3, 6) };
            search(&mut network, &[seed], Constraint::default(), settings).hypotheses[0]
                .normalized_score
        };
        assert!(best(Stopping::Exhaustive) >= best(Stopping::Heuristic));
        assert!(best(Stopping::Heuristic) >= best(Stopping::FirstFull));
    }
}

#[test]
fn a_beam_of_one_takes_the_best_token_until_one_output_is_finished() {
    let mut network = ToyNetwork::new(4, 8);
    let finished = search(&mut network, &[3], Constraint::default(), settings(1, 8));
    let mut greedy = Vec::new();
    while greedy.last() != Some(&EOS) && greedy.len() < 8 {
        let log_probs = network.log_probs(&[3], &greedy);
        let best =
            (0..4u32).max_by(|&a, &b| log_probs[a as usize].total_cmp(&log_probs[b as usize]));
        greedy.extend(best);
    }
    assert_eq!(finished.hypotheses[0].tokens, greedy);
}

#[test]
fn a_result_does_not_depend_on_what_shares_the_batch() {
    let mut network = ToyNetwork::new(6, 10);
    let alone: Vec<_> = (0..7)
        .map(|seed| {
            let beam = settings(1 + seed as usize % 3, 4 + seed as usize);
            outputs(&search(&mut network, &[seed], banning(&["a".to_owned()]), beam))
        })
        .collect();
    for row_limit in [1, 4, 100] {
        let mut scheduler = Scheduler::new(row_limit);
        let jobs: Vec<JobId> = (0..7)
            .map(|seed| {
                let source = scheduler.add_source(vec![seed]);
                let beam = settings(1 + seed as usize % 3, 4 + seed as usize);
                scheduler.submit(source, banning(&["a".to_owned()]), beam).unwrap()
            })
            .collect();
        network.most_rows = 0;
        let finished = run(&mut scheduler, &mut network);
        for (job, expected) in jobs.iter().zip(&alone) {
            let found = finished.iter().find(|finished| finished.job == *job).unwrap();
            assert_eq!(&outputs(found), expected);
        }
        assert!(network.most_rows <= row_limit.max(3));
        scheduler.clear(&mut network);
        assert_eq!(network.open_slots(), 0);
    }
}

#[test]
fn rounds_of_one_source_encode_it_once() {
    let mut network = ToyNetwork::new(6, 6);
    let mut scheduler = Scheduler::new(100);
    let source = scheduler.add_source(vec![7]);
    for phrase in ["a", "b", "a b"] {
        scheduler.submit(source, banning(&[phrase.to_owned()]), settings(3, 6)).unwrap();
    }
    let finished = run(&mut scheduler, &mut network);
    assert_eq!(finished.len(), 3);
    assert!(finished.is_sorted_by_key(|finished| finished.job));
    assert_eq!(network.encoded, 1);
    let fresh =
        search(&mut ToyNetwork::new(6, 6), &[7], banning(&["b".to_owned()]), settings(3, 6));
    assert_eq!(finished[1].hypotheses, fresh.hypotheses);
    scheduler.release(source, &mut network);
    assert_eq!(network.open_slots(), 0);
}

#[test]
fn releasing_a_source_drops_its_jobs() {
    let mut network = ToyNetwork::new(4, 6);
    let mut scheduler = Scheduler::new(100);
    let source = scheduler.add_source(vec![7]);
    scheduler.submit(source, Constraint::default(), settings(2, 6)).unwrap();
    scheduler.submit(source, Constraint::default(), settings(2, 6)).unwrap();
    scheduler.step(&mut network).unwrap();
    scheduler.release(source, &mut network);
    assert!(scheduler.is_idle());
    assert_eq!(network.open_slots(), 0);
}

#[test]
fn a_network_that_fails_is_an_error_and_clearing_frees_it() {
    let mut network = ToyNetwork::new(4, 6);
    let mut scheduler = Scheduler::new(100);
    let source = scheduler.add_source(vec![7]);
    scheduler.submit(source, Constraint::default(), settings(2, 6)).unwrap();
    scheduler.step(&mut network).unwrap();
    network.is_broken = true;
    let error = scheduler.step(&mut network).unwrap_err();
    assert!(matches!(error, DecodeError::Network { doing: "take a step", .. }), "{error}");
    scheduler.clear(&mut network);
    assert!(scheduler.is_idle());
    assert_eq!(network.open_slots(), 0);
}

#[test]
fn when_everything_is_banned_the_search_says_so() {
    let all = AvoidTokens::new((0..4u32).map(|token| vec![token])).unwrap();
    let constraint = Constraint { tokens: Some(Arc::new(all)), ..Constraint::default() };
    let finished = search(&mut ToyNetwork::new(4, 4), &[1], constraint, settings(2, 4));
    assert_eq!((finished.hypotheses.len(), finished.stop), (0, Stop::Blocked));
    assert_eq!(finished.steps, 1);
}

#[test]
fn settings_are_checked_when_a_job_is_submitted() {
    let mut scheduler = Scheduler::new(10);
    let source = scheduler.add_source(vec![1]);
    let settings = BeamSettings { beam_size: 0, ..BeamSettings::default() };
    let error = scheduler.submit(source, Constraint::default(), settings).unwrap_err();
    assert!(matches!(error, DecodeError::Settings { setting: "beam_size", .. }));
}

#[test]
fn bans_set_candidates_aside_and_change_no_score() {
    let mut network = ToyNetwork::new(6, 4);
    let finished = search(&mut network, &[2], banning(&["a".to_owned()]), settings(4, 4));
    for hypothesis in &finished.hypotheses {
        let mut score = 0.0;
        for (at, &token) in hypothesis.tokens.iter().enumerate() {
            score += network.log_probs(&[2], &hypothesis.tokens[..at])[token as usize];
        }
        assert_eq!(hypothesis.score, score);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn under_bans_a_wide_beam_finds_the_allowed_part_of_the_enumeration(
        phrases in prop::collection::vec("[ab]{1,2}|[ab] [ab]|\\.|a\\.", 1..3),
        seed in 0u32..1000,
    ) {
        let mut network = ToyNetwork::new(SURFACES.len(), 3);
        let allowed = |tokens: &[u32]| violations(&text(tokens), &phrases).unwrap().is_empty();
        let expected = oracle(&network, &[seed], 3, allowed);
        let wide = settings(SURFACES.len().pow(3), 3);
        let finished = search(&mut network, &[seed], banning(&phrases), wide);
        prop_assert_eq!(outputs(&finished), expected);
    }

    #[test]
    fn no_output_of_a_narrow_beam_holds_a_banned_phrase(
        phrases in prop::collection::vec("[ab]{1,3}|[ab] [ab]|\\.|a\\.", 1..4),
        seed in 0u32..1000,
        beam_size in 1usize..5,
    ) {
        let mut network = ToyNetwork::new(SURFACES.len(), 9);
        let beam = settings(beam_size, 9);
        let finished = search(&mut network, &[seed], banning(&phrases), beam);
        for hypothesis in finished.hypotheses {
            let text = text(&hypothesis.tokens);
            prop_assert!(violations(&text, &phrases).unwrap().is_empty(), "{}", text);
        }
    }

    #[test]
    fn token_bans_leave_what_holds_no_banned_sequence(
        sequences in prop::collection::vec(prop::collection::vec(1u32..4, 1..4), 1..3),
        seed in 0u32..1000,
    ) {
        let mut network = ToyNetwork::new(4, 4);
        let free = |tokens: &[u32]| {
            !sequences.iter().any(|s| tokens.windows(s.len()).any(|window| window == s))
        };
        let expected = oracle(&network, &[seed], 4, free);
        let avoid = Arc::new(AvoidTokens::new(&sequences).unwrap());
        let constraint = Constraint { tokens: Some(avoid), ..Constraint::default() };
        let finished = search(&mut network, &[seed], constraint, settings(256, 4));
        prop_assert_eq!(outputs(&finished), expected);
    }
}

fn requiring(goals: &[Vec<String>]) -> Constraint {
    // The tokenizer of the toy language: words begin with their space, others stand alone.
    let cut = |phrase: &str| {
        let mut tokens = Vec::new();
        for word in phrase.split(' ') {
            for (at, letter) in word.char_indices() {
                tokens.push(match (letter, at) {
                    ('a', 0) => 2,
                    ('a', _) => 3,
                    ('b', 0) => 4,
                    ('.', _) => 5,
                    _ => 0,
                });
            }
        }
        tokens
    };
    let vocabulary = Arc::new(Vocabulary::new(SURFACES));
    let required = Some(Arc::new(RequirePhrases::new(vocabulary, goals, cut).unwrap()));
    Constraint { required, ..Constraint::default() }
}

/// Times that some phrase of a goal occurs as whole words: ends of occurrences, found by looking at
/// every stretch of the text.
fn occurrences(text: &str, goal: &[String]) -> usize {
    let text = text.trim();
    let is_word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    let cuts =
        |at: usize| is_word(text[..at].chars().next_back()) != is_word(text[at..].chars().next());
    let ends_here = |end: usize, phrase: &String| {
        let begin = text[..end].ends_with(phrase.as_str()).then(|| end - phrase.len());
        begin.is_some_and(|begin| {
            (!is_word(phrase.chars().next()) || cuts(begin))
                && (!is_word(phrase.chars().next_back()) || cuts(end))
        })
    };
    (0..=text.len()).filter(|&end| goal.iter().any(|phrase| ends_here(end, phrase))).count()
}

/// Whether every goal occurs as often as it is given.
fn holds_all(text: &str, goals: &[Vec<String>]) -> bool {
    goals.iter().enumerate().all(|(at, goal)| {
        let times = goals[..=at].iter().filter(|other| are_same(other, goal)).count();
        occurrences(text, goal) >= times
    })
}

/// Whether two goals are the same, whatever the order of their alternatives.
fn are_same<T: PartialEq>(a: &[T], b: &[T]) -> bool {
    a.iter().all(|one| b.contains(one)) && b.iter().all(|one| a.contains(one))
}

#[test]
fn requirements_that_cannot_be_met_are_listed_and_the_best_attempt_returned() {
    let goals = [vec!["a".to_owned()], vec!["b b b b".to_owned()]];
    let mut network = ToyNetwork::new(SURFACES.len(), 3);
    let finished = search(&mut network, &[5], requiring(&goals), settings(4, 3));
    assert_eq!(finished.stop, Stop::LengthLimit);
    assert!(!finished.hypotheses.is_empty());
    for hypothesis in &finished.hypotheses {
        assert!(!hypothesis.ended && hypothesis.unmet.contains(&1), "{hypothesis:?}");
        let has_a = occurrences(&text(&hypothesis.tokens), &goals[0]) > 0;
        assert_eq!(!hypothesis.unmet.contains(&0), has_a);
    }
    // The first is among those with the fewest tokens left: three of four `b`.
    assert_eq!(text(&finished.hypotheses[0].tokens), " b b b");
}

#[test]
fn a_narrow_beam_places_what_its_network_would_not_say() {
    // A sharp network: what is required is most improbable nearly everywhere.
    for seed in 0..40 {
        let mut network = ToyNetwork::new(SURFACES.len(), 12);
        network.sharpness = 20.0;
        let goals = [vec!["b a b".to_owned()], vec!["aa".to_owned(), "b.".to_owned()]];
        let finished = search(&mut network, &[seed], requiring(&goals), settings(4, 12));
        assert!(!finished.hypotheses.is_empty());
        for hypothesis in &finished.hypotheses {
            assert_eq!(hypothesis.unmet, [0; 0]);
            assert!(holds_all(&text(&hypothesis.tokens), &goals), "{hypothesis:?}");
        }
    }
}

#[test]
fn every_output_begins_with_the_prefix_and_its_score_counts() {
    let mut network = ToyNetwork::new(SURFACES.len(), 5);
    let prefix = [4, 5];
    let mut expected =
        oracle(&network, &[3], 5, |tokens| tokens.len() > 2 && tokens.starts_with(&prefix));
    let constraint = Constraint { prefix: prefix.into(), ..Constraint::default() };
    let finished = search(&mut network, &[3], constraint.clone(), settings(216, 5));
    expected.truncate(216);
    assert_eq!(outputs(&finished), expected);
    let sampled = search(&mut network, &[3], constraint, SampleSettings::default());
    assert!(sampled.hypotheses.iter().all(|h| h.tokens.starts_with(&prefix)));
}

#[test]
fn pruning_drops_what_is_far_behind_the_best_output() {
    let mut network = ToyNetwork::new(5, 8);
    network.sharpness = 6.0;
    let mut steps = Vec::new();
    let mut best = Vec::new();
    for prune_threshold in [0.0, 1e6, 4.0] {
        let settings = BeamSettings {
            prune_threshold,
            stopping: Stopping::Exhaustive,
            length_penalty: LengthPenalty::Power(2.0),
            ..settings(8, 8)
        };
        let finished = search(&mut network, &[11], Constraint::default(), settings);
        steps.push(finished.steps);
        best.push(outputs(&finished));
    }
    assert_eq!(best[0], best[1]);
    assert!(steps[2] < steps[0], "{steps:?}");
}

#[test]
fn patience_ends_a_search_earlier_or_later() {
    let mut network = ToyNetwork::new(5, 12);
    let counts: Vec<(usize, usize)> = [0.5, 1.0, 2.0]
        .into_iter()
        .map(|patience| {
            let stopping = Stopping::FirstFull;
            let settings = BeamSettings { patience, stopping, n_best: 2, ..settings(4, 12) };
            let n_best = settings.outputs_wanted();
            let settings = BeamSettings { n_best, ..settings };
            let finished = search(&mut network, &[1], Constraint::default(), settings);
            (finished.hypotheses.len(), finished.steps)
        })
        .collect();
    assert_eq!(counts.iter().map(|count| count.0).collect::<Vec<_>>(), [2, 4, 8]);
    assert!(counts[0].1 < counts[1].1 && counts[1].1 < counts[2].1, "{counts:?}");
}

#[test]
fn samples_depend_on_seed_and_source_alone() {
    let mut network = ToyNetwork::new(6, 10);
    let sampling = |seed, samples| SampleSettings { seed, samples, ..SampleSettings::default() };
    let ban = banning(&["a".to_owned()]);
    let alone = search(&mut network, &[4], ban.clone(), sampling(7, 5));
    assert_eq!(alone.hypotheses.len(), 5);
    assert!(
        alone.hypotheses.iter().all(|h| violations(&text(&h.tokens), ["a"]).unwrap().is_empty())
    );
    let other = search(&mut network, &[4], ban.clone(), sampling(8, 5));
    assert_ne!(alone.hypotheses, other.hypotheses);
    // More samples keep the first ones; a beam and another source run beside them.
    let mut scheduler = Scheduler::new(100);
    let other = scheduler.add_source(vec![9]);
    let source = scheduler.add_source(vec![4]);
    scheduler.submit(other, Constraint::default(), sampling(7, 9)).unwrap();
    let job = scheduler.submit(source, ban, sampling(7, 9)).unwrap();
    let beam_source = scheduler.add_source(vec![4]);
    scheduler.submit(beam_source, Constraint::default(), settings(3, 10)).unwrap();
    let together = run(&mut scheduler, &mut network);
    let more = together.iter().find(|finished| finished.job == job).unwrap();
    assert_eq!(more.hypotheses.len(), 9);
    assert!(alone.hypotheses.iter().all(|h| more.hypotheses.contains(h)));
}

#[test]
fn samples_that_must_hold_something_are_refused() {
    let mut scheduler = Scheduler::new(10);
    let source = scheduler.add_source(vec![1]);
    let error = scheduler
        .submit(source, requiring(&[vec!["a".to_owned()]]), SampleSettings::default())
        .unwrap_err();
    assert!(error.to_string().contains("beam search"), "{error}");
}

/// Phrases of the toy language; few letters, so that they overlap and repeat.
fn phrase() -> impl Strategy<Value = String> {
    prop_oneof!["a{1,2}", "b|b\\.|\\.", "[ab] [ab]", "a b a|b a|a\\. b"]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn under_all_constraints_a_wide_beam_finds_that_part_of_the_enumeration(
        avoid in prop::collection::vec(phrase(), 0..3),
        goals in prop::collection::vec(prop::collection::vec(phrase(), 1..3), 0..3),
        twice in any::<bool>(),
        seed in 0u32..1000,
    ) {
        let mut goals = goals;
        if let (true, Some(goal)) = (twice, goals.first().cloned()) {
            goals.push(goal);
        }
        let mut network = ToyNetwork::new(SURFACES.len(), 4);
        let allowed = |tokens: &[u32]| {
            let text = text(tokens);
            violations(&text, &avoid).unwrap().is_empty() && holds_all(&text, &goals)
        };
        let expected = oracle(&network, &[seed], 4, allowed);
        let mut constraint = if goals.is_empty() { Constraint::default() } else { requiring(&goals) };
        constraint.here = banning(&avoid).here;
        let finished = search(&mut network, &[seed], constraint, settings(1296, 4));
        if expected.is_empty() {
            prop_assert!(finished.hypotheses.iter().all(|h| !h.unmet.is_empty()));
        } else {
            prop_assert_eq!(outputs(&finished), expected);
        }
    }

    #[test]
    fn required_tokens_leave_what_holds_every_sequence(
        goals in prop::collection::vec(
            prop::collection::vec(prop::collection::vec(1u32..4, 1..4), 1..3), 1..3),
        seed in 0u32..1000,
    ) {
        let mut network = ToyNetwork::new(4, 4);
        let occurs = |tokens: &[u32], goal: &Vec<Vec<u32>>| {
            goal.iter().any(|s| tokens.windows(s.len()).any(|window| window == s))
        };
        // The same goal twice is another test's.
        prop_assume!(goals.len() < 2 || !are_same(&goals[0], &goals[1]));
        let met = |tokens: &[u32]| goals.iter().all(|goal| occurs(tokens, goal));
        let expected = oracle(&network, &[seed], 4, met);
        let required = RequireTokens::new(&goals).unwrap();
        let constraint =
            Constraint { required_tokens: Some(Arc::new(required)), ..Constraint::default() };
        let finished = search(&mut network, &[seed], constraint, settings(256, 4));
        if !expected.is_empty() {
            prop_assert_eq!(outputs(&finished), expected);
        }
    }

    #[test]
    fn all_outputs_of_a_narrow_beam_keep_the_constraints_or_say_what_is_unmet(
        avoid in prop::collection::vec(phrase(), 0..2),
        goals in prop::collection::vec(prop::collection::vec(phrase(), 1..3), 1..4),
        seed in 0u32..1000, beam_size in 1usize..6,
    ) {
        let mut network = ToyNetwork::new(SURFACES.len(), 9);
        network.sharpness = 8.0;
        let mut constraint = requiring(&goals);
        constraint.here = banning(&avoid).here;
        let finished = search(&mut network, &[seed], constraint, settings(beam_size, 9));
        for hypothesis in finished.hypotheses {
            let text = text(&hypothesis.tokens);
            prop_assert!(violations(&text, &avoid).unwrap().is_empty(), "{}", text);
            let unmet: Vec<usize> = (0..goals.len())
                .filter(|&at| {
                    let same = goals[..=at].iter().filter(|other| are_same(other, &goals[at]));
                    occurrences(&text, &goals[at]) < same.count()
                })
                .collect();
            prop_assert_eq!(hypothesis.unmet, unmet, "{}", text);
        }
    }

    #[test]
    fn a_search_that_goes_on_equals_one_from_the_beginning(
        rounds in prop::collection::vec(prop::collection::vec(phrase(), 0..2), 2..5),
        goal in prop::option::of(phrase()),
        seed in 0u32..1000, beam_size in 1usize..5,
    ) {
        let mut network = ToyNetwork::new(SURFACES.len(), 9);
        let mut fresh = ToyNetwork::new(SURFACES.len(), 9);
        let mut scheduler = Scheduler::new(100);
        let source = scheduler.add_source_with_steps(vec![seed]);
        let mut avoid = Vec::new();
        for phrases in rounds {
            let nothing_new = phrases.iter().all(|phrase| avoid.contains(phrase));
            let is_first = avoid.is_empty();
            avoid.extend(phrases);
            let mut constraint = match &goal {
                Some(goal) => requiring(&[vec![goal.clone()]]),
                None => Constraint::default(),
            };
            constraint.here = banning(&avoid).here;
            let beam = settings(beam_size, 9);
            scheduler.submit_next(source, constraint.clone(), beam).unwrap();
            let next = run(&mut scheduler, &mut network).remove(0);
            let alone = search(&mut fresh, &[seed], constraint, beam);
            prop_assert_eq!(&next.hypotheses, &alone.hypotheses);
            prop_assert_eq!((next.stop, next.steps), (alone.stop, alone.steps));
            if nothing_new && !is_first {
                prop_assert_eq!(next.steps_reused, next.steps);
            }
        }
        scheduler.clear(&mut network);
        prop_assert_eq!(network.open_slots(), 0);
    }
}
