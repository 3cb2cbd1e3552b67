//! Tests of which searches share a batch, and that nothing else depends on it.

use std::sync::Arc;

use super::oracle::{run, search};
use super::scheduler::MOST_OVERTAKEN;
use super::toy::{EOS, ToyNetwork};
use super::*;

/// One hypothesis that goes on until it is as long as its source.
fn as_long_as_the_source() -> (Constraint, BeamSettings) {
    let never_end = AvoidTokens::new([vec![EOS]]).unwrap();
    let constraint = Constraint { tokens: Some(Arc::new(never_end)), ..Constraint::default() };
    let length_limit = LengthLimit { factor: 1.0, constant: 0 };
    (constraint, BeamSettings { beam_size: 1, n_best: 1, length_limit, ..BeamSettings::default() })
}

#[test]
fn long_sources_go_first_so_that_the_last_steps_are_full() {
    let sources: Vec<Vec<u32>> = [2, 2, 2, 2, 2, 2, 8].map(|length| vec![3; length]).into();
    let (constraint, beam) = as_long_as_the_source();
    let mut network = ToyNetwork::new(4, 20);
    let mut scheduler = Scheduler::new(2);
    let jobs: Vec<JobId> = sources
        .iter()
        .map(|tokens| {
            let source = scheduler.add_source(tokens.clone());
            scheduler.submit(source, constraint.clone(), beam).unwrap()
        })
        .collect();
    let (mut steps, mut finished) = (0, Vec::new());
    while !scheduler.is_idle() {
        finished.extend(scheduler.step(&mut network).unwrap());
        steps += 1;
    }
    // 20 tokens, two at a time. In the order in which they came it would take 6 + 8 steps.
    assert_eq!(steps, 10);
    for (job, source) in jobs.iter().zip(&sources) {
        let found = finished.iter().find(|finished| finished.job == *job).unwrap();
        let alone = search(&mut network, source, constraint.clone(), beam);
        assert_eq!((found.steps, &found.hypotheses), (source.len(), &alone.hypotheses));
    }
}

#[test]
fn searches_for_which_there_is_no_room_wait_and_find_the_same() {
    let beam = BeamSettings { beam_size: 3, n_best: 3, ..as_long_as_the_source().1 };
    let mut network = ToyNetwork::new(6, 20);
    let sources: Vec<Vec<u32>> = (0..9).map(|seed| vec![seed; 4 + seed as usize % 3]).collect();
    let alone: Vec<Finished> =
        sources.iter().map(|s| search(&mut network, s, Constraint::default(), beam)).collect();
    for room in [3, 4, 7, 12, 26] {
        for keeps_steps in [false, true] {
            network.room = Some(room);
            network.told.borrow_mut().clear();
            let mut scheduler = Scheduler::new(1000);
            for tokens in &sources {
                let source = match keeps_steps {
                    true => scheduler.add_source_with_steps(tokens.clone()),
                    false => scheduler.add_source(tokens.clone()),
                };
                scheduler.submit(source, Constraint::default(), beam).unwrap();
            }
            let mut finished = run(&mut scheduler, &mut network);
            finished.sort_by_key(|finished| finished.job);
            assert_eq!(finished.len(), alone.len());
            for (found, alone) in finished.iter().zip(&alone) {
                assert_eq!(found.hypotheses, alone.hypotheses);
            }
            assert!(!network.told.borrow().is_empty());
            scheduler.clear(&mut network);
        }
    }
    // Not even one of them fits.
    network.room = Some(2);
    let mut scheduler = Scheduler::new(1000);
    let source = scheduler.add_source(vec![3; 4]);
    scheduler.submit(source, Constraint::default(), beam).unwrap();
    let failed = loop {
        if let Err(error) = scheduler.step(&mut network) {
            break error;
        }
    };
    assert!(matches!(failed, DecodeError::Network { .. }), "{failed}");
    scheduler.clear(&mut network);
}

#[test]
fn a_short_source_waits_for_a_bounded_number_of_longer_ones() {
    let (constraint, beam) = as_long_as_the_source();
    let mut network = ToyNetwork::new(4, 20);
    let mut scheduler = Scheduler::new(1);
    let submit = |scheduler: &mut Scheduler, tokens: Vec<u32>| {
        let source = scheduler.add_source(tokens);
        scheduler.submit(source, constraint.clone(), beam).unwrap()
    };
    submit(&mut scheduler, vec![3, 3]);
    let short = submit(&mut scheduler, vec![3]);
    let mut begun_before = 0;
    loop {
        submit(&mut scheduler, vec![3, 3]);
        let finished = scheduler.step(&mut network).unwrap();
        for finished in &finished {
            scheduler.release(finished.source, &mut network);
        }
        if finished.iter().any(|finished| finished.job == short) {
            break;
        }
        begun_before += finished.len();
    }
    // The first came earlier.
    assert_eq!(begun_before, 1 + MOST_OVERTAKEN);
    scheduler.clear(&mut network);
    assert!(run(&mut scheduler, &mut network).is_empty());
}
