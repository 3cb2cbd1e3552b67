//! Tests of which searches share a batch, and that nothing else depends on it.

use std::ops::ControlFlow;
use std::sync::Arc;

use super::oracle::{run, search};
use super::toy::{EOS, ToyNetwork};
use super::waiting::MOST_OVERTAKEN;
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
fn many_long_sources_are_encoded_in_parts_and_searched_together() {
    let sources: Vec<Vec<u32>> = [300, 200, 100, 600, 2].map(|length| vec![3; length]).into();
    let (constraint, beam) = as_long_as_the_source();
    let beam = BeamSettings { length_limit: LengthLimit::tokens(3), ..beam };
    let mut network = ToyNetwork::new(4, 700);
    let mut scheduler = Scheduler::new(1000);
    for tokens in &sources {
        let source = scheduler.add_source(tokens.clone());
        scheduler.submit(source, constraint.clone(), beam).unwrap();
    }
    // The longest first, alone; then as many as have 512 tokens together.
    let mut encoded = Vec::new();
    let mut finished = Vec::new();
    while finished.is_empty() {
        finished = scheduler.step(&mut network).unwrap();
        encoded.push((network.encoded, network.most_rows));
    }
    assert_eq!(encoded, [(1, 0), (3, 0), (5, 5), (5, 5), (5, 5)]);
    assert_eq!(finished.len(), sources.len());
    finished.sort_by_key(|finished| finished.source);
    for (found, source) in finished.iter().zip(&sources) {
        let alone = search(&mut ToyNetwork::new(4, 700), source, constraint.clone(), beam);
        assert_eq!(found.hypotheses, alone.hypotheses);
    }
}

#[test]
fn who_stops_searches_waits_for_the_step_that_runs() {
    let mut network = ToyNetwork::new(4, 20);
    let (constraint, beam) = as_long_as_the_source();
    let sources = || vec![(vec![3; 9], constraint.clone()), (vec![3; 8], constraint.clone())];
    let mut steps = 0;
    let stopped = search_all_while(&mut network, sources(), beam, &mut || {
        steps += 1;
        if steps < 3 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    assert!(matches!(stopped, Err(DecodeError::Stopped)));
    assert_eq!((steps, network.open_slots()), (3, 0));
    let again = search_all(&mut network, sources(), beam).unwrap();
    let alone = search(&mut network, &[3; 9], constraint.clone(), beam);
    assert_eq!(again[0], alone.hypotheses);
}

/// Searches each source, then again under more bans, as soon as its first search is over; returns
/// both results of each. What the network was told is in `told`.
fn two_rounds(
    network: &mut ToyNetwork,
    sources: &[Vec<u32>],
    beam: BeamSettings,
    keeps_steps: bool,
) -> Vec<[Finished; 2]> {
    let mut scheduler = Scheduler::new(1000);
    for tokens in sources {
        let source = match keeps_steps {
            true => scheduler.add_source_with_steps(tokens.clone()),
            false => scheduler.add_source(tokens.clone()),
        };
        scheduler.submit(source, Constraint::default(), beam).unwrap();
    }
    let mut finished = run(&mut scheduler, network);
    for first in finished.clone() {
        scheduler.submit_next(first.source, more_bans(), beam).unwrap();
    }
    finished.extend(run(&mut scheduler, network));
    scheduler.clear(network);
    assert_eq!(network.open_slots(), 0);
    finished.sort_by_key(|finished| (finished.source, finished.job));
    finished.chunks(2).map(|both| [both[0].clone(), both[1].clone()]).collect()
}

fn more_bans() -> Constraint {
    let tokens = AvoidTokens::new([vec![5]]).unwrap();
    Constraint { tokens: Some(Arc::new(tokens)), ..Constraint::default() }
}

#[test]
fn searches_for_which_there_is_no_room_wait_and_find_the_same() {
    let beam = BeamSettings { beam_size: 3, n_best: 3, ..as_long_as_the_source().1 };
    let mut network = ToyNetwork::new(6, 20);
    let sources: Vec<Vec<u32>> = (0..9).map(|seed| vec![seed; 4 + seed as usize % 3]).collect();
    let alone: Vec<[Finished; 2]> = sources
        .iter()
        .map(|tokens| {
            let mut find = |constraint| search(&mut network, tokens, constraint, beam);
            [find(Constraint::default()), find(more_bans())]
        })
        .collect();
    for keeps_steps in [false, true] {
        // What one search holds at most, so that less is room for none.
        network.most_held = 0;
        for tokens in &sources {
            two_rounds(&mut network, std::slice::from_ref(tokens), beam, keeps_steps);
        }
        let most = network.most_held;
        for room in [most, most + 1, 2 * most, 3 * most + 1, 4 * most] {
            network.room = Some(room);
            network.told.borrow_mut().clear();
            let found = two_rounds(&mut network, &sources, beam, keeps_steps);
            assert_eq!(found.len(), alone.len());
            for (found, alone) in found.iter().flatten().zip(alone.iter().flatten()) {
                assert_eq!(found.hypotheses, alone.hypotheses, "{room} {keeps_steps}");
            }
            assert!(room > 2 * most || !network.told.borrow().is_empty(), "{room} {keeps_steps}");
        }
        network.room = None;
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

/// Idle sources give up what is kept of them before fewer are searched side by side.
#[test]
fn idle_sources_make_room_before_searches_wait() {
    let (constraint, mut beam) = as_long_as_the_source();
    beam.beam_size = 2;
    let mut network = ToyNetwork::new(6, 20);
    let mut scheduler = Scheduler::new(1000);
    let add = |scheduler: &mut Scheduler, seed: u32| {
        let source = scheduler.add_source_with_steps(vec![seed; 6]);
        scheduler.submit(source, constraint.clone(), beam).unwrap();
    };
    (0..4).for_each(|seed| add(&mut scheduler, seed));
    run(&mut scheduler, &mut network);
    // As much as four sources hold: the next four fit once the first have gone.
    network.room = Some(network.most_held);
    network.most_rows = 0;
    (4..8).for_each(|seed| add(&mut scheduler, seed));
    let finished = run(&mut scheduler, &mut network);
    assert_eq!((finished.len(), network.most_rows), (4, 8));
    // Their steps went on where the full network stopped them.
    assert_eq!((network.encoded, network.told.borrow().len()), (8, 1));
    assert!(network.told.borrow()[0].contains("what it keeps of 4 sentences"));
    scheduler.clear(&mut network);
}

/// A source that cannot be encoded beside others waits until they are over.
#[test]
fn searches_go_on_where_only_encoding_has_no_room() {
    let (constraint, beam) = as_long_as_the_source();
    let mut network = ToyNetwork::new(4, 20);
    network.room = Some(3);
    let mut scheduler = Scheduler::new(1000);
    let mut jobs = Vec::new();
    for length in [3, 3, 4, 5, 6] {
        let source = scheduler.add_source(vec![3; length]);
        jobs.push(scheduler.submit(source, constraint.clone(), beam).unwrap());
        // Two run by the time that the longer ones come.
        if jobs.len() == 2 {
            assert!(scheduler.step(&mut network).unwrap().is_empty());
        }
    }
    let mut finished = run(&mut scheduler, &mut network);
    // The first two began once, for none of their steps was undone.
    assert_eq!([finished[0].job, finished[1].job], [jobs[0], jobs[1]]);
    finished.sort_by_key(|finished| finished.job);
    assert_eq!(finished.iter().map(|finished| finished.job).collect::<Vec<_>>(), jobs);
    assert_eq!(network.encoded, jobs.len());
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
