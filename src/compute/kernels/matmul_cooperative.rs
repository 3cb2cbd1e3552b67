//! Matrix product on a GPU's matrix units, with weights and states of 16 bits and sums of 32.
//!
//! [`matmul_tiled`](super::matmul_tiled) chooses among the shaders of a product, and takes this one
//! only after [`is_right`] on the same device. A state is converted to 16 bits in the shader. WGSL
//! lets the driver choose the nearest number or a neighbour. With weights rounded on the host (see
//! [`matmul_half`]) a product is within 2^-10 + 2^-11 of the sum of the magnitudes of its terms. It
//! is within 2^-10 where the driver rounds to the nearest. A state above 65,504 may become
//! infinite, and the score that follows from it an error, or the largest number, which nothing
//! reports.

use super::matmul_half;
use super::matmul_tiled::{Block, Resident, Run, by, in_tiles};
use crate::compute::gpu::Gpu;
use crate::compute::{ComputeError, Tensor};

/// Rows and columns that a workgroup computes.
const TILE: usize = 128;

shader!("matmul_cooperative", 256, MatrixUnits, super::matmul_tiled::SHADER.bindings);

pub(super) fn gpu(block: Block<'_>) -> Result<(), ComputeError> {
    in_tiles(block, &SHADER, TILE)
}

/// Whether the units of a device compute what its other shaders do.
///
/// # Errors
/// When the device fails, which says nothing of its units.
pub(super) fn is_right(device: &Gpu) -> Result<bool, ComputeError> {
    agrees(device, gpu)
}

/// Whether a shader agrees with [`matmul_half`] on shapes that are no multiples of a tile. 16 bits
/// hold every operand, so only the order of additions may differ.
fn agrees(gpu: &Gpu, run: Run) -> Result<bool, ComputeError> {
    let gpu = &gpu.with_half(true);
    let tensor = |rows: usize, width: usize, step: usize| {
        let numbers = (0..rows * width).map(|i| (i * step % 2039) as f32 / 1024.0 - 1.0);
        Tensor::new(&[rows, width], numbers.collect())
    };
    for (rows, inputs, outputs) in [(150, 100, 140), (1, 7, 5)] {
        let (input, bias) = (tensor(rows, inputs, 37)?, tensor(1, outputs, 11)?);
        let weight = Resident::new(gpu, &tensor(outputs, inputs, 53)?);
        let product = |run| by(run, &weight, &input, Some(&bias))?.to_host();
        let (found, wanted) = (product(run)?, product(matmul_half::gpu)?);
        let close = |(found, wanted): (&f32, &f32)| (found - wanted).abs() < 1e-3;
        if !found.data().iter().zip(wanted.data()).all(close) {
            return Ok(false);
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use super::*;
    use crate::compute::gpu::{GpuOptions, adapters};
    use crate::compute::{Needs, Shader};

    /// What a fragment is where there are no units: each of 64 lanes has four neighbouring sums,
    /// and knows where factors lie.
    const FRAGMENTS: &str = "
        var<private> first: u32;
        fn sums_of(start: u32) -> vec4<f32> {
            let at = start + first;
            return vec4<f32>(staged[at], staged[at + 1u], staged[at + 2u], staged[at + 3u]);
        }
        fn multiply_add(row: u32, column: u32, sums: vec4<f32>) -> vec4<f32> {
            var more = sums;
            for (var i = 0u; i < 4u; i++) {
                let r = row + (first + i) / SIDE * PITCH;
                let c = column + (first + i) % SIDE * PITCH;
                for (var k = 0u; k < SIDE; k++) {
                    more[i] += f32(row_tile[r + k]) * f32(column_tile[c + k]);
                }
            }
            return more;
        }
        fn stage(sums: vec4<f32>, start: u32) {
            for (var i = 0u; i < 4u; i++) {
                staged[start + first + i] = sums[i];
            }
        }
    ";

    /// The shader with its units spelled out, for adapters that have none; subgroups have 64 lanes,
    /// so that parts come in two rounds.
    static SPELLED_OUT: LazyLock<Shader> = LazyLock::new(|| {
        let mut source = SHADER.source.replace("enable wgpu_cooperative_matrix;", "");
        for (units, spelled_out) in [
            ("coopLoadT<coop_mat16x16<f32, C>>(&staged[own], SIDE)", "sums_of(own)"),
            ("coopLoadT<coop_mat16x16<f16, A>>(&row_tile[", "("),
            ("coopLoad<coop_mat16x16<f16, B>>(&column_tile[", "("),
            ("], PITCH)", ")"),
            ("coopMultiplyAdd(", "multiply_add("),
            ("coopStoreT(", "stage("),
            ("&staged[own], SIDE)", "own)"),
            ("    @builtin(num_subgroups) subgroups: u32,\n", ""),
            ("    @builtin(subgroup_id) subgroup: u32,\n", ""),
            ("    @builtin(subgroup_size) lanes: u32,\n", ""),
            ("    @builtin(subgroup_invocation_id) own_lane: u32,\n", ""),
            (
                "    let own = ",
                "    let subgroups = 4u;
    let lanes = 64u;
    let subgroup = lane / lanes;
    let own_lane = lane % lanes;
    first = 4u * own_lane;
    let own = ",
            ),
        ] {
            assert!(source.contains(units), "the shader has no `{units}`");
            source = source.replace(units, spelled_out);
        }
        source.push_str(FRAGMENTS);
        Shader { source: source.leak(), needs: Needs::Half, ..SHADER }
    });

    #[test]
    fn the_shader_agrees_with_the_plain_one_where_its_units_are_spelled_out() {
        let all = adapters();
        let Some(place) = all.iter().position(|adapter| adapter.half_precision) else {
            // Past the harness, which keeps what tests print while they pass.
            let why = b"the shader of matrix units is not tested: no adapter has 16-bit floats\n";
            std::io::Write::write_all(&mut std::io::stderr(), why).unwrap();
            return;
        };
        let gpu = Gpu::open(place, &GpuOptions { half: true, ..GpuOptions::default() }).unwrap();
        assert!(agrees(&gpu, |block| in_tiles(block, &SPELLED_OUT, TILE)).unwrap());
        // A shader that computes something else is found out.
        assert!(!agrees(&gpu, |block| matmul_half::gpu(Block { bias: None, ..block })).unwrap());
    }
}
