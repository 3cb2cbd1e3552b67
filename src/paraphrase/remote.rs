//! Paraphrases by a server.
//!
//! A search cannot be held to constraints there, so the question lists them and the answer's text
//! is checked as outputs of a search are. An answer that breaks some is told so and asked for
//! again; what is no better after that is given with what it breaks. Answers have no score.

use std::collections::{HashMap, HashSet, VecDeque};

use serde_json::{Value, json};

use super::{
    Constraints, Paraphrase, ParaphraseError, Refusal, Request, RequestOutcome, Rewrite, Settings,
};
use crate::endpoint::{Answer, Endpoint, Usage};
use crate::engine::{GoesOn, JobId, SourceId, Stop, always, occurrences, violations};
use crate::text::{fold, one_spaced};

/// How often a paraphrase is asked for, the first time counted.
const ATTEMPTS: usize = 3;
/// Tokens of an answer, for each word of the sentence, and beside these.
const TOKENS: [u32; 2] = [4, 64];
/// Seeds that every server takes.
const SEEDS: u64 = 0x7fff_ffff;
/// Banned phrases of a question, those of the sentence first, and alternatives of a requirement.
/// The check of answers knows all of them.
const MOST_LISTED: usize = 16;

/// The question, with a version.
const QUESTION: &str = "Rewrite the sentence so that it says the same in other words. Answer with the new sentence \
                        alone, on one line.";
const VERSION: &str = "bans of the sentence first, 16 at most; 16 alternatives at most; v3";

/// A rewriter that asks a server.
#[derive(Debug)]
pub struct RemoteParaphraser {
    endpoint: Endpoint,
}

/// What became of a sentence.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RemoteRewrite {
    /// Different texts of one line in the order of the draws, those without a fault first.
    pub paraphrases: Vec<Paraphrase>,
    /// Bans that were lifted, since what is required holds them.
    pub lifted: Vec<String>,
}

/// How many constraints a paraphrase breaks; that it breaks off is one more fault.
fn faults(paraphrase: &Paraphrase) -> usize {
    paraphrase.banned.len() + paraphrase.unmet.len() + usize::from(!paraphrase.ended)
}

impl RemoteParaphraser {
    /// A rewriter that asks this server.
    #[must_use]
    pub fn new(endpoint: Endpoint) -> Self {
        Self { endpoint }
    }

    /// Server, model and question, for recipes and records; the key is no part of it.
    #[must_use]
    pub fn description(&self) -> Value {
        let question = blake3::hash(format!("{QUESTION} {VERSION}").as_bytes()).to_hex();
        json!({
            "endpoint": self.endpoint.description(),
            "prompt": &question[..32],
            "attempts": ATTEMPTS,
        })
    }

    /// What was asked so far.
    #[must_use]
    pub fn usage(&self) -> Usage {
        self.endpoint.usage()
    }

    /// Paraphrases a sentence: once and the likeliest, or as many draws as [`Settings::sample`]
    /// says. Of the settings bans, draws, seed and temperature count.
    ///
    /// # Errors
    /// When a phrase has no visible letter, or the server refuses, does not answer, or its budget
    /// is used up.
    pub fn paraphrase(
        &mut self,
        request: &Request,
        settings: &Settings,
    ) -> Result<RemoteRewrite, ParaphraseError> {
        self.paraphrase_while(request, settings, &mut always())
    }

    /// As [`paraphrase`](Self::paraphrase), asking now and then whether to wait on.
    ///
    /// # Errors
    /// As there, and [`EndpointError::Stopped`](crate::endpoint::EndpointError::Stopped) after
    /// `Break`.
    pub fn paraphrase_while(
        &mut self,
        request: &Request,
        settings: &Settings,
        goes_on: &mut GoesOn<'_>,
    ) -> Result<RemoteRewrite, ParaphraseError> {
        let Request { text, constraints } = request;
        let (avoid, lifted) = bans(constraints, &settings.avoid)?;
        let mut rewrite = RemoteRewrite { lifted, ..RemoteRewrite::default() };
        let (draws, temperature, seed) = match &settings.sample {
            None => (1, 0.0, 0),
            Some(sample) => (sample.samples, sample.temperature, sample.seed),
        };
        for draw in 0..draws as u64 {
            let mut best: Option<Paraphrase> = None;
            for attempt in 0..ATTEMPTS {
                let question = question(text, &avoid, &constraints.require, best.as_ref());
                let [of_word, more] = TOKENS;
                let limit = more + of_word * text.split_whitespace().count() as u32;
                // A server that is asked the same again at temperature 0 says the same.
                let temperature = if attempt > 0 && best.is_none() { 1.0 } else { temperature };
                let seed = seed.wrapping_add(draw * ATTEMPTS as u64 + attempt as u64) & SEEDS;
                let answer =
                    self.endpoint.ask_while(&question, temperature, seed, limit, goes_on)?;
                let Some((answer, ended)) = sentence_in(&answer) else { continue };
                let found = Paraphrase {
                    text: answer.to_owned(),
                    score: f32::INFINITY,
                    log_prob: 0.0,
                    ended,
                    unmet: unmet(answer, &constraints.require)?,
                    banned: violations(answer, &avoid)?,
                };
                if best.as_ref().is_none_or(|best| faults(&found) < faults(best)) {
                    best = Some(found);
                }
                if best.as_ref().is_some_and(|best| faults(best) == 0) {
                    break;
                }
            }
            let is_new =
                |one: &Paraphrase| rewrite.paraphrases.iter().all(|other| other.text != one.text);
            let best = best.filter(is_new);
            rewrite.paraphrases.extend(best);
        }
        rewrite.paraphrases.sort_by_key(|one| faults(one) > 0);
        Ok(rewrite)
    }
}

