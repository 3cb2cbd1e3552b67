//! A round of a seed: what it asks for, what is made of its outputs, and whether another follows.

use super::attempt::{Attempt, Next};
use super::chain::Chain;
use super::guide::{Guide, Strategy};
use super::phrase_set::PhraseSet;
use super::ranking::{Pair, candidates, choose};
use super::recipe::Choice;
use super::run::Run;
use super::{EndReason, ExpandError, Guidance, Result, word_class};
use crate::align::{AlignError, AlignRequest, Alignment};
use crate::model::{AnnotationSetId, FrameFit};
use crate::paraphrase::{Paraphrase, RequestOutcome};

impl Run<'_> {
    /// What each round asks for, first to last.
    fn strategies(&self) -> &'static [Strategy] {
        self.guide.as_ref().map_or(&[], Guide::strategies)
    }

    /// The first attempt of a chain's round; `None` as for [`attempt`](Self::attempt).
    pub(super) fn first_attempt(&mut self, chain: &Chain) -> Result<Option<Attempt>> {
        self.attempt(chain, self.strategies(), None, !chain.rewording.is_empty())
    }

    /// The next attempt of a chain's round: it asks for the first of the strategies for which there
    /// are words. `None` where LUs without sentences are asked for, and there is none that can
    /// stand there.
    fn attempt(
        &mut self,
        chain: &Chain,
        mut strategies: &'static [Strategy],
        best: Option<Pair>,
        rewords: bool,
    ) -> Result<Option<Attempt>> {
        let (lexicon, mut guide) = self.lexicon_and_guide(chain.seed.release)?;
        while let (Some(guide), Some((&strategy, later))) =
            (guide.as_deref_mut(), strategies.split_first())
        {
            strategies = later;
            let asked = guide.words(chain, lexicon, strategy)?;
            if !asked.is_empty() {
                return Ok(Some(Attempt { asked, rewords, later, best }));
            }
        }
        let is_enough = self.recipe.from_sisters.is_some();
        Ok((!is_enough).then(|| Attempt { asked: Vec::new(), rewords, later: &[], best }))
    }

    /// Takes the outputs of an attempt; keeps the best one, unless the round is to be tried again.
    pub(super) fn finish(
        &mut self,
        chain: &mut Chain,
        attempt: Attempt,
        outcome: &RequestOutcome,
    ) -> Result<Next> {
        let candidates = candidates(outcome.paraphrases());
        let Attempt { asked, rewords, later, best } = attempt;
        let found = self.align(chain, &candidates, &asked)?;
        let best = best.into_iter().chain(found).reduce(Pair::or_better);
        let best = match self.recipe.from_sisters {
            Some(_) => best.filter(|best| PhraseSet::new(&asked).is_in(&best.trigger)),
            None if !asked.is_empty() && !best.as_ref().is_some_and(Pair::is_faultless) => {
                return Ok(Next::from(self.attempt(chain, later, best, rewords)?));
            }
            None => best,
        };
        match self.worth_keeping(best, candidates.is_empty()) {
            Ok(best) => self.keep_or_end(chain, best),
            Err(reason) => {
                // The words that are banned for this round alone are no reason to end a seed.
                let again = match rewords {
                    true => self.attempt(chain, self.strategies(), None, false)?,
                    false => None,
                };
                if again.is_none() {
                    self.end(chain, reason);
                }
                Ok(Next::from(again))
            }
        }
    }

    /// The best pair of a round, or why its seed ends.
    fn worth_keeping(
        &self,
        best: Option<Pair>,
        nothing_came: bool,
    ) -> std::result::Result<Pair, EndReason> {
        match best {
            // The lexicon has no more to offer: what comes would seldom evoke the frame.
            Some(best) if self.recipe.guidance == Guidance::Lexicon && best.is_doubtful() => {
                Err(EndReason::NothingAlike)
            }
            Some(best) => Ok(best),
            None if nothing_came => Err(EndReason::NothingLeft),
            None if self.recipe.from_sisters.is_some() => Err(EndReason::NothingAlike),
            None => Err(EndReason::NotAligned),
        }
    }

    /// Keeps a round's pair, and ends the chain where it is the last or its frame too unlikely.
    fn keep_or_end(&mut self, chain: &mut Chain, best: Pair) -> Result<Next> {
        chain.round += 1;
        let fit = self.keep(chain, best)?;
        let is_unlikely = |fit: FrameFit| fit.probability < self.recipe.least_frame_fit;
        if fit.is_some_and(is_unlikely) && chain.round < self.recipe.rounds {
            self.end(chain, EndReason::UnlikelyFrame);
            return Ok(Next::End);
        }
        Ok(if chain.round < self.recipe.rounds { Next::Round } else { Next::End })
    }

    /// The pair of paraphrase and span to keep, if any paraphrase has a span.
    fn align(
        &mut self,
        chain: &Chain,
        candidates: &[&Paraphrase],
        asked: &[String],
    ) -> Result<Option<Pair>> {
        let requests = candidates
            .iter()
            .map(|candidate| AlignRequest {
                source: &chain.seed.text,
                pieces: &chain.seed.targets,
                target: &candidate.text,
            })
            .collect();
        let alignments = self.align_those_that_fit(chain.seed.set, requests)?;
        let choice = self.recipe.choice;
        let (lexicon, mut guide) = self.lexicon_and_guide(chain.seed.release)?;
        let asked = (!asked.is_empty()).then(|| PhraseSet::new(asked));
        let mut pairs = Vec::with_capacity(candidates.len());
        for (candidate, alignment) in candidates.iter().zip(alignments) {
            if let Some(alignment) = alignment {
                let guide = guide.as_deref_mut();
                let found = (*candidate, alignment);
                pairs.push(Pair::new(chain, lexicon, guide, asked.as_ref(), choice, found)?);
            }
        }
        let tagger = self.tagger.as_ref().filter(|_| choice == Choice::FewestFailedChecks);
        let Some(tagger) = tagger else { return choose(pairs, |_| Ok(true)) };
        choose(pairs, |pair| {
            word_class::fits(tagger, &pair.output.text, &pair.targets, chain.seed.pos)
        })
    }

    /// Aligns a batch; a pair that is too long for the encoder has no answer.
    fn align_those_that_fit(
        &self,
        seed: AnnotationSetId,
        requests: Vec<AlignRequest<'_>>,
    ) -> Result<Vec<Option<Alignment>>> {
        let mut fitting: Vec<(usize, AlignRequest<'_>)> =
            requests.into_iter().enumerate().collect();
        let mut answers = vec![None; fitting.len()];
        loop {
            let batch: Vec<AlignRequest<'_>> =
                fitting.iter().map(|(_, request)| *request).collect();
            match self.aligner.align(&batch) {
                Ok(alignments) => {
                    for ((at, _), alignment) in fitting.iter().zip(alignments) {
                        answers[*at] = alignment;
                    }
                    return Ok(answers);
                }
                Err(AlignError::TooLong { request, .. }) => {
                    fitting.remove(request);
                }
                Err(source) => return Err(ExpandError::Align { seed: Some(seed), source }),
            }
        }
    }
}
