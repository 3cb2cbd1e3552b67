// embedding: adds the rows of a table that ids name.
//
// output[r] = (output[r] unless `starts`) + scale * table[ids[r]]
//
// Shapes      table: rows first_row to first_row + table_rows of (N, D); ids (R) in words;
//             output (R, D)
// Bindings    0 params; 1 words; 2 table; 3 output
// Dispatch    R * D / 256 over x, then y, rounded up
// Reference   kernels/embedding.rs, the same bits but for a fused multiply-add (1e-6)
//
// A table larger than a binding comes in stretches of rows, one call each; an id outside the stretch
// adds nothing.

struct Params {
    rows: u32,
    width: u32,
    ids: u32,
    first_row: u32,
    table_rows: u32,
    starts: u32,
    scale: f32,
    padding: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> words: array<u32>;
@group(0) @binding(2) var<storage, read> table: array<f32>;
@group(0) @binding(3) var<storage, read_write> output: array<f32>;

const WORKGROUP_SIZE: u32 = 256u;

@compute @workgroup_size(256)
fn embedding(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let at = (workgroup.y * grid.x + workgroup.x) * WORKGROUP_SIZE + lane;
    if (at >= params.rows * params.width) {
        return;
    }
    var sum = 0.0;
    if (params.starts == 0u) {
        sum = output[at];
    }
    let id = words[params.ids + at / params.width];
    if (id >= params.first_row && id - params.first_row < params.table_rows) {
        sum += params.scale * table[(id - params.first_row) * params.width + at % params.width];
    }
    output[at] = sum;
}
