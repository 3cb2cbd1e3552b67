//! The loop: many seeds in flight, each round's outputs aligned, everything committed with its
//! journal.
//!
//! A seed's outputs depend on the seed and the recipe alone, not on what is rewritten beside it: ids
//! are hashes of what a set is, the CPU's networks give the same bits in every batch, and the search
//! treats each sentence by itself. So runs that were stopped, split or ordered otherwise agree.

use std::collections::{BTreeMap, HashMap};
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use super::chain::{Chain, Seed, TARGET};
use super::choice::{Pair, choose};
use super::lexicon::Lexicon;
use super::recipe::fingerprint;
use super::{EndReason, ExpandError, Progress, Recipe, Report};
use crate::align::{AlignError, AlignRequest, Aligner, Alignment};
use crate::database::{Database, JournalWrite, Write};
use crate::decode::SourceId;
use crate::model::{
    AnnotationSet, AnnotationSetId, FeStatus, FrameId, Generation, IdSpace, Label, Layer,
    LayerName, Method, Provenance, RecipeId, ReleaseId, Sentence, SentenceId,
};
use crate::nn::EncoderDecoder;
use crate::paraphrase::{
    Constraints, Outcome, Paraphrase, ParaphraseError, Paraphraser, Refusal, Session,
};
use crate::query::Expression;

pub(super) type Result<T> = std::result::Result<T, ExpandError>;

/// Sentences in flight on the CPU: enough to fill the rewriter's batches while others wait for the
/// aligner. Devices of larger batches take more.
const IN_FLIGHT: usize = 32;

/// Outputs gathered before a commit, unless [`COMMIT_AFTER`] has passed: a commit waits for the disk
/// and makes an index segment, a killed run loses what was not committed.
const COMMIT_OUTPUTS: usize = 128;
/// Time between commits.
const COMMIT_AFTER: Duration = Duration::from_secs(2);

/// Status of generated sets, beside FrameNet's `MANUAL` and `UNANN`.
const STATUS: &str = "GENERATED";

/// Expands every human annotation set for which the expression holds.
///
/// What was done before under the same recipe is skipped; a run that was stopped goes on where its
/// last commit left it.
///
/// # Errors
/// When a model cannot be opened, the recipe's numbers are out of range, the expression names what
/// the database does not hold, or a network or the database fails.
pub fn run(database: &Database, expression: &Expression, recipe: &Recipe) -> Result<Report> {
    run_with(database, expression, recipe, &mut |_| ControlFlow::Continue(()))
}

/// As [`run`], telling `progress` after each round of each seed how far it is; when that answers
/// `Break`, what is finished is committed and the report says that the run was interrupted.
///
/// # Errors
/// As [`run`].
pub fn run_with(
    database: &Database,
    expression: &Expression,
    recipe: &Recipe,
    progress: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
) -> Result<Report> {
    recipe.check()?;
    let human = human_sets(expression);
    // Names that are not there are found before anything is loaded or written.
    drop(database.query(&human)?);
    let rewriter = &recipe.models.paraphraser;
    let mut paraphraser = Paraphraser::open_in(rewriter, &recipe.device, recipe.numbers)?;
    let aligner = Aligner::open(&recipe.models.aligner, &recipe.models.encoder, &recipe.device)
        .map_err(|source| ExpandError::Align { seed: None, source })?;
    let description =
        recipe.description(paraphraser.fingerprint(), paraphraser.mark(), aligner.fingerprint());
    let print = fingerprint(&description);
    let id = database.store().recipe(print, &description)?;

    let leaks_before = paraphraser.leaks();
    let mut session = paraphraser.session(recipe.settings())?;
    let mut run = Run::new(database, recipe, id, print, &aligner);
    let todo = run.find_seeds(&human)?;
    run.expand(&mut session, todo, progress)?;
    drop(session);
    let mut report = run.report;
    report.leaks = paraphraser.leaks() - leaks_before;
    Ok(report)
}

/// The human sets for which an expression holds: what is generated is not expanded again.
pub(super) fn human_sets(expression: &Expression) -> Expression {
    let human = "origin!=generated".parse().expect("a constant query, which every run reads");
    Expression::all_of([expression.clone(), human])
}

