// span_maxima: the larger of the means of two spans, element by element.
//
// mean(s) = (sums[s.end] - sums[s.start]) * s.weight
// output[r] = max(mean(source of r), mean(candidate of r))
//
// Shapes      sums (N, D), running sums of states; spans (R, 6) in words: start, end and bits of the
//             weight of the source span, then of the candidate; output (R, D)
// Bindings    0 params; 1 words; 2 sums; 3 output
// Dispatch    R * D / 256 over x, then y, rounded up
// Reference   kernels/span_maxima.rs, 1e-6

struct Params {
    rows: u32,
    width: u32,
    spans: u32,
    padding: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> words: array<u32>;
@group(0) @binding(2) var<storage, read> sums: array<f32>;
@group(0) @binding(3) var<storage, read_write> output: array<f32>;

const WORKGROUP_SIZE: u32 = 256u;
const RECORD: u32 = 6u;

fn mean(span: u32, column: u32) -> f32 {
    let start = sums[words[span] * params.width + column];
    let end = sums[words[span + 1u] * params.width + column];
    return (end - start) * bitcast<f32>(words[span + 2u]);
}

@compute @workgroup_size(256)
fn span_maxima(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let at = (workgroup.y * grid.x + workgroup.x) * WORKGROUP_SIZE + lane;
    if (at >= params.rows * params.width) {
        return;
    }
    let record = params.spans + at / params.width * RECORD;
    let column = at % params.width;
    output[at] = max(mean(record + 3u, column), mean(record, column));
}