/// Sources for which a server is asked, one after the other.
#[derive(Debug)]
pub struct RemoteSession<'r> {
    rewriter: &'r mut RemoteParaphraser,
    settings: Settings,
    texts: HashMap<SourceId, String>,
    waiting: VecDeque<(SourceId, Constraints)>,
    next_id: u64,
}

impl<'r> RemoteSession<'r> {
    pub(super) fn new(rewriter: &'r mut RemoteParaphraser, settings: Settings) -> Self {
        let (texts, waiting) = (HashMap::new(), VecDeque::new());
        Self { rewriter, settings, texts, waiting, next_id: 0 }
    }

    /// Takes a sentence; a server's pieces are its words.
    pub(super) fn open(&mut self, text: &str) -> Result<SourceId, ParaphraseError> {
        let (pieces, limit) = (text.split_whitespace().count(), self.settings.max_source_pieces);
        if pieces == 0 {
            return Err(Refusal::Empty.into());
        }
        if pieces > limit {
            return Err(Refusal::TooLong { pieces, limit }.into());
        }
        self.next_id += 1;
        let source = SourceId(self.next_id);
        self.texts.insert(source, text.trim().to_owned());
        Ok(source)
    }

    pub(super) fn submit(&mut self, source: SourceId, constraints: &Constraints) {
        self.waiting.push_back((source, constraints.clone()));
    }

    pub(super) fn next_finished(
        &mut self,
        goes_on: &mut GoesOn<'_>,
    ) -> Result<Option<Rewrite>, ParaphraseError> {
        let Some((source, constraints)) = self.waiting.pop_front() else { return Ok(None) };
        let text = self.texts.get(&source).cloned().unwrap_or_default();
        let request = Request { text, constraints };
        let RemoteRewrite { paraphrases, lifted } =
            self.rewriter.paraphrase_while(&request, &self.settings, goes_on)?;
        let outcome = match paraphrases.is_empty() {
            true => RequestOutcome::NothingLeft(Stop::Blocked),
            false => RequestOutcome::Paraphrases(paraphrases),
        };
        let job = JobId(source.0);
        Ok(Some(Rewrite { job, source, outcome, lifted, steps: 0, steps_reused: 0 }))
    }

    pub(super) fn close(&mut self, source: SourceId) {
        self.texts.remove(&source);
        self.waiting.retain(|(waiting, _)| *waiting != source);
    }
}

/// Bans that hold, and those that are lifted since a required phrase holds them.
fn bans(
    constraints: &Constraints,
    everywhere: &[String],
) -> Result<(Vec<String>, Vec<String>), ParaphraseError> {
    let (mut kept, mut lifted) = (Vec::new(), Vec::new());
    for phrase in constraints.avoid.iter().chain(everywhere) {
        let mut is_required = false;
        for required in constraints.require.iter().flatten() {
            is_required |= !violations(required, [phrase])?.is_empty();
        }
        let list = if is_required { &mut lifted } else { &mut kept };
        if !list.contains(phrase) {
            list.push(phrase.clone());
        }
    }
    // A phrase without a visible letter is refused also where nothing is required.
    violations("", &kept)?;
    Ok((kept, lifted))
}

/// Places of what a text lacks. What is required twice must be there twice.
fn unmet(text: &str, require: &[Vec<String>]) -> Result<Vec<usize>, ParaphraseError> {
    let mut lacking = Vec::new();
    for (at, phrases) in require.iter().enumerate() {
        let earlier = require[..at].iter().filter(|other| *other == phrases).count();
        if occurrences(text, phrases)? <= earlier {
            lacking.push(at);
        }
    }
    Ok(lacking)
}

