//! Sentences of a running text, and what in them says little.

use unicode_segmentation::UnicodeSegmentation;

use crate::text::{fold, one_spaced, words};

/// Words before a full stop that stand before a name, so that no sentence ends there.
const TITLES: [&str; 17] = [
    "adm", "capt", "col", "dr", "gen", "gov", "hon", "lt", "maj", "mr", "mrs", "ms", "prof", "rep",
    "rev", "sen", "sgt",
];

/// Abbreviations of names and places. A sentence may end with one.
const NAMES: [&str; 12] =
    ["corp", "fla", "inc", "jr", "ltd", "mt", "ore", "pa", "st", "u.n", "u.s", "vs"];

/// Words that begin a sentence and no name: what stands before one of them has ended.
const STARTERS: [&str; 61] = [
    "a", "after", "all", "although", "an", "and", "as", "at", "because", "before", "both", "but",
    "by", "during", "each", "every", "for", "from", "he", "her", "his", "how", "however", "i",
    "if", "in", "it", "its", "many", "more", "most", "my", "no", "not", "on", "once", "one",
    "others", "our", "she", "since", "some", "still", "such", "that", "the", "their", "then",
    "there", "these", "they", "this", "those", "though", "to", "we", "what", "when", "while",
    "with", "you",
];

const DAYS: [&str; 7] =
    ["friday", "monday", "saturday", "sunday", "thursday", "tuesday", "wednesday"];

/// The sentences of a text, with one space between words.
///
/// The bounds are those of Unicode (UAX 29, section 5). A bound is none after a title, nor after
/// `No.` before a number. After an initial, or an abbreviation of a name or place, it is none
/// unless the next word is one that begins sentences, such as `The`. Abbreviations begin with a
/// capital: `no.` and `ore.` end sentences.
///
/// ```
/// let text = "Mr. Smith paid. He left the\nU.S. Senate on Friday.";
/// let found = fnstore::mine::sentences(text);
/// assert_eq!(found, ["Mr. Smith paid.", "He left the U.S. Senate on Friday."]);
/// ```
#[must_use]
pub fn sentences(text: &str) -> Vec<String> {
    // A line's end is a space: articles are wrapped anywhere.
    let text = one_spaced(text);
    let mut found: Vec<String> = Vec::new();
    for piece in text.unicode_sentences() {
        let piece = piece.trim();
        match found.last_mut() {
            Some(last) if is_open(last, piece) => {
                last.push(' ');
                last.push_str(piece);
            }
            _ => found.push(piece.to_owned()),
        }
    }
    found
}

/// Whether the full stop at the end of a piece belongs to its last word, and `next` goes on.
fn is_open(piece: &str, next: &str) -> bool {
    let Some(last) = piece.strip_suffix('.').and_then(|rest| rest.split(' ').next_back()) else {
        return false;
    };
    let last = last.trim_start_matches(|c: char| !c.is_alphanumeric());
    let next = next.trim_start_matches(|c: char| !c.is_alphanumeric());
    let word = fold(last);
    let has = |list: &[&str]| list.binary_search(&word.as_str()).is_ok();
    if word == "no" {
        return next.starts_with(|c: char| c.is_ascii_digit());
    }
    // Written small, these are words of their own; `vs.` is always written so.
    if !last.starts_with(char::is_uppercase) && word != "vs" {
        return false;
    }
    if has(&TITLES) {
        return true;
    }
    let is_initial = last.chars().count() == 1;
    let starts = || {
        let first = next.split(|c: char| c.is_whitespace() || c == ',').next().unwrap_or_default();
        STARTERS.binary_search(&fold(first).as_str()).is_ok()
    };
    (is_initial || has(&NAMES)) && !starts()
}

/// The text with `%%number%%` for its numbers and `%%day%%` for its weekdays.
#[must_use]
pub fn replace_numbers_and_days(text: &str) -> String {
    let (mut replaced, mut end) = (String::new(), 0);
    for span in words(text) {
        let word = &text[span.start as usize..span.end as usize];
        let is_number = word.starts_with(|c: char| c.is_ascii_digit())
            && word.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | ',' | ':'));
        let stands_in = if is_number {
            "%%number%%"
        } else if DAYS.binary_search(&fold(word).as_str()).is_ok() {
            "%%day%%"
        } else {
            continue;
        };
        replaced.push_str(&text[end..span.start as usize]);
        replaced.push_str(stands_in);
        end = span.end as usize;
    }
    replaced.push_str(&text[end..]);
    replaced
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lists_are_ascending() {
        assert!(TITLES.is_sorted() && NAMES.is_sorted());
        assert!(STARTERS.is_sorted() && DAYS.is_sorted());
    }

    #[test]
    fn a_title_or_an_initial_ends_no_sentence() {
        let text = "Gen. John Q. Public spoke. \"I left,\" he said. It cost $3.50 a share!";
        let expected =
            ["Gen. John Q. Public spoke.", "\"I left,\" he said.", "It cost $3.50 a share!"];
        assert_eq!(sentences(text), expected);
        assert_eq!(sentences(" \n"), [""; 0]);
    }

    #[test]
    fn a_word_that_looks_like_an_abbreviation_ends_its_sentence() {
        for (first, second) in [
            ("The board voted and the chairman said no.", "The workers left."),
            ("The miners loaded the ore.", "Workers left the plant."),
            ("They gave the engine a rev.", "Smith smiled."),
            ("He moved to Portland, Ore.", "The workers stayed."),
            ("She works for Acme Inc.", "It makes anvils."),
            ("They fled to the U.S.", "\"We are safe,\" she said."),
            ("He chose plan B.", "The others left."),
            ("His answer was No.", "Nobody heard it."),
        ] {
            assert_eq!(sentences(&format!("{first} {second}")), [first, second]);
        }
        for one in [
            "Bought by Acme Inc. Chairman John Smith for $3.",
            "He was born in Salem, Ore. Governor Smith was not.",
            "They live in No. 10 Downing Street.",
            "The case of (Mr. Smith) is closed.",
            "It was Smith vs. Jones again.",
            "J. R. Smith left.",
        ] {
            assert_eq!(sentences(one), [one]);
        }
    }

    #[test]
    fn numbers_and_weekdays_are_replaced_and_nothing_else() {
        let text = "On Friday, 1,200 of the 33-year-old pupils left at 5:30.";
        let expected = "On %%day%%, %%number%% of the 33-year-old pupils left at %%number%%.";
        assert_eq!(replace_numbers_and_days(text), expected);
    }
}
