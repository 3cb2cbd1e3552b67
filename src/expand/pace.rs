//! How much of a run is behind it, and what the rest takes: rounds of seeds.
//!
//! A seed that ends early has all of its rounds behind it. So what is done grows evenly, however
//! many seeds are in flight, and ends at what is to be done.
//!
//! The time of all is told by a sample of seeds from all over. A measured run takes them to their
//! ends, as many at once as any run does. So neither short rounds nor early ones count for more
//! than their share. A round takes time with the length of its sentence, and is the last of its
//! seed with the same chance each time.

use std::time::Duration;

use super::Shard;

/// A measured run is not longer.
pub(crate) const MEASURED_LONGEST: Duration = Duration::from_secs(60);
/// A measured run takes one seed of so many, a few at least.
const PARTS: usize = 4;
const FEW: usize = 8;
/// More seeds than so many times those in flight say little more.
const FULL: usize = 2;
/// Of a round that is in flight when a measured run is cut, what is taken to be done at most: on
/// the average they are in their middle.
const HALF: f64 = 0.5;
/// What is taken for the chance that a round is the last of its seed, before any is seen; and what
/// that weighs, in rounds that end.
const USUALLY_ENDS: f64 = 0.1;
const USUAL: f64 = 0.5;
/// What a sentence of no letters would weigh: its prompt, its end, what is aligned.
const LEAST: f64 = 16.0;

/// What a sentence adds to the time of its rounds, in letters.
pub(super) fn weight(text: &str) -> f64 {
    LEAST + text.chars().count() as f64
}

/// A run that is made to see how long its rounds take.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Measurement {
    /// The part of the seeds that is meant; `None` for all.
    pub(super) shard: Option<Shard>,
    /// Rounds that came to their end.
    pub(super) rounds: u64,
    /// How long all that is missing takes by these; at least, if none came to its end.
    pub(super) missing: Duration,
}

/// Rounds of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Pace {
    /// Behind the seeds.
    pub(super) done: u64,
    /// In all, of the seeds that this run takes.
    pub(super) of: u64,
    /// What is known of how long they take.
    seen: Seen,
}

impl Pace {
    pub(super) fn of(rounds: u64) -> Self {
        Self { of: rounds, ..Self::default() }
    }

    /// A round of a sentence came to its end after some time. Of the rounds that its seed had
    /// before it, so many are behind it now; none is left if the seed is over.
    pub(super) fn round(&mut self, (weight, took): (f64, Duration), behind: u64, is_over: bool) {
        self.done += behind;
        self.seen.rounds += 1;
        self.seen.weight += weight;
        self.seen.seconds_in_flight += took.as_secs_f64();
        self.seen.ends += u64::from(behind > 1);
        self.seen.before_others += u64::from(behind > 1 || !is_over);
    }

    /// A seed ended between two rounds, or before its first; so many were before it.
    pub(super) fn ended(&mut self, behind: u64, at_once: bool) {
        self.done += behind;
        match at_once {
            true => self.seen.ends_at_once += 1,
            false => self.seen.ends += 1,
        }
    }

    /// A seed has its first round of this run.
    pub(super) fn begun(&mut self) {
        self.seen.begun += 1;
    }

    /// Rounds that ended.
    pub(super) fn rounds(&self) -> u64 {
        self.seen.rounds
    }

    /// How much of a measured run is behind it, in rounds: by those that ended, or by its time.
    pub(super) fn measured(&self, elapsed: Duration) -> u64 {
        let by_time = elapsed.as_secs_f64() / MEASURED_LONGEST.as_secs_f64();
        self.done.max((by_time * self.of as f64) as u64).min(self.of)
    }

    /// Whether a measured run has taken as long as it may.
    pub(super) fn is_enough(elapsed: Duration) -> bool {
        elapsed >= MEASURED_LONGEST
    }

