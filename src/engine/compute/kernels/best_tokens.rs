//! Log-softmax over the vocabulary, then the best tokens of each row.
//!
//! `log_prob[v] = logit[v] - log sum_w e^logit[w]`, over *all* tokens. A banned token is set aside
//! afterwards; its probability is shared out only if the mask says so. Tokens compare by `score +
//! log_prob`, where `score` is the row's sum so far. Rounding that sum first makes ties the same
//! for every row order. Ties go to the lower token.

use crate::engine::compute::gpu::{Cost, Gpu};
use crate::engine::compute::lanes::{LANES, Lanes, Work, dispatch};
use crate::engine::compute::tasks::for_each_task;
use crate::engine::compute::{ComputeError, Device, Tensor};
use std::collections::HashMap;
use std::sync::Mutex;

/// Rows handled by one task.
const TASK_ROWS: usize = 4;

shader! {
    "best_tokens", 256, [Words, Read, Write];
    struct Params {
        rows: u32,
        tokens: u32,
        top: u32,
        records: u32,
        first_row: u32,
        padding: [u32; 3],
    }
}

/// What one row may not, or must additionally, return.
#[derive(Debug, Clone, Copy, Default)]
pub struct TokenMask<'a> {
    /// Tokens to set aside, ascending.
    pub banned: &'a [u32],
    /// Tokens to score in any case.
    pub extra: &'a [u32],
    /// Whether log-probabilities are those among the tokens that are not banned.
    pub renormalize: bool,
}

/// A token and its log-probability (natural log).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TokenScore {
    /// The token.
    pub token: u32,
    /// Its log-probability among all tokens.
    pub log_prob: f32,
}

/// The result for one row.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ScoredRow {
    /// The best tokens, best first.
    pub best: Vec<TokenScore>,
    /// The `extra` tokens, in the order asked for.
    pub extra: Vec<TokenScore>,
    /// Whether every logit was a number; when false, the other fields are empty.
    pub is_finite: bool,
}

