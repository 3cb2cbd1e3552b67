// rms_norm: divides each row by the root of its mean square.
//
// output = input / sqrt(mean input^2 + eps) * gain
//
// Shapes      input, output (R, D); gain (D)
// Bindings    0 params; 1 input; 2 gain; 3 output
// Dispatch    one workgroup for each row, over x, then y
// Reference   kernels/rms_norm.rs, 1e-5

struct Params {
    rows: u32,
    width: u32,
    eps: f32,
    padding: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> input: array<f32>;
@group(0) @binding(2) var<storage, read> gain: array<f32>;
@group(0) @binding(3) var<storage, read_write> output: array<f32>;

const WORKGROUP_SIZE: u32 = 128u;

var<workgroup> partial: array<f32, WORKGROUP_SIZE>;

@compute @workgroup_size(128)
fn rms_norm(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let row = workgroup.y * grid.x + workgroup.x;
    if (row >= params.rows) {
        return;
    }
    let start = row * params.width;
    // 1. Sum of squares.
    var squares = 0.0;
    for (var i = lane; i < params.width; i += WORKGROUP_SIZE) {
        squares = fma(input[start + i], input[start + i], squares);
    }
    partial[lane] = squares;
    workgroupBarrier();
    for (var stride = WORKGROUP_SIZE / 2u; stride > 0u; stride /= 2u) {
        if (lane < stride) {
            partial[lane] += partial[lane + stride];
        }
        workgroupBarrier();
    }
    // 2. Scale.
    let factor = 1.0 / sqrt(partial[0] / f32(params.width) + params.eps);
    for (var i = lane; i < params.width; i += WORKGROUP_SIZE) {
        output[start + i] = input[start + i] * factor * gain[i];
    }
}
