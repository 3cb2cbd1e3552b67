//! Many searches through one network: continuous batching.
//!
//! Jobs wait; as soon as a search ends, its rows go to the job with the longest source, without
//! waiting for the others. So sources of like length run side by side, and what is left for the end
//! is short. A long search that began last would have the network to itself for most of its steps,
//! each of which reads all weights. (Rows are ragged, so nothing is padded in any order.) A source
//! stays encoded in its slot until it is released, so that it can be searched again under other
//! constraints (each round of expansion rewrites the same sentence). Jobs of one source run one
//! after the other, jobs of different sources side by side. Where a job only bans more than the job
//! before it, its search begins at the first step that the new bans change (`replay.rs`).
//!
//! Where the network is full, sources without a running search give back what they hold, and only
//! where that does not do fewer searches run side by side. What was given back is computed again.
//!
//! A search sees only its own candidates. So if a network's rows do not depend on each other, its
//! result does not depend on what else is in the batch.

use std::collections::BTreeMap;

use rayon::prelude::*;

use super::DecodeError;
use super::active::{Active, Answer, Search};
use super::beam::{BeamSearch, Hypothesis, Stop};
use super::calls::{is_full, open, sample, step};
use super::constraint::Constraint;
use super::job::{JobId, NetworkTokens, SourceId};
use super::replay::Past;
use super::sampling::SampleSearch;
use super::settings::SearchSettings;
use super::waiting::{Queue, Waiting};
use crate::engine::nn::{SlotId, StepNetwork};

/// Searches that one thread goes on with at least.
const FEWEST_SEARCHES: usize = 8;

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

/// Runs searches side by side, up to a number of rows.
///
/// The network is handed to each call, which must be the same one every time.
///
/// ```no_run
/// use std::path::Path;
///
/// use fnstore::engine::Device;
/// use fnstore::engine::{BeamSettings, Constraint, Scheduler};
/// use fnstore::engine::EncoderDecoder;
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
    waiting: Queue,
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

