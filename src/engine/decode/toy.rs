//! A network small enough to enumerate, for tests.
//!
//! Log-probabilities come from a hash of source and whole prefix, so that every hypothesis has its
//! own distribution and a mixed-up parent shows. It keeps the contract of the seam to the letter
//! and panics where a caller breaks it.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};

use super::sampling::scramble;
use crate::engine::compute::ComputeError;
use crate::engine::nn::{
    Candidate, Draw, NnError, RowMask, SlotCandidates, SlotId, StepNetwork, StepRow,
};

/// A network over `vocab_size` tokens; token 0 starts and token 1 ends a hypothesis.
#[derive(Debug, Default)]
pub(crate) struct ToyNetwork {
    pub(crate) vocab_size: usize,
    pub(crate) max_length: usize,
    /// How strongly the distributions differ from the uniform one.
    pub(crate) sharpness: f32,
    /// The token that every output must begin with.
    pub(crate) forced_token: Option<u32>,
    slots: BTreeMap<SlotId, Slot>,
    opened: u32,
    /// Number of sources encoded so far.
    pub(crate) encoded: usize,
    /// Largest number of rows in a step so far.
    pub(crate) most_rows: usize,
    /// Steps fail from now on.
    pub(crate) is_broken: bool,
    /// Hypotheses for which there is room in all open slots, those of kept steps included, and
    /// slots that may be open, where they are bounded.
    pub(crate) room: Option<usize>,
    /// Largest number of such hypotheses after a step so far.
    pub(crate) most_held: usize,
    /// What was told.
    pub(crate) told: RefCell<Vec<String>>,
    /// Attention is refused when it is asked for.
    pub(crate) has_no_attention: bool,
}

#[derive(Debug, Default)]
struct Slot {
    source: Vec<u32>,
    /// Tokens of each row of the last step, without the start token.
    rows: Vec<Vec<u32>>,
    /// Those of the steps before, when steps are kept.
    kept: Option<Vec<Vec<Vec<u32>>>>,
    gives_attention: bool,
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

    /// Tokens of the sources in open slots, in order of opening.
    pub(crate) fn sources(&self) -> Vec<&[u32]> {
        self.slots.values().map(|slot| slot.source.as_slice()).collect()
    }

