//! Many searches through one network: continuous batching.
//!
//! Jobs wait; as soon as a search ends, its rows go to the job with the longest source, without waiting for
//! the others. So sources of like length run side by side, and what is left for the end is short: a long
//! search that began last would have the network to itself for most of its steps, each of which reads all
//! weights. (Rows are ragged, so nothing is padded in any order.) A source stays encoded in its slot until it is released, so that it can be searched again
//! under other constraints (each round of expansion rewrites the same sentence). Jobs of one source
//! run one after the other, jobs of different sources side by side. Where a job only bans more than the
//! job before it, its search begins at the first step that the new bans change (`replay.rs`).
//!
//! A search sees only its own candidates, so with a network whose rows do not depend on each other
//! its result does not depend on what else is in the batch.

use std::cmp::Reverse;
use std::collections::{BTreeMap, VecDeque};

use super::DecodeError;
use super::beam::{BeamSearch, Hypothesis, Stop};
use super::constraint::Constraint;
use super::replay::Past;
use super::sampling::SampleSearch;
use super::settings::SearchSettings;
use crate::compute::ComputeError;
use crate::nn::{Candidate, Draw, NnError, Row, RowMask, SlotCandidates, SlotId, StepNetwork};

/// Jobs that may begin before one that came earlier; then it is its turn, whatever its length. As many as
/// the largest batches hold a few times over, so that length decides among them.
pub(super) const MOST_OVERTAKEN: usize = 1024;

/// A source that was given to a [`Scheduler`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SourceId(u64);

/// A search that was given to a [`Scheduler`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JobId(u64);

/// A search that is over.
#[derive(Debug, Clone, PartialEq)]
pub struct Finished {
    /// The search.
    pub job: JobId,
    /// What was searched.
    pub source: SourceId,
    /// The outputs, best first; empty when bans left nothing to say.
    pub hypotheses: Vec<Hypothesis>,
    /// Why it ended.
    pub stop: Stop,
    /// Steps taken.
    pub steps: usize,
    /// How many of them were those of the search before, and took no work.
    pub steps_reused: usize,
}

/// What a search needs to know of its network.
#[derive(Debug, Clone, Copy)]
pub(super) struct NetworkTokens {
    pub(super) start: u32,
    pub(super) eos: u32,
    pub(super) vocab_size: u32,
}

impl NetworkTokens {
    fn of<N: StepNetwork + ?Sized>(network: &N) -> Self {
        let vocab_size = u32::try_from(network.vocab_size()).expect("token ids are 32-bit");
        Self { start: network.start_token(), eos: network.eos_token(), vocab_size }
    }
}

/// Runs searches side by side, up to a number of rows.
///
/// The network is handed to each call, which must be the same one every time.
///
/// ```no_run
/// use std::path::Path;
///
/// use fnstore::compute::Device;
/// use fnstore::decode::{BeamSettings, Constraint, Scheduler};
/// use fnstore::nn::EncoderDecoder;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut network = EncoderDecoder::open(Path::new("models/paraphrase"), &Device::cpu())?;
/// let mut scheduler = Scheduler::new(256);
/// let source = scheduler.add_source(vec![17, 4, 1]);
/// scheduler.submit(source, Constraint::default(), BeamSettings::default())?;
/// while !scheduler.is_idle() {
///     for finished in scheduler.step(&mut network)? {
///         scheduler.release(finished.source, &mut network);
///         assert!(finished.hypotheses.len() <= 10);
///     }
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Scheduler {
    row_limit: usize,
    sources: BTreeMap<SourceId, Source>,
    waiting: VecDeque<Waiting>,
    active: Vec<Active>,
    next_id: u64,
}

#[derive(Debug)]
struct Source {
    tokens: Vec<u32>,
    /// Where it is encoded, once its first job began.
    slot: Option<SlotId>,
    /// A job of it is active.
    busy: bool,
    /// Its network keeps steps, so that a search can begin where the one before still holds.
    keeps_steps: bool,
    /// The last search of it that is over, when steps are kept.
    past: Option<Past>,
}

