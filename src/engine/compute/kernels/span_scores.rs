//! What follows the hidden layer of the span aligner's head: PReLU, output weights, sigmoid.
//!
//! ```text
//! z = bias + source - (after - before) * weight + maximum + cues . of_cues
//! h = z where z > 0, else slope * z
//! p = 1 / (1 + e^-(output_bias + output . h))
//! ```
//!
//! The first three are rows of one product, over running sums: the mean of a span is a difference
//! of two. Batch normalisation is folded into `output` and `output_bias` by the caller.

use super::row_scores::{checked, sigmoid};
use crate::engine::compute::gpu::{Cost, Gpu};
use crate::engine::compute::lanes::{LANES, Lanes, Work, dispatch};
use crate::engine::compute::tasks::for_each_piece;
use crate::engine::compute::{ComputeError, Device, Tensor};

/// Rows of [`SpanHead`]'s matrix before those of the cues.
const FIXED: usize = 2;

/// Candidates that one thread takes at once.
const TASK: usize = 256;

shader! {
    "span_scores", 64, [Words, Read, Read, Read, Write];
    struct Params {
        rows: u32,
        hidden: u32,
        candidates: u32,
        slope: f32,
        output_bias: f32,
        cues: u32,
        padding: [u32; 2],
    }
}

/// The head behind its hidden products.
#[derive(Debug, Clone)]
pub struct SpanHead {
    /// (2 + C, H): bias, output weight and the weights of C cues of all units.
    units: Tensor,
    slope: f32,
    output_bias: f32,
}

impl SpanHead {
    /// A head with `units` (2 + C, H): bias, output weight and the weights of C cues of all units.
    ///
    /// # Errors
    /// When there are fewer than two rows, or the device has no room.
    pub fn new(
        device: &Device,
        units: Tensor,
        slope: f32,
        output_bias: f32,
    ) -> Result<Self, ComputeError> {
        let (rows, hidden) = (units.rows(), units.width());
        units.expect("span_scores", "units", rows.max(FIXED), hidden)?;
        Ok(Self { units: units.to_device(device)?, slope, output_bias })
    }

    /// Number of cues C.
    fn cues(&self) -> usize {
        self.units.rows() - FIXED
    }
}

/// One candidate: rows of the differences, and what the sums are weighted by.
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
}

/// The score in [0, 1] of each candidate, whose maxima are the rows of `maxima` (R, H) and whose
/// cues those of `cues` (R, C), over `differences` (N, H).
///
/// # Errors
/// When the shapes do not fit, a candidate points outside the differences, or a candidate's sum is
/// not finite.
pub fn span_scores(
    device: &Device,
    head: &SpanHead,
    differences: &Tensor,
    maxima: &Tensor,
    candidates: &[SpanCandidate],
    cues: &[f32],
) -> Result<Vec<f32>, ComputeError> {
    const OP: &str = "span_scores";
    let (rows, hidden) = (differences.rows(), head.units.width());
    differences.expect(OP, "differences", rows, hidden)?;
    maxima.expect(OP, "maxima", candidates.len(), hidden)?;
    let ends = candidates.iter().flat_map(|of| [of.source, of.before, of.after]);
    if let Some(index) = ends.map(|end| end as usize).find(|end| *end >= rows) {
        return Err(ComputeError::Index { op: OP, operand: "differences", index, rows });
    }
    if cues.len() != candidates.len() * head.cues() {
        let (expected, found) = (vec![candidates.len(), head.cues()], vec![cues.len()]);
        return Err(ComputeError::Shape { op: OP, operand: "cues", expected, found });
    }
    let scores = match device {
        Device::Cpu { threads } => cpu(*threads, head, differences, maxima, candidates, cues),
        Device::Gpu(device) => gpu(device, head, differences, maxima, candidates, cues)?,
    };
    checked(OP, scores)
}

fn cpu(
    threads: usize,
    head: &SpanHead,
    differences: &Tensor,
    maxima: &Tensor,
    candidates: &[SpanCandidate],
    cues: &[f32],
) -> Vec<f32> {
    let mut scores = vec![0.0; candidates.len()];
    for_each_piece(threads, &mut scores, TASK, |number, scores| {
        dispatch(Candidates {
            head,
            differences,
            maxima,
            candidates,
            cues,
            first: number * TASK,
            scores,
        });
    });
    scores
}

/// Some candidates, from `first` on.
struct Candidates<'a> {
    head: &'a SpanHead,
    differences: &'a Tensor,
    maxima: &'a Tensor,
    candidates: &'a [SpanCandidate],
    cues: &'a [f32],
    first: usize,
    scores: &'a mut [f32],
}

