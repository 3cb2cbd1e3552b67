//! The loop: LU after LU gets a sentence, batch after batch is committed with its journal.
//!
//! What an LU gets depends on the store and the recipe, not on what is generated beside it. The
//! journal of the sister that an LU tries first says that it is done.

use std::collections::{BTreeMap, HashMap};
use std::ops::ControlFlow;
use std::rc::Rc;
use std::time::Instant;

use super::blanks::Actors;
use super::draft::draft;
use super::generator::{Filler, Generator};
use super::language::{Filled, Job};
use super::recipe::{MOST_SOURCES, Recipe};
use super::report::{GenerationProgress, Report, Skip, UNLIKELY};
use super::sisters::Sisters;
use super::worth::Signs;
use super::{Draft, GenerateError, Result};
use crate::database::{Database, JournalWrite, Write};
use crate::decode::{GoesOn, Paced};
use crate::expand::{FitJudge, FrameGap, Unit, lexunits_without_sentences};
use crate::identify::FrameIdentifier;
use crate::model::{
    AnnotationSet, AnnotationSetId, CarriedElement, Extent, FeStatus, Flags, Frame, FrameFit,
    GENERATED, Generation, IdSpace, Layer, LexUnit, Method, Pos, Provenance, RecipeId, ReleaseId,
    Sentence, SentenceId, Span, recipe_fingerprint,
};
use crate::query::Expression;
use crate::score::TextScore;
use crate::store::JournalEntry;

/// LUs of a batch: enough to fill a network's products, few enough that a stopped run loses little.
pub(super) const BATCH: usize = 16;
/// Sentences of sisters that are looked at for an LU.
const MOST_TRIED: usize = MOST_SOURCES;

/// An LU, and what is to become its sentence.
pub(super) struct Plan {
    release: ReleaseId,
    frame: Rc<Frame>,
    lexunit: LexUnit,
    /// Tells the LU apart from others of the frame that share a sister.
    ordinal: u16,
    /// The sister that is tried first, if there is one.
    first: Option<AnnotationSetId>,
    drafts: Vec<Draft>,
    skip: Option<Skip>,
}

/// A sentence that may be stored.
pub(super) struct Candidate {
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

    /// A draft with each filling of its blanks.
    fn all_of(draft: &Draft, filled: &Filled) -> Vec<Self> {
        let (words, old) = (filled.candidates.iter(), draft.words());
        words.map(|words| Self::new(draft.filled(words), *words == old)).collect()
    }
}

/// Gives sentences to the LUs without any for which an expression over LUs holds, telling
/// `progress` after each batch how far it is, and now and then while one is made. If that answers
/// `Break`, the run ends after the step of the network that runs: the batch in flight is dropped,
/// and a later run writes the same in its place.
///
/// LUs that were done under the same recipe are skipped.
///
/// # Errors
/// When the recipe cannot be followed, the expression names what there is not, or asks for
/// annotation, or finds LUs with sentences or without sisters only, a generator fails, or the
/// database does. Batches before that stay; before the first nothing is written.
pub fn run_with(
    database: &Database,
    expression: &Expression,
    recipe: &Recipe,
    generator: &mut Generator,
    progress: &mut dyn FnMut(&GenerationProgress) -> ControlFlow<()>,
) -> Result<Report> {
    let identifier = generator.identifier.clone();
    let models = (generator, identifier.as_deref());
    let (mut run, gaps) = Run::prepared(database, expression, recipe, models)?;
    run.all(gaps, progress)?;
    let Run { mut report, started, generator, .. } = run;
    if generator.reads_as.is_none() {
        report.faithful = None;
    }
    if let Filler::Remote(filler) = &generator.filler {
        report.asked = filler.usage();
    }
    report.elapsed = started.elapsed();
    Ok(report)
}

pub(super) struct Run<'a> {
    pub(super) database: &'a Database,
    judge: Option<FitJudge<'a>>,
    recipe: &'a Recipe,
    generator: &'a mut Generator,
    description: String,
    print: [u8; 16],
    pub(super) report: Report,
    finished: u64,
    actors: HashMap<ReleaseId, Rc<Actors>>,
    started: Instant,
}

