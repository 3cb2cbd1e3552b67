// matmul_blocks: product with a transposed matrix in blocks of few bits, unpacked in registers.
//
// output[r][c] = bias[c] + sum_k input[r][k] * (scale[c][g] * (quant[c][k] - zero) + least[c][g])
//
// Shapes      input (R, K); integers (C / 16, lines, 16): four integers of 8 bits, or eight of 4 bits, the
//             first four of them in the lower halves of the bytes; scales and least numbers
//             (C / 16, groups, 16); bias (all columns); output (R, output_stride)
// Bindings    0 params; 1 input; 2 integers; 3 scales; 4 least; 5 bias; 6 output
// Dispatch    (C / 16 over x, then y, R / 8), rounded up
// Reference   kernels/matmul_blocks.rs with the input in f32; a sum is 16 chains added up pairwise, 1e-4 of
//             the sum of magnitudes
//
// 16 lanes stand for the columns of a strip, 16 share the inputs of each; eight rows are summed at once, so
// a weight is unpacked once for eight rows.

struct Params {
    rows: u32,
    inputs: u32,
    columns: u32,
    output_stride: u32,
    first_column: u32,
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
    has_bias: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> input: array<f32>;
@group(0) @binding(2) var<storage, read> integers: array<u32>;
@group(0) @binding(3) var<storage, read> scales: array<f32>;
@group(0) @binding(4) var<storage, read> least: array<f32>;
@group(0) @binding(5) var<storage, read> bias: array<f32>;
@group(0) @binding(6) var<storage, read_write> output: array<f32>;

const WORKGROUP_SIZE: u32 = 256u;
const COLUMNS: u32 = 16u;
const PARTS: u32 = 16u;
const ROWS: u32 = 8u;
/// Inputs of each row that lie in workgroup memory at a time.
const CHUNK: u32 = 256u;

/// (input, four rows of eight)
var<workgroup> rows_chunk: array<vec4<f32>, 512>;
var<workgroup> partial: array<vec4<f32>, 512>;

fn input_at(row: u32, k: u32) -> f32 {
    if (row < params.rows && k < params.inputs) {
        return input[row * params.inputs + k];
    }
    return 0.0;
}

@compute @workgroup_size(256)
fn matmul_blocks(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let first_row = workgroup.z * ROWS;
    let strip = workgroup.y * grid.x + workgroup.x;
    let own = lane % COLUMNS;
    let part = lane / COLUMNS;
    let is_there = strip * COLUMNS < params.columns;
    var low_rows = vec4<f32>();
    var high_rows = vec4<f32>();
    let chunk_lines = CHUNK / params.line_inputs;
    for (var first = 0u; first < params.lines; first += chunk_lines) {
        // 1. A stretch of the rows into workgroup memory.
        for (var at = lane; at < 2u * CHUNK; at += WORKGROUP_SIZE) {
            let k = first * params.line_inputs + at / 2u;
            let row = first_row + 4u * (at % 2u);
            rows_chunk[at] = vec4<f32>(
                input_at(row, k),
                input_at(row + 1u, k),
                input_at(row + 2u, k),
                input_at(row + 3u, k),
            );
        }
        workgroupBarrier();
        // 2. Its products with the columns.
        if (is_there) {
            let end = min(chunk_lines, params.lines - first);
            for (var i = part; i < end; i += PARTS) {
                let line = first + i;
                let word = integers[(strip * params.lines + line) * COLUMNS + own];
                let group = line * params.line_inputs / params.group_inputs;
                let of_group = (strip * params.groups + group) * COLUMNS + own;
                let scale = scales[of_group];
                var raised = 0.0;
                if (params.has_least != 0u) {
                    raised = least[of_group];
                }
                for (var j = 0u; j < params.line_inputs; j++) {
                    var quant = (word >> (8u * (j % 4u))) & 255u;
                    if (params.line_inputs == 8u) {
                        quant = (quant >> (4u * (j / 4u))) & 15u;
                    }
                    let w = scale * (f32(quant) - f32(params.zero)) + raised;
                    let at = 2u * (i * params.line_inputs + j);
                    low_rows += w * rows_chunk[at];
                    high_rows += w * rows_chunk[at + 1u];
                }
            }
        }
        workgroupBarrier();
    }
    // 3. The parts' sums together.
    partial[2u * lane] = low_rows;
    partial[2u * lane + 1u] = high_rows;
    workgroupBarrier();
    for (var stride = PARTS / 2u; stride > 0u; stride /= 2u) {
        if (part < stride) {
            let other = 2u * (lane + stride * COLUMNS);
            partial[2u * lane] += partial[other];
            partial[2u * lane + 1u] += partial[other + 1u];
        }
        workgroupBarrier();
    }
    // 4. Parts 0 to 7 of a column write one row each.
    let column = strip * COLUMNS + own;
    if (part < ROWS && column < params.columns && first_row + part < params.rows) {
        let at = params.first_column + column;
        var sum = partial[2u * own + part / 4u][part % 4u];
        if (params.has_bias != 0u) {
            sum += bias[at];
        }
        output[(first_row + part) * params.output_stride + at] = sum;
    }
}
