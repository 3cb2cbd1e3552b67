//! The loop: many seeds in flight, outputs aligned, everything committed with its journal.
//!
//! A seed's outputs depend on the seed and the recipe alone, not on what is rewritten beside it.
//! Ids are hashes of what a set is, the CPU's networks give the same bits in every batch, and the
//! search treats each sentence by itself. So runs that were stopped, split or ordered otherwise
//! agree.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::ControlFlow;
use std::rc::Rc;
use std::time::{Duration, Instant};

use super::attempt::{Attempt, Next};
use super::blindness::HeldOut;
use super::chain::{Chain, Seed, TARGET};
use super::elements::{self, Carried, KeepElements};
use super::fitting::FitJudge;
use super::guide::Guide;
use super::in_context;
use super::model_files::ModelFiles;
use super::opened::Opened;
use super::pace::{self, Measurement, Pace};
use super::ranking::Pair;
use super::rewording::Rewording;
use super::shard::{Shard, ShardWriter};
use super::trigger_lexicon::TriggerLexicon;
use super::{EndReason, ExpansionProgress, Guidance, Kept, Recipe, Report, Result};
use crate::align::Aligner;
use crate::database::{Database, Write};
use crate::decode::{GoesOn, Paced, SourceId};
use crate::endpoint::EndpointError;
use crate::filter::Filter;
use crate::model::{AnnotationSetId, CoreType, FrameId, RecipeId, ReleaseId};
use crate::paraphrase::{ParaphraseError, Refusal, Rounds};
use crate::query::{Expression, Selection};
use crate::store::JournalEntry;
use crate::tag::Tagger;

/// Sentences in flight on the CPU: enough to fill the rewriter's batches while others wait for the
/// aligner. Devices of larger batches take more.
const IN_FLIGHT: usize = 32;

/// Outputs gathered before a commit, unless [`COMMIT_AFTER`] has passed: a commit waits for the
/// disk and makes an index segment, a killed run loses what was not committed.
const COMMIT_OUTPUTS: usize = 128;
/// Time between commits.
const COMMIT_AFTER: Duration = Duration::from_secs(2);

/// Expands every human annotation set for which the expression holds.
///
/// What was done before under the same recipe is skipped; a run that was stopped resumes where its
/// last commit left it.
///
/// # Errors
/// When a model cannot be opened, the recipe's numbers are out of range, the expression names what
/// the database does not hold, or a network or the database fails.
pub fn run(database: &Database, expression: &Expression, recipe: &Recipe) -> Result<Report> {
    run_with(database, expression, recipe, &mut |_| ControlFlow::Continue(()))
}

/// As [`run`], telling `progress` after each round of each seed how far it is, and now and then
/// within rounds. If that answers `Break`, the run ends after the step of the decoder that runs:
/// what is finished is committed, rounds in flight are dropped, and the report says that the run
/// was interrupted. A later run makes those rounds anew, with the same ids and texts.
///
/// # Errors
/// As [`run`].
pub fn run_with(
    database: &Database,
    expression: &Expression,
    recipe: &Recipe,
    progress: &mut dyn FnMut(&ExpansionProgress) -> ControlFlow<()>,
) -> Result<Report> {
    let human = human_sets(expression);
    // Names that are not there are found before anything is loaded or written.
    drop(database.query(&human)?);
    if let Some(blind_to) = &recipe.blind_to {
        blind_to.held_out(database)?;
    }
    let mut opened = Opened::open(recipe)?;
    let (id, is_known) = database.store().recipe_number(opened.print())?;
    let unwritten = (!is_known).then(|| opened.description.clone());
    let keep = Keep::Everything(unwritten);
    let told = (&human, recipe);
    let (report, _) = run_keeping(database, told, &mut opened, id, keep, progress)?;
    // A report names a recipe that is there, also of a run that had nothing to write.
    let id = database.store().recipe(opened.print(), &opened.description)?;
    Ok(Report { recipe: id, ..report })
}