    /// How long rounds take by what was seen within some time, when others were still in flight:
    /// their weights, and for how long. What is missing are the rounds before each seed, and its
    /// weight. Where no round ended, it takes longer than that.
    pub(super) fn forecast(
        &self,
        elapsed: Duration,
        in_flight: impl Iterator<Item = (f64, Duration)>,
        missing: impl Iterator<Item = (u64, f64)>,
    ) -> Duration {
        let Seen { rounds, weight, seconds_in_flight, ends, before_others, begun, ends_at_once } =
            self.seen;
        if rounds == 0 {
            let tried = in_flight.count() as u64 + ends_at_once;
            return elapsed.mul_f64(missing.count() as f64 / tried.max(1) as f64);
        }
        let each_in_flight = seconds_in_flight / weight.max(1.0);
        let part = |(weight, since): (f64, Duration)| {
            let expected = (each_in_flight * weight).max(1e-9);
            weight * (since.as_secs_f64() / expected).min(HALF)
        };
        let done = weight + in_flight.map(part).sum::<f64>();
        // A few rounds do not make it certain that seeds end, or that none does.
        let goes_on = 1.0 - (ends as f64 + USUAL) / (before_others as f64 + USUAL / USUALLY_ENDS);
        let expected: f64 = missing
            .map(|(rounds, weight)| weight * expected_rounds(goes_on, rounds.min(1 << 16)))
            .sum();
        // Those that end at once take no time, and are among what is missing.
        let begin = 1.0 - ends_at_once as f64 / (begun + ends_at_once).max(1) as f64;
        Duration::from_secs_f64(elapsed.as_secs_f64() / done.max(1.0) * expected * begin)
    }
}

/// What was seen of rounds.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Seen {
    rounds: u64,
    /// The weights of their sentences.
    weight: f64,
    /// From the begin of each to its end, beside others.
    seconds_in_flight: f64,
    /// Those that were the last of their seed before their time.
    ends: u64,
    /// Those that had others behind them, if the seed went on.
    before_others: u64,
    /// Seeds that had a round, also one that is in flight.
    begun: u64,
    /// Seeds that ended without a round.
    ends_at_once: u64,
}

/// How many rounds a seed takes that goes on with some chance, and has at most so many before it.
fn expected_rounds(goes_on: f64, rounds: u64) -> f64 {
    let (mut all, mut chance) = (0.0, 1.0);
    for _ in 0..rounds {
        all += chance;
        chance *= goes_on;
    }
    all
}

/// The seeds that a measured run takes, which has at most so many in flight.
pub(super) fn sample<T>(seeds: Vec<T>, in_flight: usize) -> Vec<T> {
    let size = sample_size(seeds.len(), in_flight);
    spread(seeds).into_iter().take(size).collect()
}

fn sample_size(seeds: usize, in_flight: usize) -> usize {
    seeds.div_ceil(PARTS).min(FULL * in_flight).max(FEW).min(seeds)
}

