//! What a verifier says of words in sentences of a frame, and of other frames that have them.

use std::collections::BTreeMap;

use super::neighbours::Candidate;
use super::scoring::score;
use super::units::{FrameUnit, Key, Trial, trials};
use super::{Discoverer, Result, words_of};
use crate::engine::GoesOn;
use crate::expand::{name_of, word_fits};
use crate::model::{FoundSentence, FrameId, Pos, RefusedWord, Span};
use crate::score::ScoreRequest;
use crate::text::is_in_name;
use crate::verify::{EvokesItem, FrameQuestion};

/// Questions that are asked together.
pub(super) const TOGETHER: usize = 96;
/// Mean of the answers from which on other frames are asked, too.
const PLAUSIBLE: f32 = 0.4;
/// Sentences of the corpus that are read to choose from.
const OF_CORPUS: usize = 20;
/// Other frames that are asked about a word.
pub(super) const MOST_OTHERS: usize = 4;
/// Sentences that they are asked about.
const OF_OTHERS: usize = 2;
/// Sentences of earlier corpora that a word keeps.
const MOST_ATTESTED: usize = 12;
/// How much better another frame must answer to be nearer.
pub(super) const NEARER: f32 = 0.1;
/// How many times the words that are asked about in all sentences are asked about in one.
const AT_FIRST: usize = 2;
const NEARER_FRAME: &str = "nearer-frame";
const PART_OF_NAME: &str = "part-of-a-name";

/// A word with the answers about it.
pub(super) struct WordAnswers {
    pub(super) name: String,
    pub(super) key: Key,
    pub(super) candidate: Candidate,
    pub(super) sentences: Vec<FoundSentence>,
    pub(super) slot: Option<f32>,
}

impl WordAnswers {
    /// The mean of the answers, if any was given.
    pub(super) fn evokes(&self) -> Option<f32> {
        let answers = self.answers();
        (!answers.is_empty()).then(|| mean(&answers))
    }

    /// The answers that were given.
    fn answers(&self) -> Vec<f32> {
        self.sentences.iter().filter_map(|of| of.evokes).collect()
    }

    /// How likely it is an LU.
    pub(super) fn score(&self) -> f32 {
        score(&self.candidate, words_of(&self.key), &self.answers(), self.slot)
    }
}

/// A sentence that somebody wrote, where a word stands in it, and where it was found.
type Attested = (String, Span, String);

/// The answers about the words of a frame.
pub(super) struct FrameAnswers {
    /// Those that were asked about in all their sentences.
    pub(super) words: Vec<WordAnswers>,
    /// Those that are none of the frame's.
    pub(super) refused: Vec<RefusedWord>,
    /// How many others were asked about in one sentence, which spoke for them less.
    pub(super) left: usize,
}

/// A word with the sentences that it is asked about.
struct Waiting {
    name: String,
    key: Key,
    candidate: Candidate,
    attested: Vec<Attested>,
    trials: Vec<Trial>,
    /// Of the first sentences; nothing where the verifier could not be asked.
    answers: Vec<Option<f32>>,
}

impl Waiting {
    /// How likely it is an LU, by the answers that there are.
    fn score(&self) -> f32 {
        let answers: Vec<f32> = self.answers.iter().flatten().copied().collect();
        score(&self.candidate, words_of(&self.key), &answers, None)
    }

    fn sentences(&self) -> usize {
        self.attested.len() + self.trials.len()
    }

    /// The questions that have no answer yet.
    fn items(&self) -> impl Iterator<Item = EvokesItem> {
        let attested = self.attested.iter().map(|(text, target, _)| (text, target));
        let trials = self.trials.iter().map(|trial| (&trial.text, &trial.target));
        attested.chain(trials).skip(self.answers.len()).map(|(text, target)| EvokesItem {
            text: text.clone(),
            targets: vec![*target],
            lexunit: Some(self.name.clone()),
        })
    }
}

