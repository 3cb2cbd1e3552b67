//! The larger of the means of two spans, element by element: a feature of the span aligner.
//!
//! `mean(s) = (sums[s.end] - sums[s.start]) * s.weight` over running sums of encoder states, and
//! `output[r] = max(mean(source of r), mean(candidate of r))`.

use crate::engine::compute::gpu::{Cost, Gpu};
use crate::engine::compute::tasks::for_each_piece;
use crate::engine::compute::{ComputeError, Device, Tensor};

/// Pairs that one thread takes at once.
const TASK: usize = 64;

shader! {
    "span_maxima", 256, [Words, Read, Write];
    struct Params {
        rows: u32,
        width: u32,
        spans: u32,
        padding: u32,
    }
}

/// A span over rows of running sums.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SpanRows {
    /// Row of the sum before the span.
    pub start: u32,
    /// Row of the sum at its end.
    pub end: u32,
    /// One over what the span sums up.
    pub weight: f32,
}

/// For each pair of spans over `sums` (N, D) the element-wise maximum of their means: (R, D).
///
/// # Errors
/// When a span points outside the sums.
pub fn span_maxima(
    device: &Device,
    sums: &Tensor,
    pairs: &[[SpanRows; 2]],
) -> Result<Tensor, ComputeError> {
    let rows = sums.rows();
    let ends = pairs.iter().flatten().flat_map(|span| [span.start, span.end]);
    if let Some(index) = ends.map(|end| end as usize).find(|end| *end >= rows) {
        return Err(ComputeError::Index { op: "span_maxima", operand: "sums", index, rows });
    }
    match device {
        Device::Cpu { threads } => Ok(cpu(*threads, sums, pairs)),
        Device::Gpu(device) => gpu(device, sums, pairs),
    }
}

fn cpu(threads: usize, sums: &Tensor, pairs: &[[SpanRows; 2]]) -> Tensor {
    let width = sums.width();
    let mut output = Tensor::zeros(pairs.len(), width);
    for_each_piece(threads, output.data_mut(), TASK * width, |number, rows| {
        for (row, [source, candidate]) in rows.chunks_exact_mut(width).zip(&pairs[number * TASK..])
        {
            let ends = |span: &SpanRows| {
                sums.row(span.start as usize).iter().zip(sums.row(span.end as usize))
            };
            for ((max, (a, b)), (c, d)) in row.iter_mut().zip(ends(source)).zip(ends(candidate)) {
                *max = ((d - c) * candidate.weight).max((b - a) * source.weight);
            }
        }
    });
    output
}

fn gpu(gpu: &Gpu, sums: &Tensor, pairs: &[[SpanRows; 2]]) -> Result<Tensor, ComputeError> {
    let width = sums.width();
    let output = Tensor::unwritten(gpu, pairs.len(), width)?;
    let (from, to) = (gpu.operand(sums)?, gpu.operand(&output)?);
    for part in gpu.parts(pairs.len(), &[width], usize::MAX)? {
        let spans = pairs[part.0..part.0 + part.1].iter().flatten();
        let words: Vec<u32> =
            spans.flat_map(|span| [span.start, span.end, span.weight.to_bits()]).collect();
        let mut call = gpu.call(&SHADER, words.len())?;
        let spans = call.words(&words);
        let params = Params { rows: part.1 as u32, width: width as u32, spans, padding: 0 };
        call.bind(gpu.whole(&from, sums.rows() * width)?);
        call.bind(gpu.rows(&to, part, width));
        call.costs(|| Cost::moved(&[part.1, width], 5 * part.1 * width));
        call.run(&params, gpu.grid((part.1 * width).div_ceil(256)));
    }
    Ok(output)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::compute::error::refusal;

    #[test]
    fn the_larger_mean_wins_in_each_column() {
        let sums = Tensor::new(&[3, 2], vec![0.0, 0.0, 4.0, 2.0, 6.0, 10.0]).unwrap();
        let span = |start, end, weight| SpanRows { start, end, weight };
        let pairs = [[span(0, 1, 0.5), span(1, 2, 1.0)]];
        let output = span_maxima(&Device::cpu(), &sums, &pairs).unwrap();
        assert_eq!(output.data(), [2.0, 8.0]);
        let refused = span_maxima(&Device::cpu(), &sums, &[[span(0, 3, 1.0); 2]]);
        assert_eq!(refusal(refused), "index 3 of sums");
    }
}
