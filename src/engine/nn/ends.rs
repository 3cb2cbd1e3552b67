//! Several tokens that end a text, which a search sees as one: the first of them.
//!
//! Models that talk have an end of a turn beside that of a text; either is the end here. Where the
//! end may not come, none of them may. Those among a row's best are one candidate, whose
//! probability is that of all.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use super::RowMask;
use crate::engine::compute::kernels::{ListId, ScoredRow, TokenScore, list_id};

/// Masks that ban all ends where they ban the first.
pub(super) fn ban_together<'a>(
    masks: &'a [RowMask],
    first: u32,
    others: &[u32],
) -> Cow<'a, [RowMask]> {
    let bans_end = |mask: &RowMask| !mask.eos_allowed || mask.banned.binary_search(&first).is_ok();
    if others.is_empty() || !masks.iter().any(bans_end) {
        return Cow::Borrowed(masks);
    }
    // Rows that share a list share the one with the ends.
    let mut joined: HashMap<ListId, Arc<[u32]>> = HashMap::new();
    let with_others = |mask: &RowMask| {
        if !bans_end(mask) {
            return mask.clone();
        }
        let banned = joined.entry(list_id(&mask.banned)).or_insert_with(|| {
            let mut banned = [&mask.banned[..], others].concat();
            banned.sort_unstable();
            banned.dedup();
            banned.into()
        });
        RowMask { banned: Arc::clone(banned), ..mask.clone() }
    };
    masks.iter().map(with_others).collect()
}

/// Makes the ends among a row's best one candidate, and keeps the `top` best.
pub(super) fn join(row: &mut ScoredRow, first: u32, others: &[u32], top: usize) {
    let is_end = |scored: &TokenScore| scored.token == first || others.contains(&scored.token);
    let ends = row.best.iter().filter(|scored| is_end(scored)).map(|scored| scored.log_prob);
    // Best first: the others are as many times less likely.
    let joined = ends.reduce(|best, other| best + (other - best).exp().ln_1p());
    if let Some(log_prob) = joined {
        row.best.retain(|scored| !is_end(scored));
        let place = row.best.partition_point(|scored| scored.log_prob >= log_prob);
        row.best.insert(place, TokenScore { token: first, log_prob });
    }
    row.best.truncate(top);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_are_one_candidate_with_the_probability_of_all() {
        let scored = |token, probability: f32| TokenScore { token, log_prob: probability.ln() };
        let mut row = ScoredRow {
            best: vec![scored(7, 0.4), scored(9, 0.3), scored(2, 0.2), scored(1, 0.05)],
            extra: Vec::new(),
            is_finite: true,
        };
        join(&mut row, 2, &[9, 11], 2);
        let found: Vec<u32> = row.best.iter().map(|scored| scored.token).collect();
        assert_eq!(found, [2, 7]);
        assert!((row.best[0].log_prob.exp() - 0.5).abs() < 1e-6);
        // Without an end among them nothing changes.
        join(&mut row, 3, &[4], 1);
        assert_eq!(row.best.len(), 1);
    }

    #[test]
    fn where_the_end_may_not_come_no_other_may() {
        let mask = |banned: &[u32], eos_allowed| RowMask {
            banned: banned.into(),
            eos_allowed,
            ..RowMask::default()
        };
        let masks = [mask(&[5], true), mask(&[5], false), mask(&[2, 8], true)];
        let banned: Vec<Vec<u32>> =
            ban_together(&masks, 2, &[1, 9]).iter().map(|mask| mask.banned.to_vec()).collect();
        assert_eq!(banned, [vec![5], vec![1, 5, 9], vec![1, 2, 8, 9]]);
        assert!(matches!(ban_together(&masks, 2, &[]), Cow::Borrowed(_)));
        assert!(matches!(ban_together(&masks[..1], 2, &[9]), Cow::Borrowed(_)));
    }
}