    /// What the prefixes of a slot may go on with: all that is free, what is asked for beside it,
    /// and the best of each prefix.
    fn candidates<'m>(
        &self,
        slot: SlotId,
        prefixes: &[Vec<u32>],
        mask_of: impl Fn(u32) -> Option<&'m RowMask>,
    ) -> [Vec<Candidate>; 3] {
        let (mut best, mut extra, mut first) = (Vec::new(), Vec::new(), Vec::new());
        for (parent, prefix) in (0u32..).zip(prefixes) {
            let mask = mask_of(parent);
            assert!(mask.is_none_or(|mask| !mask.renormalize));
            let log_probs = self.log_probs(&self.slots[&slot].source, prefix);
            let candidate =
                |token: u32| Candidate { parent, token, log_prob: log_probs[token as usize] };
            extra.extend(mask.iter().flat_map(|mask| &mask.extra).map(|&t| candidate(t)));
            let is_free = |token: &u32| {
                mask.is_none_or(|mask| {
                    !mask.banned.contains(token) && (*token != EOS || mask.eos_allowed)
                })
            };
            let own: Vec<Candidate> =
                (0..self.vocab_size as u32).filter(is_free).map(candidate).collect();
            let by_score = |a: &&Candidate, b: &&Candidate| {
                a.log_prob.total_cmp(&b.log_prob).then(b.token.cmp(&a.token))
            };
            first.extend(own.iter().max_by(by_score));
            best.extend(own);
        }
        [best, extra, first]
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

    /// Hypotheses in all open slots once a step with these rows is taken.
    fn held_after(&self, rows: &[StepRow]) -> usize {
        let held = |(id, slot): (&SlotId, &Slot)| {
            let next = rows.iter().filter(|row| row.slot == *id).count();
            let kept = slot.kept.as_ref().map(|kept| kept.iter().map(Vec::len).sum::<usize>());
            match (next, kept) {
                (0, kept) => slot.rows.len() + kept.unwrap_or(0),
                (next, None) => next,
                (next, Some(kept)) => next + slot.rows.len() + kept,
            }
        };
        self.slots.iter().map(held).sum()
    }

    fn take_room(&self, wanted: usize) -> Result<(), NnError> {
        match self.room.filter(|room| wanted > *room) {
            Some(room) => {
                let (bytes, limit) = (wanted as u64, room as u64);
                Err(NnError::Compute(ComputeError::Memory { bytes, limit }))
            }
            None => Ok(()),
        }
    }

    /// Moves a slot to this step's rows; returns their prefixes.
    fn extend(&mut self, slot: SlotId, rows: &[StepRow]) -> Vec<Vec<u32>> {
        let open = self.slots.get_mut(&slot).expect("a row names an open slot");
        let extended = rows
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
        let before = std::mem::replace(&mut open.rows, extended);
        if let (Some(kept), false) = (&mut open.kept, before.is_empty()) {
            kept.push(before);
        }
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

    fn forced_token(&self) -> Option<u32> {
        self.forced_token
    }

    fn max_length(&self) -> usize {
        self.max_length
    }

    fn open(&mut self, sources: &[&[u32]]) -> Result<Vec<SlotId>, NnError> {
        self.take_room(self.slots.len() + sources.len())?;
        let slots = sources.iter().map(|source| {
            let slot = SlotId(self.opened);
            self.opened += 1;
            self.encoded += 1;
            self.slots.insert(slot, Slot { source: source.to_vec(), ..Slot::default() });
            slot
        });
        Ok(slots.collect())
    }

    fn step(
        &mut self,
        rows: &[StepRow],
        masks: &[RowMask],
        top: usize,
    ) -> Result<Vec<SlotCandidates>, NnError> {
        if self.is_broken {
            return Err(NnError::NonFinite { slot: rows[0].slot.0, step: 0 });
        }
        let held = self.held_after(rows);
        if let Err(full) = self.take_room(held) {
            // Some slots have taken the step by then.
            let first = rows.chunk_by(|a, b| a.slot == b.slot).next().expect("a step has rows");
            self.extend(first[0].slot, first);
            return Err(full);
        }
        self.most_rows = self.most_rows.max(rows.len());
        self.most_held = self.most_held.max(held);
        assert!(masks.iter().all(|mask| mask.banned.is_sorted()));
        let masks: HashMap<u32, &RowMask> = masks.iter().map(|mask| (mask.row, mask)).collect();
        let mut answer = Vec::new();
        let mut first_row = 0u32;
        for group in rows.chunk_by(|a, b| a.slot == b.slot) {
            let slot = group[0].slot;
            assert!(answer.iter().all(|other: &SlotCandidates| other.slot != slot));
            let prefixes = self.extend(slot, group);
            let mask_of = |parent: u32| masks.get(&(first_row + parent)).copied();
            let [mut best, extra, first] = self.candidates(slot, &prefixes, mask_of);
            // Stable: ties stay in order of parent, then token.
            let score = |c: &Candidate| group[c.parent as usize].score + c.log_prob;
            best.sort_by(|a, b| score(b).total_cmp(&score(a)));
            best.truncate(top);
            let open = &self.slots[&slot];
            let attention = match open.gives_attention {
                true => prefixes.iter().map(|prefix| attention(&open.source, prefix)).collect(),
                false => Vec::new(),
            };
            answer.push(SlotCandidates { slot, best, extra, first, attention });
            first_row += u32::try_from(group.len()).expect("a toy has few rows");
        }
        Ok(answer)
    }

    fn sample(
        &mut self,
        rows: &[StepRow],
        masks: &[RowMask],
        draws: &[Draw],
    ) -> Result<Vec<Option<Candidate>>, NnError> {
        assert_eq!(rows.len(), draws.len());
        let answers = self.step(rows, masks, usize::MAX)?;
        let mut drawn = Vec::new();
        for answer in answers {
            let own = rows.iter().zip(draws).filter(|(row, _)| row.slot == answer.slot);
            for (parent, (_, draw)) in (0u32..).zip(own) {
                // Neither cut nor heated: the share of a number of [0, 1) decides.
                assert_eq!((draw.top_k, draw.top_p, draw.temperature), (0, 1.0, 1.0));
                let mut of_row = answer.best.iter().filter(|c| c.parent == parent);
                let total: f32 = of_row.clone().map(|c| c.log_prob.exp()).sum();
                let mut rest = draw.uniform * total;
                let found = of_row.clone().find(|c| {
                    rest -= c.log_prob.exp();
                    rest < 0.0
                });
                drawn.push(found.or_else(|| of_row.next_back()).copied());
            }
        }
        Ok(drawn)
    }

    fn give_attention(&mut self, slot: SlotId, wanted: bool) -> bool {
        self.slots.get_mut(&slot).expect("only an open slot").gives_attention = wanted;
        !(wanted && self.has_no_attention)
    }

    fn keep_steps(&mut self, slot: SlotId) {
        self.slots.get_mut(&slot).expect("only an open slot keeps steps").kept = Some(Vec::new());
    }

    fn rewind(&mut self, slot: SlotId, steps: usize) {
        let slot = self.slots.get_mut(&slot).expect("only an open slot is rewound");
        let rows = std::mem::take(&mut slot.rows);
        let Some(kept) = &mut slot.kept else {
            assert_eq!(steps, 0, "no step of this slot was kept");
            return;
        };
        if !rows.is_empty() {
            kept.push(rows);
        }
        assert!(steps <= kept.len());
        kept.truncate(steps);
        slot.rows = kept.pop().unwrap_or_default();
    }

    fn tell(&self, text: &str) {
        self.told.borrow_mut().push(text.to_owned());
    }

    fn close(&mut self, slot: SlotId) {
        self.slots.remove(&slot).expect("only an open slot is closed");
    }
}

/// How a prefix looks at its source.
pub(crate) fn attention(source: &[u32], prefix: &[u32]) -> Vec<f32> {
    let seed = mix(source, 5) ^ mix(prefix, 7);
    let weight = |at: usize| (scramble(seed.wrapping_add(at as u64)) >> 40) as f32 + 1.0;
    let total: f32 = (0..source.len()).map(weight).sum();
    (0..source.len()).map(|at| weight(at) / total).collect()
}

fn mix(tokens: &[u32], seed: u64) -> u64 {
    tokens.iter().fold(scramble(seed), |hash, &token| scramble(hash ^ u64::from(token)))
}
