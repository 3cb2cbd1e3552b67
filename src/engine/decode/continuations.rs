//! How one source may go on, and how likely given continuations of it are.
//!
//! Both are asked of one open slot, so the source is encoded once. Scores are those of the unmasked
//! network, as in a search.

use std::collections::HashMap;

use super::{Constraint, ConstraintState, DecodeError, GoesOn, calls};
use crate::engine::nn::{Candidate, RowMask, SlotId, StepNetwork, StepRow};

/// An open source whose continuations are looked at.
///
/// Dropped, it frees its slot.
pub struct Continuations<'n, N: StepNetwork> {
    network: &'n mut N,
    slot: SlotId,
}

/// A row of a step: the row of the step before that it extends, its token and its score.
type Row = (Option<u32>, u32, f32);

impl<'n, N: StepNetwork> Continuations<'n, N> {
    /// Opens a source.
    ///
    /// # Errors
    /// When the source is empty or too long, or the network fails.
    pub fn open(network: &'n mut N, source: &[u32]) -> Result<Self, DecodeError> {
        let slot = calls::open(network, &[source])?[0];
        Ok(Self { network, slot })
    }

    /// The `width` likeliest beginnings of each length up to `depth` tokens, shortest first, as far
    /// as a beam of that width finds them: tokens, and the sum of their log-probabilities (natural
    /// log). None holds the end, or what the constraint blocks.
    ///
    /// # Errors
    /// When the network fails, or `goes_on` stops it before a step.
    pub fn likeliest(
        &mut self,
        constraint: &Constraint,
        width: usize,
        depth: usize,
        goes_on: &mut GoesOn<'_>,
    ) -> Result<Vec<(Vec<u32>, f32)>, DecodeError> {
        self.network.rewind(self.slot, 0);
        let (start, eos) = (self.network.start_token(), self.network.eos_token());
        let mut found = Vec::new();
        let mut rows: Vec<Row> = vec![(None, start, 0.0)];
        let mut beam: Vec<(Vec<u32>, ConstraintState)> =
            vec![(Vec::new(), constraint.start(start))];
        for _ in 0..depth {
            let mask = |(row, (_, state)): (usize, &(Vec<u32>, ConstraintState))| {
                let blocked = constraint.blocked(*state, eos);
                RowMask {
                    row: row_index(row),
                    banned: blocked.map(|blocked| blocked.tokens).unwrap_or_default(),
                    ..RowMask::default()
                }
            };
            let masks: Vec<RowMask> = beam.iter().enumerate().map(mask).collect();
            let best = self.step(&rows, &masks, width, goes_on)?.0;
            let open = best.into_iter().filter(|candidate| candidate.token != eos);
            let next: Vec<(Row, (Vec<u32>, ConstraintState))> = open
                .map(|Candidate { parent, token, log_prob }| {
                    let ((tokens, state), row) = (&beam[parent as usize], rows[parent as usize]);
                    let tokens = [tokens.as_slice(), &[token]].concat();
                    let row = (Some(parent), token, row.2 + log_prob);
                    (row, (tokens, constraint.advance(*state, token)))
                })
                .collect();
            (rows, beam) = next.into_iter().unzip();
            found.extend(beam.iter().zip(&rows).map(|((tokens, _), row)| (tokens.clone(), row.2)));
            if rows.is_empty() {
                break;
            }
        }
        Ok(found)
    }

    /// The sum of the log-probabilities of each continuation's tokens (natural log), in the order
    /// of the continuations. Beginnings that several share are computed once.
    ///
    /// # Errors
    /// As [`likeliest`](Self::likeliest).
    pub fn log_probs(
        &mut self,
        continuations: &[Vec<u32>],
        goes_on: &mut GoesOn<'_>,
    ) -> Result<Vec<f32>, DecodeError> {
        self.network.rewind(self.slot, 0);
        let mut sums = vec![0.0; continuations.len()];
        // The row that each continuation is in, as long as it goes on.
        let mut at: Vec<(usize, usize)> = (0..continuations.len()).map(|of| (of, 0)).collect();
        let mut rows: Vec<Row> = vec![(None, self.network.start_token(), 0.0)];
        for depth in 0.. {
            at.retain(|(of, _)| depth < continuations[*of].len());
            if at.is_empty() {
                break;
            }
            let mut extra = vec![Vec::new(); rows.len()];
            for (of, row) in &at {
                let token = continuations[*of][depth];
                if !extra[*row].contains(&token) {
                    extra[*row].push(token);
                }
            }
            let masks: Vec<RowMask> = extra
                .into_iter()
                .enumerate()
                .map(|(row, extra)| RowMask {
                    row: row_index(row),
                    extra,
                    eos_allowed: true,
                    ..RowMask::default()
                })
                .collect();
            let scored = self.step(&rows, &masks, 1, goes_on)?.1;
            let mut places = HashMap::new();
            rows.clear();
            for Candidate { parent, token, log_prob } in scored {
                places.insert((parent as usize, token), (rows.len(), log_prob));
                rows.push((Some(parent), token, 0.0));
            }
            for (of, row) in &mut at {
                let (next, log_prob) = places[&(*row, continuations[*of][depth])];
                sums[*of] += log_prob;
                *row = next;
            }
        }
        Ok(sums)
    }

