// attention_step: each query over its own few keys, for heads that share them: a decoder's step.
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
// Dispatch    (pairs of rows over x, then y, fours of heads that share keys)
// Reference   kernels/attention.rs, 1e-5 of the largest value
//
// A step has one query for each list and lists of some dozens of keys, which lie in memory that is slow:
// so a key is read once for up to four heads that share it, whose scores are one vector. A row has 64
// lanes. Four of them read a key together, vector by vector, and four keys are on their way at once;
// values the same way, by as many lanes as a value has vectors. Two rows stand side by side and share
// nothing but the device's cache: neighbours are hypotheses of one beam, whose lists begin alike.
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

/// Rows of a workgroup; lanes of a row, and keys of a block.
const ROWS: u32 = 2u;
const LANES: u32 = 64u;
/// Heads of a workgroup: components of a vector of scores.
const HEADS: u32 = 4u;
/// Lanes that read a key together, and keys that are read at once.
const TEAM: u32 = 4u;
const TEAMS: u32 = 16u;
/// Keys or values that a lane has on their way at once.
const AHEAD: u32 = 4u;
/// Vectors between the parts of products, so that lanes of a team meet in no bank.
const PITCH: u32 = 66u;
/// Vectors of a row in `parts`: TEAM * PITCH, and no fewer than HEADS * LANES.
const PARTS: u32 = 264u;
/// Numbers that are left of a block's scores on the way to the largest.
const PEAKS: u32 = 8u;
const MASKED: f32 = -1e30;

/// Each lane's part of the products; at the end the sums of values.
var<workgroup> parts: array<vec4<f32>, 528>;
/// Scores, then their exponentials; at the end the sums of those.
var<workgroup> shares: array<vec4<f32>, 128>;
var<workgroup> peaks: array<vec4<f32>, 16>;
var<workgroup> offsets: array<u32, 128>;

/// Entries of a row's list; none where there is no such row.
fn length_of(row: u32) -> u32 {
    if (row >= params.rows) {
        return 0u;
    }
    return words[params.lists + 2u * row + 1u];
}

@compute @workgroup_size(128)
fn attention_step(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) index: u32,
) {
    let first_row = (workgroup.y * grid.x + workgroup.x) * ROWS;
    if (first_row >= params.rows) {
        return;
    }
    let longest = max(length_of(first_row), length_of(first_row + 1u));
    // The lane's row, and where it lies in what the rows do not share.
    let lane = index % LANES;
    let side = index / LANES;
    let row = first_row + side;
    let length = length_of(row);
    let base = side * LANES;
    // Its heads.
    let fours = (params.sharing + HEADS - 1u) / HEADS;
    let key_head = workgroup.z / fours;
    let four = workgroup.z % fours;
    let first_head = key_head * params.sharing + four * HEADS;
    let heads = min(HEADS, params.sharing - four * HEADS);
    let vectors = params.columns / 4u;
    let stride = params.width / 4u;
    let first_query = row * stride + first_head * vectors;
    let key_stride = stride / params.sharing;
    // Its place among those who read keys, and among those who read values.
    let own = lane % TEAM;
    let team = lane / TEAM;
    let groups = LANES / vectors;
    let vector = lane % vectors;
    let group = lane / vectors;
    let has_group = group < groups;

    var largest = vec4<f32>(MASKED);
    var weight = vec4<f32>(0.0);
    var sums = array<vec4<f32>, HEADS>();
    for (var first = 0u; first < longest; first += LANES) {
        let count = min(max(length, first) - first, LANES);
        // The block before is read to the end.
        workgroupBarrier();
        // 1. Where the keys lie, and each lane's part of their products with the queries.
        if (lane < count) {
            let at = params.table + words[params.lists + 2u * row] + first + lane;
            offsets[index] = words[at] * key_stride + key_head * vectors;
        }
        workgroupBarrier();
        var products = array<vec4<f32>, AHEAD>();
        for (var v = own; v < vectors; v += TEAM) {
            var found = array<vec4<f32>, AHEAD>();
            for (var i = 0u; i < AHEAD; i++) {
                let t = team + i * TEAMS;
                if (t < count) {
                    found[i] = keys[offsets[base + t] + v];
                }
            }
            var query = array<vec4<f32>, HEADS>();
            for (var head = 0u; head < HEADS; head++) {
                if (head < heads && count > 0u) {
                    query[head] = queries[first_query + head * vectors + v];
                }
            }
            for (var head = 0u; head < HEADS; head++) {
                if (head < heads) {
                    for (var i = 0u; i < AHEAD; i++) {
                        products[i][head] += dot(query[head], found[i]);
                    }
                }
            }
        }
        for (var i = 0u; i < AHEAD; i++) {
            parts[side * PARTS + own * PITCH + team + i * TEAMS] = products[i];
        }
        workgroupBarrier();
        // 2. A key's scores for each lane, and the largest of all.
        var score = vec4<f32>(MASKED);
        if (lane < count) {
            score = vec4<f32>(0.0);
            for (var i = 0u; i < TEAM; i++) {
                score += parts[side * PARTS + i * PITCH + lane];
            }
            score *= params.scale;
            if (params.has_bias != 0u) {
                let column = params.zero + first + lane - words[params.positions + row];
                for (var head = 0u; head < HEADS; head++) {
                    if (head < heads) {
                        score[head] += biases[(first_head + head) * params.distances + column];
                    }
                }
            }
        }
        shares[index] = score;
        workgroupBarrier();
        if (lane < PEAKS) {
            var peak = score;
            for (var i = PEAKS; i < LANES; i += PEAKS) {
                peak = max(peak, shares[index + i]);
            }
            peaks[side * PEAKS + lane] = peak;
        }
        workgroupBarrier();
        var larger = largest;
        for (var i = 0u; i < PEAKS; i++) {
            larger = max(larger, peaks[side * PEAKS + i]);
        }
        shares[index] = exp(score - larger);
        // A row that is through keeps its sums to the bit.
        if (count > 0u) {
            let shrink = exp(largest - larger);
            weight *= shrink;
            for (var head = 0u; head < HEADS; head++) {
                sums[head] *= shrink[head];
            }
            largest = larger;
        }
        workgroupBarrier();
        // 3. The values; each group of lanes sums its own.
        if (has_group) {
            for (var t = group; t < count; t += AHEAD * groups) {
                var found = array<vec4<f32>, AHEAD>();
                var share = array<vec4<f32>, AHEAD>();
                for (var i = 0u; i < AHEAD; i++) {
                    let at = t + i * groups;
                    if (at < count) {
                        found[i] = values[offsets[base + at] + vector];
                        share[i] = shares[base + at];
                    }
                }
                for (var head = 0u; head < HEADS; head++) {
                    if (head < heads) {
                        for (var i = 0u; i < AHEAD; i++) {
                            weight[head] += share[i][head];
                            sums[head] += share[i][head] * found[i];
                        }
                    }
                }
            }
        }
    }
    // 4. The groups' sums together.
    workgroupBarrier();
    for (var head = 0u; head < HEADS; head++) {
        parts[side * PARTS + head * LANES + lane] = sums[head];
    }
    if (has_group && vector == 0u) {
        shares[base + group] = weight;
    }
    workgroupBarrier();
    if (row >= params.rows || !has_group) {
        return;
    }
    for (var head = group; head < heads; head += groups) {
        var sum = vec4<f32>(0.0);
        var all = 0.0;
        for (var i = 0u; i < groups; i++) {
            sum += parts[side * PARTS + head * LANES + i * vectors + vector];
            all += shares[base + i][head];
        }
        output[first_query + head * vectors + vector] = sum / all;
    }
}
