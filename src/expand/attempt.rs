//! A rewriting of a round: what it asks for, and what comes after it.

use super::Result;
use super::chain::Chain;
use super::elements::KeepElements;
use super::guide::Strategy;
use super::knowledge::Knowledge;
use super::partners::{OtherTarget, Partners};
use super::ranking::Pair;
use crate::paraphrase::Constraints;

/// A rewriting of a round.
#[derive(Default)]
pub(super) struct Attempt {
    /// Words of which its outputs are to hold one; none for any outputs.
    pub(super) asked: Vec<String>,
    /// Whether it bans other content words of the sentence, too.
    rewords: bool,
    /// Which targets it changes beside the seed's.
    beside: Vec<OtherTarget>,
    /// What to ask for next, if this brings nothing faultless; after the last one, nothing.
    later: &'static [Strategy],
    /// The best of the round's attempts so far.
    pub(super) best: Option<Pair>,
}

impl Attempt {
    /// The first attempt of a chain's round; `None` as for [`next`](Self::next).
    pub(super) fn first(
        knowledge: &mut Knowledge<'_>,
        chain: &Chain,
        partners: &Partners,
    ) -> Result<Option<Self>> {
        let (rewords, later) = (!chain.rewording.is_empty(), knowledge.strategies());
        let (lexicon, guide) = knowledge.lexicon_and_guide(chain.seed.release)?;
        let beside = partners.of_round(chain, lexicon, guide)?;
        Self { later, rewords, beside, ..Self::default() }.next(knowledge, chain)
    }

    /// The attempt after one that brought nothing faultless. It asks for the first of the later
    /// strategies for which there are words, at last for nothing. `None` where LUs without
    /// sentences are asked for, and there is none that can stand there.
    pub(super) fn next(self, knowledge: &mut Knowledge<'_>, chain: &Chain) -> Result<Option<Self>> {
        let is_enough = knowledge.recipe().from_sisters.is_some();
        let (lexicon, mut guide) = knowledge.lexicon_and_guide(chain.seed.release)?;
        let Self { mut later, rewords, beside, best, .. } = self;
        while let (Some(guide), Some((&strategy, rest))) =
            (guide.as_deref_mut(), later.split_first())
        {
            later = rest;
            let asked = guide.words(chain, lexicon, strategy)?;
            if !asked.is_empty() {
                return Ok(Some(Self { asked, rewords, beside, later, best }));
            }
        }
        Ok((!is_enough).then(|| Self { asked: Vec::new(), rewords, beside, later: &[], best }))
    }

    /// The round once more without the words that it alone bans or asks for: they are no reason to
    /// end a seed. `None` if there are none, and as for [`next`](Self::next).
    pub(super) fn without_rewording(
        self,
        knowledge: &mut Knowledge<'_>,
        chain: &Chain,
    ) -> Result<Option<Self>> {
        if !self.rewords && self.beside.is_empty() {
            return Ok(None);
        }
        Self { later: knowledge.strategies(), ..Self::default() }.next(knowledge, chain)
    }

    /// What is asked of the rewriter.
    pub(super) fn constraints(&self, chain: &Chain, keep_fe: KeepElements) -> Constraints {
        let mut require = if self.asked.is_empty() { vec![] } else { vec![self.asked.clone()] };
        require.extend(
            keep_fe.required(&chain.seed, &chain.banned).into_iter().map(|phrase| vec![phrase]),
        );
        let hint = self.asked.clone();
        let mut avoid = chain.banned.clone();
        self.beside.iter().for_each(|of| of.add_to(&mut avoid, &mut require));
        if self.rewords {
            avoid.extend(chain.rewording.bans(chain.round, &require.concat(), &chain.banned));
        }
        Constraints { avoid, require, hint, ..Constraints::default() }
    }
}
