// matmul_wide: product with a transposed or a plain matrix, in tiles of 128 x 128, batched.
//
// output[b][r][first_col + c] = bias[first_col + c] + sum_k input[b][r][k] * weight[b][c][k]
//                               (weight[b][k][c] where `transposed` is 0)
//
// Shapes      input (B, R, K), weight (B, C, stride >= K) or (B, K, stride >= C), bias (all columns),
//             output (B, R, output_stride)
// Bindings    0 params; 1 input; 2 weight; 3 bias; 4 output
// Dispatch    (C / 128, R / 128, B), rounded up
// Reference   kernels/matmul.rs; every sum is one chain of multiply-adds in order of k, 1e-4 of the
//             sum of magnitudes
//
// A thread computes 8 x 8 numbers, four blocks of 4 x 4 that lie 64 rows and columns apart: so lanes
// that stand side by side read vectors that lie side by side. Four vectors are read for 64
// multiply-adds. Four rows of the same column are loaded together; a pitch of 33 vectors spreads the
// stores over the memory's banks.

struct Params {
    rows: u32,
    inputs: u32,
    columns: u32,
    weight_stride: u32,
    output_stride: u32,
    first_column: u32,
    has_bias: u32,
    transposed: u32,
    input_batch: u32,
    weight_batch: u32,
    output_batch: u32,
    padding: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> input: array<f32>;
@group(0) @binding(2) var<storage, read> weight: array<f32>;
@group(0) @binding(3) var<storage, read> bias: array<f32>;
@group(0) @binding(4) var<storage, read_write> output: array<f32>;

const WORKGROUP_SIZE: u32 = 256u;
const TILE: u32 = 128u;
const DEPTH: u32 = 8u;
const PITCH: u32 = 33u;

var<workgroup> row_tile: array<vec4<f32>, 264>;
var<workgroup> column_tile: array<vec4<f32>, 264>;

fn input_at(start: u32, row: u32, k: u32) -> f32 {
    if (row < params.rows && k < params.inputs) {
        return input[start + row * params.inputs + k];
    }
    return 0.0;
}

fn weight_at(start: u32, column: u32, k: u32) -> f32 {
    if (column < params.columns && k < params.inputs) {
        if (params.transposed != 0u) {
            return weight[start + column * params.weight_stride + k];
        }
        return weight[start + k * params.weight_stride + column];
    }
    return 0.0;
}

fn store(start: u32, row: u32, column: u32, sums: vec4<f32>) {
    if (row >= params.rows) {
        return;
    }
    for (var i = 0u; i < 4u; i++) {
        if (column + i < params.columns) {
            let at = params.first_column + column + i;
            var sum = sums[i];
            if (params.has_bias != 0u) {
                sum += bias[at];
            }
            output[start + row * params.output_stride + at] = sum;
        }
    }
}

@compute @workgroup_size(256)
fn matmul_wide(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let first_row = workgroup.y * TILE;
    let first_column = workgroup.x * TILE;
    let input_start = workgroup.z * params.input_batch;
    let weight_start = workgroup.z * params.weight_batch;
    let load_k = lane % DEPTH;
    let load_four = lane / DEPTH;
    let own_column = lane % 16u;
    let own_row = lane / 16u;
    var sum_0a = vec4<f32>();
    var sum_0b = vec4<f32>();
    var sum_1a = vec4<f32>();
    var sum_1b = vec4<f32>();
    var sum_2a = vec4<f32>();
    var sum_2b = vec4<f32>();
    var sum_3a = vec4<f32>();
    var sum_3b = vec4<f32>();
    var sum_4a = vec4<f32>();
    var sum_4b = vec4<f32>();
    var sum_5a = vec4<f32>();
    var sum_5b = vec4<f32>();
    var sum_6a = vec4<f32>();
    var sum_6b = vec4<f32>();
    var sum_7a = vec4<f32>();
    var sum_7b = vec4<f32>();
    for (var first_k = 0u; first_k < params.inputs; first_k += DEPTH) {
        // 1. Both tiles into workgroup memory.
        let k = first_k + load_k;
        let row = first_row + 4u * load_four;
        let column = first_column + 4u * load_four;
        row_tile[load_k * PITCH + load_four] = vec4<f32>(
            input_at(input_start, row, k),
            input_at(input_start, row + 1u, k),
            input_at(input_start, row + 2u, k),
            input_at(input_start, row + 3u, k),
        );
        column_tile[load_k * PITCH + load_four] = vec4<f32>(
            weight_at(weight_start, column, k),
            weight_at(weight_start, column + 1u, k),
            weight_at(weight_start, column + 2u, k),
            weight_at(weight_start, column + 3u, k),
        );
        workgroupBarrier();
        // 2. Their product onto the sums.
        for (var i = 0u; i < DEPTH; i++) {
            let row_a = row_tile[i * PITCH + own_row];
            let row_b = row_tile[i * PITCH + own_row + 16u];
            let column_a = column_tile[i * PITCH + own_column];
            let column_b = column_tile[i * PITCH + own_column + 16u];
            sum_0a = fma(vec4<f32>(row_a.x), column_a, sum_0a);
            sum_0b = fma(vec4<f32>(row_a.x), column_b, sum_0b);
            sum_1a = fma(vec4<f32>(row_a.y), column_a, sum_1a);
            sum_1b = fma(vec4<f32>(row_a.y), column_b, sum_1b);
            sum_2a = fma(vec4<f32>(row_a.z), column_a, sum_2a);
            sum_2b = fma(vec4<f32>(row_a.z), column_b, sum_2b);
            sum_3a = fma(vec4<f32>(row_a.w), column_a, sum_3a);
            sum_3b = fma(vec4<f32>(row_a.w), column_b, sum_3b);
            sum_4a = fma(vec4<f32>(row_b.x), column_a, sum_4a);
            sum_4b = fma(vec4<f32>(row_b.x), column_b, sum_4b);
            sum_5a = fma(vec4<f32>(row_b.y), column_a, sum_5a);
            sum_5b = fma(vec4<f32>(row_b.y), column_b, sum_5b);
            sum_6a = fma(vec4<f32>(row_b.z), column_a, sum_6a);
            sum_6b = fma(vec4<f32>(row_b.z), column_b, sum_6b);
            sum_7a = fma(vec4<f32>(row_b.w), column_a, sum_7a);
            sum_7b = fma(vec4<f32>(row_b.w), column_b, sum_7b);
        }
        // The tiles are read to the end before the next ones overwrite them.
        workgroupBarrier();
    }
    // 3. Sums and bias to the output.
    let start = workgroup.z * params.output_batch;
    let row = first_row + 4u * own_row;
    let column = first_column + 4u * own_column;
    store(start, row, column, sum_0a);
    store(start, row, column + 64u, sum_0b);
    store(start, row + 1u, column, sum_1a);
    store(start, row + 1u, column + 64u, sum_1b);
    store(start, row + 2u, column, sum_2a);
    store(start, row + 2u, column + 64u, sum_2b);
    store(start, row + 3u, column, sum_3a);
    store(start, row + 3u, column + 64u, sum_3b);
    store(start, row + 64u, column, sum_4a);
    store(start, row + 64u, column + 64u, sum_4b);
    store(start, row + 65u, column, sum_5a);
    store(start, row + 65u, column + 64u, sum_5b);
    store(start, row + 66u, column, sum_6a);
    store(start, row + 66u, column + 64u, sum_6b);
    store(start, row + 67u, column, sum_7a);
    store(start, row + 67u, column + 64u, sum_7b);
}
