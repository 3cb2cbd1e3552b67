//! Many searches through one network: continuous batching.
//!
//! Jobs wait in line; as soon as a search ends, its rows go to the next job, without waiting for the
//! others. A source stays encoded in its slot until it is released, so that it can be searched again
//! under other constraints (each round of expansion rewrites the same sentence). Jobs of one source
//! run one after the other, jobs of different sources side by side.
//!
//! A search sees only its own candidates, so with a network whose rows do not depend on each other
//! its result does not depend on what else is in the batch.

use std::collections::{BTreeMap, VecDeque};

use super::DecodeError;
use super::beam::{BeamSearch, Hypothesis, Stop};
use super::constraint::Constraint;
use super::settings::BeamSettings;
use crate::nn::{SlotId, StepNetwork};

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
}

#[derive(Debug)]
struct Waiting {
    job: JobId,
    source: SourceId,
    constraint: Constraint,
    settings: BeamSettings,
}

#[derive(Debug)]
struct Active {
    job: JobId,
    source: SourceId,
    slot: SlotId,
    search: BeamSearch,
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
        self.sources.insert(id, Source { tokens, slot: None, busy: false });
        id
    }

    /// Puts a search at the end of the line.
    ///
    /// # Errors
    /// When no search can follow the settings.
    ///
    /// # Panics
    /// If the source was released.
    pub fn submit(
        &mut self,
        source: SourceId,
        constraint: Constraint,
        settings: BeamSettings,
    ) -> Result<JobId, DecodeError> {
        settings.check()?;
        assert!(self.sources.contains_key(&source), "cannot search {source:?}: it was released");
        let job = JobId(self.fresh_id());
        self.waiting.push_back(Waiting { job, source, constraint, settings });
        Ok(job)
    }

    /// Whether no search is waiting or running.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.waiting.is_empty() && self.active.is_empty()
    }

    /// Starts waiting searches where there is room, takes one step with all running ones, and
    /// returns those that are over, in the order in which they began.
    ///
    /// # Errors
    /// When the network fails. The searches in progress are then lost; call
    /// [`clear`](Self::clear).
    pub fn step<N: StepNetwork + ?Sized>(
        &mut self,
        network: &mut N,
    ) -> Result<Vec<Finished>, DecodeError> {
        self.admit(network)?;
        if self.active.is_empty() {
            return Ok(Vec::new());
        }
        let (mut rows, mut masks, mut top) = (Vec::new(), Vec::new(), 0);
        for active in &self.active {
            active.search.write_step(active.slot, &mut rows, &mut masks);
            top = top.max(active.search.candidates_wanted());
        }
        let answers = network
            .step(&rows, &masks, top)
            .map_err(|source| DecodeError::Network { doing: "take a step", source })?;
        assert_eq!(answers.len(), self.active.len(), "a network answers for every slot");

        let mut finished = Vec::new();
        let mut running = Vec::with_capacity(self.active.len());
        for (mut active, answer) in std::mem::take(&mut self.active).into_iter().zip(answers) {
            assert_eq!(answer.slot, active.slot, "a network answers in the order of the rows");
            match active.search.advance(&answer.best) {
                None => running.push(active),
                Some(stop) => finished.push(self.finish(active, stop, network)),
            }
        }
        self.active = running;
        Ok(finished)
    }

    /// Forgets a source and frees its slot. Its jobs that are not over are dropped.
    pub fn release<N: StepNetwork + ?Sized>(&mut self, source: SourceId, network: &mut N) {
        self.waiting.retain(|waiting| waiting.source != source);
        self.active.retain(|active| active.source != source);
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

    /// Starts the jobs at the head of the line that fit. A job whose source is busy lets others
    /// pass.
    fn admit<N: StepNetwork + ?Sized>(&mut self, network: &mut N) -> Result<(), DecodeError> {
        let mut rows: usize = self.active.iter().map(|active| active.search.beam_size()).sum();
        let mut admitted = Vec::new();
        let mut at = 0;
        while let Some(waiting) = self.waiting.get(at) {
            let beam_size = waiting.settings.beam_size;
            if rows > 0 && rows + beam_size > self.row_limit {
                break;
            }
            let source = self.sources.get_mut(&waiting.source).expect("jobs go with their source");
            if source.busy {
                at += 1;
                continue;
            }
            source.busy = true;
            rows += beam_size;
            admitted.extend(self.waiting.remove(at));
        }
        self.encode(&admitted, network)?;
        for Waiting { job, source, constraint, settings } in admitted {
            let Source { tokens, slot, .. } = &self.sources[&source];
            let slot = slot.expect("the source was encoded above");
            let max_length = settings.length_limit.for_source(tokens.len(), network.max_length());
            let (start, eos) = (network.start_token(), network.eos_token());
            let search = BeamSearch::new(settings, constraint, start, eos, max_length);
            self.active.push(Active { job, source, slot, search });
        }
        Ok(())
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
        let slots = network
            .open(&tokens)
            .map_err(|source| DecodeError::Network { doing: "open sources", source })?;
        for (id, slot) in unopened.iter().zip(slots) {
            self.sources.get_mut(id).expect("it is among the sources").slot = Some(slot);
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
        let Active { job, source, slot, search } = active;
        network.rewind(slot);
        self.sources.get_mut(&source).expect("jobs go with their source").busy = false;
        let steps = search.steps();
        Finished { job, source, hypotheses: search.into_hypotheses(), stop, steps }
    }

    fn fresh_id(&mut self) -> u64 {
        self.next_id += 1;
        self.next_id
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::super::settings::{LengthLimit, LengthPenalty, Stopping};
    use super::super::toy::{EOS, ToyNetwork};
    use super::super::{AvoidPhrases, AvoidTokens, Vocabulary, violations};
    use super::*;

    fn settings(beam_size: usize, max_length: usize) -> BeamSettings {
        BeamSettings {
            beam_size,
            n_best: beam_size,
            length_limit: LengthLimit::tokens(max_length),
            ..BeamSettings::default()
        }
    }

    fn search(
        network: &mut ToyNetwork,
        source: &[u32],
        constraint: Constraint,
        settings: BeamSettings,
    ) -> Finished {
        let mut scheduler = Scheduler::new(1000);
        let source = scheduler.add_source(source.to_vec());
        scheduler.submit(source, constraint, settings).unwrap();
        let finished = run(&mut scheduler, network).remove(0);
        scheduler.clear(network);
        finished
    }

    fn run(scheduler: &mut Scheduler, network: &mut ToyNetwork) -> Vec<Finished> {
        let mut all = Vec::new();
        while !scheduler.is_idle() {
            all.extend(scheduler.step(network).unwrap());
        }
        all
    }

    /// Outputs and ranks as full enumeration gives them.
    fn oracle(
        network: &ToyNetwork,
        source: &[u32],
        max_length: usize,
        allowed: impl Fn(&[u32]) -> bool,
    ) -> Vec<(Vec<u32>, f32)> {
        let mut all = network.enumerate(source, max_length);
        all.retain(|(tokens, _)| allowed(tokens));
        by_rank(&mut all);
        all
    }

    /// Sorts best first; what ranks the same by its tokens, for the enumeration has another order
    /// among equals than the search.
    fn by_rank(outputs: &mut [(Vec<u32>, f32)]) {
        let rank = |(tokens, score): &(Vec<u32>, f32)| {
            LengthPenalty::default().normalize(*score, tokens.len())
        };
        outputs.sort_by(|a, b| rank(b).total_cmp(&rank(a)).then_with(|| a.0.cmp(&b.0)));
    }

    fn outputs(finished: &Finished) -> Vec<(Vec<u32>, f32)> {
        let falls = |a: &Hypothesis, b: &Hypothesis| a.normalized_score >= b.normalized_score;
        assert!(finished.hypotheses.is_sorted_by(falls), "the search ranks its outputs itself");
        let mut outputs: Vec<(Vec<u32>, f32)> =
            finished.hypotheses.iter().map(|h| (h.tokens.clone(), h.score)).collect();
        by_rank(&mut outputs);
        outputs
    }

    const SURFACES: [&[u8]; 6] = [b"", b"", b" a", b"a", b" b", b"."];

    fn text(tokens: &[u32]) -> String {
        let bytes: Vec<u8> = tokens.iter().flat_map(|&t| SURFACES[t as usize]).copied().collect();
        String::from_utf8(bytes).unwrap()
    }

    fn banning(phrases: &[String]) -> Constraint {
        let vocabulary = Arc::new(Vocabulary::new(SURFACES));
        let here = Some(Arc::new(AvoidPhrases::new(vocabulary, phrases).unwrap()));
        Constraint { here, ..Constraint::default() }
    }

    #[test]
    fn a_beam_as_wide_as_the_space_finds_what_enumeration_finds() {
        for seed in 0..5 {
            let mut network = ToyNetwork::new(4, 4);
            let expected = oracle(&network, &[seed], 4, |_| true);
            let wide = settings(4usize.pow(4), 4);
            let finished = search(&mut network, &[seed], Constraint::default(), wide);
            assert_eq!(outputs(&finished), expected);
            assert_eq!(finished.stop, Stop::LengthLimit);
        }
    }

    #[test]
    fn exhaustive_stopping_never_does_worse_than_the_heuristic() {
        for seed in 0..20 {
            let best = |stopping| {
                let mut network = ToyNetwork::new(5, 6);
                network.sharpness = 5.0;
                let settings = BeamSettings { stopping, ..settings(3, 6) };
                search(&mut network, &[seed], Constraint::default(), settings).hypotheses[0]
                    .normalized_score
            };
            assert!(best(Stopping::Exhaustive) >= best(Stopping::Heuristic));
            assert!(best(Stopping::Heuristic) >= best(Stopping::FirstFull));
        }
    }

    #[test]
    fn a_beam_of_one_takes_the_best_token_until_one_output_is_finished() {
        let mut network = ToyNetwork::new(4, 8);
        let finished = search(&mut network, &[3], Constraint::default(), settings(1, 8));
        let mut greedy = Vec::new();
        while greedy.last() != Some(&EOS) && greedy.len() < 8 {
            let log_probs = network.log_probs(&[3], &greedy);
            let best =
                (0..4u32).max_by(|&a, &b| log_probs[a as usize].total_cmp(&log_probs[b as usize]));
            greedy.extend(best);
        }
        assert_eq!(finished.hypotheses[0].tokens, greedy);
    }

    #[test]
    fn a_result_does_not_depend_on_what_shares_the_batch() {
        let mut network = ToyNetwork::new(6, 10);
        let alone: Vec<_> = (0..7)
            .map(|seed| {
                let beam = settings(1 + seed as usize % 3, 4 + seed as usize);
                outputs(&search(&mut network, &[seed], banning(&["a".to_owned()]), beam))
            })
            .collect();
        for row_limit in [1, 4, 100] {
            let mut scheduler = Scheduler::new(row_limit);
            let jobs: Vec<JobId> = (0..7)
                .map(|seed| {
                    let source = scheduler.add_source(vec![seed]);
                    let beam = settings(1 + seed as usize % 3, 4 + seed as usize);
                    scheduler.submit(source, banning(&["a".to_owned()]), beam).unwrap()
                })
                .collect();
            network.most_rows = 0;
            let finished = run(&mut scheduler, &mut network);
            for (job, expected) in jobs.iter().zip(&alone) {
                let found = finished.iter().find(|finished| finished.job == *job).unwrap();
                assert_eq!(&outputs(found), expected);
            }
            assert!(network.most_rows <= row_limit.max(3));
            scheduler.clear(&mut network);
            assert_eq!(network.open_slots(), 0);
        }
    }

    #[test]
    fn rounds_of_one_source_encode_it_once() {
        let mut network = ToyNetwork::new(6, 6);
        let mut scheduler = Scheduler::new(100);
        let source = scheduler.add_source(vec![7]);
        for phrase in ["a", "b", "a b"] {
            scheduler.submit(source, banning(&[phrase.to_owned()]), settings(3, 6)).unwrap();
        }
        let finished = run(&mut scheduler, &mut network);
        assert_eq!(finished.len(), 3);
        assert!(finished.is_sorted_by_key(|finished| finished.job));
        assert_eq!(network.encoded, 1);
        let fresh =
            search(&mut ToyNetwork::new(6, 6), &[7], banning(&["b".to_owned()]), settings(3, 6));
        assert_eq!(finished[1].hypotheses, fresh.hypotheses);
        scheduler.release(source, &mut network);
        assert_eq!(network.open_slots(), 0);
    }

    #[test]
    fn releasing_a_source_drops_its_jobs() {
        let mut network = ToyNetwork::new(4, 6);
        let mut scheduler = Scheduler::new(100);
        let source = scheduler.add_source(vec![7]);
        scheduler.submit(source, Constraint::default(), settings(2, 6)).unwrap();
        scheduler.submit(source, Constraint::default(), settings(2, 6)).unwrap();
        scheduler.step(&mut network).unwrap();
        scheduler.release(source, &mut network);
        assert!(scheduler.is_idle());
        assert_eq!(network.open_slots(), 0);
    }

    #[test]
    fn a_network_that_fails_is_an_error_and_clearing_frees_it() {
        let mut network = ToyNetwork::new(4, 6);
        let mut scheduler = Scheduler::new(100);
        let source = scheduler.add_source(vec![7]);
        scheduler.submit(source, Constraint::default(), settings(2, 6)).unwrap();
        scheduler.step(&mut network).unwrap();
        network.is_broken = true;
        let error = scheduler.step(&mut network).unwrap_err();
        assert!(matches!(error, DecodeError::Network { doing: "take a step", .. }), "{error}");
        scheduler.clear(&mut network);
        assert!(scheduler.is_idle());
        assert_eq!(network.open_slots(), 0);
    }

    #[test]
    fn when_everything_is_banned_the_search_says_so() {
        let all = AvoidTokens::new((0..4u32).map(|token| vec![token])).unwrap();
        let constraint = Constraint { tokens: Some(Arc::new(all)), ..Constraint::default() };
        let finished = search(&mut ToyNetwork::new(4, 4), &[1], constraint, settings(2, 4));
        assert_eq!((finished.hypotheses.len(), finished.stop), (0, Stop::Blocked));
        assert_eq!(finished.steps, 1);
    }

    #[test]
    fn settings_are_checked_when_a_job_is_submitted() {
        let mut scheduler = Scheduler::new(10);
        let source = scheduler.add_source(vec![1]);
        let settings = BeamSettings { beam_size: 0, ..BeamSettings::default() };
        let error = scheduler.submit(source, Constraint::default(), settings).unwrap_err();
        assert!(matches!(error, DecodeError::Settings { setting: "beam_size", .. }));
    }

    #[test]
    fn bans_set_candidates_aside_and_change_no_score() {
        let mut network = ToyNetwork::new(6, 4);
        let finished = search(&mut network, &[2], banning(&["a".to_owned()]), settings(4, 4));
        for hypothesis in &finished.hypotheses {
            let mut score = 0.0;
            for (at, &token) in hypothesis.tokens.iter().enumerate() {
                score += network.log_probs(&[2], &hypothesis.tokens[..at])[token as usize];
            }
            assert_eq!(hypothesis.score, score);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]

        #[test]
        fn under_bans_a_wide_beam_finds_the_allowed_part_of_the_enumeration(
            phrases in prop::collection::vec("[ab]{1,2}|[ab] [ab]|\\.|a\\.", 1..3),
            seed in 0u32..1000,
        ) {
            let mut network = ToyNetwork::new(SURFACES.len(), 3);
            let allowed = |tokens: &[u32]| violations(&text(tokens), &phrases).unwrap().is_empty();
            let expected = oracle(&network, &[seed], 3, allowed);
            let wide = settings(SURFACES.len().pow(3), 3);
            let finished = search(&mut network, &[seed], banning(&phrases), wide);
            prop_assert_eq!(outputs(&finished), expected);
        }

        #[test]
        fn no_output_of_a_narrow_beam_holds_a_banned_phrase(
            phrases in prop::collection::vec("[ab]{1,3}|[ab] [ab]|\\.|a\\.", 1..4),
            seed in 0u32..1000,
            beam_size in 1usize..5,
        ) {
            let mut network = ToyNetwork::new(SURFACES.len(), 9);
            let beam = settings(beam_size, 9);
            let finished = search(&mut network, &[seed], banning(&phrases), beam);
            for hypothesis in finished.hypotheses {
                let text = text(&hypothesis.tokens);
                prop_assert!(violations(&text, &phrases).unwrap().is_empty(), "{}", text);
            }
        }

        #[test]
        fn token_bans_leave_what_holds_no_banned_sequence(
            sequences in prop::collection::vec(prop::collection::vec(1u32..4, 1..4), 1..3),
            seed in 0u32..1000,
        ) {
            let mut network = ToyNetwork::new(4, 4);
            let free = |tokens: &[u32]| {
                !sequences.iter().any(|s| tokens.windows(s.len()).any(|window| window == s))
            };
            let expected = oracle(&network, &[seed], 4, free);
            let avoid = Arc::new(AvoidTokens::new(&sequences).unwrap());
            let constraint = Constraint { tokens: Some(avoid), ..Constraint::default() };
            let finished = search(&mut network, &[seed], constraint, settings(256, 4));
            prop_assert_eq!(outputs(&finished), expected);
        }
    }
}
