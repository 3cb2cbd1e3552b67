// span_scores: what follows the hidden layer of the aligner's head: PReLU, output, sigmoid.
//
// z = bias + source - (after - before) * weight + maximum + cues . of_cues
// h = z where z > 0, else slope * z
// output[r] = 1 / (1 + e^-(output_bias + output_weight . h)), or -1 where the sum is not finite
//
// Shapes      differences (N, H); maxima (R, H); head (2 + C, H): bias, output weight and the weights of
//             C cues of all units. candidates (R, 4 + C) in words: rows of the differences (source,
//             before, after), bits of the weight, bits of the cues. output (R).
// Bindings    0 params; 1 words; 2 differences; 3 maxima; 4 head; 5 output
// Dispatch    one workgroup for each candidate, over x, then y
// Reference   kernels/span_scores.rs, 1e-5

struct Params {
    rows: u32,
    hidden: u32,
    candidates: u32,
    slope: f32,
    output_bias: f32,
    cues: u32,
    padding_0: u32,
    padding_1: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> words: array<u32>;
@group(0) @binding(2) var<storage, read> differences: array<f32>;
@group(0) @binding(3) var<storage, read> maxima: array<f32>;
@group(0) @binding(4) var<storage, read> head: array<f32>;
@group(0) @binding(5) var<storage, read_write> output: array<f32>;

const WORKGROUP_SIZE: u32 = 64u;
const RECORD: u32 = 4u;

var<workgroup> partial: array<f32, WORKGROUP_SIZE>;

@compute @workgroup_size(64)
fn span_scores(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let row = workgroup.y * grid.x + workgroup.x;
    if (row >= params.rows) {
        return;
    }
    let record = params.candidates + row * (RECORD + params.cues);
    let source = words[record] * params.hidden;
    let before = words[record + 1u] * params.hidden;
    let after = words[record + 2u] * params.hidden;
    let weight = bitcast<f32>(words[record + 3u]);
    // 1. Each lane its units.
    var sum = 0.0;
    for (var unit = lane; unit < params.hidden; unit += WORKGROUP_SIZE) {
        var z = head[unit] + differences[source + unit]
            - (differences[after + unit] - differences[before + unit]) * weight
            + maxima[row * params.hidden + unit];
        for (var cue = 0u; cue < params.cues; cue++) {
            let of_cue = head[(2u + cue) * params.hidden + unit];
            z = fma(of_cue, bitcast<f32>(words[record + RECORD + cue]), z);
        }
        let h = select(params.slope * z, z, z > 0.0);
        sum = fma(head[params.hidden + unit], h, sum);
    }
    // 2. Together, and the sigmoid of what comes out.
    partial[lane] = sum;
    workgroupBarrier();
    for (var stride = WORKGROUP_SIZE / 2u; stride > 0u; stride /= 2u) {
        if (lane < stride) {
            partial[lane] += partial[lane + stride];
        }
        workgroupBarrier();
    }
    if (lane == 0u) {
        let logit = params.output_bias + partial[0];
        // A score that is none says so: -1.
        let is_finite = (bitcast<u32>(logit) & 0x7f800000u) != 0x7f800000u;
        output[row] = select(-1.0, 1.0 / (1.0 + exp(min(-logit, 80.0))), is_finite);
    }
}
