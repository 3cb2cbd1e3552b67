//! Layer normalisation of a residual sum.
//!
//! `x = input + residual; output = (x - mean x) / sqrt(var x + eps) * gain + bias`, with the
//! biased variance over the row  (Ba et al. 2016, eq. 4).

use crate::engine::compute::gpu::{Cost, Gpu};
use crate::engine::compute::lanes::{LANES, Lanes, Work, dispatch};
use crate::engine::compute::tasks::for_each_piece;
use crate::engine::compute::{ComputeError, Device, Tensor};

/// Numbers handled by one task, about.
const PIECE: usize = 1 << 14;

shader! {
    "layer_norm", 128, [Read, Read, Read, Read, Write];
    struct ShaderParams {
        rows: u32,
        width: u32,
        has_residual: u32,
        eps: f32,
    }
}

/// Adds `residual` (R, D) to `input` (R, D) and normalises each row, in place.
///
/// # Errors
/// When the shapes do not fit: `gain` and `bias` are (D).
pub fn layer_norm(
    device: &Device,
    input: &mut Tensor,
    residual: Option<&Tensor>,
    gain: &Tensor,
    bias: &Tensor,
    eps: f32,
) -> Result<(), ComputeError> {
    const OP: &str = "layer_norm";
    let (rows, width) = (input.rows(), input.width());
    if let Some(residual) = residual {
        residual.expect(OP, "residual", rows, width)?;
    }
    gain.expect(OP, "gain", 1, width)?;
    bias.expect(OP, "bias", 1, width)?;
    match device {
        Device::Cpu { threads } => {
            let params = Params { gain: gain.data(), bias: bias.data(), eps };
            cpu(*threads, input, residual, &params);
        }
        Device::Gpu(device) => *input = gpu(device, input, residual, [gain, bias], eps)?,
    }
    Ok(())
}

fn gpu(
    gpu: &Gpu,
    input: &Tensor,
    residual: Option<&Tensor>,
    [gain, bias]: [&Tensor; 2],
    eps: f32,
) -> Result<Tensor, ComputeError> {
    let (rows, width) = (input.rows(), input.width());
    let output = Tensor::unwritten(gpu, rows, width)?;
    let (from, to) = (gpu.operand(input)?, gpu.operand(&output)?);
    let added = residual.map(|residual| gpu.operand(residual)).transpose()?;
    let (gain, bias) = (gpu.operand(gain)?, gpu.operand(bias)?);
    for part in gpu.parts(rows, &[width], usize::MAX)? {
        let has_residual = u32::from(added.is_some());
        let params = ShaderParams { rows: part.1 as u32, width: width as u32, has_residual, eps };
        let mut call = gpu.call(&SHADER, 0)?;
        call.bind(gpu.rows(&from, part, width));
        call.bind(gpu.rows(added.as_ref().unwrap_or(&from), part, width));
        call.bind(gpu.whole(&gain, width)?);
        call.bind(gpu.whole(&bias, width)?);
        call.bind(gpu.rows(&to, part, width));
        call.costs(|| Cost::moved(&[part.1, width], 3 * part.1 * width));
        call.run(&params, gpu.grid(part.1));
    }
    Ok(output)
}

struct Params<'a> {
    gain: &'a [f32],
    bias: &'a [f32],
    eps: f32,
}

fn cpu(threads: usize, input: &mut Tensor, residual: Option<&Tensor>, params: &Params<'_>) {
    let width = input.width().max(1);
    let rows = (PIECE / width).max(1);
    for_each_piece(threads, input.data_mut(), rows * width, |number, piece| {
        for (offset, row) in piece.chunks_mut(width).enumerate() {
            let residual = residual.map(|residual| residual.row(number * rows + offset));
            dispatch(NormalizeRow { row, residual, params });
        }
    });
}

struct NormalizeRow<'a> {
    row: &'a mut [f32],
    residual: Option<&'a [f32]>,
    params: &'a Params<'a>,
}

