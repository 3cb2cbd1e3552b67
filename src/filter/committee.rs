//! Several networks that learned the same from other first weights; their scores are averaged.
//!
//! From some thousand judgements one network learns much that is chance: where few sets are kept, which ones they are
//! hangs on its first weights. The mean of several hangs on them less.

use super::network::Network;
use crate::nn::NamedTensor;

/// The networks of one classifier.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Committee {
    members: Vec<Network>,
}

impl Committee {
    pub(super) fn new(members: Vec<Network>) -> Self {
        Self { members }
    }

    /// Networks read by name and shape; `prefix` tells the classifiers of a file apart.
    pub(super) fn read<E>(
        prefix: &str,
        [members, inputs]: [usize; 2],
        mut tensor: impl FnMut(&str, &[usize]) -> Result<Vec<f32>, E>,
    ) -> Result<Self, E> {
        let member = |at| Network::read(&format!("{prefix}.{at}"), inputs, &mut tensor);
        Ok(Self { members: (0..members).map(member).collect::<Result<_, E>>()? })
    }

    /// Names of [`named`](Self::named), member by member.
    pub(super) fn names(&self, prefix: &str) -> Vec<[String; 8]> {
        (0..self.members.len()).map(|at| Network::names(&format!("{prefix}.{at}"))).collect()
    }

    /// Every tensor with its name and shape.
    pub(super) fn named<'a>(&'a self, names: &'a [[String; 8]]) -> Vec<NamedTensor<'a>> {
        let members = self.members.iter().zip(names);
        members.flat_map(|(network, names)| network.named(names)).collect()
    }

    /// Whether inputs can be standardised by all members.
    pub(super) fn is_sound(&self) -> bool {
        self.members.iter().all(Network::is_sound)
    }

    /// Score of a row of inputs, in `[0, 1]`: the members' mean.
    pub(super) fn score(&self, inputs: &[f32]) -> f32 {
        let sum: f32 = self.members.iter().map(|network| network.score(inputs)).sum();
        sum / self.members.len() as f32
    }
}
