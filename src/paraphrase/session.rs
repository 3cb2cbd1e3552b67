//! Rounds of rewriting: sources stay encoded while the bans on them grow.
//!
//! Expansion rewrites each sentence several times, banning after every round what the round found.
//! A session keeps many sentences in flight: the caller opens sources, submits a job per round,
//! takes whatever is finished next, and submits the next round or closes the source. Finished rows
//! are refilled at once, so rounds of different sentences share the steps of the network.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;

use super::constraints::Compiled;
use super::reading::Reading;
use super::{
    Constraints, Paraphrase, ParaphraseError, Paraphraser, Refusal, RequestOutcome, Settings,
};
use crate::engine::{
    AvoidPhrases, BeamSettings, DecodeError, Finished, GoesOn, JobId, LengthLimit, SampleSettings,
    Scheduler, SearchSettings, SourceId, StepNetwork, always,
};

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
    opened: HashMap<SourceId, OpenSource>,
    finished: VecDeque<Rewrite>,
}

/// A source as it was opened.
#[derive(Debug)]
struct OpenSource {
    text: String,
    reading: Reading,
    /// The constraints that it is read under, until a job takes them.
    prepared: Option<(Constraints, Compiled)>,
}

/// A job that is over.
#[derive(Debug, Clone, PartialEq)]
pub struct Rewrite {
    /// The job.
    pub job: JobId,
    /// The source it rewrote.
    pub source: SourceId,
    /// What came out.
    pub outcome: RequestOutcome,
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
        search(&settings, |limit| limit).check()?;
        Ok(Self {
            everywhere: paraphraser.avoid(&settings.avoid)?,
            scheduler: Scheduler::new(settings.row_limit),
            compiled: HashMap::new(),
            last: HashMap::new(),
            opened: HashMap::new(),
            finished: VecDeque::new(),
            paraphraser,
            settings,
        })
    }

    /// Takes a sentence. It stays encoded from its first job until it is closed. For the default
    /// rewriter that is about 4 KiB a piece: keep a few hundred in flight, not a corpus.
    ///
    /// # Errors
    /// [`ParaphraseError::Refused`] when it is empty or too long.
    pub fn open(&mut self, text: &str) -> Result<SourceId, ParaphraseError> {
        let text = text.trim();
        let reading = self.paraphraser.reading(text, None, &self.settings)?;
        Ok(self.add(text, reading, None))
    }

    /// As [`open`](Self::open), to be read under the constraints of its first job. If the network
    /// was trained with a mark, it stands before each word that begins a banned phrase; a language
    /// model's prompt lists them.
    ///
    /// # Errors
    /// As [`open`](Self::open), or when a banned phrase has no visible letter.
    pub fn open_under(
        &mut self,
        text: &str,
        constraints: &Constraints,
    ) -> Result<SourceId, ParaphraseError> {
        let text = text.trim();
        if !self.reads_constraints() {
            return self.open(text);
        }
        let (reading, compiled) = self.read_under(text, constraints)?;
        Ok(self.add(text, reading, Some((constraints.clone(), compiled))))
    }

    /// A source that was opened [under](Self::open_under) constraints, as those of the next round
    /// want it read. It is the same one, unless the network reads something else; then it is closed
    /// and a fresh one opened. So what a round writes depends on its own constraints alone.
    ///
    /// # Errors
    /// As [`open_under`](Self::open_under).
    pub fn reopen_under(
        &mut self,
        source: SourceId,
        constraints: &Constraints,
    ) -> Result<SourceId, ParaphraseError> {
        let Some(opened) = self.opened.get(&source).filter(|_| self.reads_constraints()) else {
            return Ok(source);
        };
        let text = opened.text.clone();
        let (reading, compiled) = self.read_under(&text, constraints)?;
        let prepared = Some((constraints.clone(), compiled));
        if reading != opened.reading {
            self.close(source);
            return Ok(self.add(&text, reading, prepared));
        }
        self.opened.insert(source, OpenSource { text, reading, prepared });
        Ok(source)
    }

    /// Whether what the network reads depends on constraints.
    fn reads_constraints(&self) -> bool {
        let Paraphraser { mark, prompt, .. } = &*self.paraphraser;
        self.settings.tell_bans && (mark.is_some() || prompt.is_some())
    }

    /// A text as it is read under constraints.
    fn read_under(
        &self,
        text: &str,
        constraints: &Constraints,
    ) -> Result<(Reading, Compiled), ParaphraseError> {
        let compiled = self.compile(constraints)?;
        let under = Some((constraints, &compiled));
        Ok((self.paraphraser.reading(text, under, &self.settings)?, compiled))
    }

    fn compile(&self, constraints: &Constraints) -> Result<Compiled, ParaphraseError> {
        let everywhere = (self.settings.avoid.as_slice(), self.everywhere.as_ref());
        self.paraphraser.compile(constraints, everywhere)
    }

    fn add(
        &mut self,
        text: &str,
        reading: Reading,
        prepared: Option<(Constraints, Compiled)>,
    ) -> SourceId {
        let tokens = reading.tokens.clone();
        let source = match self.settings.keep_steps {
            true => self.scheduler.add_source_with_steps(tokens),
            false => self.scheduler.add_source(tokens),
        };
        self.opened.insert(source, OpenSource { text: text.to_owned(), reading, prepared });
        source
    }

    /// Asks for paraphrases of an open source under the constraints of this round, all of them (the
    /// session's own bans come on top). Jobs of one source run one after the other; where steps are
    /// kept, a job that only bans more than the one before goes on from it.
    ///
    /// # Errors
    /// When a phrase has no visible letter, more than 128 phrases are required, or any while
    /// samples are drawn.
    ///
    /// # Panics
    /// If the source was closed.
    pub fn submit(
        &mut self,
        source: SourceId,
        constraints: &Constraints,
    ) -> Result<JobId, ParaphraseError> {
        let prepared = self.opened.get_mut(&source).and_then(|opened| opened.prepared.take());
        let mut compiled = match prepared {
            Some((under, compiled)) if under == *constraints => compiled,
            _ => self.compile(constraints)?,
        };
        let OpenSource { text, .. } = &self.opened[&source];
        compiled.carry(self.paraphraser, text)?;
        if self.settings.known_words {
            compiled.know(self.paraphraser, text, &constraints.prefix)?;
        }
        let constraint = compiled.constraint.clone();
        let limit = |limit| self.paraphraser.limit_of(&self.opened[&source].reading, limit);
        let search = search(&self.settings, limit);
        let before = self.last.insert(source, constraints.clone());
        let job = match before.is_some_and(|before| constraints.only_ban_more_than(&before)) {
            true => self.scheduler.submit_next(source, constraint, search)?,
            false => self.scheduler.submit(source, constraint, search)?,
        };
        self.compiled.insert(job, (source, compiled));
        Ok(job)
    }

    /// Works until a job is over and returns it; `None` when no job is left.
    ///
    /// # Errors
    /// When the network fails; all sources and jobs of the session are then gone.
    pub fn next_finished(&mut self) -> Result<Option<Rewrite>, ParaphraseError> {
        self.next_finished_while(&mut always())
    }

    /// As [`next_finished`](Self::next_finished), asking after each step whether to go on.
    ///
    /// # Errors
    /// As there, and [`DecodeError::Stopped`] after `Break`: sources and jobs stay as they are.
    pub fn next_finished_while(
        &mut self,
        goes_on: &mut GoesOn<'_>,
    ) -> Result<Option<Rewrite>, ParaphraseError> {
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
                    if self.finished.is_empty() && goes_on().is_break() {
                        return Err(DecodeError::Stopped.into());
                    }
                }
                Err(error) => {
                    self.scheduler.clear(&mut self.paraphraser.network);
                    self.compiled.clear();
                    self.last.clear();
                    self.opened.clear();
                    return Err(error.into());
                }
            }
        }
    }

    /// The rewriter, and the settings of every job.
    pub(super) fn parts(&mut self) -> (&mut Paraphraser<N>, &Settings) {
        (self.paraphraser, &self.settings)
    }

    /// Forgets a source; its jobs that are not over are dropped.
    pub fn close(&mut self, source: SourceId) {
        self.scheduler.release(source, &mut self.paraphraser.network);
        self.compiled.retain(|_, (of, _)| *of != source);
        self.last.remove(&source);
        self.opened.remove(&source);
    }

    fn rewrite(&mut self, finished: Finished) -> Result<Rewrite, ParaphraseError> {
        let Finished { job, source, hypotheses, stop, steps, steps_reused } = finished;
        let (_, compiled) = self.compiled.remove(&job).expect("a job has its constraints");
        let mut seen = HashSet::new();
        let mut paraphrases = Vec::new();
        let mut lost_letter = None;
        for hypothesis in hypotheses {
            let decoded = self.paraphraser.tokenizer.decode(&hypothesis.tokens)?;
            let text = decoded.trim();
            if let Some(letter) = compiled.lost_letter(text, &self.paraphraser.tokenizer)? {
                lost_letter.get_or_insert(letter);
            } else if compiled.is_broken(text, &hypothesis.unmet) {
                self.paraphraser.leaks += 1;
            } else if !text.is_empty() && seen.insert(text.to_owned()) {
                paraphrases.push(Paraphrase {
                    text: text.to_owned(),
                    score: hypothesis.mean_negative_log_likelihood(),
                    log_prob: hypothesis.score,
                    ended: hypothesis.ended,
                    unmet: hypothesis.unmet,
                    banned: Vec::new(),
                });
            }
        }
        if self.settings.sample.is_none() {
            paraphrases.truncate(self.settings.beam.n_best);
        }
        let outcome = match lost_letter {
            _ if !paraphrases.is_empty() => RequestOutcome::Paraphrases(paraphrases),
            Some(letter) => RequestOutcome::Refused(Refusal::UnknownLetter { letter }),
            None => RequestOutcome::NothingLeft(stop),
        };
        let lifted = compiled.lifted;
        Ok(Rewrite { job, source, outcome, lifted, steps, steps_reused })
    }
}

