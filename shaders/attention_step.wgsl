// attention_step: each query over its own few keys, for one head: a decoder's step.
//
// output[r] = sum_t softmax_t(scale * query[r] . key[e(r, t)] + bias(r, t)) * value[e(r, t)]
//
// Shapes      queries, output (R, D); keys, values (N, D / sharing), all in vectors of four numbers;
//             D = heads * columns, columns <= 256 and a multiple of 4; `sharing` neighbouring heads see
//             the same keys. lists (R, 2) in words: first
//             entry and number of entries, which are places in a table of rows in words.
//             biases (heads, distances), where `has_bias`: key t of row r gets the one of column
//             zero + t - position of r, which stands in words.
// Bindings    0 params; 1 words; 2 queries; 3 keys; 4 values; 5 biases; 6 output
// Dispatch    (rows over x, then y, heads)
// Reference   kernels/attention.rs, 1e-5 of the largest value
//
// A step has one query for each list and lists of some dozens of keys, so a lane for each key would leave
// most without work, each reading a row of its own. Here 16 lanes read a key together, vector by vector,
// and four keys are on their way at once; values the same way, and the four sums are added at the end.
// Blocks of 64 keys follow one another as in `attention`.

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
@group(0) @binding(2) var<storage, read> queries: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> keys: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read> values: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read> biases: array<f32>;
@group(0) @binding(6) var<storage, read_write> output: array<vec4<f32>>;

const WORKGROUP_SIZE: u32 = 64u;
/// Lanes that read a key together, and keys that are read at once.
const TEAM: u32 = 16u;
const TEAMS: u32 = 4u;
/// Vectors of a lane: heads have at most 256 columns.
const VECTORS: u32 = 4u;
/// Numbers between two keys' products, so that lanes that add them up meet in no bank.
const PITCH: u32 = 17u;
const MASKED: f32 = -1e30;

var<workgroup> products: array<f32, 1088>;
var<workgroup> scores: array<f32, WORKGROUP_SIZE>;
var<workgroup> offsets: array<u32, WORKGROUP_SIZE>;
var<workgroup> partial: array<vec4<f32>, 256>;

@compute @workgroup_size(64)
fn attention_step(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let row = workgroup.y * grid.x + workgroup.x;
    if (row >= params.rows) {
        return;
    }
    let vectors = params.columns / 4u;
    let stride = params.width / 4u;
    let first_vector = workgroup.z * vectors;
    let key_stride = stride / params.sharing;
    let first_key_vector = workgroup.z / params.sharing * vectors;
    let start = words[params.lists + 2u * row];
    let length = words[params.lists + 2u * row + 1u];
    let own = lane % TEAM;
    let team = lane / TEAM;
    var query: array<vec4<f32>, VECTORS>;
    for (var i = 0u; i < VECTORS; i++) {
        let vector = own + i * TEAM;
        if (vector < vectors) {
            query[i] = queries[row * stride + first_vector + vector];
        }
    }
    var largest = MASKED;
    var weight = 0.0;
    var sums: array<vec4<f32>, VECTORS>;
    for (var first = 0u; first < length; first += WORKGROUP_SIZE) {
        let count = min(WORKGROUP_SIZE, length - first);
        // The block before is read to the end.
        workgroupBarrier();
        // 1. Where the keys lie, and each lane's part of their products with the query.
        if (lane < count) {
            offsets[lane] = words[params.table + start + first + lane] * key_stride + first_key_vector;
        }
        workgroupBarrier();
        for (var t = team; t < count; t += TEAMS) {
            var product = 0.0;
            for (var i = 0u; i < VECTORS; i++) {
                let vector = own + i * TEAM;
                if (vector < vectors) {
                    product += dot(query[i], keys[offsets[t] + vector]);
                }
            }
            products[t * PITCH + own] = product;
        }
        workgroupBarrier();
        // 2. One score for each lane, and the largest of them.
        if (lane < count) {
            var score = 0.0;
            for (var i = 0u; i < TEAM; i++) {
                score += products[lane * PITCH + i];
            }
            score *= params.scale;
            if (params.has_bias != 0u) {
                let column = params.zero + first + lane - words[params.positions + row];
                score += biases[workgroup.z * params.distances + column];
            }
            scores[lane] = score;
        }
        workgroupBarrier();
        var larger = largest;
        for (var t = 0u; t < count; t++) {
            larger = max(larger, scores[t]);
        }
        let shrink = exp(largest - larger);
        weight *= shrink;
        for (var i = 0u; i < VECTORS; i++) {
            sums[i] *= shrink;
        }
        largest = larger;
        // 3. The values; each team sums its keys.
        for (var t = team; t < count; t += TEAMS) {
            let share = exp(scores[t] - largest);
            weight += share;
            for (var i = 0u; i < VECTORS; i++) {
                let vector = own + i * TEAM;
                if (vector < vectors) {
                    sums[i] += share * values[offsets[t] + vector];
                }
            }
        }
    }
    // 4. The teams' sums together; `products` holds their weights.
    workgroupBarrier();
    products[lane] = weight;
    for (var i = 0u; i < VECTORS; i++) {
        partial[i * WORKGROUP_SIZE + lane] = sums[i];
    }
    workgroupBarrier();
    let all = products[own] + products[own + TEAM] + products[own + 2u * TEAM] + products[own + 3u * TEAM];
    for (var vector = lane; vector < vectors; vector += WORKGROUP_SIZE) {
        let at = vector / TEAM * WORKGROUP_SIZE + vector % TEAM;
        let sum = partial[at] + partial[at + TEAM] + partial[at + 2u * TEAM] + partial[at + 3u * TEAM];
        output[row * stride + first_vector + vector] = sum / all;
    }
}
