// half_rows: rows as 16-bit floats, each divided by a power of two where it would not fit.
//
// output[r][k] = half(input[r][k] / scales[r]), zero from K to K'
//
// Shapes      input (R, K); output (R', K' / 2) pairs in fragments of 16 rows and 8 pairs, R' and K' multiples
//             of 16; scales (R)
// Bindings    0 params; 1 input; 2 output; 3 scales
// Dispatch    a workgroup for each row, x then y
// Reference   kernels/half_rows.rs; the nearest 16-bit float or its neighbour, as the driver rounds
//
// A row whose largest magnitude m lies in [2^-4, 2^15) keeps its scale of 1. Another one is divided by the
// largest power of two that is not above m, which is exact. A row of zeros keeps 1; so does one with a
// number that is not finite, which stays so.

enable f16;

struct Params {
    rows: u32,
    width: u32,
    /// K' / 2.
    pairs: u32,
    padding: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> input: array<f32>;
@group(0) @binding(2) var<storage, read_write> output: array<vec2<f16>>;
@group(0) @binding(3) var<storage, read_write> scales: array<f32>;

const WORKGROUP_SIZE: u32 = 128u;

/// Bits of the largest magnitude that each lane saw.
var<workgroup> highest: array<u32, WORKGROUP_SIZE>;

/// Where a pair of a row lies: in its fragment of 16 rows and 8 pairs.
fn place(row: u32, pair: u32) -> u32 {
    return (row / 16u * (params.pairs / 8u) + pair / 8u) * 128u + row % 16u * 8u + pair % 8u;
}

fn input_at(row: u32, k: u32) -> f32 {
    if (k < params.width) {
        return input[row * params.width + k];
    }
    return 0.0;
}

@compute @workgroup_size(128)
fn half_rows(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let row = workgroup.y * grid.x + workgroup.x;
    if (row >= params.rows) {
        return;
    }
    // 1. The largest magnitude. Bits of numbers without a sign are in the order of the numbers, and what
    //    is not finite comes last.
    var high = 0u;
    for (var k = lane; k < params.width; k += WORKGROUP_SIZE) {
        high = max(high, bitcast<u32>(input[row * params.width + k]) & 0x7fffffffu);
    }
    highest[lane] = high;
    workgroupBarrier();
    for (var stride = WORKGROUP_SIZE / 2u; stride > 0u; stride /= 2u) {
        if (lane < stride) {
            highest[lane] = max(highest[lane], highest[lane + stride]);
        }
        workgroupBarrier();
    }
    // 2. Its exponent, biased by 127, as the scale's. Both powers of two are normal numbers.
    let exponent = clamp(highest[0] >> 23u, 1u, 253u);
    let fits = highest[0] == 0u || highest[0] >= 0x7f800000u || (exponent >= 123u && exponent < 142u);
    let scale = select(bitcast<f32>(exponent << 23u), 1.0, fits);
    let factor = select(bitcast<f32>((254u - exponent) << 23u), 1.0, fits);
    if (lane == 0u) {
        scales[row] = scale;
    }
    for (var at = lane; at < params.pairs; at += WORKGROUP_SIZE) {
        let pair = vec2<f32>(input_at(row, 2u * at), input_at(row, 2u * at + 1u));
        output[place(row, at)] = vec2<f16>(pair * factor);
    }
}
