//! From rows to slots: which rows belong together, what they may not produce, and the best
//! candidates of a slot over all its rows.

use std::cmp::Ordering;
use std::ops::Range;
use std::sync::Arc;

use super::{Candidate, NnError, RowMask, RowProblem, SlotCandidates, SlotId, StepRow};
use crate::compute::kernels::{ScoredRow, TokenMask};

/// The rows of each slot, in order.
///
/// # Errors
/// When rows of one slot do not stand together.
pub(super) fn group_rows(rows: &[StepRow]) -> Result<Vec<Range<usize>>, NnError> {
    let mut groups = Vec::new();
    let mut started = std::collections::HashSet::new();
    let mut first = 0;
    for group in rows.chunk_by(|a, b| a.slot == b.slot) {
        let SlotId(slot) = group[0].slot;
        if !started.insert(slot) {
            return Err(NnError::Row { row: first, problem: RowProblem::ScatteredSlot { slot } });
        }
        groups.push(first..first + group.len());
        first += group.len();
    }
    Ok(groups)
}

/// One mask per row: those given, nothing for the others.
///
/// `bans` receives the lists that had to be made, where EOS joins other banned tokens.
///
/// # Errors
/// When a mask is out of place or its banned tokens are not ascending.
pub(super) fn token_masks<'a>(
    rows: usize,
    masks: &'a [RowMask],
    eos: u32,
    bans: &'a mut Vec<Vec<u32>>,
) -> Result<Vec<TokenMask<'a>>, NnError> {
    let mut of_row = vec![None; rows];
    for (number, mask) in masks.iter().enumerate() {
        let row = mask.row as usize;
        if of_row.get(row) != Some(&None) {
            return Err(NnError::Row { row, problem: RowProblem::Mask { rows } });
        }
        // Rows often share a list, one after the other; it may be long.
        let is_known = number > 0 && Arc::ptr_eq(&mask.banned, &masks[number - 1].banned);
        if !is_known && !mask.banned.is_sorted_by(|a, b| a < b) {
            return Err(NnError::Row { row, problem: RowProblem::UnsortedMask });
        }
        of_row[row] = Some(number);
        // A search puts the end into the list by itself.
        let mut banned = Vec::new();
        if !mask.eos_allowed {
            let place = mask.banned.partition_point(|token| *token < eos);
            if mask.banned.get(place) != Some(&eos) {
                banned.reserve(mask.banned.len() + 1);
                banned.extend(&mask.banned[..place]);
                banned.push(eos);
                banned.extend(&mask.banned[place..]);
            }
        }
        bans.push(banned);
    }
    let mask = |number: usize| {
        let (mask, made): (&RowMask, &Vec<u32>) = (&masks[number], &bans[number]);
        let banned = if made.is_empty() { &*mask.banned } else { made };
        TokenMask { banned, extra: &mask.extra, renormalize: mask.renormalize }
    };
    Ok(of_row.into_iter().map(|number| number.map_or(TokenMask::default(), mask)).collect())
}