/// Expands under models that are open; gives back what was kept, too.
pub(super) fn run_keeping(
    database: &Database,
    (human, recipe): (&Expression, &Recipe),
    opened: &mut Opened,
    id: RecipeId,
    keep: Keep,
    progress: &mut dyn FnMut(&ExpansionProgress) -> ControlFlow<()>,
) -> Result<(Report, Keep)> {
    let (print, declared) = (opened.print(), opened.declared());
    let Opened { rewriter, aligner, guide, filter, identifier, files, .. } = opened;
    let leaks_before = rewriter.leaks();
    let (guide, tagger) = guide.take().unzip();
    let knows_word = |word: &str| rewriter.knows_word(word);
    let guide = guide.map(|vectors| {
        let guide = Guide::new(recipe.guidance, vectors, knows_word);
        guide.unattested_only(recipe.from_sisters.clone()).with_few(recipe.few_lus)
    });
    let mut session = rewriter.rounds(recipe.settings())?;
    let mut run = Run::new(database, recipe, (id, print), aligner, (guide, tagger));
    (run.keeps, run.files) = (keep, std::mem::take(files));
    if let Some(blind_to) = &recipe.blind_to {
        run.held_out = Rc::new(blind_to.held_out(database)?);
    }
    run.report.kept = filter.as_ref().map(Kept::of);
    run.filter = filter.take();
    run.judge = identifier.as_ref().map(|identifier| FitJudge::new(database, identifier));
    let todo = run.find_seeds(human)?;
    database.check_languages(&declared, todo.iter().map(|seed| seed.release))?;
    run.expand(&mut session, todo, progress)?;
    drop(session);
    let (mut report, keep) = (run.report, run.keeps);
    report.leaks = rewriter.leaks() - leaks_before;
    report.asked = rewriter.usage();
    Ok((report, keep))
}

/// Told how far a run is, and asked whether it goes on.
pub(super) type OnProgress<'a> = dyn FnMut(&ExpansionProgress) -> ControlFlow<()> + 'a;

/// What of a run's outputs is written.
pub(super) enum Keep {
    /// All of them, with the journal, and before the first the recipe's description if the store
    /// does not have it yet: a run that fails before its first output leaves nothing.
    Everything(Option<String>),
    /// Nothing: some seeds of a part, or of all, are made to see how long they take.
    Measured(Measurement),
    /// All of them, in the file of a shard.
    InShard(Box<ShardWriter>),
}

impl Keep {
    /// The part of the seeds that the run takes; `None` for all.
    fn shard(&self) -> Option<Shard> {
        match self {
            Self::Everything(_) => None,
            Self::Measured(measurement) => measurement.shard,
            Self::InShard(writer) => Some(writer.shard()),
        }
    }
}

/// The human sets for which an expression holds: what is generated is not expanded again.
pub(super) fn human_sets(expression: &Expression) -> Expression {
    let human = "origin!=generated".parse().expect("a constant query, which every run reads");
    Expression::conjunction([expression.clone(), human])
}

/// A seed that is not through all rounds, and how far it is.
struct Todo {
    release: ReleaseId,
    set: AnnotationSetId,
    journal: Option<JournalEntry>,
    /// What its sentence adds to the time of a round, where that is measured.
    weight: f64,
}

/// A seed that is being rewritten.
struct InFlight {
    chain: Chain,
    attempt: Attempt,
    /// When its round began.
    since: Instant,
}

