//! Sum of table lookups: `output[r] = sum_l scale_l * table_l[ids_l[r]]`, added in order.
//!
//! Words, positions and token types are all lookups.

use crate::engine::compute::gpu::{Cost, Gpu};
use crate::engine::compute::{ComputeError, Device, Tensor};

shader! {
    "embedding", 256, [Words, Read, Write];
    struct Params {
        rows: u32,
        width: u32,
        ids: u32,
        first_row: u32,
        table_rows: u32,
        starts: u32,
        scale: f32,
        padding: u32,
    }
}

/// One table and the row of it that each output row takes.
#[derive(Debug, Clone, Copy)]
pub struct Lookup<'a> {
    /// (N, D)
    pub table: &'a Tensor,
    /// Row numbers of the table, one per output row.
    pub ids: &'a [u32],
    /// Factor of the table's row.
    pub scale: f32,
}

/// The sum of the lookups: (R, D).
///
/// # Errors
/// When the lookups differ in length or width, or an id is outside its table.
pub fn embedding(device: &Device, lookups: &[Lookup<'_>]) -> Result<Tensor, ComputeError> {
    const OP: &str = "embedding";
    let (rows, width) =
        lookups.first().map_or((0, 0), |lookup| (lookup.ids.len(), lookup.table.width()));
    for lookup in lookups {
        lookup.table.expect(OP, "table", lookup.table.rows(), width)?;
        if lookup.ids.len() != rows {
            let (expected, found) = (vec![rows], vec![lookup.ids.len()]);
            return Err(ComputeError::Shape { op: OP, operand: "ids", expected, found });
        }
        let rows = lookup.table.rows();
        if let Some(id) = lookup.ids.iter().find(|id| **id as usize >= rows) {
            return Err(ComputeError::Index {
                op: OP,
                operand: "table",
                index: *id as usize,
                rows,
            });
        }
    }
    match device {
        Device::Cpu { .. } => {
            let mut output = Tensor::zeros(rows, width);
            cpu(lookups, &mut output);
            Ok(output)
        }
        Device::Gpu(device) => gpu(device, lookups, rows, width),
    }
}

fn gpu(
    gpu: &Gpu,
    lookups: &[Lookup<'_>],
    rows: usize,
    width: usize,
) -> Result<Tensor, ComputeError> {
    let output = Tensor::unwritten(gpu, rows, width)?;
    let to = gpu.operand(&output)?;
    for part in gpu.parts(rows, &[width], usize::MAX)? {
        let mut starts = true;
        for Lookup { table, ids, scale } in lookups {
            let from = gpu.operand(table)?;
            for stretch in gpu.parts(table.rows(), &[width], usize::MAX)? {
                let mut call = gpu.call(&SHADER, part.1)?;
                let params = Params {
                    rows: part.1 as u32,
                    width: width as u32,
                    ids: call.words(&ids[part.0..part.0 + part.1]),
                    first_row: stretch.0 as u32,
                    table_rows: stretch.1 as u32,
                    starts: u32::from(starts),
                    scale: *scale,
                    padding: 0,
                };
                call.bind(gpu.rows(&from, stretch, width));
                call.bind(gpu.rows(&to, part, width));
                call.costs(|| Cost::moved(&[part.1, width], 2 * part.1 * width));
                call.run(&params, gpu.grid((part.1 * width).div_ceil(256)));
                starts = false;
            }
        }
    }
    Ok(output)
}

fn cpu(lookups: &[Lookup<'_>], output: &mut Tensor) {
    let width = output.width().max(1);
    for lookup in lookups {
        for (row, id) in output.data_mut().chunks_mut(width).zip(lookup.ids) {
            for (sum, value) in row.iter_mut().zip(lookup.table.row(*id as usize)) {
                *sum += lookup.scale * value;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::compute::error::refusal;

    const ONE: Device = Device::Cpu { threads: 1 };

    #[test]
    fn lookups_add_up() {
        let words = Tensor::new(&[3, 2], vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap();
        let positions = Tensor::new(&[2, 2], vec![0.5, 0.25, -1.0, -2.0]).unwrap();
        let output = embedding(
            &ONE,
            &[
                Lookup { table: &words, ids: &[2, 0], scale: 2.0 },
                Lookup { table: &positions, ids: &[0, 1], scale: 1.0 },
            ],
        )
        .unwrap();
        assert_eq!(output.data(), [10.5, 12.25, 1.0, 2.0]);
    }

    #[test]
    fn an_id_outside_the_table_is_named() {
        let table = Tensor::zeros(3, 2);
        let lookup = Lookup { table: &table, ids: &[0, 3], scale: 1.0 };
        let error = embedding(&ONE, &[lookup]).unwrap_err().to_string();
        assert!(error.contains("index 3") && error.contains("3 rows"), "{error}");
    }

    #[test]
    fn lookups_of_different_shape_are_refused() {
        let (table, narrow) = (Tensor::zeros(3, 2), Tensor::zeros(3, 1));
        let first = Lookup { table: &table, ids: &[0, 1], scale: 1.0 };
        let refused = |second| refusal(embedding(&ONE, &[first, second]));
        assert_eq!(refused(Lookup { ids: &[0], ..first }), "shape of ids");
        assert_eq!(refused(Lookup { table: &narrow, ..first }), "shape of table");
    }
}
