// staged: product with a transposed matrix of 16-bit floats on matrix units, in tiles of 128 x 128 that lie in workgroup memory.
//
// output[r][first_col + c] = bias[first_col + c] + sum_k half(input[r][k]) * weight[c][k]
//
// Shapes      input (R, K), weight (C, stride) in vectors of four numbers, zero beyond K,
//             bias (all columns), output (R, output_stride)
// Bindings    0 params; 1 input; 2 weight; 3 bias; 4 output
// Dispatch    (C / 128, R / 128), rounded up
// Reference   kernels/matmul.rs, 2^-10 + 2^-11 of the sum of magnitudes: both operands are rounded, sums are 32-bit
//
// A subgroup sums a part of 32 x 64 numbers in eight fragments of 16 x 16, so that six loads serve
// eight products. A workgroup with fewer than eight subgroups takes the parts in several rounds; with
// more there would be nothing for them to do, so adapters whose subgroups may have fewer than 32 lanes
// are left out. How a fragment lies in its subgroup's lanes is the driver's affair: sums go through
// workgroup memory, and lanes write them from there.

enable f16;
enable wgpu_cooperative_matrix;

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
@group(0) @binding(2) var<storage, read> weight: array<vec4<f16>>;
@group(0) @binding(3) var<storage, read> bias: array<f32>;
@group(0) @binding(4) var<storage, read_write> output: array<f32>;

const WORKGROUP_SIZE: u32 = 256u;
const TILE: u32 = 128u;
const DEPTH: u32 = 32u;
/// Numbers between two rows of a tile: units read rows that begin at multiples of 16 bytes.
const PITCH: u32 = 40u;
/// Rows and columns of a fragment.
const SIDE: u32 = 16u;
const PARTS: u32 = 8u;

var<workgroup> row_tile: array<f16, 5120>;
var<workgroup> column_tile: array<f16, 5120>;
/// A fragment of each subgroup.
var<workgroup> staged: array<f32, 2048>;
var<workgroup> at_once: u32;

fn input_at(row: u32, k: u32) -> f16 {
    if (row < params.rows && k < params.inputs) {
        return f16(input[row * params.inputs + k]);
    }
    return 0.0h;
}

fn weight_at(column: u32, vector: u32) -> vec4<f16> {
    let stride = params.weight_stride / 4u;
    if (column < params.columns && vector < stride) {
        return weight[column * stride + vector];
    }
    return vec4<f16>();
}

fn load_tiles(lane: u32, first_row: u32, first_column: u32, first_k: u32) {
    for (var at = lane; at < TILE * DEPTH; at += WORKGROUP_SIZE) {
        let row = at / DEPTH;
        let k = at % DEPTH;
        row_tile[row * PITCH + k] = input_at(first_row + row, first_k + k);
    }
    for (var at = lane; at < TILE * DEPTH / 4u; at += WORKGROUP_SIZE) {
        let column = at / (DEPTH / 4u);
        let vector = at % (DEPTH / 4u);
        let four = weight_at(first_column + column, first_k / 4u + vector);
        let to = column * PITCH + 4u * vector;
        column_tile[to] = four.x;
        column_tile[to + 1u] = four.y;
        column_tile[to + 2u] = four.z;
        column_tile[to + 3u] = four.w;
    }
}

/// Writes a fragment that its subgroup staged.
fn write_staged(start: u32, first: u32, lanes: u32, first_row: u32, first_column: u32) {
    for (var at = first; at < SIDE * SIDE; at += lanes) {
        let row = first_row + at / SIDE;
        let column = first_column + at % SIDE;
        if (row < params.rows && column < params.columns) {
            let to = params.first_column + column;
            var sum = staged[start + at];
            if (params.has_bias != 0u) {
                sum += bias[to];
            }
            output[row * params.output_stride + to] = sum;
        }
    }
}

