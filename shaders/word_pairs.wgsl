// word_pairs: what the linker's network sees of two words.
//
// output[r] = |s - t|, s * t, cues of r
//
// Shapes      states (N, D); pairs (R, 2 + C) in words: rows of the states s and t, bits of the cues;
//             output (R, 2 D + C)
// Bindings    0 params; 1 words; 2 states; 3 output
// Dispatch    R * (2 D + C) / 256 over x, then y, rounded up
// Reference   kernels/word_pairs.rs, 1e-6

struct Params {
    rows: u32,
    width: u32,
    cues: u32,
    pairs: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> words: array<u32>;
@group(0) @binding(2) var<storage, read> states: array<f32>;
@group(0) @binding(3) var<storage, read_write> output: array<f32>;

const WORKGROUP_SIZE: u32 = 256u;
const ENDS: u32 = 2u;

@compute @workgroup_size(256)
fn word_pairs(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let at = (workgroup.y * grid.x + workgroup.x) * WORKGROUP_SIZE + lane;
    let inputs = 2u * params.width + params.cues;
    if (at >= params.rows * inputs) {
        return;
    }
    let record = params.pairs + at / inputs * (ENDS + params.cues);
    let column = at % inputs;
    if (column >= 2u * params.width) {
        output[at] = bitcast<f32>(words[record + ENDS + column - 2u * params.width]);
        return;
    }
    let s = states[words[record] * params.width + column % params.width];
    let t = states[words[record + 1u] * params.width + column % params.width];
    output[at] = select(s * t, abs(s - t), column < params.width);
}
