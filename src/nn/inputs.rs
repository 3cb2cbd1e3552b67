//! What networks are given beside their weights: the table of positions, and which entries of the caches
//! each row of a decoder's step sees.

use super::layers::Keys;
use crate::compute::Tensor;
use crate::compute::kernels::KeyList;

/// What the rows of a step see and are.
#[derive(Debug, Default)]
pub(super) struct StepInputs {
    /// The entry that each row's keys and values go to, the last of its path.
    pub(super) entries: Vec<u32>,
    /// Each row's own path.
    pub(super) past: KeyTable,
    /// The source of its slot.
    pub(super) source: KeyTable,
    pub(super) tokens: Vec<u32>,
}

/// Entries of a cache, list after list, as attention takes them.
#[derive(Debug, Default)]
pub(super) struct KeyTable {
    entries: Vec<u32>,
    pub(super) lists: Vec<KeyList>,
}

impl KeyTable {
    /// Adds a list for `rows` rows.
    pub(super) fn add(&mut self, entries: &[u32], rows: usize) {
        let list = KeyList { start: self.entries.len() as u32, len: entries.len() as u32 };
        self.entries.extend(entries);
        self.lists.extend(std::iter::repeat_n(list, rows));
    }

    pub(super) fn keys<'a>(
        &'a self,
        lists: &'a [KeyList],
        (keys, values): (&'a Tensor, &'a Tensor),
    ) -> Keys<'a> {
        Keys { keys, values, lists, table: Some(&self.entries) }
    }
}

/// Sinusoidal positions (positions, D): sines in the first half of the columns, cosines in the
/// second. `angle(p, i) = p / 10000^(2i / D)`  (Vaswani et al. 2017, section 3.5; the order of
/// columns is Marian's).
pub(super) fn sinusoids(positions: usize, width: usize) -> Tensor {
    let mut table = Vec::with_capacity(positions * width);
    let sines = width.div_ceil(2);
    for position in 0..positions {
        let angle = |i: usize| position as f64 / 10000f64.powf(2.0 * i as f64 / width as f64);
        table.extend((0..sines).map(|i| angle(i).sin() as f32));
        table.extend((0..width - sines).map(|i| angle(i).cos() as f32));
    }
    Tensor::new(&[positions, width], table).expect("one number per position and column")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sines_stand_before_cosines() {
        let table = sinusoids(2, 4);
        assert_eq!(table.row(0), [0.0, 0.0, 1.0, 1.0]);
        let want = [1f64.sin(), 0.01f64.sin(), 1f64.cos(), 0.01f64.cos()].map(|x| x as f32);
        assert_eq!(table.row(1), want);
        // An odd width has one sine more.
        assert_eq!(sinusoids(1, 5).row(0), [0.0, 0.0, 0.0, 1.0, 1.0]);
    }
}