impl Work for NormalizeRow<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        let Self { row, residual, params } = self;
        let width = row.len() as f32;
        // 1. Residual sum and mean.
        let mut sum = lanes.splat(0.0);
        for (number, part) in row.chunks_mut(LANES).enumerate() {
            let mut x = lanes.load_part(part, 0.0);
            if let Some(residual) = residual {
                let from = number * LANES;
                x = lanes.add(x, lanes.load_part(&residual[from..from + part.len()], 0.0));
                lanes.store_part(part, x);
            }
            sum = lanes.add(sum, x);
        }
        let mean = lanes.sum(sum) / width;
        // 2. Variance around the mean (in one pass with the mean it would cancel badly).
        let mut squares = lanes.splat(0.0);
        for part in row.chunks(LANES) {
            // Lanes that do not exist hold the mean and add nothing.
            let d = lanes.sub(lanes.load_part(part, mean), lanes.splat(mean));
            squares = lanes.fma(d, d, squares);
        }
        let factor = 1.0 / (lanes.sum(squares) / width + params.eps).sqrt();
        // 3. Normalise.
        for (number, part) in row.chunks_mut(LANES).enumerate() {
            let columns = number * LANES..number * LANES + part.len();
            let d = lanes.sub(lanes.load_part(part, 0.0), lanes.splat(mean));
            let gain = lanes.load_part(&params.gain[columns.clone()], 0.0);
            let bias = lanes.load_part(&params.bias[columns], 0.0);
            lanes.store_part(part, lanes.fma(lanes.mul(d, lanes.splat(factor)), gain, bias));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::compute::error::refusal;

    const ONE: Device = Device::Cpu { threads: 1 };

    fn vector(values: &[f32]) -> Tensor {
        Tensor::new(&[values.len()], values.to_vec()).unwrap()
    }

    #[test]
    fn a_row_done_by_hand() {
        // x = [1 2 3 6]: mean 3, variance (4 + 1 + 0 + 9) / 4 = 3.5.
        let mut input = Tensor::new(&[1, 4], vec![0.0, 2.0, 2.0, 4.0]).unwrap();
        let residual = Tensor::new(&[1, 4], vec![1.0, 0.0, 1.0, 2.0]).unwrap();
        let (gain, bias) = (vector(&[1.0, 1.0, 1.0, 2.0]), vector(&[0.0, 0.0, 0.5, -1.0]));
        layer_norm(&ONE, &mut input, Some(&residual), &gain, &bias, 0.5).unwrap();
        for (got, want) in input.data().iter().zip([-1.0, -0.5, 0.5, 2.0]) {
            assert!((got - want).abs() < 1e-6, "{got} {want}");
        }
    }

    #[test]
    fn rows_do_not_see_each_other() {
        for width in [5, 16, 40] {
            let values: Vec<f32> = (0..3000 * width).map(|i| (i * 7919 % 1000) as f32).collect();
            let (gain, bias) = (vector(&vec![1.5; width]), vector(&vec![0.1; width]));
            let mut all = Tensor::new(&[3000, width], values.clone()).unwrap();
            let device = Device::Cpu { threads: 3 };
            layer_norm(&device, &mut all, None, &gain, &bias, 1e-5).unwrap();
            for row in [0, 1, 1777, 2999] {
                let alone = values[row * width..(row + 1) * width].to_vec();
                let mut alone = Tensor::new(&[1, width], alone).unwrap();
                layer_norm(&ONE, &mut alone, None, &gain, &bias, 1e-5).unwrap();
                assert_eq!(alone.data(), all.row(row));
            }
        }
    }

    #[test]
    fn a_wrong_width_is_named() {
        let mut input = Tensor::zeros(2, 4);
        let (four, three) = (vector(&[0.0; 4]), vector(&[0.0; 3]));
        let error = layer_norm(&ONE, &mut input, None, &three, &four, 0.0).unwrap_err();
        assert!(error.to_string().contains("`gain`"), "{error}");
        let residual = Tensor::zeros(1, 4);
        let refused = layer_norm(&ONE, &mut input, Some(&residual), &four, &four, 0.0);
        assert_eq!(refusal(refused), "shape of residual");
    }
}
