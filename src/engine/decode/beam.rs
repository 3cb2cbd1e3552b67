//! Beam search for one source.
//!
//! Every step takes the `2 * beam_size` best continuations of all open hypotheses by score. Those
//! that end and stand among the first `beam_size` join the finished outputs; the best `beam_size`
//! that do not end stay open. Twice the beam is taken because at most half of the continuations can
//! end, so the beam stays full. At the length limit every continuation counts as finished, though
//! it has not ended. This is the search of `generate(num_beams=..)` in Hugging Face transformers
//! (`generation/utils.py`, `_beam_search`, read at 5.23); where that keeps placeholders of score
//! -1e9, this keeps nothing.
//!
//! When something is required, the continuations are those of dynamic beam allocation, in its order
//! (`allocation.rs`); nothing ends before everything is there. Outputs that meet all are given back
//! alone. If the length limit leaves none, the others are, those with the fewest constraint tokens
//! to write first; each says what it lacks.
//!
//! Invariants: equal scores keep the order of lower parent, then lower token, so a search has one
//! result. The search of one source never sees another one.

use super::allocation::{Ranked, allocate};
use super::constraint::{Blocked, Constraint, ConstraintState, Unions};
use super::coverage::Coverage;
use super::job::NetworkTokens;
use super::settings::{BeamSettings, Stopping};
use crate::engine::nn::{Candidate, RowMask, SlotCandidates, SlotId, StepRow};

/// An output of a search.
#[derive(Debug, Clone, PartialEq)]
pub struct Hypothesis {
    /// Token ids without the start token, with the end token if `ended`.
    pub tokens: Vec<u32>,
    /// Sum of the log-probabilities of the tokens (natural log) under the unmasked network, or as
    /// [`BeamSettings::renormalize`] asks for.
    pub score: f32,
    /// The score that ranks it: higher is better.
    pub normalized_score: f32,
    /// Whether it ends in the end token; if not, it was cut at the length limit.
    pub ended: bool,
    /// What is required and does not occur in it, as places in the constraint (see
    /// [`Constraint::unmet`]). For whatever ended it holds no more than what no token can spell.
    pub unmet: Vec<usize>,
}

impl Hypothesis {
    /// Mean negative log-likelihood per token (natural log, the end counted): lower is better.
    /// This is the *paraphrase score*; it does not depend on the length penalty that ranked.
    #[must_use]
    pub fn mean_negative_log_likelihood(&self) -> f32 {
        -self.score / self.tokens.len() as f32
    }
}

/// Why a search ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// No open hypothesis was expected to beat the finished ones.
    Settled,
    /// The outputs reached the length limit.
    LengthLimit,
    /// Bans left no open hypothesis a continuation. Outputs that finished before are kept; there
    /// may be none.
    Blocked,
}

/// A search in progress.
#[derive(Debug)]
pub(super) struct BeamSearch {
    settings: BeamSettings,
    constraint: Constraint,
    eos_token: u32,
    /// Longest output in tokens.
    max_length: usize,
    /// Tokens of open hypotheses, each with the place of the one before it.
    trail: Vec<(u32, Option<u32>)>,
    open: Vec<Open>,
    /// Best first, at most `outputs_wanted`.
    finished: Vec<Finished>,
    steps: usize,
    /// Lists of blocked tokens that were made for some state.
    unions: Unions,
}

/// An output with the constraint tokens that it lacks.
#[derive(Debug)]
struct Finished {
    left: u32,
    hypothesis: Hypothesis,
}

/// An open hypothesis.
#[derive(Debug, Clone)]
struct Open {
    /// Index among the open hypotheses of the step before.
    parent: Option<u32>,
    token: u32,
    /// Place of `token` in the trail; the start token has none.
    place: Option<u32>,
    score: f32,
    state: ConstraintState,
    coverage: Coverage,
}