struct Run<'a> {
    database: &'a Database,
    recipe: &'a Recipe,
    id: RecipeId,
    print: [u8; 16],
    aligner: &'a Aligner,
    lexicons: HashMap<ReleaseId, Lexicon<'a>>,
    /// Rows that wait for the next commit.
    writes: BTreeMap<ReleaseId, Write>,
    last_commit: Instant,
    started: Instant,
    finished_seeds: u64,
    report: Report,
}

impl<'a> Run<'a> {
    fn new(
        database: &'a Database,
        recipe: &'a Recipe,
        id: RecipeId,
        print: [u8; 16],
        aligner: &'a Aligner,
    ) -> Self {
        let now = Instant::now();
        Self {
            database,
            recipe,
            id,
            print,
            aligner,
            lexicons: HashMap::new(),
            writes: BTreeMap::new(),
            last_commit: now,
            started: now,
            finished_seeds: 0,
            report: Report {
                recipe: id,
                seeds: 0,
                done_before: 0,
                sentences: 0,
                new_triggers: 0,
                new_pairs: 0,
                proposed_lexunits: 0,
                flags: BTreeMap::new(),
                ended_before: BTreeMap::new(),
                ended: BTreeMap::new(),
                unproductive: BTreeMap::new(),
                leaks: 0,
                steps: 0,
                steps_reused: 0,
                elapsed: Duration::ZERO,
                interrupted: false,
            },
        }
    }

    /// The human sets that match and are not through all rounds.
    fn find_seeds(&mut self, human: &Expression) -> Result<Vec<(ReleaseId, AnnotationSetId)>> {
        let mut todo = Vec::new();
        for answer in self.database.query(human)? {
            let answer = answer?;
            self.report.seeds += 1;
            let (release, set) = (answer.release.id, answer.set.id);
            let journal = self.database.store().journal(release, set, TARGET, self.id)?;
            let Some(entry) = journal else {
                todo.push((release, set));
                continue;
            };
            let end = entry.end.as_deref().and_then(EndReason::parse);
            if let Some(reason) = end {
                *self.report.ended_before.entry(reason).or_default() += 1;
            }
            if end.is_some() || entry.round >= self.recipe.rounds {
                self.report.done_before += 1;
            } else {
                todo.push((release, set));
            }
        }
        self.finished_seeds = self.report.done_before;
        todo.truncate(self.recipe.seed_limit.unwrap_or(usize::MAX));
        Ok(todo)
    }

    fn expand(
        &mut self,
        session: &mut Session<'_, EncoderDecoder>,
        todo: Vec<(ReleaseId, AnnotationSetId)>,
        progress: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
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
        session: &mut Session<'_, EncoderDecoder>,
        todo: Vec<(ReleaseId, AnnotationSetId)>,
        progress: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
    ) -> Result<()> {
        let mut todo = todo.into_iter();
        let mut chains: HashMap<SourceId, Chain> = HashMap::new();
        let rows = self.recipe.device.rows_at_once();
        let in_flight = IN_FLIGHT.max(rows / self.recipe.beam_size.max(1));
        self.report.interrupted = progress(&self.progress()).is_break();
        loop {
            // An interrupted run takes no new seeds and starts no new rounds.
            while !self.report.interrupted && chains.len() < in_flight {
                let Some((release, set)) = todo.next() else { break };
                match self.begin(session, release, set)? {
                    Some((source, chain)) => {
                        chains.insert(source, chain);
                    }
                    None => self.step_ended(progress)?,
                }
            }
            let Some(rewrite) = session.next_finished()? else { return Ok(()) };
            let mut chain =
                chains.remove(&rewrite.source).expect("every open source has its chain");
            self.report.steps += rewrite.steps as u64;
            self.report.steps_reused += rewrite.steps_reused as u64;
            let goes_on = self.finish_round(&mut chain, &rewrite.outcome)?;
            self.finished_seeds += u64::from(!goes_on);
            self.step_ended(progress)?;
            if goes_on && !self.report.interrupted {
                let constraints = Constraints::avoiding(&chain.banned);
                let source = session.reopen_under(rewrite.source, &constraints)?;
                session.submit(source, &constraints)?;
                chains.insert(source, chain);
            } else {
                session.close(rewrite.source);
            }
        }
    }

    /// Commits when it is time and tells how far the run is.
    fn step_ended(&mut self, progress: &mut dyn FnMut(&Progress) -> ControlFlow<()>) -> Result<()> {
        let rows: usize = self.writes.values().map(|write| write.journal.len()).sum();
        if rows >= COMMIT_OUTPUTS || self.last_commit.elapsed() >= COMMIT_AFTER {
            self.commit()?;
        }
        self.report.interrupted |= progress(&self.progress()).is_break();
        Ok(())
    }

