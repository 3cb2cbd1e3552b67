// embedding_half: the rows of a table of 16-bit floats that ids name, as 32-bit ones.
//
// output[r][i] = factor * table[id][i]; rows whose id is outside the table are left alone
//
// Shapes      table, rows first_row to first_row + table_rows of (N', D'), in fragments of 16 x 16; ids (R) in
//             words; output (R, D)
// Bindings    0 params; 1 words; 2 table; 3 output
// Dispatch    R * D / 256 over x, then y, rounded up
// Reference   the rounded numbers themselves, exact but for the factor
//
// A table larger than a binding comes in stretches of rows, one call each.

enable f16;

struct Params {
    rows: u32,
    width: u32,
    ids: u32,
    first_row: u32,
    table_rows: u32,
    /// Fragments of a row.
    fragments: u32,
    factor: f32,
    padding: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> words: array<u32>;
@group(0) @binding(2) var<storage, read> table: array<f16>;
@group(0) @binding(3) var<storage, read_write> output: array<f32>;

const WORKGROUP_SIZE: u32 = 256u;

@compute @workgroup_size(256)
fn embedding_half(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let at = (workgroup.y * grid.x + workgroup.x) * WORKGROUP_SIZE + lane;
    if (at >= params.rows * params.width) {
        return;
    }
    let id = words[params.ids + at / params.width];
    if (id >= params.first_row && id - params.first_row < params.table_rows) {
        let row = id - params.first_row;
        let i = at % params.width;
        let place = (row / 16u * params.fragments + i / 16u) * 256u + row % 16u * 16u + i % 16u;
        output[at] = params.factor * f32(table[place]);
    }
}
