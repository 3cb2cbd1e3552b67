//! A gate through SiLU times its factor, both out of one product, rounded to 16 bits in the same
//! pass.

use super::finish_rows::Sums;
use super::half_rows::{HalfRows, tile_parts};
use crate::engine::compute::ComputeError;
use crate::engine::compute::gpu::Cost;

shader! {
    "gated_half_rows", 128, Half, [Read, Write, Write];
    struct Params {
        rows: u32,
        width: u32,
        pairs: u32,
        stride: u32,
        factor: f32,
        padding: [u32; 3],
    }
}

/// `silu(gates) * factors` of sums (R, 2 I) whose first half are gates: (R, I).
///
/// # Errors
/// When the GPU has no room or failed.
///
/// # Panics
/// When the rows that were multiplied had scales, which normalised ones have not.
pub fn gated_half_rows(sums: &Sums) -> Result<HalfRows, ComputeError> {
    assert!(sums.scales.is_none(), "gates and factors are made of normalised rows");
    let Sums { gpu, rows, stride, .. } = sums;
    let (rows, width) = (*rows, sums.columns / 2);
    let states = HalfRows::unwritten(gpu, rows, width, true)?;
    let (pairs, scales) = (states.pairs(), states.scales.as_ref().expect("they are scaled"));
    for part in tile_parts(gpu, rows, &[*stride, pairs])? {
        let params = Params {
            rows: part.1 as u32,
            width: width as u32,
            pairs: pairs as u32,
            stride: *stride as u32,
            factor: sums.factor,
            padding: [0; 3],
        };
        let mut call = gpu.call(&SHADER, 0)?;
        call.bind(gpu.rows(&sums.buffer, part, *stride));
        call.bind(states.window(gpu, part));
        call.bind(gpu.rows(scales, part, 1));
        call.costs(|| Cost::moved(&[part.1, width], part.1 * (2 * width + pairs)));
        call.run(&params, gpu.grid(part.1));
    }
    Ok(states)
}