impl<'a> Run<'a> {
    /// A run that has done nothing, and the LUs that lack sentences.
    pub(super) fn prepared(
        database: &'a Database,
        expression: &Expression,
        recipe: &'a Recipe,
        (generator, identifier): (&'a mut Generator, Option<&'a FrameIdentifier>),
    ) -> Result<(Self, Vec<FrameGap>)> {
        recipe.check(generator)?;
        let gaps = lexunits_without_sentences(database, expression, &|origin| {
            recipe.lacking.is_met_by(origin)
        })?;
        let description = recipe.description(generator);
        let print = recipe_fingerprint(&description);
        let known = database.store().recipes()?.into_iter().find(|(_, other, _)| *other == print);
        let lexunits = gaps.iter().map(|gap| gap.lexunits.len() as u64).sum();
        let judge = identifier.map(|identifier| FitJudge::new(database, identifier));
        let run = Self {
            database,
            judge,
            recipe,
            generator,
            description,
            print,
            report: Report { lexunits, recipe: known.map(|(id, ..)| id), ..Report::default() },
            finished: 0,
            actors: HashMap::new(),
            started: Instant::now(),
        };
        database
            .check_languages(run.generator.declared(), gaps.iter().map(|gap| gap.release.id))?;
        run.check_sisters(&gaps)?;
        Ok((run, gaps))
    }

    /// Whether an LU was done under the same recipe.
    pub(super) fn is_done(
        &self,
        release: ReleaseId,
        sisters: &Sisters,
        lexunit: &LexUnit,
    ) -> Result<bool> {
        let Some(id) = self.report.recipe else { return Ok(false) };
        let order = sisters.for_lexunit(lexunit, self.recipe.sisters, self.recipe.seed);
        let Some((first, _)) = order.first() else { return Ok(false) };
        let ordinal = sisters.ordinal(lexunit.id);
        Ok(self.database.store().journal(release, first.id, ordinal, id)?.is_some())
    }

    /// Refuses an expression none of whose few LUs can have a sister: whoever names LUs should hear
    /// of it. Of many LUs the report counts those.
    fn check_sisters(&self, gaps: &[FrameGap]) -> Result<()> {
        const FEW: usize = 20;
        let named = || gaps.iter().flat_map(|gap| &gap.lexunits);
        if named().count() > FEW {
            return Ok(());
        }
        for gap in gaps {
            let sisters = Sisters::of(self.database, gap.release.id, &gap.frame)?;
            let has_some = |lu| !sisters.for_lexunit(lu, self.recipe.sisters, 0).is_empty();
            if gap.lexunits.iter().any(has_some) {
                return Ok(());
            }
        }
        let quoted =
            |names: Vec<&str>| names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>();
        Err(GenerateError::NoSisters {
            lexunits: quoted(named().map(|lu| lu.name.as_str()).collect()).join(", "),
            frames: quoted(gaps.iter().map(|gap| gap.frame.name.as_str()).collect()),
        })
    }

    fn all(
        &mut self,
        gaps: Vec<FrameGap>,
        progress: &mut dyn FnMut(&GenerationProgress) -> ControlFlow<()>,
    ) -> Result<()> {
        let mut batch = Vec::new();
        let (mut taken, most) = (0, self.recipe.limit.unwrap_or(usize::MAX));
        for FrameGap { release, frame, lexunits } in gaps {
            let sisters = Sisters::of(self.database, release.id, &frame)?;
            let frame = Rc::new(frame);
            for lexunit in lexunits {
                if self.report.out_of_budget || self.report.interrupted || taken >= most {
                    self.report.left += 1;
                    continue;
                }
                let Some(plan) = self.plan(release.id, &frame, &sisters, lexunit)? else {
                    self.report.done_before += 1;
                    self.finished += 1;
                    continue;
                };
                taken += 1;
                batch.push(plan);
                if batch.len() == BATCH {
                    self.batch(std::mem::take(&mut batch), progress)?;
                }
            }
        }
        self.batch(batch, progress)
    }

