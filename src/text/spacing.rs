//! FrameNet's spacing undone.
//!
//! FrameNet writes punctuation and clitics apart (`He could n't , he said .`); whatever was trained
//! on text as people write it reads `He couldn't, he said.` better. The words are the same in both,
//! see [`words`](super::words).

use super::{fold, words};
use crate::model::Span;

/// Marks that close what stands before them.
const CLOSING: &str = ",;:?!).%]}";
/// Marks that open what stands after them.
const OPENING: &str = "([{$";
/// Clitics that FrameNet writes apart; the apostrophe stands for the typographic one too.
const CLITICS: [&str; 8] = ["n't", "'s", "'re", "'ve", "'ll", "'d", "'m", "'"];

/// A sentence spaced as people write it: punctuation and clitics join the words that they belong
/// to, and white space is one space.
///
/// A single apostrophe closes a plural (`the readers ' view`) unless one was opened before; double
/// quotation marks open and close in turn.
///
/// ```
/// use fnstore::text::natural_spacing;
///
/// let text = "\" They could n't , \" he said ( twice ) .";
/// assert_eq!(natural_spacing(text), "\"They couldn't,\" he said (twice).");
/// assert_eq!(natural_spacing("It's done."), "It's done.");
/// ```
#[must_use]
pub fn natural_spacing(text: &str) -> String {
    let mut natural = String::with_capacity(text.len());
    let mut quotes = 0;
    let (mut is_joined, mut was_clitic) = (true, false);
    for word in text.split_whitespace() {
        let opens_quote = word == "\"" && quotes % 2 == 0;
        // Two clitics in a row would no longer be read apart.
        was_clitic = !was_clitic && is_clitic(word, &natural);
        let closes = word == "\"" && !opens_quote || is_closing(word) || was_clitic;
        if !is_joined && !closes {
            natural.push(' ');
        }
        natural.push_str(word);
        quotes += word.matches('"').count();
        is_joined = opens_quote || word.chars().all(|mark| OPENING.contains(mark));
    }
    natural
}

/// Whether a text says what another says, word for word, in any letter case and spacing.
///
/// ```
/// use fnstore::text::is_copy;
///
/// assert!(is_copy("he couldn't check it.", "He could n't  check it ."));
/// assert!(!is_copy("He couldn't check it twice.", "He could n't check it ."));
/// ```
///
/// # Panics
/// If a text is 4 GiB long or longer: spans hold `u32`.
#[must_use]
pub fn is_copy(text: &str, source: &str) -> bool {
    fn spoken(text: &str) -> Vec<String> {
        words(text).iter().filter_map(|word| word.of(text)).map(fold).collect()
    }
    let spoken_text = spoken(text);
    spoken_text == spoken(source) || spoken_text == spoken(&natural_spacing(source))
}

/// A sentence as [`natural_spacing`] spaces it, with a span of it (in bytes): that of the same
/// characters.
///
/// ```
/// use fnstore::model::Span;
/// use fnstore::text::natural_spacing_with;
///
/// let (text, span) = natural_spacing_with("No , he  said .", Span::new(9, 13));
/// assert_eq!((text.as_str(), span.of(&text)), ("No, he said.", Some("said")));
/// ```
///
/// # Panics
/// If the span is not of the text.
#[must_use]
pub fn natural_spacing_with(text: &str, span: Span) -> (String, Span) {
    let natural = natural_spacing(text);
    let visible = |part: &str| part.chars().filter(|c| !c.is_whitespace()).count();
    let inside = span.of(text).expect("the span is of the text");
    let before = visible(&text[..span.start as usize]);
    let places: Vec<(usize, char)> =
        natural.char_indices().filter(|(_, c)| !c.is_whitespace()).collect();
    let start = places.get(before).map_or(natural.len(), |(at, _)| *at);
    let last = visible(inside).checked_sub(1).and_then(|more| places.get(before + more));
    let end = last.map_or(start, |(at, c)| at + c.len_utf8());
    let place = |at: usize| u32::try_from(at).expect("a sentence is shorter than 4 GiB");
    (natural, Span::new(place(start), place(end)))
}

/// Whether a word is marks that close.
fn is_closing(word: &str) -> bool {
    word.chars().all(|mark| CLOSING.contains(mark) || mark == '\u{2026}')
}

