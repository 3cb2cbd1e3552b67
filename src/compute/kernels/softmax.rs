//! Softmax over the columns that a row sees.
//!
//! `tensor[r][c] = e^(tensor[r][c] - max) / sum` over `c < seen[r]`, and 0 beyond; a row that sees
//! nothing is all zeros. Attention has its own softmax inside; this one is for scores that lie in a
//! matrix.

use bytemuck::{Pod, Zeroable};

use crate::compute::gpu::{Binding, Gpu, Needs, Shader};
use crate::compute::{ComputeError, Device, Tensor};

pub(super) static SHADER: Shader = Shader {
    name: "softmax",
    source: include_str!("../../../shaders/softmax.wgsl"),
    workgroup_size: [128, 1, 1],
    needs: Needs::Nothing,
    bindings: &[
        Binding::Params { bytes: size_of::<Params>() as u32 },
        Binding::Words,
        Binding::Write,
    ],
};

#[repr(C)]
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
struct Params {
    rows: u32,
    width: u32,
    seen: u32,
    padding: u32,
}

/// The softmax of each row of `tensor` (R, N) over its first `seen` (R) columns, in place.
///
/// # Errors
/// When `seen` has another length, or a row would see more columns than there are.
pub fn softmax(device: &Device, tensor: &mut Tensor, seen: &[u32]) -> Result<(), ComputeError> {
    const OP: &str = "softmax";
    let (rows, width) = (tensor.rows(), tensor.width());
    if seen.len() != rows {
        let (expected, found) = (vec![rows], vec![seen.len()]);
        return Err(ComputeError::Shape { op: OP, operand: "seen", expected, found });
    }
    if let Some(&index) = seen.iter().find(|seen| **seen as usize > width) {
        let index = index as usize;
        return Err(ComputeError::Index { op: OP, operand: "tensor", index, rows: width });
    }
    match device {
        Device::Cpu { .. } => cpu(tensor, seen),
        Device::Gpu(device) => gpu(device, tensor, seen)?,
    }
    Ok(())
}

fn cpu(tensor: &mut Tensor, seen: &[u32]) {
    let width = tensor.width().max(1);
    for (row, seen) in tensor.data_mut().chunks_mut(width).zip(seen) {
        let (seen, others) = row.split_at_mut(*seen as usize);
        others.fill(0.0);
        let largest = seen.iter().copied().fold(-1e30, f32::max);
        seen.iter_mut().for_each(|x| *x = (*x - largest).exp());
        let sum: f32 = seen.iter().sum();
        seen.iter_mut().for_each(|x| *x /= sum);
    }
}

fn gpu(gpu: &Gpu, tensor: &mut Tensor, seen: &[u32]) -> Result<(), ComputeError> {
    let width = tensor.width();
    let buffer = tensor.own_buffer(gpu)?;
    for part in gpu.parts(seen.len(), &[width], usize::MAX)? {
        let mut call = gpu.call(&SHADER, part.1)?;
        let params = Params {
            rows: part.1 as u32,
            width: width as u32,
            seen: call.words(&seen[part.0..part.0 + part.1]),
            padding: 0,
        };
        call.bind(gpu.rows(&buffer, part, width));
        call.run(&params, gpu.grid(part.1));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_shares_out_one_among_what_it_sees() {
        let mut tensor = Tensor::new(&[2, 3], vec![0.0, 3f32.ln(), 9.0, 5.0, 5.0, 5.0]).unwrap();
        softmax(&Device::cpu(), &mut tensor, &[2, 0]).unwrap();
        for (got, want) in tensor.data().iter().zip([0.25, 0.75, 0.0, 0.0, 0.0, 0.0]) {
            assert!((got - want).abs() < 1e-6, "{got} {want}");
        }
        assert!(softmax(&Device::cpu(), &mut tensor, &[2]).is_err());
        assert!(softmax(&Device::cpu(), &mut tensor, &[2, 4]).is_err());
    }
}
