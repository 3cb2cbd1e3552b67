//! Phrases to be found in texts, compared by their words.

use std::collections::HashSet;

use crate::text::fold;

/// Phrases, of which a text holds some or none. Letter case and all that is neither letter nor
/// digit are left aside, so `double-checked` holds `checked`, as the search's constraints see it.
#[derive(Debug, Default)]
pub(super) struct PhraseSet {
    phrases: HashSet<Vec<String>>,
    longest: usize,
}

impl PhraseSet {
    pub(super) fn new<S: AsRef<str>>(phrases: impl IntoIterator<Item = S>) -> Self {
        let phrases = phrases.into_iter().map(|phrase| runs(phrase.as_ref()));
        let phrases: HashSet<_> = phrases.filter(|words| !words.is_empty()).collect();
        let longest = phrases.iter().map(Vec::len).max().unwrap_or(0);
        Self { phrases, longest }
    }

    /// Whether a text is one of the phrases.
    pub(super) fn has(&self, text: &str) -> bool {
        self.phrases.contains(&runs(text))
    }

    /// Whether a text holds one of the phrases.
    pub(super) fn is_in(&self, text: &str) -> bool {
        let words = runs(text);
        (1..=self.longest.min(words.len()))
            .any(|length| words.windows(length).any(|window| self.phrases.contains(window)))
    }
}

/// The runs of letters and digits of a text, case folded.
pub(super) fn runs(text: &str) -> Vec<String> {
    let folded = fold(text);
    let runs = folded.split(|c: char| !c.is_alphanumeric()).filter(|run| !run.is_empty());
    runs.map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_holds_phrases_as_whole_words() {
        let set = PhraseSet::new(["Checked", "look over", "..."]);
        for text in ["They checked it.", "double-checked", "LOOK over", "to look-over", "checked"] {
            assert!(set.is_in(text), "{text}");
        }
        for text in ["unchecked", "look it over", "look", "", "..."] {
            assert!(!set.is_in(text), "{text}");
        }
        assert!(!PhraseSet::default().is_in("anything"));
        assert!(set.has("Look-over") && !set.has("to look over") && !set.has(""));
    }
}
