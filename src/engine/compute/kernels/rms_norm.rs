//! Root-mean-square normalisation: `output = input / sqrt(mean input^2 + eps) * gain`.
//!
//! Zhang and Sennrich 2019, eq. 4; T5 and its kin use it where BERT has
//! [`layer_norm`](super::layer_norm()).

use crate::engine::compute::gpu::{Cost, Gpu};
use crate::engine::compute::lanes::{LANES, Lanes, Work, dispatch};
use crate::engine::compute::tasks::for_each_piece;
use crate::engine::compute::{ComputeError, Device, Tensor};

/// Numbers handled by one task, about.
const PIECE: usize = 1 << 14;

shader! {
    "rms_norm", 128, [Read, Read, Write];
    struct Params {
        rows: u32,
        width: u32,
        eps: f32,
        padding: u32,
    }
}

/// Normalises each row of `input` (R, D), in place; `gain` is (D).
///
/// # Errors
/// When the shapes do not fit.
pub fn rms_norm(
    device: &Device,
    input: &mut Tensor,
    gain: &Tensor,
    eps: f32,
) -> Result<(), ComputeError> {
    gain.expect("rms_norm", "gain", 1, input.width())?;
    match device {
        Device::Cpu { threads } => cpu(*threads, input, gain.data(), eps),
        Device::Gpu(device) => *input = gpu(device, input, gain, eps)?,
    }
    Ok(())
}

fn cpu(threads: usize, input: &mut Tensor, gain: &[f32], eps: f32) {
    let width = input.width().max(1);
    let rows = (PIECE / width).max(1);
    for_each_piece(threads, input.data_mut(), rows * width, |_, piece| {
        for row in piece.chunks_mut(width) {
            dispatch(ScaleRow { row, gain, eps });
        }
    });
}

struct ScaleRow<'a> {
    row: &'a mut [f32],
    gain: &'a [f32],
    eps: f32,
}

impl Work for ScaleRow<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        let Self { row, gain, eps } = self;
        let width = row.len() as f32;
        let mut squares = lanes.splat(0.0);
        for part in row.chunks(LANES) {
            let x = lanes.load_part(part, 0.0);
            squares = lanes.fma(x, x, squares);
        }
        let factor = lanes.splat(1.0 / (lanes.sum(squares) / width + eps).sqrt());
        for (part, gain) in row.chunks_mut(LANES).zip(gain.chunks(LANES)) {
            let x = lanes.mul(lanes.load_part(part, 0.0), factor);
            lanes.store_part(part, lanes.mul(x, lanes.load_part(gain, 0.0)));
        }
    }
}

fn gpu(gpu: &Gpu, input: &Tensor, gain: &Tensor, eps: f32) -> Result<Tensor, ComputeError> {
    let (rows, width) = (input.rows(), input.width());
    let output = Tensor::unwritten(gpu, rows, width)?;
    let (from, gain, to) = (gpu.operand(input)?, gpu.operand(gain)?, gpu.operand(&output)?);
    for part in gpu.parts(rows, &[width], usize::MAX)? {
        let params = Params { rows: part.1 as u32, width: width as u32, eps, padding: 0 };
        let mut call = gpu.call(&SHADER, 0)?;
        call.bind(gpu.rows(&from, part, width));
        call.bind(gpu.whole(&gain, width)?);
        call.bind(gpu.rows(&to, part, width));
        call.costs(|| Cost::moved(&[part.1, width], 2 * part.1 * width));
        call.run(&params, gpu.grid(part.1));
    }
    Ok(output)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::compute::error::refusal;

    #[test]
    fn a_row_done_by_hand() {
        // Mean square of [1 1 1 3] is 3, plus 6 is 9.
        let mut input = Tensor::new(&[1, 4], vec![1.0, 1.0, 1.0, 3.0]).unwrap();
        let gain = Tensor::new(&[4], vec![3.0, 6.0, -3.0, 1.0]).unwrap();
        rms_norm(&Device::Cpu { threads: 1 }, &mut input, &gain, 6.0).unwrap();
        for (got, want) in input.data().iter().zip([1.0, 2.0, -1.0, 1.0]) {
            assert!((got - want).abs() < 1e-6, "{got} {want}");
        }
        let narrow = Tensor::zeros(1, 3);
        let refused = rms_norm(&Device::cpu(), &mut input, &narrow, 6.0);
        assert_eq!(refusal(refused), "shape of gain");
    }
}
