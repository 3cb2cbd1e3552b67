//! Scaled dot-product attention with several heads  (Vaswani et al. 2017, eq. 1).
//!
//! Each query row names its keys as a [`KeyList`]. That is a run of rows in the key tensor (an
//! encoder's sentence; a growing run makes it causal), or a run in a table of row numbers. By the
//! latter a decoder finds its past in a cache that many hypotheses share. Nothing is padded and
//! nothing needs a mask.

use super::{Heads, attention_gpu};
use crate::engine::compute::lanes::{LANES, Lanes, Work, dispatch};
use crate::engine::compute::tasks::for_each_piece;
use crate::engine::compute::{ComputeError, Device, Tensor};

/// The keys of one query: `len` consecutive entries from `start`.
///
/// The entries are rows of the key tensor, or of a table of row numbers where one is given.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
pub struct KeyList {
    /// First entry.
    pub start: u32,
    /// Number of entries; at least 1.
    pub len: u32,
}

impl KeyList {
    /// Lists as the numbers that they are: first entry and number of entries, in turn.
    pub(crate) fn words(lists: &[Self]) -> &[u32] {
        bytemuck::cast_slice(lists)
    }
}

/// Independent sums in [`Head::mix`], enough to hide the latency of an addition.
const CHAINS: usize = 4;

/// Query rows handled by one task.
const TASK_ROWS: usize = 8;

shader! {
    "attention", 64, [Words, Read, Read, Read, Read, Write];
    pub(super) struct ShaderParams {
        pub(super) rows: u32,
        pub(super) width: u32,
        pub(super) columns: u32,
        pub(super) lists: u32,
        pub(super) table: u32,
        pub(super) has_table: u32,
        pub(super) scale: f32,
        pub(super) has_bias: u32,
        pub(super) positions: u32,
        pub(super) distances: u32,
        pub(super) zero: u32,
        pub(super) sharing: u32,
    }
}

/// Attention of `queries` (R, D) over `keys` and `values` (N, D / sharing), each row over its own
/// list, for heads of D / heads columns: (R, D).
///
/// # Errors
/// When the shapes do not fit, a list is empty or points outside `table` or `keys`.
pub fn attention<'heads>(
    device: &Device,
    queries: &Tensor,
    keys: &Tensor,
    values: &Tensor,
    lists: &[KeyList],
    table: Option<&[u32]>,
    heads: impl Into<Heads<'heads>>,
) -> Result<Tensor, ComputeError> {
    const OP: &str = "attention";
    let heads = &heads.into();
    values.expect(OP, "values", keys.rows(), keys.width())?;
    check_operands(OP, queries, keys, lists, table, heads)?;
    let params = Params { keys, values, table, heads };
    match device {
        Device::Cpu { threads } => {
            let mut output = Tensor::zeros(lists.len(), queries.width());
            cpu(*threads, queries, lists, &params, &mut output);
            Ok(output)
        }
        Device::Gpu(device) => attention_gpu::gpu(device, queries, lists, &params),
    }
}

/// Checks all operands but the values.
pub(super) fn check_operands(
    op: &'static str,
    queries: &Tensor,
    keys: &Tensor,
    lists: &[KeyList],
    table: Option<&[u32]>,
    heads: &Heads<'_>,
) -> Result<(), ComputeError> {
    let width = keys.width() * heads.sharing;
    queries.expect(op, "queries", lists.len(), width)?;
    heads.check(op, lists, width)?;
    check_lists(op, keys, lists, table)
}

fn check_lists(
    op: &'static str,
    keys: &Tensor,
    lists: &[KeyList],
    table: Option<&[u32]>,
) -> Result<(), ComputeError> {
    if lists.iter().any(|list| list.len == 0) {
        let (expected, found) = (vec![1], vec![0]);
        return Err(ComputeError::Shape { op, operand: "lists", expected, found });
    }
    let end = lists.iter().map(|list| list.start as usize + list.len as usize).max().unwrap_or(0);
    let (operand, rows) = table.map_or(("keys", keys.rows()), |table| ("table", table.len()));
    if end > rows {
        return Err(ComputeError::Index { op, operand, index: end - 1, rows });
    }
    let rows = keys.rows();
    match table.and_then(|table| table.iter().find(|row| **row as usize >= rows)) {
        Some(row) => Err(ComputeError::Index { op, operand: "keys", index: *row as usize, rows }),
        None => Ok(()),
    }
}

