//! A network small enough to enumerate, for tests.
//!
//! Log-probabilities come from a hash of source and whole prefix, so that every hypothesis has its
//! own distribution and a mixed-up parent shows. It keeps the contract of the seam to the letter and
//! panics where a caller breaks it.

use std::collections::{BTreeMap, HashMap};

use crate::nn::{Candidate, NnError, Row, RowMask, SlotCandidates, SlotId, StepNetwork};

/// A network over `vocab_size` tokens; token 0 starts and token 1 ends a hypothesis.
#[derive(Debug, Default)]
pub(crate) struct ToyNetwork {
    pub(crate) vocab_size: usize,
    pub(crate) max_length: usize,
    /// How strongly the distributions differ from the uniform one.
    pub(crate) sharpness: f32,
    slots: BTreeMap<SlotId, Slot>,
    opened: u32,
    /// Number of sources encoded so far.
    pub(crate) encoded: usize,
    /// Largest number of rows in a step so far.
    pub(crate) most_rows: usize,
    /// Steps fail from now on.
    pub(crate) is_broken: bool,
}

#[derive(Debug)]
struct Slot {
    source: Vec<u32>,
    /// Tokens of each row of the last step, without the start token.
    rows: Vec<Vec<u32>>,
}

pub(crate) const START: u32 = 0;
pub(crate) const EOS: u32 = 1;

impl ToyNetwork {
    pub(crate) fn new(vocab_size: usize, max_length: usize) -> Self {
        Self { vocab_size, max_length, sharpness: 2.0, ..Self::default() }
    }

    /// Number of slots that are open.
    pub(crate) fn open_slots(&self) -> usize {
        self.slots.len()
    }

    /// Log-probabilities of all tokens after a prefix.
    pub(crate) fn log_probs(&self, source: &[u32], prefix: &[u32]) -> Vec<f32> {
        let seed = mix(source, 17) ^ mix(prefix, 31);
        let logits: Vec<f32> = (0..self.vocab_size as u64)
            .map(|token| {
                let hash = scramble(seed.wrapping_add(token.wrapping_mul(0x9e37_79b9_7f4a_7c15)));
                self.sharpness * (hash >> 40) as f32 / (1u64 << 24) as f32
            })
            .collect();
        let sum: f32 = logits.iter().map(|logit| logit.exp()).sum();
        logits.iter().map(|logit| logit - sum.ln()).collect()
    }

    /// Every output of at most `max_length` tokens with its score, in no particular order: those
    /// that end, and those that are cut at the limit.
    pub(crate) fn enumerate(&self, source: &[u32], max_length: usize) -> Vec<(Vec<u32>, f32)> {
        let mut outputs = Vec::new();
        let mut open = vec![(Vec::new(), 0.0f32)];
        for length in 1..=max_length {
            let mut next = Vec::new();
            for (prefix, score) in &open {
                for (token, log_prob) in (0u32..).zip(self.log_probs(source, prefix)) {
                    let mut tokens = prefix.clone();
                    tokens.push(token);
                    let longer = (tokens, score + log_prob);
                    if token == EOS || length == max_length {
                        outputs.push(longer);
                    } else {
                        next.push(longer);
                    }
                }
            }
            open = next;
        }
        outputs
    }

    /// Moves a slot to this step's rows; returns their prefixes.
    fn extend(&mut self, slot: SlotId, rows: &[Row]) -> Vec<Vec<u32>> {
        let open = self.slots.get_mut(&slot).expect("a row names an open slot");
        open.rows = rows
            .iter()
            .map(|row| match row.parent {
                None => {
                    assert!(open.rows.is_empty(), "only a slot's first rows have no parent");
                    assert_eq!(row.token, START);
                    Vec::new()
                }
                Some(parent) => {
                    let mut tokens = open.rows[parent as usize].clone();
                    tokens.push(row.token);
                    tokens
                }
            })
            .collect();
        assert!(open.rows.iter().all(|tokens| tokens.len() < self.max_length));
        open.rows.clone()
    }
}

impl StepNetwork for ToyNetwork {
    fn vocab_size(&self) -> usize {
        self.vocab_size
    }

    fn start_token(&self) -> u32 {
        START
    }

    fn eos_token(&self) -> u32 {
        EOS
    }

    fn max_length(&self) -> usize {
        self.max_length
    }

    fn open(&mut self, sources: &[&[u32]]) -> Result<Vec<SlotId>, NnError> {
        let slots = sources.iter().map(|source| {
            let slot = SlotId(self.opened);
            self.opened += 1;
            self.encoded += 1;
            self.slots.insert(slot, Slot { source: source.to_vec(), rows: Vec::new() });
            slot
        });
        Ok(slots.collect())
    }

    fn step(
        &mut self,
        rows: &[Row],
        masks: &[RowMask],
        top: usize,
    ) -> Result<Vec<SlotCandidates>, NnError> {
        if self.is_broken {
            return Err(NnError::NonFinite { slot: rows[0].slot.0, step: 0 });
        }
        self.most_rows = self.most_rows.max(rows.len());
        assert!(masks.iter().all(|mask| mask.banned.is_sorted()));
        let masks: HashMap<u32, &RowMask> = masks.iter().map(|mask| (mask.row, mask)).collect();
        let mut answer = Vec::new();
        let mut first_row = 0u32;
        for group in rows.chunk_by(|a, b| a.slot == b.slot) {
            let slot = group[0].slot;
            assert!(answer.iter().all(|other: &SlotCandidates| other.slot != slot));
            let prefixes = self.extend(slot, group);
            let mut best = Vec::new();
            for (parent, prefix) in (0u32..).zip(&prefixes) {
                let mask = masks.get(&(first_row + parent));
                for (token, log_prob) in
                    (0u32..).zip(self.log_probs(&self.slots[&slot].source, prefix))
                {
                    let blocked = mask.is_some_and(|mask| {
                        mask.banned.contains(&token) || token == EOS && !mask.eos_allowed
                    });
                    if !blocked {
                        best.push(Candidate { parent, token, log_prob });
                    }
                }
            }
            // Stable: ties stay in order of parent, then token.
            let score = |c: &Candidate| group[c.parent as usize].score + c.log_prob;
            best.sort_by(|a, b| score(b).total_cmp(&score(a)));
            best.truncate(top);
            answer.push(SlotCandidates { slot, best, extra: Vec::new() });
            first_row += u32::try_from(group.len()).expect("a toy has few rows");
        }
        Ok(answer)
    }

    fn rewind(&mut self, slot: SlotId) {
        self.slots.get_mut(&slot).expect("only an open slot is rewound").rows.clear();
    }

    fn close(&mut self, slot: SlotId) {
        self.slots.remove(&slot).expect("only an open slot is closed");
    }
}

fn mix(tokens: &[u32], seed: u64) -> u64 {
    tokens.iter().fold(scramble(seed), |hash, &token| scramble(hash ^ u64::from(token)))
}

/// The finaliser of SplitMix64 (Steele, Lea and Flood 2014).
fn scramble(mut x: u64) -> u64 {
    x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}
