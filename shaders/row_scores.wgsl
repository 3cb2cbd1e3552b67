// row_scores: what follows the hidden layer of a network with one output: PReLU, output, sigmoid.
//
// h = z where z > 0, else slope * z
// output[r] = 1 / (1 + e^-(output_bias + weight . h)), or -1 where the sum is not finite
//
// Shapes      hidden (R, H): z; weight (1, H); output (R)
// Bindings    0 params; 1 hidden; 2 weight; 3 output
// Dispatch    one workgroup for 16 rows, each of which 16 lanes read together, over x, then y
// Reference   kernels/row_scores.rs, 1e-5

struct Params {
    rows: u32,
    hidden: u32,
    slope: f32,
    output_bias: f32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> hidden: array<f32>;
@group(0) @binding(2) var<storage, read> weight: array<f32>;
@group(0) @binding(3) var<storage, read_write> output: array<f32>;

const WORKGROUP_SIZE: u32 = 256u;
const LANES: u32 = 16u;

var<workgroup> partial: array<f32, WORKGROUP_SIZE>;

@compute @workgroup_size(256)
fn row_scores(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let first = (workgroup.y * grid.x + workgroup.x) * (WORKGROUP_SIZE / LANES);
    let row = first + lane / LANES;
    let of_row = lane % LANES;
    // 1. Each lane its units; rows behind the last have none.
    var sum = 0.0;
    if (row < params.rows) {
        for (var unit = of_row; unit < params.hidden; unit += LANES) {
            let z = hidden[row * params.hidden + unit];
            let h = select(params.slope * z, z, z > 0.0);
            sum = fma(weight[unit], h, sum);
        }
    }
    // 2. The lanes of a row together, and the sigmoid of what comes out.
    partial[lane] = sum;
    workgroupBarrier();
    for (var stride = LANES / 2u; stride > 0u; stride /= 2u) {
        if (of_row < stride) {
            partial[lane] += partial[lane + stride];
        }
        workgroupBarrier();
    }
    if (of_row == 0u && row < params.rows) {
        let logit = params.output_bias + partial[lane];
        // A score that is none says so: -1.
        let is_finite = (bitcast<u32>(logit) & 0x7f800000u) != 0x7f800000u;
        output[row] = select(-1.0, 1.0 / (1.0 + exp(min(-logit, 80.0))), is_finite);
    }
}
