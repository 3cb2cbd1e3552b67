//! Sampling for one source: several outputs, each drawn token by token.
//!
//! The chance of a draw is a hash of the seed, the source, the number of the sample and the step.
//! It does not depend on what else is being decoded, on threads, or on the number of samples.
//! Banned tokens are removed before a token is drawn; scores are those of the network all the same.

use super::beam::{Hypothesis, Stop};
use super::constraint::{Blocked, Constraint, ConstraintState, Unions};
use super::job::NetworkTokens;
use super::settings::SampleSettings;
use crate::engine::nn::{Candidate, Draw, RowMask, SlotId, StepRow};

/// Samples in progress.
#[derive(Debug)]
pub(super) struct SampleSearch {
    settings: SampleSettings,
    constraint: Constraint,
    network: NetworkTokens,
    max_length: usize,
    /// Of the seed and the source.
    stream: u64,
    open: Vec<Sample>,
    finished: Vec<(usize, Hypothesis)>,
    steps: usize,
    /// Lists of blocked tokens that were made for some state.
    unions: Unions,
}

#[derive(Debug, Clone)]
struct Sample {
    number: usize,
    /// Its row among those of the step before.
    parent: Option<u32>,
    tokens: Vec<u32>,
    score: f32,
    state: ConstraintState,
}

impl SampleSearch {
    pub(super) fn new(
        settings: SampleSettings,
        constraint: Constraint,
        source: &[u32],
        network: NetworkTokens,
        max_length: usize,
    ) -> Self {
        let state = constraint.start(network.start);
        let open = (0..settings.samples)
            .map(|number| Sample { number, parent: None, tokens: vec![], score: 0.0, state })
            .collect();
        let tokens = source.iter().map(|&token| u64::from(token));
        let stream = tokens.fold(scramble(settings.seed), |hash, token| scramble(hash ^ token));
        Self {
            settings,
            constraint,
            network,
            max_length,
            stream,
            open,
            finished: Vec::new(),
            steps: 0,
            unions: Unions::default(),
        }
    }

    pub(super) fn samples(&self) -> usize {
        self.settings.samples
    }

    pub(super) fn steps(&self) -> usize {
        self.steps
    }

    /// Appends the rows of all open samples, their masks and their draws to those of a step.
    pub(super) fn write_step(
        &mut self,
        slot: SlotId,
        rows: &mut Vec<StepRow>,
        masks: &mut Vec<RowMask>,
        draws: &mut Vec<Draw>,
    ) {
        for at in 0..self.open.len() {
            let row = u32::try_from(rows.len()).expect("a step has fewer than 2^32 rows");
            masks.extend(self.mask(self.open[at].state, row));
            let sample = &self.open[at];
            let token = sample.tokens.last().copied().unwrap_or(self.network.start);
            rows.push(StepRow { slot, parent: sample.parent, token, score: sample.score });
            draws.push(Draw {
                temperature: self.settings.temperature,
                top_k: self.settings.top_k,
                top_p: self.settings.top_p,
                uniform: self.uniform(sample.number),
            });
        }
    }

    fn mask(&mut self, state: ConstraintState, row: u32) -> Option<RowMask> {
        let eos = self.network.eos;
        if let Some(&forced) = self.constraint.prefix.get(self.steps) {
            let banned = (0..self.network.vocab_size).filter(|&token| token != forced).collect();
            let mask = RowMask { row, banned, eos_allowed: forced == eos, ..RowMask::default() };
            return Some(mask);
        }
        let Blocked { tokens: banned, may_end: eos_allowed } =
            self.constraint.blocked_in(state, eos, &mut self.unions)?;
        let renormalize = self.settings.renormalize;
        Some(RowMask { row, banned, eos_allowed, renormalize, ..RowMask::default() })
    }

    /// Takes the tokens that were drawn and says whether all samples are done.
    pub(super) fn advance(&mut self, drawn: &[Option<Candidate>]) -> Option<Stop> {
        self.steps += 1;
        let at_limit = self.steps >= self.max_length;
        let mut open = Vec::with_capacity(self.open.len());
        for ((row, mut sample), drawn) in (0u32..).zip(std::mem::take(&mut self.open)).zip(drawn) {
            // A sample with nothing left to say is no output.
            let Some(Candidate { token, log_prob, .. }) = *drawn else { continue };
            sample.parent = Some(row);
            sample.tokens.push(token);
            sample.score += log_prob;
            sample.state = self.constraint.advance(sample.state, token);
            let ended = token == self.network.eos;
            if !ended && !at_limit {
                open.push(sample);
            } else if ended || self.constraint.may_be_cut(sample.state) {
                let Sample { number, tokens, score, .. } = sample;
                let normalized_score = self.settings.length_penalty.normalize(score, tokens.len());
                let hypothesis =
                    Hypothesis { tokens, score, normalized_score, ended, unmet: Vec::new() };
                self.finished.push((number, hypothesis));
            }
        }
        self.open = open;
        match (at_limit, self.open.is_empty(), self.finished.is_empty()) {
            (true, ..) => Some(Stop::LengthLimit),
            (false, true, true) => Some(Stop::Blocked),
            (false, true, false) => Some(Stop::Settled),
            (false, false, _) => None,
        }
    }

    /// The samples by normalised score, best first; of equals the one with the lower number.
    pub(super) fn into_hypotheses(mut self) -> Vec<Hypothesis> {
        self.finished.sort_by(|(a, x), (b, y)| {
            y.normalized_score.total_cmp(&x.normalized_score).then(a.cmp(b))
        });
        self.finished.into_iter().map(|(_, hypothesis)| hypothesis).collect()
    }

    /// A number of [0, 1) for a sample's next token.
    fn uniform(&self, sample: usize) -> f32 {
        let hash = scramble(scramble(self.stream ^ sample as u64) ^ self.steps as u64);
        // The 24 highest bits: as many as a number below 1 can tell apart.
        (hash >> 40) as f32 / (1u64 << 24) as f32
    }
}

/// The finaliser of SplitMix64 (Steele, Lea and Flood 2014).
pub(super) fn scramble(mut x: u64) -> u64 {
    x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}
