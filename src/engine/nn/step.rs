//! The seam between a decoder's search and a network: one device-resident trait.
//!
//! A network keeps encoder states, caches and logits to itself. The search opens sources into
//! *slots*, asks for one step over many rows at once, and gets back only the few best
//! continuations of every slot. Rows and slots may join and leave at any step (continuous
//! batching): a slot that finishes makes room for the next source without waiting for the others.

use std::sync::Arc;

use super::NnError;

/// One open source: its encoder states and the caches of its hypotheses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SlotId(pub u32);

/// One hypothesis that takes a step.
///
/// Rows of one slot stand together; the position of a row in the call is its *row index*.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StepRow {
    /// The slot whose source this hypothesis translates.
    pub slot: SlotId,
    /// Index of the row *among this slot's rows of the previous step* that this one extends;
    /// `None` at a slot's first step.
    pub parent: Option<u32>,
    /// The token that extends the parent (the decoder start token at the first step).
    pub token: u32,
    /// Sum of the log-probabilities so far (natural log), so that a slot's candidates compare.
    pub score: f32,
}

/// What a row may not or must additionally produce; rows without an entry are unrestricted.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RowMask {
    /// Index of the row in the call.
    pub row: u32,
    /// Token ids that may not come next, ascending; rows may share a list. Their probability is set
    /// aside after the log-softmax: nothing is renormalised.
    pub banned: Arc<[u32]>,
    /// Token ids whose log-probability must be returned even when they are not among the best.
    pub extra: Vec<u32>,
    /// Whether the end of the sentence may come next.
    pub eos_allowed: bool,
    /// Whether log-probabilities are those among the tokens that may come next, as if the others
    /// had no logit, and not those of the unmasked distribution.
    pub renormalize: bool,
}

/// How one token is drawn for a row.
///
/// Tokens that are not banned are ordered by logit (ties by lower token). They are cut to the first
/// `top_k`, then to the fewest that reach `top_p` of what is left. The token at which their running
/// sum of `softmax(logit / temperature)` passes `uniform` is drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Draw {
    /// Divides the logits; above 0.
    pub temperature: f32,
    /// Tokens to choose among; 0 for all.
    pub top_k: usize,
    /// Share of the probability to choose among, above 0; 1 for all.
    pub top_p: f32,
    /// A number of [0, 1), which decides.
    pub uniform: f32,
}

/// One possible continuation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Candidate {
    /// Index of the row it extends, among the slot's rows of this step.
    pub parent: u32,
    /// The token.
    pub token: u32,
    /// Log-probability of the token (natural log) under the unmasked distribution, or the one that
    /// the row's mask asks for.
    pub log_prob: f32,
}

/// The continuations of one slot.
#[derive(Debug, Clone, PartialEq)]
pub struct SlotCandidates {
    /// The slot.
    pub slot: SlotId,
    /// The best continuations over all rows of the slot by `score + log_prob`, best first; ties by
    /// lower parent, then lower token. Fewer than asked for only when masks leave fewer.
    pub best: Vec<Candidate>,
    /// The `extra` tokens asked for, in the order of the rows.
    pub extra: Vec<Candidate>,
    /// The best continuation of each row by itself, in the order of the rows; none for a row whose
    /// mask leaves nothing.
    pub first: Vec<Candidate>,
    /// Where [`give_attention`](StepNetwork::give_attention) asked for it: how much each row looks
    /// at each token of the source, one list for each row, each adding up to 1. Else empty.
    pub attention: Vec<Vec<f32>>,
}

/// A network that scores continuations step by step.
pub trait StepNetwork {
    /// Number of token ids.
    fn vocab_size(&self) -> usize;

    /// Token that starts every hypothesis. A language model's begin with the last token of their
    /// prompt, whatever the first row says.
    fn start_token(&self) -> u32;

    /// Token that ends every hypothesis.
    fn eos_token(&self) -> u32;

    /// Token that every hypothesis must begin with after the start, for whoever searches to see to;
    /// none by default.
    fn forced_token(&self) -> Option<u32> {
        None
    }

    /// The longest hypothesis the network can hold, in tokens, the end counted; a prompt counts,
    /// too.
    fn max_length(&self) -> usize;

    /// Tokens of sources that are best encoded as one batch: whoever stops work waits for so many.
    fn tokens_at_once(&self) -> usize {
        512
    }

    /// Encodes sources (token ids, ending in EOS) as one batch and gives each a slot, in order. A
    /// language model's source is a prompt, which ends as it is to be continued.
    ///
    /// # Errors
    /// When a source is empty or longer than the network's positions.
    fn open(&mut self, sources: &[&[u32]]) -> Result<Vec<SlotId>, NnError>;

    /// Takes one step with every row and returns, per slot in the order of its first row, the best
    /// `top` continuations.
    ///
    /// The rows replace the slots' rows of the previous step: a hypothesis that no row names as
    /// parent is forgotten, one that several rows name is shared. Slots without a row stay as they
    /// are.
    ///
    /// # Errors
    /// When a score is not finite (naming slot and step), or a row names an unknown slot or parent.
    fn step(
        &mut self,
        rows: &[StepRow],
        masks: &[RowMask],
        top: usize,
    ) -> Result<Vec<SlotCandidates>, NnError>;

    /// Takes one step with every row, as [`step`](Self::step) does, and draws one token for each
    /// instead of the best. In the order of the rows; `None` where a mask leaves nothing.
    ///
    /// A token depends on its own row and draw only, to the bit.
    ///
    /// # Errors
    /// As [`step`](Self::step).
    fn sample(
        &mut self,
        rows: &[StepRow],
        masks: &[RowMask],
        draws: &[Draw],
    ) -> Result<Vec<Option<Candidate>>, NnError>;

    /// Says whether answers for a slot shall hold its rows' attention over the source, from the
    /// next step on; those for a fresh slot do not. Returns whether it will be so: a network that
    /// has no attention to give, as by default, refuses.
    fn give_attention(&mut self, _slot: SlotId, wanted: bool) -> bool {
        !wanted
    }

    /// From its next first step on, keeps what every step of a slot left, so that
    /// [`rewind`](Self::rewind) can go back to any of them. It costs memory: hypotheses that died
    /// stay.
    fn keep_steps(&mut self, slot: SlotId);

    /// Goes back to where `steps` steps were taken; the rows of the last one of them are the
    /// parents of the next. Encoder states stay, so the same source can be decoded again (each
    /// round of expansion rewrites the same sentence).
    ///
    /// # Panics
    /// If `steps` is neither 0 nor a step that was kept.
    fn rewind(&mut self, slot: SlotId, steps: usize);

    /// Says something to whoever opened the network's device; by default nobody listens.
    fn tell(&self, _text: &str) {}

    /// Frees a slot.
    fn close(&mut self, slot: SlotId);
}
