// add: adds one tensor to another, in place.
//
// tensor = tensor + other
//
// Shapes      tensor, other (N)
// Bindings    0 params; 1 other; 2 tensor
// Dispatch    N / 256 over x, then y, rounded up
// Reference   kernels/add.rs, the same bits

struct Params {
    numbers: u32,
    padding_1: u32,
    padding_2: u32,
    padding_3: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> other: array<f32>;
@group(0) @binding(2) var<storage, read_write> tensor: array<f32>;

const WORKGROUP_SIZE: u32 = 256u;

@compute @workgroup_size(256)
fn add(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let at = (workgroup.y * grid.x + workgroup.x) * WORKGROUP_SIZE + lane;
    if (at < params.numbers) {
        tensor[at] += other[at];
    }
}
