//! A sentence whose blanks are to be filled, and what was filled in.

use super::prompt::{GenerationPrompt, Mode, Task};
use super::{Draft, Skip};
use crate::text::{capitalize, natural_spacing};

/// Words for the blanks of a sentence.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Filled {
    /// A text for each blank, for each candidate.
    pub(super) candidates: Vec<Vec<String>>,
    /// Answers that could not be used, by code.
    pub(super) rejects: Vec<&'static str>,
    /// Why there is none.
    pub(super) skip: Option<Skip>,
}

impl Filled {
    /// Takes the spans of an answer as a candidate, unless one has the same.
    pub(super) fn take(&mut self, job: &Job<'_>, spans: &[String]) {
        let words = spans.iter().enumerate().map(|(at, span)| job.fitted(at, span)).collect();
        if !self.candidates.contains(&words) {
            self.candidates.push(words);
        }
    }
}

/// A sentence to fill.
pub(super) struct Job<'a> {
    pub(super) draft: &'a Draft,
    pub(super) frame: &'a str,
    pub(super) lexunit: &'a str,
}

impl Job<'_> {
    /// What a prompt is told of it.
    pub(super) fn prompt(&self, prompt: &GenerationPrompt, mode: Mode) -> String {
        let sentence = natural_spacing(&self.draft.masked(&prompt.blank));
        let elements = self.draft.blanks.iter().map(|blank| blank.name.as_str()).collect();
        let Self { frame, lexunit, .. } = *self;
        prompt.text(mode, &Task { frame, lexunit, sentence: &sentence, elements })
    }

    /// A text as it stands in a blank: with a capital at the beginning of the sentence.
    pub(super) fn fitted(&self, at: usize, words: &str) -> String {
        let before = &self.draft.text[..self.draft.blanks[at].span.start as usize];
        if before.chars().any(char::is_alphanumeric) { words.to_owned() } else { capitalize(words) }
    }
}
