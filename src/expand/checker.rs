//! Which output of a round is written: the aligner finds the target in each, the best pair wins,
//! its FEs are carried over, and models say how good it is.

use super::chain::Chain;
use super::elements::{self, Carried, KeepElements};
use super::fitting::FitJudge;
use super::judged_choice::{JudgedChoice, question};
use super::judges::{FrameQuestions, Judges};
use super::knowledge::Knowledge;
use super::phrase_set::PhraseSet;
use super::ranking::{Pair, candidates, choose};
use super::recipe::Choice;
use super::rewriting::{AcceptedPair, Rewriting};
use super::seed::TARGET;
use super::{CarriedTally, EndReason, ExpandError, Guidance, Recipe, Result, word_class};
use crate::align::{AlignError, AlignRequest, Aligner, Alignment};
use crate::database::Database;
use crate::decode::GoesOn;
use crate::filter::{Filter, FilterEvidence};
use crate::grow::{Checker, Generated, Proposer, Verdict};
use crate::model::{
    AnnotationSetId, FeStatus, FilterScores, Flags, FrameFit, Generation, Method, RecipeId,
    Verification,
};
use crate::paraphrase::{Paraphrase, Refusal, RequestOutcome};

/// The models that outputs pass.
pub(super) struct PairChecker<'a> {
    pub(super) recipe: RecipeId,
    pub(super) aligner: &'a Aligner,
    /// Says how likely frames are, where the recipe asks.
    pub(super) judge: Option<FitJudge<'a>>,
    pub(super) filter: Option<&'a Filter>,
    /// Chooses among outputs, where the recipe asks.
    pub(super) judged: Option<&'a mut JudgedChoice>,
    /// Asked about what is kept, where the run asks and they do not choose.
    pub(super) judges: Option<&'a mut Judges>,
    /// What they are asked about frames.
    pub(super) frames: FrameQuestions,
}

impl<'a, P> Checker<P> for PairChecker<'_>
where
    P: Proposer<
            Shared = Knowledge<'a>,
            Work = Rewriting<'a>,
            Outputs = RequestOutcome,
            Error = ExpandError,
        >,
{
    fn check(
        &mut self,
        knowledge: &mut Knowledge<'a>,
        work: &mut Rewriting<'a>,
        outcome: RequestOutcome,
        goes_on: &mut GoesOn<'_>,
    ) -> Result<Verdict<Rewriting<'a>>> {
        let candidates = candidates(outcome.paraphrases());
        let nothing_came = match &outcome {
            RequestOutcome::Refused(Refusal::UnknownLetter { .. }) => {
                Some(EndReason::UnknownLetter)
            }
            _ => candidates.is_empty().then_some(EndReason::NothingLeft),
        };
        let (chain, attempt) = (&work.chain, &mut work.attempt);
        let found = self.align((knowledge, chain), &candidates, &attempt.asked, goes_on)?;
        let best = attempt.best.take().into_iter().chain(found).reduce(Pair::or_better);
        let (recipe, asked) = (knowledge.recipe(), &attempt.asked);
        let best = match recipe.from_sisters {
            Some(_) => best.filter(|best| PhraseSet::new(asked).is_in(&best.trigger)),
            None if !asked.is_empty() && !best.as_ref().is_some_and(Pair::is_faultless) => {
                attempt.best = best;
                return Ok(Verdict::Improvable);
            }
            None => best,
        };
        let is_doubted = |best: &Pair| {
            self.judged.as_ref().is_some_and(|judged| judged.doubts(best, recipe.least_evokes))
        };
        if best.as_ref().is_some_and(is_doubted) {
            return Ok(Verdict::Refuse(EndReason::UnlikelyFrame));
        }
        Ok(match worth_keeping(recipe, best, nothing_came) {
            Ok(best) => Verdict::Accept(self.accepted((knowledge, chain), best, goes_on)?),
            Err(reason) => Verdict::Refuse(reason),
        })
    }
}

/// The best pair of a round, or why its seed ends: maybe because nothing came.
fn worth_keeping(
    recipe: &Recipe,
    best: Option<Pair>,
    nothing_came: Option<EndReason>,
) -> std::result::Result<Pair, EndReason> {
    match best {
        // The lexicon has no more to offer: what comes would seldom evoke the frame.
        Some(best) if recipe.guidance == Guidance::Lexicon && best.is_doubtful() => {
            Err(EndReason::NothingAlike)
        }
        Some(best) => Ok(best),
        None if let Some(reason) = nothing_came => Err(reason),
        None if recipe.from_sisters.is_some() => Err(EndReason::NothingAlike),
        None => Err(EndReason::NotAligned),
    }
}

