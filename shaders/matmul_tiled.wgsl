// matmul_tiled: product with a transposed or a plain matrix, in tiles of 64 x 64, batched.
//
// output[b][r][first_col + c] = bias[first_col + c] + sum_k input[b][r][k] * weight[b][c][k]
//                               (weight[b][k][c] where `transposed` is 0)
//
// Shapes      input (B, R, K), weight (B, C, stride >= K) or (B, K, stride >= C), bias (all columns),
//             output (B, R, output_stride)
// Bindings    0 params; 1 input; 2 weight; 3 bias; 4 output
// Dispatch    (C / 64, R / 64, B), rounded up
// Reference   kernels/matmul.rs; every sum is one chain of multiply-adds in order of k, 1e-4 of the
//             sum of magnitudes. `Number` is f32, or f16 in matmul_half: a weight is rounded then, 2^-11
//
// A thread computes 4 x 4 numbers. Four rows of the same column are loaded together, so that both
// tiles lie in workgroup memory as vectors across rows, and the inner loop reads two vectors for 16
// multiply-adds. A pitch of 17 vectors spreads the stores over the memory's banks.

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
@group(0) @binding(2) var<storage, read> weight: array<Number>;
@group(0) @binding(3) var<storage, read> bias: array<f32>;
@group(0) @binding(4) var<storage, read_write> output: array<f32>;

const WORKGROUP_SIZE: u32 = 256u;
const TILE: u32 = 64u;
const DEPTH: u32 = 16u;
const PITCH: u32 = 17u;

var<workgroup> row_tile: array<vec4<f32>, 272>;
var<workgroup> column_tile: array<vec4<f32>, 272>;

fn input_at(start: u32, row: u32, k: u32) -> f32 {
    if (row < params.rows && k < params.inputs) {
        return input[start + row * params.inputs + k];
    }
    return 0.0;
}

fn weight_at(start: u32, column: u32, k: u32) -> f32 {
    if (column < params.columns && k < params.inputs) {
        if (params.transposed != 0u) {
            return f32(weight[start + column * params.weight_stride + k]);
        }
        return f32(weight[start + k * params.weight_stride + column]);
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
fn matmul_tiled(
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
    var sum_0 = vec4<f32>();
    var sum_1 = vec4<f32>();
    var sum_2 = vec4<f32>();
    var sum_3 = vec4<f32>();
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
            let a = row_tile[i * PITCH + own_row];
            let b = column_tile[i * PITCH + own_column];
            sum_0 = fma(vec4<f32>(a.x), b, sum_0);
            sum_1 = fma(vec4<f32>(a.y), b, sum_1);
            sum_2 = fma(vec4<f32>(a.z), b, sum_2);
            sum_3 = fma(vec4<f32>(a.w), b, sum_3);
        }
        // The tiles are read to the end before the next ones overwrite them.
        workgroupBarrier();
    }
    // 3. Sums and bias to the output.
    let start = workgroup.z * params.output_batch;
    let row = first_row + 4u * own_row;
    let column = first_column + 4u * own_column;
    store(start, row, column, sum_0);
    store(start, row + 1u, column, sum_1);
    store(start, row + 2u, column, sum_2);
    store(start, row + 3u, column, sum_3);
}
