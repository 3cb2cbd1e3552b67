//! Several networks that learned the same from other first weights; their scores are averaged.
//!
//! From some thousand judgements one network learns much that is chance: where few sets are kept,
//! which ones they are hangs on its first weights. The mean of several hangs on them less.

use super::network::Member;
use crate::engine::{NamedTensor, Weights, WeightsError};

/// The networks of one classifier.
#[derive(Debug, Clone)]
pub(super) struct Committee {
    members: Vec<Member>,
}

impl Committee {
    pub(super) fn new(members: Vec<Member>) -> Self {
        Self { members }
    }

    /// Networks of a file; `name` tells the classifiers there apart.
    pub(super) fn read(
        weights: &Weights,
        name: &str,
        [members, inputs]: [usize; 2],
    ) -> Result<Self, WeightsError> {
        let member = |at| Member::read(weights, &format!("{name}.{at}."), inputs);
        Ok(Self { members: (0..members).map(member).collect::<Result<_, _>>()? })
    }

    /// Every tensor with its name and shape, member by member.
    pub(super) fn tensors(&self, name: &str) -> Vec<NamedTensor<'_>> {
        let members = self.members.iter().enumerate();
        members.flat_map(|(at, member)| member.tensors(&format!("{name}.{at}."))).collect()
    }

    /// Whether inputs can be standardised by all members.
    pub(super) fn is_sound(&self) -> bool {
        self.members.iter().all(Member::is_sound)
    }

    /// Score of a row of inputs, in `[0, 1]`: the members' mean.
    pub(super) fn score(&self, inputs: &[Option<f32>]) -> f32 {
        let sum: f32 = self.members.iter().map(|member| member.score(inputs)).sum();
        sum / self.members.len() as f32
    }
}
