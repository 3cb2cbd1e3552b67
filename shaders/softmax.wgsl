// softmax: of the columns that a row sees, in place; zero in the others.
//
// tensor[r][c] = e^(tensor[r][c] - max) / sum over c < seen[r], 0 beyond; a row that sees nothing is
// all zeros
//
// Shapes      tensor (R, N); seen (R) in words
// Bindings    0 params; 1 words; 2 tensor
// Dispatch    one workgroup for each row, over x, then y
// Reference   kernels/softmax.rs, 1e-6

struct Params {
    rows: u32,
    width: u32,
    seen: u32,
    padding: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> words: array<u32>;
@group(0) @binding(2) var<storage, read_write> tensor: array<f32>;

const WORKGROUP_SIZE: u32 = 128u;
const MASKED: f32 = -1e30;

var<workgroup> partial: array<f32, WORKGROUP_SIZE>;

@compute @workgroup_size(128)
fn softmax(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let row = workgroup.y * grid.x + workgroup.x;
    if (row >= params.rows) {
        return;
    }
    let start = row * params.width;
    let seen = min(words[params.seen + row], params.width);
    // 1. Largest.
    var own = MASKED;
    for (var i = lane; i < seen; i += WORKGROUP_SIZE) {
        own = max(own, tensor[start + i]);
    }
    partial[lane] = own;
    workgroupBarrier();
    for (var stride = WORKGROUP_SIZE / 2u; stride > 0u; stride /= 2u) {
        if (lane < stride) {
            partial[lane] = max(partial[lane], partial[lane + stride]);
        }
        workgroupBarrier();
    }
    let largest = partial[0];
    // All have read it before it is overwritten.
    workgroupBarrier();
    // 2. Sum of the exponentials.
    var sum = 0.0;
    for (var i = lane; i < seen; i += WORKGROUP_SIZE) {
        sum += exp(tensor[start + i] - largest);
    }
    partial[lane] = sum;
    workgroupBarrier();
    for (var stride = WORKGROUP_SIZE / 2u; stride > 0u; stride /= 2u) {
        if (lane < stride) {
            partial[lane] += partial[lane + stride];
        }
        workgroupBarrier();
    }
    let whole = partial[0];
    // 3. Shares.
    for (var i = lane; i < params.width; i += WORKGROUP_SIZE) {
        var share = 0.0;
        if (i < seen) {
            share = exp(tensor[start + i] - largest) / whole;
        }
        tensor[start + i] = share;
    }
}