/// Operands beside the queries.
pub(super) struct Params<'a> {
    pub(super) keys: &'a Tensor,
    pub(super) values: &'a Tensor,
    pub(super) table: Option<&'a [u32]>,
    pub(super) heads: &'a Heads<'a>,
}

fn cpu(
    threads: usize,
    queries: &Tensor,
    lists: &[KeyList],
    params: &Params<'_>,
    output: &mut Tensor,
) {
    let width = queries.width();
    for_each_piece(threads, output.data_mut(), TASK_ROWS * width, |number, piece| {
        dispatch(Rows { first: number * TASK_ROWS, queries, lists, params, output: piece });
    });
}

/// Some query rows and the output rows they fill.
struct Rows<'a> {
    first: usize,
    queries: &'a Tensor,
    lists: &'a [KeyList],
    params: &'a Params<'a>,
    output: &'a mut [f32],
}

impl Work for Rows<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        let params = self.params;
        let width = self.queries.width();
        let columns = width / params.heads.count;
        let scale = params.heads.scale(columns);
        // Offsets of the keys' rows, and the scores; both used again for every row.
        let (mut offsets, mut scores) = (Vec::new(), Vec::new());
        for (number, output) in self.output.chunks_exact_mut(width).enumerate() {
            let row = self.first + number;
            load_offsets(self.lists[row], params.table, params.keys.width(), &mut offsets);
            let query = self.queries.row(row);
            for (head, output) in output.chunks_exact_mut(columns).enumerate() {
                let query = &query[head * columns..(head + 1) * columns];
                let first = head / params.heads.sharing * columns;
                let bias = params.heads.bias_of(head, row, self.lists[row]);
                let head = Head { first, columns, offsets: &offsets, scale, bias };
                if columns.is_multiple_of(LANES) {
                    head.attend::<L, true>(lanes, query, params, &mut scores, output);
                } else {
                    head.attend::<L, false>(lanes, query, params, &mut scores, output);
                }
            }
        }
    }
}

/// Where the rows of a list begin, of a matrix of `width` columns.
#[inline(always)]
pub(super) fn load_offsets(
    KeyList { start, len }: KeyList,
    table: Option<&[u32]>,
    width: usize,
    offsets: &mut Vec<usize>,
) {
    let list = start as usize..start as usize + len as usize;
    offsets.clear();
    match table {
        Some(table) => offsets.extend(table[list].iter().map(|row| *row as usize * width)),
        None => offsets.extend(list.map(|row| row * width)),
    }
}

/// One head's columns in the rows that one query attends to.
pub(super) struct Head<'a> {
    pub(super) first: usize,
    pub(super) columns: usize,
    pub(super) offsets: &'a [usize],
    /// Factor of a score.
    pub(super) scale: f32,
    /// What is added to the score of each key.
    pub(super) bias: Option<&'a [f32]>,
}

/// A vector of a head's columns; `FULL` where all have 16 numbers, as in every real model. The
/// other way goes through memory and takes registers from the whole loop.
#[inline(always)]
fn load<L: Lanes, const FULL: bool>(lanes: L, columns: &[f32]) -> L::Vector {
    if FULL {
        lanes.load(columns.first_chunk().expect("a full head is cut into whole vectors"))
    } else {
        lanes.load_part(columns, 0.0)
    }
}