impl BeamSearch {
    pub(super) fn new(
        settings: BeamSettings,
        constraint: Constraint,
        NetworkTokens { start, eos, .. }: NetworkTokens,
        max_length: usize,
    ) -> Self {
        let state = constraint.start(start);
        let start = Open {
            parent: None,
            token: start,
            place: None,
            score: 0.0,
            state,
            coverage: Coverage::default(),
        };
        Self {
            settings,
            constraint,
            eos_token: eos,
            max_length,
            trail: Vec::new(),
            open: vec![start],
            finished: Vec::new(),
            steps: 0,
            unions: Unions::default(),
        }
    }

    pub(super) fn beam_size(&self) -> usize {
        self.settings.beam_size
    }

    pub(super) fn eos_token(&self) -> u32 {
        self.eos_token
    }

    /// Whether something must occur in the outputs.
    pub(super) fn requires(&self) -> bool {
        self.constraint.requires()
    }

    /// Whether answers must hold the attention of the rows.
    pub(super) fn wants_attention(&self) -> bool {
        self.settings.coverage_penalty > 0.0
    }

    /// Continuations that one step needs.
    pub(super) fn candidates_wanted(&self) -> usize {
        2 * self.settings.beam_size
    }

    /// Steps taken.
    pub(super) fn steps(&self) -> usize {
        self.steps
    }

    /// Appends this search's rows and their masks to those of a step.
    pub(super) fn write_step(
        &mut self,
        slot: SlotId,
        rows: &mut Vec<StepRow>,
        masks: &mut Vec<RowMask>,
    ) {
        for at in 0..self.open.len() {
            let Open { parent, token, score, state, .. } = self.open[at];
            let row = u32::try_from(rows.len()).expect("a step has fewer than 2^32 rows");
            masks.extend(self.mask(state, row));
            rows.push(StepRow { slot, parent, token, score });
        }
    }

    fn mask(&mut self, state: ConstraintState, row: u32) -> Option<RowMask> {
        let renormalize = self.settings.renormalize;
        let free = RowMask { row, eos_allowed: true, renormalize, ..RowMask::default() };
        if let Some(&token) = self.constraint.prefix.get(self.steps) {
            return Some(RowMask { extra: vec![token], ..free });
        }
        let blocked = self.constraint.blocked_in(state, self.eos_token, &mut self.unions);
        let mut extra = self.constraint.proposals(state);
        let Some(Blocked { tokens: banned, may_end: eos_allowed }) = blocked else {
            return (!extra.is_empty()).then_some(RowMask { extra, ..free });
        };
        extra.retain(|token| banned.binary_search(token).is_err());
        Some(RowMask { banned, extra, eos_allowed, ..free })
    }

    /// The continuations that count in this step, best first.
    fn select(&self, answer: &SlotCandidates) -> Vec<Ranked> {
        let ranked = |candidate: &Candidate| {
            let parent = &self.open[candidate.parent as usize];
            let state = self.constraint.advance(parent.state, candidate.token);
            let score = parent.score + candidate.log_prob;
            Ranked { candidate: *candidate, score, unmet: self.constraint.left(state), state }
        };
        if self.steps < self.constraint.prefix.len() {
            return answer.extra.iter().map(ranked).collect();
        }
        let best = answer.best.iter().take(self.candidates_wanted());
        if !self.constraint.requires() {
            return best.map(ranked).collect();
        }
        let candidates = best.chain(&answer.extra).chain(&answer.first).map(ranked).collect();
        allocate(candidates, self.candidates_wanted())
    }

    /// Takes the network's answer to a step and says whether the search is over.
    pub(super) fn advance(&mut self, answer: &SlotCandidates) -> Option<Stop> {
        let candidates = self.select(answer);
        if self.wants_attention() {
            self.cover(&answer.attention);
        }
        self.steps += 1;
        let at_limit = self.steps >= self.max_length;
        let beam_size = self.settings.beam_size;
        let mut open = Vec::with_capacity(beam_size);
        for (rank, ranked) in candidates.iter().enumerate() {
            let ended = ranked.candidate.token == self.eos_token;
            if ended || at_limit {
                // A word that is banned as a whole may stand at a cut, where no letter follows.
                if rank < beam_size && (ended || self.constraint.may_be_cut(ranked.state)) {
                    self.finish(ranked, ended);
                }
            } else if open.len() < beam_size {
                open.push(self.extend(ranked));
            }
        }
        self.open = open;
        self.prune();
        if at_limit {
            Some(Stop::LengthLimit)
        } else if self.is_settled() {
            Some(Stop::Settled)
        } else if self.open.is_empty() {
            Some(Stop::Blocked)
        } else {
            None
        }
    }