    fn progress(&self) -> Progress {
        Progress {
            seeds: self.finished_seeds,
            of: self.report.seeds,
            sentences: self.report.sentences,
        }
    }

    fn lexicon(&mut self, release: ReleaseId) -> Result<&mut Lexicon<'a>> {
        if !self.lexicons.contains_key(&release) {
            let lexicon = Lexicon::new(self.database, release)?;
            self.lexicons.insert(release, lexicon);
        }
        Ok(self.lexicons.get_mut(&release).expect("it was put there just now"))
    }

    /// Opens a seed's sentence and asks for its next round; `None` when there is nothing to rewrite.
    fn begin(
        &mut self,
        session: &mut Session<'_, EncoderDecoder>,
        release: ReleaseId,
        set: AnnotationSetId,
    ) -> Result<Option<(SourceId, Chain)>> {
        let database = self.database;
        let Some(seed) = Seed::read(database, release, set)? else { return Ok(None) };
        let journal = database.store().journal(release, set, TARGET, self.id)?;
        let chain = Chain::resume(seed, journal, database, self.lexicon(release)?)?;
        if chain.seed.targets.is_empty() {
            self.end(&chain, EndReason::NoTarget);
            self.finished_seeds += 1;
            return Ok(None);
        }
        let constraints = Constraints::avoiding(&chain.banned);
        match session.open_under(&chain.seed.natural(), &constraints) {
            Ok(source) => {
                session.submit(source, &constraints)?;
                Ok(Some((source, chain)))
            }
            Err(ParaphraseError::Refused(refusal)) => {
                let reason = match refusal {
                    Refusal::Empty => EndReason::EmptySentence,
                    _ => EndReason::TooLong,
                };
                self.end(&chain, reason);
                self.finished_seeds += 1;
                Ok(None)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Takes the outputs of a round; says whether another round is to follow.
    fn finish_round(&mut self, chain: &mut Chain, outcome: &Outcome) -> Result<bool> {
        let candidates = candidates(outcome.paraphrases());
        if candidates.is_empty() {
            self.end(chain, EndReason::NothingLeft);
            return Ok(false);
        }
        let Some(best) = self.align(chain, &candidates)? else {
            self.end(chain, EndReason::NotAligned);
            return Ok(false);
        };
        chain.round += 1;
        self.keep(chain, best)?;
        Ok(chain.round < self.recipe.rounds)
    }

    /// The pair of paraphrase and span to keep, if any paraphrase has a span.
    fn align<'p>(
        &mut self,
        chain: &Chain,
        candidates: &[&'p Paraphrase],
    ) -> Result<Option<Pair<'p>>> {
        let requests = candidates
            .iter()
            .map(|candidate| AlignRequest {
                source: &chain.seed.text,
                pieces: &chain.seed.targets,
                target: &candidate.text,
            })
            .collect();
        let alignments = self.align_those_that_fit(chain.seed.set, requests)?;
        let lexicon = self.lexicon(chain.seed.release)?;
        let mut pairs = Vec::with_capacity(candidates.len());
        for (candidate, alignment) in candidates.iter().zip(alignments) {
            if let Some(alignment) = alignment {
                pairs.push(Pair::new(chain, lexicon, candidate, alignment)?);
            }
        }
        Ok(choose(pairs))
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

    /// Makes an annotation set of an output, with its LU and its place in the chain.
    fn keep(&mut self, chain: &mut Chain, best: Pair<'_>) -> Result<()> {
        let Pair { output, alignment, targets, trigger, flags, .. } = best;
        let (release, frame) = (chain.seed.release, chain.seed.frame);
        let pos = chain.seed.pos;
        let lexicon = self.lexicon(release)?;
        let unit = lexicon.unit_of(frame, &trigger, pos)?;
        let (new_trigger, new_pair) =
            (lexicon.is_new_trigger(&trigger)?, lexicon.is_new_pair(frame, &trigger)?);
        let generation = Generation {
            seed: chain.seed.set,
            source: chain.seed.set,
            target_ordinal: TARGET,
            round: chain.round,
            rank: 0,
            chain: chain.sets.clone(),
            method: Method::Paraphrase,
            recipe: self.id,
            flags,
            paraphrase: output.score,
            aligner: alignment.score,
        };
        let id = self.free_id(release, frame, &generation)?;
        let set = generated_set(id, chain, unit.lu, &targets, generation);
        let sentence = Sentence {
            id: set.sentence,
            xml_id: None,
            text: output.text.clone(),
            occurrences: Vec::new(),
        };
        chain.push(id, &output.text, &targets, &unit.lemma, unit.pos);

        self.report.sentences += 1;
        self.report.new_triggers += u64::from(new_trigger);
        self.report.new_pairs += u64::from(new_pair);
        self.report.proposed_lexunits += u64::from(unit.proposed.is_some());
        for flag in flags.names() {
            *self.report.flags.entry(flag).or_default() += 1;
        }
        let write = self.writes.entry(release).or_default();
        write.lexunits.extend(unit.proposed);
        write.sentences.push(sentence);
        write.sets.push(set);
        self.write_journal(chain, None);
        Ok(())
    }

    /// The id of a generated set: its natural one, or the next number that no other set has.
    fn free_id(
        &self,
        release: ReleaseId,
        frame: FrameId,
        generation: &Generation,
    ) -> Result<AnnotationSetId> {
        let mut id = generation.natural_id(frame, &self.print);
        loop {
            let pending = self
                .writes
                .get(&release)
                .is_some_and(|write| write.sets.iter().any(|set| set.id == id));
            let stored = self.database.store().annotation_set(release, id)?;
            let same = stored.as_ref().is_some_and(|set| match &set.provenance {
                Provenance::Generated(there) => there.is_same_output(generation),
                _ => false,
            });
            if !pending && (stored.is_none() || same) {
                return Ok(id);
            }
            id = id.next();
        }
    }

    fn end(&mut self, chain: &Chain, reason: EndReason) {
        *self.report.ended.entry(reason).or_default() += 1;
        if chain.sets.is_empty() {
            *self.report.unproductive.entry(reason).or_default() += 1;
        }
        self.write_journal(chain, Some(reason));
    }

    fn write_journal(&mut self, chain: &Chain, end: Option<EndReason>) {
        let write = self.writes.entry(chain.seed.release).or_default();
        write.journal.push(JournalWrite {
            seed: chain.seed.set,
            target: TARGET,
            recipe: self.id,
            entry: chain.journal(end),
        });
    }

    fn commit(&mut self) -> Result<()> {
        for (release, write) in std::mem::take(&mut self.writes) {
            self.database.write(release, &write)?;
        }
        self.last_commit = Instant::now();
        Ok(())
    }
}

/// Outputs that ended by themselves; those cut at the length limit only when there are no others.
fn candidates(paraphrases: &[Paraphrase]) -> Vec<&Paraphrase> {
    let ended: Vec<&Paraphrase> = paraphrases.iter().filter(|output| output.ended).collect();
    if ended.is_empty() { paraphrases.iter().collect() } else { ended }
}

fn generated_set(
    id: AnnotationSetId,
    chain: &Chain,
    lu: crate::model::LuId,
    targets: &[crate::model::Span],
    generation: Generation,
) -> AnnotationSet {
    let labels = targets.iter().map(|span| Label {
        name: LayerName::Target.as_str().to_owned(),
        extent: crate::model::Extent::Overt(*span),
        fe: None,
        annotator: String::new(),
        colors: None,
    });
    AnnotationSet {
        id,
        xml_id: None,
        sentence: SentenceId::new(IdSpace::Generated, id.number()),
        frame: chain.seed.frame,
        lu,
        status: STATUS.to_owned(),
        created: String::new(),
        targets: targets.to_vec(),
        fe_status: FeStatus::Unknown,
        layers: vec![Layer { name: LayerName::Target, rank: 1, labels: labels.collect() }],
        provenance: Provenance::Generated(Box::new(generation)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outputs_that_were_cut_are_a_last_resort() {
        let output = |text: &str, ended| Paraphrase {
            text: text.to_owned(),
            score: 1.0,
            log_prob: -9.0,
            ended,
            unmet: Vec::new(),
        };
        let (cut, whole) = (output("a b", false), output("a", true));
        assert_eq!(candidates(&[cut.clone(), whole.clone()]), [&whole]);
        assert_eq!(candidates(std::slice::from_ref(&cut)), [&cut]);
    }
}
