// sample_tokens: draws one of the tokens that a row may take.
//
// p[v] = e^((logit[v] - max) / temperature); of the tokens that are not banned the `top_k` of highest
// logit stay (ties to the lower token), of those the fewest, best first, that reach the share `top_p`;
// the first token, in order of tokens, at which the running sum of p passes `uniform` of it all is drawn
//
// Shapes      logits (R, V). For each row seven words: first banned token and number of them,
//             `renormalizes`, temperature, top_k, top_p, uniform (bits of f32s). Banned tokens ascend.
//             output (R, 3): 0 where a logit is not finite, 1 where nothing is left, else 2; the token;
//             bits of its log-probability at temperature 1
// Bindings    0 params; 1 words; 2 logits; 3 output
// Dispatch    one workgroup for each row, over x, then y
// Reference   kernels/sample_tokens.rs, 1e-5; the same token where no running sum is that close to its goal
//
// Who stays is a bar: a logit, and among equals of it a last token. It is found bit by bit, on bits that
// order as logits do, by counting (`top_k`) or by adding up (`top_p`) what lies above. Then each lane
// takes a stretch of neighbouring tokens, so that their sums lie in order of tokens.

struct Params {
    rows: u32,
    tokens: u32,
    records: u32,
    first_row: u32,
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
var<workgroup> counts: array<u32, WORKGROUP_SIZE>;

/// What the lanes know of their row.
struct Row {
    start: u32,
    banned: u32,
    banned_count: u32,
    temperature: f32,
    best: f32,
}

/// Which tokens stay: those above the bar, and those at it up to a last token.
struct Bar {
    key: u32,
    last: u32,
}

/// A sum and a count over all lanes.
struct Total {
    sum: f32,
    count: u32,
}

fn is_finite(x: f32) -> bool {
    return (bitcast<u32>(x) & 0x7f800000u) != 0x7f800000u;
}

/// Bits that order as numbers do.
fn key_of(x: f32) -> u32 {
    let bits = bitcast<u32>(x);
    return select(bits | 0x80000000u, ~bits, bits >= 0x80000000u);
}

fn is_banned(row: Row, token: u32) -> bool {
    var low = 0u;
    var high = row.banned_count;
    while (low < high) {
        let middle = (low + high) / 2u;
        if (words[row.banned + middle] < token) {
            low = middle + 1u;
        } else {
            high = middle;
        }
    }
    return low < row.banned_count && words[row.banned + low] == token;
}

fn weight_of(row: Row, x: f32) -> f32 {
    return exp((x - row.best) / row.temperature);
}

fn stays(row: Row, bar: Bar, token: u32) -> bool {
    let key = key_of(logits[row.start + token]);
    return (key > bar.key || (key == bar.key && token <= bar.last)) && !is_banned(row, token);
}

/// The sum and the count of what every lane has.
fn total(lane: u32, sum: f32, count: u32) -> Total {
    workgroupBarrier();
    numbers[lane] = sum;
    counts[lane] = count;
    workgroupBarrier();
    if (lane < GROUPS) {
        for (var i = lane + GROUPS; i < WORKGROUP_SIZE; i += GROUPS) {
            numbers[lane] += numbers[i];
            counts[lane] += counts[i];
        }
    }
    workgroupBarrier();
    var found = Total(numbers[0], counts[0]);
    for (var i = 1u; i < GROUPS; i++) {
        found.sum += numbers[i];
        found.count += counts[i];
    }
    return found;
}

/// The largest number of any lane, and how often a count was raised.
fn largest(lane: u32, own: f32, count: u32) -> Total {
    workgroupBarrier();
    numbers[lane] = own;
    counts[lane] = count;
    workgroupBarrier();
    if (lane < GROUPS) {
        for (var i = lane + GROUPS; i < WORKGROUP_SIZE; i += GROUPS) {
            numbers[lane] = max(numbers[lane], numbers[i]);
            counts[lane] += counts[i];
        }
    }
    workgroupBarrier();
    var found = Total(numbers[0], counts[0]);
    for (var i = 1u; i < GROUPS; i++) {
        found.sum = max(found.sum, numbers[i]);
        found.count += counts[i];
    }
    return found;
}

/// Weight and number of the tokens that stay under `bar`, with bits of at least `key`.
fn above(lane: u32, row: Row, bar: Bar, key: u32) -> Total {
    var sum = 0.0;
    var count = 0u;
    for (var token = lane; token < params.tokens; token += WORKGROUP_SIZE) {
        let x = logits[row.start + token];
        if (key_of(x) >= key && stays(row, bar, token)) {
            sum += weight_of(row, x);
            count += 1u;
        }
    }
    return total(lane, sum, count);
}

/// The token that is the `wanted`-th with the bits `key` among those that stay under `bar`.
fn last_of(lane: u32, row: Row, bar: Bar, key: u32, wanted: u32) -> u32 {
    var low = 0u;
    var high = params.tokens - 1u;
    while (low < high) {
        let middle = (low + high) / 2u;
        var count = 0u;
        for (var token = lane; token <= middle; token += WORKGROUP_SIZE) {
            if (key_of(logits[row.start + token]) == key && stays(row, bar, token)) {
                count += 1u;
            }
        }
        if (total(lane, 0.0, count).count < wanted) {
            low = middle + 1u;
        } else {
            high = middle;
        }
    }
    return low;
}

/// The bar under which the `count` best stay, or the fewest that weigh `weight`: whichever is not 0.
fn raise(lane: u32, row: Row, bar: Bar, count: u32, weight: f32) -> Bar {
    var key = 0u;
    for (var bit = 0x80000000u; bit > 0u; bit /= 2u) {
        let found = above(lane, row, bar, key | bit);
        let reaches = select(found.sum >= weight, found.count >= count, count > 0u);
        key = select(key, key | bit, reaches);
    }
    // Those above the bar all stay; of its own as many as are missing.
    let better = above(lane, row, bar, key + 1u);
    let at_bar = above(lane, row, bar, key).count - better.count;
    var wanted = count - better.count;
    if (count == 0u) {
        let own = (weight - better.sum) / max(weight_of(row, of_key(key)), 1e-30);
        wanted = u32(clamp(ceil(own), 1.0, f32(max(at_bar, 1u))));
    }
    if (wanted >= at_bar) {
        return Bar(key, select(NONE, bar.last, key == bar.key));
    }
    return Bar(key, last_of(lane, row, bar, key, wanted));
}

/// The number whose bits order so.
fn of_key(key: u32) -> f32 {
    return bitcast<f32>(select(~key, key & 0x7fffffffu, key >= 0x80000000u));
}

@compute @workgroup_size(256)
fn sample_tokens(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let number = workgroup.y * grid.x + workgroup.x;
    if (number >= params.rows) {
        return;
    }
    let record = params.records + (params.first_row + number) * RECORD;
    let renormalizes = words[record + 2u] != 0u;
    let top_k = words[record + 4u];
    let top_p = bitcast<f32>(words[record + 5u]);
    let result = 3u * (params.first_row + number);
    var row = Row(
        number * params.tokens,
        words[record],
        words[record + 1u],
        bitcast<f32>(words[record + 3u]),
        LOWEST,
    );

    // 1. The largest logits, of all tokens and of those that are not banned, and whether all are finite.
    var high = LOWEST;
    var best = LOWEST;
    var broken = 0u;
    for (var token = lane; token < params.tokens; token += WORKGROUP_SIZE) {
        let x = logits[row.start + token];
        let banned = is_banned(row, token);
        broken += select(1u, 0u, is_finite(x));
        high = max(high, select(x, MASKED, renormalizes && banned));
        best = max(best, select(x, LOWEST, banned));
    }
    let highest = largest(lane, high, broken);
    row.best = largest(lane, best, 0u).sum;
    if (highest.count > 0u) {
        if (lane == 0u) {
            output[result] = 0u;
        }
        return;
    }

    // 2. What the log-probability is counted from.
    var sum = 0.0;
    for (var token = lane; token < params.tokens; token += WORKGROUP_SIZE) {
        let x = logits[row.start + token];
        let is_left = !renormalizes || !is_banned(row, token);
        sum += exp(select(MASKED, x, is_left) - highest.sum);
    }
    let normaliser = highest.sum + log(total(lane, sum, 0u).sum);

    // 3. The tokens to choose among.
    var bar = Bar(0u, NONE);
    var left = above(lane, row, bar, 0u);
    if (left.count == 0u) {
        if (lane == 0u) {
            output[result] = 1u;
        }
        return;
    }
    if (top_k > 0u && top_k < left.count) {
        bar = raise(lane, row, bar, top_k, 0.0);
        left = above(lane, row, bar, 0u);
    }
    if (top_p < 1.0) {
        // The best token weighs 1, so a sum is never as little as the smallest goal.
        bar = raise(lane, row, bar, 0u, max(top_p * left.sum, 1e-30));
    }

    // 4. Every lane's stretch, and the sums before and behind it.
    let stretch = (params.tokens + WORKGROUP_SIZE - 1u) / WORKGROUP_SIZE;
    let end = min((lane + 1u) * stretch, params.tokens);
    var own = 0.0;
    for (var token = lane * stretch; token < end; token++) {
        if (stays(row, bar, token)) {
            own += weight_of(row, logits[row.start + token]);
        }
    }
    workgroupBarrier();
    numbers[lane] = own;
    workgroupBarrier();
    var before = 0.0;
    var behind = 0.0;
    var all = 0.0;
    for (var i = 0u; i < WORKGROUP_SIZE; i++) {
        before = select(before, all, i == lane);
        all += numbers[i];
        behind = select(behind, all, i == lane);
    }

    // 5. The lane in whose stretch the goal lies draws.
    let goal = bitcast<f32>(words[record + 6u]) * all;
    if (before <= goal && behind > goal) {
        var drawn = NONE;
        for (var token = lane * stretch; token < end && before <= goal; token++) {
            if (stays(row, bar, token)) {
                before += weight_of(row, logits[row.start + token]);
                drawn = token;
            }
        }
        output[result] = 2u;
        output[result + 1u] = drawn;
        output[result + 2u] = bitcast<u32>(logits[row.start + drawn] - normaliser);
    }
}
