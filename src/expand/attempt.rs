//! A rewriting of a round: what it asks for, and what comes after it.

use super::chain::Chain;
use super::elements::KeepElements;
use super::guide::Strategy;
use super::ranking::Pair;
use crate::paraphrase::Constraints;

/// A rewriting of a round.
pub(super) struct Attempt {
    /// Words of which its outputs are to hold one; none for any outputs.
    pub(super) asked: Vec<String>,
    /// Whether it bans other content words of the sentence, too.
    pub(super) rewords: bool,
    /// What to ask for next, if this brings nothing faultless; after the last one, nothing.
    pub(super) later: &'static [Strategy],
    /// The best of the round's attempts so far.
    pub(super) best: Option<Pair>,
}

impl Attempt {
    /// What is asked of the rewriter.
    pub(super) fn constraints(&self, chain: &Chain, keep_fe: KeepElements) -> Constraints {
        let mut require = if self.asked.is_empty() { vec![] } else { vec![self.asked.clone()] };
        require.extend(
            keep_fe.required(&chain.seed, &chain.banned).into_iter().map(|phrase| vec![phrase]),
        );
        let hint = self.asked.clone();
        let mut avoid = chain.banned.clone();
        if self.rewords {
            avoid.extend(chain.rewording.bans(chain.round, &require.concat(), &chain.banned));
        }
        Constraints { avoid, require, hint, ..Constraints::default() }
    }
}

/// What comes after a rewriting.
pub(super) enum Next {
    /// The next round.
    Round,
    /// The same round, asked for something else.
    Again(Box<Attempt>),
    /// Nothing.
    End,
}

impl From<Option<Attempt>> for Next {
    /// The round again, if there is another attempt.
    fn from(attempt: Option<Attempt>) -> Self {
        attempt.map_or(Self::End, |attempt| Self::Again(Box::new(attempt)))
    }
}
