//! From rows to slots: which rows belong together, what they may not produce, and the best
//! candidates of a slot over all its rows.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use super::{Candidate, NnError, RowMask, RowProblem, SlotCandidates, SlotId, StepRow};
use crate::engine::compute::kernels::{ListId, ScoredRow, TokenMask, list_id};

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
/// `bans` receives the lists that had to be made, where EOS joins other banned tokens: one for each
/// list that rows share.
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
    let mut joined: HashMap<ListId, usize> = HashMap::new();
    for (number, mask) in masks.iter().enumerate() {
        let row = mask.row as usize;
        if !matches!(of_row.get(row), Some(None)) {
            return Err(NnError::Row { row, problem: RowProblem::Mask { rows } });
        }
        // Rows often share a list, one after the other; it may be long.
        let is_known = number > 0 && Arc::ptr_eq(&mask.banned, &masks[number - 1].banned);
        if !is_known && !mask.banned.is_sorted_by(|a, b| a < b) {
            return Err(NnError::Row { row, problem: RowProblem::UnsortedMask });
        }
        // A search puts the end into the list by itself.
        let place = mask.banned.binary_search(&eos).err().filter(|_| !mask.eos_allowed);
        let made = place.map(|place| {
            *joined.entry(list_id(&mask.banned)).or_insert_with(|| {
                let (before, after) = mask.banned.split_at(place);
                bans.push([before, &[eos], after].concat());
                bans.len() - 1
            })
        });
        of_row[row] = Some((mask, made));
    }
    let bans: &'a Vec<Vec<u32>> = bans;
    let mask = |(mask, made): (&'a RowMask, Option<usize>)| {
        let banned = made.map_or(&*mask.banned, |made| &bans[made]);
        TokenMask { banned, extra: &mask.extra, renormalize: mask.renormalize }
    };
    Ok(of_row.into_iter().map(|mask_of| mask_of.map_or(TokenMask::default(), mask)).collect())
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
    let order = |(sum, a): &(f32, Candidate), (other, b): &(f32, Candidate)| {
        let by_sum = other.partial_cmp(sum).unwrap_or(Ordering::Equal);
        by_sum.then(a.parent.cmp(&b.parent)).then(a.token.cmp(&b.token))
    };
    // Of a slot's many candidates few are kept, and only those need an order.
    if let Some(last) = top.checked_sub(1).filter(|last| *last < best.len()) {
        best.select_nth_unstable_by(last, order);
    }
    best.truncate(top);
    best.sort_unstable_by(order);
    let best = best.into_iter().map(|(_, best)| best).collect();
    Some(SlotCandidates { slot, best, extra, first, attention: Vec::new() })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::engine::compute::kernels::TokenScore;

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
    fn rows_that_share_a_list_share_the_one_with_the_end() {
        let (shared, alike): (Arc<[u32]>, Arc<[u32]>) = ([2, 9].into(), [2, 9].into());
        let mask = |(row, banned): (usize, &Arc<[u32]>)| RowMask {
            row: row as u32,
            banned: Arc::clone(banned),
            ..RowMask::default()
        };
        let lists = [&shared, &alike, &shared, &Arc::default(), &shared, &Arc::default()];
        let masks: Vec<RowMask> = lists.into_iter().enumerate().map(mask).collect();
        let mut bans = Vec::new();
        let masks = token_masks(6, &masks, 5, &mut bans).unwrap();
        let ids: Vec<ListId> = masks.iter().map(|mask| list_id(mask.banned)).collect();
        assert!(masks.iter().all(|mask| mask.banned.contains(&5)));
        assert!(ids[0] == ids[2] && ids[0] == ids[4] && ids[0] != ids[1] && ids[3] == ids[5]);
        assert_eq!(bans.len(), 3);
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

    proptest! {
        #[test]
        fn what_is_merged_is_a_full_sort_cut_short(
            rows in prop::collection::vec(
                (-4i32..1, prop::collection::btree_map(0u32..40, -6i32..1, 0..12)), 0..9
            ),
            top in 0usize..40,
        ) {
            // Quarters, so that many sums tie.
            let quarter = |number: i32| number as f32 / 4.0;
            let scores: Vec<f32> = rows.iter().map(|(score, _)| quarter(*score)).collect();
            let scored = |(token, log_prob): (&u32, &i32)| {
                TokenScore { token: *token, log_prob: quarter(*log_prob) }
            };
            let scored_rows: Vec<ScoredRow> = rows
                .iter()
                .map(|(_, best)| ScoredRow {
                    best: best.iter().map(scored).collect(),
                    is_finite: true,
                    ..ScoredRow::default()
                })
                .collect();
            let mut wanted = Vec::new();
            for (parent, (score, best)) in rows.iter().enumerate() {
                wanted.extend(best.iter().map(|(token, own)| (-(score + own), parent, *token)));
            }
            wanted.sort_unstable();
            wanted.truncate(top);
            let merged = merge(SlotId(0), &scores, &scored_rows, top).unwrap().best;
            let found: Vec<(i32, usize, u32)> = merged
                .iter()
                .map(|c| {
                    let sum = scores[c.parent as usize] + c.log_prob;
                    ((-4.0 * sum) as i32, c.parent as usize, c.token)
                })
                .collect();
            prop_assert_eq!(found, wanted);
        }
    }
}