impl Head<'_> {
    #[inline(always)]
    fn attend<L: Lanes, const FULL: bool>(
        &self,
        lanes: L,
        query: &[f32],
        params: &Params<'_>,
        scores: &mut Vec<f32>,
        output: &mut [f32],
    ) {
        self.score::<L, FULL>(lanes, query, params.keys, scores);
        softmax(lanes, scores);
        self.mix::<L, FULL>(lanes, scores, params.values, output);
    }

    /// `scores[t] = scale * query . keys[t] + bias[t]`
    #[inline(always)]
    pub(super) fn score<L: Lanes, const FULL: bool>(
        &self,
        lanes: L,
        query: &[f32],
        keys: &Tensor,
        scores: &mut Vec<f32>,
    ) {
        let keys = &keys.data()[self.first..];
        scores.clear();
        // A loop and no closure: a closure may be compiled without the instruction set.
        for offset in self.offsets {
            let key = &keys[*offset..*offset + self.columns];
            let mut sum = lanes.splat(0.0);
            for (q, k) in query.chunks(LANES).zip(key.chunks(LANES)) {
                sum = lanes.fma(load::<L, FULL>(lanes, q), load::<L, FULL>(lanes, k), sum);
            }
            scores.push(lanes.sum(sum) * self.scale);
        }
        if let Some(bias) = self.bias {
            for (score, bias) in scores.iter_mut().zip(bias) {
                *score += bias;
            }
        }
    }

    /// `output = sum_t weights[t] * values[t]`
    ///
    /// Keys go round robin to [`CHAINS`] sums (a remainder to the first), which are added at the
    /// end: one sum would wait for itself at every key.
    #[inline(always)]
    fn mix<L: Lanes, const FULL: bool>(
        &self,
        lanes: L,
        weights: &[f32],
        values: &Tensor,
        output: &mut [f32],
    ) {
        for (number, part) in output.chunks_mut(LANES).enumerate() {
            let values = &values.data()[self.first + number * LANES..];
            let width = part.len();
            let mut sums = [lanes.splat(0.0); CHAINS];
            let (offsets, last_offsets) = self.offsets.as_chunks::<CHAINS>();
            let (weights, last_weights) = weights.as_chunks::<CHAINS>();
            for (offsets, weights) in offsets.iter().zip(weights) {
                for chain in 0..CHAINS {
                    let value = &values[offsets[chain]..offsets[chain] + width];
                    let value = load::<L, FULL>(lanes, value);
                    sums[chain] = lanes.fma(lanes.splat(weights[chain]), value, sums[chain]);
                }
            }
            for (offset, weight) in last_offsets.iter().zip(last_weights) {
                let value = load::<L, FULL>(lanes, &values[*offset..*offset + width]);
                sums[0] = lanes.fma(lanes.splat(*weight), value, sums[0]);
            }
            let [a, b, c, d] = sums;
            lanes.store_part(part, lanes.add(lanes.add(a, b), lanes.add(c, d)));
        }
    }
}

/// Softmax over the scores of one query, in place.
#[inline(always)]
pub(super) fn softmax<L: Lanes>(lanes: L, scores: &mut [f32]) {
    let mut largest = lanes.splat(f32::MIN);
    for part in scores.chunks(LANES) {
        largest = lanes.max(lanes.load_part(part, f32::MIN), largest);
    }
    let largest = lanes.fold(largest, f32::max);
    let mut sum = lanes.splat(0.0);
    for part in scores.chunks_mut(LANES) {
        // Lanes that do not exist hold a number whose exponential vanishes beside the maximum's 1.
        let x = lanes.sub(lanes.load_part(part, -1e30), lanes.splat(largest));
        let e = lanes.exp(x);
        sum = lanes.add(sum, e);
        lanes.store_part(part, e);
    }
    let factor = 1.0 / lanes.sum(sum);
    for score in scores {
        *score *= factor;
    }
}

#[cfg(test)]
mod tests {
    use super::super::DistanceBias;
    use super::*;
    use crate::engine::compute::error::refusal;

    const ONE: Device = Device::Cpu { threads: 1 };

    fn matrix(rows: usize, width: usize, data: &[f32]) -> Tensor {
        Tensor::new(&[rows, width], data.to_vec()).unwrap()
    }

    fn run(len: u32) -> KeyList {
        KeyList { start: 0, len }
    }

    #[test]
    fn two_keys_done_by_hand() {
        // Scores 0 and ln 3: weights 1/4 and 3/4. One head of one column: scale 1.
        let queries = matrix(1, 1, &[3f32.ln()]);
        let keys = matrix(2, 1, &[0.0, 1.0]);
        let values = matrix(2, 1, &[8.0, 16.0]);
        let output = attention(&ONE, &queries, &keys, &values, &[run(2)], None, 1).unwrap();
        assert!((output.data()[0] - 14.0).abs() < 1e-5);
        let output = attention(&ONE, &queries, &keys, &values, &[run(1)], None, 1).unwrap();
        assert_eq!(output.data(), [8.0]);
    }

    #[test]
    fn scores_are_divided_by_the_root_of_the_heads_width() {
        // Four columns: q . k = 2 ln 3, divided by 2.
        let half = 3f32.ln() / 2.0;
        let queries = matrix(1, 4, &[half; 4]);
        let keys = matrix(2, 4, &[0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0]);
        let values = matrix(2, 4, &[0.0, 1.0, 2.0, 4.0, 4.0, 5.0, 6.0, 8.0]);
        let output = attention(&ONE, &queries, &keys, &values, &[run(2)], None, 1).unwrap();
        for (got, want) in output.data().iter().zip([3.0, 4.0, 5.0, 7.0]) {
            assert!((got - want).abs() < 1e-5);
        }
    }

