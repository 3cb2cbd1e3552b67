//! Whether a group of sets keeps a promise, by bets against it.
//!
//! Somebody bets, before each judgement, that the set is right, at odds that are fair or worse as
//! long as the promise is broken. Their wealth grows beyond `1 / alpha` with a probability of at
//! most `alpha` then, however many judgements are made and whenever one stops (Ville 1939). So a
//! reviewer may look after each judgement. The bets know that each set is drawn once: what is left
//! of a broken promise is worse after right ones (Waudby-Smith and Ramdas 2024, section 4.2,
//! sampling without replacement).

/// Shares of the largest stake that cannot ruin the one who bets. The wealth is shared among them,
/// since the best stake is not known beforehand.
const STAKES: [f64; 4] = [0.2, 0.4, 0.6, 0.8];

/// Steps of the search for a bound: far finer than what it is worth.
const STEPS: usize = 30;

/// Bets against the claim that less than a share of some sets is right.
#[derive(Debug, Clone)]
pub(super) struct Bets {
    /// The sets.
    sets: f64,
    /// The share.
    promised: f64,
    judged: u64,
    right: u64,
    /// Logarithms of the wealth of each stake, its first unit being 1.
    wealth: [f64; STAKES.len()],
    /// The highest logarithm of the mean wealth so far.
    highest: f64,
}

impl Bets {
    pub(super) fn new(sets: usize, promised: f64) -> Self {
        let wealth = [0.0; STAKES.len()];
        Self { sets: sets as f64, promised, judged: 0, right: 0, wealth, highest: 0.0 }
    }

    /// Takes the next set of a random order.
    pub(super) fn take(&mut self, is_right: bool) {
        let left = self.sets - self.judged as f64;
        let ahead = self.right as f64 - self.promised * self.judged as f64;
        // If the promise is broken, right sets have at most this share of what is left.
        let worst = self.promised - ahead / left;
        self.judged += 1;
        self.right += u64::from(is_right);
        if worst <= 0.0 || self.right as f64 >= self.promised * self.sets {
            self.highest = f64::INFINITY;
            return;
        }
        let gain = f64::from(u8::from(is_right)) - worst;
        for (wealth, stake) in self.wealth.iter_mut().zip(STAKES) {
            *wealth += (stake * gain / worst).ln_1p();
        }
        self.highest = self.highest.max(self.now());
    }

    /// Logarithm of the mean wealth.
    pub(super) fn now(&self) -> f64 {
        let most = self.wealth.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = self.wealth.iter().map(|wealth| (wealth - most).exp()).sum();
        most + (sum / STAKES.len() as f64).ln()
    }

    /// Whether the promise is kept, with an error of at most `alpha`.
    pub(super) fn are_won(&self, alpha: f64) -> bool {
        self.highest >= -alpha.ln()
    }

    pub(super) fn judged(&self) -> u64 {
        self.judged
    }

    pub(super) fn right(&self) -> u64 {
        self.right
    }
}

/// Lower bound of the share of right sets among so many, by the judgements of a random order; it
/// holds with an error of at most `alpha`, whenever one stops.
pub(super) fn lower_bound(judged: &[bool], sets: usize, alpha: f64) -> f64 {
    let keeps = |share: f64| {
        let mut bets = Bets::new(sets, share);
        judged.iter().for_each(|is_right| bets.take(*is_right));
        bets.are_won(alpha)
    };
    let right = judged.iter().filter(|is_right| **is_right).count() as f64;
    let wrong = judged.len() as f64 - right;
    // What is known for sure stands at both ends.
    let (mut low, mut high) = (right / sets as f64, 1.0 - wrong / sets as f64);
    for _ in 0..STEPS {
        let middle = low.midpoint(high);
        if keeps(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::super::plan::drawn;
    use super::*;
    use crate::model::{AnnotationSetId, IdSpace};

    /// Judgements of so many sets, so many of them right, in random order.
    fn shuffled(sets: usize, right: usize, seed: u64) -> Vec<bool> {
        let mut order: Vec<usize> = (0..sets).collect();
        let id = |at: usize| AnnotationSetId::new(IdSpace::Generated, at as u64);
        order.sort_by_cached_key(|at| drawn(seed, id(*at)));
        order.into_iter().map(|at| at < right).collect()
    }

    fn all_of(judged: &[bool], sets: usize, promised: f64) -> Bets {
        let mut bets = Bets::new(sets, promised);
        judged.iter().for_each(|is_right| bets.take(*is_right));
        bets
    }

    #[test]
    fn a_broken_promise_wins_seldom_whenever_one_stops() {
        let won = (0..2_000).filter(|seed| {
            // 899 of 1,000 are right: just less than is promised.
            all_of(&shuffled(1_000, 899, *seed)[..600], 1_000, 0.9).are_won(0.05)
        });
        let won = won.count();
        assert!(won <= 120, "{won} of 2,000 at 5 %");
    }

    #[test]
    fn a_promise_that_is_kept_with_room_to_spare_is_won_by_a_few_hundred() {
        let won = (0..200)
            .filter(|seed| all_of(&shuffled(5_000, 4_850, *seed)[..250], 5_000, 0.9).are_won(0.05));
        assert!(won.count() >= 190);
    }

    #[test]
    fn all_judged_is_known_for_sure() {
        assert!(all_of(&shuffled(20, 18, 3), 20, 0.9).are_won(1e-9));
        assert!(!all_of(&shuffled(20, 17, 3), 20, 0.9).are_won(1e-9));
        let bound = lower_bound(&shuffled(20, 17, 3), 20, 0.05);
        assert!((bound - 0.85).abs() < 1e-6, "{bound}");
    }

    #[test]
    fn a_lower_bound_lies_below_the_share_that_was_seen_and_grows_with_judgements() {
        let judged = shuffled(2_000, 1_900, 9);
        let few = lower_bound(&judged[..100], 2_000, 0.05);
        let many = lower_bound(&judged[..1_000], 2_000, 0.05);
        assert!(few < many && many < 0.95 + 0.03, "{few} {many}");
        assert!(few > 0.8, "{few}");
        assert_eq!(lower_bound(&[], 2_000, 0.05), 0.0);
    }
}