impl Source {
    /// Frees its slot, until it is encoded again; says whether it had one.
    fn close<N: StepNetwork + ?Sized>(&mut self, network: &mut N) -> bool {
        self.past = None;
        let slot = self.slot.take();
        if let Some(slot) = slot {
            network.close(slot);
        }
        slot.is_some()
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
            waiting: Queue::default(),
            active: Vec::new(),
            next_id: 0,
        }
    }

    /// Takes a source (token ids, the end token last), which is encoded with its first job.
    pub fn add_source(&mut self, tokens: Vec<u32>) -> SourceId {
        let id = SourceId(self.fresh_id());
        let source = Source { tokens, slot: None, busy: false, keeps_steps: false, past: None };
        self.sources.insert(id, source);
        id
    }

    /// As [`add_source`](Self::add_source), for a source that is searched again under more bans.
    /// Its steps are kept, which costs memory in the network (every hypothesis that ever was open)
    /// and saves [`submit_next`](Self::submit_next) steps.
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
    /// source's last job banned, and more, and requires the same. The outputs are those of
    /// `submit`. If the source keeps its steps and the settings are those of the last job, the
    /// search begins at the first step that the new bans change.
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
        let length = self.sources.get(&source).map(|source| source.tokens.len());
        let length = length.unwrap_or_else(|| panic!("cannot search {source:?}: it was released"));
        let job = JobId(self.fresh_id());
        self.waiting.put(Waiting {
            job,
            source,
            length,
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
    /// returns those that are over, in the order in which they began. While sources have many
    /// tokens, it encodes a part of them instead. Where the network is full, sources that are not
    /// searched give back their room; where none does, half of the searches wait again.
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
            if self.admit(network, &mut finished)? {
                return Ok(finished);
            }
            match self.take_step(network) {
                Err(error) if is_full(&error) && self.make_room(network) => {}
                other => break other?,
            }
        };
        let advanced = std::mem::take(&mut self.active).into_par_iter().zip(answers);
        let advanced = advanced.with_min_len(FEWEST_SEARCHES).map(|(mut active, answer)| {
            let stop = active.advance(answer);
            (active, stop)
        });
        let advanced: Vec<(Active, Option<Stop>)> = advanced.collect();
        let mut running = Vec::with_capacity(advanced.len());
        for (active, stop) in advanced {
            match stop {
                None => running.push(active),
                Some(stop) => finished.push(self.finish(active, stop, network)),
            }
        }
        self.active = running;
        Ok(finished)
    }

    /// Makes room after a step that failed for want of it; says whether there is more now. First
    /// goes what idle sources keep for their next search, then half of the searches, and before the
    /// last one whatever idle sources hold.
    fn make_room<N: StepNetwork + ?Sized>(&mut self, network: &mut N) -> bool {
        let searches = self.active.len();
        let kept = self.close_idle(network, |source| source.past.is_some());
        if kept > 0 {
            network.tell(&format!(
                "the GPU is full: what it keeps of {kept} sentences for their next search is dropped"
            ));
        } else if searches > 1 {
            network.tell(&format!(
                "the GPU is full: of {searches} sentences at once half wait, and all begin again"
            ));
            self.row_limit = self.active_rows() / 2;
        } else if self.close_idle(network, |_| true) == 0 {
            return false;
        }
        self.undo_step(network, kept > 0);
        true
    }

    /// Takes back a step that failed, and may have been taken for some searches. Those whose steps
    /// are kept can go on, where they are to; all others wait again, without a slot, and begin
    /// anew.
    fn undo_step<N: StepNetwork + ?Sized>(&mut self, network: &mut N, goes_on: bool) {
        let mut running = Vec::new();
        for active in std::mem::take(&mut self.active) {
            match &active.search {
                Search::Beam { past: Some(past), .. } if goes_on => {
                    network.rewind(active.slot, past.len());
                    running.push(active);
                }
                _ => {
                    let source = self.sources.get_mut(&active.origin.source);
                    let source = source.expect("jobs go with their source");
                    source.busy = false;
                    source.close(network);
                    self.waiting.put(active.origin);
                }
            }
        }
        self.active = running;
    }

    /// Closes the slots of those sources that are not searched; returns how many it were.
    fn close_idle<N: StepNetwork + ?Sized>(
        &mut self,
        network: &mut N,
        is_meant: impl Fn(&Source) -> bool,
    ) -> usize {
        let idle = self.sources.values_mut().filter(|source| !source.busy && is_meant(source));
        idle.map(|source| usize::from(source.close(network))).sum()
    }

    fn active_rows(&self) -> usize {
        self.active.iter().map(|active| active.search.rows()).sum()
    }

    /// One step of the network for every running search: one call for all beams, one for all
    /// samples. The answers are in the order of the searches.
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
        self.waiting.drop_source(source);
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

    /// Starts the jobs whose turn it is while they fit; those that are over without a step of the
    /// network join the `finished`. Where the network fails they wait as before. Says whether the
    /// sources of others that fit come next.
    fn admit<N: StepNetwork + ?Sized>(
        &mut self,
        network: &mut N,
        finished: &mut Vec<Finished>,
    ) -> Result<bool, DecodeError> {
        let (admitted, is_cut) = loop {
            let running = self.active_rows();
            let (admitted, rows, is_cut) = self.take_waiting(running, network.tokens_at_once());
            let Err(error) = self.encode(&admitted, network) else { break (admitted, is_cut) };
            let jobs = admitted.len();
            for waiting in admitted {
                let source = self.sources.get_mut(&waiting.source);
                source.expect("jobs go with their source").busy = false;
                self.waiting.put(waiting);
            }
            if !is_full(&error) || (running == 0 && jobs == 1) {
                return Err(error);
            }
            network.tell(&format!("the GPU is full: of {jobs} sentences at once half wait"));
            self.row_limit = running + rows / 2;
        };
        for waiting in &admitted {
            self.waiting.count_begun(waiting.job);
        }
        for waiting in admitted {
            let (active, stop) = self.begin(waiting, network)?;
            match stop {
                None => self.active.push(active),
                Some(stop) => finished.push(self.finish(active, stop, network)),
            }
        }
        Ok(is_cut)
    }

    /// Takes the jobs whose turn it is while they fit beside so many rows, and their sources into
    /// one batch of at most so many tokens; also returns their rows, and whether it was sources
    /// that kept others out.
    fn take_waiting(&mut self, running: usize, at_once: usize) -> (Vec<Waiting>, usize, bool) {
        let (mut taken, mut rows, mut tokens) = (Vec::new(), 0, 0);
        loop {
            // One search may run alone, however large it is.
            let most = match running + rows {
                0 => usize::MAX,
                all => self.row_limit.saturating_sub(all),
            };
            if most == 0 {
                break;
            }
            let is_free = |source| !self.sources[&source].busy;
            let Some(next) = self.waiting.take(most, is_free) else { break };
            let source = self.sources.get_mut(&next.source).expect("jobs go with their source");
            let unread = source.slot.map_or(source.tokens.len(), |_| 0);
            if unread > 0 && tokens > 0 && tokens + unread > at_once {
                self.waiting.put(next);
                return (taken, rows, true);
            }
            source.busy = true;
            tokens += unread;
            rows += next.settings.rows();
            taken.push(next);
        }
        (taken, rows, false)
    }

    /// Starts a search, from the first step that is not that of the search before; also says
    /// whether it is over already.
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

    /// Encodes the sources of new jobs that have no slot yet, as one batch; where there is no room,
    /// those that are not searched give theirs.
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
        let encode = |scheduler: &Self, network: &mut N| {
            let tokens: Vec<&[u32]> =
                unopened.iter().map(|id| scheduler.sources[id].tokens.as_slice()).collect();
            open(network, &tokens)
        };
        let mut opened = encode(self, network);
        if opened.as_ref().is_err_and(is_full) && self.close_idle(network, |_| true) > 0 {
            opened = encode(self, network);
        }
        let slots = opened?;
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
        let (steps, hypotheses) = match search {
            Search::Beam { search, past } => {
                source.past = past;
                (search.steps(), search.into_hypotheses())
            }
            Search::Sample(search) => (search.steps(), search.into_hypotheses()),
        };
        if source.past.is_none() {
            network.rewind(slot, 0);
        }
        Finished { job, source: id, hypotheses, stop, steps, steps_reused }
    }

    fn fresh_id(&mut self) -> u64 {
        self.next_id += 1;
        self.next_id
    }
}
