// place_heads: queries, keys and values out of one product; queries and keys turn, keys and values go to
// their entries of the cache.
//
// queries[r][c] = turn(x[r])[c]; keys[entries[r]][c] = turn(x[r])[Q + c]; values[entries[r]][c] = x[r][Q + K + c]
// where x[r] = sums[r] * factor + bias
//
// Shapes      sums (R, stride >= Q + 2 K); turns (N, 2 half), cosines before sines; bias (Q + 2 K); queries
//             (R, Q); keys, values (table_rows, K); positions, entries (R) in words
// Bindings    0 params; 1 words; 2 sums; 3 turns; 4 bias; 5 queries; 6 keys; 7 values
// Dispatch    a workgroup for each row, x then y
// Reference   kernels/rotate.rs, then kernels/scatter.rs
//
// The tables may be a stretch of the cache that begins at entry `first_entry`: entries outside it are
// another call's.

struct Params {
    rows: u32,
    stride: u32,
    queries: u32,
    keys: u32,
    half: u32,
    positions: u32,
    entries: u32,
    first_entry: u32,
    table_rows: u32,
    has_bias: u32,
    factor: f32,
    padding: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> words: array<u32>;
@group(0) @binding(2) var<storage, read> sums: array<f32>;
@group(0) @binding(3) var<storage, read> turns: array<f32>;
@group(0) @binding(4) var<storage, read> bias: array<f32>;
@group(0) @binding(5) var<storage, read_write> queries: array<f32>;
@group(0) @binding(6) var<storage, read_write> keys: array<f32>;
@group(0) @binding(7) var<storage, read_write> values: array<f32>;

const WORKGROUP_SIZE: u32 = 128u;

fn number_at(row: u32, column: u32) -> f32 {
    var number = sums[row * params.stride + column] * params.factor;
    if (params.has_bias != 0u) {
        number += bias[column];
    }
    return number;
}

@compute @workgroup_size(128)
fn place_heads(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let row = workgroup.y * grid.x + workgroup.x;
    if (row >= params.rows) {
        return;
    }
    let entry = words[params.entries + row];
    let is_here = entry >= params.first_entry && entry - params.first_entry < params.table_rows;
    let to = (entry - params.first_entry) * params.keys;
    // 1. Pairs of queries and keys, which lie half a head apart.
    let first_turn = 2u * words[params.positions + row] * params.half;
    for (var pair = lane; pair < (params.queries + params.keys) / 2u; pair += WORKGROUP_SIZE) {
        let first = pair / params.half * (2u * params.half) + pair % params.half;
        let second = first + params.half;
        let cosine = turns[first_turn + pair % params.half];
        let sine = turns[first_turn + params.half + pair % params.half];
        let a = number_at(row, first);
        let b = number_at(row, second);
        let turned = vec2<f32>(a * cosine - b * sine, b * cosine + a * sine);
        if (first < params.queries) {
            queries[row * params.queries + first] = turned.x;
            queries[row * params.queries + second] = turned.y;
        } else if (is_here) {
            keys[to + first - params.queries] = turned.x;
            keys[to + second - params.queries] = turned.y;
        }
    }
    // 2. Values as they are.
    if (is_here) {
        for (var column = lane; column < params.keys; column += WORKGROUP_SIZE) {
            values[to + column] = number_at(row, params.queries + params.keys + column);
        }
    }
}
