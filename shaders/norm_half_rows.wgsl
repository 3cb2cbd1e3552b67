// norm_half_rows: sums join a residual stream, whose rows are normalised and rounded to 16 bits.
//
// stream[r] += sums[r] * scales[r] * factor    where `has_sums` is 1
// output[r][d] = half(stream[r][d] / sqrt(mean_e stream[r][e]^2 + eps) * gain[d]), zero from D to D'
//
// Shapes      stream (R, D); sums (R, stride >= D), scales (R); gain (D); output (R', D' / 2) pairs
//             in fragments of 16 rows and 8 pairs, R' and D' multiples of 16
// Bindings    0 params; 1 sums; 2 scales; 3 gain; 4 stream; 5 output
// Dispatch    a workgroup for each row, x then y
// Reference   kernels/rms_norm.rs, then kernels/half_rows.rs
//
// Scales are 1 where `has_scales` is 0. A lane reads back what it wrote itself, and no other lane's numbers.

enable f16;

struct Params {
    rows: u32,
    width: u32,
    /// D' / 2.
    pairs: u32,
    stride: u32,
    has_sums: u32,
    factor: f32,
    eps: f32,
    has_scales: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> sums: array<f32>;
@group(0) @binding(2) var<storage, read> scales: array<f32>;
@group(0) @binding(3) var<storage, read> gain: array<f32>;
@group(0) @binding(4) var<storage, read_write> stream: array<f32>;
@group(0) @binding(5) var<storage, read_write> output: array<vec2<f16>>;

const WORKGROUP_SIZE: u32 = 128u;

var<workgroup> partial: array<f32, WORKGROUP_SIZE>;

/// Where a pair of a row lies: in its fragment of 16 rows and 8 pairs.
fn place(row: u32, pair: u32) -> u32 {
    return (row / 16u * (params.pairs / 8u) + pair / 8u) * 128u + row % 16u * 8u + pair % 8u;
}

/// A number of the stream once the sums have joined it; 0 beyond D.
fn joined(row: u32, column: u32, scale: f32) -> f32 {
    if (column >= params.width) {
        return 0.0;
    }
    let at = row * params.width + column;
    var number = stream[at];
    if (params.has_sums != 0u) {
        number += sums[row * params.stride + column] * scale;
        stream[at] = number;
    }
    return number;
}

fn normalised(row: u32, column: u32, factor: f32) -> f32 {
    if (column >= params.width) {
        return 0.0;
    }
    return stream[row * params.width + column] * factor * gain[column];
}

@compute @workgroup_size(128)
fn norm_half_rows(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let row = workgroup.y * grid.x + workgroup.x;
    if (row >= params.rows) {
        return;
    }
    // 1. The sum, and its squares.
    var scale = params.factor;
    if (params.has_scales != 0u) {
        scale *= scales[row];
    }
    var squares = 0.0;
    for (var pair = lane; pair < params.pairs; pair += WORKGROUP_SIZE) {
        let first = joined(row, 2u * pair, scale);
        let second = joined(row, 2u * pair + 1u, scale);
        squares = fma(first, first, squares);
        squares = fma(second, second, squares);
    }
    partial[lane] = squares;
    workgroupBarrier();
    for (var stride = WORKGROUP_SIZE / 2u; stride > 0u; stride /= 2u) {
        if (lane < stride) {
            partial[lane] += partial[lane + stride];
        }
        workgroupBarrier();
    }
    // 2. Scaled and rounded.
    let factor = 1.0 / sqrt(partial[0] / f32(params.width) + params.eps);
    for (var pair = lane; pair < params.pairs; pair += WORKGROUP_SIZE) {
        let numbers = vec2<f32>(
            normalised(row, 2u * pair, factor),
            normalised(row, 2u * pair + 1u, factor),
        );
        output[place(row, pair)] = vec2<f16>(numbers);
    }
}