    /// A step of the slot: the best continuations, and those that masks ask for.
    fn step(
        &mut self,
        rows: &[Row],
        masks: &[RowMask],
        top: usize,
        goes_on: &mut GoesOn<'_>,
    ) -> Result<(Vec<Candidate>, Vec<Candidate>), DecodeError> {
        if goes_on().is_break() {
            return Err(DecodeError::Stopped);
        }
        let slot = self.slot;
        let row = |&(parent, token, score): &Row| StepRow { slot, parent, token, score };
        let rows: Vec<StepRow> = rows.iter().map(row).collect();
        let answer = calls::step(self.network, &rows, masks, top)?;
        Ok(answer.into_iter().next().map(|of| (of.best, of.extra)).unwrap_or_default())
    }
}

impl<N: StepNetwork> Drop for Continuations<'_, N> {
    fn drop(&mut self) {
        self.network.close(self.slot);
    }
}

fn row_index(row: usize) -> u32 {
    u32::try_from(row).expect("a step has some hundred rows")
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;
    use std::sync::Arc;

    use super::super::toy::{EOS, ToyNetwork};
    use super::super::{AvoidTokens, always};
    use super::*;

    const SOURCE: [u32; 3] = [5, 6, 7];

    fn sum(network: &ToyNetwork, tokens: &[u32]) -> f32 {
        let scored = tokens.iter().enumerate().map(|(at, token)| {
            let log_probs = network.log_probs(&SOURCE, &tokens[..at]);
            log_probs[*token as usize]
        });
        scored.sum()
    }

    #[test]
    fn a_beam_as_wide_as_the_tree_finds_every_beginning_with_its_score() {
        let mut network = ToyNetwork::new(6, 20);
        let mut source = Continuations::open(&mut network, &SOURCE).unwrap();
        let found = source.likeliest(&Constraint::default(), 200, 3, &mut always()).unwrap();
        drop(source);
        // All tokens but the end go on: 5 + 25 + 125.
        assert_eq!(found.len(), 155);
        for (tokens, score) in &found {
            assert!(!tokens.contains(&EOS));
            assert!((score - sum(&network, tokens)).abs() < 1e-5, "{tokens:?}");
        }
        for length in 1..=3 {
            let of: Vec<f32> =
                found.iter().filter(|(of, _)| of.len() == length).map(|of| of.1).collect();
            assert!(of.is_sorted_by(|a, b| a >= b), "the likeliest first");
        }
        assert_eq!(network.open_slots(), 0);
    }

    #[test]
    fn what_is_banned_begins_nothing() {
        let mut network = ToyNetwork::new(6, 20);
        let banned = AvoidTokens::new([vec![3], vec![4, 2]]).unwrap();
        let constraint = Constraint { tokens: Some(Arc::new(banned)), ..Constraint::default() };
        let mut source = Continuations::open(&mut network, &SOURCE).unwrap();
        let found = source.likeliest(&constraint, 200, 3, &mut always()).unwrap();
        assert!(found.len() > 50);
        for (tokens, _) in found {
            let is_free = !tokens.contains(&3) && !tokens.windows(2).any(|pair| pair == [4, 2]);
            assert!(is_free, "{tokens:?}");
        }
    }

    #[test]
    fn given_continuations_have_the_scores_of_the_network_whatever_they_share() {
        let mut network = ToyNetwork::new(6, 20);
        let texts: Vec<Vec<u32>> =
            [&[2, 3, 4][..], &[2, 3], &[2, 3, 4], &[5], &[], &[2, 0, 4, 4, EOS], &[3, 3, 4]]
                .map(<[u32]>::to_vec)
                .into();
        let mut source = Continuations::open(&mut network, &SOURCE).unwrap();
        let first = source.log_probs(&texts, &mut always()).unwrap();
        // A look at what is likely in between changes nothing.
        source.likeliest(&Constraint::default(), 4, 2, &mut always()).unwrap();
        assert_eq!(source.log_probs(&texts, &mut always()).unwrap(), first);
        drop(source);
        for (text, score) in texts.iter().zip(first) {
            assert!((score - sum(&network, text)).abs() < 1e-5, "{text:?}");
        }
    }

    #[test]
    fn who_stops_it_waits_for_the_step_that_runs() {
        let mut network = ToyNetwork::new(6, 20);
        let mut source = Continuations::open(&mut network, &SOURCE).unwrap();
        let mut left = 2;
        let mut goes_on = || match left {
            0 => ControlFlow::Break(()),
            _ => {
                left -= 1;
                ControlFlow::Continue(())
            }
        };
        let stopped = source.likeliest(&Constraint::default(), 4, 9, &mut goes_on);
        assert!(matches!(stopped, Err(DecodeError::Stopped)));
        assert!(matches!(source.log_probs(&[vec![2]], &mut goes_on), Err(DecodeError::Stopped)));
        drop(source);
        assert_eq!(network.open_slots(), 0);
    }

    #[test]
    fn a_network_that_fails_is_freed_of_the_source() {
        let mut network = ToyNetwork::new(6, 20);
        let mut source = Continuations::open(&mut network, &SOURCE).unwrap();
        source.network.is_broken = true;
        assert!(source.log_probs(&[vec![2]], &mut always()).is_err());
        drop(source);
        assert_eq!(network.open_slots(), 0);
    }
}
