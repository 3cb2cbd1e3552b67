// span_scores: what follows the hidden layer of the aligner's head: PReLU, output, sigmoid.
//
// z = bias + source - (after - before) * weight + maximum + cues . of_cues
// h = z where z > 0, else slope * z
// output[r] = 1 / (1 + e^-(output_bias + output_weight . h))
//
// Shapes      differences (N, H); maxima (R, H); head (H, 6): bias, output weight and four weights of
//             the cues of each unit. candidates (R, 8) in words: rows of the differences (source,
//             before, after), bits of the weight, bits of the four cues. output (R).
// Bindings    0 params; 1 words; 2 differences; 3 maxima; 4 head; 5 output
// Dispatch    one workgroup for each candidate, over x, then y
// Reference   kernels/span_scores.rs, 1e-5

struct Params {
    rows: u32,
    hidden: u32,
    candidates: u32,
    slope: f32,
    output_bias: f32,
    padding_0: u32,
    padding_1: u32,
    padding_2: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> words: array<u32>;
@group(0) @binding(2) var<storage, read> differences: array<f32>;
@group(0) @binding(3) var<storage, read> maxima: array<f32>;
@group(0) @binding(4) var<storage, read> head: array<f32>;
@group(0) @binding(5) var<storage, read_write> output: array<f32>;

const WORKGROUP_SIZE: u32 = 64u;
const RECORD: u32 = 8u;
const UNIT: u32 = 6u;

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
    let record = params.candidates + row * RECORD;
    let source = words[record] * params.hidden;
    let before = words[record + 1u] * params.hidden;
    let after = words[record + 2u] * params.hidden;
    let weight = bitcast<f32>(words[record + 3u]);
    let cues = vec4<f32>(
        bitcast<f32>(words[record + 4u]),
        bitcast<f32>(words[record + 5u]),
        bitcast<f32>(words[record + 6u]),
        bitcast<f32>(words[record + 7u]),
    );
    // 1. Each lane its units.
    var sum = 0.0;
    for (var unit = lane; unit < params.hidden; unit += WORKGROUP_SIZE) {
        let own = unit * UNIT;
        let of_cues = vec4<f32>(head[own + 2u], head[own + 3u], head[own + 4u], head[own + 5u]);
        let z = head[own] + differences[source + unit]
            - (differences[after + unit] - differences[before + unit]) * weight
            + maxima[row * params.hidden + unit] + dot(of_cues, cues);
        let h = select(params.slope * z, z, z > 0.0);
        sum = fma(head[own + 1u], h, sum);
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
        output[row] = 1.0 / (1.0 + exp(min(-logit, 80.0)));
    }
}
