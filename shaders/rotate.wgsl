// rotate: turns the pairs of numbers of each head by the angles of its row's position, in place.
//
// a, b = a cos - b sin, b cos + a sin     for a = tensor[r][h][i], b = tensor[r][h][i + C / 2]
//
// Shapes      tensor (R, D), D = heads * C, C even; turns (N, C): C / 2 cosines, then as many sines;
//             positions (R) in words
// Bindings    0 params; 1 words; 2 turns; 3 tensor
// Dispatch    a lane for each pair: R * D / 2 / 256 over x, then y, rounded up
// Reference   kernels/rotate.rs, 2e-6

struct Params {
    pairs: u32,
    half_width: u32,
    half: u32,
    positions: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> words: array<u32>;
@group(0) @binding(2) var<storage, read> turns: array<f32>;
@group(0) @binding(3) var<storage, read_write> tensor: array<f32>;

const WORKGROUP_SIZE: u32 = 256u;

@compute @workgroup_size(256)
fn rotate(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let pair = (workgroup.y * grid.x + workgroup.x) * WORKGROUP_SIZE + lane;
    if (pair >= params.pairs) {
        return;
    }
    let row = pair / params.half_width;
    let head = pair % params.half_width / params.half;
    let i = pair % params.half;
    let first = 2u * (row * params.half_width + head * params.half) + i;
    let second = first + params.half;
    let of_position = 2u * words[params.positions + row] * params.half + i;
    let cosine = turns[of_position];
    let sine = turns[of_position + params.half];
    let a = tensor[first];
    let b = tensor[second];
    tensor[first] = a * cosine - b * sine;
    tensor[second] = b * cosine + a * sine;
}
