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
// One pass reads the logits: a lane sums the exponentials of its own stripe (tokens lane, lane + 256,
// ...) below the largest so far, and keeps its two best tokens and the largest logit of the others.
// The best of the lanes' tokens is then taken `top` times. Sums of different logits may be equal by
// rounding, so a kept token is a lane's best only where its sum is above that of the others; else, and
// where both are taken, the lane claims what the others have at most. If that claim is the best, all
// lanes look through its stripe together.
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
/// Sums of as many lanes each, on the way to one.
const GROUPS: u32 = 16u;
const RECORD: u32 = 7u;
const NONE: u32 = 0xffffffffu;
const LOWEST: f32 = -3.4028234e38;
const MASKED: f32 = -1e30;
/// Logits that a lane has on their way at once.
const AHEAD: u32 = 8u;
/// Bits of a number without its sign: from here on it is not finite.
const MAGNITUDE: u32 = 0x7fffffffu;
const INFINITE: u32 = 0x7f800000u;

var<workgroup> numbers: array<f32, WORKGROUP_SIZE>;
var<workgroup> marks: array<u32, WORKGROUP_SIZE>;

/// What the lanes know of their row.
struct Row {
    start: u32,
    banned: u32,
    banned_count: u32,
    score: f32,
    normaliser: f32,
}

/// What a lane claims: a sum, and behind WORKGROUP_SIZE the token that has it; or a sum that its
/// others may reach, and the lane. NONE with LOWEST where nothing is left.
struct Claim {
    sum: f32,
    mark: u32,
}

