//! Rounds of rewriting: sources stay encoded while the bans on them grow.
//!
//! Expansion rewrites each sentence several times, banning after every round what the round found.
//! A session keeps many sentences in flight: the caller opens sources, submits a job per round,
//! takes whatever is finished next, and submits the next round or closes the source. Finished rows
//! are refilled at once, so rounds of different sentences share the steps of the network.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;

use super::constraints::Compiled;
use super::{Constraints, Outcome, Paraphrase, ParaphraseError, Paraphraser, Refusal, Settings};
use crate::decode::{
    AvoidPhrases, BeamSettings, Finished, JobId, Scheduler, SearchSettings, SourceId,
};
use crate::nn::StepNetwork;

/// Sources in flight through one rewriter.
///
/// Dropping the session frees its sources.
#[derive(Debug)]
pub struct Session<'p, N: StepNetwork> {
    paraphraser: &'p mut Paraphraser<N>,
    settings: Settings,
    everywhere: Option<Arc<AvoidPhrases>>,
    scheduler: Scheduler,
    /// Constraints of the jobs in flight, for the check on final texts.
    compiled: HashMap<JobId, (SourceId, Compiled)>,
    /// Constraints of each source's last job.
    last: HashMap<SourceId, Constraints>,
    finished: VecDeque<Rewrite>,
}

/// A job that is over.
#[derive(Debug, Clone, PartialEq)]
pub struct Rewrite {
    /// The job.
    pub job: JobId,
    /// The source it rewrote.
    pub source: SourceId,
    /// What came out.
    pub outcome: Outcome,
    /// Bans that were lifted, since what is required holds them.
    pub lifted: Vec<String>,
    /// Steps of the search.
    pub steps: usize,
    /// How many of them were those of the round before, and took no work.
    pub steps_reused: usize,
}

impl<'p, N: StepNetwork> Session<'p, N> {
    pub(super) fn new(
        paraphraser: &'p mut Paraphraser<N>,
        settings: Settings,
    ) -> Result<Self, ParaphraseError> {
        search(&settings).check()?;
        Ok(Self {
            everywhere: paraphraser.avoid(&settings.avoid)?,
            scheduler: Scheduler::new(settings.row_limit),
            compiled: HashMap::new(),
            last: HashMap::new(),
            finished: VecDeque::new(),
            paraphraser,
            settings,
        })
    }

    /// Takes a sentence. It stays encoded from its first job until it is closed, which for the default
    /// rewriter is about 4 KiB a piece: keep a few hundred in flight, not a corpus.
    ///
    /// # Errors
    /// [`ParaphraseError::Refused`] when it is empty or too long.
    pub fn open(&mut self, text: &str) -> Result<SourceId, ParaphraseError> {
        let mut tokens = self.paraphraser.tokenizer.encode(text.trim())?;
        let network = &self.paraphraser.network;
        let limit = self.settings.max_source_pieces.min(network.max_length().saturating_sub(1));
        match tokens.len() {
            0 => Err(Refusal::Empty.into()),
            pieces if pieces > limit => Err(Refusal::TooLong { pieces, limit }.into()),
            _ => {
                tokens.push(network.eos_token());
                Ok(match self.settings.keep_steps {
                    true => self.scheduler.add_source_with_steps(tokens),
                    false => self.scheduler.add_source(tokens),
                })
            }
        }
    }

    /// Asks for paraphrases of an open source under the constraints of this round, all of them (the
    /// session's own bans come on top). Jobs of one source run one after the other; where steps are
    /// kept, a job that only bans more than the one before goes on from it.
    ///
    /// # Errors
    /// When a phrase has no visible letter, more than 128 phrases are required, or any while samples
    /// are drawn.
    ///
    /// # Panics
    /// If the source was closed.
    pub fn submit(
        &mut self,
        source: SourceId,
        constraints: &Constraints,
    ) -> Result<JobId, ParaphraseError> {
        let everywhere = (self.settings.avoid.as_slice(), self.everywhere.as_ref());
        let compiled = self.paraphraser.compile(constraints, everywhere)?;
        let constraint = compiled.constraint.clone();
        let before = self.last.insert(source, constraints.clone());
        let job = match before.is_some_and(|before| constraints.only_ban_more_than(&before)) {
            true => self.scheduler.submit_next(source, constraint, search(&self.settings))?,
            false => self.scheduler.submit(source, constraint, search(&self.settings))?,
        };
        self.compiled.insert(job, (source, compiled));
        Ok(job)
    }

