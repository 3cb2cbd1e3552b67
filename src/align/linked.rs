//! The encoder of a head, and the linker that may stand beside it.

use super::encode::{PairEncoder, WordPair};
use super::error::{AlignError, TooLong};
use super::features::PairStates;
use super::linker::Network;
use crate::compute::Device;

/// Encodes pairs and, where a linker is there, scores the links between their words.
#[derive(Debug)]
pub(super) struct LinkedEncoder {
    encoder: PairEncoder,
    linker: Option<Network>,
    device: Device,
}

impl LinkedEncoder {
    /// A linker must read the states of this encoder.
    pub(super) fn new(encoder: PairEncoder, linker: Option<Network>, device: &Device) -> Self {
        Self { encoder, linker, device: device.clone() }
    }

    /// Width D of a state.
    pub(super) fn width(&self) -> usize {
        self.encoder.width()
    }

    /// The encoder's fingerprint in hexadecimal.
    pub(super) fn fingerprint(&self) -> String {
        self.encoder.fingerprint()
    }

    /// The linker.
    pub(super) fn linker(&self) -> Option<&Network> {
        self.linker.as_ref()
    }

    /// As [`PairEncoder::encode`], with links.
    pub(super) fn encode(&self, pairs: &[WordPair<'_>]) -> Result<Vec<PairStates>, AlignError> {
        let mut states = self.encoder.encode(pairs)?;
        for (states, pair) in states.iter_mut().zip(pairs) {
            self.link(states, pair)?;
        }
        Ok(states)
    }

    /// As [`PairEncoder::encode_those_that_fit`], with links.
    pub(super) fn encode_those_that_fit(
        &self,
        pairs: &[WordPair<'_>],
        done: impl FnMut(usize),
    ) -> Result<Vec<Result<PairStates, TooLong>>, AlignError> {
        let mut states = self.encoder.encode_those_that_fit(pairs, done)?;
        for (states, pair) in states.iter_mut().zip(pairs) {
            if let Ok(states) = states {
                self.link(states, pair)?;
            }
        }
        Ok(states)
    }

    fn link(&self, states: &mut PairStates, pair: &WordPair<'_>) -> Result<(), AlignError> {
        if let Some(linker) = &self.linker {
            states.links = Some(linker.scores(&self.device, states, pair)?);
        }
        Ok(())
    }
}