/// What a server is asked; behind an answer with faults also what these are.
fn question(
    text: &str,
    avoid: &[String],
    require: &[Vec<String>],
    last: Option<&Paraphrase>,
) -> String {
    // Phrases that differ in case alone are listed once.
    let listed = |phrases: &[String]| {
        let mut seen = HashSet::new();
        let new = phrases.iter().filter(|phrase| seen.insert(fold(phrase)));
        let quoted = new.take(MOST_LISTED).map(|phrase| format!("\"{}\"", one_spaced(phrase)));
        quoted.collect::<Vec<_>>()
    };
    let goals = |goals: &mut dyn Iterator<Item = &Vec<String>>| {
        goals.map(|phrases| listed(phrases).join(" or ")).collect::<Vec<_>>().join(", ")
    };
    let mut question = QUESTION.to_owned();
    if !avoid.is_empty() {
        let mut avoid = avoid.to_vec();
        let of_sentence = violations(text, &avoid).unwrap_or_default();
        avoid.sort_by_key(|phrase| !of_sentence.contains(phrase));
        question += &format!("\nDo not use: {}", listed(&avoid).join(", "));
    }
    if !require.is_empty() {
        question += &format!("\nUse: {}", goals(&mut require.iter()));
    }
    question += &format!("\nSentence: {}", one_spaced(text));
    if let Some(last) = last {
        question += &format!("\nThis answer is wrong: {}", last.text);
        if !last.banned.is_empty() {
            question += &format!("\nIt uses: {}", listed(&last.banned).join(", "));
        }
        if !last.unmet.is_empty() {
            let lacking = &mut last.unmet.iter().map(|at| &require[*at]);
            question += &format!("\nIt lacks: {}", goals(lacking));
        }
        if !last.ended {
            question += "\nIt is too long";
        }
    }
    question + "\nNew sentence:"
}

/// The sentence in an answer, and whether it ends: what was cut off may be something behind it.
fn sentence_in(answer: &Answer) -> Option<(&str, bool)> {
    match sentence_of(answer.whole_lines()) {
        Some(sentence) => Some((sentence, true)),
        None => Some((sentence_of(&answer.text)?, false)),
    }
}

/// The sentence in a text: its first line with words, without quotation marks around it.
fn sentence_of(answer: &str) -> Option<&str> {
    let has_words = |line: &&str| line.chars().any(char::is_alphanumeric);
    let line = answer.lines().map(str::trim).find(has_words)?;
    let line = line.strip_prefix("New sentence:").unwrap_or(line).trim();
    let inside = line.strip_prefix('"').and_then(|line| line.strip_suffix('"'));
    Some(inside.filter(|inside| !inside.contains('"')).unwrap_or(line)).filter(has_words)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owned(phrases: &[&str]) -> Vec<String> {
        phrases.iter().map(|&phrase| phrase.to_owned()).collect()
    }

    #[test]
    fn an_answer_is_its_first_line_with_words() {
        for (answer, expected) in [
            ("They looked at it.", Some("They looked at it.")),
            ("\n \"They looked at it.\" \nThis says the same.", Some("They looked at it.")),
            ("\"No\", he said, \"never\"", Some("\"No\", he said, \"never\"")),
            ("New sentence: It was seen.", Some("It was seen.")),
            ("...\n", None),
            ("", None),
            ("New sentence:", None),
        ] {
            assert_eq!(sentence_of(answer), expected, "{answer}");
        }
    }

    #[test]
    fn a_sentence_is_cut_where_its_line_is() {
        for (text, ended, expected) in [
            ("They looked at it.", true, Some(("They looked at it.", true))),
            ("They looked at", false, Some(("They looked at", false))),
            ("They looked at it.\nThis says the", false, Some(("They looked at it.", true))),
            ("\n...\nThey looked", false, Some(("They looked", false))),
            ("...", true, None),
            ("...\n", false, None),
        ] {
            let answer = Answer { text: text.to_owned(), ended };
            assert_eq!(sentence_in(&answer), expected, "{text}");
        }
    }

    #[test]
    fn a_ban_of_what_is_required_is_lifted_and_what_is_required_twice_must_be_there_twice() {
        let constraints = Constraints {
            require: vec![owned(&["the old bill", "invoice"])],
            ..Constraints::avoiding(["Bill", "checked"])
        };
        let (kept, lifted) = bans(&constraints, &owned(&["checked", "old car"])).unwrap();
        assert_eq!((kept, lifted), (owned(&["checked", "old car"]), owned(&["Bill"])));
        let blank = Constraints::avoiding([" "]);
        assert!(bans(&blank, &[]).is_err());

        let twice = vec![owned(&["dog"]), owned(&["cat", "Lion"]), owned(&["dog"])];
        assert_eq!(unmet("A dog saw a lion", &twice).unwrap(), [2]);
        assert_eq!(unmet("A dog saw a dog", &twice).unwrap(), [1]);
        assert_eq!(unmet("dogs", &twice).unwrap(), [0, 1, 2]);
        let cats = vec![owned(&["cat"]), owned(&["cat"])];
        assert_eq!(unmet("A cat in a category", &cats).unwrap(), [1]);
        assert_eq!(unmet("A cat saw a Cat", &cats).unwrap(), [0; 0]);
        let lions = vec![owned(&["lion", "lions", "old lions"]); 2];
        assert_eq!(unmet("Two old lions", &lions).unwrap(), [1]);
        assert_eq!(unmet("A lion saw lions", &lions).unwrap(), [0; 0]);
    }
}