pub(super) struct Run<'a> {
    pub(super) database: &'a Database,
    pub(super) recipe: &'a Recipe,
    pub(super) id: RecipeId,
    pub(super) print: [u8; 16],
    pub(super) aligner: &'a Aligner,
    pub(super) lexicons: HashMap<ReleaseId, TriggerLexicon<'a>>,
    /// Names of the core FEs of frames.
    core_elements: HashMap<(ReleaseId, FrameId), BTreeSet<String>>,
    held_out: Rc<HeldOut>,
    pub(super) guide: Option<Guide>,
    pub(super) tagger: Option<Tagger>,
    pub(super) filter: Option<Filter>,
    /// Says how likely frames are, where the recipe asks.
    pub(super) judge: Option<FitJudge<'a>>,
    /// Rows that wait for the next commit.
    pub(super) writes: BTreeMap<ReleaseId, Write>,
    pub(super) last_commit: Instant,
    started: Instant,
    finished_seeds: u64,
    pace: Pace,
    pub(super) report: Report,
    pub(super) keeps: Keep,
    pub(super) files: ModelFiles,
}

impl<'a> Run<'a> {
    fn new(
        database: &'a Database,
        recipe: &'a Recipe,
        (id, print): (RecipeId, [u8; 16]),
        aligner: &'a Aligner,
        (guide, tagger): (Option<Guide>, Option<Tagger>),
    ) -> Self {
        let now = Instant::now();
        Self {
            database,
            recipe,
            id,
            print,
            aligner,
            lexicons: HashMap::new(),
            core_elements: HashMap::new(),
            held_out: Rc::default(),
            guide,
            tagger,
            filter: None,
            judge: None,
            writes: BTreeMap::new(),
            last_commit: now,
            started: now,
            finished_seeds: 0,
            pace: Pace::default(),
            report: Report { recipe: id, guidance: recipe.guidance, ..Report::default() },
            keeps: Keep::Measured(Measurement::default()),
            files: ModelFiles::default(),
        }
    }

    /// The human sets that match and are not through all rounds.
    fn find_seeds(&mut self, human: &Expression) -> Result<Vec<Todo>> {
        let (mut todo, mut places) = (Vec::new(), 0);
        for found in self.database.matches(human, &Selection::default())? {
            let found = found?;
            let (release, set) = (found.release(), found.set().id);
            let place = places;
            places += 1;
            if self.keeps.shard().is_some_and(|shard| !shard.takes(place)) {
                continue;
            }
            self.report.seeds += 1;
            if matches!(&self.keeps, Keep::InShard(writer) if writer.has(set)) {
                self.report.done_before += 1;
                continue;
            }
            let weight = match self.keeps {
                Keep::Measured(_) => pace::weight(found.text()?.as_deref().unwrap_or_default()),
                _ => 0.0,
            };
            let journal = self.database.store().journal(release, set, TARGET, self.id)?;
            let Some(entry) = journal else {
                todo.push(Todo { release, set, journal, weight });
                continue;
            };
            let end = entry.end.as_deref().and_then(EndReason::parse);
            if let Some(reason) = end {
                *self.report.ended_before.entry(reason).or_default() += 1;
            }
            if end.is_some() || entry.round >= self.recipe.rounds {
                self.report.done_before += 1;
            } else {
                todo.push(Todo { release, set, journal: Some(entry), weight });
            }
        }
        self.finished_seeds = self.report.done_before;
        let taken = self.recipe.seed_limit.unwrap_or(usize::MAX).min(todo.len());
        self.report.left = (todo.len() - taken) as u64;
        todo.truncate(taken);
        self.pace = Pace::of(todo.iter().map(|seed| self.missing(seed)).sum());
        Ok(todo)
    }

    /// Rounds that are before a seed.
    fn missing(&self, seed: &Todo) -> u64 {
        let done = seed.journal.as_ref().map_or(0, |entry| entry.round);
        u64::from(self.recipe.rounds.saturating_sub(done))
    }

    /// A seed ended without another round, after so many; at once, if this run made none of them.
    fn seed_ended(&mut self, rounds: u16, at_once: bool) {
        self.finished_seeds += 1;
        let behind = u64::from(self.recipe.rounds.saturating_sub(rounds));
        self.pace.ended(behind, at_once);
    }

