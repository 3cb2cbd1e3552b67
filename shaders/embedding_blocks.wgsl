// embedding_blocks: the rows of a table in blocks of few bits that ids name, unpacked.
//
// output[r][i] = (output[r][i] unless `starts`) + factor * (scale[id][g] * (quant[id][i] - zero) + least[id][g])
//
// Shapes      of strips of 16 rows, first_row to first_row + table_rows of (N, D): integers (strips, lines,
//             16), four of 8 bits, or eight of 4 bits, the first four of them in the lower halves of the
//             bytes; scales and least numbers (strips, groups, 16); ids (R) in words; output (R, D)
// Bindings    0 params; 1 words; 2 integers; 3 scales; 4 least; 5 output
// Dispatch    R * D / 256 over x, then y, rounded up
// Reference   kernels/matmul_blocks.rs (`unpack_row`), the same bits but for a fused multiply-add (1e-6)
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
    factor: f32,
    /// Of a strip.
    lines: u32,
    /// 4 or 8.
    line_inputs: u32,
    /// Of a strip.
    groups: u32,
    /// 16 or 32.
    group_inputs: u32,
    zero: u32,
    has_least: u32,
    padding_0: u32,
    padding_1: u32,
    padding_2: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> words: array<u32>;
@group(0) @binding(2) var<storage, read> integers: array<u32>;
@group(0) @binding(3) var<storage, read> scales: array<f32>;
@group(0) @binding(4) var<storage, read> least: array<f32>;
@group(0) @binding(5) var<storage, read_write> output: array<f32>;

const WORKGROUP_SIZE: u32 = 256u;
/// Rows of a strip.
const STRIP: u32 = 16u;

@compute @workgroup_size(256)
fn embedding_blocks(
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
        let row = id - params.first_row;
        let strip = row / STRIP;
        let i = at % params.width;
        let line = strip * params.lines + i / params.line_inputs;
        var quant = (integers[line * STRIP + row % STRIP] >> (8u * (i % 4u))) & 255u;
        if (params.line_inputs == 8u) {
            quant = (quant >> (4u * (i / 4u % 2u))) & 15u;
        }
        let group = (strip * params.groups + i / params.group_inputs) * STRIP + row % STRIP;
        var value = scales[group] * (f32(quant) - f32(params.zero));
        if (params.has_least != 0u) {
            value += least[group];
        }
        sum += params.factor * value;
    }
    output[at] = sum;
}
