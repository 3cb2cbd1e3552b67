//! How much longer work takes, told so that it does not jump.
//!
//! Work comes in bursts: sentences that were begun together end together. Speed is an average over
//! the last third of the time. What is shown counts down between two events, falls as the speed
//! says, and rises slowly: a burst that is late makes no minutes out of seconds.

use std::time::Duration;

/// The speed is that of this share of the time so far.
const RECENT: f64 = 1.0 / 3.0;
/// From this share of the work on, what is shown rises slowly.
const STEADY: f64 = 0.05;
/// It rises by this share at most from one drawing to the next.
const RISE: f64 = 0.2;
/// And by this much a second, so that a terminal, which draws often, shows what a log does.
const RISE_A_SECOND: f64 = 2.0;
/// It counts down to this share of what the last event said, and never falls below this share of
/// what the average speed since the beginning says.
const HELD: f64 = 0.5;

/// An estimator of the time that is left. All times are since one moment.
#[derive(Debug, Clone, Default)]
pub(super) struct Estimator {
    begun: Option<Begun>,
    /// When, how much of the work was steady by then, and how many seconds were shown.
    shown: Option<(f64, bool, f64)>,
}

/// Work that has begun.
#[derive(Debug, Clone, Copy)]
struct Begun {
    at: f64,
    /// What had been done in earlier runs.
    before: f64,
    done: f64,
    of: f64,
    /// When something was done last.
    event: f64,
    /// Work and seconds of late; what is long ago counts less.
    recent: (f64, f64),
}

impl Estimator {
    /// Notes how much of the work is done. What is done when this is first called was done before.
    /// Work that falls back, as the steps of the next epoch do, begins anew.
    pub(super) fn note(&mut self, now: Duration, done: f64, of: f64) {
        if self.begun.is_some_and(|begun| done < begun.done) {
            *self = Self::default();
        }
        let now = now.as_secs_f64();
        let Some(begun) = &mut self.begun else {
            let (before, event, recent) = (done, now, (0.0, 0.0));
            self.begun = Some(Begun { at: now, before, done, of, event, recent });
            return;
        };
        begun.of = of;
        if done > begun.done {
            let took = now - begun.event;
            let memory = ((now - begun.at) * RECENT).max(1e-9);
            let fades = (-took / memory).exp();
            let (work, seconds) = begun.recent;
            begun.recent = (work * fades + done - begun.done, seconds * fades + took);
            (begun.done, begun.event) = (done, now);
        }
    }

    /// The share of all work that is done.
    pub(super) fn share(&self) -> f64 {
        self.begun.map_or(0.0, |begun| {
            if begun.of > 0.0 { (begun.done / begun.of).clamp(0.0, 1.0) } else { 0.0 }
        })
    }

    /// The time that is left, to be shown now; `None` before anything is done.
    pub(super) fn left(&mut self, now: Duration) -> Option<Duration> {
        let begun = self.begun?;
        let now = now.as_secs_f64();
        let rest = begun.of - begun.done;
        let made = begun.done - begun.before;
        if made <= 0.0 || begun.of <= 0.0 {
            return None;
        }
        let is_steady = made >= STEADY * (begun.of - begun.before);
        let left = if rest <= 0.0 { 0.0 } else { self.steadied(begun, now) };
        self.shown = Some((now, is_steady, left));
        Some(Duration::from_secs_f64(left))
    }

