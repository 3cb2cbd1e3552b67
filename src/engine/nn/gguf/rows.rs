//! The order of rows of queries and keys.
//!
//! Hugging Face turns pairs that stand half a head apart, llama.cpp turns neighbours. GGUF files
//! have the rows of Llama's query and key weights in the latter's order (`LlamaModel.permute` in
//! `convert_hf_to_gguf.py`). This puts them back, so that one kernel turns all.

/// The order in which a file has the rows of a tensor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::engine::nn) enum RowOrder {
    /// That in which they are used.
    AsTheyStand,
    /// The two halves of each of so many heads row by row in turn.
    HalvesInTurn { heads: usize },
}

impl RowOrder {
    /// The numbers of a tensor, whose first dimension is its rows, in the order in which they are
    /// used.
    pub(in crate::engine::nn) fn restore<T: Copy>(self, values: Vec<T>, shape: &[usize]) -> Vec<T> {
        let Self::HalvesInTurn { heads } = self else { return values };
        let half = shape[0] / heads.max(1) / 2;
        let columns = shape[1..].iter().product::<usize>().max(1);
        // Rows that do not make up such heads are of no Llama; their shape is refused elsewhere.
        if half * 2 * heads != shape[0] {
            return values;
        }
        let mut restored = Vec::with_capacity(values.len());
        for row in 0..shape[0] {
            let (head, place) = (row / (2 * half), row % (2 * half));
            let (part, i) = (place / half, place % half);
            let from = head * 2 * half + 2 * i + part;
            restored.extend_from_slice(&values[from * columns..(from + 1) * columns]);
        }
        restored
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_in_turn_are_put_one_after_the_other() {
        let order = RowOrder::HalvesInTurn { heads: 2 };
        // Two heads of four rows of two columns: rows 0 2 1 3 of each.
        let values: Vec<f32> = (0..16).map(|i| i as f32).collect();
        let restored = order.restore(values.clone(), &[8, 2]);
        assert_eq!(restored[..8], [0.0, 1.0, 4.0, 5.0, 2.0, 3.0, 6.0, 7.0]);
        assert_eq!(restored[8..], [8.0, 9.0, 12.0, 13.0, 10.0, 11.0, 14.0, 15.0]);
        assert_eq!(order.restore(vec![1.0, 2.0, 3.0, 4.0], &[4]), [1.0, 2.0, 3.0, 4.0]);
        assert_eq!(RowOrder::AsTheyStand.restore(values.clone(), &[8, 2]), values);
    }
}
