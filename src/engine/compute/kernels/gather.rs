//! Copies chosen rows of a table: `output[r] = table[at[r]]`.
//!
//! A cache of whole hypotheses is reordered so; one of single entries, as
//! [`attention`](super::attention) reads, needs no copy.

use crate::engine::compute::gpu::{Cost, Gpu};
use crate::engine::compute::{ComputeError, Device, Tensor};

shader! {
    "gather", 256, [Words, Read, Write];
    struct Params {
        rows: u32,
        width: u32,
        at: u32,
        first_row: u32,
        table_rows: u32,
        padding: [u32; 3],
    }
}

/// The rows of `table` (N, D) that `at` (R) names: (R, D).
///
/// # Errors
/// When a row number is outside the table.
pub fn gather(device: &Device, table: &Tensor, at: &[u32]) -> Result<Tensor, ComputeError> {
    const OP: &str = "gather";
    if let Some(index) = at.iter().find(|index| **index as usize >= table.rows()) {
        let (index, rows) = (*index as usize, table.rows());
        return Err(ComputeError::Index { op: OP, operand: "table", index, rows });
    }
    match device {
        Device::Cpu { .. } => cpu(table, at),
        Device::Gpu(device) => gpu(device, table, at),
    }
}

fn cpu(table: &Tensor, at: &[u32]) -> Result<Tensor, ComputeError> {
    let data = at.iter().flat_map(|row| table.row(*row as usize).iter().copied()).collect();
    Tensor::new(&[at.len(), table.width()], data)
}

fn gpu(gpu: &Gpu, table: &Tensor, at: &[u32]) -> Result<Tensor, ComputeError> {
    let width = table.width();
    let output = Tensor::unwritten(gpu, at.len(), width)?;
    let (rows, to) = (gpu.operand(table)?, gpu.operand(&output)?);
    for (first_output, outputs) in gpu.parts(at.len(), &[width], usize::MAX)? {
        for part in gpu.parts(table.rows(), &[width], usize::MAX)? {
            let at = &at[first_output..first_output + outputs];
            let (mut call, [at]) = gpu.call_with(&SHADER, [at], 0)?;
            let params = Params {
                rows: outputs as u32,
                width: width as u32,
                at,
                first_row: part.0 as u32,
                table_rows: part.1 as u32,
                padding: [0; 3],
            };
            call.bind(gpu.rows(&rows, part, width));
            call.bind(gpu.rows(&to, (first_output, outputs), width));
            call.costs(|| Cost::moved(&[outputs, width], 2 * outputs * width));
            call.run(&params, gpu.grid((outputs * width).div_ceil(256)));
        }
    }
    Ok(output)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_come_in_the_order_asked_for() {
        let table = Tensor::new(&[3, 2], vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap();
        let device = Device::Cpu { threads: 1 };
        let output = gather(&device, &table, &[2, 0, 2]).unwrap();
        assert_eq!(output.data(), [5.0, 6.0, 1.0, 2.0, 5.0, 6.0]);
        let error = gather(&device, &table, &[3]).unwrap_err().to_string();
        assert!(error.contains("index 3"), "{error}");
    }
}
