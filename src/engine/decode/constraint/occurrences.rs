//! Where phrases occur in a finished text, by comparing words with words.
//!
//! It is the check on what the automaton of `phrases.rs` let through, so it shares nothing with it
//! but the symbols of `letters.rs`.

use std::collections::HashMap;

use super::super::DecodeError;
use super::letters;

/// The phrases of a list that occur in a text as whole words: case folded, white space collapsed.
///
/// ```
/// use fnstore::engine::violations;
///
/// assert_eq!(violations("He Confirmed it.", ["confirm", "confirmed"])?, ["confirmed"]);
/// # Ok::<(), fnstore::engine::DecodeError>(())
/// ```
///
/// # Errors
/// When a phrase has no visible letter.
pub fn violations<S: AsRef<str>>(
    text: &str,
    phrases: impl IntoIterator<Item = S>,
) -> Result<Vec<String>, DecodeError> {
    let list = PhraseList::new(phrases)?;
    Ok(list.violations(text).into_iter().map(str::to_owned).collect())
}

/// How often phrases of a list occur in a text, compared as by [`violations`]. No letter is part of
/// two occurrences: of two phrases that share a word, one counts.
///
/// ```
/// use fnstore::engine::occurrences;
///
/// assert_eq!(occurrences("A Cat in a category saw old cats.", ["cat", "cats", "old cats"])?, 2);
/// # Ok::<(), fnstore::engine::DecodeError>(())
/// ```
///
/// # Errors
/// When a phrase has no visible letter.
pub fn occurrences<S: AsRef<str>>(
    text: &str,
    phrases: impl IntoIterator<Item = S>,
) -> Result<usize, DecodeError> {
    Ok(PhraseList::new(phrases)?.count(text))
}

/// Phrases by their symbols.
#[derive(Debug)]
pub(super) struct PhraseList {
    pub(super) phrases: HashMap<Vec<u32>, String>,
    /// The different lengths in symbols, ascending.
    lengths: Vec<usize>,
}

impl PhraseList {
    pub(super) fn new<S: AsRef<str>>(
        phrases: impl IntoIterator<Item = S>,
    ) -> Result<Self, DecodeError> {
        let mut by_symbols = HashMap::new();
        for phrase in phrases {
            let phrase = phrase.as_ref();
            let symbols = letters::symbols(phrase);
            if symbols.is_empty() {
                return Err(DecodeError::EmptyPhrase { phrase: phrase.to_owned() });
            }
            by_symbols.entry(symbols).or_insert_with(|| phrase.to_owned());
        }
        let mut lengths: Vec<usize> = by_symbols.keys().map(Vec::len).collect();
        lengths.sort_unstable();
        lengths.dedup();
        Ok(Self { phrases: by_symbols, lengths })
    }

    pub(super) fn violations(&self, text: &str) -> Vec<&str> {
        let symbols = letters::symbols(text);
        let mut found: Vec<&str> = self
            .lengths
            .iter()
            .flat_map(|&length| symbols.windows(length))
            .filter_map(|window| self.phrases.get(window).map(String::as_str))
            .collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    /// The most occurrences that share no letter: what ends first leaves most room to others.
    fn count(&self, text: &str) -> usize {
        let symbols = letters::symbols(text);
        let (mut free, mut count) = (0, 0);
        for end in 1..=symbols.len() {
            let is_phrase = |&length: &usize| {
                let run = end.checked_sub(length).filter(|start| *start >= free);
                run.is_some_and(|start| self.phrases.contains_key(&symbols[start..end]))
            };
            if self.lengths.iter().any(is_phrase) {
                count += 1;
                // A boundary is the end of one word and may be the beginning of another.
                free = if symbols[end - 1] == letters::BOUNDARY { end - 1 } else { end };
            }
        }
        count
    }

    pub(super) fn places(&self, text: &str) -> Vec<usize> {
        let (symbols, places): (Vec<u32>, Vec<usize>) = letters::symbols_with_places(text).unzip();
        let occurrences = self.lengths.iter().flat_map(|&length| {
            let windows = symbols.windows(length).zip(&places);
            windows.filter(|(window, _)| self.phrases.contains_key(*window)).map(|(_, at)| *at)
        });
        let mut found: Vec<usize> = occurrences.collect();
        found.sort_unstable();
        found.dedup();
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn occurrences_have_the_places_of_their_first_letters() {
        let list = PhraseList::new(["take place", "place", "can't", "\u{df}"]).unwrap();
        let text = "  It CAN'T take\t\u{200b}place; replace \u{df} or SS.";
        let places: Vec<&str> = list.places(text).into_iter().map(|at| &text[at..]).collect();
        let begins = ["CAN'T", "take", "place;", "\u{df}", "SS."];
        assert_eq!(places.len(), begins.len(), "{places:?}");
        for (place, begin) in places.iter().zip(begins) {
            assert!(place.starts_with(begin), "{places:?}");
        }
        assert!(list.places("replaced").is_empty());
    }

    #[test]
    fn occurrences_share_no_letter() {
        let count = |text, phrases: &[&str]| occurrences(text, phrases).unwrap();
        assert_eq!(count("a cat, a category, CAT-like", &["cat"]), 2);
        assert_eq!(count("old lions", &["lions", "old lions", "old"]), 2);
        assert_eq!(count("old lions", &["lions", "old lions"]), 1);
        assert_eq!(count("no no no", &["no no"]), 1);
        assert_eq!(count("?!?!", &["?!"]), 2);
        assert_eq!(count("it", &[]), 0);
        assert!(occurrences("it", [" "]).is_err());
    }

    #[test]
    fn violations_are_whole_words_in_any_case() {
        let found = violations("He CONFIRMED  it, take\nPlace!", ["confirm", "take place", "IT"]);
        assert_eq!(found.unwrap(), ["IT", "take place"]);
        assert!(violations("confirmation", ["confirm"]).unwrap().is_empty());
        assert_eq!(violations("the so-called", ["called"]).unwrap(), ["called"]);
        let (one, other) = ("r\u{e9}sum\u{e9}", "re\u{301}sume\u{301}");
        assert_eq!(violations(&format!("A {other}."), [one]).unwrap(), [one]);
        assert_eq!(violations(&format!("A {one}."), [other]).unwrap(), [other]);
        assert!(violations(&format!("A {one}."), ["resume"]).unwrap().is_empty());
        let (plain, voiced) = ("\u{304b}", "\u{304c}");
        assert!(violations(voiced, [plain]).unwrap().is_empty(), "its mark belongs to it");
        assert_eq!(violations("\u{304b}\u{3099}", [voiced]).unwrap(), [voiced]);
    }
}