#[derive(Debug, Clone)]
struct Waiting {
    job: JobId,
    source: SourceId,
    constraint: Constraint,
    settings: SearchSettings,
    /// It bans all that the job before it banned, and requires the same.
    goes_on: bool,
    /// Jobs that came later and began before it.
    overtaken: usize,
}

#[derive(Debug)]
struct Active {
    /// The job as it waited, should it have to begin again.
    origin: Waiting,
    slot: SlotId,
    search: Search,
    steps_reused: usize,
}

#[derive(Debug)]
enum Search {
    Beam { search: BeamSearch, past: Option<Past> },
    Sample(SampleSearch),
}

impl Search {
    fn rows(&self) -> usize {
        match self {
            Self::Beam { search, .. } => search.beam_size(),
            Self::Sample(search) => search.samples(),
        }
    }
}

impl Scheduler {
    /// A scheduler that takes at most `row_limit` hypotheses into a step, or one search where its
    /// beam alone is larger.
    #[must_use]
    pub fn new(row_limit: usize) -> Self {
        Self {
            row_limit,
            sources: BTreeMap::new(),
            waiting: VecDeque::new(),
            active: Vec::new(),
            next_id: 0,
        }
    }

    /// Takes a source (token ids, ending in the end token). It is encoded when its first job begins.
    pub fn add_source(&mut self, tokens: Vec<u32>) -> SourceId {
        let id = SourceId(self.fresh_id());
        let source = Source { tokens, slot: None, busy: false, keeps_steps: false, past: None };
        self.sources.insert(id, source);
        id
    }

    /// As [`add_source`](Self::add_source), for a source that is searched again under more bans: its
    /// steps are kept, which costs memory in the network (every hypothesis that ever was open) and
    /// saves [`submit_next`](Self::submit_next) steps.
    pub fn add_source_with_steps(&mut self, tokens: Vec<u32>) -> SourceId {
        let id = self.add_source(tokens);
        self.sources.get_mut(&id).expect("it was just added").keeps_steps = true;
        id
    }

    /// Lets a search wait for its turn.
    ///
    /// # Errors
    /// When no search can follow the settings, or samples are to be drawn though something is
    /// required.
    ///
    /// # Panics
    /// If the source was released.
    pub fn submit(
        &mut self,
        source: SourceId,
        constraint: Constraint,
        settings: impl Into<SearchSettings>,
    ) -> Result<JobId, DecodeError> {
        self.enqueue(source, constraint, settings.into(), false)
    }

    /// As [`submit`](Self::submit), for a constraint that bans whatever the constraint of this
    /// source's last job banned, and more, and requires the same. The outputs are those of `submit`;
    /// where the source keeps its steps and the settings are those of the last job, the search begins
    /// at the first step that the new bans change.
    ///
    /// # Errors
    /// As [`submit`](Self::submit).
    ///
    /// # Panics
    /// If the source was released.
    pub fn submit_next(
        &mut self,
        source: SourceId,
        constraint: Constraint,
        settings: impl Into<SearchSettings>,
    ) -> Result<JobId, DecodeError> {
        self.enqueue(source, constraint, settings.into(), true)
    }

    fn enqueue(
        &mut self,
        source: SourceId,
        constraint: Constraint,
        settings: SearchSettings,
        goes_on: bool,
    ) -> Result<JobId, DecodeError> {
        settings.check()?;
        if matches!(settings, SearchSettings::Sample(_)) && constraint.requires() {
            return Err(DecodeError::Settings {
                setting: "search",
                value: "sample".to_owned(),
                expected: "beam search, since something is required",
            });
        }
        assert!(self.sources.contains_key(&source), "cannot search {source:?}: it was released");
        let job = JobId(self.fresh_id());
        self.waiting.push_back(Waiting {
            job,
            source,
            constraint,
            settings,
            goes_on,
            overtaken: 0,
        });
        Ok(job)
    }

