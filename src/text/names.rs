//! Names in a sentence, by their capital letters.
//!
//! A name is a run of capitalised words; small words of names (`of`, `the`, `de`) may stand inside
//! it. The first word of a sentence is capitalised for another reason. So it begins a name only if
//! the next word is capitalised too and it is no article or pronoun. This finds names without a
//! model, and makes its mistakes: sentence-initial single names are missed, days and titles are
//! taken along.

use super::words;
use crate::model::Span;

/// Lower-case words that may stand inside a name.
const INSIDE: [&str; 9] = ["and", "da", "de", "der", "for", "la", "of", "the", "van"];

/// Capitalised words that begin no name at the start of a sentence.
const OPENERS: [&str; 28] = [
    "A", "After", "An", "And", "At", "But", "By", "For", "From", "He", "Her", "His", "I", "If",
    "In", "It", "Its", "My", "On", "Our", "She", "That", "The", "Their", "They", "This", "We",
    "When",
];

/// The names in a sentence, in order.
///
/// ```
/// use fnstore::text::names;
///
/// let text = "Later the Bank of England told John Smith in May.";
/// let found: Vec<_> = names(text).into_iter().filter_map(|name| name.of(text)).collect();
/// assert_eq!(found, ["Bank of England", "John Smith", "May"]);
/// ```
#[must_use]
pub fn names(text: &str) -> Vec<Span> {
    let words = words(text);
    let word = |at: usize| words.get(at).and_then(|span| span.of(text)).unwrap_or("");
    let is_capitalised = |at: usize| {
        let mut letters = word(at).chars();
        letters.next().is_some_and(char::is_uppercase) && word(at) != "I"
    };
    let mut names = Vec::new();
    let mut at = 0;
    while at < words.len() {
        let begins =
            is_capitalised(at) && (at > 0 || is_capitalised(1) && !OPENERS.contains(&word(0)));
        if !begins {
            at += 1;
            continue;
        }
        let first = at;
        let mut last = at;
        loop {
            if is_capitalised(last + 1) {
                last += 1;
            } else if INSIDE.contains(&word(last + 1)) && is_capitalised(last + 2) {
                last += 2;
            } else {
                break;
            }
        }
        names.push(Span::new(words[first].start, words[last].end));
        at = last + 1;
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<&str> {
        names(text).into_iter().filter_map(|name| name.of(text)).collect()
    }

    #[test]
    fn the_first_word_needs_a_capitalised_neighbour() {
        assert_eq!(found("Dogs bark at Rex"), ["Rex"]);
        assert_eq!(found("John Smith left"), ["John Smith"]);
        assert_eq!(found("The Hague is quiet"), ["Hague"]);
    }

    #[test]
    fn small_words_stand_inside_names_only() {
        assert_eq!(found("the Lord of the Rings of old"), ["Lord", "Rings"]);
        assert_eq!(found("the Isle of Man of old"), ["Isle of Man"]);
        assert_eq!(found("what I said"), [""; 0]);
        assert_eq!(found(""), [""; 0]);
    }
}