    /// What is to become of an LU; none if it is done.
    pub(super) fn plan(
        &mut self,
        release: ReleaseId,
        frame: &Rc<Frame>,
        sisters: &Sisters,
        lexunit: LexUnit,
    ) -> Result<Option<Plan>> {
        let Recipe { sisters: rule, seed, .. } = *self.recipe;
        if self.is_done(release, sisters, &lexunit)? {
            return Ok(None);
        }
        let order = sisters.for_lexunit(&lexunit, rule, seed);
        let first = order.first().map(|(set, _)| set.id);
        let ordinal = sisters.ordinal(lexunit.id);
        let mut drafts = Vec::new();
        let mut skip = order.is_empty().then_some(Skip::NoSister);
        if Unit::of(&lexunit).is_pattern {
            skip = Some(Skip::Pattern);
        }
        let wanted = self.recipe.drafts();
        let actors = self.actors_of(release)?;
        let tried = order.into_iter().take(if skip.is_some() { 0 } else { MOST_TRIED });
        for sister in tried {
            let reason = match draft(self.database, (release, frame, &actors), &lexunit, sister)? {
                Ok(draft) if self.recipe.method == Method::Infill && draft.blanks.is_empty() => {
                    Skip::NoBlank
                }
                Ok(draft) => {
                    drafts.push(draft);
                    if drafts.len() == wanted {
                        break;
                    }
                    continue;
                }
                Err(reason) => reason,
            };
            *self.report.passed_over.entry(reason).or_default() += 1;
            skip = Some(reason);
        }
        let skip = skip.filter(|_| drafts.is_empty());
        Ok(Some(Plan { release, frame: Rc::clone(frame), lexunit, ordinal, first, drafts, skip }))
    }

    fn actors_of(&mut self, release: ReleaseId) -> Result<Rc<Actors>> {
        if let Some(known) = self.actors.get(&release) {
            return Ok(Rc::clone(known));
        }
        let actors = Rc::new(Actors::of(self.database, release)?);
        self.actors.insert(release, Rc::clone(&actors));
        Ok(actors)
    }

    /// Generates for a batch and commits it. One whose budget ends is left to a later run, but for
    /// the LUs before that.
    fn batch(
        &mut self,
        mut plans: Vec<Plan>,
        progress: &mut dyn FnMut(&GenerationProgress) -> ControlFlow<()>,
    ) -> Result<()> {
        if plans.is_empty() {
            return Ok(());
        }
        let before = self.report.clone();
        let (at, mut paced) = (self.progress(), Paced::new());
        let made = self.made(&mut plans, &mut || paced.ask(|| progress(&at)));
        let candidates = match made {
            Err(error) if error.is_stopped() => {
                let left = before.left + plans.len() as u64;
                self.report = Report { interrupted: true, left, ..before };
                return Ok(());
            }
            made => made?,
        };
        self.generator.check_files()?;
        if !plans.is_empty() {
            self.store(&plans, candidates)?;
        }
        self.finished += plans.len() as u64;
        self.report.interrupted |= progress(&self.progress()).is_break();
        Ok(())
    }

    fn progress(&self) -> GenerationProgress {
        let most = self.recipe.limit.map_or(u64::MAX, |limit| limit as u64);
        GenerationProgress {
            lexunits: self.finished,
            of: self.report.lexunits.min(self.report.done_before.saturating_add(most)),
            sentences: self.report.sentences,
        }
    }

    /// The candidates of a batch. Plans that a budget does not reach are left out.
    pub(super) fn made(
        &mut self,
        plans: &mut Vec<Plan>,
        goes_on: &mut GoesOn<'_>,
    ) -> Result<Vec<Vec<Candidate>>> {
        let filled = self.fill(plans, goes_on)?;
        self.report.left += (plans.len() - filled.len()) as u64;
        plans.truncate(filled.len());
        self.candidates(plans, filled, goes_on)
    }

    /// Words for the blanks of each draft of each plan, in order of plans; those of fewer plans
    /// where a budget ended.
    fn fill(&mut self, plans: &[Plan], goes_on: &mut GoesOn<'_>) -> Result<Vec<Vec<Filled>>> {
        if self.recipe.method != Method::Infill {
            let unfilled = |plan: &Plan| vec![Filled::default(); plan.drafts.len()];
            return Ok(plans.iter().map(unfilled).collect());
        }
        let jobs = plans.iter().flat_map(|plan| {
            let (frame, lexunit) = (&plan.frame.name, &plan.lexunit.name);
            plan.drafts.iter().map(move |draft| Job { draft, frame, lexunit })
        });
        let jobs: Vec<Job<'_>> = jobs.collect();
        let answers = self.generator.fill(&jobs, self.recipe, goes_on)?;
        self.report.out_of_budget |= answers.len() < jobs.len();
        let mut answers = answers.into_iter();
        let mut filled = Vec::with_capacity(plans.len());
        for plan in plans {
            let of_plan: Vec<Filled> = answers.by_ref().take(plan.drafts.len()).collect();
            if of_plan.len() < plan.drafts.len() {
                break;
            }
            filled.push(of_plan);
        }
        Ok(filled)
    }