impl PairChecker<'_> {
    /// The pair of paraphrase and span to keep, if any paraphrase has a span.
    fn align(
        &mut self,
        (knowledge, chain): (&mut Knowledge<'_>, &Chain),
        candidates: &[&Paraphrase],
        asked: &[String],
        goes_on: &mut GoesOn<'_>,
    ) -> Result<Option<Pair>> {
        let requests = candidates.iter().map(|candidate| AlignRequest {
            source: &chain.seed.text,
            pieces: &chain.seed.targets,
            target: &candidate.text,
        });
        let requests = requests.collect();
        let alignments = self.align_those_that_fit(chain.seed.set, requests)?;
        let choice = knowledge.recipe().choice;
        let (lexicon, mut guide) = knowledge.lexicon_and_guide(chain.seed.release)?;
        let asked = (!asked.is_empty()).then(|| PhraseSet::new(asked));
        let mut pairs = Vec::with_capacity(candidates.len());
        for (candidate, alignment) in candidates.iter().zip(alignments) {
            if let Some(alignment) = alignment {
                let guide = guide.as_deref_mut();
                let found = (*candidate, alignment);
                pairs.push(Pair::new(chain, lexicon, guide, asked.as_ref(), choice, found)?);
            }
        }
        if let Some(judged) = &mut self.judged {
            pairs.sort_by(Pair::best_first);
            let lexicon = knowledge.lexicon(chain.seed.release)?;
            judged.judge((lexicon, chain), &mut pairs, goes_on)?;
        }
        let tagger = knowledge.tagger().filter(|_| choice != Choice::Aligner);
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

    /// What is written of a pair: its LU, its FEs, what models say of it, its place in the chain.
    fn accepted(
        &mut self,
        (knowledge, chain): (&mut Knowledge<'_>, &Chain),
        best: Pair,
        goes_on: &mut GoesOn<'_>,
    ) -> Result<AcceptedPair> {
        let (carried, elements) = self.carry(knowledge, chain, &best)?.unzip();
        let lost_element = carried.as_ref().is_some_and(Carried::has_lost);
        let flags = Flags { lost_element, ..best.flags };
        let (frame, round) = (chain.seed.frame, chain.round + 1);
        let lexicon = knowledge.lexicon(chain.seed.release)?;
        let unit = lexicon.unit_of(frame, &best.trigger, chain.seed.pos)?;
        let is_new_trigger = lexicon.is_new_trigger(&best.trigger)?;
        let is_new_pair = lexicon.is_new_pair(frame, &best.trigger)?;
        let name = lexicon.unit_name(frame, &best.trigger, chain.seed.pos)?;
        let said = self.verification(lexicon.database(), (chain, &best, &name), goes_on)?;
        let fit = self.fit(chain, &best)?;
        let frames = lexicon.frames_with(&(unit.lemma.clone(), unit.pos));
        let scores = (best.output.score, best.alignment.score);
        let evidence = FilterEvidence::new(round, scores, (unit.is_proposed, frames));
        // Answers that decide nothing change no score: a recipe's sets are the same without them.
        let answers = said.as_ref().filter(|_| self.judged.is_some());
        let filter = self.filter_scores(&evidence.with(fit.as_ref(), answers));
        let Pair { output, alignment, targets, .. } = best;
        let (carried_elements, layers, fe_status) = match carried {
            Some(carried) => (carried.elements, carried.layers, FeStatus::Carried),
            None => (Vec::new(), Vec::new(), FeStatus::Unknown),
        };
        let generation = Generation {
            seed: chain.seed.set,
            source: chain.seed.set,
            target_ordinal: TARGET,
            round,
            rank: 0,
            chain: chain.sets.clone(),
            method: Method::Paraphrase,
            recipe: self.recipe,
            flags,
            paraphrase: output.score,
            aligner: alignment.score,
            filter,
            elements: carried_elements,
            fit,
        };
        let (lu, proposed, text) = (unit.lu, unit.proposed, output.text);
        let made = Generated {
            frame,
            lu,
            proposed,
            text,
            targets,
            layers,
            fe_status,
            generation,
            verification: said,
        };
        let (made, lemma, pos) = ([made], unit.lemma, unit.pos);
        Ok(AcceptedPair { made, lemma, pos, is_new_trigger, is_new_pair, elements })
    }

    /// What the filter says of a pair, where there is one. It wants to know how likely an output
    /// is, which a server does not say.
    fn filter_scores(&self, evidence: &FilterEvidence) -> Option<FilterScores> {
        let filter = self.filter.as_ref().filter(|_| evidence.paraphrase.is_finite())?;
        Some(filter.scores(evidence))
    }

    /// What judges say of a pair that is written under an LU of a name, where they are asked.
    fn verification(
        &mut self,
        database: &Database,
        (chain, best, lexunit): (&Chain, &Pair, &str),
        goes_on: &mut GoesOn<'_>,
    ) -> Result<Option<Verification>> {
        if let Some(judged) = &mut self.judged {
            return judged.verification(database, (chain, best, lexunit));
        }
        let Some(judges) = &mut self.judges else { return Ok(None) };
        let seed = &chain.seed;
        let frame = self.frames.of(database, (seed.release, seed.frame))?;
        let questions = [question(chain, best, lexunit)];
        Ok(judges.verifications(frame, (&questions, seed.set), goes_on)?.pop())
    }

    /// How likely the frame is, by the frame model, where the recipe asks.
    fn fit(&mut self, chain: &Chain, best: &Pair) -> Result<Option<FrameFit>> {
        let Some(judge) = &mut self.judge else { return Ok(None) };
        let sentence = (best.output.text.as_str(), &best.targets[..]);
        Ok(judge.fits_of((chain.seed.release, chain.seed.frame), &[sentence])?.pop().flatten())
    }

    /// Looks for the seed's FEs in the output that is kept, and counts what is found.
    fn carry(
        &self,
        knowledge: &mut Knowledge<'_>,
        chain: &Chain,
        best: &Pair,
    ) -> Result<Option<(Carried, CarriedTally)>> {
        let seed = &chain.seed;
        if knowledge.recipe().keep_fe == KeepElements::None || seed.expressed.is_none() {
            return Ok(None);
        }
        let carried = elements::carry(self.aligner, seed, &best.output.text, &best.targets)?;
        let core = knowledge.core_elements(seed.release, seed.frame)?;
        let lost = carried.elements.iter().filter(|element| element.score.is_none());
        let has_core = !lost.clone().any(|of| core.contains(&of.name));
        let lost = lost.count() as u64;
        let found = carried.elements.len() as u64 - lost;
        let tally = CarriedTally { sentences: 1, with_core: u64::from(has_core), found, lost };
        Ok(Some((carried, tally)))
    }
}
