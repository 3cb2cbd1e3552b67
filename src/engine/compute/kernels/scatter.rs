//! Copies rows to chosen rows of a table: `table[at[r]] = rows[r]`.
//!
//! This is how keys and values enter a cache.

use crate::engine::compute::gpu::{Cost, Gpu};
use crate::engine::compute::{ComputeError, Device, Tensor};

shader! {
    "scatter", 256, [Words, Read, Write];
    struct Params {
        rows: u32,
        width: u32,
        at: u32,
        first_row: u32,
        table_rows: u32,
        padding: [u32; 3],
    }
}

/// Copies each row of `rows` (R, D) to row `at[r]` of `table` (N, D).
///
/// # Errors
/// When the shapes do not fit or a row number is outside the table.
pub fn scatter(
    device: &Device,
    rows: &Tensor,
    at: &[u32],
    table: &mut Tensor,
) -> Result<(), ComputeError> {
    const OP: &str = "scatter";
    rows.expect(OP, "rows", at.len(), table.width())?;
    if let Some(index) = at.iter().find(|index| **index as usize >= table.rows()) {
        let (index, rows) = (*index as usize, table.rows());
        return Err(ComputeError::Index { op: OP, operand: "table", index, rows });
    }
    match device {
        Device::Cpu { .. } => cpu(rows, at, table),
        Device::Gpu(device) => gpu(device, rows, at, table)?,
    }
    Ok(())
}

fn gpu(gpu: &Gpu, rows: &Tensor, at: &[u32], table: &mut Tensor) -> Result<(), ComputeError> {
    let width = table.width();
    let from = gpu.operand(rows)?;
    let to = table.own_buffer(gpu)?;
    for part in gpu.parts(at.len(), &[width], usize::MAX)? {
        for stretch in gpu.parts(table.rows(), &[width], usize::MAX)? {
            let at = &at[part.0..part.0 + part.1];
            let (mut call, [at]) = gpu.call_with(&SHADER, [at], 0)?;
            let params = Params {
                rows: part.1 as u32,
                width: width as u32,
                at,
                first_row: stretch.0 as u32,
                table_rows: stretch.1 as u32,
                padding: [0; 3],
            };
            call.bind(gpu.rows(&from, part, width));
            call.bind(gpu.rows(&to, stretch, width));
            call.costs(|| Cost::moved(&[part.1, width], 2 * part.1 * width));
            call.run(&params, gpu.grid((part.1 * width).div_ceil(256)));
        }
    }
    Ok(())
}

fn cpu(rows: &Tensor, at: &[u32], table: &mut Tensor) {
    let width = table.width();
    for (row, at) in at.iter().enumerate() {
        let start = *at as usize * width;
        table.data_mut()[start..start + width].copy_from_slice(rows.row(row));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::compute::error::refusal;

    const ONE: Device = Device::Cpu { threads: 1 };

    #[test]
    fn rows_land_where_they_are_sent() {
        let mut table = Tensor::zeros(3, 2);
        let rows = Tensor::new(&[2, 2], vec![1.0, 2.0, 3.0, 4.0]).unwrap();
        scatter(&ONE, &rows, &[2, 0], &mut table).unwrap();
        assert_eq!(table.data(), [3.0, 4.0, 0.0, 0.0, 1.0, 2.0]);
    }

    #[test]
    fn a_row_outside_the_table_is_an_error() {
        let mut table = Tensor::zeros(3, 2);
        let mut refused = |rows: usize, width: usize, at: &[u32]| {
            refusal(scatter(&ONE, &Tensor::zeros(rows, width), at, &mut table))
        };
        assert_eq!(refused(1, 2, &[3]), "index 3 of table");
        assert_eq!(refused(2, 2, &[0]), "shape of rows");
        assert_eq!(refused(1, 3, &[0]), "shape of rows");
    }
}
