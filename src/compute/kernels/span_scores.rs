//! What follows the hidden layer of the span aligner's head: PReLU, output weights, sigmoid.
//!
//! ```text
//! z = bias + source - (after - before) * weight + maximum + cues . of_cues
//! h = z where z > 0, else slope * z
//! p = 1 / (1 + e^-(output_bias + output . h))
//! ```
//!
//! The first three are rows of one product, over running sums: the mean of a span is a difference of
//! two. Batch normalisation is folded into `output` and `output_bias` by the caller.

use bytemuck::{Pod, Zeroable};

use crate::compute::gpu::{Binding, Gpu, Needs, Shader};
use crate::compute::{ComputeError, Device, Tensor};

/// Numbers of a hidden unit in [`SpanHead`]'s matrix.
const UNIT: usize = 6;

/// Positional cues of a candidate.
const CUES: usize = 4;

pub(super) static SHADER: Shader = Shader {
    name: "span_scores",
    source: include_str!("../../../shaders/span_scores.wgsl"),
    workgroup_size: [64, 1, 1],
    needs: Needs::Nothing,
    bindings: &[
        Binding::Params { bytes: size_of::<Params>() as u32 },
        Binding::Words,
        Binding::Read,
        Binding::Read,
        Binding::Read,
        Binding::Write,
    ],
};

#[repr(C)]
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
struct Params {
    rows: u32,
    hidden: u32,
    candidates: u32,
    slope: f32,
    output_bias: f32,
    padding: [u32; 3],
}

/// The head behind its hidden products.
#[derive(Debug, Clone)]
pub struct SpanHead {
    /// (H, 6): bias, output weight and the four weights of the cues of each unit.
    units: Tensor,
    slope: f32,
    output_bias: f32,
}

impl SpanHead {
    /// A head with `units` (H, 6), each unit's bias, output weight and four weights of the cues.
    ///
    /// # Errors
    /// When the units have another width, or the device has no room.
    pub fn new(
        device: &Device,
        units: Tensor,
        slope: f32,
        output_bias: f32,
    ) -> Result<Self, ComputeError> {
        units.expect("span_scores", "units", units.rows(), UNIT)?;
        Ok(Self { units: units.to_device(device)?, slope, output_bias })
    }
}

/// One candidate: rows of the differences, and its own numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SpanCandidate {
    /// Row of the source span's mean.
    pub source: u32,
    /// Row of the running sum before the candidate.
    pub before: u32,
    /// Row of the running sum at its end.
    pub after: u32,
    /// One over what the candidate sums up.
    pub weight: f32,
    /// Start and length of the source span and of the candidate, scaled.
    pub cues: [f32; CUES],
}

/// The score in [0, 1] of each candidate, whose maxima are the rows of `maxima` (R, H), over
/// `differences` (N, H).
///
/// # Errors
/// When the shapes do not fit or a candidate points outside the differences.
pub fn span_scores(
    device: &Device,
    head: &SpanHead,
    differences: &Tensor,
    maxima: &Tensor,
    candidates: &[SpanCandidate],
) -> Result<Vec<f32>, ComputeError> {
    const OP: &str = "span_scores";
    let (rows, hidden) = (differences.rows(), head.units.rows());
    differences.expect(OP, "differences", rows, hidden)?;
    maxima.expect(OP, "maxima", candidates.len(), hidden)?;
    let ends = candidates.iter().flat_map(|of| [of.source, of.before, of.after]);
    if let Some(index) = ends.map(|end| end as usize).find(|end| *end >= rows) {
        return Err(ComputeError::Index { op: OP, operand: "differences", index, rows });
    }
    match device {
        Device::Cpu { .. } => Ok(cpu(head, differences, maxima, candidates)),
        Device::Gpu(device) => gpu(device, head, differences, maxima, candidates),
    }
}

fn cpu(
    head: &SpanHead,
    differences: &Tensor,
    maxima: &Tensor,
    candidates: &[SpanCandidate],
) -> Vec<f32> {
    let score = |(row, candidate): (usize, &SpanCandidate)| {
        let of = |row: u32| differences.row(row as usize);
        let (source, before, after) =
            (of(candidate.source), of(candidate.before), of(candidate.after));
        let maximum = maxima.row(row);
        let mut logit = head.output_bias;
        for unit in 0..head.units.rows() {
            let own = head.units.row(unit);
            let cues = own[2..].iter().zip(&candidate.cues);
            let z = own[0] + source[unit] - (after[unit] - before[unit]) * candidate.weight
                + maximum[unit]
                + cues.map(|(w, cue)| w * cue).sum::<f32>();
            let h = if z > 0.0 { z } else { head.slope * z };
            logit += own[1] * h;
        }
        1.0 / (1.0 + (-logit).exp())
    };
    candidates.iter().enumerate().map(score).collect()
}

fn gpu(
    gpu: &Gpu,
    head: &SpanHead,
    differences: &Tensor,
    maxima: &Tensor,
    candidates: &[SpanCandidate],
) -> Result<Vec<f32>, ComputeError> {
    let hidden = head.units.rows();
    let (from, of_maxima) = (gpu.operand(differences)?, gpu.operand(maxima)?);
    let (units, output) = (gpu.operand(&head.units)?, gpu.allocate(candidates.len())?);
    for part in gpu.parts(candidates.len(), &[hidden], usize::MAX)? {
        let record = |of: &SpanCandidate| {
            let [a, b, c, d] = of.cues.map(f32::to_bits);
            [of.source, of.before, of.after, of.weight.to_bits(), a, b, c, d]
        };
        let words: Vec<u32> = candidates[part.0..part.0 + part.1].iter().flat_map(record).collect();
        let mut call = gpu.call(&SHADER, words.len())?;
        let params = Params {
            rows: part.1 as u32,
            hidden: hidden as u32,
            candidates: call.words(&words),
            slope: head.slope,
            output_bias: head.output_bias,
            padding: [0; 3],
        };
        call.bind(gpu.whole(&from, differences.rows() * hidden)?);
        call.bind(gpu.rows(&of_maxima, part, hidden));
        call.bind(gpu.whole(&units, hidden * UNIT)?);
        call.bind(gpu.rows(&output, part, 1));
        call.run(&params, gpu.grid(part.1));
    }
    gpu.download(&output, candidates.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_candidate_done_by_hand() {
        // z = 1 + 2 - (5 - 3) * 0.5 + 1 + 0.25 * 4 = 4 and, negated, -4 under a slope of 0.5.
        let units = vec![1.0, 1.0, 0.25, 0.0, 0.0, 0.0, -1.0, 1.5, -0.25, 0.0, 0.0, 0.0];
        let units = Tensor::new(&[2, UNIT], units).unwrap();
        let head = SpanHead::new(&Device::cpu(), units, 0.5, -1.0).unwrap();
        let rows = vec![2.0, -2.0, 3.0, -3.0, 5.0, -5.0];
        let differences = Tensor::new(&[3, 2], rows).unwrap();
        let maxima = Tensor::new(&[1, 2], vec![1.0, -1.0]).unwrap();
        let cues = [4.0, 0.0, 0.0, 0.0];
        let candidate = SpanCandidate { source: 0, before: 1, after: 2, weight: 0.5, cues };
        let scores = span_scores(&Device::cpu(), &head, &differences, &maxima, &[candidate]);
        // 4 - 1.5 * 2 - 1 = 0.
        assert_eq!(scores.unwrap(), [0.5]);
        let outside = SpanCandidate { after: 3, ..candidate };
        assert!(span_scores(&Device::cpu(), &head, &differences, &maxima, &[outside]).is_err());
    }
}
