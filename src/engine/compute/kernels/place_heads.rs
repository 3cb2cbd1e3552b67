//! Queries, keys and values out of one product: queries and keys turn by their positions, and keys
//! and values go to their entries of the cache, in one pass.

use super::finish_rows::Sums;
use crate::engine::compute::gpu::Cost;
use crate::engine::compute::{ComputeError, Tensor};

shader! {
    "place_heads", 128, [Words, Read, Read, Read, Write, Write, Write];
    struct Params {
        rows: u32,
        stride: u32,
        queries: u32,
        keys: u32,
        half: u32,
        positions: u32,
        entries: u32,
        first_entry: u32,
        table_rows: u32,
        has_bias: u32,
        factor: f32,
        padding: u32,
    }
}

const OP: &str = "place_heads";

/// Where the rows of a product belong.
#[derive(Debug, Clone, Copy)]
pub struct Placing<'a> {
    /// The position of each row (R).
    pub positions: &'a [u32],
    /// The entry of the cache that each row's key and value go to (R).
    pub entries: &'a [u32],
    /// Cosines and sines of each position (N, C), as [`turns`](super::turns) makes them.
    pub turns: &'a Tensor,
    /// What is added to a product (Q + 2 K), if anything is.
    pub bias: Option<&'a Tensor>,
}

/// Splits sums (R, Q + 2 K) of normalised rows: returns turned queries (R, Q), and writes turned
/// keys and values to the tables (N, K) of a layer.
///
/// # Errors
/// When the shapes do not fit, a row belongs nowhere, or the GPU has no room or failed.
///
/// # Panics
/// When the rows that were multiplied had scales, which normalised ones have not.
pub fn place_heads(
    sums: &Sums,
    placing: Placing<'_>,
    keys: &mut Tensor,
    values: &mut Tensor,
) -> Result<Tensor, ComputeError> {
    assert!(sums.scales.is_none(), "heads are made of normalised rows");
    let Placing { positions, entries, turns, bias } = placing;
    let Sums { gpu, rows, stride, columns, .. } = sums;
    let (rows, key_width, turned) = (*rows, keys.width(), turns.width());
    values.expect(OP, "values", keys.rows(), key_width)?;
    bias.map_or(Ok(()), |bias| bias.expect(OP, "bias", 1, *columns))?;
    let queries = columns.saturating_sub(2 * key_width);
    let splits = |width: usize| turned > 0 && width.is_multiple_of(turned);
    if !turned.is_multiple_of(2) || !splits(queries) || !splits(key_width) {
        let (expected, found) = (vec![queries, key_width], vec![turned]);
        return Err(ComputeError::Shape { op: OP, operand: "turns", expected, found });
    }
    require_places("turns", positions, rows, turns.rows())?;
    require_places("keys", entries, rows, keys.rows())?;
    let output = Tensor::unwritten(gpu, rows, queries)?;
    let (to, from) = (gpu.operand(&output)?, gpu.operand(turns)?);
    let bias = bias.map(|bias| gpu.operand(bias)).transpose()?;
    let table_rows = keys.rows();
    let [keys, values] = [keys.own_buffer(gpu)?, values.own_buffer(gpu)?];
    for part in gpu.parts(rows, &[*stride, queries], usize::MAX)? {
        for stretch in gpu.parts(table_rows, &[key_width], usize::MAX)? {
            let of_part = part.0..part.0 + part.1;
            let lists = [&positions[of_part.clone()], &entries[of_part]];
            let (mut call, [positions, entries]) = gpu.call_with(&SHADER, lists, 0)?;
            let params = Params {
                rows: part.1 as u32,
                stride: *stride as u32,
                queries: queries as u32,
                keys: key_width as u32,
                half: (turned / 2) as u32,
                positions,
                entries,
                first_entry: stretch.0 as u32,
                table_rows: stretch.1 as u32,
                has_bias: u32::from(bias.is_some()),
                factor: sums.factor,
                padding: 0,
            };
            call.bind(gpu.rows(&sums.buffer, part, *stride));
            call.bind(gpu.whole(&from, turns.rows() * turned)?);
            call.bind(match &bias {
                Some(bias) => gpu.whole(bias, *columns)?,
                None => gpu.rows(&from, (0, 1), turned),
            });
            call.bind(gpu.rows(&to, part, queries));
            call.bind(gpu.rows(&keys, stretch, key_width));
            call.bind(gpu.rows(&values, stretch, key_width));
            call.costs(|| Cost::moved(&[part.1, *columns], 2 * part.1 * columns));
            call.run(&params, gpu.grid(part.1));
        }
    }
    Ok(output)
}

/// Refuses other than one place for each row, and places outside a table.
fn require_places(
    operand: &'static str,
    places: &[u32],
    rows: usize,
    table_rows: usize,
) -> Result<(), ComputeError> {
    if places.len() != rows {
        let (expected, found) = (vec![rows], vec![places.len()]);
        return Err(ComputeError::Shape { op: OP, operand, expected, found });
    }
    match places.iter().find(|index| **index as usize >= table_rows) {
        Some(index) => {
            let (index, rows) = (*index as usize, table_rows);
            Err(ComputeError::Index { op: OP, operand, index, rows })
        }
        None => Ok(()),
    }
}
