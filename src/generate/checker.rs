//! Which candidates of an LU are written: those whose new words are read as their FEs, first the
//! ones that a judge would most likely accept. A verifier is asked about those that are kept.

use std::collections::BTreeMap;

use super::candidate_ranker::Signs;
use super::job::Filled;
use super::placement::{Placement, Shared};
use super::report::Skip;
use super::{Draft, GenerateError, GenerationRecipe, Result};
use crate::engine::GoesOn;
use crate::expand::{FitJudge, SetQuestion};
use crate::grow::{Checker, Generated, Proposer, Verdict};
use crate::model::{
    AnnotationSetId, CarriedElement, Extent, FeStatus, Flags, FrameFit, Generation, Label,
    LayerName, Method, RecipeId, Span,
};
use crate::score::TextScore;
use crate::verify::EvokesItem;

/// A sentence that may be stored.
struct Candidate {
    draft: Draft,
    /// Mean negative log-likelihood of its tokens; infinite where nothing scored it.
    score: f32,
    /// Probability that a judge accepts it; 0 where nothing scored it.
    worth: f32,
    /// Probability of the FE of each blank, where a classifier read it.
    read: Option<Vec<f32>>,
    /// Probability of the frame at the LU, where a frame model says so.
    fit: Option<FrameFit>,
    is_copy: bool,
}

impl Candidate {
    fn new(draft: Draft, is_copy: bool) -> Self {
        Self { draft, score: f32::INFINITY, worth: 0.0, read: None, fit: None, is_copy }
    }

    /// A draft with each filling of its blanks, or as it is where nothing is filled.
    fn all_of(method: Method, draft: &Draft, filled: &Filled) -> Vec<Self> {
        if method != Method::Infill {
            return vec![Self::new(draft.clone(), false)];
        }
        let (words, old) = (filled.candidates.iter(), draft.words());
        words.map(|words| Self::new(draft.filled(words), *words == old)).collect()
    }

    /// What is written of it.
    fn generated(
        self,
        plan: &Placement,
        recipe: (RecipeId, &GenerationRecipe),
        rank: u16,
    ) -> Generated {
        let Self { draft, score, read, fit, is_copy, .. } = self;
        let generation = Generation {
            seed: draft.sister,
            source: draft.sister,
            target_ordinal: plan.ordinal,
            round: 1,
            rank,
            chain: Vec::new(),
            method: recipe.1.method,
            recipe: recipe.0,
            flags: Flags { copy: is_copy, ..Flags::default() },
            paraphrase: score,
            aligner: 1.0,
            filter: None,
            fit,
            elements: elements(&draft, read.as_deref()),
        };
        Generated {
            frame: plan.frame.id,
            lu: plan.lexunit.id,
            proposed: None,
            text: draft.text,
            targets: vec![draft.target],
            layers: draft.layers,
            fe_status: FeStatus::Carried,
            generation,
            verification: None,
            along: Vec::new(),
        }
    }
}

/// The FEs with words, with what a classifier said of those that are new.
fn elements(draft: &Draft, read: Option<&[f32]>) -> Vec<CarriedElement> {
    let labels = draft.layers.iter().filter(|layer| layer.name == LayerName::Fe);
    let labels = labels.flat_map(|layer| &layer.labels);
    let element = |label: &Label| {
        let Extent::Overt(span) = label.extent else { return None };
        let blank = draft.blanks.iter().position(|blank| blank.span == span);
        let score = blank.and_then(|at| read?.get(at).copied()).unwrap_or(1.0);
        Some(CarriedElement { name: label.name.clone(), score: Some(score) })
    };
    labels.filter_map(element).collect()
}

/// The models that candidates pass, beside those of the generator.
pub(super) struct CandidateChecker<'a> {
    pub(super) recipe: RecipeId,
    /// Says how likely frames are, where there is a frame model.
    pub(super) judge: Option<FitJudge<'a>>,
}

impl<'a, P> Checker<P> for CandidateChecker<'_>
where
    P: Proposer<
            Shared = Shared<'a>,
            Work = Placement,
            Outputs = Vec<Filled>,
            Error = GenerateError,
        >,
{
    fn check(
        &mut self,
        shared: &mut Shared<'a>,
        plan: &mut Placement,
        filled: Vec<Filled>,
        goes_on: &mut GoesOn<'_>,
    ) -> Result<Verdict<Placement>> {
        if goes_on().is_break() {
            return Err(GenerateError::stopped());
        }
        let mut candidates = Vec::new();
        for (draft, filled) in plan.drafts.iter().zip(&filled) {
            plan.part.count(draft, filled);
            candidates.extend(Candidate::all_of(shared.recipe.method, draft, filled));
        }
        let mut skip = filled.iter().find_map(|filled| filled.skip).unwrap_or(Skip::Rejected);
        plan.part.candidates += candidates.len() as u64;
        let had_some = !candidates.is_empty();
        let mut candidates = faithful(shared, plan, candidates)?;
        if had_some && candidates.is_empty() {
            skip = Skip::Unfaithful;
        }
        self.fit(plan, &mut candidates)?;
        score(shared, &mut candidates, goes_on)?;
        candidates.sort_by(|a, b| b.worth.total_cmp(&a.worth));
        candidates.truncate(shared.recipe.keep);
        let had_some = !candidates.is_empty();
        candidates.retain(|candidate| candidate.worth >= shared.recipe.least);
        if candidates.is_empty() {
            return Ok(Verdict::Refuse(if had_some { Skip::Doubtful } else { skip }));
        }
        let recipe = (self.recipe, shared.recipe);
        let generated = (0..).zip(candidates).map(|(rank, of)| of.generated(plan, recipe, rank));
        let mut generated: Vec<Generated> = generated.collect();
        verify(shared, plan, &mut generated, goes_on)?;
        Ok(Verdict::Accept(generated))
    }
}

