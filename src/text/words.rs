//! Words of an English text, with byte spans.
//!
//! A word is what the span aligner counts and points at. The rules are those of Penn Treebank
//! tokenisation, cut down to what loses nothing. White space parts words. Punctuation at either end
//! of a stretch stands alone. The clitics `n't`, `'s`, `'re`, `'ve`, `'ll`, `'d`, `'m` stand apart
//! from their host. A full stop stays with an abbreviation; hyphens and inner points stay inside.
//! FrameNet's sentences are mostly spaced like this already (`reader 's`).
//!
//! Invariants: spans are ascending, do not overlap, are never empty, and cover every character
//! that is not white space.

use std::collections::HashSet;

use super::fold;
use crate::model::Span;

/// Abbreviations whose full stop belongs to them, in lower case, without it.
const ABBREVIATIONS: [&str; 34] = [
    "adm", "apr", "aug", "ave", "capt", "cf", "co", "col", "corp", "dec", "dr", "e.g", "etc",
    "feb", "gen", "gov", "i.e", "inc", "jan", "jr", "ltd", "mr", "mrs", "ms", "mt", "nov", "oct",
    "prof", "rev", "sen", "sept", "sr", "st", "vs",
];

/// Endings that are words of their own. The apostrophe stands for the typographic one too.
const CLITICS: [&str; 7] = ["n't", "'s", "'re", "'ve", "'ll", "'d", "'m"];

/// The words of a text, in order.
///
/// ```
/// use fnstore::text::words;
///
/// let text = "They don't check \"old-style\" locks.";
/// let words: Vec<_> = words(text).into_iter().filter_map(|word| word.of(text)).collect();
/// assert_eq!(words, ["They", "do", "n't", "check", "\"", "old-style", "\"", "locks", "."]);
/// ```
///
/// # Panics
/// If the text is 4 GiB long or longer: spans hold `u32`.
#[must_use]
pub fn words(text: &str) -> Vec<Span> {
    words_with_cuts(text, &[])
}

/// The words of a text that another does not have, compared without regard to case.
///
/// ```
/// use fnstore::text::words_not_in;
///
/// let (text, other) = ("They inspected it again.", "They checked it.");
/// let changed: Vec<_> = words_not_in(text, other).iter().filter_map(|word| word.of(text)).collect();
/// assert_eq!(changed, ["inspected", "again"]);
/// ```
///
/// # Panics
/// If a text is 4 GiB long or longer.
#[must_use]
pub fn words_not_in(text: &str, other: &str) -> Vec<Span> {
    let folded = |word: Span, of: &str| word.of(of).map(fold);
    let known: HashSet<String> =
        words(other).into_iter().filter_map(|word| folded(word, other)).collect();
    let is_new = |word: &Span| folded(*word, text).is_some_and(|text| !known.contains(&text));
    words(text).into_iter().filter(is_new).collect()
}

/// The words of a text, with a word boundary forced wherever one of `spans` starts or ends.
///
/// So every given span is a whole number of words, also when it marks part of one, such as
/// `bank` in `riverbank`. Spans that lie outside the text or cut a character force nothing.
///
/// # Panics
/// If the text is 4 GiB long or longer: spans hold `u32`.
#[must_use]
pub fn words_with_cuts(text: &str, spans: &[Span]) -> Vec<Span> {
    assert!(u32::try_from(text.len()).is_ok(), "a sentence is shorter than 4 GiB");
    let mut cuts: Vec<usize> = spans
        .iter()
        .flat_map(|span| [span.start as usize, span.end as usize])
        .filter(|&at| text.is_char_boundary(at))
        .collect();
    cuts.sort_unstable();

    let mut found = Vec::new();
    let mut start = None;
    for (at, c) in text.char_indices().chain([(text.len(), ' ')]) {
        let cut = cuts.binary_search(&at).is_ok();
        if let Some(from) = start
            && (c.is_whitespace() || cut)
        {
            split_stretch(text, from, at, &mut found);
            start = None;
        }
        if start.is_none() && !c.is_whitespace() {
            start = Some(at);
        }
    }
    found
}

/// Splits `text[start..end]`, which holds no white space, into words.
fn split_stretch(text: &str, mut start: usize, mut end: usize, found: &mut Vec<Span>) {
    let mut push = |from: usize, to: usize| {
        if from < to {
            found.push(Span::new(from as u32, to as u32));
        }
    };
    // A clitic that FrameNet has already parted from its host.
    if is_clitic(&text[start..end]) {
        push(start, end);
        return;
    }
    while let Some(c) = text[start..end].chars().next().filter(|&c| opens(c)) {
        push(start, start + c.len_utf8());
        start += c.len_utf8();
    }
    let mut closing = Vec::new();
    while let Some(c) = text[start..end].chars().next_back().filter(|&c| closes(c)) {
        if c == '.' && keeps_full_stop(&text[start..end - 1]) {
            break;
        }
        // Runs such as `...` and `--` are one word.
        let run = text[start..end].trim_end_matches(c).len() + start;
        let from = if matches!(c, '.' | '-') { run } else { end - c.len_utf8() };
        closing.push((from, end));
        end = from;
    }
    let host = end - clitic_length(&text[start..end]);
    push(start, host);
    push(host, end);
    for (from, to) in closing.into_iter().rev() {
        push(from, to);
    }
}