    /// Whether no search is waiting or running.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.waiting.is_empty() && self.active.is_empty()
    }

    /// Starts waiting searches where there is room, takes one step with all running ones, and
    /// returns those that are over, in the order in which they began. Where the network has no room for so
    /// many, half of them wait again.
    ///
    /// # Errors
    /// When the network fails. The searches in progress are then lost; call
    /// [`clear`](Self::clear).
    pub fn step<N: StepNetwork + ?Sized>(
        &mut self,
        network: &mut N,
    ) -> Result<Vec<Finished>, DecodeError> {
        let mut finished = Vec::new();
        let answers = loop {
            let mut batch = Batch::default();
            let admitted = self.admit(network, &mut batch, &mut finished);
            match admitted.and_then(|()| self.take_step(network)) {
                Err(error) if is_full(&error) && batch.searches > 1 => self.halve(batch, network),
                other => break other?,
            }
        };
        let mut running = Vec::with_capacity(self.active.len());
        for (mut active, answer) in std::mem::take(&mut self.active).into_iter().zip(answers) {
            let stop = match (&mut active.search, answer) {
                (Search::Beam { search, past }, Answer::Best(answer)) => {
                    assert_eq!(answer.slot, active.slot, "a network answers in order of the rows");
                    let stop = search.advance(&answer);
                    if let Some(past) = past {
                        past.push(answer, search.candidates_wanted());
                    }
                    stop
                }
                (Search::Sample(search), Answer::Drawn(drawn)) => search.advance(&drawn),
                _ => unreachable!("each search gets the answer that it asked for"),
            };
            match stop {
                None => running.push(active),
                Some(stop) => finished.push(self.finish(active, stop, network)),
            }
        }
        self.active = running;
        Ok(finished)
    }

    /// Lets all running searches wait again, to go on with half as many rows side by side. They begin anew,
    /// since the step that failed may have been taken for some of them.
    fn halve<N: StepNetwork + ?Sized>(&mut self, batch: Batch, network: &mut N) {
        let Batch { searches, rows } = batch;
        network.tell(&format!(
            "the GPU is full: of {searches} sentences at once half wait, and all begin again"
        ));
        for Active { origin, slot, .. } in self.active.drain(..).rev() {
            network.rewind(slot, 0);
            self.sources.get_mut(&origin.source).expect("jobs go with their source").busy = false;
            self.waiting.push_front(origin);
        }
        self.row_limit = rows / 2;
    }

    /// One step of the network for every running search: one call for all beams, one for all samples.
    /// The answers are in the order of the searches.
    fn take_step<N: StepNetwork + ?Sized>(
        &mut self,
        network: &mut N,
    ) -> Result<Vec<Answer>, DecodeError> {
        let (mut rows, mut masks, mut top) = (Vec::new(), Vec::new(), 0);
        let (mut own_rows, mut own_masks, mut draws) = (Vec::new(), Vec::new(), Vec::new());
        let mut counts = Vec::new();
        for active in &mut self.active {
            match &mut active.search {
                Search::Beam { search, .. } => {
                    search.write_step(active.slot, &mut rows, &mut masks);
                    top = top.max(search.candidates_wanted());
                }
                Search::Sample(search) => {
                    let before = own_rows.len();
                    search.write_step(active.slot, &mut own_rows, &mut own_masks, &mut draws);
                    counts.push(own_rows.len() - before);
                }
            }
        }
        let mut best = step(network, &rows, &masks, top)?.into_iter();
        let mut drawn = sample(network, &own_rows, &own_masks, &draws)?.into_iter();
        let mut counts = counts.into_iter();
        let answer = |active: &Active| match active.search {
            Search::Beam { .. } => {
                Answer::Best(best.next().expect("a network answers for every slot"))
            }
            Search::Sample(_) => {
                let count = counts.next().expect("each search was counted");
                Answer::Drawn(drawn.by_ref().take(count).collect())
            }
        };
        Ok(self.active.iter().map(answer).collect())
    }

    /// Forgets a source and frees its slot. Its jobs that are not over are dropped.
    pub fn release<N: StepNetwork + ?Sized>(&mut self, source: SourceId, network: &mut N) {
        self.waiting.retain(|waiting| waiting.source != source);
        self.active.retain(|active| active.origin.source != source);
        if let Some(Source { slot: Some(slot), .. }) = self.sources.remove(&source) {
            network.close(slot);
        }
    }

    /// Forgets all sources and jobs and frees all slots.
    pub fn clear<N: StepNetwork + ?Sized>(&mut self, network: &mut N) {
        self.waiting.clear();
        self.active.clear();
        for slot in std::mem::take(&mut self.sources).into_values().filter_map(|s| s.slot) {
            network.close(slot);
        }
    }

    /// Starts the jobs whose turn it is while they fit, and says what runs then; those that are over without
    /// a step of the network join the `finished`. Where the network fails they wait as before.
    fn admit<N: StepNetwork + ?Sized>(
        &mut self,
        network: &mut N,
        batch: &mut Batch,
        finished: &mut Vec<Finished>,
    ) -> Result<(), DecodeError> {
        let mut rows: usize = self.active.iter().map(|active| active.search.rows()).sum();
        let mut admitted = Vec::new();
        while let Some(at) = self.next_waiting() {
            let wanted = self.waiting[at].settings.rows();
            if rows > 0 && rows + wanted > self.row_limit {
                break;
            }
            let next = self.waiting.remove(at).expect("it is among those that wait");
            self.waiting.range_mut(..at).for_each(|earlier| earlier.overtaken += 1);
            self.sources.get_mut(&next.source).expect("jobs go with their source").busy = true;
            rows += wanted;
            admitted.push(next);
        }
        *batch = Batch { searches: self.active.len() + admitted.len(), rows };
        if let Err(error) = self.encode(&admitted, network) {
            for waiting in admitted.into_iter().rev() {
                let source = self.sources.get_mut(&waiting.source);
                source.expect("jobs go with their source").busy = false;
                self.waiting.push_front(waiting);
            }
            return Err(error);
        }
        for waiting in admitted {
            let (active, stop) = self.begin(waiting, network)?;
            match stop {
                None => self.active.push(active),
                Some(stop) => finished.push(self.finish(active, stop, network)),
            }
        }
        Ok(())
    }

    /// Starts a search, from the first step that is not that of the search before; also says whether
    /// it is over already.
    fn begin<N: StepNetwork + ?Sized>(
        &mut self,
        waiting: Waiting,
        network: &mut N,
    ) -> Result<(Active, Option<Stop>), DecodeError> {
        let origin = waiting.clone();
        let Waiting { source: id, constraint, settings, goes_on, .. } = waiting;
        let source = self.sources.get_mut(&id).expect("jobs go with their source");
        let slot = source.slot.expect("the source was encoded before its job began");
        let limit = settings.length_limit();
        let max_length = limit.for_source(source.tokens.len(), network.max_length());
        let tokens = NetworkTokens::of(network);
        let before = source.past.take();
        let (mut steps_reused, mut stop) = (0, None);
        let search = match settings {
            SearchSettings::Beam(settings) => {
                let mut search = BeamSearch::new(settings, constraint, tokens, max_length);
                let mut past = source.keeps_steps.then(|| Past::new(settings));
                if let Some(before) = before.filter(|past| goes_on && past.settings == settings) {
                    let (kept, over) = before.replay(&mut search, slot);
                    (steps_reused, stop) = (kept.len(), over);
                    past = Some(kept);
                }
                Search::Beam { search, past }
            }
            SearchSettings::Sample(settings) => Search::Sample(SampleSearch::new(
                settings,
                constraint,
                &source.tokens,
                tokens,
                max_length,
            )),
        };
        let wanted = matches!(&search, Search::Beam { search, .. } if search.wants_attention());
        if !network.give_attention(slot, wanted) {
            return Err(DecodeError::Settings {
                setting: "coverage_penalty",
                value: "more than 0".to_owned(),
                expected: "0, since the network gives no attention",
            });
        }
        network.rewind(slot, steps_reused);
        Ok((Active { origin, slot, search, steps_reused }, stop))
    }

    /// The place of the job that begins next: of those whose source is free the first that was overtaken
    /// often enough, else the one with the longest source, among equals the first.
    fn next_waiting(&self) -> Option<usize> {
        let free = || {
            let jobs = self.waiting.iter().enumerate();
            jobs.map(|(at, job)| (at, job, &self.sources[&job.source])).filter(|job| !job.2.busy)
        };
        let due = free().find(|(_, job, _)| job.overtaken >= MOST_OVERTAKEN);
        let longest = || free().min_by_key(|(_, _, source)| Reverse(source.tokens.len()));
        due.or_else(longest).map(|(at, ..)| at)
    }

    /// Encodes the sources of new jobs that have no slot yet, as one batch.
    fn encode<N: StepNetwork + ?Sized>(
        &mut self,
        admitted: &[Waiting],
        network: &mut N,
    ) -> Result<(), DecodeError> {
        let unopened: Vec<SourceId> = admitted
            .iter()
            .map(|waiting| waiting.source)
            .filter(|source| self.sources[source].slot.is_none())
            .collect();
        if unopened.is_empty() {
            return Ok(());
        }
        let tokens: Vec<&[u32]> =
            unopened.iter().map(|source| self.sources[source].tokens.as_slice()).collect();
        let slots = network.open(&tokens).map_err(failed("open sources"))?;
        for (id, slot) in unopened.iter().zip(slots) {
            let source = self.sources.get_mut(id).expect("it is among the sources");
            source.slot = Some(slot);
            if source.keeps_steps {
                network.keep_steps(slot);
            }
        }
        Ok(())
    }

    /// Takes the result of a search and leaves its source ready for the next.
    fn finish<N: StepNetwork + ?Sized>(
        &mut self,
        active: Active,
        stop: Stop,
        network: &mut N,
    ) -> Finished {
        let Active { origin: Waiting { job, source: id, .. }, slot, search, steps_reused } = active;
        let source = self.sources.get_mut(&id).expect("jobs go with their source");
        source.busy = false;
        if !source.keeps_steps {
            network.rewind(slot, 0);
        }
        let (steps, hypotheses) = match search {
            Search::Beam { search, past } => {
                source.past = past;
                (search.steps(), search.into_hypotheses())
            }
            Search::Sample(search) => (search.steps(), search.into_hypotheses()),
        };
        Finished { job, source: id, hypotheses, stop, steps, steps_reused }
    }

    fn fresh_id(&mut self) -> u64 {
        self.next_id += 1;
        self.next_id
    }
}