/// The search of every job. All hypotheses are asked for: some may spell the same text.
fn search(settings: &Settings, limit: impl Fn(LengthLimit) -> LengthLimit) -> SearchSettings {
    match settings.sample {
        Some(sample) => {
            SampleSettings { length_limit: limit(sample.length_limit), ..sample }.into()
        }
        None => {
            let n_best = settings.beam.outputs_wanted();
            let length_limit = limit(settings.beam.length_limit);
            BeamSettings { n_best, length_limit, ..settings.beam }.into()
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
    use std::ops::ControlFlow;

    use super::super::reading::with_marks;
    use super::super::tests::{paraphraser, settings};
    use super::*;
    use crate::engine::Stop;
    use crate::engine::Tokenizer;
    use crate::engine::toy::ToyNetwork;

    fn first_word(outcome: &RequestOutcome) -> Option<String> {
        let letters = |word: &&str| word.chars().any(char::is_alphanumeric);
        outcome.paraphrases().first()?.text.split(' ').find(letters).map(str::to_owned)
    }

    /// Bans the first word of each round's best text in the rounds after it.
    fn rounds(
        session: &mut Session<'_, impl StepNetwork>,
        texts: &[&str],
    ) -> Vec<Vec<RequestOutcome>> {
        let mut chains: Vec<(SourceId, Vec<String>, Vec<RequestOutcome>)> = Vec::new();
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

    /// A rewriter with the tokenizer that the recipe in training/paraphrase makes.
    fn marking() -> Paraphraser<ToyNetwork> {
        let json = include_bytes!("../../tests/data/tokenizer/rewriter.json");
        let tokenizer = Tokenizer::from_json(json).unwrap();
        let network = ToyNetwork::new(tokenizer.vocab_size(), 60);
        Paraphraser::new(network, tokenizer).unwrap().with_mark("<avoid>".to_owned()).unwrap()
    }

    #[test]
    fn sources_are_marked_as_the_recipe_marks_them() {
        #[derive(serde::Deserialize)]
        struct Golden {
            cases: Vec<Case>,
        }
        #[derive(serde::Deserialize)]
        struct Case {
            sentence: String,
            avoid: Vec<String>,
            marked: String,
            ids: Vec<u32>,
        }
        let golden = include_str!("../../tests/data/tokenizer/marked.json");
        let golden: Golden = serde_json::from_str(golden).unwrap();
        let settings = Settings { max_source_pieces: 50, ..settings() };
        for Case { sentence, avoid, marked, ids } in golden.cases {
            let mut paraphraser = marking();
            let mut session = paraphraser.session(settings.clone()).unwrap();
            let constraints = Constraints::avoiding(avoid);
            let compiled = session.compile(&constraints).unwrap();
            let places = compiled.constraint.banned_places(&sentence);
            assert_eq!(with_marks(&sentence, "<avoid>", &places), marked);
            let source = session.open_under(&sentence, &constraints).unwrap();
            session.submit(source, &constraints).unwrap();
            session.next_finished().unwrap();
            assert_eq!(session.paraphraser.network.sources(), [ids], "{marked}");
        }
    }

    #[test]
    fn a_source_is_read_anew_only_when_other_words_are_marked() {
        let mut paraphraser = marking();
        let mut session = paraphraser.session(settings()).unwrap();
        let avoiding = |words: &[&str]| Constraints::avoiding(words.iter().copied());
        let source = session.open_under("a dog ran", &avoiding(&["dog"])).unwrap();
        let same = session.reopen_under(source, &avoiding(&["dog", "cat"])).unwrap();
        assert_eq!(same, source);
        let other = session.reopen_under(source, &avoiding(&["dog", "ran"])).unwrap();
        assert_ne!(other, source);
        session.submit(other, &avoiding(&["dog", "ran"])).unwrap();
        assert_eq!(session.next_finished().unwrap().unwrap().source, other);
        assert_eq!(session.paraphraser.network.sources().len(), 1);
        // What is required is not banned, so it is not marked either.
        let required = Constraints { require: vec![vec!["dog".to_owned()]], ..avoiding(&["dog"]) };
        let (reading, _) = session.read_under("a dog ran", &required).unwrap();
        let unmarked = session.read_under("a dog ran", &Constraints::default()).unwrap().0;
        assert_eq!(reading, unmarked);
    }

    #[test]
    fn a_prefix_of_sources_stands_before_the_text_and_its_marks() {
        let mut paraphraser = marking();
        paraphraser.source_prefix = "the cat ".to_owned();
        let encode = |text: &str| paraphraser.tokenizer.encode_with_specials(text).unwrap();
        let mut want = encode("the cat a <avoid>dog ran");
        if want.last() != Some(&paraphraser.network.eos_token()) {
            want.push(paraphraser.network.eos_token());
        }
        let mut session = paraphraser.session(settings()).unwrap();
        // What is banned is looked for in the text alone.
        let constraints = Constraints::avoiding(["dog", "cat"]);
        let source = session.open_under("a dog ran", &constraints).unwrap();
        session.submit(source, &constraints).unwrap();
        session.next_finished().unwrap();
        assert_eq!(session.paraphraser.network.sources(), [want]);
        let empty = session.open("  ").unwrap_err();
        assert!(matches!(empty, ParaphraseError::Refused(Refusal::Empty)), "{empty}");
    }

    #[test]
    fn a_mark_that_the_tokenizer_does_not_know_is_refused() {
        for mark in ["<no>", "a"] {
            let error = paraphraser().with_mark(mark.to_owned()).unwrap_err();
            assert!(error.to_string().contains(&format!("`avoid_token` is `{mark}`")), "{error}");
        }
        // Without one, sources are read as they stand.
        let mut paraphraser = paraphraser();
        let mut session = paraphraser.session(settings()).unwrap();
        let constraints = Constraints::avoiding(["cat"]);
        let source = session.open_under("the cat", &constraints).unwrap();
        assert_eq!(session.reopen_under(source, &Constraints::default()).unwrap(), source);
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
    fn who_stops_waits_for_one_step_and_may_go_on_later() {
        let mut paraphraser = paraphraser();
        let mut session = paraphraser.session(settings()).unwrap();
        let source = session.open("the cat").unwrap();
        session.submit(source, &Constraints::default()).unwrap();
        let mut asked = 0;
        let stopped = session.next_finished_while(&mut || {
            asked += 1;
            ControlFlow::Break(())
        });
        assert!(stopped.unwrap_err().is_stopped() && asked == 1);
        let outcome = session.next_finished().unwrap().unwrap().outcome;
        session.submit(source, &Constraints::default()).unwrap();
        assert_eq!(session.next_finished().unwrap().unwrap().outcome, outcome);
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
        assert_eq!(outcome, RequestOutcome::NothingLeft(Stop::LengthLimit));
    }
}