/// The best `top` candidates over the rows of one slot; `None` when a row has a score that is not
/// finite.
///
/// By `score + log_prob`, then lower parent, then lower token.
pub(super) fn merge(
    slot: SlotId,
    scores: &[f32],
    rows: &[ScoredRow],
    top: usize,
) -> Option<SlotCandidates> {
    if rows.iter().any(|row| !row.is_finite) {
        return None;
    }
    let mut best = Vec::with_capacity(rows.len() * top);
    let (mut extra, mut first) = (Vec::new(), Vec::with_capacity(rows.len()));
    for (parent, (row, score)) in rows.iter().zip(scores).enumerate() {
        let candidate = |token: u32, log_prob| Candidate { parent: parent as u32, token, log_prob };
        let scored = |c: Candidate| (score + c.log_prob, c);
        best.extend(row.best.iter().map(|best| scored(candidate(best.token, best.log_prob))));
        first.extend(row.best.first().map(|best| candidate(best.token, best.log_prob)));
        extra.extend(row.extra.iter().map(|extra| candidate(extra.token, extra.log_prob)));
    }
    best.sort_unstable_by(|(sum, a), (other, b)| {
        let by_sum = other.partial_cmp(sum).unwrap_or(Ordering::Equal);
        by_sum.then(a.parent.cmp(&b.parent)).then(a.token.cmp(&b.token))
    });
    best.truncate(top);
    let best = best.into_iter().map(|(_, best)| best).collect();
    Some(SlotCandidates { slot, best, extra, first, attention: Vec::new() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compute::kernels::TokenScore;

    fn row(slot: u32) -> StepRow {
        StepRow { slot: SlotId(slot), parent: None, token: 0, score: 0.0 }
    }

    #[test]
    fn rows_group_by_slot_and_may_not_scatter() {
        let groups = group_rows(&[row(4), row(4), row(0)]).unwrap();
        assert_eq!(groups, [0..2, 2..3]);
        assert!(group_rows(&[]).unwrap().is_empty());
        let error = group_rows(&[row(4), row(0), row(4)]).unwrap_err().to_string();
        assert!(error.contains("row 2") && error.contains("slot 4"), "{error}");
    }

    #[test]
    fn the_end_joins_the_banned_tokens_in_order() {
        let mask = |row, banned: &[u32], eos_allowed| RowMask {
            row,
            banned: banned.into(),
            eos_allowed,
            ..RowMask::default()
        };
        let masks = [
            mask(3, &[2, 9], false),
            mask(0, &[2, 9], true),
            mask(1, &[2, 5, 9], false),
            mask(2, &[], false),
        ];
        let mut bans = Vec::new();
        let banned: Vec<Vec<u32>> = token_masks(5, &masks, 5, &mut bans)
            .unwrap()
            .iter()
            .map(|mask| mask.banned.to_vec())
            .collect();
        assert_eq!(banned, [vec![2, 9], vec![2, 5, 9], vec![5], vec![2, 5, 9], vec![]]);
    }

    #[test]
    fn masks_out_of_place_are_refused() {
        let mask = |row, banned: &[u32]| RowMask {
            row,
            banned: banned.into(),
            eos_allowed: true,
            ..RowMask::default()
        };
        let check = |masks: &[RowMask]| token_masks(2, masks, 0, &mut Vec::new()).is_ok();
        assert!(check(&[mask(1, &[1, 2]), mask(0, &[])]));
        assert!(!check(&[mask(2, &[])]));
        assert!(!check(&[mask(1, &[]), mask(1, &[])]));
        assert!(!check(&[mask(0, &[2, 1])]));
        assert!(!check(&[mask(0, &[2, 2])]));
    }

    #[test]
    fn candidates_merge_by_sum_then_parent_then_token() {
        let scored = |tokens: &[(u32, f32)]| ScoredRow {
            best: tokens
                .iter()
                .map(|(token, log_prob)| TokenScore { token: *token, log_prob: *log_prob })
                .collect(),
            extra: vec![TokenScore { token: 8, log_prob: -3.0 }],
            is_finite: true,
        };
        let rows = [scored(&[(7, -1.0), (1, -2.0)]), scored(&[(3, -1.0), (5, -1.0)])];
        let merged = merge(SlotId(2), &[-1.0, -1.0], &rows, 3).unwrap();
        let best: Vec<(u32, u32)> = merged.best.iter().map(|c| (c.parent, c.token)).collect();
        assert_eq!(best, [(0, 7), (1, 3), (1, 5)]);
        assert_eq!(merged.extra.iter().map(|c| c.parent).collect::<Vec<_>>(), [0, 1]);
        assert_eq!(merged.first.iter().map(|c| c.token).collect::<Vec<_>>(), [7, 3]);
        let broken = [rows[0].clone(), ScoredRow::default()];
        assert!(merge(SlotId(2), &[0.0, 0.0], &broken, 3).is_none());
    }
}