/// What runs side by side.
#[derive(Debug, Clone, Copy, Default)]
struct Batch {
    searches: usize,
    rows: usize,
}

/// Whether a network has no room for what it was asked.
fn is_full(error: &DecodeError) -> bool {
    let DecodeError::Network { source, .. } = error else { return false };
    matches!(source, NnError::Compute(ComputeError::Memory { .. }))
}

/// What a network says to a search.
enum Answer {
    Best(SlotCandidates),
    Drawn(Vec<Option<Candidate>>),
}

fn step<N: StepNetwork + ?Sized>(
    network: &mut N,
    rows: &[Row],
    masks: &[RowMask],
    top: usize,
) -> Result<Vec<SlotCandidates>, DecodeError> {
    if rows.is_empty() {
        return Ok(Vec::new());
    }
    network.step(rows, masks, top).map_err(failed("take a step"))
}

fn sample<N: StepNetwork + ?Sized>(
    network: &mut N,
    rows: &[Row],
    masks: &[RowMask],
    draws: &[Draw],
) -> Result<Vec<Option<Candidate>>, DecodeError> {
    if rows.is_empty() {
        return Ok(Vec::new());
    }
    network.sample(rows, masks, draws).map_err(failed("draw tokens"))
}

fn failed(doing: &'static str) -> impl FnOnce(NnError) -> DecodeError {
    move |source| DecodeError::Network { doing, source }
}