    /// Works until a job is over and returns it; `None` when no job is left.
    ///
    /// # Errors
    /// When the network fails; all sources and jobs of the session are then gone.
    pub fn next_finished(&mut self) -> Result<Option<Rewrite>, ParaphraseError> {
        loop {
            if let Some(rewrite) = self.finished.pop_front() {
                return Ok(Some(rewrite));
            }
            if self.scheduler.is_idle() {
                return Ok(None);
            }
            match self.scheduler.step(&mut self.paraphraser.network) {
                Ok(finished) => {
                    for finished in finished {
                        let rewrite = self.rewrite(finished)?;
                        self.finished.push_back(rewrite);
                    }
                }
                Err(error) => {
                    self.scheduler.clear(&mut self.paraphraser.network);
                    self.compiled.clear();
                    self.last.clear();
                    return Err(error.into());
                }
            }
        }
    }

    /// Forgets a source; its jobs that are not over are dropped.
    pub fn close(&mut self, source: SourceId) {
        self.scheduler.release(source, &mut self.paraphraser.network);
        self.compiled.retain(|_, (of, _)| *of != source);
        self.last.remove(&source);
    }

    fn rewrite(&mut self, finished: Finished) -> Result<Rewrite, ParaphraseError> {
        let Finished { job, source, hypotheses, stop, steps, steps_reused } = finished;
        let (_, compiled) = self.compiled.remove(&job).expect("a job has its constraints");
        let mut seen = HashSet::new();
        let mut paraphrases = Vec::new();
        for hypothesis in hypotheses {
            let decoded = self.paraphraser.tokenizer.decode(&hypothesis.tokens)?;
            let text = decoded.trim();
            if compiled.is_broken(text, &hypothesis.unmet) {
                self.paraphraser.leaks += 1;
            } else if !text.is_empty() && seen.insert(text.to_owned()) {
                paraphrases.push(Paraphrase {
                    text: text.to_owned(),
                    score: hypothesis.mean_negative_log_likelihood(),
                    log_prob: hypothesis.score,
                    ended: hypothesis.ended,
                    unmet: hypothesis.unmet,
                });
            }
        }
        if self.settings.sample.is_none() {
            paraphrases.truncate(self.settings.beam.n_best);
        }
        let outcome = if paraphrases.is_empty() {
            Outcome::NothingLeft(stop)
        } else {
            Outcome::Paraphrases(paraphrases)
        };
        let lifted = compiled.lifted;
        Ok(Rewrite { job, source, outcome, lifted, steps, steps_reused })
    }
}

/// The search of every job. All hypotheses are asked for: some may spell the same text.
fn search(settings: &Settings) -> SearchSettings {
    match settings.sample {
        Some(sample) => sample.into(),
        None => {
            let n_best = settings.beam.outputs_wanted();
            BeamSettings { n_best, ..settings.beam }.into()
        }
    }
}

