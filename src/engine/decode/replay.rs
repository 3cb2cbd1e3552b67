//! Searching again under more bans, from where they first matter.
//!
//! The answers of a network depend on the hypotheses and on what is blocked. A search under more
//! bans has the hypotheses of the search before while all steps go the same way. An answer is the
//! same while none of its candidates is blocked now: what is blocked in addition stood behind them.
//! So the new search is fed the old answers until one of them holds a candidate that is banned now.
//! From there on it asks the network.

use super::beam::{BeamSearch, Stop};
use super::settings::BeamSettings;
use crate::engine::nn::{Candidate, RowMask, SlotCandidates, SlotId};

/// A search that is over, or in progress: the answers that it got.
#[derive(Debug)]
pub(super) struct Past {
    pub(super) settings: BeamSettings,
    answers: Vec<SlotCandidates>,
}

impl Past {
    pub(super) fn new(settings: BeamSettings) -> Self {
        Self { settings, answers: Vec::new() }
    }

    /// Number of steps.
    pub(super) fn len(&self) -> usize {
        self.answers.len()
    }

    /// Adds the answer to a step, of which so many of the best were looked at.
    pub(super) fn push(&mut self, mut answer: SlotCandidates, wanted: usize) {
        answer.best.truncate(wanted);
        answer.best.shrink_to_fit();
        self.answers.push(answer);
    }

    /// Takes a new search under more bans as far as the old answers hold. Returns them, and why the
    /// search is over if it is.
    pub(super) fn replay(mut self, search: &mut BeamSearch, slot: SlotId) -> (Self, Option<Stop>) {
        let mut stop = None;
        let mut steps = 0;
        let (mut rows, mut masks) = (Vec::new(), Vec::new());
        while let (Some(answer), None) = (self.answers.get(steps), stop) {
            rows.clear();
            masks.clear();
            search.write_step(slot, &mut rows, &mut masks);
            if !holds(answer, &masks, search) {
                break;
            }
            stop = search.advance(answer);
            steps += 1;
        }
        self.answers.truncate(steps);
        (self, stop)
    }
}

/// Whether no candidate of an answer is blocked by these masks.
fn holds(answer: &SlotCandidates, masks: &[RowMask], search: &BeamSearch) -> bool {
    let is_allowed = |candidate: &Candidate| {
        let at = masks.binary_search_by_key(&candidate.parent, |mask| mask.row);
        let Ok(mask) = at.map(|at| &masks[at]) else { return true };
        let ends = candidate.token == search.eos_token();
        mask.banned.binary_search(&candidate.token).is_err() && (mask.eos_allowed || !ends)
    };
    let firsts: &[Candidate] = if search.requires() { &answer.first } else { &[] };
    answer.best.iter().chain(&answer.extra).chain(firsts).all(is_allowed)
}