    #[test]
    fn a_bias_goes_by_the_distance_of_key_and_query() {
        // No scores of their own: the weights are the softmax of the biases, 1 to 3 or 3 to 1.
        let queries = Tensor::zeros(2, 4);
        let (keys, values) = (Tensor::zeros(2, 4), matrix(2, 4, &[[8.0; 4], [16.0; 4]].concat()));
        let ln = 3f32.ln();
        // Distances -1, 0 and 1: a query prefers what stands after it, or before it in the other
        // head.
        let by_distance = matrix(2, 3, &[0.0, 0.0, ln, ln, 0.0, 0.0]);
        let bias = DistanceBias { by_distance: &by_distance, zero: 1, positions: &[0, 1] };
        let heads = Heads { bias: Some(bias), ..Heads::from(2) };
        let lists = [run(2), run(2)];
        let output = attention(&ONE, &queries, &keys, &values, &lists, None, heads).unwrap();
        let want = [14.0, 14.0, 12.0, 12.0, 12.0, 12.0, 10.0, 10.0];
        for (got, want) in output.data().iter().zip(want) {
            assert!((got - want).abs() < 1e-5, "{output:?}");
        }
        for (zero, positions, said) in [
            (0, &[0, 1][..], "index 1 of by_distance"),
            (2, &[0, 1], "index 0 of by_distance"),
            (1, &[0], "shape of positions"),
        ] {
            let bias = DistanceBias { by_distance: &by_distance, zero, positions };
            let heads = Heads { bias: Some(bias), ..Heads::from(2) };
            let wrong = attention(&ONE, &queries, &keys, &values, &lists, None, heads);
            assert_eq!(refusal(wrong), said, "{zero} {positions:?}");
        }
    }

    #[test]
    fn scores_may_go_unscaled() {
        let half = 3f32.ln() / 4.0;
        let (queries, keys) =
            (matrix(1, 4, &[half; 4]), matrix(2, 4, &[[0.0; 4], [1.0; 4]].concat()));
        let values = matrix(2, 4, &[[0.0; 4], [4.0; 4]].concat());
        let heads = Heads { is_scaled: false, ..Heads::from(1) };
        let output = attention(&ONE, &queries, &keys, &values, &[run(2)], None, heads).unwrap();
        assert!((output.data()[0] - 3.0).abs() < 1e-5);
    }

    #[test]
    fn heads_attend_on_their_own() {
        let queries = matrix(1, 2, &[50.0, -50.0]);
        let keys = matrix(2, 2, &[1.0, 1.0, -1.0, -1.0]);
        let values = matrix(2, 2, &[1.0, 2.0, 3.0, 4.0]);
        let output = attention(&ONE, &queries, &keys, &values, &[run(2)], None, 2).unwrap();
        assert_eq!(output.data(), [1.0, 4.0]);
    }

    #[test]
    fn heads_that_share_keys_see_what_each_would_with_a_copy() {
        let number = |i: usize| ((i * 67 % 109) as f32 - 54.0) / 50.0;
        let queries = matrix(5, 24, &(0..120).map(number).collect::<Vec<_>>());
        let shared = matrix(9, 8, &(7..79).map(number).collect::<Vec<_>>());
        // Six heads of four columns; three neighbours to a head of keys.
        let copy = |row: &[f32]| {
            [&row[..4]; 3].into_iter().chain([&row[4..]; 3]).flatten().copied().collect::<Vec<_>>()
        };
        let copied =
            matrix(9, 24, &(0..9).flat_map(|row| copy(shared.row(row))).collect::<Vec<_>>());
        let lists: Vec<KeyList> = (0..5).map(|len| KeyList { start: 2, len: len + 1 }).collect();
        let heads = Heads { sharing: 3, ..Heads::from(6) };
        let found = attention(&ONE, &queries, &shared, &shared, &lists, None, heads).unwrap();
        let wanted = attention(&ONE, &queries, &copied, &copied, &lists, None, 6).unwrap();
        assert_eq!(found, wanted);
        for sharing in [0, 2, 4] {
            let heads = Heads { sharing, ..Heads::from(6) };
            let error = attention(&ONE, &queries, &shared, &shared, &lists, None, heads);
            assert!(matches!(error, Err(ComputeError::Shape { .. })), "{sharing}");
        }
    }