@compute @workgroup_size(256)
fn staged_tiles(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
    @builtin(num_subgroups) subgroups: u32,
    @builtin(subgroup_id) subgroup: u32,
    @builtin(subgroup_size) lanes: u32,
    @builtin(subgroup_invocation_id) own_lane: u32,
) {
    let first_row = workgroup.y * TILE;
    let first_column = workgroup.x * TILE;
    let own = subgroup * SIDE * SIDE;
    if (lane == 0u) {
        at_once = subgroups;
    }
    let step = workgroupUniformLoad(&at_once);
    for (var first_part = 0u; first_part < PARTS; first_part += step) {
        // 1. Fragments of zeros.
        for (var at = own_lane; at < SIDE * SIDE; at += lanes) {
            staged[own + at] = 0.0;
        }
        workgroupBarrier();
        var sum_00 = coopLoadT<coop_mat16x16<f32, C>>(&staged[own], SIDE);
        var sum_01 = sum_00;
        var sum_02 = sum_00;
        var sum_03 = sum_00;
        var sum_10 = sum_00;
        var sum_11 = sum_00;
        var sum_12 = sum_00;
        var sum_13 = sum_00;
        // 2. Products of 32 rows with 64 columns.
        let part = first_part + subgroup;
        let part_row = part / 2u * (2u * SIDE);
        let part_column = part % 2u * (4u * SIDE);
        for (var first_k = 0u; first_k < params.inputs; first_k += DEPTH) {
            load_tiles(lane, first_row, first_column, first_k);
            workgroupBarrier();
            for (var k = 0u; k < DEPTH; k += SIDE) {
                let row = part_row * PITCH + k;
                let column = part_column * PITCH + k;
                let a_0 = coopLoadT<coop_mat16x16<f16, A>>(&row_tile[row], PITCH);
                let a_1 = coopLoadT<coop_mat16x16<f16, A>>(&row_tile[row + SIDE * PITCH], PITCH);
                let b_0 = coopLoad<coop_mat16x16<f16, B>>(&column_tile[column], PITCH);
                let b_1 = coopLoad<coop_mat16x16<f16, B>>(&column_tile[column + SIDE * PITCH], PITCH);
                let b_2 = coopLoad<coop_mat16x16<f16, B>>(&column_tile[column + 2u * SIDE * PITCH], PITCH);
                let b_3 = coopLoad<coop_mat16x16<f16, B>>(&column_tile[column + 3u * SIDE * PITCH], PITCH);
                sum_00 = coopMultiplyAdd(a_0, b_0, sum_00);
                sum_01 = coopMultiplyAdd(a_0, b_1, sum_01);
                sum_02 = coopMultiplyAdd(a_0, b_2, sum_02);
                sum_03 = coopMultiplyAdd(a_0, b_3, sum_03);
                sum_10 = coopMultiplyAdd(a_1, b_0, sum_10);
                sum_11 = coopMultiplyAdd(a_1, b_1, sum_11);
                sum_12 = coopMultiplyAdd(a_1, b_2, sum_12);
                sum_13 = coopMultiplyAdd(a_1, b_3, sum_13);
            }
            // The tiles are read to the end before the next ones overwrite them.
            workgroupBarrier();
        }
        // 3. Sums and bias to the output, fragment by fragment.
        let row = first_row + part_row;
        let column = first_column + part_column;
        coopStoreT(sum_00, &staged[own], SIDE);
        workgroupBarrier();
        write_staged(own, own_lane, lanes, row, column);
        workgroupBarrier();
        coopStoreT(sum_01, &staged[own], SIDE);
        workgroupBarrier();
        write_staged(own, own_lane, lanes, row, column + SIDE);
        workgroupBarrier();
        coopStoreT(sum_02, &staged[own], SIDE);
        workgroupBarrier();
        write_staged(own, own_lane, lanes, row, column + 2u * SIDE);
        workgroupBarrier();
        coopStoreT(sum_03, &staged[own], SIDE);
        workgroupBarrier();
        write_staged(own, own_lane, lanes, row, column + 3u * SIDE);
        workgroupBarrier();
        coopStoreT(sum_10, &staged[own], SIDE);
        workgroupBarrier();
        write_staged(own, own_lane, lanes, row + SIDE, column);
        workgroupBarrier();
        coopStoreT(sum_11, &staged[own], SIDE);
        workgroupBarrier();
        write_staged(own, own_lane, lanes, row + SIDE, column + SIDE);
        workgroupBarrier();
        coopStoreT(sum_12, &staged[own], SIDE);
        workgroupBarrier();
        write_staged(own, own_lane, lanes, row + SIDE, column + 2u * SIDE);
        workgroupBarrier();
        coopStoreT(sum_13, &staged[own], SIDE);
        workgroupBarrier();
        write_staged(own, own_lane, lanes, row + SIDE, column + 3u * SIDE);
        workgroupBarrier();
    }
}
