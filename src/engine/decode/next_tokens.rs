//! How likely some tokens are right after prompts: a question with a few answers, asked of many
//! prompts.
//!
//! Prompts are asked in order of their tokens, so those that begin alike are neighbours and the
//! network computes their beginning once. The last prompt of a batch stays open until the next one
//! is, also from call to call: a beginning that a batch shares with the one before is there.

use super::{DecodeError, GoesOn, calls};
use crate::engine::nn::{RowMask, SlotId, StepNetwork, StepRow};

/// Prompts that are asked together: a row of logits for each is what a step needs.
const MOST_PROMPTS: usize = 64;

/// Asks for the tokens that follow prompts, always of one network.
#[derive(Debug, Default)]
pub struct NextTokens {
    /// The prompt asked last.
    held: Option<SlotId>,
}

impl NextTokens {
    /// The log-probability (natural log) of each of some tokens after each prompt, in the order of
    /// prompts and tokens. A number is the same bits whatever else is asked.
    ///
    /// # Errors
    /// When a prompt is empty or too long, the network fails, or `goes_on` stops it before a batch.
    ///
    /// # Panics
    /// If a token is asked for twice.
    pub fn log_probs<N: StepNetwork>(
        &mut self,
        network: &mut N,
        prompts: &[Vec<u32>],
        tokens: &[u32],
        goes_on: &mut GoesOn<'_>,
    ) -> Result<Vec<Vec<f32>>, DecodeError> {
        let mut order: Vec<usize> = (0..prompts.len()).collect();
        order.sort_by_key(|at| &prompts[*at]);
        let mut found = vec![Vec::new(); prompts.len()];
        for batch in batches(&order, prompts, network.tokens_at_once()) {
            if goes_on().is_break() {
                return Err(DecodeError::Stopped);
            }
            let sources: Vec<&[u32]> = batch.iter().map(|at| prompts[*at].as_slice()).collect();
            let slots = calls::open(network, &sources)?;
            let answers = step(network, &slots, tokens);
            let is_asked = answers.is_ok();
            let last = slots.last().copied().filter(|_| is_asked);
            for slot in slots.iter().filter(|slot| Some(**slot) != last) {
                network.close(*slot);
            }
            if let Some(last) = last {
                network.rewind(last, 0);
                self.forget(network);
                self.held = Some(last);
            }
            for (at, answer) in batch.iter().zip(answers?) {
                found[*at] = answer;
            }
        }
        Ok(found)
    }

    /// Closes the prompt that is kept for what comes next.
    pub fn forget<N: StepNetwork>(&mut self, network: &mut N) {
        if let Some(slot) = self.held.take() {
            network.close(slot);
        }
    }
}

/// One step after each prompt: the log-probabilities of the tokens.
fn step<N: StepNetwork>(
    network: &mut N,
    slots: &[SlotId],
    tokens: &[u32],
) -> Result<Vec<Vec<f32>>, DecodeError> {
    let token = network.start_token();
    let row = |slot: &SlotId| StepRow { slot: *slot, parent: None, token, score: 0.0 };
    let rows: Vec<StepRow> = slots.iter().map(row).collect();
    let mask =
        |row| RowMask { row, extra: tokens.to_vec(), eos_allowed: true, ..RowMask::default() };
    let masks: Vec<RowMask> = (0u32..).take(rows.len()).map(mask).collect();
    let answers = calls::step(network, &rows, &masks, 1)?;
    let of_prompt = answers.iter().map(|answer| {
        let log_prob = |token: &u32| {
            let asked = answer.extra.iter().find(|candidate| candidate.token == *token);
            asked.expect("a network returns what a mask asks for").log_prob
        };
        tokens.iter().map(log_prob).collect()
    });
    Ok(of_prompt.collect())
}

/// Neighbours in an order that together have so many tokens of their own, or one prompt.
fn batches<'o>(
    order: &'o [usize],
    prompts: &'o [Vec<u32>],
    most_tokens: usize,
) -> impl Iterator<Item = &'o [usize]> {
    neighbours(order, [MOST_PROMPTS, most_tokens], |before, at| {
        let (own, other) = (&prompts[*at], before.map_or(&[][..], |before| &prompts[*before]));
        own.len() - own.iter().zip(other).take_while(|(own, other)| own == other).count()
    })
}

/// Neighbours that together are at most so many and cost so much, or one that costs more. A cost is
/// asked for behind the one before in the same batch.
pub(crate) fn neighbours<T>(
    all: &[T],
    [most, most_cost]: [usize; 2],
    cost: impl Fn(Option<&T>, &T) -> usize,
) -> impl Iterator<Item = &[T]> {
    let mut rest = all;
    std::iter::from_fn(move || {
        let (mut spent, mut before) = (0, None);
        let fits = rest.iter().take(most).take_while(|one| {
            spent += cost(before.replace(*one), one);
            spent <= most_cost
        });
        let count = fits.count().max(1).min(rest.len());
        let (batch, others) = rest.split_at(count);
        rest = others;
        (!batch.is_empty()).then_some(batch)
    })
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use super::super::always;
    use super::super::toy::ToyNetwork;
    use super::*;

    fn prompts() -> Vec<Vec<u32>> {
        // More than one batch, out of order, one of them twice.
        let many = (0..150u32).map(|number| vec![5, 6, number % 7, number % 11, number % 4]);
        many.chain([vec![3], vec![5, 6]]).collect()
    }

    #[test]
    fn answers_are_those_of_the_network_in_the_order_of_the_prompts() {
        let mut network = ToyNetwork::new(12, 20);
        let mut asking = NextTokens::default();
        let found = asking.log_probs(&mut network, &prompts(), &[4, 1, 9], &mut always()).unwrap();
        for (prompt, found) in prompts().iter().zip(&found) {
            let wanted = network.log_probs(prompt, &[]);
            let difference = found.iter().zip([4, 1, 9]).map(|(got, at)| got - wanted[at]);
            assert!(difference.map(f32::abs).fold(0.0, f32::max) < 1e-6, "{prompt:?}");
        }
        assert!(network.most_rows <= MOST_PROMPTS);
        assert_eq!(network.open_slots(), 1, "the last one stays");
        asking.forget(&mut network);
        assert_eq!(network.open_slots(), 0);
        assert!(asking.log_probs(&mut network, &[], &[4], &mut always()).unwrap().is_empty());
    }

    #[test]
    fn what_a_neighbour_has_is_not_counted_for_a_batch() {
        let prompts: Vec<Vec<u32>> =
            (0..40).map(|last| [vec![7; 99], vec![last]].concat()).collect();
        let order: Vec<usize> = (0..40).collect();
        let sizes = |most| batches(&order, &prompts, most).map(<[_]>::len).collect::<Vec<_>>();
        assert_eq!(sizes(200), [40]);
        assert_eq!(sizes(120), [21, 19]);
        assert_eq!(sizes(9), [1; 40]);
    }

    #[test]
    fn who_fails_or_is_stopped_leaves_no_prompt_open() {
        let mut network = ToyNetwork::new(12, 20);
        let mut asking = NextTokens::default();
        let stopped =
            asking.log_probs(&mut network, &prompts(), &[4], &mut || ControlFlow::Break(()));
        assert!(matches!(stopped, Err(DecodeError::Stopped)));
        network.is_broken = true;
        assert!(asking.log_probs(&mut network, &prompts(), &[4], &mut always()).is_err());
        assert_eq!(network.open_slots(), 0);
    }
}