    /// The best outputs, best first: those that meet all that is required, else all.
    pub(super) fn into_hypotheses(mut self) -> Vec<Hypothesis> {
        let is_met = |finished: &Finished| finished.left == 0;
        if self.finished.first().is_some_and(is_met) {
            self.finished.retain(is_met);
        }
        self.finished.truncate(self.settings.n_best);
        self.finished.into_iter().map(|finished| finished.hypothesis).collect()
    }

    fn extend(&mut self, ranked: &Ranked) -> Open {
        let Candidate { parent, token, .. } = ranked.candidate;
        let place = u32::try_from(self.trail.len()).expect("a search is under 2^32 tokens");
        self.trail.push((token, self.open[parent as usize].place));
        let (score, state) = (ranked.score, ranked.state);
        let coverage = self.open[parent as usize].coverage.clone();
        Open { parent: Some(parent), token, place: Some(place), score, state, coverage }
    }

    /// Adds a step's attention to the coverage of the open hypotheses.
    fn cover(&mut self, attention: &[Vec<f32>]) {
        assert_eq!(attention.len(), self.open.len(), "attention was asked for of every row");
        for (open, looked) in self.open.iter_mut().zip(attention) {
            open.coverage.add(looked);
        }
    }

    fn finish(&mut self, ranked: &Ranked, ended: bool) {
        let Ranked { candidate, score, state, .. } = *ranked;
        let coverage = self.open[candidate.parent as usize].coverage.log();
        let normalized_score = self.settings.length_penalty.normalize(score, self.steps)
            + self.settings.coverage_penalty * coverage;
        let unmet = self.constraint.unmet(state);
        let left = if self.constraint.is_met_at_cut(state) { 0 } else { ranked.unmet.max(1) };
        // After all that are at least as good: of equals, the one that finished first is better.
        let at = self.finished.partition_point(|other| {
            let by_score = other.hypothesis.normalized_score >= normalized_score;
            other.left < left || other.left == left && by_score
        });
        let wanted = self.settings.outputs_wanted();
        if at < wanted {
            let place = self.open[candidate.parent as usize].place;
            let tokens = self.tokens(place, candidate.token);
            let hypothesis = Hypothesis { tokens, score, normalized_score, ended, unmet };
            self.finished.insert(at, Finished { left, hypothesis });
            self.finished.truncate(wanted);
        }
    }

    /// Drops open hypotheses that are too far behind the best finished output.
    fn prune(&mut self) {
        let (Some(best), true) = (self.finished.first(), self.settings.prune_threshold > 0.0)
        else {
            return;
        };
        let bar = best.hypothesis.normalized_score - self.settings.prune_threshold;
        self.open.retain(|open| open.score >= bar);
    }

    fn tokens(&self, mut place: Option<u32>, last: u32) -> Vec<u32> {
        let mut tokens = vec![last];
        while let Some(at) = place {
            let (token, before) = self.trail[at as usize];
            tokens.push(token);
            place = before;
        }
        tokens.reverse();
        tokens
    }

