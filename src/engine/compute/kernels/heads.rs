//! What the heads of attention are: how many, how many of them share keys, whether their scores are
//! scaled, and what distance adds to them.

use super::KeyList;
use crate::engine::compute::{ComputeError, Tensor};

/// What attention's heads add to a score by the distance of query and key (Raffel et al. 2020,
/// section 2.1). Key `t` of the list of query row `r` gets `by_distance[h][zero + t -
/// positions[r]]`.
#[derive(Debug, Clone, Copy)]
pub struct DistanceBias<'a> {
    /// (heads, distances), on the device.
    pub by_distance: &'a Tensor,
    /// The column of distance 0.
    pub zero: usize,
    /// Where each query row stands among the keys of its list.
    pub positions: &'a [u32],
}

/// The heads of attention; made from their number, they are those of Vaswani et al.
#[derive(Debug, Clone, Copy)]
pub struct Heads<'a> {
    /// Their number, a divisor of the queries' width.
    pub count: usize,
    /// How many neighbours share one head of keys and values, which are narrower by that (Ainslie
    /// et al. 2023, section 2.2: grouped-query attention); 1 where each has its own.
    pub sharing: usize,
    /// Whether scores are divided by the root of a head's width.
    pub is_scaled: bool,
    /// What is added to scores.
    pub bias: Option<DistanceBias<'a>>,
}

impl From<usize> for Heads<'_> {
    fn from(count: usize) -> Self {
        Self { count, sharing: 1, is_scaled: true, bias: None }
    }
}

impl Heads<'_> {
    /// Factor of a score, for heads of `columns` columns.
    pub(super) fn scale(&self, columns: usize) -> f32 {
        if self.is_scaled { 1.0 / (columns as f32).sqrt() } else { 1.0 }
    }

    /// What a head adds to the scores of one query row, key by key.
    pub(super) fn bias_of(&self, head: usize, row: usize, list: KeyList) -> Option<&[f32]> {
        let DistanceBias { by_distance, zero, positions } = self.bias?;
        let first = zero - positions[row] as usize;
        Some(&by_distance.row(head)[first..first + list.len as usize])
    }

    /// Checks the heads for queries of `width` columns.
    pub(super) fn check(
        &self,
        op: &'static str,
        lists: &[KeyList],
        width: usize,
    ) -> Result<(), ComputeError> {
        let fits = |whole: usize, part: usize| part > 0 && whole.is_multiple_of(part);
        if !fits(width, self.count) || !fits(self.count, self.sharing) {
            let (expected, found) = (vec![self.count], vec![width]);
            return Err(ComputeError::Shape { op, operand: "heads", expected, found });
        }
        let Some(DistanceBias { by_distance, zero, positions }) = self.bias else { return Ok(()) };
        let distances = by_distance.width();
        by_distance.expect(op, "by_distance", self.count, distances)?;
        if positions.len() != lists.len() {
            let (expected, found) = (vec![lists.len()], vec![positions.len()]);
            return Err(ComputeError::Shape { op, operand: "positions", expected, found });
        }
        for (list, position) in lists.iter().zip(positions) {
            let last = (zero + list.len as usize).checked_sub(1 + *position as usize);
            if *position as usize > zero || last.is_none_or(|last| last >= distances) {
                let index = *position as usize;
                return Err(ComputeError::Index {
                    op,
                    operand: "by_distance",
                    index,
                    rows: distances,
                });
            }
        }
        Ok(())
    }
}
