//! What follows the hidden layer of a network with one output: PReLU, output weights, sigmoid.
//!
//! ```text
//! h = z where z > 0, else slope * z
//! p = 1 / (1 + e^-(output_bias + output . h))
//! ```
//!
//! The linker's network ends so. Batch normalisation is folded into `output` and `output_bias` by
//! the caller.

use crate::engine::compute::gpu::{Cost, Gpu};
use crate::engine::compute::tasks::for_each_piece;
use crate::engine::compute::{ComputeError, Device, Tensor};

const OP: &str = "row_scores";

/// Rows that one thread takes at once.
const TASK: usize = 256;

/// Rows of a workgroup; 16 lanes read one together.
const ROWS: usize = 16;

shader! {
    "row_scores", 256, [Read, Read, Write];
    struct Params {
        rows: u32,
        hidden: u32,
        slope: f32,
        output_bias: f32,
    }
}

/// The one output behind a hidden layer.
#[derive(Debug, Clone)]
pub struct ScoreOutput {
    /// (1, H)
    weight: Tensor,
    slope: f32,
    bias: f32,
}

impl ScoreOutput {
    /// An output with weights for H hidden units, the slope of PReLU below zero, and a bias.
    ///
    /// # Errors
    /// When the device has no room.
    pub fn new(
        device: &Device,
        weight: Vec<f32>,
        slope: f32,
        bias: f32,
    ) -> Result<Self, ComputeError> {
        let weight = Tensor::new(&[1, weight.len()], weight)?.to_device(device)?;
        Ok(Self { weight, slope, bias })
    }
}

/// The score in [0, 1] of each row of hidden values before their activation (R, H).
///
/// # Errors
/// When the rows are of another width than the output's weights, or a row's sum is not finite.
pub fn row_scores(
    device: &Device,
    output: &ScoreOutput,
    hidden: &Tensor,
) -> Result<Vec<f32>, ComputeError> {
    hidden.expect(OP, "hidden", hidden.rows(), output.weight.width())?;
    let scores = match device {
        Device::Cpu { threads } => cpu(*threads, output, hidden),
        Device::Gpu(device) => gpu(device, output, hidden)?,
    };
    checked(OP, scores)
}

/// `1 / (1 + e^-logit)`; NaN where the logit is not finite.
pub(super) fn sigmoid(logit: f32) -> f32 {
    if logit.is_finite() { 1.0 / (1.0 + (-logit).exp()) } else { f32::NAN }
}

/// Scores, unless one of them is none: shaders, which rely on no NaN, give -1 where a logit is not
/// finite.
pub(super) fn checked(op: &'static str, scores: Vec<f32>) -> Result<Vec<f32>, ComputeError> {
    match scores.iter().all(|score| *score >= 0.0) {
        // A shader's division may miss 1 by a few units in the last place.
        true => Ok(scores.into_iter().map(|score| score.min(1.0)).collect()),
        false => Err(ComputeError::NonFinite { op }),
    }
}

fn cpu(threads: usize, output: &ScoreOutput, hidden: &Tensor) -> Vec<f32> {
    let mut scores = vec![0.0; hidden.rows()];
    for_each_piece(threads, &mut scores, TASK, |number, scores| {
        for (score, row) in scores.iter_mut().zip(number * TASK..) {
            let z = hidden.row(row).iter();
            let activated = z.map(|&z| if z > 0.0 { z } else { output.slope * z });
            let logit: f32 = activated.zip(output.weight.row(0)).map(|(h, v)| v * h).sum();
            *score = sigmoid(output.bias + logit);
        }
    });
    scores
}

fn gpu(gpu: &Gpu, output: &ScoreOutput, hidden: &Tensor) -> Result<Vec<f32>, ComputeError> {
    let (rows, width) = (hidden.rows(), hidden.width());
    let (from, weight) = (gpu.operand(hidden)?, gpu.operand(&output.weight)?);
    let scores = gpu.allocate(rows)?;
    for part in gpu.parts(rows, &[width], usize::MAX)? {
        let mut call = gpu.call(&SHADER, 0)?;
        let params = Params {
            rows: part.1 as u32,
            hidden: width as u32,
            slope: output.slope,
            output_bias: output.bias,
        };
        call.bind(gpu.rows(&from, part, width));
        call.bind(gpu.whole(&weight, width)?);
        call.bind(gpu.rows(&scores, part, 1));
        call.costs(|| Cost::moved(&[part.1, width], part.1 * width));
        call.run(&params, gpu.grid(part.1.div_ceil(ROWS)));
    }
    gpu.download(&scores, rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::compute::error::refusal;

    #[test]
    fn a_row_done_by_hand() {
        let output = ScoreOutput::new(&Device::cpu(), vec![1.0, 2.0], 0.5, 1.0).unwrap();
        // 3 + 2 * 0.5 * -4 + 1 = 0.
        let hidden = Tensor::new(&[2, 2], vec![3.0, -4.0, 0.0, 100.0]).unwrap();
        assert_eq!(row_scores(&Device::cpu(), &output, &hidden).unwrap(), [0.5, 1.0]);
        let refused = row_scores(&Device::cpu(), &output, &Tensor::zeros(1, 3));
        assert_eq!(refusal(refused), "shape of hidden");
        for broken in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            let hidden = Tensor::new(&[1, 2], vec![broken, 0.0]).unwrap();
            let found = row_scores(&Device::cpu(), &output, &hidden);
            assert_eq!(found, Err(ComputeError::NonFinite { op: OP }), "{broken}");
        }
    }
}