/// What a lane saw of its stripe.
struct Seen {
    /// Bits of the number that is farthest from 0.
    widest: u32,
    /// The largest logit, and the sum of the exponentials of what lies below it.
    high: f32,
    sum: f32,
    /// The two best tokens, and the largest logit of the others.
    first: f32,
    first_token: u32,
    second: f32,
    second_token: u32,
    rest: f32,
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
fn largest(lane: u32, own: f32, mark: u32) -> Claim {
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
    var found = Claim(numbers[0], marks[0]);
    for (var i = 1u; i < GROUPS; i++) {
        found.sum = max(found.sum, numbers[i]);
        found.mark |= marks[i];
    }
    return found;
}

fn is_better(one: Claim, other: Claim) -> bool {
    return one.sum > other.sum || (one.sum == other.sum && one.mark < other.mark);
}

/// The best of sixteen claims, `step` places apart.
fn best_of(first: u32, step: u32) -> Claim {
    var best = Claim(LOWEST, NONE);
    for (var i = 0u; i < GROUPS; i++) {
        best.sum = max(best.sum, numbers[first + i * step]);
    }
    for (var i = 0u; i < GROUPS; i++) {
        let at = first + i * step;
        best.mark = min(best.mark, select(NONE, marks[at], numbers[at] == best.sum));
    }
    return best;
}

/// The best of the lanes' claims.
fn best_of_all(lane: u32, own: Claim) -> Claim {
    workgroupBarrier();
    numbers[lane] = own.sum;
    marks[lane] = own.mark;
    workgroupBarrier();
    if (lane < GROUPS) {
        let best = best_of(lane, GROUPS);
        numbers[lane] = best.sum;
        marks[lane] = best.mark;
    }
    workgroupBarrier();
    return best_of(0u, 1u);
}

/// The claim of a token, if there is one.
fn kept(row: Row, logit: f32, token: u32) -> Claim {
    let sum = (logit - row.normaliser) + row.score;
    if (token == NONE || sum <= LOWEST) {
        return Claim(LOWEST, NONE);
    }
    return Claim(sum, WORKGROUP_SIZE + token);
}

/// A lane's claim with a token that it kept, where its others reach `rest` at most.
fn claim(lane: u32, token: Claim, rest: f32) -> Claim {
    if (token.sum > rest) {
        return token;
    }
    return Claim(rest, select(lane, NONE, rest == LOWEST));
}

/// The best token of a stripe behind the one that was taken last: all lanes look.
fn best_left(lane: u32, row: Row, stripe: u32, taken: Claim) -> Claim {
    var best = Claim(LOWEST, NONE);
    let apart = WORKGROUP_SIZE * WORKGROUP_SIZE;
    for (var token = stripe + lane * WORKGROUP_SIZE; token < params.tokens; token += apart) {
        let own = kept(row, logits[row.start + token], token);
        let is_left = taken.mark == NONE || is_better(taken, own);
        if (is_left && is_better(own, best) && !is_banned(row, token)) {
            best = own;
        }
    }
    return best_of_all(lane, best);
}

/// Writes a token that was taken.
fn write(row: Row, at: u32, token: u32) {
    output[at] = token;
    output[at + 1u] = bitcast<u32>(logits[row.start + token] - row.normaliser);
}

/// Counts a lane's sum from a larger logit.
fn raise(seen: ptr<function, Seen>, high: f32) {
    if (high > (*seen).high) {
        (*seen).sum *= exp(max((*seen).high - high, MASKED));
        (*seen).high = high;
    }
}

/// Keeps a token, if it is one of the lane's two best; of equal ones the earlier.
fn keep(seen: ptr<function, Seen>, row: Row, x: f32, token: u32) {
    if (x <= (*seen).second) {
        (*seen).rest = max((*seen).rest, x);
    } else if (!is_banned(row, token)) {
        (*seen).rest = max((*seen).rest, (*seen).second);
        if (x > (*seen).first) {
            (*seen).second = (*seen).first;
            (*seen).second_token = (*seen).first_token;
            (*seen).first = x;
            (*seen).first_token = token;
        } else {
            (*seen).second = x;
            (*seen).second_token = token;
        }
    }
}

@compute @workgroup_size(256)
fn best_tokens(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let number = workgroup.y * grid.x + workgroup.x;
    if (number >= params.rows) {
        return;
    }
    let record = params.records + (params.first_row + number) * RECORD;
    let score = bitcast<f32>(words[record]);
    var row = Row(number * params.tokens, words[record + 1u], words[record + 2u], score, 0.0);
    let renormalizes = words[record + 5u] != 0u && row.banned_count > 0u;
    let result = (params.first_row + number) * (2u + 2u * params.top);

    // 1. Each lane's stripe: several tokens at once, then those that are left, one by one.
    var seen = Seen(bitcast<u32>(score) & MAGNITUDE, LOWEST, 0.0, LOWEST, NONE, LOWEST, NONE, LOWEST);
    let at_once = AHEAD * WORKGROUP_SIZE;
    let whole = select(params.tokens / at_once * at_once, 0u, renormalizes);
    for (var first = lane; first < whole; first += at_once) {
        var found = array<f32, AHEAD>();
        for (var i = 0u; i < AHEAD; i++) {
            found[i] = logits[row.start + first + i * WORKGROUP_SIZE];
        }
        var high = found[0];
        for (var i = 0u; i < AHEAD; i++) {
            high = max(high, found[i]);
            seen.widest = max(seen.widest, bitcast<u32>(found[i]) & MAGNITUDE);
        }
        raise(&seen, high);
        for (var i = 0u; i < AHEAD; i++) {
            seen.sum += exp(found[i] - seen.high);
            keep(&seen, row, found[i], first + i * WORKGROUP_SIZE);
        }
    }
    for (var token = whole + lane; token < params.tokens; token += WORKGROUP_SIZE) {
        let x = logits[row.start + token];
        seen.widest = max(seen.widest, bitcast<u32>(x) & MAGNITUDE);
        let is_out = renormalizes && is_banned(row, token);
        let counted = select(x, MASKED, is_out);
        raise(&seen, counted);
        seen.sum += exp(counted - seen.high);
        if (!is_out) {
            keep(&seen, row, x, token);
        }
    }

    // 2. Whether all are finite, and what log-probabilities are counted from.
    let high = largest(lane, seen.high, select(0u, 1u, seen.widest >= INFINITE));
    if (high.mark != 0u) {
        if (lane == 0u) {
            output[result] = 0u;
            output[result + 1u] = 0u;
        }
        return;
    }
    raise(&seen, high.sum);
    row.normaliser = high.sum + log(total(lane, seen.sum));
    let extra = words[record + 3u];
    for (var i = lane; i < words[record + 4u]; i += WORKGROUP_SIZE) {
        let log_prob = logits[row.start + words[extra + i]] - row.normaliser;
        output[words[record + 6u] + i] = bitcast<u32>(log_prob);
    }

    // 3. What the lane claims first. Kept tokens whose sums are equal by rounding go by number.
    var own = kept(row, seen.first, seen.first_token);
    var after = kept(row, seen.second, seen.second_token);
    if (is_better(after, own)) {
        let before = own;
        own = after;
        after = before;
    }
    var rest = kept(row, seen.rest, select(0u, NONE, seen.rest == LOWEST)).sum;
    own = claim(lane, own, rest);

    // 4. The best tokens, one after another. A lane writes every 256th, and late: a logit that is on
    // its way would keep all waiting.
    var taken = Claim(LOWEST, NONE);
    var count = 0u;
    var waiting = NONE;
    while (count < params.top) {
        let best = best_of_all(lane, own);
        if (best.mark == NONE) {
            break;
        }
        if (best.mark < WORKGROUP_SIZE) {
            let found = best_left(lane, row, best.mark, taken);
            if (lane == best.mark) {
                own = found;
                after = Claim(LOWEST, NONE);
                rest = found.sum;
            }
            continue;
        }
        if (own.mark == best.mark) {
            own = claim(lane, after, rest);
            after = Claim(LOWEST, NONE);
        }
        if (lane == count % WORKGROUP_SIZE) {
            if (waiting != NONE) {
                write(row, result + 2u + 2u * (count - WORKGROUP_SIZE), waiting);
            }
            waiting = best.mark - WORKGROUP_SIZE;
        }
        taken = best;
        count += 1u;
    }
    if (waiting != NONE) {
        let place = (count - 1u - lane) / WORKGROUP_SIZE * WORKGROUP_SIZE + lane;
        write(row, result + 2u + 2u * place, waiting);
    }
    if (lane == 0u) {
        output[result] = 1u;
        output[result + 1u] = count;
    }
}
