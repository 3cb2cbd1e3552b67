//! Edit distance between two sequences of words, up to a limit.
//!
//! Only cells within the limit of the diagonal can hold a distance within it. So the table is a
//! band of `2 * limit + 1` cells a row (Ukkonen 1985, Algorithms for approximate string matching).
//! The work ends at the first row in which every cell is over the limit.

use crate::model::named;

named! {
    /// What the exchange of one word for another costs.
    #[derive(Default)]
    pub enum EditCost {
        /// Deletions and insertions; an exchange is 2.
        ///
        /// The paper's "deletions and insertions", and near its yield
        /// (`docs/results/2026-11-23-mining-ecb.md`).
        #[default]
        DeleteInsert => "delete-insert",
        /// Deletions, insertions and exchanges; each is 1.
        ///
        /// Levenshtein's distance, which the paper names.
        Unit => "unit",
    }
}

impl EditCost {
    fn of_exchange(self) -> usize {
        match self {
            Self::DeleteInsert => 2,
            Self::Unit => 1,
        }
    }
}

/// The edits between two sequences; none where they are more than `limit`.
///
/// ```
/// use fnstore::mine::{EditCost, word_distance};
///
/// let (a, b) = (["the", "bill", "was", "paid"], ["the", "bill", "is", "paid"]);
/// assert_eq!(word_distance(&a, &b, 12, EditCost::DeleteInsert), Some(2));
/// assert_eq!(word_distance(&a, &b, 12, EditCost::Unit), Some(1));
/// assert_eq!(word_distance(&a, &b, 1, EditCost::DeleteInsert), None);
/// ```
pub fn word_distance<W: PartialEq>(
    a: &[W],
    b: &[W],
    limit: usize,
    cost: EditCost,
) -> Option<usize> {
    if a.len().abs_diff(b.len()) > limit {
        return None;
    }
    // Nothing is further than all words taken out and all put in; rows are as long as the limit.
    let limit = limit.min(a.len() + b.len());
    let over = limit + 1;
    // Cell `at` of row `i` is column `i + at - limit`; cells outside the table stay over the limit.
    let mut row: Vec<usize> = (0..=2 * limit)
        .map(|at| if at >= limit && at - limit <= b.len() { at - limit } else { over })
        .collect();
    let mut next = vec![over; 2 * limit + 1];
    for (i, word) in (1..).zip(a) {
        let mut least = over;
        for at in 0..=2 * limit {
            let column = (i + at).checked_sub(limit).filter(|column| *column <= b.len());
            let Some(j) = column else {
                next[at] = over;
                continue;
            };
            let deleted = if at < 2 * limit { row[at + 1] + 1 } else { over };
            let inserted = if at > 0 && j > 0 { next[at - 1] + 1 } else { over };
            let exchanged = match j.checked_sub(1) {
                Some(before) if b[before] == *word => row[at],
                Some(_) => row[at] + cost.of_exchange(),
                None => over,
            };
            next[at] = deleted.min(inserted).min(exchanged).min(over);
            least = least.min(next[at]);
        }
        if least > limit {
            return None;
        }
        std::mem::swap(&mut row, &mut next);
    }
    let distance = row[b.len() + limit - a.len()];
    (distance <= limit).then_some(distance)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The whole table.
    fn naive(a: &[u8], b: &[u8], cost: EditCost) -> usize {
        let mut table = vec![vec![0; b.len() + 1]; a.len() + 1];
        for i in 0..=a.len() {
            for j in 0..=b.len() {
                table[i][j] = match (i, j) {
                    (0, _) => j,
                    (_, 0) => i,
                    _ => {
                        let exchange = if a[i - 1] == b[j - 1] { 0 } else { cost.of_exchange() };
                        (table[i - 1][j - 1] + exchange)
                            .min(table[i - 1][j] + 1)
                            .min(table[i][j - 1] + 1)
                    }
                };
            }
        }
        table[a.len()][b.len()]
    }

    proptest! {
        #[test]
        fn the_band_finds_what_the_whole_table_does(
            a in prop::collection::vec(0_u8..5, 0..30),
            b in prop::collection::vec(0_u8..5, 0..30),
            limit in prop_oneof![9 => 0_usize..16, 1 => Just(usize::MAX)],
        ) {
            for cost in [EditCost::DeleteInsert, EditCost::Unit] {
                let naive = naive(&a, &b, cost);
                let expected = (naive <= limit).then_some(naive);
                prop_assert_eq!(word_distance(&a, &b, limit, cost), expected);
            }
        }
    }
}
