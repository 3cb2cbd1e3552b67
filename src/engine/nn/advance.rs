//! One step over all rows of all slots, the same for every network that is `Stepping`.

use std::ops::Range;

use rayon::prelude::*;

use super::ends::{ban_together, join};
use super::inputs::StepInputs;
use super::recovery::{encode_parts, recovering, score_parts};
use super::selection::{group_rows, merge, token_masks};
use super::stepping::{Finish, Stepping};
use super::steps::{Limits, Source};
use super::{
    Candidate, Draw, NnError, RowMask, RowProblem, SlotCandidates, SlotId, StepNetwork, StepRow,
};
use crate::engine::compute::kernels::{TokenDraw, TokenScore, best_tokens, sample_tokens};

/// Slots that one thread merges at least.
const FEWEST_SLOTS: usize = 8;

/// Takes one step and hands the logits of its rows to `finish`, all at once or in parts.
pub(super) fn advance<N: Stepping>(
    network: &mut N,
    rows: &[StepRow],
    groups: &[Range<usize>],
    finish: &mut Finish<'_>,
) -> Result<(), NnError> {
    check_rows(network, rows)?;
    let tokens: Vec<u32> = rows.iter().map(|row| input_token(network, row)).collect();
    let entries = extend_paths(network, rows, &tokens, groups)?;
    let mut inputs = StepInputs { entries, tokens, ..Default::default() };
    for group in groups {
        let slot = network.steps().slot(rows[group.start].slot).expect("rows were checked");
        inputs.gives_attention |= slot.gives_attention;
        slot.paths.iter().for_each(|path| inputs.see(N::SOURCE, slot, path));
    }
    score_parts(network, &inputs, 0..rows.len(), finish)
}

/// The token that a row gives the network.
fn input_token<N: Stepping>(network: &N, row: &StepRow) -> u32 {
    match (N::SOURCE, row.parent) {
        (Source::BeginsThePast, None) => {
            let slot = network.steps().slot(row.slot).expect("rows were checked");
            *slot.tokens.last().expect("an open source has a token")
        }
        _ => row.token,
    }
}

/// Checks that each row extends a hypothesis that exists.
fn check_rows<N: Stepping>(network: &N, rows: &[StepRow]) -> Result<(), NnError> {
    let Limits { vocab_size, max_length, .. } = network.limits();
    for (number, row) in rows.iter().enumerate() {
        let refuse = |problem| Err(NnError::Row { row: number, problem });
        let SlotId(slot) = row.slot;
        let Some(open) = network.steps().slot(row.slot) else {
            return refuse(RowProblem::UnknownSlot { slot });
        };
        let previous = open.paths.len();
        let known = match row.parent {
            Some(parent) => (parent as usize) < previous,
            None => previous == 0,
        };
        if !known {
            let (parent, rows) = (row.parent, previous);
            return refuse(RowProblem::UnknownParent { slot, parent, rows });
        }
        let before = match N::SOURCE {
            Source::Apart => 0,
            Source::BeginsThePast => open.source.len(),
        };
        if before + open.paths.first().map_or(0, Vec::len) >= max_length {
            return refuse(RowProblem::TooLong { slot, max_length });
        }
        if row.token as usize >= vocab_size {
            return refuse(RowProblem::Token { token: row.token, vocab_size });
        }
    }
    Ok(())
}

/// Extends the paths of each group's slot by one new entry per row; returns the entries.
fn extend_paths<N: Stepping>(
    network: &mut N,
    rows: &[StepRow],
    tokens: &[u32],
    groups: &[Range<usize>],
) -> Result<Vec<u32>, NnError> {
    let entries =
        recovering(network, |network| network.steps_mut().own_cache.allocate(rows.len()))?;
    let steps = network.steps_mut();
    steps.entry_tokens.resize(steps.own_cache.entries(), 0);
    for (entry, token) in entries.iter().zip(tokens) {
        steps.entry_tokens[*entry as usize] = *token;
    }
    for group in groups {
        let SlotId(slot) = rows[group.start].slot;
        let slot = steps.slots[slot as usize].as_mut().expect("rows were checked");
        let paths: Vec<Vec<u32>> = rows[group.clone()]
            .iter()
            .zip(&entries[group.clone()])
            .map(|(row, entry)| {
                let past = row.parent.map_or(&[][..], |parent| &slot.paths[parent as usize]);
                past.iter().chain([entry]).copied().collect()
            })
            .collect();
        let before = std::mem::replace(&mut slot.paths, paths);
        match &mut slot.kept {
            Some(kept) if !before.is_empty() => kept.push(before),
            Some(_) => {}
            None => steps.own_cache.release_unshared(&before, &slot.paths),
        }
    }
    Ok(entries)
}

impl<N: Stepping> StepNetwork for N {
    fn vocab_size(&self) -> usize {
        self.limits().vocab_size
    }

    fn start_token(&self) -> u32 {
        self.limits().start_token
    }

    fn eos_token(&self) -> u32 {
        self.limits().eos_token
    }

    fn forced_token(&self) -> Option<u32> {
        self.limits().forced_token
    }

    fn max_length(&self) -> usize {
        self.limits().max_length
    }

    fn tokens_at_once(&self) -> usize {
        self.steps().device.tokens_at_once()
    }