    /// What the speed says, less what has passed since, and not much more than was shown before.
    fn steadied(&self, begun: Begun, now: f64) -> f64 {
        let (rest, made) = (begun.of - begun.done, begun.done - begun.before);
        let (work, seconds) = begun.recent;
        let average = rest * (begun.event - begun.at) / made;
        let by_speed = (rest * seconds / work.max(1e-9)).max(average * HELD);
        let left = (by_speed - (now - begun.event)).max(by_speed * HELD);
        match self.shown {
            Some((before, true, shown)) => {
                let slowly = shown + RISE_A_SECOND * (now - before).max(0.0);
                left.min(slowly).min(shown * (1.0 + RISE))
            }
            _ => left,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What becomes of seeds: when how much is done.
    type Events = Vec<(f64, f64)>;

    /// A number from 0 to 1.
    fn draw(state: &mut u64) -> f64 {
        *state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*state >> 11) as f64 / (1u64 << 53) as f64
    }

    /// How seeds run: some at once, which share a processor, each in rounds that take time by its
    /// length; later ones may take longer, and each may be the last.
    #[derive(Debug, Clone, Copy)]
    struct Runs {
        seeds: usize,
        rounds: u32,
        at_once: usize,
        ends: f64,
        slower: f64,
        spread: f64,
        state: u64,
    }

    impl Runs {
        fn events(mut self) -> (Events, f64) {
            let of = f64::from(self.rounds) * self.seeds as f64;
            // What is left of the round, its number, and the seed's length.
            let mut running: Vec<(f64, u32, f64)> = Vec::new();
            let (mut now, mut done, mut events) = (0.0, 0.0, vec![(0.0, 0.0)]);
            loop {
                while running.len() < self.at_once && self.seeds > 0 {
                    self.seeds -= 1;
                    let length = (self.spread * (draw(&mut self.state) - 0.5)).exp();
                    running.push((length, 1, length));
                }
                let rests = running.iter().map(|of| of.0).enumerate();
                let Some((next, rest)) = rests.min_by(|a, b| a.1.total_cmp(&b.1)) else {
                    return (events, of);
                };
                now += rest * running.len() as f64;
                running.iter_mut().for_each(|of| of.0 -= rest);
                let (_, round, length) = running[next];
                let is_last = round == self.rounds || draw(&mut self.state) < self.ends;
                done += if is_last { f64::from(self.rounds - round + 1) } else { 1.0 };
                events.push((now, done));
                if is_last {
                    running.swap_remove(next);
                } else {
                    running[next] = (length * self.slower.powi(round as i32), round + 1, length);
                }
            }
        }
    }

    fn runs() -> impl Strategy<Value = Runs> {
        let numbers =
            (1..400usize, 1..11u32, 1..64usize, 0.0..0.6, 0.5..2.0, 0.0..3.0, any::<u64>());
        numbers.prop_map(|(seeds, rounds, at_once, ends, slower, spread, state)| Runs {
            seeds,
            rounds,
            at_once,
            ends,
            slower,
            spread,
            state,
        })
    }

    /// What is drawn of events, at moments that are some time apart, and at their end: share done,
    /// seconds left, the moment.
    fn drawn((events, of): &(Events, f64), mut pause: impl FnMut() -> f64) -> Vec<(f64, f64, f64)> {
        let (mut estimator, mut drawn, mut next) = (Estimator::default(), Vec::new(), 0.0);
        let seconds = Duration::from_secs_f64;
        let mut draw = |estimator: &mut Estimator, now: f64| {
            if let Some(left) = estimator.left(seconds(now)) {
                drawn.push((estimator.share(), left.as_secs_f64(), now));
            }
        };
        for (at, done) in events {
            while next < *at {
                draw(&mut estimator, next);
                next += pause();
            }
            estimator.note(seconds(*at), *done, *of);
        }
        draw(&mut estimator, events[events.len() - 1].0);
        drawn
    }

    proptest! {
        #[test]
        fn after_a_twentieth_of_the_work_it_never_jumps_up_and_it_ends_at_all(
            runs in runs(), pauses in prop::collection::vec(0.05..90.0f64, 1..8),
        ) {
            let mut pauses = pauses.into_iter().cycle();
            let drawn = drawn(&runs.events(), || pauses.next().unwrap());
            for pair in drawn.windows(2).filter(|pair| pair[0].0 >= STEADY) {
                prop_assert!(pair[1].1 <= pair[0].1 * (1.0 + RISE) + 1e-6, "{:?}", pair);
            }
            let (share, left, _) = drawn[drawn.len() - 1];
            prop_assert_eq!((share, left), (1.0, 0.0));
        }
    }

    /// The estimates of even work, by the share that is done, as parts of what was left.
    fn accuracy(runs: Runs) -> Vec<(f64, f64)> {
        let events = runs.events();
        let end = events.0[events.0.len() - 1].0;
        let drawn = drawn(&events, || end / 1000.0);
        drawn
            .into_iter()
            .filter(|of| of.0 < 0.85)
            .map(|(share, left, at)| (share, left / (end - at)))
            .collect()
    }

    #[test]
    fn it_is_near_what_was_left_where_work_is_even() {
        for state in 0..20 {
            let runs = Runs {
                seeds: 200,
                rounds: 3,
                at_once: 32,
                ends: 0.1,
                slower: 1.0,
                spread: 1.0,
                state,
            };
            let of = accuracy(runs);
            let (steady, later): (Vec<_>, Vec<_>) =
                of.into_iter().filter(|of| of.0 >= 0.1).partition(|of| of.0 < 0.25);
            let worst = |of: &[(f64, f64)], (least, most): (f64, f64)| {
                let far = of.iter().find(|(_, part)| !(least..most).contains(part)).copied();
                assert_eq!(far, None, "of even work {state}");
            };
            worst(&steady, (0.5, 2.0));
            worst(&later, (0.6, 1.6));
        }
    }

    #[test]
    fn work_of_earlier_runs_makes_it_no_faster() {
        let mut estimator = Estimator::default();
        estimator.note(Duration::from_secs(5), 900.0, 1000.0);
        assert_eq!(estimator.left(Duration::from_secs(6)), None);
        estimator.note(Duration::from_secs(15), 910.0, 1000.0);
        assert_eq!(estimator.left(Duration::from_secs(15)), Some(Duration::from_secs(90)));
        assert_eq!(estimator.left(Duration::from_secs(25)), Some(Duration::from_secs(80)));
        assert!((estimator.share() - 0.91).abs() < 1e-9);
    }

    #[test]
    fn what_comes_to_a_halt_does_not_count_down_to_nothing() {
        let mut estimator = Estimator::default();
        for second in 0..=10 {
            estimator.note(Duration::from_secs(second), second as f64, 100.0);
        }
        let left = estimator.left(Duration::from_secs(10_000)).unwrap().as_secs_f64();
        assert!((left - 45.0).abs() < 1.0, "{left}");
    }
}
