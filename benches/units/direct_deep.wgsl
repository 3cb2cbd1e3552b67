// direct_deep: the product of direct.wgsl with two fragments of depth loaded at a time.
//
// output[r][c] = sum_k a[r][k] * b[c][k]
//
// Shapes      a (R, K) and b (C, K) of f16, output (R, C) of f32; R a multiple of 64, C of 64, K of 32
// Bindings    0 params; 1 a; 2 b; 3 output
// Dispatch    (C / 64, R / 64), subgroups of 32 lanes
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

const WORKGROUP_SIZE: u32 = 128u;
/// Rows and columns of a fragment.
const SIDE: u32 = 16u;
const TILE_ROWS: u32 = 64u;
const TILE_COLUMNS: u32 = 64u;
/// Rows and columns of a subgroup's part of the tile, and parts beside each other.
const PART_ROWS: u32 = 32u;
const PART_COLUMNS: u32 = 32u;
const ACROSS: u32 = 2u;

@compute @workgroup_size(WORKGROUP_SIZE)
fn direct_deep(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(subgroup_id) subgroup: u32) {
    let row = workgroup.y * TILE_ROWS + subgroup / ACROSS * PART_ROWS;
    let column = workgroup.x * TILE_COLUMNS + subgroup % ACROSS * PART_COLUMNS;
    let inputs = params.inputs;
    // 1. Fragments of zeros.
    var sum_00: coop_mat16x16<f32, C>;
    var sum_01: coop_mat16x16<f32, C>;
    var sum_10: coop_mat16x16<f32, C>;
    var sum_11: coop_mat16x16<f32, C>;
    // 2. Products, straight from storage.
    for (var k = 0u; k < inputs; k += 2u * SIDE) {
        let a_0_0 = coopLoadT<coop_mat16x16<f16, A>>(&a[row * inputs + k], inputs);
        let a_1_0 = coopLoadT<coop_mat16x16<f16, A>>(&a[(row + SIDE) * inputs + k], inputs);
        let b_0_0 = coopLoad<coop_mat16x16<f16, B>>(&b[column * inputs + k], inputs);
        let b_1_0 = coopLoad<coop_mat16x16<f16, B>>(&b[(column + SIDE) * inputs + k], inputs);
        let a_0_1 = coopLoadT<coop_mat16x16<f16, A>>(&a[row * inputs + k + SIDE], inputs);
        let a_1_1 = coopLoadT<coop_mat16x16<f16, A>>(&a[(row + SIDE) * inputs + k + SIDE], inputs);
        let b_0_1 = coopLoad<coop_mat16x16<f16, B>>(&b[column * inputs + k + SIDE], inputs);
        let b_1_1 = coopLoad<coop_mat16x16<f16, B>>(&b[(column + SIDE) * inputs + k + SIDE], inputs);
        sum_00 = coopMultiplyAdd(a_0_0, b_0_0, sum_00);
        sum_01 = coopMultiplyAdd(a_0_0, b_1_0, sum_01);
        sum_10 = coopMultiplyAdd(a_1_0, b_0_0, sum_10);
        sum_11 = coopMultiplyAdd(a_1_0, b_1_0, sum_11);
        sum_00 = coopMultiplyAdd(a_0_1, b_0_1, sum_00);
        sum_01 = coopMultiplyAdd(a_0_1, b_1_1, sum_01);
        sum_10 = coopMultiplyAdd(a_1_1, b_0_1, sum_10);
        sum_11 = coopMultiplyAdd(a_1_1, b_1_1, sum_11);
    }
    // 3. Sums to the output. naga 30 writes a store before it has its operands, unless they have names.
    let columns = params.columns;
    let to_00 = row * columns + column;
    let from_00 = sum_00;
    let to_01 = row * columns + column + SIDE;
    let from_01 = sum_01;
    let to_10 = (row + SIDE) * columns + column;
    let from_10 = sum_10;
    let to_11 = (row + SIDE) * columns + column + SIDE;
    let from_11 = sum_11;
    coopStoreT(from_00, &output[to_00], columns);
    coopStoreT(from_01, &output[to_01], columns);
    coopStoreT(from_10, &output[to_10], columns);
    coopStoreT(from_11, &output[to_11], columns);
}
