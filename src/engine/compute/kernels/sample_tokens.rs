//! Drawing one token of each row.
//!
//! `p[v] = e^((logit[v] - max) / temperature) / sum`, over the tokens that are not banned. They are
//! cut to the `top_k` of highest logit (ties to the lower token), then to the fewest of those, best
//! first, whose share reaches `top_p`. What is kept is lined up by token, and the first token at
//! which the running sum of `p` passes `uniform` is drawn. The caller brings `uniform`, so chance
//! has no state in here: a draw depends on its own row alone, on any number of threads.
//!
//! The CPU sums in double precision, the shader in single. They draw the same token unless a
//! running sum is within rounding of its goal.

use super::best_tokens::{
    TokenLists, TokenMask, TokenScore, check_lengths, check_masks, log_normaliser,
};
use crate::engine::compute::gpu::{Cost, Gpu};
use crate::engine::compute::lanes::{Lanes, Work, dispatch};
use crate::engine::compute::tasks::for_each_task;
use crate::engine::compute::{ComputeError, Device, Tensor};
use std::sync::Mutex;

shader! {
    "sample_tokens", 256, [Words, Read, Write];
    struct Params {
        rows: u32,
        tokens: u32,
        records: u32,
        first_row: u32,
    }
}

/// How a row's token is drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TokenDraw {
    /// Divides the logits; above 0.
    pub temperature: f32,
    /// Tokens to choose among; 0 for all.
    pub top_k: usize,
    /// Share of the probability to choose among, above 0; 1 for all.
    pub top_p: f32,
    /// A number of [0, 1), which decides.
    pub uniform: f32,
}

/// One token of each row of `logits` (R, V), with its log-probability at temperature 1 among all
/// tokens (or those left, where the mask renormalises). `None` where nothing is left; a row with a
/// logit that is not finite has a log-probability that is NaN.
///
/// # Errors
/// When `masks` or `draws` have another length than the rows, or a mask names a token that does not
/// exist.
pub fn sample_tokens(
    device: &Device,
    logits: &Tensor,
    masks: &[TokenMask<'_>],
    draws: &[TokenDraw],
) -> Result<Vec<Option<TokenScore>>, ComputeError> {
    const OP: &str = "sample_tokens";
    check_lengths(OP, logits.rows(), [("masks", masks.len()), ("draws", draws.len())])?;
    check_masks(OP, masks, logits.width())?;
    match device {
        Device::Cpu { threads } => Ok(cpu(*threads, logits, masks, draws)),
        Device::Gpu(device) => gpu(device, logits, masks, draws),
    }
}

/// Words of a row's record, and of its result.
const RECORD: usize = 7;
const RESULT: usize = 3;

fn gpu(
    gpu: &Gpu,
    logits: &Tensor,
    masks: &[TokenMask<'_>],
    draws: &[TokenDraw],
) -> Result<Vec<Option<TokenScore>>, ComputeError> {
    let (rows, tokens) = (logits.rows(), logits.width());
    if rows == 0 || tokens == 0 {
        return Ok(vec![None; rows]);
    }
    let mut lists = TokenLists::default();
    let places: Vec<u32> = masks.iter().map(|mask| lists.place(mask.banned)).collect();
    let from = gpu.operand(logits)?;
    let output = gpu.allocate(rows * RESULT)?;
    for part in gpu.parts(rows, &[tokens], usize::MAX)? {
        let (mut call, [first]) = gpu.call_with(&SHADER, [&lists.words], rows * RECORD)?;
        let mut records = Vec::with_capacity(rows * RECORD);
        for ((mask, draw), place) in masks.iter().zip(draws).zip(&places) {
            let count = mask.banned.len() as u32;
            let numbers = [draw.temperature, draw.top_p, draw.uniform].map(f32::to_bits);
            let [temperature, top_p, uniform] = numbers;
            let top_k = u32::try_from(draw.top_k).unwrap_or(u32::MAX);
            let renormalizes = u32::from(mask.renormalize);
            let list = first + place;
            records.extend([list, count, renormalizes, temperature, top_k, top_p, uniform]);
        }
        let params = Params {
            rows: part.1 as u32,
            tokens: tokens as u32,
            records: call.words(&records),
            first_row: part.0 as u32,
        };
        call.bind(gpu.rows(&from, part, tokens));
        call.bind(gpu.whole(&output, rows * RESULT)?);
        call.costs(|| Cost::moved(&[part.1, tokens], part.1 * tokens));
        call.run(&params, gpu.grid(part.1));
    }
    let found: Vec<u32> = gpu.download(&output, rows * RESULT)?;
    let drawn = found.chunks_exact(RESULT).map(|row| match row[0] {
        0 => Some(TokenScore { token: 0, log_prob: f32::NAN }),
        1 => None,
        _ => Some(TokenScore { token: row[1], log_prob: f32::from_bits(row[2]) }),
    });
    Ok(drawn.collect())
}

fn cpu(
    threads: usize,
    logits: &Tensor,
    masks: &[TokenMask<'_>],
    draws: &[TokenDraw],
) -> Vec<Option<TokenScore>> {
    let results: Vec<Mutex<Option<TokenScore>>> =
        (0..logits.rows()).map(|_| Mutex::default()).collect();
    for_each_task(threads, results.len(), |row| {
        let drawn =
            dispatch(DrawRow { logits: logits.row(row), mask: masks[row], draw: draws[row] });
        *results[row].lock().expect("each row is drawn once") = drawn;
    });
    let token = |drawn: Mutex<_>| drawn.into_inner().expect("no draw panicked");
    results.into_iter().map(token).collect()
}

struct DrawRow<'a> {
    logits: &'a [f32],
    mask: TokenMask<'a>,
    draw: TokenDraw,
}

impl Work for DrawRow<'_> {
    type Output = Option<TokenScore>;

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) -> Option<TokenScore> {
        let normaliser = log_normaliser(lanes, self.logits, self.mask);
        if !normaliser.is_finite() {
            return Some(TokenScore { token: 0, log_prob: f32::NAN });
        }
        let token = self.choose()?;
        Some(TokenScore { token, log_prob: self.logits[token as usize] - normaliser })
    }
}

