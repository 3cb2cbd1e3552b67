//! What promises of a precision keep, over many draws: how often they hold, and how much of the
//! best possible cut is kept. A judge answers what is asked for, until nothing more is worth being
//! asked or so many judgements were made.
//!
//! `cargo bench --bench promise -- [DRAWS]`

#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a program that prints figures")]

use std::cell::RefCell;
use std::collections::HashMap;

use fnstore::internals::promise::{Assessment, Plan};
use fnstore::model::{AnnotationSetId, Candidate, IdSpace, PromiseGroup};

const PRECISION: f64 = 0.9;
const CONFIDENCE: f64 = 0.95;
const CANDIDATES: usize = 2_000;

/// Judgements after which a run is looked at; the last stands for its end.
const AT: [usize; 4] = [200, 400, 800, usize::MAX];

/// SplitMix64, as numbers in `[0, 1)`.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// How likely a set of a score is right.
type Truth = fn(f64) -> f64;

/// Worlds: a name, the power by which scores pile up at 1, and what scores are worth.
const WORLDS: [(&str, f64, Truth); 5] = [
    ("calibrated, many good", 0.15, |score| score),
    ("calibrated, half good", 0.5, |score| score),
    ("overconfident", 0.3, |score| 0.75 * score + 0.2 * score.powi(3)),
    ("scores say little", 0.3, |score| 0.83 + 0.12 * score),
    ("as the precision filter", 0.6, |score| 0.55 + 0.42 * score),
];

struct World {
    group: PromiseGroup,
    is_right: HashMap<AnnotationSetId, bool>,
}

fn world(seed: u64, (_, power, truth): (&str, f64, Truth)) -> World {
    let mut random = Random(seed);
    let mut is_right = HashMap::new();
    let candidates = (0..CANDIDATES).map(|at| {
        let score = random.next().powf(power);
        let set = AnnotationSetId::new(IdSpace::Generated, at as u64 + seed * CANDIDATES as u64);
        is_right.insert(set, random.next() < truth(score));
        Candidate { set, score: score as f32 }
    });
    let candidates = candidates.collect();
    World { group: PromiseGroup { name: String::new(), candidates, cut: None }, is_right }
}

/// The sets up to the last place at which the promise is kept.
fn best(world: &World) -> usize {
    let mut ranked = world.group.candidates.clone();
    ranked.sort_by(|a, b| b.score.total_cmp(&a.score));
    let (mut right, mut best) = (0, 0);
    for (at, candidate) in ranked.iter().enumerate() {
        right += usize::from(world.is_right[&candidate.set]);
        if right as f64 >= PRECISION * (at + 1) as f64 {
            best = at + 1;
        }
    }
    best
}

/// What a run came to.
struct Run {
    judged: usize,
    sets: usize,
    best: usize,
    precision: f64,
}

/// Judges what is asked for, ten at a time; says what is kept after so many judgements, and at the
/// end.
fn runs(world: &World) -> Vec<Run> {
    let plan = Plan::new(&world.group, (PRECISION, 1.0 - CONFIDENCE), 1);
    let judged: RefCell<HashMap<AnnotationSetId, bool>> = RefCell::default();
    let answer = |set| Ok(judged.borrow().get(&set).copied());
    let best = best(world);
    let mut runs = Vec::new();
    loop {
        let all = plan.assess(&answer).unwrap();
        let asked = next(&plan, &all, &judged);
        let count = judged.borrow().len();
        while runs.len() < AT.len() && (AT[runs.len()] <= count || asked.is_empty()) {
            let cut = plan.cut(&all, &answer).unwrap();
            let sets = cut.map_or(&[][..], |cut| plan.up_to(&cut));
            let right = sets.iter().filter(|it| world.is_right[&it.set]).count();
            let precision = if sets.is_empty() { 1.0 } else { right as f64 / sets.len() as f64 };
            runs.push(Run { judged: count, sets: sets.len(), best, precision });
        }
        if runs.len() == AT.len() {
            return runs;
        }
        judged.borrow_mut().extend(asked.into_iter().map(|set| (set, world.is_right[&set])));
    }
}

fn next(
    plan: &Plan,
    all: &Assessment,
    judged: &RefCell<HashMap<AnnotationSetId, bool>>,
) -> Vec<AnnotationSetId> {
    let mut asked: Vec<AnnotationSetId> = Vec::new();
    for _ in 0..10 {
        let is_open = |set| Ok(!asked.contains(&set) && !judged.borrow().contains_key(&set));
        let Some(set) = plan.next(all, is_open).unwrap() else { break };
        asked.push(set);
    }
    asked
}

fn main() {
    let draws = std::env::args().filter_map(|it| it.parse().ok()).next().unwrap_or(400_u64);
    println!(
        "{draws} draws of {CANDIDATES} candidates each; promise {PRECISION} at {CONFIDENCE}\n\
         world                     at most   judged    holds   kept of the best cut   nothing kept"
    );
    for of in WORLDS {
        let halves: Vec<Vec<Vec<Run>>> = std::thread::scope(|scope| {
            let half = |odd: u64| {
                scope.spawn(move || {
                    let seeds = (1..=draws).filter(move |seed| seed % 2 == odd);
                    seeds.map(|seed| runs(&world(seed, of))).collect()
                })
            };
            [half(0), half(1)].map(|half| half.join().unwrap()).into()
        });
        let all: Vec<Vec<Run>> = halves.into_iter().flatten().collect();
        for (at, most) in AT.into_iter().enumerate() {
            let mean = |of: &dyn Fn(&Run) -> f64| {
                all.iter().map(|runs| of(&runs[at])).sum::<f64>() / draws as f64
            };
            let most = if most == usize::MAX { "any".to_owned() } else { most.to_string() };
            println!(
                "{:<25} {most:>7} {:>8.0} {:>6.1} % {:>20.1} % {:>12.1} %",
                of.0,
                mean(&|run| run.judged as f64),
                100.0 * mean(&|run| f64::from(u8::from(run.precision >= PRECISION))),
                100.0 * mean(&|run| run.sets as f64 / run.best.max(1) as f64),
                100.0 * mean(&|run| f64::from(u8::from(run.sets == 0))),
            );
        }
    }
}