    fn expand(
        &mut self,
        session: &mut Rounds<'_>,
        todo: Vec<Todo>,
        progress: &mut dyn FnMut(&ExpansionProgress) -> ControlFlow<()>,
    ) -> Result<()> {
        self.started = Instant::now();
        self.last_commit = self.started;
        let outcome = self.work(session, todo, progress);
        // What was finished before a failure is kept.
        let committed = self.commit();
        self.report.elapsed = self.started.elapsed();
        outcome.and(committed)
    }

    fn work(
        &mut self,
        session: &mut Rounds<'_>,
        todo: Vec<Todo>,
        progress: &mut dyn FnMut(&ExpansionProgress) -> ControlFlow<()>,
    ) -> Result<()> {
        // What is measured are some seeds out of all.
        let measures = matches!(self.keeps, Keep::Measured(_));
        let missing: Vec<_> = match measures {
            true => todo.iter().map(|seed| (self.missing(seed), seed.weight)).collect(),
            false => Vec::new(),
        };
        let mut todo = if measures { pace::spread(todo) } else { todo }.into_iter();
        let mut in_flight: HashMap<SourceId, InFlight> = HashMap::new();
        let rows = self.recipe.device.rows_at_once();
        let most = match session.share_work() {
            true => IN_FLIGHT.max(rows / self.recipe.beam_size.max(1)),
            false => 1,
        };
        self.report.interrupted = progress(&self.progress(0)).is_break();
        let (mut paced, started) = (Paced::new(), self.started);
        let mut ask = |at: &ExpansionProgress, pace: &Pace, progress: &mut OnProgress<'_>| {
            let is_enough = measures && pace.is_enough(0, started);
            paced.ask(|| if is_enough { ControlFlow::Break(()) } else { progress(at) })
        };
        loop {
            while !self.report.interrupted && in_flight.len() < most {
                let Some(next) = todo.next() else { break };
                let (at, pace) = (self.progress(in_flight.len()), self.pace);
                match self.begin(session, next, &mut || ask(&at, &pace, progress)) {
                    Err(error) if error.is_stopped() => self.report.interrupted = true,
                    begun => in_flight.extend(begun?),
                }
                self.step_ended(in_flight.len(), progress)?;
            }
            if measures
                && (self.report.interrupted || self.pace.is_enough(in_flight.len(), started))
            {
                self.foresee(in_flight.values(), &missing);
                return Ok(());
            }
            // Rounds in flight are made anew by the run that resumes.
            if self.report.interrupted {
                return Ok(());
            }
            let (at, pace) = (self.progress(in_flight.len()), self.pace);
            let rewrite = match session.next_finished_while(&mut || ask(&at, &pace, progress)) {
                Err(error) if error.is_stopped() => {
                    self.report.interrupted = true;
                    continue;
                }
                Err(ParaphraseError::Endpoint(EndpointError::Budget { .. })) => {
                    self.report.out_of_budget = true;
                    self.report.left += (todo.len() + in_flight.len()) as u64;
                    return Ok(());
                }
                finished => finished?,
            };
            let Some(rewrite) = rewrite else {
                self.foresee([].into_iter(), &missing);
                // The last seed may have ended without a step.
                let _ = progress(&self.progress(0));
                return Ok(());
            };
            let InFlight { mut chain, attempt, since } =
                in_flight.remove(&rewrite.source).expect("every open source is in flight");
            self.report.steps += rewrite.steps as u64;
            self.report.steps_reused += rewrite.steps_reused as u64;
            let before = chain.round;
            let next = self.finish(&mut chain, attempt, &rewrite.outcome)?;
            let since = self.round_ended(&next, (&chain, before), since);
            self.step_ended(in_flight.len(), progress)?;
            if self.report.interrupted && !measures {
                return Ok(());
            }
            let attempt = match next {
                Next::Round => {
                    let attempt = self.first_attempt(&chain)?;
                    if attempt.is_none() {
                        self.end(&chain, EndReason::NothingAlike);
                        self.seed_ended(chain.round, false);
                    }
                    attempt
                }
                Next::Again(attempt) => Some(*attempt),
                Next::End => None,
            };
            let Some(attempt) = attempt else {
                session.close(rewrite.source);
                continue;
            };
            let constraints = attempt.constraints(&chain, self.recipe.keep_fe);
            let source = match session.reopen_under(rewrite.source, &constraints) {
                Ok(source) => source,
                Err(ParaphraseError::Refused(refusal)) => {
                    session.close(rewrite.source);
                    self.refused(&chain, &refusal, false);
                    continue;
                }
                Err(error) => return Err(error.into()),
            };
            session.submit(source, &constraints)?;
            in_flight.insert(source, InFlight { chain, attempt, since });
        }
    }

    /// Counts a round that came to its end; gives when the next one, or the same again, began.
    fn round_ended(
        &mut self,
        next: &Next,
        (chain, before): (&Chain, u16),
        since: Instant,
    ) -> Instant {
        let behind = match next {
            Next::Again(_) => return since,
            Next::Round => 1,
            Next::End => u64::from(self.recipe.rounds.saturating_sub(before)),
        };
        self.finished_seeds += u64::from(matches!(next, Next::End));
        self.pace.round((pace::weight(&chain.seed.text), since.elapsed()), behind);
        Instant::now()
    }

    /// Notes in a measurement how long what is missing would take.
    fn foresee<'f>(
        &mut self,
        in_flight: impl Iterator<Item = &'f InFlight>,
        missing: &[(u64, f64)],
    ) {
        let in_flight = in_flight.map(|of| (pace::weight(&of.chain.seed.text), of.since.elapsed()));
        let missing = missing.iter().copied();
        if let Keep::Measured(measurement) = &mut self.keeps {
            measurement.rounds = self.pace.rounds();
            measurement.missing = self.pace.forecast(self.started.elapsed(), in_flight, missing);
        }
    }

    /// Commits when it is time and tells how far the run is, where so many are in flight.
    fn step_ended(
        &mut self,
        in_flight: usize,
        progress: &mut dyn FnMut(&ExpansionProgress) -> ControlFlow<()>,
    ) -> Result<()> {
        let rows: usize = self.writes.values().map(|write| write.journal.len()).sum();
        if rows >= COMMIT_OUTPUTS || self.last_commit.elapsed() >= COMMIT_AFTER {
            self.commit()?;
        }
        self.report.interrupted |= progress(&self.progress(in_flight)).is_break();
        Ok(())
    }

    fn progress(&self, in_flight: usize) -> ExpansionProgress {
        let (rounds, of_rounds) = match self.keeps {
            Keep::Measured(_) => (self.pace.measured(in_flight), self.pace.wanted()),
            _ => (self.pace.done, self.pace.of),
        };
        ExpansionProgress {
            seeds: self.finished_seeds,
            of: self.report.seeds - self.report.left,
            sentences: self.report.sentences,
            rounds,
            of_rounds,
        }
    }

    pub(super) fn lexicon(&mut self, release: ReleaseId) -> Result<&mut TriggerLexicon<'a>> {
        if !self.lexicons.contains_key(&release) {
            let lexicon = TriggerLexicon::new(self.database, release)?.blind_to(&self.held_out);
            self.lexicons.insert(release, lexicon);
        }
        Ok(self.lexicons.get_mut(&release).expect("it was put there just now"))
    }

    /// The lexicon of a release, and the guide beside it.
    pub(super) fn lexicon_and_guide(
        &mut self,
        release: ReleaseId,
    ) -> Result<(&mut TriggerLexicon<'a>, Option<&mut Guide>)> {
        self.lexicon(release)?;
        let lexicon = self.lexicons.get_mut(&release).expect("it was read just now");
        Ok((lexicon, self.guide.as_mut()))
    }

    /// Opens a seed's sentence and asks for its next round; `None` if there is nothing to rewrite.
    fn begin(
        &mut self,
        session: &mut Rounds<'_>,
        Todo { release, set, journal, .. }: Todo,
        goes_on: &mut GoesOn<'_>,
    ) -> Result<Option<(SourceId, InFlight)>> {
        let (database, since) = (self.database, Instant::now());
        let Some(seed) = Seed::read(database, release, set)? else {
            self.seed_ended(journal.map_or(0, |entry| entry.round), true);
            return Ok(None);
        };
        let morphology = self.lexicon(release)?.morphology().clone();
        let mut chain = Chain::inflected(seed, &morphology);
        if self.recipe.ban_lexicon {
            let frame = chain.seed.frame;
            chain.ban_units(self.lexicon(release)?.units_of(frame)?);
        }
        if let Some(journal) = journal {
            chain.replay(journal, database, self.lexicon(release)?)?;
        }
        if chain.seed.targets.is_empty() {
            self.end(&chain, EndReason::NoTarget);
            self.seed_ended(chain.round, true);
            return Ok(None);
        }
        if let Some(tagger) = self.tagger.as_ref().filter(|_| self.recipe.reword > 0.0) {
            chain.rewording = Rewording::of(tagger, &chain.seed, &morphology, self.recipe.reword)?;
        }
        if self.recipe.guidance == Guidance::Context {
            chain.substitutes = in_context::substitutes(session, &chain, goes_on)?;
        }
        let Some(attempt) = self.first_attempt(&chain)? else {
            self.end(&chain, EndReason::NothingAlike);
            self.seed_ended(chain.round, true);
            return Ok(None);
        };
        let constraints = attempt.constraints(&chain, self.recipe.keep_fe);
        match session.open_under(&chain.seed.natural(), &constraints) {
            Ok(source) => {
                session.submit(source, &constraints)?;
                self.pace.begun();
                Ok(Some((source, InFlight { chain, attempt, since })))
            }
            Err(ParaphraseError::Refused(refusal)) => {
                self.refused(&chain, &refusal, true);
                Ok(None)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Ends a seed whose sentence the rewriter does not take, or not with what a round lists.
    fn refused(&mut self, chain: &Chain, refusal: &Refusal, at_once: bool) {
        let reason = match refusal {
            Refusal::Empty => EndReason::EmptySentence,
            _ => EndReason::TooLong,
        };
        self.end(chain, reason);
        self.seed_ended(chain.round, at_once);
    }

    /// Looks for the seed's FEs in the output that is kept, and counts what is found.
    pub(super) fn carry(&mut self, chain: &Chain, best: &Pair) -> Result<Option<Carried>> {
        if self.recipe.keep_fe == KeepElements::None || chain.seed.expressed.is_none() {
            return Ok(None);
        }
        let carried = elements::carry(self.aligner, &chain.seed, &best.output.text, &best.targets)?;
        let core = self.core_elements(chain.seed.release, chain.seed.frame)?;
        let lost = carried.elements.iter().filter(|element| element.score.is_none());
        let (with_core, lost) =
            (!lost.clone().any(|of| core.contains(&of.name)), lost.count() as u64);
        let tally = &mut self.report.elements;
        tally.sentences += 1;
        tally.with_core += u64::from(with_core);
        tally.lost += lost;
        tally.found += carried.elements.len() as u64 - lost;
        Ok(Some(carried))
    }

    fn core_elements(&mut self, release: ReleaseId, frame: FrameId) -> Result<&BTreeSet<String>> {
        if !self.core_elements.contains_key(&(release, frame)) {
            let record = self.database.store().frame(release, frame)?;
            let is_core = |kind| matches!(kind, CoreType::Core | CoreType::CoreUnexpressed);
            let elements = record.into_iter().flat_map(|frame| frame.elements);
            let core = elements.filter(|fe| is_core(fe.core_type)).map(|fe| fe.name).collect();
            self.core_elements.insert((release, frame), core);
        }
        Ok(&self.core_elements[&(release, frame)])
    }
}
