//! The network of a rewriter, whichever kind it is of.

use crate::engine::{
    Candidate, Draw, EncoderDecoder, Fingerprint, LanguageModel, NnError, RowMask, SlotCandidates,
    SlotId, StepNetwork, StepRow,
};

/// A network that rewrites.
#[derive(Debug)]
#[non_exhaustive]
pub enum Network {
    /// It reads a sentence and writes another.
    EncoderDecoder(Box<EncoderDecoder>),
    /// It goes on with a prompt.
    LanguageModel(Box<LanguageModel>),
}

impl Network {
    /// The fingerprint of the network's weights.
    #[must_use]
    pub fn fingerprint(&self) -> Fingerprint {
        match self {
            Self::EncoderDecoder(network) => network.fingerprint(),
            Self::LanguageModel(network) => network.fingerprint(),
        }
    }
}

/// What the network of either kind says.
macro_rules! of_either {
    ($network:expr, $inner:ident => $answer:expr) => {
        match $network {
            Network::EncoderDecoder($inner) => $answer,
            Network::LanguageModel($inner) => $answer,
        }
    };
}

impl StepNetwork for Network {
    fn vocab_size(&self) -> usize {
        of_either!(self, network => network.vocab_size())
    }

    fn start_token(&self) -> u32 {
        of_either!(self, network => network.start_token())
    }

    fn eos_token(&self) -> u32 {
        of_either!(self, network => network.eos_token())
    }

    fn forced_token(&self) -> Option<u32> {
        of_either!(self, network => network.forced_token())
    }

    fn max_length(&self) -> usize {
        of_either!(self, network => network.max_length())
    }

    fn tokens_at_once(&self) -> usize {
        of_either!(self, network => network.tokens_at_once())
    }

    fn open(&mut self, sources: &[&[u32]]) -> Result<Vec<SlotId>, NnError> {
        of_either!(self, network => network.open(sources))
    }

    fn step(
        &mut self,
        rows: &[StepRow],
        masks: &[RowMask],
        top: usize,
    ) -> Result<Vec<SlotCandidates>, NnError> {
        of_either!(self, network => network.step(rows, masks, top))
    }

    fn sample(
        &mut self,
        rows: &[StepRow],
        masks: &[RowMask],
        draws: &[Draw],
    ) -> Result<Vec<Option<Candidate>>, NnError> {
        of_either!(self, network => network.sample(rows, masks, draws))
    }

    fn give_attention(&mut self, slot: SlotId, wanted: bool) -> bool {
        of_either!(self, network => network.give_attention(slot, wanted))
    }

    fn keep_steps(&mut self, slot: SlotId) {
        of_either!(self, network => network.keep_steps(slot));
    }

    fn rewind(&mut self, slot: SlotId, steps: usize) {
        of_either!(self, network => network.rewind(slot, steps));
    }

    fn tell(&self, text: &str) {
        of_either!(self, network => network.tell(text));
    }

    fn close(&mut self, slot: SlotId) {
        of_either!(self, network => network.close(slot));
    }
}
