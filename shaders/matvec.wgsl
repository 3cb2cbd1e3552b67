// matvec: product of a few rows with a transposed matrix, bound by reading the matrix.
//
// output[r][first_col + c] = bias[first_col + c] + sum_k input[r][k] * weight[c][k]
//
// Shapes      input (R, K), weight (C, stride) in vectors of four numbers, zero beyond K,
//             bias (all columns), output (R, output_stride)
// Bindings    0 params; 1 input; 2 weight; 3 bias; 4 output
// Dispatch    (C / 8 over x, then y, R / 4), rounded up
// Reference   kernels/matmul.rs; a sum is 32 chains added up pairwise, 1e-4 of the sum of magnitudes.
//             `Number` is f32, or f16 in matvec_half: a weight is rounded then, 2^-11
//
// 32 lanes share a column and read it in order, four numbers at a time; four rows are summed at
// once, one in each component of a vector, so a weight is read once for four rows.

struct Params {
    rows: u32,
    inputs: u32,
    columns: u32,
    /// In vectors.
    weight_stride: u32,
    output_stride: u32,
    first_column: u32,
    has_bias: u32,
    padding: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> input: array<f32>;
@group(0) @binding(2) var<storage, read> weight: array<vec4<Number>>;
@group(0) @binding(3) var<storage, read> bias: array<f32>;
@group(0) @binding(4) var<storage, read_write> output: array<f32>;

const WORKGROUP_SIZE: u32 = 256u;
const LANES: u32 = 32u;
const COLUMNS: u32 = 8u;
const ROWS: u32 = 4u;
/// Vectors of each row that lie in workgroup memory at a time.
const CHUNK: u32 = 128u;

var<workgroup> rows_chunk: array<vec4<f32>, 512>;
var<workgroup> partial: array<vec4<f32>, 256>;

fn input_at(row: u32, k: u32) -> f32 {
    if (row < params.rows && k < params.inputs) {
        return input[row * params.inputs + k];
    }
    return 0.0;
}

@compute @workgroup_size(256)
fn matvec(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let first_row = workgroup.z * ROWS;
    let column = (workgroup.y * grid.x + workgroup.x) * COLUMNS + lane / LANES;
    let part = lane % LANES;
    var sums = vec4<f32>();
    for (var first = 0u; first < params.weight_stride; first += CHUNK) {
        // 1. A stretch of the rows into workgroup memory.
        for (var at = lane; at < ROWS * CHUNK; at += WORKGROUP_SIZE) {
            let row = first_row + at / CHUNK;
            let k = 4u * (first + at % CHUNK);
            rows_chunk[at] = vec4<f32>(
                input_at(row, k),
                input_at(row, k + 1u),
                input_at(row, k + 2u),
                input_at(row, k + 3u),
            );
        }
        workgroupBarrier();
        // 2. Its products with the column.
        if (column < params.columns) {
            let end = min(CHUNK, params.weight_stride - first);
            let start = column * params.weight_stride + first;
            for (var i = part; i < end; i += LANES) {
                let w = vec4<f32>(weight[start + i]);
                sums += vec4<f32>(
                    dot(w, rows_chunk[i]),
                    dot(w, rows_chunk[CHUNK + i]),
                    dot(w, rows_chunk[2u * CHUNK + i]),
                    dot(w, rows_chunk[3u * CHUNK + i]),
                );
            }
        }
        workgroupBarrier();
    }
    // 3. The lanes' sums together.
    partial[lane] = sums;
    workgroupBarrier();
    for (var stride = LANES / 2u; stride > 0u; stride /= 2u) {
        if (part < stride) {
            partial[lane] += partial[lane + stride];
        }
        workgroupBarrier();
    }
    // 4. Lanes 0 to 3 of a column write one row each.
    if (part < ROWS && column < params.columns && first_row + part < params.rows) {
        let at = params.first_column + column;
        var sum = partial[lane - part][part];
        if (params.has_bias != 0u) {
            sum += bias[at];
        }
        output[(first_row + part) * params.output_stride + at] = sum;
    }
}
