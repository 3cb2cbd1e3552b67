//! Dynamic beam allocation: sharing out a beam among hypotheses that have met different numbers of
//! constraints.
//!
//! Left to their scores, hypotheses that have written a required word early lose to those that put
//! it off, and the beam never comes to it. So candidates are put into *banks* by what they still
//! have to write, and each bank gets its share of the beam:
//!
//! 1. candidates are (a) the best over all hypotheses, (b) of every hypothesis each token that
//!    brings it nearer to something required, (c) the best continuation of each hypothesis;
//! 2. they are sorted by unmet constraint tokens, then by score, and numbered within each bank: the
//!    *step*;
//! 3. sorted again by step, then by unmet, the first of them fill the beam: the best of every bank,
//!    then the second best of every bank, and so on.
//!
//! Keys are compared one after the other and never added up, so no score can lift a hypothesis into
//! another bank.
//!
//! Post and Vilar (2018), Fast lexically constrained decoding with dynamic beam allocation. The
//! sorted form is that of Hu et al. (2019), Improved lexically constrained decoding for translation
//! and monolingual rewriting, section 3.3 and figure 3.

use super::constraint::ConstraintState;
use crate::engine::nn::Candidate;

/// A candidate with what decides about its place.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Ranked {
    pub(super) candidate: Candidate,
    /// Sum of log-probabilities, this candidate's token included.
    pub(super) score: f32,
    /// Constraint tokens left to write after it.
    pub(super) unmet: u32,
    /// The state after it.
    pub(super) state: ConstraintState,
}

/// The first `size` candidates of the beam, in the order that fills it. Candidates that occur more
/// than once count once; equal scores go to the lower parent, then the lower token.
pub(super) fn allocate(mut candidates: Vec<Ranked>, size: usize) -> Vec<Ranked> {
    let key = |ranked: &Ranked| (ranked.candidate.parent, ranked.candidate.token);
    candidates.sort_unstable_by_key(key);
    candidates.dedup_by_key(|ranked| key(ranked));
    // Stable sorts: candidates that tie stay in the order of parents and tokens.
    candidates.sort_by(|a, b| a.unmet.cmp(&b.unmet).then(b.score.total_cmp(&a.score)));
    let mut stepped: Vec<(usize, Ranked)> = candidates
        .chunk_by(|a, b| a.unmet == b.unmet)
        .flat_map(|bank| bank.iter().copied().enumerate())
        .collect();
    stepped.sort_by_key(|(step, ranked)| (*step, ranked.unmet));
    stepped.into_iter().take(size).map(|(_, ranked)| ranked).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn ranked(token: u32, unmet: u32, score: f32) -> Ranked {
        let candidate = Candidate { parent: 0, token, log_prob: score };
        Ranked { candidate, score, unmet, state: ConstraintState::default() }
    }

    fn tokens(candidates: &[Ranked]) -> Vec<u32> {
        candidates.iter().map(|ranked| ranked.candidate.token).collect()
    }

    #[test]
    fn the_beam_of_figure_3_is_filled_bank_by_bank() {
        // Sentence 1 of the figure has 2, 4, 3, 1, 2 and 3 candidates with 0, 1, 2, 3, 4 and 5
        // unmet tokens. The beam holds 7.
        let unmet = [0, 0, 1, 1, 1, 1, 2, 2, 2, 3, 4, 4, 5, 5, 5];
        let candidates: Vec<Ranked> =
            (0u32..).zip(unmet).map(|(at, unmet)| ranked(at, unmet, -(at as f32))).collect();
        assert_eq!(tokens(&allocate(candidates, 7)), [0, 2, 6, 9, 10, 12, 1]);
    }

    #[test]
    fn a_score_far_worse_than_100_stays_in_its_bank() {
        let candidates = vec![ranked(1, 0, -150.0), ranked(2, 1, -1.0), ranked(3, 1, -2.0)];
        assert_eq!(tokens(&allocate(candidates, 2)), [1, 2]);
    }

    #[test]
    fn the_same_candidate_from_two_sources_counts_once() {
        let candidates = vec![ranked(4, 0, -1.0), ranked(2, 0, -1.0), ranked(4, 0, -1.0)];
        assert_eq!(tokens(&allocate(candidates, 9)), [2, 4]);
    }

    proptest! {
        #[test]
        fn without_anything_required_the_best_scores_stay(
            scores in prop::collection::vec(-9i8..0, 0..30), size in 0usize..12,
        ) {
            let mut candidates: Vec<Ranked> =
                (0u32..).zip(&scores).map(|(at, &score)| ranked(at, 0, score.into())).collect();
            let kept = allocate(candidates.clone(), size);
            candidates.sort_by(|a, b| b.score.total_cmp(&a.score));
            candidates.truncate(size);
            prop_assert_eq!(kept, candidates);
        }

        #[test]
        fn every_bank_has_its_share(
            banks in prop::collection::vec((0u32..4, -9i8..0), 1..40), size in 1usize..12,
        ) {
            let candidates: Vec<Ranked> = (0u32..)
                .zip(&banks)
                .map(|(at, &(unmet, score))| ranked(at, unmet, score.into()))
                .collect();
            let kept = allocate(candidates.clone(), size);
            prop_assert_eq!(kept.len(), size.min(candidates.len()));
            let count = |all: &[Ranked], unmet| all.iter().filter(|r| r.unmet == unmet).count();
            for a in 0..4 {
                for b in 0..4 {
                    // A bank that gives fewer than another has none left, but for the last round.
                    if count(&kept, a) + 1 < count(&kept, b) {
                        prop_assert_eq!(count(&kept, a), count(&candidates, a));
                    }
                }
            }
        }
    }
}
