//! Which output of a round is written: the aligner finds the target in each, the best pair wins,
//! its FEs and the other sets of its sentence are carried over, and models say how good it is.

use super::aligning::{Searching, align_those_that_fit};
use super::chain::Chain;
use super::companions::{Companion, Company, Dropped, NewTrigger, OtherLu, Placed};
use super::elements::{Carried, KeepElements, Sought};
use super::fitting::FitJudge;
use super::judged_choice::{JudgedChoice, question};
use super::judges::{FrameQuestions, Judges, SetQuestion};
use super::knowledge::Knowledge;
use super::partners::Targets;
use super::phrase_set::PhraseSet;
use super::ranking::{Pair, candidates, choose};
use super::recipe::Choice;
use super::rewriting::{AcceptedPair, Rewriting};
use super::seed::TARGET;
use super::trigger_lexicon::TriggerUnit;
use super::{
    CarriedTally, CompanyTally, EndReason, ExpandError, Guidance, Recipe, Result, word_class,
};
use crate::align::{AlignRequest, Aligner};
use crate::database::Database;
use crate::engine::GoesOn;
use crate::filter::{Filter, FilterEvidence};
use crate::grow::{CarriedAlong, Checker, Generated, Proposer, Verdict};
use crate::model::{
    FeStatus, FilterScores, Flags, FrameFit, Generation, Method, Pos, RecipeId, Verification,
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
        let alignments = align_those_that_fit(self.aligner, chain.seed.set, requests)?;
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

    /// What is written of a pair: its LU, its FEs, what models say of it, its place in the chain.
    fn accepted(
        &mut self,
        (knowledge, chain): (&mut Knowledge<'_>, &Chain),
        best: Pair,
        goes_on: &mut GoesOn<'_>,
    ) -> Result<AcceptedPair> {
        let over = self.carry(knowledge, chain, &best, goes_on)?;
        let CarriedOver { carried, elements, along, company, new } = over;
        let lost_element = carried.as_ref().is_some_and(Carried::has_lost);
        let (frame, round) = (chain.seed.frame, chain.round + 1);
        let pos = pos_of(knowledge, chain, &best)?;
        let lexicon = knowledge.lexicon(chain.seed.release)?;
        let unit = lexicon.unit_of(frame, &best.trigger, pos)?;
        let is_new_trigger = lexicon.is_new_trigger(&best.trigger)?;
        let is_new_pair = lexicon.is_new_pair(frame, &best.trigger)?;
        let name = lexicon.unit_name(frame, &best.trigger, pos)?;
        let said = self.verification(lexicon.database(), (chain, &best, &name), goes_on)?;
        let fit = self.fit(chain, &best)?;
        let frames = lexicon.frames_with(&(unit.lemma.clone(), unit.pos));
        let scores = (best.output.score, best.alignment.score);
        let evidence = FilterEvidence::new(round, scores, (unit.is_proposed, frames));
        // Answers that decide nothing change no score: a recipe's sets are the same without them.
        let answers = said.as_ref().filter(|_| self.judged.is_some());
        let filter = self.filter_scores(&evidence.with(fit.as_ref(), answers));
        let Pair { output, alignment, targets, flags, .. } = best;
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
            flags: Flags { lost_element, ..flags },
            paraphrase: output.score,
            aligner: alignment.score,
            filter,
            elements: carried_elements,
            fit,
        };
        let TriggerUnit { lu, proposed, lemma, pos, .. } = unit;
        let made = [Generated {
            frame,
            lu,
            proposed,
            text: output.text,
            targets,
            layers,
            fe_status,
            generation,
            verification: said,
            along,
        }];
        Ok(AcceptedPair { made, lemma, pos, new, is_new_trigger, is_new_pair, elements, company })
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

    /// Looks for the seed's FEs and for the other sets of its sentence in the output that is kept,
    /// and counts what is found.
    fn carry(
        &mut self,
        knowledge: &mut Knowledge<'_>,
        chain: &Chain,
        best: &Pair,
        goes_on: &mut GoesOn<'_>,
    ) -> Result<CarriedOver> {
        let (seed, text) = (&chain.seed, best.output.text.as_str());
        let keep = knowledge.recipe().keep_fe;
        let mut searching = Searching::new(&seed.text, text);
        let is_sought = keep != KeepElements::None && seed.expressed.is_some();
        let elements = is_sought.then(|| Sought::of(seed, &mut searching));
        let company = Company::look_for(&chain.companions, keep, &mut searching);
        let found = searching.ask(self.aligner, seed.set)?;
        let carried = elements.map(|of| of.carried(seed, &found, (text, &best.targets)));
        let elements = match &carried {
            Some(carried) => {
                let core = knowledge.core_elements(seed.release, seed.frame)?;
                Some(CarriedTally::of(&carried.elements, core))
            }
            None => None,
        };
        let morphology = knowledge.lexicon(seed.release)?.morphology().clone();
        let (placed, mut dropped) =
            company.placed(&found, (seed, &morphology), (text, &best.targets), |of, words| {
                other_lu(knowledge, of, words)
            })?;
        let (mut along, mut new) = (Vec::with_capacity(placed.len()), Vec::new());
        for of in placed {
            let trigger = of.new_trigger();
            match self.verified_along(knowledge, of, text, goes_on)? {
                Some(kept) => {
                    along.push(kept);
                    new.extend(trigger);
                }
                None => dropped.push(Dropped::Frame),
            }
        }
        let company = CompanyTally::of((along.len(), new.len()), &dropped);
        Ok(CarriedOver { carried, elements, along, company, new })
    }

    /// A set that is carried along, with what judges say of it where its context changed; none that
    /// they doubt, where the recipe ends chains by them.
    fn verified_along(
        &mut self,
        knowledge: &Knowledge<'_>,
        placed: Placed<'_>,
        text: &str,
        goes_on: &mut GoesOn<'_>,
    ) -> Result<Option<CarriedAlong>> {
        let question = placed.question(text);
        let Placed { companion, mut along, is_in_other_words, .. } = placed;
        let least = knowledge.recipe().least_evokes;
        let judges = match &mut self.judged {
            Some(judged) if least > 0.0 => Some(&mut judged.judges),
            Some(_) => None,
            None => self.judges.as_deref_mut(),
        };
        let Some(judges) = judges.filter(|_| is_in_other_words) else { return Ok(Some(along)) };
        let place = (companion.set.release, along.frame);
        let frame = self.frames.of(knowledge.database(), place)?;
        let questions = [SetQuestion { item: question, source: None }];
        let said = judges.verifications(frame, (&questions, companion.set.set), goes_on)?.pop();
        let evokes = said.as_ref().and_then(|said| said.evokes);
        if self.judged.is_some() && evokes.is_some_and(|evokes| evokes < least) {
            return Ok(None);
        }
        along.verification = said;
        Ok(Some(along))
    }
}

/// What an output has of its seed's FEs and of the other sets of its sentence.
struct CarriedOver {
    carried: Option<Carried>,
    elements: Option<CarriedTally>,
    along: Vec<CarriedAlong>,
    company: CompanyTally,
    /// Triggers that took the place of theirs.
    new: Vec<NewTrigger>,
}

/// The LU that has the place of another set's, where rounds change several targets: one of the
/// lexicon.
fn other_lu(knowledge: &mut Knowledge<'_>, of: &Companion, words: &str) -> Result<Option<OtherLu>> {
    let (set, is_wanted) = (&of.set, knowledge.recipe().targets == Targets::All);
    let lexicon = knowledge.lexicon(set.release)?;
    if !is_wanted || !lexicon.is_own(set.frame, words, set.pos)? {
        return Ok(None);
    }
    let name = lexicon.unit_name(set.frame, words, set.pos)?;
    let TriggerUnit { lu, lemma, pos, .. } = lexicon.unit_of(set.frame, words, set.pos)?;
    Ok((lu != of.lu).then_some(OtherLu { lu, lemma, pos, name }))
}

/// The part of speech of a pair's new trigger: the seed's where the frame has that LU, else what a
/// tagger reads in the sentence. The paper's recipes ask none.
fn pos_of(knowledge: &mut Knowledge<'_>, chain: &Chain, best: &Pair) -> Result<Pos> {
    let (seed, asks) = (&chain.seed, knowledge.recipe().choice != Choice::Aligner);
    let is_own = knowledge.lexicon(seed.release)?.is_own(seed.frame, &best.trigger, seed.pos)?;
    match knowledge.tagger().filter(|_| asks && !is_own) {
        Some(tagger) => word_class::of(tagger, &best.output.text, &best.targets, seed.pos),
        None => Ok(seed.pos),
    }
}
