// scatter: copies rows to chosen rows of a table.
//
// table[at[r]] = rows[r]
//
// Shapes      rows (R, D); at (R) in words; table: rows first_row to first_row + table_rows of (N, D)
// Bindings    0 params; 1 words; 2 rows; 3 table
// Dispatch    R * D / 256 over x, then y, rounded up
// Reference   kernels/scatter.rs, the same bits

struct Params {
    rows: u32,
    width: u32,
    at: u32,
    first_row: u32,
    table_rows: u32,
    padding_0: u32,
    padding_1: u32,
    padding_2: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> words: array<u32>;
@group(0) @binding(2) var<storage, read> rows: array<f32>;
@group(0) @binding(3) var<storage, read_write> table: array<f32>;

const WORKGROUP_SIZE: u32 = 256u;

@compute @workgroup_size(256)
fn scatter(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let number = (workgroup.y * grid.x + workgroup.x) * WORKGROUP_SIZE + lane;
    if (number >= params.rows * params.width) {
        return;
    }
    let to = words[params.at + number / params.width];
    if (to >= params.first_row && to - params.first_row < params.table_rows) {
        table[(to - params.first_row) * params.width + number % params.width] = rows[number];
    }
}
