// attention: each query over its own list of keys, for one head.
//
// output[r] = sum_t softmax_t(scale * query[r] . key[e(r, t)] + bias(r, t)) * value[e(r, t)]
//
// Shapes      queries, output (R, D); keys, values (N, D / sharing); D = heads * columns, columns <= 256;
//             `sharing` neighbouring heads see the same keys.
//             lists (R, 2) in words: first entry and number of entries. The entries are rows of the
//             keys, or places in a table of rows in words where `has_table`: an encoder's sentence
//             is a run of rows, a decoder's past a path through a cache that hypotheses share.
//             biases (heads, distances), where `has_bias`: key t of row r gets the one of column
//             zero + t - position of r, which stands in words.
// Bindings    0 params; 1 words; 2 queries; 3 keys; 4 values; 5 biases; 6 output
// Dispatch    (rows over x, then y, heads)
// Reference   kernels/attention.rs, 1e-5 of the largest value
//
// Keys come in blocks of one for each lane. The largest score so far is kept, and what was summed is
// scaled down when a larger one comes  (Milakov and Gimelshein 2018, algorithm 3), so a list may be
// of any length.

struct Params {
    rows: u32,
    width: u32,
    columns: u32,
    lists: u32,
    table: u32,
    has_table: u32,
    scale: f32,
    has_bias: u32,
    positions: u32,
    distances: u32,
    zero: u32,
    sharing: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> words: array<u32>;
@group(0) @binding(2) var<storage, read> queries: array<f32>;
@group(0) @binding(3) var<storage, read> keys: array<f32>;
@group(0) @binding(4) var<storage, read> values: array<f32>;
@group(0) @binding(5) var<storage, read> biases: array<f32>;
@group(0) @binding(6) var<storage, read_write> output: array<f32>;

const WORKGROUP_SIZE: u32 = 64u;
const MOST_COLUMNS: u32 = 256u;
const MASKED: f32 = -1e30;

var<workgroup> query: array<f32, MOST_COLUMNS>;
var<workgroup> scores: array<f32, WORKGROUP_SIZE>;
var<workgroup> offsets: array<u32, WORKGROUP_SIZE>;

@compute @workgroup_size(64)
fn attention(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let row = workgroup.y * grid.x + workgroup.x;
    if (row >= params.rows) {
        return;
    }
    let first_column = workgroup.z * params.columns;
    let key_width = params.width / params.sharing;
    let first_key_column = workgroup.z / params.sharing * params.columns;
    let start = words[params.lists + 2u * row];
    let length = words[params.lists + 2u * row + 1u];
    for (var i = lane; i < params.columns; i += WORKGROUP_SIZE) {
        query[i] = queries[row * params.width + first_column + i];
    }
    var largest = MASKED;
    var weight = 0.0;
    var sums = vec4<f32>();
    for (var first = 0u; first < length; first += WORKGROUP_SIZE) {
        let count = min(WORKGROUP_SIZE, length - first);
        // The block before is read to the end, and the query is there.
        workgroupBarrier();
        // 1. One score for each lane.
        if (lane < count) {
            var entry = start + first + lane;
            if (params.has_table != 0u) {
                entry = words[params.table + entry];
            }
            let offset = entry * key_width + first_key_column;
            var score = 0.0;
            for (var i = 0u; i < params.columns; i++) {
                score = fma(query[i], keys[offset + i], score);
            }
            score *= params.scale;
            if (params.has_bias != 0u) {
                let column = params.zero + first + lane - words[params.positions + row];
                score += biases[workgroup.z * params.distances + column];
            }
            scores[lane] = score;
            offsets[lane] = offset;
        }
        workgroupBarrier();
        // 2. The largest score, the same for all lanes.
        var larger = largest;
        for (var t = 0u; t < count; t++) {
            larger = max(larger, scores[t]);
        }
        let shrink = exp(largest - larger);
        weight *= shrink;
        sums *= shrink;
        largest = larger;
        // 3. The values, up to four columns for each lane.
        for (var t = 0u; t < count; t++) {
            let share = exp(scores[t] - largest);
            weight += share;
            for (var i = 0u; i < 4u; i++) {
                let column = lane + i * WORKGROUP_SIZE;
                if (column < params.columns) {
                    sums[i] = fma(share, values[offsets[t] + column], sums[i]);
                }
            }
        }
    }
    for (var i = 0u; i < 4u; i++) {
        let column = lane + i * WORKGROUP_SIZE;
        if (column < params.columns) {
            output[row * params.width + first_column + column] = sums[i] / weight;
        }
    }
}
