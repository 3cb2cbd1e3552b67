//! Attention on a GPU: the choice of a shader, and keys larger than a binding.
//!
//! Lists that are paths through a cache go to [`attention_step`](super::attention_step) where it
//! takes their heads, runs of an encoder's rows to [`attention`](super::attention). Keys and values
//! of which one binding cannot hold all are gathered for as many rows at a time as see few enough
//! of them.

use super::attention::{self, Params, ShaderParams};
use super::{DistanceBias, KeyList, attention_step, gather};
use crate::engine::compute::gpu::{Buffer, Cost, Gpu, Shader};
use crate::engine::compute::{ComputeError, Device, Tensor};
use std::collections::HashMap;

/// Widest head of the shaders, whose lanes hold a few columns each.
const MOST_COLUMNS: usize = 256;

pub(super) fn gpu(
    gpu: &Gpu,
    queries: &Tensor,
    lists: &[KeyList],
    params: &Params<'_>,
) -> Result<Tensor, ComputeError> {
    let columns = queries.width() / params.heads.count;
    let shader = match params.table {
        Some(_) if attention_step::takes(columns) => &attention_step::SHADER,
        _ => &attention::SHADER,
    };
    by(shader, gpu, queries, lists, params)
}

/// The same by a shader of the caller's choice.
pub(super) fn by(
    shader: &'static Shader,
    gpu: &Gpu,
    queries: &Tensor,
    lists: &[KeyList],
    params: &Params<'_>,
) -> Result<Tensor, ComputeError> {
    let (rows, width) = (queries.rows(), queries.width());
    let columns = width / params.heads.count;
    if columns > MOST_COLUMNS {
        let (expected, found) = (vec![MOST_COLUMNS], vec![columns]);
        return Err(ComputeError::Shape { op: "attention", operand: "heads", expected, found });
    }
    let output = Tensor::unwritten(gpu, rows, width)?;
    let (from, to) = (gpu.operand(queries)?, gpu.operand(&output)?);
    let call = Call { shader, gpu, width, from, to };
    let most_keys = gpu.most_numbers() / params.keys.width().max(1);
    for part in gpu.parts(rows, &[width], usize::MAX)? {
        let of_part = &lists[part.0..part.0 + part.1];
        if params.keys.rows() <= most_keys {
            call.run(part, of_part, params)?;
            continue;
        }
        let device = &Device::Gpu(gpu.clone());
        for Stretch { first, rows, at, table, lists } in
            stretches(of_part, params.table, most_keys, gpu.row_step(width))?
        {
            let keys = &gather(device, params.keys, &at)?;
            let values = &gather(device, params.values, &at)?;
            let params = Params { keys, values, table: Some(&table), heads: params.heads };
            call.run((part.0 + first, rows), &lists, &params)?;
        }
    }
    Ok(output)
}

/// A shader, and where its queries lie and its outputs go.
struct Call<'a> {
    shader: &'static Shader,
    gpu: &'a Gpu,
    width: usize,
    from: Buffer,
    to: Buffer,
}

impl Call<'_> {
    /// Some of the rows, with their lists.
    fn run(
        &self,
        part: (usize, usize),
        lists: &[KeyList],
        params: &Params<'_>,
    ) -> Result<(), ComputeError> {
        let Self { gpu, width, .. } = *self;
        let columns = width / params.heads.count;
        let (keys, values) = (gpu.operand(params.keys)?, gpu.operand(params.values)?);
        let known = params.keys.rows() * params.keys.width();
        let bias = params.heads.bias;
        // Without biases a small buffer stands in: one that is written may not be read as well.
        let (biases, numbers) = match bias {
            Some(DistanceBias { by_distance, .. }) => {
                (gpu.operand(by_distance)?, by_distance.rows() * by_distance.width())
            }
            None => (gpu.allocate(1)?, 1),
        };
        let table = params.table.unwrap_or_default();
        let list_words = KeyList::words(lists);
        let positions = bias.map_or(&[][..], |bias| &bias.positions[part.0..part.0 + part.1]);
        let (mut call, [lists_at, table_at, positions_at]) =
            gpu.call_with(self.shader, [list_words, table, positions], 0)?;
        let shader_params = ShaderParams {
            rows: part.1 as u32,
            width: width as u32,
            columns: columns as u32,
            lists: lists_at,
            table: table_at,
            has_table: u32::from(params.table.is_some()),
            scale: params.heads.scale(columns),
            has_bias: u32::from(bias.is_some()),
            positions: positions_at,
            distances: bias.map_or(0, |bias| bias.by_distance.width() as u32),
            zero: bias.map_or(0, |bias| bias.zero as u32),
            sharing: params.heads.sharing as u32,
        };
        call.bind(gpu.rows(&self.from, part, width));
        call.bind(gpu.whole(&keys, known)?);
        call.bind(gpu.whole(&values, known)?);
        call.bind(gpu.whole(&biases, numbers)?);
        call.bind(gpu.rows(&self.to, part, width));
        let grid = match std::ptr::eq(self.shader, &attention_step::SHADER) {
            true => attention_step::grid(gpu, part.1, params.heads),
            false => {
                let [x, y, _] = gpu.grid(part.1);
                [x, y, params.heads.count as u32]
            }
        };
        call.costs(|| {
            let seen = lists.iter().map(|list| list.len as usize).sum();
            Cost::attention([part.1, params.heads.count, columns], seen, params.keys.width())
        });
        call.run(&shader_params, grid);
        Ok(())
    }
}