    /// The candidates of each plan that may be stored, the best first.
    fn candidates(
        &mut self,
        plans: &mut [Plan],
        filled: Vec<Vec<Filled>>,
        goes_on: &mut GoesOn<'_>,
    ) -> Result<Vec<Vec<Candidate>>> {
        let mut all = Vec::with_capacity(plans.len());
        for (plan, filled) in plans.iter_mut().zip(filled) {
            if goes_on().is_break() {
                return Err(GenerateError::stopped());
            }
            let mut candidates = Vec::new();
            for (draft, filled) in plan.drafts.iter().zip(filled) {
                self.report.count(draft, &filled);
                plan.skip = plan.skip.or(filled.skip);
                match self.recipe.method {
                    Method::Infill => candidates.extend(Candidate::all_of(draft, &filled)),
                    _ => candidates.push(Candidate::new(draft.clone(), false)),
                }
            }
            self.report.candidates += candidates.len() as u64;
            let had_some = !candidates.is_empty();
            let mut candidates = self.faithful(plan, candidates)?;
            if had_some && candidates.is_empty() {
                plan.skip = Some(Skip::Unfaithful);
            }
            self.fit(plan, &mut candidates)?;
            self.score(&mut candidates, goes_on)?;
            candidates.sort_by(|a, b| b.worth.total_cmp(&a.worth));
            candidates.truncate(self.recipe.keep);
            let had_some = !candidates.is_empty();
            candidates.retain(|candidate| candidate.worth >= self.recipe.least);
            if had_some && candidates.is_empty() {
                plan.skip = Some(Skip::Doubtful);
            }
            all.push(candidates);
        }
        Ok(all)
    }

    /// The candidates whose blanks are all read as their FEs; all of them without a classifier.
    fn faithful(&mut self, plan: &Plan, candidates: Vec<Candidate>) -> Result<Vec<Candidate>> {
        let mut faithful = Vec::new();
        for mut candidate in candidates {
            let read = self.generator.read(&plan.frame, &plan.lexunit.name, &candidate.draft)?;
            let Some(read) = read else {
                faithful.push(candidate);
                continue;
            };
            candidate.read = read.into_iter().collect();
            if candidate.read.is_some() {
                faithful.push(candidate);
            }
        }
        *self.report.faithful.get_or_insert_default() += faithful.len() as u64;
        Ok(faithful)
    }