/// The `top` best tokens of each row of `logits` (R, V), given the rows' `scores` (R) and `masks`
/// (R).
///
/// # Errors
/// When `scores` or `masks` have another length than the rows, or a mask names a token that does
/// not exist.
pub fn best_tokens(
    device: &Device,
    logits: &Tensor,
    scores: &[f32],
    masks: &[TokenMask<'_>],
    top: usize,
) -> Result<Vec<ScoredRow>, ComputeError> {
    const OP: &str = "best_tokens";
    let (rows, tokens) = (logits.rows(), logits.width());
    check_lengths(OP, rows, [("scores", scores.len()), ("masks", masks.len())])?;
    check_masks(OP, masks, tokens)?;
    match device {
        Device::Cpu { threads } => Ok(cpu(*threads, logits, scores, masks, top)),
        Device::Gpu(device) => gpu(device, logits, scores, masks, top),
    }
}

/// Words of a row's record.
const RECORD: usize = 7;

fn gpu(
    gpu: &Gpu,
    logits: &Tensor,
    scores: &[f32],
    masks: &[TokenMask<'_>],
    top: usize,
) -> Result<Vec<ScoredRow>, ComputeError> {
    let (rows, tokens) = (logits.rows(), logits.width());
    if rows == 0 {
        return Ok(Vec::new());
    }
    // 1. Where each row's lists and results are.
    let of_row = 2 + 2 * top;
    let mut lists = TokenLists::default();
    let places: Vec<[u32; 2]> =
        masks.iter().map(|mask| [mask.banned, mask.extra].map(|list| lists.place(list))).collect();
    let from = gpu.operand(logits)?;
    let extras: usize = masks.iter().map(|mask| mask.extra.len()).sum();
    let output = gpu.allocate(rows * of_row + extras)?;
    // 2. One call for each part of the rows.
    for part in gpu.parts(rows, &[tokens], usize::MAX)? {
        let (mut call, [first]) = gpu.call_with(&SHADER, [&lists.words], rows * RECORD)?;
        let mut extra_result = (rows * of_row) as u32;
        let mut records = Vec::with_capacity(rows * RECORD);
        for ((score, mask), [banned, extra]) in scores.iter().zip(masks).zip(&places) {
            records.extend([score.to_bits(), first + banned, mask.banned.len() as u32]);
            let extras = mask.extra.len() as u32;
            records.extend([first + extra, extras, u32::from(mask.renormalize), extra_result]);
            extra_result += extras;
        }
        let params = Params {
            rows: part.1 as u32,
            tokens: tokens as u32,
            top: top as u32,
            records: call.words(&records),
            first_row: part.0 as u32,
            padding: [0; 3],
        };
        call.bind(gpu.rows(&from, part, tokens));
        call.bind(gpu.whole(&output, rows * of_row + extras)?);
        call.costs(|| Cost::moved(&[part.1, tokens, top], part.1 * (tokens + of_row)));
        call.run(&params, gpu.grid(part.1));
    }
    // 3. The few numbers that come back.
    let found: Vec<u32> = gpu.download(&output, rows * of_row + extras)?;
    Ok(scored_rows(&found, (rows, of_row), masks))
}

/// What each row's record says; behind the records stand the scores of extra tokens.
fn scored_rows(
    found: &[u32],
    (rows, of_row): (usize, usize),
    masks: &[TokenMask<'_>],
) -> Vec<ScoredRow> {
    let (of_rows, mut of_extras) = found.split_at(rows * of_row);
    let scored = |token: u32, bits: u32| TokenScore { token, log_prob: f32::from_bits(bits) };
    let rows = of_rows.chunks_exact(of_row).zip(masks).map(|(row, mask)| {
        let (own, others) = of_extras.split_at(mask.extra.len());
        of_extras = others;
        if row[0] == 0 {
            return ScoredRow::default();
        }
        let best = row[2..].chunks_exact(2).take(row[1] as usize);
        ScoredRow {
            best: best.map(|pair| scored(pair[0], pair[1])).collect(),
            extra: mask.extra.iter().zip(own).map(|(token, bits)| scored(*token, *bits)).collect(),
            is_finite: true,
        }
    });
    rows.collect()
}

/// Lists of tokens, one after the other; a list that several rows share lies there once.
#[derive(Debug, Default)]
pub(super) struct TokenLists {
    pub(super) words: Vec<u32>,
    places: HashMap<ListId, u32>,
}

impl TokenLists {
    /// Where a list begins among the words.
    pub(super) fn place(&mut self, list: &[u32]) -> u32 {
        let Self { words, places } = self;
        *places.entry(list_id(list)).or_insert_with(|| {
            words.extend_from_slice(list);
            (words.len() - list.len()) as u32
        })
    }
}

/// What lists have in common that are one in memory.
pub(crate) type ListId = (*const u32, usize);

/// Which list this is; all empty ones are one.
pub(crate) fn list_id(list: &[u32]) -> ListId {
    (if list.is_empty() { std::ptr::null() } else { list.as_ptr() }, list.len())
}

/// Checks that there is one of each operand for every row.
pub(super) fn check_lengths(
    op: &'static str,
    rows: usize,
    operands: [(&'static str, usize); 2],
) -> Result<(), ComputeError> {
    match operands.into_iter().find(|(_, found)| *found != rows) {
        Some((operand, found)) => {
            let (expected, found) = (vec![rows], vec![found]);
            Err(ComputeError::Shape { op, operand, expected, found })
        }
        None => Ok(()),
    }
}

/// Checks that masks name tokens that exist.
pub(super) fn check_masks(
    op: &'static str,
    masks: &[TokenMask<'_>],
    tokens: usize,
) -> Result<(), ComputeError> {
    let mut named = masks.iter().flat_map(|mask| mask.extra.iter().chain(mask.banned.last()));
    match named.find(|token| **token as usize >= tokens) {
        Some(&token) => {
            let index = token as usize;
            Err(ComputeError::Index { op, operand: "logits", index, rows: tokens })
        }
        None => Ok(()),
    }
}

fn cpu(
    threads: usize,
    logits: &Tensor,
    scores: &[f32],
    masks: &[TokenMask<'_>],
    top: usize,
) -> Vec<ScoredRow> {
    let mut results = vec![ScoredRow::default(); logits.rows()];
    let tasks: Vec<_> = results.chunks_mut(TASK_ROWS).map(Mutex::new).collect();
    for_each_task(threads, tasks.len(), |task| {
        let mut results = tasks[task].lock().expect("each task is taken once");
        for (offset, result) in results.iter_mut().enumerate() {
            let row = task * TASK_ROWS + offset;
            let (score, mask) = (scores[row], masks[row]);
            *result = dispatch(RankRow { logits: logits.row(row), score, mask, top });
        }
    });
    drop(tasks);
    results
}

struct RankRow<'a> {
    logits: &'a [f32],
    score: f32,
    mask: TokenMask<'a>,
    top: usize,
}

impl Work for RankRow<'_> {
    type Output = ScoredRow;

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) -> ScoredRow {
        let normaliser = log_normaliser(lanes, self.logits, self.mask);
        if !normaliser.is_finite() || !self.score.is_finite() {
            return ScoredRow::default();
        }
        let scored =
            |token: u32| TokenScore { token, log_prob: self.logits[token as usize] - normaliser };
        let best = self.select(lanes, normaliser);
        ScoredRow {
            best: best.into_iter().map(|(_, token)| scored(token)).collect(),
            extra: self.mask.extra.iter().map(|token| scored(*token)).collect(),
            is_finite: true,
        }
    }
}

/// What log-probabilities are counted from under a mask, or NaN when a logit is not a number or
/// infinite.
#[inline(always)]
pub(super) fn log_normaliser<L: Lanes>(lanes: L, logits: &[f32], mask: TokenMask<'_>) -> f32 {
    let all = log_sum_exp(lanes, logits);
    if !mask.renormalize || mask.banned.is_empty() || !all.is_finite() {
        return all;
    }
    let mut allowed = logits.to_vec();
    mask.banned.iter().for_each(|token| allowed[*token as usize] = -1e30);
    log_sum_exp(lanes, &allowed)
}

/// `log sum e^logit`, or NaN when a logit is not a number or infinite.
#[inline(always)]
fn log_sum_exp<L: Lanes>(lanes: L, logits: &[f32]) -> f32 {
    let (mut low, mut high) = (lanes.splat(f32::MAX), lanes.splat(f32::MIN));
    for part in logits.chunks(LANES) {
        // Lanes that do not exist repeat a logit that does.
        let x = lanes.load_part(part, part[0]);
        (low, high) = (lanes.min(x, low), lanes.max(x, high));
    }
    let low = lanes.fold(low, |a, b| if a < b { a } else { b });
    let high = lanes.fold(high, |a, b| if a > b { a } else { b });
    if !(low.is_finite() && high.is_finite()) {
        return f32::NAN;
    }
    let mut sum = lanes.splat(0.0);
    for part in logits.chunks(LANES) {
        let x = lanes.load_part(part, -1e30);
        sum = lanes.add(sum, lanes.exp(lanes.sub(x, lanes.splat(high))));
    }
    high + lanes.sum(sum).ln()
}

impl RankRow<'_> {
    /// The best (sum, token) pairs, best first.
    #[inline(always)]
    fn select<L: Lanes>(&self, lanes: L, normaliser: f32) -> Vec<(f32, u32)> {
        let mut best: Vec<(f32, u32)> = Vec::with_capacity(self.top + 1);
        if self.top == 0 {
            return best;
        }
        let mut bar = f32::MIN;
        for (number, part) in self.logits.chunks(LANES).enumerate() {
            let x = lanes.load_part(part, -1e30);
            let x = lanes.sub(x, lanes.splat(normaliser));
            let x = lanes.add(x, lanes.splat(self.score));
            // Most vectors hold nothing that passes the bar: one comparison and on.
            if !lanes.any_greater(x, lanes.splat(bar)) {
                continue;
            }
            let mut sums = [0.0; LANES];
            lanes.store(&mut sums, x);
            for (lane, sum) in sums[..part.len()].iter().enumerate() {
                let token = (number * LANES + lane) as u32;
                if *sum <= bar || self.mask.banned.binary_search(&token).is_ok() {
                    continue;
                }
                let place = best.partition_point(|(other, _)| *other >= *sum);
                best.insert(place, (*sum, token));
                best.truncate(self.top);
                if best.len() == self.top {
                    bar = best[self.top - 1].0;
                }
            }
        }
        best
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::engine::compute::error::refusal;

    const ONE: Device = Device::Cpu { threads: 1 };

    fn best(logits: &[f32], mask: TokenMask<'_>, top: usize) -> ScoredRow {
        let logits = Tensor::new(&[1, logits.len()], logits.to_vec()).unwrap();
        best_tokens(&ONE, &logits, &[0.0], &[mask], top).unwrap().remove(0)
    }

    fn tokens(scores: &[TokenScore]) -> Vec<u32> {
        scores.iter().map(|score| score.token).collect()
    }

    #[test]
    fn a_row_done_by_hand() {
        // Probabilities 1/8, 4/8, 2/8, 1/8.
        let row = best(&[0.0, 4f32.ln(), 2f32.ln(), 0.0], TokenMask::default(), 3);
        assert_eq!(tokens(&row.best), [1, 2, 0]);
        for (score, want) in row.best.iter().zip([0.5f32, 0.25, 0.125]) {
            assert!((score.log_prob - want.ln()).abs() < 1e-6);
        }
    }

    #[test]
    fn a_ban_sets_aside_and_renormalises_nothing() {
        let mask = TokenMask { banned: &[1, 3], extra: &[3, 1], renormalize: false };
        let row = best(&[0.0, 4f32.ln(), 2f32.ln(), 0.0], mask, 3);
        assert_eq!(tokens(&row.best), [2, 0]);
        assert!((row.best[0].log_prob - 0.25f32.ln()).abs() < 1e-6);
        assert_eq!(tokens(&row.extra), [3, 1]);
        assert!((row.extra[1].log_prob - 0.5f32.ln()).abs() < 1e-6);
    }

    #[test]
    fn renormalised_log_probabilities_are_those_among_what_is_left() {
        let mask = TokenMask { banned: &[1, 3], extra: &[], renormalize: true };
        let row = best(&[0.0, 4f32.ln(), 2f32.ln(), 0.0], mask, 3);
        assert_eq!(tokens(&row.best), [2, 0]);
        for (score, want) in row.best.iter().zip([2f32 / 3.0, 1.0 / 3.0]) {
            assert!((score.log_prob - want.ln()).abs() < 1e-6);
        }
    }

    #[test]
    fn everything_banned_leaves_nothing() {
        for renormalize in [false, true] {
            let mask = TokenMask { banned: &[0, 1], extra: &[], renormalize };
            let row = best(&[1.0, 2.0], mask, 2);
            assert!(row.best.is_empty() && row.is_finite);
        }
    }

    #[test]
    fn sums_that_tie_go_to_the_lower_token() {
        // 1e8 swallows the difference between the two logits.
        let logits = Tensor::new(&[1, 3], vec![0.0, 1.0, 0.5]).unwrap();
        let rows = best_tokens(&ONE, &logits, &[-1e8], &[TokenMask::default()], 2).unwrap();
        assert_eq!(tokens(&rows[0].best), [0, 1]);
    }

    #[test]
    fn numbers_that_are_not_finite_are_reported() {
        for broken in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            for place in [0, 17, 32] {
                let mut logits = vec![0.5; 33];
                logits[place] = broken;
                assert!(!best(&logits, TokenMask::default(), 2).is_finite, "{broken} at {place}");
            }
        }
        let logits = Tensor::zeros(1, 4);
        let rows = best_tokens(&ONE, &logits, &[f32::NAN], &[TokenMask::default()], 2).unwrap();
        assert!(!rows[0].is_finite);
    }

    #[test]
    fn masks_and_scores_are_checked() {
        let logits = Tensor::zeros(1, 4);
        let banned = TokenMask { banned: &[4], ..TokenMask::default() };
        let extra = TokenMask { extra: &[9, 0], ..TokenMask::default() };
        let refused = |scores: &[f32], masks: &[TokenMask<'_>]| {
            refusal(best_tokens(&ONE, &logits, scores, masks, 1))
        };
        assert_eq!(refused(&[0.0], &[banned]), "index 4 of logits");
        assert_eq!(refused(&[0.0], &[extra]), "index 9 of logits");
        assert_eq!(refused(&[], &[extra]), "shape of scores");
        assert_eq!(refused(&[0.0], &[]), "shape of masks");
    }

    #[test]
    fn a_list_that_rows_share_lies_there_once() {
        let (shared, alike) = ([3, 5, 8], [3, 5, 8]);
        let mut lists = TokenLists::default();
        let lengths = [&shared[..], &[], &alike, &shared, &shared[..2], &[]];
        let places = lengths.map(|list| lists.place(list));
        assert_eq!(places, [0, 3, 3, 0, 6, 3]);
        assert_eq!(lists.words, [3, 5, 8, 3, 5, 8, 3, 5]);
    }

    proptest! {
        #[test]
        fn it_is_a_full_sort_cut_short(
            logits in prop::collection::vec((-40i32..40).prop_map(|x| x as f32 / 4.0), 1..200),
            banned in prop::collection::btree_set(0u32..200, 0..40),
            score in -30f32..0.0, top in 1usize..30, rows in 1usize..12,
        ) {
            let banned: Vec<u32> =
                banned.into_iter().filter(|token| (*token as usize) < logits.len()).collect();
            let mask = TokenMask { banned: &banned, ..TokenMask::default() };
            let many = logits.repeat(rows);
            let batch = Tensor::new(&[rows, logits.len()], many).unwrap();
            let device = Device::Cpu { threads: 3 };
            let results =
                best_tokens(&device, &batch, &vec![score; rows], &vec![mask; rows], top).unwrap();
            let sum: f64 = logits.iter().map(|x| f64::from(*x).exp()).sum();
            let mut order: Vec<u32> = (0..logits.len() as u32).collect();
            order.retain(|token| !banned.contains(token));
            // Quarter steps are far wider than rounding, so logits order as the sums do.
            order.sort_by(|a, b| logits[*b as usize].total_cmp(&logits[*a as usize]));
            order.truncate(top);
            for result in &results {
                prop_assert_eq!(result, &results[0]);
                prop_assert_eq!(tokens(&result.best), order.clone());
                for best in &result.best {
                    let want = f64::from(logits[best.token as usize]) - sum.ln();
                    prop_assert!((f64::from(best.log_prob) - want).abs() < 1e-5);
                }
            }
        }
    }
}
