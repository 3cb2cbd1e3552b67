//! What the linker's network sees of two words: how far their states are apart, and their product.
//!
//! ```text
//! output[r] = |s - t|, s * t, cues of r        s and t: the states of the words of r
//! ```

use crate::engine::compute::gpu::{Cost, Gpu};
use crate::engine::compute::tasks::for_each_piece;
use crate::engine::compute::{ComputeError, Device, Tensor};

const OP: &str = "word_pairs";

/// Pairs that one thread takes at once.
const TASK: usize = 64;

shader! {
    "word_pairs", 256, [Words, Read, Write];
    struct Params {
        rows: u32,
        width: u32,
        cues: u32,
        pairs: u32,
    }
}

/// For each pair of rows of `states` (N, D) a row of difference, product and its C cues, the next
/// of `cues` (R, C): (R, 2 D + C).
///
/// # Errors
/// When a pair names a row that is not there, or the cues are not the same number for each.
pub fn word_pairs(
    device: &Device,
    states: &Tensor,
    pairs: &[[u32; 2]],
    cues: &[f32],
) -> Result<Tensor, ComputeError> {
    let rows = states.rows();
    if let Some(index) = pairs.iter().flatten().map(|at| *at as usize).find(|at| *at >= rows) {
        return Err(ComputeError::Index { op: OP, operand: "states", index, rows });
    }
    let of_each = cues.len() / pairs.len().max(1);
    if of_each * pairs.len() != cues.len() {
        let (expected, found) = (vec![pairs.len(), of_each], vec![cues.len()]);
        return Err(ComputeError::Shape { op: OP, operand: "cues", expected, found });
    }
    match device {
        Device::Cpu { threads } => Ok(cpu(*threads, states, pairs, cues)),
        Device::Gpu(device) => gpu(device, states, pairs, cues),
    }
}

fn cpu(threads: usize, states: &Tensor, pairs: &[[u32; 2]], cues: &[f32]) -> Tensor {
    let width = states.width();
    let of_each = cues.len() / pairs.len().max(1);
    let inputs = 2 * width + of_each;
    let mut output = Tensor::zeros(pairs.len(), inputs);
    for_each_piece(threads, output.data_mut(), TASK * inputs, |number, rows| {
        for (row, at) in rows.chunks_exact_mut(inputs).zip(number * TASK..) {
            let [s, t] = pairs[at].map(|at| states.row(at as usize));
            let (difference, rest) = row.split_at_mut(width);
            let (product, of_pair) = rest.split_at_mut(width);
            for (((difference, product), s), t) in difference.iter_mut().zip(product).zip(s).zip(t)
            {
                (*difference, *product) = ((s - t).abs(), s * t);
            }
            of_pair.copy_from_slice(&cues[at * of_each..][..of_each]);
        }
    });
    output
}

fn gpu(
    gpu: &Gpu,
    states: &Tensor,
    pairs: &[[u32; 2]],
    cues: &[f32],
) -> Result<Tensor, ComputeError> {
    let width = states.width();
    let of_each = cues.len() / pairs.len().max(1);
    let inputs = 2 * width + of_each;
    let output = Tensor::unwritten(gpu, pairs.len(), inputs)?;
    let (from, to) = (gpu.operand(states)?, gpu.operand(&output)?);
    for part in gpu.parts(pairs.len(), &[inputs], usize::MAX)? {
        let record = |at: usize| {
            let cues = cues[at * of_each..][..of_each].iter().map(|cue| cue.to_bits());
            pairs[at].into_iter().chain(cues)
        };
        let words: Vec<u32> = (part.0..part.0 + part.1).flat_map(record).collect();
        let mut call = gpu.call(&SHADER, words.len())?;
        let pairs = call.words(&words);
        let params =
            Params { rows: part.1 as u32, width: width as u32, cues: of_each as u32, pairs };
        call.bind(gpu.whole(&from, states.rows() * width)?);
        call.bind(gpu.rows(&to, part, inputs));
        call.costs(|| Cost::moved(&[part.1, inputs], part.1 * (2 * width + inputs)));
        call.run(&params, gpu.grid((part.1 * inputs).div_ceil(256)));
    }
    Ok(output)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::compute::error::refusal;

    #[test]
    fn a_row_is_that_worked_by_hand() {
        let states = Tensor::new(&[3, 2], vec![1.0, 0.0, 3.0, -2.0, 9.0, 9.0]).unwrap();
        let row = |pair, cues: &[f32]| word_pairs(&Device::cpu(), &states, &[pair], cues);
        let found = row([0, 1], &[0.5]).unwrap();
        assert_eq!((found.shape(), found.data()), (&[1, 5][..], &[2.0, 2.0, 3.0, -0.0, 0.5][..]));
        assert_eq!(refusal(row([0, 3], &[0.5])), "index 3 of states");
        let refused = word_pairs(&Device::cpu(), &states, &[[0, 1], [1, 2]], &[0.5]);
        assert_eq!(refusal(refused), "shape of cues");
        assert_eq!(word_pairs(&Device::cpu(), &states, &[], &[]).unwrap().rows(), 0);
    }
}
