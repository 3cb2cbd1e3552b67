//! Sums join a residual stream, whose rows are normalised and rounded to 16 bits in the same pass.

use super::finish_rows::Sums;
use super::half_rows::{HalfRows, tile_parts};
use crate::engine::compute::gpu::{Cost, Gpu};
use crate::engine::compute::{ComputeError, Tensor};

shader! {
    "norm_half_rows", 128, Half, [Read, Read, Read, Write, Write];
    struct Params {
        rows: u32,
        width: u32,
        pairs: u32,
        stride: u32,
        has_sums: u32,
        factor: f32,
        eps: f32,
        has_scales: u32,
    }
}

/// The rows that run through a network's layers, and sums of the last block that are yet to join
/// them.
#[derive(Debug)]
pub struct Stream {
    rows: Tensor,
    pending: Option<Sums>,
}

impl Stream {
    /// A stream of rows (R, D).
    #[must_use]
    pub fn new(rows: Tensor) -> Self {
        Self { rows, pending: None }
    }

    /// Lets a block's sums (R, D) join before the rows are read again.
    ///
    /// # Panics
    /// When others are pending.
    pub fn join(&mut self, sums: Sums) {
        assert!(self.pending.is_none(), "sums join one after the other");
        self.pending = Some(sums);
    }

    /// The rows, and what is pending.
    #[must_use]
    pub fn into_parts(self) -> (Tensor, Option<Sums>) {
        (self.rows, self.pending)
    }
}

/// Lets what is pending join, and normalises the rows by their root mean square with a `gain` (D),
/// as [`rms_norm`](super::rms_norm()) does. Nothing is scaled: a normalised number is at most the
/// root of the width times the gain, which a caller knows to be less than
/// 65,504.
///
/// # Errors
/// When the shapes do not fit, or the GPU has no room or failed.
pub fn norm_half_rows(
    gpu: &Gpu,
    stream: &mut Stream,
    gain: &Tensor,
    eps: f32,
) -> Result<HalfRows, ComputeError> {
    let (rows, width) = (stream.rows.rows(), stream.rows.width());
    gain.expect("norm_half_rows", "gain", 1, width)?;
    let pending = stream.pending.take();
    let to_join = stream.rows.own_buffer(gpu)?;
    let states = HalfRows::unwritten(gpu, rows, width, false)?;
    let (gain, pairs) = (gpu.operand(gain)?, states.pairs());
    let stand_in = gpu.allocate(1)?;
    let stride = pending.as_ref().map_or(width, |sums| sums.stride);
    for part in tile_parts(gpu, rows, &[width, pairs, stride])? {
        let params = Params {
            rows: part.1 as u32,
            width: width as u32,
            pairs: pairs as u32,
            stride: stride as u32,
            has_sums: u32::from(pending.is_some()),
            factor: pending.as_ref().map_or(1.0, |sums| sums.factor),
            eps,
            has_scales: u32::from(pending.as_ref().is_some_and(|sums| sums.scales.is_some())),
        };
        let mut call = gpu.call(&SHADER, 0)?;
        match &pending {
            Some(sums) => {
                call.bind(gpu.rows(&sums.buffer, part, stride));
                call.bind(sums.scales_of(part));
            }
            None => (0..2).for_each(|_| call.bind(gpu.rows(&stand_in, (0, 1), 1))),
        }
        call.bind(gpu.whole(&gain, width)?);
        call.bind(gpu.rows(&to_join, part, width));
        call.bind(states.window(gpu, part));
        call.costs(|| Cost::moved(&[part.1, width], part.1 * (3 * width + pairs)));
        call.run(&params, gpu.grid(part.1));
    }
    Ok(states)
}