/// Punctuation that stands alone before a word. The apostrophe of `'em` and `'90s` stays.
fn opens(c: char) -> bool {
    !c.is_alphanumeric()
        && !is_mark(c)
        && !matches!(c, '\'' | '\u{2019}' | '-' | '+' | '#' | '@' | '.')
}

/// Punctuation that stands alone after a word.
fn closes(c: char) -> bool {
    !c.is_alphanumeric() && !is_mark(c) && !matches!(c, '+' | '#')
}

/// Combining marks belong to the letter before them.
fn is_mark(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}' | '\u{1ab0}'..='\u{1aff}' | '\u{1dc0}'..='\u{1dff}'
        | '\u{20d0}'..='\u{20ff}' | '\u{fe00}'..='\u{fe0f}' | '\u{200d}')
}

/// Whether the word before a full stop keeps it: `U.S`, `J`, `Mr`.
fn keeps_full_stop(word: &str) -> bool {
    let mut chars = word.chars();
    let initial = chars.next().is_some_and(char::is_uppercase) && chars.next().is_none();
    let dotted = word.split('.').count() > 1
        && word.split('.').all(|part| {
            let mut letters = part.chars();
            letters.next().is_some_and(char::is_alphabetic) && letters.next().is_none()
        });
    initial || dotted || ABBREVIATIONS.contains(&word.to_lowercase().as_str())
}

fn is_clitic(stretch: &str) -> bool {
    let plain = stretch.to_lowercase().replace('\u{2019}', "'");
    plain == "'" || CLITICS.contains(&plain.as_str())
}

/// Length in bytes of the clitic that ends a stretch, or 0 when none does or it has no host.
fn clitic_length(stretch: &str) -> usize {
    let ends: Vec<usize> = stretch.char_indices().rev().take(3).map(|(at, _)| at).collect();
    for &at in ends.iter().rev() {
        let host_ends_in_letter =
            stretch[..at].chars().next_back().is_some_and(char::is_alphanumeric);
        if host_ends_in_letter && is_clitic(&stretch[at..]) {
            return stretch.len() - at;
        }
    }
    0
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn split(text: &str) -> Vec<&str> {
        words(text).into_iter().map(|span| span.of(text).unwrap()).collect()
    }

    #[test]
    fn clitics_leave_their_host() {
        assert_eq!(
            split("can't he's we\u{2019}ll they'd"),
            ["ca", "n't", "he", "'s", "we", "\u{2019}ll", "they", "'d"]
        );
        assert_eq!(
            split("the reader 's view, the readers' view"),
            ["the", "reader", "'s", "view", ",", "the", "readers", "'", "view"]
        );
    }

    #[test]
    fn full_stops_stay_with_abbreviations_only() {
        assert_eq!(
            split("Mr. Hall left the U.S. again."),
            ["Mr.", "Hall", "left", "the", "U.S.", "again", "."]
        );
        assert_eq!(split("Well ... it stopped..."), ["Well", "...", "it", "stopped", "..."]);
    }

    #[test]
    fn punctuation_stands_alone_at_both_ends() {
        assert_eq!(split("(\"Why?\")"), ["(", "\"", "Why", "?", "\"", ")"]);
        assert_eq!(split("3.5% of $1,000"), ["3.5", "%", "of", "$", "1,000"]);
    }

    #[test]
    fn combining_marks_stay_with_their_letter() {
        assert_eq!(split("cafe\u{301} noir"), ["cafe\u{301}", "noir"]);
    }

    #[test]
    fn a_cut_parts_a_word_and_a_bad_cut_is_ignored() {
        let text = "the riverb\u{e4}nk";
        let cut = |spans: &[Span]| -> Vec<&str> {
            words_with_cuts(text, spans).into_iter().map(|span| span.of(text).unwrap()).collect()
        };
        assert_eq!(cut(&[Span::new(9, 14)]), ["the", "river", "b\u{e4}nk"]);
        assert_eq!(cut(&[Span::new(11, 99)]), ["the", "riverb\u{e4}nk"]);
    }

    #[test]
    fn blank_text_has_no_words() {
        assert!(words("").is_empty());
        assert!(words(" \t\u{a0}\n").is_empty());
    }

    proptest! {
        #[test]
        fn words_are_ordered_and_cover_all_that_is_not_space(
            text in "([a-zA-Z.,'\"\\-$ ]|\u{2019}|\u{e9}|n't|\\PC){0,30}",
            from in 0_u32..30, len in 0_u32..10,
        ) {
            let cut = Span::new(from, from + len);
            let spans = words_with_cuts(&text, &[cut]);
            let mut last = 0;
            for span in &spans {
                prop_assert!(span.start >= last && !span.is_empty());
                prop_assert!(text[last as usize..span.start as usize].trim().is_empty());
                prop_assert!(!span.of(&text).unwrap().contains(char::is_whitespace));
                last = span.end;
            }
            prop_assert!(text[last as usize..].trim().is_empty());
            if cut.of(&text).is_some() {
                for span in spans {
                    let inside = span.start >= cut.start && span.end <= cut.end;
                    prop_assert!(inside || !span.overlaps(cut));
                }
            }
        }
    }
}
