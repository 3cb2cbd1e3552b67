// layer_norm: adds a residual and normalises each row.
//
// x = input + residual; output = (x - mean x) / sqrt(var x + eps) * gain + bias
//
// Shapes      input, residual, output (R, D); gain, bias (D)
// Bindings    0 params; 1 input; 2 residual (read where `has_residual`); 3 gain; 4 bias; 5 output
// Dispatch    one workgroup for each row, over x, then y
// Reference   kernels/layer_norm.rs, 1e-5

struct Params {
    rows: u32,
    width: u32,
    has_residual: u32,
    eps: f32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> input: array<f32>;
@group(0) @binding(2) var<storage, read> residual: array<f32>;
@group(0) @binding(3) var<storage, read> gain: array<f32>;
@group(0) @binding(4) var<storage, read> bias: array<f32>;
@group(0) @binding(5) var<storage, read_write> output: array<f32>;

const WORKGROUP_SIZE: u32 = 128u;

var<workgroup> partial: array<f32, WORKGROUP_SIZE>;

/// The sum of a number of every lane.
fn total(lane: u32, own: f32) -> f32 {
    // What the sum before left is read by all before it is overwritten.
    workgroupBarrier();
    partial[lane] = own;
    workgroupBarrier();
    for (var stride = WORKGROUP_SIZE / 2u; stride > 0u; stride /= 2u) {
        if (lane < stride) {
            partial[lane] += partial[lane + stride];
        }
        workgroupBarrier();
    }
    return partial[0];
}

fn value(at: u32) -> f32 {
    if (params.has_residual != 0u) {
        return input[at] + residual[at];
    }
    return input[at];
}

@compute @workgroup_size(128)
fn layer_norm(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let row = workgroup.y * grid.x + workgroup.x;
    if (row >= params.rows) {
        return;
    }
    let start = row * params.width;
    // 1. Mean.
    var sum = 0.0;
    for (var i = lane; i < params.width; i += WORKGROUP_SIZE) {
        sum += value(start + i);
    }
    let mean = total(lane, sum) / f32(params.width);
    // 2. Variance around the mean (in one pass with the mean it would cancel badly).
    var squares = 0.0;
    for (var i = lane; i < params.width; i += WORKGROUP_SIZE) {
        let d = value(start + i) - mean;
        squares = fma(d, d, squares);
    }
    let factor = 1.0 / sqrt(total(lane, squares) / f32(params.width) + params.eps);
    // 3. Normalise.
    for (var i = lane; i < params.width; i += WORKGROUP_SIZE) {
        output[start + i] = fma((value(start + i) - mean) * factor, gain[i], bias[i]);
    }
}
