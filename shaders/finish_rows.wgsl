// finish_rows: sums of scaled rows, times the scale, plus a bias, at the width that they have.
//
// output[r][c] = sums[r][c] * scales[r] * factor + bias[c]
//
// Shapes      sums (R, stride >= C), scales (R), bias (C), output (R, C)
// Bindings    0 params; 1 sums; 2 scales; 3 bias; 4 output
// Dispatch    a workgroup for each row, x then y
// Reference   kernels/finish_rows.rs, exact
//
// Scales are 1 where `has_scales` is 0. Where `in_place` is 1 the sums lie in the output, and `sums` is not read: a row whose scale is 1 is
// ready without a bias.

struct Params {
    rows: u32,
    columns: u32,
    stride: u32,
    has_bias: u32,
    in_place: u32,
    /// What the numbers of the weight were divided by.
    factor: f32,
    has_scales: u32,
    padding: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> sums: array<f32>;
@group(0) @binding(2) var<storage, read> scales: array<f32>;
@group(0) @binding(3) var<storage, read> bias: array<f32>;
@group(0) @binding(4) var<storage, read_write> output: array<f32>;

const WORKGROUP_SIZE: u32 = 128u;

@compute @workgroup_size(128)
fn finish_rows(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let row = workgroup.y * grid.x + workgroup.x;
    if (row >= params.rows) {
        return;
    }
    var scale = params.factor;
    if (params.has_scales != 0u) {
        scale *= scales[row];
    }
    if (params.in_place != 0u && params.has_bias == 0u && scale == 1.0) {
        return;
    }
    for (var column = lane; column < params.columns; column += WORKGROUP_SIZE) {
        let at = row * params.columns + column;
        var sum = 0.0;
        if (params.in_place != 0u) {
            sum = output[at];
        } else {
            sum = sums[row * params.stride + column];
        }
        sum *= scale;
        if (params.has_bias != 0u) {
            sum += bias[column];
        }
        output[at] = sum;
    }
}