/// Whether a word is a clitic that has a host: a text that ends in a letter.
fn is_clitic(word: &str, before: &str) -> bool {
    let plain = fold(word).replace('\u{2019}', "'");
    // Of two single quotation marks the first opens: it stands before a word, and joins none.
    let has_host = before.ends_with(char::is_alphanumeric);
    let is_quoting = plain == "'" && (!before.ends_with('s') || before.contains(" '"));
    has_host && !is_quoting && CLITICS.contains(&plain.as_str())
}

/// A text as one line, its words one space apart.
pub(crate) fn one_spaced(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A text in other spacing, with the way of its spans: no character but white space differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Respaced {
    /// The text in its other spacing.
    pub text: String,
    /// Where each character but white space stands, before and after.
    letters: [Vec<Span>; 2],
}

impl Respaced {
    /// A text, and the same in other spacing.
    ///
    /// ```
    /// use fnstore::model::Span;
    /// use fnstore::text::Respaced;
    ///
    /// let moved = Respaced::new("No , he said .", "No, he said.".to_owned());
    /// assert_eq!(moved.span(Span::new(5, 12)), Some(Span::new(4, 11)));
    /// assert_eq!(moved.span(Span::new(4, 5)), None, "white space");
    /// ```
    ///
    /// # Panics
    /// If a text is 4 GiB long or longer: spans hold `u32`.
    #[must_use]
    pub fn new(before: &str, after: String) -> Self {
        let letters = |text: &str| {
            let shown = text.char_indices().filter(|(_, letter)| !letter.is_whitespace());
            let span =
                |(at, letter): (usize, char)| Span::new(at as u32, (at + letter.len_utf8()) as u32);
            shown.map(span).collect::<Vec<_>>()
        };
        let letters = [letters(before), letters(&after)];
        Self { text: after, letters }
    }

    /// Where a span of the text before stands now; `None` where it covers white space alone.
    #[must_use]
    pub fn span(&self, span: Span) -> Option<Span> {
        let [before, after] = &self.letters;
        let first = before.partition_point(|letter| letter.start < span.start);
        let end = before.partition_point(|letter| letter.start < span.end);
        let start = after.get(first)?.start;
        let end = after.get(end.checked_sub(1)?)?.end;
        (start < end).then(|| Span::new(start, end))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::words;
    use super::*;

    #[test]
    fn clitics_join_their_hosts() {
        assert_eq!(natural_spacing("They 'd say I 'm not , wo n't"), "They'd say I'm not, won't");
        assert_eq!(natural_spacing("the readers ' view"), "the readers' view");
        assert_eq!(natural_spacing("it \u{2019}s so"), "it\u{2019}s so");
    }

    #[test]
    fn a_span_moves_with_its_characters() {
        let text = " \" They could n't , \" he  said .";
        for words in ["\" They", "n't", "could n't", "he  said", "."] {
            let start = text.find(words).unwrap() as u32;
            let (natural, span) =
                natural_spacing_with(text, Span::new(start, start + words.len() as u32));
            assert_eq!(span.of(&natural), Some(&*natural_spacing(words)), "{natural}");
        }
        let (natural, span) = natural_spacing_with("a  b", Span::new(1, 3));
        assert_eq!((natural.as_str(), span), ("a b", Span::new(2, 2)));
    }

    #[test]
    fn quotation_marks_open_and_close_in_turn() {
        assert_eq!(
            natural_spacing("he said \" yes \" and \" no \" ."),
            "he said \"yes\" and \"no\"."
        );
        assert_eq!(natural_spacing("' Yes , ' he said"), "' Yes, ' he said");
    }

    #[test]
    fn a_clitic_without_a_host_stays_apart() {
        assert_eq!(natural_spacing("'s done"), "'s done");
        assert_eq!(natural_spacing(", 's"), ", 's");
        assert_eq!(natural_spacing("  "), "");
    }

    proptest! {
        #[test]
        fn only_white_space_changes_and_twice_is_once(text in "[a-z ,.'\"()$n]{0,40}") {
            let natural = natural_spacing(&text);
            let letters = |text: &str| text.split_whitespace().collect::<String>();
            prop_assert_eq!(letters(&natural), letters(&text));
            prop_assert!(natural.len() <= text.len());
        }

        #[test]
        fn words_stay_words(text in "([a-z]{1,4}|[,;?!]|n't|'s|\\(|\\))( ([a-z]{1,4}|[,;?!]|'s))*") {
            let cut = |text: &str| -> Vec<String> {
                words(text).iter().filter_map(|word| word.of(text)).map(str::to_owned).collect()
            };
            prop_assert_eq!(cut(&natural_spacing(&text)), cut(&text));
        }
    }
}