    #[test]
    fn a_table_of_rows_gives_the_bits_of_the_rows_in_order() {
        let data: Vec<f32> = (0..40 * 24).map(|i| ((i * 37 % 101) as f32 - 50.0) / 40.0).collect();
        let keys = matrix(40, 24, &data);
        let queries = matrix(2, 24, &data[100..148]);
        let picked: Vec<u32> = (0..19).map(|i| i * 11 % 40).collect();
        let gathered = picked.iter().flat_map(|row| keys.row(*row as usize).to_vec()).collect();
        let gathered = Tensor::new(&[19, 24], gathered).unwrap();
        let lists = [KeyList { start: 0, len: 19 }, KeyList { start: 3, len: 9 }];
        let direct = attention(&ONE, &queries, &gathered, &gathered, &lists, None, 3).unwrap();
        let tabled = attention(&ONE, &queries, &keys, &keys, &lists, Some(&picked), 3).unwrap();
        assert_eq!(direct, tabled);
    }

    #[test]
    fn queries_do_not_see_each_other() {
        let data: Vec<f32> = (0..50 * 20).map(|i| ((i * 53 % 97) as f32 - 48.0) / 30.0).collect();
        let keys = matrix(50, 20, &data);
        let lists: Vec<KeyList> =
            (0..50).map(|q| KeyList { start: q / 2, len: 1 + q / 2 }).collect();
        let device = Device::Cpu { threads: 3 };
        let all = attention(&device, &keys, &keys, &keys, &lists, None, 2).unwrap();
        for query in [0, 7, 31, 49] {
            let one = matrix(1, 20, keys.row(query));
            let list = &lists[query..query + 1];
            let alone = attention(&ONE, &one, &keys, &keys, list, None, 2).unwrap();
            assert_eq!(alone.data(), all.row(query));
        }
    }

    #[test]
    fn it_is_the_mean_of_the_values_weighted_by_softmax() {
        for columns in [5, 16, 20, 32] {
            let width = 2 * columns;
            let number = |i: usize| ((i * 71 % 113) as f32 - 56.0) / 60.0;
            let data: Vec<f32> = (0..23 * width).map(number).collect();
            let (keys, query) = (matrix(23, width, &data), matrix(1, width, &data[7..7 + width]));
            let output = attention(&ONE, &query, &keys, &keys, &[run(23)], None, 2).unwrap();
            for column in 0..width {
                let head = column / columns * columns..(column / columns + 1) * columns;
                let weight = |key: usize| {
                    let pairs = query.row(0)[head.clone()].iter().zip(&keys.row(key)[head.clone()]);
                    let score: f64 = pairs.map(|(q, k)| f64::from(*q) * f64::from(*k)).sum();
                    (score / (columns as f64).sqrt()).exp()
                };
                let total: f64 = (0..23).map(weight).sum();
                let mixed = (0..23).map(|key| weight(key) * f64::from(keys.row(key)[column]));
                let want = mixed.sum::<f64>() / total;
                assert!((f64::from(output.data()[column]) - want).abs() < 1e-5);
            }
        }
    }

    #[test]
    fn bad_lists_are_refused() {
        let keys = Tensor::zeros(2, 4);
        let queries = Tensor::zeros(1, 4);
        let attend = |list, table| attention(&ONE, &queries, &keys, &keys, &[list], table, 2);
        assert_eq!(refusal(attend(run(0), None)), "shape of lists");
        let error = attend(run(3), None).unwrap_err().to_string();
        assert!(error.contains("`keys`"), "{error}");
        let error = attend(run(3), Some(&[0, 1])).unwrap_err().to_string();
        assert!(error.contains("`table`"), "{error}");
        assert_eq!(refusal(attend(run(2), Some(&[0, 2]))), "index 2 of keys");
        let refused = attention(&ONE, &queries, &keys, &keys, &[run(1)], None, 3);
        assert_eq!(refusal(refused), "shape of heads");
        let refused = attention(&ONE, &queries, &keys, &keys, &[run(1), run(1)], None, 2);
        assert_eq!(refusal(refused), "shape of queries");
    }
}