/// The order in which a measured run takes seeds: those that come first are spread evenly over all.
pub(crate) fn spread<T>(seeds: Vec<T>) -> Vec<T> {
    // Steps of the golden ratio are spread evenly however many they are.
    let place = |number: usize| (number as f64 * 0.618_033_988_749_894_9).fract();
    let mut numbered: Vec<(f64, T)> =
        seeds.into_iter().enumerate().map(|(number, seed)| (place(number), seed)).collect();
    numbered.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    numbered.into_iter().map(|(_, seed)| seed).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn what_ends_early_has_all_its_rounds_behind_it() {
        let mut pace = Pace::of(6);
        pace.round((1.0, SECOND), 1, false);
        pace.round((1.0, SECOND), 2, true);
        pace.ended(3, true);
        assert_eq!((pace.done, pace.of, pace.rounds()), (6, 6, 2));
    }

    #[test]
    fn a_forecast_is_the_time_by_weight() {
        let mut pace = Pace::of(100);
        pace.begun();
        // Ten rounds of weight 20 in 10 s, one after the other.
        (0..10).for_each(|_| pace.round((20.0, SECOND), 1, true));
        let of = |pace: &Pace, seconds: u32, missing: (u64, f64)| {
            pace.forecast(seconds * SECOND, [].into_iter(), [missing].into_iter()).as_secs_f64()
        };
        assert!((of(&pace, 10, (1, 40.0)) - 2.0).abs() < 1e-9);
        // Half a round more was done in the same time.
        let half = [(20.0, SECOND / 2)].into_iter();
        let seconds = pace.forecast(10 * SECOND, half, [(1, 20.0)].into_iter()).as_secs_f64();
        assert!((seconds - 10.0 / 10.5).abs() < 1e-9, "{seconds}");
        // Half of all that are begun end at once.
        pace.ended(3, true);
        assert!((of(&pace, 10, (1, 40.0)) - 1.0).abs() < 1e-9);
    }

    /// Seeds of some rounds, 32 of which share a processor: how long they take, and if they are
    /// measured, what is forecast for all where that ends.
    fn simulated(
        (seeds, rounds): (&[f64], u64),
        ends: f64,
        is_measured: bool,
        state: &mut u64,
    ) -> (f64, f64) {
        let mut draw = || draw(state);
        let seconds = Duration::from_secs_f64;
        let missing: Vec<(u64, f64)> = seeds.iter().map(|weight| (rounds, *weight)).collect();
        let taken = seeds.to_vec();
        let taken = if is_measured { sample(taken, 32) } else { taken };
        let mut pace = Pace::of(rounds * taken.len() as u64);
        let mut waiting = taken.into_iter();
        // What is left of a round, the round, its seed's weight, when it began.
        let mut running: Vec<(f64, u64, f64, f64)> = Vec::new();
        let mut now = 0.0;
        loop {
            while running.len() < 32 {
                let Some(weight) = waiting.next() else { break };
                pace.begun();
                running.push((weight * (0.6 + 0.8 * draw()), 1, weight, now));
            }
            let next = (0..running.len()).min_by(|a, b| running[*a].0.total_cmp(&running[*b].0));
            let is_cut = is_measured && Pace::is_enough(seconds(now));
            let Some(next) = next.filter(|_| !is_cut) else {
                let in_flight = running.iter().map(|of| (of.2, seconds(now - of.3)));
                let forecast = pace.forecast(seconds(now), in_flight, missing.into_iter());
                return (now, forecast.as_secs_f64());
            };
            let (rest, round, weight, since) = running[next];
            // A processor does somewhat less for one sentence than for many.
            now += 0.001 * rest * (running.len() as f64 + 4.0);
            running.iter_mut().for_each(|of| of.0 -= rest);
            let is_last = round == rounds || draw() < ends;
            pace.round(
                (weight, seconds(now - since)),
                if is_last { rounds + 1 - round } else { 1 },
                is_last,
            );
            match is_last {
                true => drop(running.swap_remove(next)),
                false => running[next] = (weight * (0.6 + 0.8 * draw()), round + 1, weight, now),
            }
        }
    }

    fn draw(state: &mut u64) -> f64 {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(0x1234_5677);
        (*state >> 11) as f64 / (1u64 << 53) as f64
    }

    #[test]
    fn a_forecast_is_within_a_third_of_the_time_of_200_seeds() {
        let state = &mut 7;
        for rounds in [1, 3] {
            for ends in [0.0, 0.05, 0.1, 0.2, 0.3] {
                let mut far = 0;
                for _ in 0..100 {
                    let seeds: Vec<f64> = (0..200)
                        .map(|_| LEAST + 20.0 + 250.0 * draw(state) * draw(state))
                        .collect();
                    let (all, _) = simulated((&seeds, rounds), ends, false, state);
                    let (after, forecast) = simulated((&seeds, rounds), ends, true, state);
                    assert!(after <= 0.4 * all, "{rounds} {ends}: {after} of {all}");
                    far += u32::from(!(0.7..1.3).contains(&(forecast / all)));
                }
                assert!(far <= 5, "{rounds} {ends}: {far} of 100 are far off");
            }
        }
    }

    #[test]
    fn a_measured_run_is_cut_after_a_minute() {
        let mut pace = Pace::of(96);
        pace.round((20.0, SECOND), 3, true);
        assert_eq!([0, 30, 61].map(|at| pace.measured(at * SECOND)), [3, 48, 96]);
        assert_eq!([59, 60].map(|at| Pace::is_enough(at * SECOND)), [false, true]);
        // Rounds that are in flight then are in their middle.
        let in_flight = [(20.0, 60 * SECOND); 2].into_iter();
        let forecast = pace.forecast(60 * SECOND, in_flight, [(1, 20.0)].into_iter());
        assert_eq!(forecast, 30 * SECOND);
        // Of no round that ended nothing is known but that all take longer.
        let missing = [(3, 20.0), (3, 60.0)].into_iter();
        let forecast =
            Pace::of(96).forecast(60 * SECOND, [(20.0, 60 * SECOND)].into_iter(), missing);
        assert_eq!(forecast, 120 * SECOND);
    }

    #[test]
    fn a_sample_is_a_part_of_few_seeds_and_twice_what_is_in_flight_of_many() {
        assert_eq!([200, 153, 20, 3].map(|seeds| sample_size(seeds, 32)), [50, 39, 8, 3]);
        assert_eq!(
            [(9000, 32), (9000, 512), (100, 1)].map(|(n, most)| sample_size(n, most)),
            [64, 1024, 8]
        );
    }

    #[test]
    fn seeds_are_spread_evenly() {
        let order = spread((0..1000).collect::<Vec<u32>>());
        assert_eq!(order.iter().copied().collect::<std::collections::BTreeSet<_>>().len(), 1000);
        for tenth in 0..10 {
            let of_tenth = order[..50].iter().filter(|seed| **seed / 100 == tenth).count();
            assert!((3..=7).contains(&of_tenth), "{tenth}: {of_tenth}");
        }
        assert_eq!(spread(vec![7]), [7]);
    }
}
