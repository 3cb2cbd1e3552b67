// matmul_cooperative: product with a transposed matrix on matrix units, both operands of 16 bits.
//
// output[r][first_column + c] = sum_k states[r][k] * weight[first_column + c][k]
//
// Shapes      states (R', K'), weight (C', K'), both in fragments; output (R', output_stride); R' and C' are
//             multiples of 64, K' of 16, and operands are zero from K on
// Bindings    0 params; 1 states; 2 weight; 3 output
// Dispatch    (C' / 64, R' / 128), rounded up
// Reference   kernels/matmul.rs on the rounded operands; sums are 32-bit, in steps of 16 in order of k
//
// A fragment of 16 rows and 16 inputs lies in one piece, row by row, and those of the same rows one after
// the other; so what a subgroup loads is contiguous. Fragments come straight from storage, and sums go
// straight there. No lane depends on what another lane wrote, and there is no barrier: naga 30 does not
// keep the memory model that it declares for matrix units (wgpu #8805). A subgroup sums 64 x 32 numbers. A
// workgroup has four such parts; one with fewer subgroups takes them in rounds, and more have nothing to
// do. Rows beyond R hold whatever lay in memory, and their sums are nobody's.

enable f16;
enable wgpu_cooperative_matrix;

struct Params {
    /// Fragments of a row of either operand.
    fragments: u32,
    output_stride: u32,
    first_column: u32,
    /// R.
    rows: u32,
    /// Columns of this call, a multiple of 64.
    columns: u32,
    padding_0: u32,
    padding_1: u32,
    padding_2: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> states: array<f16>;
@group(0) @binding(2) var<storage, read> weight: array<f16>;
@group(0) @binding(3) var<storage, read_write> output: array<f32>;

/// Rows and columns of a fragment.
const SIDE: u32 = 16u;
/// Numbers of a fragment.
const FRAGMENT: u32 = 256u;
const PARTS: u32 = 4u;
/// Rows and columns of a part.
const HEIGHT: u32 = 64u;
const WIDTH: u32 = 32u;

@compute @workgroup_size(128)
fn matmul_cooperative(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_subgroups) subgroups: u32,
    @builtin(subgroup_id) subgroup: u32,
) {
    let line = params.fragments * FRAGMENT;
    for (var part = subgroup; part < PARTS; part += subgroups) {
        let row = (workgroup.y * 2u + part / 2u) * HEIGHT;
        let column = (workgroup.x * 2u + part % 2u) * WIDTH;
        if (row >= params.rows || column >= params.columns) {
            continue;
        }
        var sum_00: coop_mat16x16<f32, C>;
        var sum_01: coop_mat16x16<f32, C>;
        var sum_10: coop_mat16x16<f32, C>;
        var sum_11: coop_mat16x16<f32, C>;
        var sum_20: coop_mat16x16<f32, C>;
        var sum_21: coop_mat16x16<f32, C>;
        var sum_30: coop_mat16x16<f32, C>;
        var sum_31: coop_mat16x16<f32, C>;
        let first_a = row / SIDE * line;
        let first_b = column / SIDE * line;
        for (var k = 0u; k < line; k += FRAGMENT) {
            let a = first_a + k;
            let b = first_b + k;
            let a_0 = coopLoadT<coop_mat16x16<f16, A>>(&states[a], SIDE);
            let a_1 = coopLoadT<coop_mat16x16<f16, A>>(&states[a + line], SIDE);
            let a_2 = coopLoadT<coop_mat16x16<f16, A>>(&states[a + 2u * line], SIDE);
            let a_3 = coopLoadT<coop_mat16x16<f16, A>>(&states[a + 3u * line], SIDE);
            let b_0 = coopLoad<coop_mat16x16<f16, B>>(&weight[b], SIDE);
            let b_1 = coopLoad<coop_mat16x16<f16, B>>(&weight[b + line], SIDE);
            sum_00 = coopMultiplyAdd(a_0, b_0, sum_00);
            sum_01 = coopMultiplyAdd(a_0, b_1, sum_01);
            sum_10 = coopMultiplyAdd(a_1, b_0, sum_10);
            sum_11 = coopMultiplyAdd(a_1, b_1, sum_11);
            sum_20 = coopMultiplyAdd(a_2, b_0, sum_20);
            sum_21 = coopMultiplyAdd(a_2, b_1, sum_21);
            sum_30 = coopMultiplyAdd(a_3, b_0, sum_30);
            sum_31 = coopMultiplyAdd(a_3, b_1, sum_31);
        }
        // naga 30 pushes a store before it emits what the store takes ("Expression is not cached"), so
        // every operand has a name.
        let stride = params.output_stride;
        let at_0 = row * stride + params.first_column + column;
        let last_00 = sum_00;
        coopStoreT(last_00, &output[at_0], stride);
        let at_01 = at_0 + SIDE;
        let last_01 = sum_01;
        coopStoreT(last_01, &output[at_01], stride);
        let at_1 = at_0 + SIDE * stride;
        let last_10 = sum_10;
        coopStoreT(last_10, &output[at_1], stride);
        let at_11 = at_1 + SIDE;
        let last_11 = sum_11;
        coopStoreT(last_11, &output[at_11], stride);
        let at_2 = at_1 + SIDE * stride;
        let last_20 = sum_20;
        coopStoreT(last_20, &output[at_2], stride);
        let at_21 = at_2 + SIDE;
        let last_21 = sum_21;
        coopStoreT(last_21, &output[at_21], stride);
        let at_3 = at_2 + SIDE * stride;
        let last_30 = sum_30;
        coopStoreT(last_30, &output[at_3], stride);
        let at_31 = at_3 + SIDE;
        let last_31 = sum_31;
        coopStoreT(last_31, &output[at_31], stride);
    }
}