    /// Whether the finished outputs are taken to be final.
    fn is_settled(&self) -> bool {
        let (Some(worst), true) =
            (self.finished.last(), self.finished.len() == self.settings.outputs_wanted())
        else {
            return false;
        };
        let Some(best_open) = self.open.iter().map(|open| open.score).max_by(f32::total_cmp) else {
            return true;
        };
        // The penalty of coverage only ever lowers a score, so it is left out of what is possible.
        let best_at = |length| self.settings.length_penalty.normalize(best_open, length);
        let bound = match self.settings.stopping {
            Stopping::FirstFull => return true,
            Stopping::Heuristic => best_at(self.steps),
            Stopping::Exhaustive => {
                (self.steps..=self.max_length).map(best_at).fold(f32::NEG_INFINITY, f32::max)
            }
        };
        bound <= worst.hypothesis.normalized_score
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EOS: u32 = 0;

    fn search(beam_size: usize, max_length: usize) -> BeamSearch {
        let settings = BeamSettings { beam_size, n_best: beam_size, ..BeamSettings::default() };
        let tokens = NetworkTokens { start: 9, eos: EOS, vocab_size: 10 };
        BeamSearch::new(settings, Constraint::default(), tokens, max_length)
    }

    fn answer(best: &[Candidate]) -> SlotCandidates {
        let (best, attention) = (best.to_vec(), vec![]);
        SlotCandidates { slot: SlotId(5), best, extra: vec![], first: vec![], attention }
    }

    fn candidate(parent: u32, token: u32, log_prob: f32) -> Candidate {
        Candidate { parent, token, log_prob }
    }

    #[test]
    fn an_end_outside_the_first_beam_is_no_output() {
        let mut search = search(2, 9);
        let candidates = [
            candidate(0, 1, -0.1),
            candidate(0, 2, -0.2),
            candidate(0, EOS, -0.3),
            candidate(0, 3, -0.4),
        ];
        assert_eq!(search.advance(&answer(&candidates)), None);
        assert!(search.finished.is_empty());
        assert_eq!(search.open.iter().map(|open| open.token).collect::<Vec<_>>(), [1, 2]);
    }

    #[test]
    fn the_beam_stays_full_when_all_of_its_first_half_ends() {
        let mut search = search(2, 9);
        search.advance(&answer(&[candidate(0, 1, -0.1), candidate(0, 2, -0.2)]));
        let candidates = [
            candidate(0, EOS, -0.1),
            candidate(1, EOS, -0.1),
            candidate(0, 3, -2.0),
            candidate(1, 3, -2.0),
        ];
        assert_eq!(search.advance(&answer(&candidates)), Some(Stop::Settled));
        assert_eq!(search.open.len(), 2);
        let outputs = search.into_hypotheses();
        assert_eq!(outputs[0].tokens, [1, EOS]);
        assert!(outputs[0].ended);
    }

    #[test]
    fn at_the_limit_open_hypotheses_are_given_back_as_not_ended() {
        let mut search = search(1, 2);
        assert_eq!(search.advance(&answer(&[candidate(0, 1, -0.5), candidate(0, 2, -1.0)])), None);
        let stop = search.advance(&answer(&[candidate(0, 2, -0.5), candidate(0, EOS, -1.0)]));
        assert_eq!(stop, Some(Stop::LengthLimit));
        let outputs = search.into_hypotheses();
        assert_eq!(outputs[0].tokens, [1, 2]);
        assert!(!outputs[0].ended);
        assert_eq!(outputs[0].mean_negative_log_likelihood(), 0.5);
    }

    #[test]
    fn nothing_left_to_say_is_reported() {
        let mut search = search(2, 9);
        assert_eq!(search.advance(&answer(&[])), Some(Stop::Blocked));
        assert!(search.into_hypotheses().is_empty());
    }

    #[test]
    fn rows_name_parents_among_the_rows_before() {
        let mut search = search(2, 9);
        search.advance(&answer(&[candidate(0, 1, -0.1), candidate(0, 2, -0.2)]));
        search.advance(&answer(&[candidate(1, 3, -0.1), candidate(1, 4, -0.2)]));
        let (mut rows, mut masks) = (Vec::new(), Vec::new());
        search.write_step(SlotId(5), &mut rows, &mut masks);
        assert_eq!(rows.iter().map(|row| row.parent).collect::<Vec<_>>(), [Some(1), Some(1)]);
        assert_eq!(rows.iter().map(|row| row.token).collect::<Vec<_>>(), [3, 4]);
        assert!(masks.is_empty());
    }
}
