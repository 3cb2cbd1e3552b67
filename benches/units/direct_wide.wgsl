// direct_wide: the product of direct.wgsl in tiles of 128 x 128, where six fragments serve eight products.
//
// output[r][c] = sum_k a[r][k] * b[c][k]
//
// Shapes      a (R, K) and b (C, K) of f16, output (R, C) of f32; R a multiple of 128, C of 128, K of 16
// Bindings    0 params; 1 a; 2 b; 3 output
// Dispatch    (C / 128, R / 128), subgroups of 32 lanes
// Reference   plain.wgsl

enable f16;
enable wgpu_cooperative_matrix;

struct Params {
    rows: u32,
    inputs: u32,
    columns: u32,
    padding: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> a: array<f16>;
@group(0) @binding(2) var<storage, read> b: array<f16>;
@group(0) @binding(3) var<storage, read_write> output: array<f32>;

const WORKGROUP_SIZE: u32 = 256u;
/// Rows and columns of a fragment.
const SIDE: u32 = 16u;
const TILE_ROWS: u32 = 128u;
const TILE_COLUMNS: u32 = 128u;
/// Rows and columns of a subgroup's part of the tile, and parts beside each other.
const PART_ROWS: u32 = 32u;
const PART_COLUMNS: u32 = 64u;
const ACROSS: u32 = 2u;

@compute @workgroup_size(WORKGROUP_SIZE)
fn direct_wide(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(subgroup_id) subgroup: u32) {
    let row = workgroup.y * TILE_ROWS + subgroup / ACROSS * PART_ROWS;
    let column = workgroup.x * TILE_COLUMNS + subgroup % ACROSS * PART_COLUMNS;
    let inputs = params.inputs;
    // 1. Fragments of zeros.
    var sum_00: coop_mat16x16<f32, C>;
    var sum_01: coop_mat16x16<f32, C>;
    var sum_02: coop_mat16x16<f32, C>;
    var sum_03: coop_mat16x16<f32, C>;
    var sum_10: coop_mat16x16<f32, C>;
    var sum_11: coop_mat16x16<f32, C>;
    var sum_12: coop_mat16x16<f32, C>;
    var sum_13: coop_mat16x16<f32, C>;
    // 2. Products, straight from storage.
    for (var k = 0u; k < inputs; k += SIDE) {
        let a_0 = coopLoadT<coop_mat16x16<f16, A>>(&a[row * inputs + k], inputs);
        let a_1 = coopLoadT<coop_mat16x16<f16, A>>(&a[(row + SIDE) * inputs + k], inputs);
        let b_0 = coopLoad<coop_mat16x16<f16, B>>(&b[column * inputs + k], inputs);
        let b_1 = coopLoad<coop_mat16x16<f16, B>>(&b[(column + SIDE) * inputs + k], inputs);
        let b_2 = coopLoad<coop_mat16x16<f16, B>>(&b[(column + 2u * SIDE) * inputs + k], inputs);
        let b_3 = coopLoad<coop_mat16x16<f16, B>>(&b[(column + 3u * SIDE) * inputs + k], inputs);
        sum_00 = coopMultiplyAdd(a_0, b_0, sum_00);
        sum_01 = coopMultiplyAdd(a_0, b_1, sum_01);
        sum_02 = coopMultiplyAdd(a_0, b_2, sum_02);
        sum_03 = coopMultiplyAdd(a_0, b_3, sum_03);
        sum_10 = coopMultiplyAdd(a_1, b_0, sum_10);
        sum_11 = coopMultiplyAdd(a_1, b_1, sum_11);
        sum_12 = coopMultiplyAdd(a_1, b_2, sum_12);
        sum_13 = coopMultiplyAdd(a_1, b_3, sum_13);
    }
    // 3. Sums to the output. naga 30 writes a store before it has its operands, unless they have names.
    let columns = params.columns;
    let to_00 = row * columns + column;
    let from_00 = sum_00;
    let to_01 = row * columns + column + SIDE;
    let from_01 = sum_01;
    let to_02 = row * columns + column + 2u * SIDE;
    let from_02 = sum_02;
    let to_03 = row * columns + column + 3u * SIDE;
    let from_03 = sum_03;
    let to_10 = (row + SIDE) * columns + column;
    let from_10 = sum_10;
    let to_11 = (row + SIDE) * columns + column + SIDE;
    let from_11 = sum_11;
    let to_12 = (row + SIDE) * columns + column + 2u * SIDE;
    let from_12 = sum_12;
    let to_13 = (row + SIDE) * columns + column + 3u * SIDE;
    let from_13 = sum_13;
    coopStoreT(from_00, &output[to_00], columns);
    coopStoreT(from_01, &output[to_01], columns);
    coopStoreT(from_02, &output[to_02], columns);
    coopStoreT(from_03, &output[to_03], columns);
    coopStoreT(from_10, &output[to_10], columns);
    coopStoreT(from_11, &output[to_11], columns);
    coopStoreT(from_12, &output[to_12], columns);
    coopStoreT(from_13, &output[to_13], columns);
}
