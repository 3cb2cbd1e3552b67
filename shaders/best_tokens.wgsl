// best_tokens: log-softmax over the vocabulary, then the best tokens that a row may take.
//
// log_prob[v] = logit[v] - log sum_w e^logit[w]; tokens in order of score + log_prob, ties to the
// lower token
//
// Shapes      logits (R, V). For each row seven words: score (bits of an f32), first banned token and
//             number of them, first extra token and number of them, `renormalizes`, place of the
//             extra results. Banned tokens ascend.
//             output: for each row 2 + 2 * top words (1 where all logits are finite, number of
//             tokens, then token and bits of its log-probability), then the extra log-probabilities.
// Bindings    0 params; 1 words; 2 logits; 3 output
// Dispatch    one workgroup for each row, over x, then y
// Reference   kernels/best_tokens.rs, 1e-5
//
// A lane holds the best token of its own stripe (tokens lane, lane + 256, ...). The best of these is
// taken `top` times; its lane alone looks through its stripe again, for the best one after it.
// Whether a number is finite is read off its bits: a compiler may assume that all are.

struct Params {
    rows: u32,
    tokens: u32,
    top: u32,
    records: u32,
    first_row: u32,
    padding_0: u32,
    padding_1: u32,
    padding_2: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> words: array<u32>;
@group(0) @binding(2) var<storage, read> logits: array<f32>;
@group(0) @binding(3) var<storage, read_write> output: array<u32>;

const WORKGROUP_SIZE: u32 = 256u;
const GROUPS: u32 = 16u;
const RECORD: u32 = 7u;
const NONE: u32 = 0xffffffffu;
const LOWEST: f32 = -3.4028234e38;
const MASKED: f32 = -1e30;

var<workgroup> numbers: array<f32, WORKGROUP_SIZE>;
var<workgroup> marks: array<u32, WORKGROUP_SIZE>;

struct Best {
    sum: f32,
    token: u32,
}

fn is_finite(x: f32) -> bool {
    return (bitcast<u32>(x) & 0x7f800000u) != 0x7f800000u;
}

fn is_banned(first: u32, count: u32, token: u32) -> bool {
    var low = 0u;
    var high = count;
    while (low < high) {
        let middle = (low + high) / 2u;
        if (words[first + middle] < token) {
            low = middle + 1u;
        } else {
            high = middle;
        }
    }
    return low < count && words[first + low] == token;
}

/// The sum of a number of every lane.
fn total(lane: u32, own: f32) -> f32 {
    workgroupBarrier();
    numbers[lane] = own;
    workgroupBarrier();
    if (lane < GROUPS) {
        var sum = 0.0;
        for (var i = lane; i < WORKGROUP_SIZE; i += GROUPS) {
            sum += numbers[i];
        }
        numbers[lane] = sum;
    }
    workgroupBarrier();
    var sum = 0.0;
    for (var i = 0u; i < GROUPS; i++) {
        sum += numbers[i];
    }
    return sum;
}

/// The largest number of any lane, and whether any lane raised its mark.
fn largest(lane: u32, own: f32, mark: u32) -> Best {
    workgroupBarrier();
    numbers[lane] = own;
    marks[lane] = mark;
    workgroupBarrier();
    if (lane < GROUPS) {
        for (var i = lane + GROUPS; i < WORKGROUP_SIZE; i += GROUPS) {
            numbers[lane] = max(numbers[lane], numbers[i]);
            marks[lane] |= marks[i];
        }
    }
    workgroupBarrier();
    var found = Best(numbers[0], marks[0]);
    for (var i = 1u; i < GROUPS; i++) {
        found.sum = max(found.sum, numbers[i]);
        found.token |= marks[i];
    }
    return found;
}

fn is_better(sum: f32, token: u32, than: Best) -> bool {
    return token != NONE
        && (than.token == NONE || sum > than.sum || (sum == than.sum && token < than.token));
}

/// The best of the lanes' tokens.
fn best_of_all(lane: u32, own: Best) -> Best {
    workgroupBarrier();
    numbers[lane] = own.sum;
    marks[lane] = own.token;
    workgroupBarrier();
    if (lane < GROUPS) {
        var found = own;
        for (var i = lane + GROUPS; i < WORKGROUP_SIZE; i += GROUPS) {
            if (is_better(numbers[i], marks[i], found)) {
                found = Best(numbers[i], marks[i]);
            }
        }
        numbers[lane] = found.sum;
        marks[lane] = found.token;
    }
    workgroupBarrier();
    var found = Best(numbers[0], marks[0]);
    for (var i = 1u; i < GROUPS; i++) {
        if (is_better(numbers[i], marks[i], found)) {
            found = Best(numbers[i], marks[i]);
        }
    }
    return found;
}

@compute @workgroup_size(256)
fn best_tokens(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let row = workgroup.y * grid.x + workgroup.x;
    if (row >= params.rows) {
        return;
    }
    let record = params.records + (params.first_row + row) * RECORD;
    let score = bitcast<f32>(words[record]);
    let banned = words[record + 1u];
    let banned_count = words[record + 2u];
    let renormalizes = words[record + 5u] != 0u && banned_count > 0u;
    let start = row * params.tokens;
    let result = (params.first_row + row) * (2u + 2u * params.top);

    // 1. The largest logit, and whether all are finite.
    var high = LOWEST;
    var broken = select(1u, 0u, is_finite(score));
    for (var token = lane; token < params.tokens; token += WORKGROUP_SIZE) {
        let x = logits[start + token];
        if (!is_finite(x)) {
            broken = 1u;
        } else if (!renormalizes || !is_banned(banned, banned_count, token)) {
            high = max(high, x);
        } else {
            high = max(high, MASKED);
        }
    }
    let found = largest(lane, high, broken);
    if (found.token != 0u) {
        if (lane == 0u) {
            output[result] = 0u;
            output[result + 1u] = 0u;
        }
        return;
    }

    // 2. What log-probabilities are counted from.
    var sum = 0.0;
    for (var token = lane; token < params.tokens; token += WORKGROUP_SIZE) {
        var x = logits[start + token];
        if (renormalizes && is_banned(banned, banned_count, token)) {
            x = MASKED;
        }
        sum += exp(x - found.sum);
    }
    let normaliser = found.sum + log(total(lane, sum));
    let extra = words[record + 3u];
    for (var i = lane; i < words[record + 4u]; i += WORKGROUP_SIZE) {
        let log_prob = logits[start + words[extra + i]] - normaliser;
        output[words[record + 6u] + i] = bitcast<u32>(log_prob);
    }

    // 3. The best tokens, one after another.
    var own = Best(LOWEST, NONE);
    var searches = true;
    var taken = Best(0.0, NONE);
    var count = 0u;
    for (var place = 0u; place < params.top; place++) {
        if (searches) {
            own = Best(LOWEST, NONE);
            for (var token = lane; token < params.tokens; token += WORKGROUP_SIZE) {
                let s = (logits[start + token] - normaliser) + score;
                let is_left = taken.token == NONE || s < taken.sum
                    || (s == taken.sum && token > taken.token);
                if (is_left && s > own.sum && !is_banned(banned, banned_count, token)) {
                    own = Best(s, token);
                }
            }
        }
        let best = best_of_all(lane, own);
        searches = best.token != NONE && best.token == own.token;
        if (searches) {
            taken = best;
            let at = result + 2u + 2u * place;
            output[at] = best.token;
            output[at + 1u] = bitcast<u32>(logits[start + best.token] - normaliser);
        }
        count += select(0u, 1u, best.token != NONE);
    }
    if (lane == 0u) {
        output[result] = 1u;
        output[result + 1u] = count;
    }
}