/// Neighbouring rows of queries that together see few enough keys.
#[derive(Debug, Default, PartialEq)]
struct Stretch {
    first: usize,
    rows: usize,
    /// The keys that they see, each once.
    at: Vec<u32>,
    /// Places in `at`, and each row's list of them.
    table: Vec<u32>,
    lists: Vec<KeyList>,
}

/// Cuts rows into stretches that see at most `most` keys and begin at multiples of `step` rows.
///
/// # Errors
/// When `step` rows see more.
fn stretches(
    lists: &[KeyList],
    table: Option<&[u32]>,
    most: usize,
    step: usize,
) -> Result<Vec<Stretch>, ComputeError> {
    let keys_of = |list: &KeyList| -> Vec<u32> {
        let places = list.start..list.start + list.len;
        match table {
            Some(table) => table[places.start as usize..places.end as usize].to_vec(),
            None => places.collect(),
        }
    };
    let mut all: Vec<Stretch> = Vec::new();
    let mut places: HashMap<u32, u32> = HashMap::new();
    for (number, of_rows) in lists.chunks(step).enumerate() {
        let mut keys: Vec<u32> = of_rows.iter().flat_map(keys_of).collect();
        keys.sort_unstable();
        keys.dedup();
        if keys.len() > most {
            let (bytes, limit) = (4 * keys.len() as u64, 4 * most as u64);
            return Err(ComputeError::Memory { bytes, limit });
        }
        let fresh = keys.iter().filter(|key| !places.contains_key(key)).count();
        if all.is_empty() || places.len() + fresh > most {
            places.clear();
            all.push(Stretch { first: number * step, ..Stretch::default() });
        }
        let stretch = all.last_mut().expect("a stretch was begun");
        for key in keys {
            places.entry(key).or_insert_with(|| {
                stretch.at.push(key);
                stretch.at.len() as u32 - 1
            });
        }
        for list in of_rows {
            let start = stretch.table.len() as u32;
            stretch.table.extend(keys_of(list).iter().map(|key| places[key]));
            stretch.lists.push(KeyList { start, len: list.len });
        }
        stretch.rows += of_rows.len();
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(start: u32, len: u32) -> KeyList {
        KeyList { start, len }
    }

    #[test]
    fn rows_are_cut_where_they_see_too_many_keys_together() {
        let table = [7, 2, 9, 2, 4, 5, 6];
        let lists = [list(0, 2), list(2, 2), list(3, 2), list(4, 3)];
        let cut = stretches(&lists, Some(&table), 3, 1).unwrap();
        let seen: Vec<_> = cut.iter().map(|part| (part.first, part.rows)).collect();
        assert_eq!(seen, [(0, 2), (2, 1), (3, 1)]);
        for part in &cut {
            assert!(part.at.len() <= 3);
            for (row, own) in part.lists.iter().enumerate() {
                let KeyList { start, len } = lists[part.first + row];
                let wanted = &table[start as usize..(start + len) as usize];
                let places = &part.table[own.start as usize..(own.start + own.len) as usize];
                let found: Vec<u32> = places.iter().map(|at| part.at[*at as usize]).collect();
                assert_eq!(found, wanted);
            }
        }
        // Rows that must stay together, and runs of keys.
        assert_eq!(stretches(&lists, Some(&table), 5, 2).unwrap().len(), 2);
        let full = stretches(&lists, Some(&table), 2, 2);
        assert!(matches!(full, Err(ComputeError::Memory { limit: 8, .. })), "{full:?}");
        assert_eq!(stretches(&[list(4, 3), list(5, 2)], None, 3, 1).unwrap()[0].at, [4, 5, 6]);
    }
}
