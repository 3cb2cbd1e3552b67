//! The weights of attention themselves: how much each query looks at each of its keys.

use super::attention::{Head, check_operands, load_offsets, softmax};
use super::{DistanceBias, Heads, KeyList};
use crate::engine::compute::lanes::{LANES, Lanes, Work, dispatch};
use crate::engine::compute::tasks::for_each_task;
use crate::engine::compute::{ComputeError, Device, Tensor};
use std::sync::Mutex;

/// Query rows handled by one task.
const TASK_ROWS: usize = 8;

/// The weights with which [`attention`](super::attention) mixes values, the mean over the heads.
/// Each of the `queries` (R, D) has one number for each key of its list; they add up to 1.
///
/// # Errors
/// When the shapes do not fit, a list is empty or points outside `table` or `keys`.
pub fn attention_weights<'heads>(
    device: &Device,
    queries: &Tensor,
    keys: &Tensor,
    lists: &[KeyList],
    table: Option<&[u32]>,
    heads: impl Into<Heads<'heads>>,
) -> Result<Vec<Vec<f32>>, ComputeError> {
    let heads = &heads.into();
    check_operands("attention weights", queries, keys, lists, table, heads)?;
    match device {
        Device::Cpu { threads } => Ok(cpu(*threads, queries, keys, lists, table, heads)),
        // The weights are wanted on the host, and rarely at all: a search with a coverage penalty.
        Device::Gpu(_) => {
            let (queries, keys) = (queries.clone().to_host()?, keys.clone().to_host()?);
            let Some(bias) = heads.bias else {
                return Ok(cpu(1, &queries, &keys, lists, table, heads));
            };
            let by_distance = &bias.by_distance.clone().to_host()?;
            let heads = Heads { bias: Some(DistanceBias { by_distance, ..bias }), ..*heads };
            Ok(cpu(1, &queries, &keys, lists, table, &heads))
        }
    }
}

fn cpu(
    threads: usize,
    queries: &Tensor,
    keys: &Tensor,
    lists: &[KeyList],
    table: Option<&[u32]>,
    heads: &Heads<'_>,
) -> Vec<Vec<f32>> {
    let mut weights = vec![Vec::new(); lists.len()];
    let tasks: Vec<_> = weights.chunks_mut(TASK_ROWS).map(Mutex::new).collect();
    for_each_task(threads, tasks.len(), |task| {
        let mut weights = tasks[task].lock().expect("each task is taken once");
        for (offset, weights) in weights.iter_mut().enumerate() {
            let row = task * TASK_ROWS + offset;
            let (query, list) = (queries.row(row), lists[row]);
            *weights = dispatch(Query { row, query, keys, list, table, heads });
        }
    });
    drop(tasks);
    weights
}

struct Query<'a> {
    row: usize,
    query: &'a [f32],
    keys: &'a Tensor,
    list: KeyList,
    table: Option<&'a [u32]>,
    heads: &'a Heads<'a>,
}

impl Work for Query<'_> {
    type Output = Vec<f32>;

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) -> Vec<f32> {
        let columns = self.query.len() / self.heads.count;
        let (mut offsets, mut scores) = (Vec::new(), Vec::new());
        load_offsets(self.list, self.table, self.keys.width(), &mut offsets);
        let mut mean = vec![0.0; offsets.len()];
        for (head, query) in self.query.chunks_exact(columns).enumerate() {
            let first = head / self.heads.sharing * columns;
            let scale = self.heads.scale(columns);
            let bias = self.heads.bias_of(head, self.row, self.list);
            let head = Head { first, columns, offsets: &offsets, scale, bias };
            if columns.is_multiple_of(LANES) {
                head.score::<L, true>(lanes, query, self.keys, &mut scores);
            } else {
                head.score::<L, false>(lanes, query, self.keys, &mut scores);
            }
            softmax(lanes, &mut scores);
            for (mean, weight) in mean.iter_mut().zip(&scores) {
                *mean += weight / self.heads.count as f32;
            }
        }
        mean
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: Device = Device::Cpu { threads: 1 };

    #[test]
    fn two_heads_done_by_hand() {
        // Each head has one column, so scores are products: ln 3 and 0 in one, 0 and 0 in the
        // other.
        let queries = Tensor::new(&[1, 2], vec![3f32.ln(), 1.0]).unwrap();
        let keys = Tensor::new(&[2, 2], vec![1.0, 0.0, 0.0, 0.0]).unwrap();
        let list = [KeyList { start: 0, len: 2 }];
        let weights = attention_weights(&ONE, &queries, &keys, &list, None, 2).unwrap();
        for (weight, want) in weights[0].iter().zip([0.625, 0.375]) {
            assert!((weight - want).abs() < 1e-6, "{weights:?}");
        }
    }

    #[test]
    fn they_add_up_to_one_over_each_list() {
        let number = |i: usize| ((i * 71 % 113) as f32 - 56.0) / 60.0;
        let keys = Tensor::new(&[20, 32], (0..640).map(number).collect()).unwrap();
        let queries = Tensor::new(&[11, 32], (0..352).map(number).collect()).unwrap();
        let lists: Vec<KeyList> = (0..11).map(|q| KeyList { start: q / 2, len: 1 + q }).collect();
        let table: Vec<u32> = (0..16).map(|i| i * 7 % 20).collect();
        let weights = attention_weights(
            &Device::Cpu { threads: 2 },
            &queries,
            &keys,
            &lists,
            Some(&table),
            2,
        );
        for (weights, list) in weights.unwrap().iter().zip(&lists) {
            assert_eq!(weights.len(), list.len as usize);
            assert!((weights.iter().sum::<f32>() - 1.0).abs() < 1e-5);
        }
    }

    #[test]
    fn operands_that_do_not_fit_are_named() {
        let (queries, keys) = (Tensor::zeros(1, 4), Tensor::zeros(2, 4));
        let weights = |list| attention_weights(&ONE, &queries, &keys, &[list], None, 2);
        let error = weights(KeyList { start: 1, len: 2 }).unwrap_err().to_string();
        assert!(error.contains("attention weights") && error.contains("`keys`"), "{error}");
    }
}