impl DrawRow<'_> {
    fn choose(&self) -> Option<u32> {
        let kept = self.eligible();
        let best = kept.iter().map(|&token| self.logit(token)).max_by(f32::total_cmp)?;
        let weights: Vec<f64> = kept.iter().map(|&token| self.weight(token, best)).collect();
        let goal = f64::from(self.draw.uniform) * weights.iter().sum::<f64>();
        let mut sum = 0.0;
        let drawn = kept.iter().zip(&weights).find(|(_, weight)| {
            sum += **weight;
            sum > goal
        });
        // Rounding may leave the last sum a little short of the goal.
        drawn.map(|(token, _)| *token).or(kept.last().copied())
    }

    /// The tokens to choose among, ascending.
    fn eligible(&self) -> Vec<u32> {
        let mut banned = self.mask.banned.iter().peekable();
        let all = 0..self.logits.len() as u32;
        let mut kept: Vec<u32> = all.filter(|token| banned.next_if_eq(&token).is_none()).collect();
        let by_logit = |a: &u32, b: &u32| self.logit(*b).total_cmp(&self.logit(*a)).then(a.cmp(b));
        let top_k = self.draw.top_k;
        if top_k > 0 && top_k < kept.len() {
            kept.select_nth_unstable_by(top_k - 1, by_logit);
            kept.truncate(top_k);
        }
        if self.draw.top_p < 1.0 && !kept.is_empty() {
            kept.sort_unstable_by(by_logit);
            let best = self.logit(kept[0]);
            let total: f64 = kept.iter().map(|&token| self.weight(token, best)).sum();
            let goal = f64::from(self.draw.top_p) * total;
            let mut sum = 0.0;
            let before = kept.iter().take_while(|token| {
                sum += self.weight(**token, best);
                sum < goal
            });
            let wanted = before.count() + 1;
            kept.truncate(wanted);
        }
        kept.sort_unstable();
        kept
    }

    fn logit(&self, token: u32) -> f32 {
        self.logits[token as usize]
    }

    fn weight(&self, token: u32, best: f32) -> f64 {
        (f64::from(self.logit(token) - best) / f64::from(self.draw.temperature)).exp()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::compute::error::refusal;

    const PLAIN: TokenDraw = TokenDraw { temperature: 1.0, top_k: 0, top_p: 1.0, uniform: 0.0 };

    /// Probabilities 1/8, 4/8, 2/8, 1/8.
    fn logits(rows: usize) -> Tensor {
        let row = [0.0, 4f32.ln(), 2f32.ln(), 0.0];
        Tensor::new(&[rows, 4], row.repeat(rows)).unwrap()
    }

    /// How often each token is drawn by numbers spread evenly over [0, 1).
    fn counts(draw: TokenDraw, banned: &[u32]) -> [usize; 4] {
        const COUNT: usize = 800;
        let uniform = |n: usize| (n as f32 + 0.5) / COUNT as f32;
        let draws: Vec<_> = (0..COUNT).map(|n| TokenDraw { uniform: uniform(n), ..draw }).collect();
        let masks = vec![TokenMask { banned, ..TokenMask::default() }; COUNT];
        let device = Device::Cpu { threads: 3 };
        let mut counts = [0; 4];
        for drawn in sample_tokens(&device, &logits(COUNT), &masks, &draws).unwrap() {
            counts[drawn.unwrap().token as usize] += 1;
        }
        counts
    }

    #[test]
    fn tokens_are_drawn_as_often_as_they_are_probable() {
        assert_eq!(counts(PLAIN, &[]), [100, 400, 200, 100]);
        // Weights 1, 16, 4, 1.
        let [a, b, c, d] = counts(TokenDraw { temperature: 0.5, ..PLAIN }, &[]);
        assert!([a, b, c, d].iter().zip([36, 582, 146, 36]).all(|(n, m)| n.abs_diff(m) < 2));
    }

    #[test]
    fn what_is_cut_or_banned_is_never_drawn() {
        assert_eq!(counts(TokenDraw { top_k: 1, ..PLAIN }, &[]), [0, 800, 0, 0]);
        // Of the two that tie for the third place the lower token stays.
        assert_eq!(counts(TokenDraw { top_k: 3, ..PLAIN }, &[])[3], 0);
        assert_eq!(counts(TokenDraw { top_p: 0.5, ..PLAIN }, &[]), [0, 800, 0, 0]);
        assert_eq!(counts(TokenDraw { top_p: 0.51, ..PLAIN }, &[])[0], 0);
        assert_eq!(counts(PLAIN, &[1]), [200, 0, 400, 200]);
    }

    #[test]
    fn a_draw_has_its_log_probability_among_all_tokens_or_among_those_left() {
        for (renormalize, want) in [(false, 0.25f32), (true, 0.5)] {
            let mask = TokenMask { banned: &[1], extra: &[], renormalize };
            let draw = TokenDraw { temperature: 2.0, top_k: 1, ..PLAIN };
            let drawn = sample_tokens(&Device::cpu(), &logits(1), &[mask], &[draw]).unwrap();
            let drawn = drawn[0].unwrap();
            assert_eq!(drawn.token, 2);
            assert!((drawn.log_prob - want.ln()).abs() < 1e-6);
        }
    }

    #[test]
    fn nothing_left_is_nothing_drawn_and_broken_logits_show() {
        let mask = TokenMask { banned: &[0, 1, 2, 3], ..TokenMask::default() };
        let drawn = sample_tokens(&Device::cpu(), &logits(1), &[mask], &[PLAIN]).unwrap();
        assert_eq!(drawn, [None]);
        let broken = Tensor::new(&[1, 2], vec![0.0, f32::NAN]).unwrap();
        let masks = [TokenMask::default()];
        let drawn = sample_tokens(&Device::cpu(), &broken, &masks, &[PLAIN]).unwrap();
        assert!(drawn[0].unwrap().log_prob.is_nan());
        let refused = sample_tokens(&Device::cpu(), &broken, &masks, &[]);
        assert_eq!(refusal(refused), "shape of draws");
    }
}
