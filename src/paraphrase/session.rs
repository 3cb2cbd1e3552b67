//! Rounds of rewriting: sources stay encoded while the bans on them grow.
//!
//! Expansion rewrites each sentence several times, banning after every round what the round found.
//! A session keeps many sentences in flight: the caller opens sources, submits a job per round,
//! takes whatever is finished next, and submits the next round or closes the source. Finished rows
//! are refilled at once, so rounds of different sentences share the steps of the network.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;

use super::{Outcome, Paraphrase, ParaphraseError, Paraphraser, Refusal, Settings};
use crate::decode::{AvoidPhrases, BeamSettings, Constraint, Finished, JobId, Scheduler, SourceId};
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
    constraints: HashMap<JobId, (SourceId, Constraint)>,
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
    /// Steps of the search.
    pub steps: usize,
}

impl<'p, N: StepNetwork> Session<'p, N> {
    pub(super) fn new(
        paraphraser: &'p mut Paraphraser<N>,
        settings: Settings,
    ) -> Result<Self, ParaphraseError> {
        settings.beam.check()?;
        Ok(Self {
            everywhere: paraphraser.compile(&settings.avoid)?,
            scheduler: Scheduler::new(settings.row_limit),
            constraints: HashMap::new(),
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
                Ok(self.scheduler.add_source(tokens))
            }
        }
    }

    /// Asks for paraphrases of an open source without the phrases in `avoid`, which holds all bans
    /// of this round (the session's own come on top). Jobs of one source run one after the other.
    ///
    /// # Errors
    /// When a phrase has no visible letter.
    ///
    /// # Panics
    /// If the source was closed.
    pub fn submit(&mut self, source: SourceId, avoid: &[String]) -> Result<JobId, ParaphraseError> {
        let constraint = self.paraphraser.constraint(self.everywhere.clone(), avoid)?;
        // All hypotheses are asked for: some may spell the same text.
        let beam = BeamSettings { n_best: self.settings.beam.beam_size, ..self.settings.beam };
        let job = self.scheduler.submit(source, constraint.clone(), beam)?;
        self.constraints.insert(job, (source, constraint));
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
                    self.constraints.clear();
                    return Err(error.into());
                }
            }
        }
    }

    /// Forgets a source; its jobs that are not over are dropped.
    pub fn close(&mut self, source: SourceId) {
        self.scheduler.release(source, &mut self.paraphraser.network);
        self.constraints.retain(|_, (of, _)| *of != source);
    }

    fn rewrite(&mut self, finished: Finished) -> Result<Rewrite, ParaphraseError> {
        let Finished { job, source, hypotheses, stop, steps } = finished;
        let (_, constraint) = self.constraints.remove(&job).expect("a job has its constraint");
        let mut seen = HashSet::new();
        let mut paraphrases = Vec::new();
        for hypothesis in hypotheses {
            let decoded = self.paraphraser.tokenizer.decode(&hypothesis.tokens)?;
            let text = decoded.trim();
            if !constraint.violations(text).is_empty() {
                self.paraphraser.leaks += 1;
            } else if !text.is_empty() && seen.insert(text.to_owned()) {
                paraphrases.push(Paraphrase {
                    text: text.to_owned(),
                    score: hypothesis.mean_negative_log_likelihood(),
                    ended: hypothesis.ended,
                });
            }
        }
        paraphrases.truncate(self.settings.beam.n_best);
        let outcome = if paraphrases.is_empty() {
            Outcome::NothingLeft(stop)
        } else {
            Outcome::Paraphrases(paraphrases)
        };
        Ok(Rewrite { job, source, outcome, steps })
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
            session.submit(source, &[]).unwrap();
            chains.push((source, Vec::new(), Vec::new()));
        }
        while let Some(rewrite) = session.next_finished().unwrap() {
            let chain = chains.iter_mut().find(|chain| chain.0 == rewrite.source).unwrap();
            chain.1.extend(first_word(&rewrite.outcome));
            chain.2.push(rewrite.outcome);
            if chain.2.len() < 3 {
                session.submit(chain.0, &chain.1).unwrap();
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
            session.submit(source, &[]).unwrap();
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
        session.submit(source, &[]).unwrap();
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
        session.submit(source, &avoid).unwrap();
        let outcome = session.next_finished().unwrap().unwrap().outcome;
        assert_eq!(outcome, Outcome::NothingLeft(Stop::LengthLimit));
    }
}
