// gated_half_rows: a gate through SiLU times its factor, as 16-bit floats with a scale for each row.
//
// y[r][i] = silu(sums[r][i] * factor) * sums[r][I + i] * factor
// output[r][i] = half(y[r][i] / scales[r]), zero from I to I'
//
// Shapes      sums (R, stride >= 2 I), gates before factors; output (R', I' / 2) pairs in
//             fragments of 16 rows and 8 pairs, R' and I' multiples of 16; scales (R)
// Bindings    0 params; 1 sums; 2 output; 3 scales
// Dispatch    a workgroup for each row, x then y
// Reference   kernels/activation.rs, then kernels/half_rows.rs, whose scales these are

enable f16;

struct Params {
    rows: u32,
    /// I.
    width: u32,
    /// I' / 2.
    pairs: u32,
    stride: u32,
    factor: f32,
    padding_0: u32,
    padding_1: u32,
    padding_2: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> sums: array<f32>;
@group(0) @binding(2) var<storage, read_write> output: array<vec2<f16>>;
@group(0) @binding(3) var<storage, read_write> scales: array<f32>;

const WORKGROUP_SIZE: u32 = 128u;

/// Bits of the largest magnitude that each lane saw.
var<workgroup> highest: array<u32, WORKGROUP_SIZE>;

/// Where a pair of a row lies: in its fragment of 16 rows and 8 pairs.
fn place(row: u32, pair: u32) -> u32 {
    return (row / 16u * (params.pairs / 8u) + pair / 8u) * 128u + row % 16u * 8u + pair % 8u;
}

/// x / (1 + e^-x) times the factor; the exponential stays finite, and the quotient vanishes where it
/// should.
fn gated(row: u32, column: u32) -> f32 {
    if (column >= params.width) {
        return 0.0;
    }
    let at = row * params.stride + column;
    let x = sums[at] * params.factor;
    let gate = select(x / (1.0 + exp(min(-x, 80.0))), 0.0, x < -80.0);
    return gate * (sums[at + params.width] * params.factor);
}

@compute @workgroup_size(128)
fn gated_half_rows(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let row = workgroup.y * grid.x + workgroup.x;
    if (row >= params.rows) {
        return;
    }
    // 1. The largest magnitude, as in `half_rows`.
    var high = 0u;
    for (var pair = lane; pair < params.pairs; pair += WORKGROUP_SIZE) {
        high = max(high, bitcast<u32>(gated(row, 2u * pair)) & 0x7fffffffu);
        high = max(high, bitcast<u32>(gated(row, 2u * pair + 1u)) & 0x7fffffffu);
    }
    highest[lane] = high;
    workgroupBarrier();
    for (var stride = WORKGROUP_SIZE / 2u; stride > 0u; stride /= 2u) {
        if (lane < stride) {
            highest[lane] = max(highest[lane], highest[lane + stride]);
        }
        workgroupBarrier();
    }
    // 2. Its exponent, biased by 127, as the scale's.
    let exponent = clamp(highest[0] >> 23u, 1u, 253u);
    let fits = highest[0] == 0u || highest[0] >= 0x7f800000u || (exponent >= 123u && exponent < 142u);
    let scale = select(bitcast<f32>(exponent << 23u), 1.0, fits);
    let factor = select(bitcast<f32>((254u - exponent) << 23u), 1.0, fits);
    if (lane == 0u) {
        scales[row] = scale;
    }
    for (var pair = lane; pair < params.pairs; pair += WORKGROUP_SIZE) {
        let numbers = vec2<f32>(gated(row, 2u * pair), gated(row, 2u * pair + 1u));
        output[place(row, pair)] = vec2<f16>(numbers * factor);
    }
}
