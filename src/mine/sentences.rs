//! Sentences of a running text, and what in them says little.

use unicode_segmentation::UnicodeSegmentation;

use crate::text::{fold, words};

/// Words before a full stop that ends no sentence: titles, abbreviations of names and places.
const OPEN: [&str; 30] = [
    "adm", "capt", "col", "corp", "dr", "fla", "gen", "gov", "hon", "inc", "jr", "lt", "ltd",
    "maj", "mr", "mrs", "ms", "mt", "no", "ore", "pa", "prof", "rep", "rev", "sen", "sgt", "st",
    "u.n", "u.s", "vs",
];

const DAYS: [&str; 7] =
    ["friday", "monday", "saturday", "sunday", "thursday", "tuesday", "wednesday"];

/// The sentences of a text, with one space between words.
///
/// The bounds are those of Unicode (UAX 29, section 5); where the text before one is a title, an
/// initial or an abbreviation, it is none.
///
/// ```
/// let text = "Mr. Smith paid. He left the\nU.S. Senate on Friday.";
/// let found = fnstore::mine::sentences(text);
/// assert_eq!(found, ["Mr. Smith paid.", "He left the U.S. Senate on Friday."]);
/// ```
#[must_use]
pub fn sentences(text: &str) -> Vec<String> {
    // A line's end is a space: articles are wrapped anywhere.
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let (mut found, mut open): (Vec<String>, bool) = (Vec::new(), false);
    for piece in text.unicode_sentences() {
        let piece = piece.trim();
        match found.last_mut() {
            Some(last) if open => {
                last.push(' ');
                last.push_str(piece);
            }
            _ => found.push(piece.to_owned()),
        }
        open = is_open(piece);
    }
    found
}

/// Whether the full stop at the end of a piece belongs to its last word.
fn is_open(piece: &str) -> bool {
    let Some(last) = piece.strip_suffix('.').and_then(|rest| rest.split(' ').next_back()) else {
        return false;
    };
    let is_initial = last.chars().count() == 1 && last.chars().all(char::is_uppercase);
    is_initial || OPEN.binary_search(&fold(last).as_str()).is_ok()
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
        assert!(OPEN.is_sorted() && DAYS.is_sorted());
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
    fn numbers_and_weekdays_are_replaced_and_nothing_else() {
        let text = "On Friday, 1,200 of the 33-year-old pupils left at 5:30.";
        let expected = "On %%day%%, %%number%% of the 33-year-old pupils left at %%number%%.";
        assert_eq!(replace_numbers_and_days(text), expected);
    }
}