impl Work for Candidates<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        let Self { head, differences, maxima, candidates, cues, first, scores } = self;
        let (hidden, count) = (head.units.width(), head.cues());
        let (units, slope, zero) = (head.units.data(), lanes.splat(head.slope), lanes.splat(0.0));
        for (offset, score) in scores.iter_mut().enumerate() {
            let row = first + offset;
            let SpanCandidate { source, before, after, weight } = candidates[row];
            let source = differences.row(source as usize);
            let before = differences.row(before as usize);
            let after = differences.row(after as usize);
            let (maxima, cues) = (maxima.row(row), &cues[row * count..][..count]);
            let weight = lanes.splat(weight);
            let mut logit = zero;
            let mut from = 0;
            while from < hidden {
                let to = hidden.min(from + LANES);
                let bias = lanes.load_part(&units[from..to], 0.0);
                let after = lanes.load_part(&after[from..to], 0.0);
                let candidate = lanes.sub(after, lanes.load_part(&before[from..to], 0.0));
                let mut z = lanes.add(bias, lanes.load_part(&source[from..to], 0.0));
                z = lanes.sub(z, lanes.mul(candidate, weight));
                z = lanes.add(z, lanes.load_part(&maxima[from..to], 0.0));
                let mut of_cue = FIXED * hidden;
                for cue in cues {
                    let part = lanes.load_part(&units[of_cue + from..of_cue + to], 0.0);
                    z = lanes.fma(part, lanes.splat(*cue), z);
                    of_cue += hidden;
                }
                // In this order a z that is no number stays none.
                let h = lanes.fma(slope, lanes.min(zero, z), lanes.max(zero, z));
                let output = lanes.load_part(&units[hidden + from..hidden + to], 0.0);
                logit = lanes.fma(output, h, logit);
                from = to;
            }
            *score = sigmoid(head.output_bias + lanes.sum(logit));
        }
    }
}

fn gpu(
    gpu: &Gpu,
    head: &SpanHead,
    differences: &Tensor,
    maxima: &Tensor,
    candidates: &[SpanCandidate],
    cues: &[f32],
) -> Result<Vec<f32>, ComputeError> {
    let (hidden, count) = (head.units.width(), head.cues());
    let (from, of_maxima) = (gpu.operand(differences)?, gpu.operand(maxima)?);
    let (units, output) = (gpu.operand(&head.units)?, gpu.allocate(candidates.len())?);
    for part in gpu.parts(candidates.len(), &[hidden], usize::MAX)? {
        let record = |row: usize| {
            let of = &candidates[row];
            let fixed = [of.source, of.before, of.after, of.weight.to_bits()];
            let cues = cues[row * count..][..count].iter().map(|cue| cue.to_bits());
            fixed.into_iter().chain(cues)
        };
        let words: Vec<u32> = (part.0..part.0 + part.1).flat_map(record).collect();
        let mut call = gpu.call(&SHADER, words.len())?;
        let params = Params {
            rows: part.1 as u32,
            hidden: hidden as u32,
            candidates: call.words(&words),
            slope: head.slope,
            output_bias: head.output_bias,
            cues: count as u32,
            padding: [0; 2],
        };
        call.bind(gpu.whole(&from, differences.rows() * hidden)?);
        call.bind(gpu.rows(&of_maxima, part, hidden));
        call.bind(gpu.whole(&units, head.units.rows() * hidden)?);
        call.bind(gpu.rows(&output, part, 1));
        call.costs(|| Cost::moved(&[part.1, hidden], 4 * part.1 * hidden));
        call.run(&params, gpu.grid(part.1));
    }
    gpu.download(&output, candidates.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::compute::error::refusal;

    #[test]
    fn a_candidate_done_by_hand() {
        // z = 1 + 2 - (5 - 3) * 0.5 + 1 + 0.25 * 4 = 4 and, negated, -4 under a slope of 0.5.
        let units = vec![1.0, -1.0, 1.0, 1.5, 0.25, -0.25];
        let units = Tensor::new(&[3, 2], units).unwrap();
        let head = SpanHead::new(&Device::cpu(), units, 0.5, -1.0).unwrap();
        let rows = vec![2.0, -2.0, 3.0, -3.0, 5.0, -5.0];
        let differences = Tensor::new(&[3, 2], rows).unwrap();
        let maxima = Tensor::new(&[1, 2], vec![1.0, -1.0]).unwrap();
        let candidate = SpanCandidate { source: 0, before: 1, after: 2, weight: 0.5 };
        let score = |candidate, cues: &[f32]| {
            span_scores(&Device::cpu(), &head, &differences, &maxima, &[candidate], cues)
        };
        // 4 - 1.5 * 2 - 1 = 0.
        assert_eq!(score(candidate, &[4.0]).unwrap(), [0.5]);
        assert_eq!(refusal(score(candidate, &[4.0, 0.0])), "shape of cues");
        let outside = SpanCandidate { after: 3, ..candidate };
        assert_eq!(refusal(score(outside, &[4.0])), "index 3 of differences");
    }
}