impl<N: StepNetwork> Drop for Session<'_, N> {
    fn drop(&mut self) {
        self.scheduler.clear(&mut self.paraphraser.network);
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{paraphraser, settings};
    use super::*;
    use crate::decode::{LengthLimit, Stop};

    fn first_word(outcome: &Outcome) -> Option<String> {
        let letters = |word: &&str| word.chars().any(char::is_alphanumeric);
        outcome.paraphrases().first()?.text.split(' ').find(letters).map(str::to_owned)
    }

    /// Bans the first word of each round's best text in the rounds after it.
    fn rounds(session: &mut Session<'_, impl StepNetwork>, texts: &[&str]) -> Vec<Vec<Outcome>> {
        let mut chains: Vec<(SourceId, Vec<String>, Vec<Outcome>)> = Vec::new();
        for text in texts {
            let source = session.open(text).unwrap();
            session.submit(source, &Constraints::default()).unwrap();
            chains.push((source, Vec::new(), Vec::new()));
        }
        while let Some(rewrite) = session.next_finished().unwrap() {
            let chain = chains.iter_mut().find(|chain| chain.0 == rewrite.source).unwrap();
            chain.1.extend(first_word(&rewrite.outcome));
            chain.2.push(rewrite.outcome);
            if chain.2.len() < 3 {
                session.submit(chain.0, &Constraints::avoiding(&chain.1)).unwrap();
            } else {
                session.close(chain.0);
            }
        }
        chains.into_iter().map(|chain| chain.2).collect()
    }

    #[test]
    fn rounds_of_several_sources_are_those_of_each_alone_and_encode_it_once() {
        let texts = ["the cat", "a dog", "the dog confirmed"];
        let mut paraphraser = paraphraser();
        let together = rounds(&mut paraphraser.session(settings()).unwrap(), &texts);
        assert_eq!(paraphraser.network.encoded, 3);
        for (text, outcomes) in texts.iter().zip(together) {
            assert_eq!(outcomes.len(), 3);
            assert_ne!(outcomes[0], outcomes[1]);
            let alone = rounds(&mut paraphraser.session(settings()).unwrap(), &[text]);
            assert_eq!(alone[0], outcomes);
        }
        assert_eq!(paraphraser.leaks(), 0);
    }

    #[test]
    fn dropping_a_session_frees_its_sources() {
        let mut paraphraser = paraphraser();
        let mut session = paraphraser.session(settings()).unwrap();
        for text in ["the cat", "a dog"] {
            let source = session.open(text).unwrap();
            session.submit(source, &Constraints::default()).unwrap();
        }
        session.next_finished().unwrap();
        drop(session);
        assert_eq!(paraphraser.network.encoded, 2);
        assert_eq!(paraphraser.network.open_slots(), 0);
    }

    #[test]
    fn a_session_without_jobs_has_nothing_to_wait_for() {
        let mut paraphraser = paraphraser();
        let mut session = paraphraser.session(settings()).unwrap();
        session.open("the cat").unwrap();
        assert_eq!(session.next_finished().unwrap(), None);
    }

    #[test]
    fn a_network_that_fails_ends_all_jobs() {
        let mut paraphraser = paraphraser();
        paraphraser.network.is_broken = true;
        let mut session = paraphraser.session(settings()).unwrap();
        let source = session.open("the cat").unwrap();
        session.submit(source, &Constraints::default()).unwrap();
        let error = session.next_finished().unwrap_err();
        assert!(matches!(error, ParaphraseError::Decode { .. }), "{error}");
        assert_eq!(session.next_finished().unwrap(), None);
        drop(session);
        assert_eq!(paraphraser.network.open_slots(), 0);
    }

    #[test]
    fn bans_that_leave_nothing_to_say_are_an_outcome() {
        let mut paraphraser = paraphraser();
        let mut settings = settings();
        settings.beam.length_limit = LengthLimit::tokens(1);
        let ids = 0..u32::try_from(paraphraser.tokenizer.vocab_size()).unwrap();
        let surfaces =
            ids.filter_map(|id| std::str::from_utf8(paraphraser.tokenizer.surface(id)).ok());
        let words = surfaces.map(str::trim).filter(|surface| !surface.is_empty());
        let avoid: Vec<String> = words.map(str::to_owned).collect();
        let mut session = paraphraser.session(settings).unwrap();
        let source = session.open("the cat").unwrap();
        session.submit(source, &Constraints::avoiding(avoid)).unwrap();
        let outcome = session.next_finished().unwrap().unwrap().outcome;
        assert_eq!(outcome, Outcome::NothingLeft(Stop::LengthLimit));
    }
}