    fn open(&mut self, sources: &[&[u32]]) -> Result<Vec<SlotId>, NnError> {
        let limits = self.limits();
        for (index, source) in sources.iter().enumerate() {
            limits.check_source(source).map_err(|problem| NnError::Input { index, problem })?;
        }
        let encoded: Vec<&[u32]> = sources.iter().map(|source| N::SOURCE.encoded(source)).collect();
        let placed =
            recovering(self, |network| network.steps_mut().place_sources(N::SOURCE, &encoded))?;
        // A loss at any part: what was encoded before it went with the device.
        let computed = recovering(self, |network| encode_parts(network, &placed));
        if let Err(error) = computed {
            let own: Vec<u32> = placed.iter().flat_map(|source| source.own().1).copied().collect();
            self.steps_mut().of_sources().release(&own);
            return Err(error);
        }
        let slots = sources.iter().zip(&placed);
        Ok(slots.map(|(source, placed)| self.steps_mut().open(source, &placed.entries)).collect())
    }

    fn step(
        &mut self,
        rows: &[StepRow],
        masks: &[RowMask],
        top: usize,
    ) -> Result<Vec<SlotCandidates>, NnError> {
        let groups = group_rows(rows)?;
        let mut bans = Vec::new();
        let limits = self.limits();
        let others = self.other_ends().to_vec();
        let masks = ban_together(masks, limits.eos_token, &others);
        let masks = token_masks(rows.len(), &masks, limits.eos_token, &mut bans)?;
        limits.check_masks(&masks)?;
        let scores: Vec<f32> = rows.iter().map(|row| row.score).collect();
        let mut scored = Vec::with_capacity(rows.len());
        advance(self, rows, &groups, &mut |device, logits, part| {
            let (scores, masks) = (&scores[part.clone()], &masks[part]);
            scored.extend(best_tokens(device, logits, scores, masks, top + others.len())?);
            Ok(())
        })?;
        for row in scored.iter_mut().filter(|_| !others.is_empty()) {
            join(row, limits.eos_token, &others, top);
        }
        // Slots are each other's strangers, and a GPU waits meanwhile.
        let of_slot = |group: &Range<usize>| {
            let slot = rows[group.start].slot;
            merge(slot, &scores[group.clone()], &scored[group.clone()], top)
        };
        let merged: Vec<Option<SlotCandidates>> =
            groups.par_iter().with_min_len(FEWEST_SLOTS).map(of_slot).collect();
        let mut answers = Vec::with_capacity(groups.len());
        let steps = self.steps();
        for (group, merged) in groups.into_iter().zip(merged) {
            let slot = rows[group.start].slot;
            let mut answer = merged.ok_or_else(|| steps.non_finite(slot))?;
            if steps.slot(slot).is_some_and(|slot| slot.gives_attention) {
                answer.attention = steps.attention[group].to_vec();
            }
            answers.push(answer);
        }
        Ok(answers)
    }

    fn sample(
        &mut self,
        rows: &[StepRow],
        masks: &[RowMask],
        draws: &[Draw],
    ) -> Result<Vec<Option<Candidate>>, NnError> {
        let groups = group_rows(rows)?;
        let mut bans = Vec::new();
        let limits = self.limits();
        let others = self.other_ends().to_vec();
        let masks = ban_together(masks, limits.eos_token, &others);
        let masks = token_masks(rows.len(), &masks, limits.eos_token, &mut bans)?;
        limits.check_masks(&masks)?;
        let draws: Vec<TokenDraw> = draws
            .iter()
            .map(|&Draw { temperature, top_k, top_p, uniform }| TokenDraw {
                temperature,
                top_k,
                top_p,
                uniform,
            })
            .collect();
        let mut drawn = Vec::with_capacity(rows.len());
        advance(self, rows, &groups, &mut |device, logits, part| {
            let (masks, draws) = (&masks[part.clone()], &draws[part]);
            drawn.extend(sample_tokens(device, logits, masks, draws)?);
            Ok(())
        })?;
        let parents = groups.iter().flat_map(|group| 0u32..group.len() as u32);
        let candidates = drawn.into_iter().zip(rows).zip(parents).map(|((drawn, row), parent)| {
            let Some(TokenScore { token, log_prob }) = drawn else { return Ok(None) };
            if !log_prob.is_finite() {
                return Err(self.steps().non_finite(row.slot));
            }
            let token = if others.contains(&token) { limits.eos_token } else { token };
            Ok(Some(Candidate { parent, token, log_prob }))
        });
        candidates.collect()
    }

    /// Of the last layer, the mean over its heads; a prompt is not told from what follows it.
    fn give_attention(&mut self, slot: SlotId, wanted: bool) -> bool {
        if N::SOURCE == Source::BeginsThePast {
            return !wanted;
        }
        let slot = self.steps_mut().slot_mut(slot).expect("only an open slot gives attention");
        slot.gives_attention = wanted;
        true
    }

    fn keep_steps(&mut self, slot: SlotId) {
        let slot = self.steps_mut().slot_mut(slot).expect("only an open slot keeps steps");
        assert!(slot.paths.is_empty(), "steps are kept from the first one on");
        slot.kept = Some(Vec::new());
    }

    fn rewind(&mut self, slot: SlotId, steps: usize) {
        self.steps_mut().rewind(slot, steps);
    }

    fn tell(&self, text: &str) {
        self.steps().device.tell(text);
    }

    fn close(&mut self, slot: SlotId) {
        let steps = self.steps_mut();
        if steps.slot(slot).is_some() {
            steps.rewind(slot, 0);
        }
        steps.close(slot);
    }
}