impl CandidateChecker<'_> {
    /// Says how likely the frame is at the LU, where a frame model knows.
    fn fit(&mut self, plan: &Placement, candidates: &mut [Candidate]) -> Result<()> {
        let Some(judge) = &mut self.judge else { return Ok(()) };
        let drafts = candidates.iter().map(|of| &of.draft);
        let sentences: Vec<(&str, &[Span])> =
            drafts.map(|of| (of.text.as_str(), std::slice::from_ref(&of.target))).collect();
        let fits = judge.fits_of((plan.release, plan.frame.id), &sentences)?;
        for (candidate, fit) in candidates.iter_mut().zip(fits) {
            candidate.fit = fit;
        }
        Ok(())
    }
}

/// Asks the verifier, where there is one, about the sentences of an LU. They are another's with
/// other words, so they need not say what it says: one question is asked.
fn verify(
    shared: &mut Shared<'_>,
    plan: &Placement,
    kept: &mut [Generated],
    goes_on: &mut GoesOn<'_>,
) -> Result<()> {
    let Some(judges) = &mut shared.generator.judges else { return Ok(()) };
    let frame = shared.frames.of(shared.database, (plan.release, plan.frame.id))?;
    let question = |made: &Generated| SetQuestion {
        item: EvokesItem {
            text: made.text.clone(),
            targets: made.targets.clone(),
            lexunit: Some(plan.lexunit.name.clone()),
        },
        source: None,
    };
    let questions: Vec<SetQuestion> = kept.iter().map(question).collect();
    let Some(first) = kept.first().map(|made| made.generation.seed) else { return Ok(()) };
    let said = judges.verifications(frame, (&questions, first), goes_on)?;
    for (made, said) in kept.iter_mut().zip(said) {
        made.verification = Some(said);
    }
    Ok(())
}

/// The candidates whose blanks are all read as their FEs; all of them without a classifier.
fn faithful(
    shared: &mut Shared<'_>,
    plan: &mut Placement,
    candidates: Vec<Candidate>,
) -> Result<Vec<Candidate>> {
    let mut faithful = Vec::new();
    for mut candidate in candidates {
        let read = shared.generator.read(&plan.frame, &plan.lexunit.name, &candidate.draft)?;
        let Some(read) = read else {
            faithful.push(candidate);
            continue;
        };
        candidate.read = read.into_iter().collect();
        if candidate.read.is_some() {
            faithful.push(candidate);
        }
    }
    *plan.part.faithful.get_or_insert_default() += faithful.len() as u64;
    Ok(faithful)
}

/// Scores candidates by the language model, where there is one, beside the sentences that they were
/// made of.
fn score(
    shared: &mut Shared<'_>,
    candidates: &mut [Candidate],
    goes_on: &mut GoesOn<'_>,
) -> Result<()> {
    let sources: BTreeMap<AnnotationSetId, &str> =
        candidates.iter().map(|of| (of.draft.sister, of.draft.source.as_str())).collect();
    let texts = candidates.iter().map(|of| of.draft.text.as_str());
    let scores = shared.generator.score(texts.chain(sources.values().copied()), goes_on)?;
    let Some(scores) = scores else { return Ok(()) };
    let mean = |score: &Option<TextScore>| {
        score.as_ref().map(|score| (-score.log_prob / score.tokens as f64) as f32)
    };
    let (scores, of_sources) = scores.split_at(candidates.len());
    let of_sources: BTreeMap<AnnotationSetId, Option<f32>> =
        sources.into_keys().zip(of_sources.iter().map(mean)).collect();
    let is_infill = shared.recipe.method == Method::Infill;
    for (candidate, score) in candidates.iter_mut().zip(scores) {
        // What cannot be scored comes last.
        let Some(surprise) = mean(score) else { continue };
        let of_sister = of_sources[&candidate.draft.sister].unwrap_or(surprise);
        let blanks = if is_infill { candidate.draft.blanks.len() } else { 0 };
        let signs = Signs {
            surprise,
            of_sister,
            words: candidate.draft.text.split_whitespace().count(),
            blanks,
            read: candidate.read.as_deref().filter(|_| is_infill),
            fit: candidate.fit.map(|fit| fit.probability),
        };
        candidate.score = surprise;
        candidate.worth = signs.worth();
    }
    Ok(())
}