    /// Says how likely the frame is at the LU, where a frame model knows.
    fn fit(&mut self, plan: &Plan, candidates: &mut [Candidate]) -> Result<()> {
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

    /// Scores candidates by the language model, where there is one, beside the sentences that they
    /// were made of.
    fn score(&mut self, candidates: &mut [Candidate], goes_on: &mut GoesOn<'_>) -> Result<()> {
        let sources: BTreeMap<AnnotationSetId, &str> =
            candidates.iter().map(|of| (of.draft.sister, of.draft.source.as_str())).collect();
        let texts = candidates.iter().map(|of| of.draft.text.as_str());
        let scores = self.generator.score(texts.chain(sources.values().copied()), goes_on)?;
        let Some(scores) = scores else { return Ok(()) };
        let mean = |score: &Option<TextScore>| {
            score.as_ref().map(|score| (-score.log_prob / score.tokens as f64) as f32)
        };
        let (scores, of_sources) = scores.split_at(candidates.len());
        let of_sources: BTreeMap<AnnotationSetId, Option<f32>> =
            sources.into_keys().zip(of_sources.iter().map(mean)).collect();
        let is_infill = self.recipe.method == Method::Infill;
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

    /// Writes a batch with its journal, a commit for each release.
    fn store(&mut self, plans: &[Plan], candidates: Vec<Vec<Candidate>>) -> Result<()> {
        let id = self.database.store().recipe(self.print, &self.description)?;
        self.report.recipe = Some(id);
        let mut writes: BTreeMap<ReleaseId, Write> = BTreeMap::new();
        for (plan, candidates) in plans.iter().zip(candidates) {
            let write = writes.entry(plan.release).or_default();
            // By the sister that each was made of: removals look there.
            let mut chains: BTreeMap<AnnotationSetId, Vec<AnnotationSetId>> =
                plan.first.into_iter().map(|first| (first, Vec::new())).collect();
            let written = candidates.len() as u64;
            let fits = candidates.iter().filter_map(|candidate| candidate.fit.as_ref());
            self.report.unlikely += fits.filter(|fit| fit.probability < UNLIKELY).count() as u64;
            for (rank, candidate) in candidates.into_iter().enumerate() {
                let sister = candidate.draft.sister;
                let set = self.set(plan, candidate, (id, rank as u16), write)?;
                chains.entry(sister).or_default().push(set);
            }
            let skip = plan.skip.filter(|_| written == 0);
            let fate = self.report.fates.entry(Pos::of_lu_name(&plan.lexunit.name)).or_default();
            match skip {
                Some(skip) => *fate.skipped.entry(skip).or_default() += 1,
                None => fate.given += 1,
            }
            self.report.sentences += written;
            let end = skip.map(|reason| reason.as_str().to_owned());
            for (seed, chain) in chains {
                let entry = JournalEntry { round: 1, end: end.clone(), chain };
                let target = plan.ordinal;
                write.journal.push(JournalWrite { seed, target, recipe: id, entry });
            }
        }
        for (release, write) in writes {
            if !write.is_empty() {
                self.database.write(release, &write)?;
            }
        }
        Ok(())
    }

    /// Puts a candidate among what is to be written, and says its id.
    fn set(
        &mut self,
        plan: &Plan,
        candidate: Candidate,
        (recipe, rank): (RecipeId, u16),
        write: &mut Write,
    ) -> Result<AnnotationSetId> {
        let Candidate { draft, score, read, fit, is_copy, .. } = candidate;
        let generation = Generation {
            seed: draft.sister,
            source: draft.sister,
            target_ordinal: plan.ordinal,
            round: 1,
            rank,
            chain: Vec::new(),
            method: self.recipe.method,
            recipe,
            flags: Flags { copy: is_copy, ..Flags::default() },
            paraphrase: score,
            aligner: 1.0,
            filter: None,
            fit,
            elements: elements(&draft, read.as_deref()),
        };
        let id = self.free_id(plan, &generation, write)?;
        let sentence = SentenceId::new(IdSpace::Generated, id.number());
        let mut layers = vec![Layer::of_targets(&[draft.target])];
        layers.extend(draft.layers);
        write.sentences.push(Sentence {
            id: sentence,
            xml_id: None,
            text: draft.text,
            occurrences: Vec::new(),
        });
        write.sets.push(AnnotationSet {
            id,
            xml_id: None,
            sentence,
            frame: plan.frame.id,
            lu: plan.lexunit.id,
            status: GENERATED.to_owned(),
            created: String::new(),
            targets: vec![draft.target],
            fe_status: FeStatus::Carried,
            layers,
            provenance: Provenance::Generated(Box::new(generation)),
        });
        Ok(id)
    }

    /// The natural id of a set, or the next number that no other set has.
    fn free_id(
        &self,
        plan: &Plan,
        generation: &Generation,
        write: &Write,
    ) -> Result<AnnotationSetId> {
        let mut id = generation.natural_id(plan.frame.id, &self.print);
        loop {
            let stored = self.database.store().annotation_set(plan.release, id)?;
            let is_same = |set: &AnnotationSet| match &set.provenance {
                Provenance::Generated(there) => {
                    set.lu == plan.lexunit.id && there.is_same_output(generation)
                }
                _ => false,
            };
            let is_pending = write.sets.iter().any(|set| set.id == id);
            if !is_pending && stored.as_ref().is_none_or(is_same) {
                return Ok(id);
            }
            id = id.next();
        }
    }
}

/// The FEs with words, with what a classifier said of those that are new.
fn elements(draft: &Draft, read: Option<&[f32]>) -> Vec<CarriedElement> {
    let labels = draft.layers.iter().filter(|layer| layer.name == crate::model::LayerName::Fe);
    let labels = labels.flat_map(|layer| &layer.labels);
    let element = |label: &crate::model::Label| {
        let Extent::Overt(span) = label.extent else { return None };
        let blank = draft.blanks.iter().position(|blank| blank.span == span);
        let score = blank.and_then(|at| read?.get(at).copied()).unwrap_or(1.0);
        Some(CarriedElement { name: label.name.clone(), score: Some(score) })
    };
    labels.filter_map(element).collect()
}
