//! The encoder of a head, and the linker that may stand beside it.

use super::encode::{PairEncoder, WordPair};
use super::error::{AlignError, TooLong};
use super::features::PairStates;
use super::link_network::LinkNetwork;

/// Encodes pairs and, where a linker is there, scores the links between their words.
#[derive(Debug)]
pub(super) struct LinkedEncoder {
    encoder: PairEncoder,
    linker: Option<LinkNetwork>,
}

impl LinkedEncoder {
    /// A linker must read the states of this encoder.
    pub(super) fn new(encoder: PairEncoder, linker: Option<LinkNetwork>) -> Self {
        Self { encoder, linker }
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
    pub(super) fn linker(&self) -> Option<&LinkNetwork> {
        self.linker.as_ref()
    }

    /// As [`PairEncoder::encode`], with links.
    pub(super) fn encode(&self, pairs: &[WordPair<'_>]) -> Result<Vec<PairStates>, AlignError> {
        let mut states = self.encoder.encode(pairs)?;
        self.link(states.iter_mut().zip(pairs).collect())?;
        Ok(states)
    }

    /// As [`PairEncoder::encode_those_that_fit`], with links.
    pub(super) fn encode_those_that_fit(
        &self,
        pairs: &[WordPair<'_>],
        done: impl FnMut(usize),
    ) -> Result<Vec<Result<PairStates, TooLong>>, AlignError> {
        let mut states = self.encoder.encode_those_that_fit(pairs, done)?;
        let fit = states.iter_mut().zip(pairs);
        self.link(fit.filter_map(|(states, pair)| Some((states.as_mut().ok()?, pair))).collect())?;
        Ok(states)
    }

    fn link(&self, mut pairs: Vec<(&mut PairStates, &WordPair<'_>)>) -> Result<(), AlignError> {
        let Some(linker) = &self.linker else { return Ok(()) };
        let asked: Vec<_> = pairs.iter().map(|(states, pair)| (&**states, *pair)).collect();
        let scores = linker.scores(&asked)?;
        for ((states, _), scores) in pairs.iter_mut().zip(scores) {
            states.links = Some(scores);
        }
        Ok(())
    }
}
