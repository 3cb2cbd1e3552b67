// plain: product with a transposed matrix of 16-bit floats in 32 bits, a sum for each lane: what the others are compared with.
//
// output[r][c] = sum_k a[r][k] * b[c][k]
//
// Shapes      a (R, K / 2) and b (C, K / 2) of pairs of f16, output (R, C) of f32; R and C multiples of 16, K even
// Bindings    0 params; 1 a; 2 b; 3 output
// Dispatch    (C / 16, R / 16)
// Reference   a sum on the host, which the bench compares some numbers with

struct Params {
    rows: u32,
    inputs: u32,
    columns: u32,
    padding: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> a: array<u32>;
@group(0) @binding(2) var<storage, read> b: array<u32>;
@group(0) @binding(3) var<storage, read_write> output: array<f32>;

@compute @workgroup_size(16, 16)
fn plain(@builtin(global_invocation_id) place: vec3<u32>) {
    let pairs = params.inputs / 2u;
    var sum = 0.0;
    for (var k = 0u; k < pairs; k++) {
        let left = unpack2x16float(a[place.y * pairs + k]);
        let right = unpack2x16float(b[place.x * pairs + k]);
        sum += left.x * right.x;
        sum += left.y * right.y;
    }
    output[place.y * params.columns + place.x] = sum;
}