impl Discoverer<'_> {
    /// Asks about the first words that can be asked about, as many as the options say. Where there
    /// is a verifier, it chooses these by one sentence each.
    pub(super) fn ask(
        &mut self,
        frame: FrameId,
        units: &[FrameUnit],
        words: Vec<(Key, Candidate)>,
        goes_on: &mut GoesOn<'_>,
    ) -> Result<FrameAnswers> {
        let at_first = if self.verifier.is_some() { AT_FIRST } else { 1 };
        let most = self.options.candidates.saturating_mul(at_first);
        let (mut waiting, mut refused) = self.waiting(frame, units, words, most)?;
        let place = (self.release.id, frame);
        let question = self.questions.of(self.database, place)?.clone();
        self.answer(&question, &mut waiting, 1, goes_on)?;
        waiting.sort_by(|a, b| b.score().total_cmp(&a.score()));
        let left = waiting.len().saturating_sub(self.options.candidates);
        waiting.truncate(self.options.candidates);
        self.answer(&question, &mut waiting, usize::MAX, goes_on)?;
        let mut words: Vec<WordAnswers> = waiting.into_iter().map(|of| self.answered(of)).collect();
        words.retain(|of| !of.sentences.is_empty());
        self.add_slots(&mut words, units, goes_on)?;
        self.refuse_nearer(frame, &mut words, &mut refused, goes_on)?;
        Ok(FrameAnswers { words, refused, left })
    }

    /// The first words that there are sentences for, and those that stand in names alone.
    fn waiting(
        &self,
        frame: FrameId,
        units: &[FrameUnit],
        words: Vec<(Key, Candidate)>,
        most: usize,
    ) -> Result<(Vec<Waiting>, Vec<RefusedWord>)> {
        let (mut waiting, mut refused) = (Vec::new(), Vec::new());
        for (key, candidate) in words {
            if waiting.len() == most {
                break;
            }
            let name = name_of(&key.0, key.1);
            let (attested, is_name) = self.attested(frame, &key)?;
            if is_name {
                let (reason, by) = (PART_OF_NAME.to_owned(), String::new());
                refused.push(RefusedWord { name, reason, by });
                continue;
            }
            let first = candidate.supporters();
            let trials = trials((units, &self.morphology), (&name, &first), self.options.sentences);
            let of = Waiting { name, key, candidate, attested, trials, answers: Vec::new() };
            if of.sentences() > 0 {
                waiting.push(of);
            }
        }
        Ok((waiting, refused))
    }

    /// Asks about each word until so many of its sentences are answered.
    fn answer(
        &mut self,
        question: &FrameQuestion,
        waiting: &mut [Waiting],
        sentences: usize,
        goes_on: &mut GoesOn<'_>,
    ) -> Result<()> {
        let open = |of: &Waiting| of.sentences().min(sentences).saturating_sub(of.answers.len());
        let items: Vec<EvokesItem> =
            waiting.iter().flat_map(|of| of.items().take(open(of))).collect();
        let mut answers = self.answers(question, &items, goes_on)?.into_iter();
        for of in waiting {
            let count = open(of);
            of.answers.extend(answers.by_ref().take(count));
        }
        Ok(())
    }

    /// Sentences that hold a word, and whether the corpus holds it in names alone: first those of
    /// the corpus, as many as the options say, then those that an earlier search found elsewhere.
    fn attested(&self, frame: FrameId, key: &Key) -> Result<(Vec<Attested>, bool)> {
        let found =
            self.corpus.map(|corpus| corpus.sentences_with(key, &self.morphology, OF_CORPUS));
        let (names, words): (Vec<_>, Vec<_>) = found
            .into_iter()
            .flatten()
            .partition(|(text, target, _)| key.1 != Pos::Adjective && is_in_name(text, &[*target]));
        let name = name_of(&key.0, key.1);
        let before = self.database.store().discovery(self.release.id, frame, &name)?;
        let before: Vec<FoundSentence> = before.into_iter().flat_map(|of| of.sentences).collect();
        let was_word = before.iter().any(|of| of.made_of.is_none());
        let is_name = words.is_empty() && !names.is_empty() && !was_word;
        let mut attested = Vec::new();
        for of in words {
            if attested.len() == self.options.sentences {
                break;
            }
            let fits = |tagger| word_fits(tagger, &of.0, &[of.1], key.1);
            if self.tagger.map_or(Ok(true), fits)? {
                attested.push(of);
            }
        }
        for of in before.into_iter().take(MOST_ATTESTED) {
            let is_new = attested.iter().all(|(text, ..)| *text != of.text);
            if of.made_of.is_none() && is_new {
                attested.push((of.text, of.target, of.place));
            }
        }
        Ok((attested, is_name))
    }

    /// The verifier's answers, calibrated; nothing where it could not be asked.
    fn answers(
        &mut self,
        question: &FrameQuestion,
        items: &[EvokesItem],
        goes_on: &mut GoesOn<'_>,
    ) -> Result<Vec<Option<f32>>> {
        let mut said = Vec::with_capacity(items.len());
        let Some(verifier) = &mut self.verifier else { return Ok(vec![None; items.len()]) };
        for part in items.chunks(TOGETHER) {
            for answer in verifier.evokes_while(question, part, goes_on)? {
                said.push(answer.ok().map(|answer| verifier.evokes_probability(&answer)));
            }
        }
        Ok(said)
    }

    fn answered(&self, of: Waiting) -> WordAnswers {
        let Waiting { name, key, candidate, attested, trials, answers } = of;
        let (of_corpus, of_trials) = answers.split_at(attested.len());
        let mut sentences = Vec::new();
        for ((text, target, place), evokes) in attested.into_iter().zip(of_corpus) {
            let (evokes, made_of) = (*evokes, None);
            sentences.push(FoundSentence { text, target, evokes, made_of, place });
        }
        for (trial, evokes) in trials.into_iter().zip(of_trials) {
            let evokes = *evokes;
            let Trial { text, target, made_of, .. } = trial;
            let (made_of, place) = (Some(made_of), String::new());
            sentences.push(FoundSentence { text, target, evokes, made_of, place });
        }
        // What the verifier could not read is nothing to show.
        if self.verifier.is_some() {
            sentences.retain(|of| of.evokes.is_some());
        }
        WordAnswers { name, key, candidate, sentences, slot: None }
    }

    /// Says of each word how much likelier it is in the first sentence that was made of an exemplar
    /// than the LU that stands there, with what follows.
    fn add_slots(
        &mut self,
        asked: &mut [WordAnswers],
        units: &[FrameUnit],
        goes_on: &mut GoesOn<'_>,
    ) -> Result<()> {
        let exemplars: BTreeMap<_, _> = units
            .iter()
            .flat_map(|unit| &unit.exemplars)
            .map(|exemplar| (exemplar.set, (exemplar.text.as_str(), exemplar.target)))
            .collect();
        let from = |text: &str, target: Span| ScoreRequest {
            text: text.to_owned(),
            span: Some(Span::new(target.start, text.trim_end().len() as u32)),
        };
        let (mut places, mut requests) = (BTreeMap::new(), Vec::new());
        let mut pairs = Vec::new();
        for (at, of) in asked.iter().enumerate() {
            let Some(made) = of.sentences.iter().find(|made| made.made_of.is_some()) else {
                continue;
            };
            let Some(source) = made.made_of.filter(|set| exemplars.contains_key(set)) else {
                continue;
            };
            let (text, target) = exemplars[&source];
            let own = *places.entry(source).or_insert_with(|| {
                requests.push(from(text, target));
                requests.len() - 1
            });
            requests.push(from(&made.text, made.target));
            pairs.push((at, own, requests.len() - 1));
        }
        let Some(speaker) = &mut self.speaker else { return Ok(()) };
        let scores = speaker.score_while(&requests, goes_on)?;
        let log_prob = |at: usize| scores[at].as_ref().ok().map(|score| score.log_prob);
        for (at, own, made) in pairs {
            asked[at].slot =
                log_prob(made).zip(log_prob(own)).map(|(made, own)| (made - own) as f32);
        }
        Ok(())
    }

    /// Takes out the words for which another frame that has them answers better.
    fn refuse_nearer(
        &mut self,
        frame: FrameId,
        asked: &mut Vec<WordAnswers>,
        refused: &mut Vec<RefusedWord>,
        goes_on: &mut GoesOn<'_>,
    ) -> Result<()> {
        let mut of_frames: BTreeMap<FrameId, Vec<usize>> = BTreeMap::new();
        for (at, of) in asked.iter().enumerate().filter(|(_, of)| of.evokes() >= Some(PLAUSIBLE)) {
            for other in self.lexicon.likest_frames_of(&of.key, frame).into_iter().take(MOST_OTHERS)
            {
                of_frames.entry(other).or_default().push(at);
            }
        }
        let mut said: BTreeMap<usize, (f32, Vec<(f32, FrameId)>)> = BTreeMap::new();
        for (other, places) in of_frames {
            let question = self.questions.of(self.database, (self.release.id, other))?.clone();
            let of_word = |at: &usize| {
                let of = &asked[*at];
                of.sentences.iter().take(OF_OTHERS).map(|sentence| EvokesItem {
                    text: sentence.text.clone(),
                    targets: vec![sentence.target],
                    lexunit: Some(of.name.clone()),
                })
            };
            let items: Vec<EvokesItem> = places.iter().flat_map(of_word).collect();
            let mut answers = self.answers(&question, &items, goes_on)?.into_iter();
            for at in places {
                let sentences = &asked[at].sentences[..asked[at].sentences.len().min(OF_OTHERS)];
                let answers: Vec<f32> = answers.by_ref().take(sentences.len()).flatten().collect();
                let own: Vec<f32> = sentences.iter().filter_map(|of| of.evokes).collect();
                let of_word = said.entry(at).or_insert_with(|| (mean(&own), Vec::new()));
                of_word.1.push((mean(&answers), other));
            }
        }
        let mut at = 0;
        asked.retain(|of| {
            let by = said.get(&at).and_then(|(own, others)| nearer(*own, others));
            at += 1;
            let Some(by) = by else { return true };
            let (name, reason) = (of.name.clone(), NEARER_FRAME.to_owned());
            refused.push(RefusedWord { name, reason, by: self.lexicon.name(by).to_string() });
            false
        });
        Ok(())
    }
}

fn mean(answers: &[f32]) -> f32 {
    answers.iter().sum::<f32>() / answers.len().max(1) as f32
}

/// The frame that answers best, where it answers better than the word's own about the same
/// sentences.
fn nearer(own: f32, others: &[(f32, FrameId)]) -> Option<FrameId> {
    let best = others.iter().max_by(|a, b| a.0.total_cmp(&b.0).then_with(|| b.1.cmp(&a.1)))?;
    (best.0 > own + NEARER).then_some(best.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_frame_that_answers_best_is_nearer_where_it_answers_better() {
        let others = [(0.7, FrameId(1)), (0.9, FrameId(2)), (0.9, FrameId(3))];
        assert_eq!(nearer(0.5, &others), Some(FrameId(2)));
        assert_eq!(nearer(0.85, &others), None);
        assert_eq!(nearer(0.0, &[]), None);
    }
}
