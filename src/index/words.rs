//! The words of long texts, made once for all sets of a sentence.
//!
//! Each set has an entry of its own with the words of its sentence. A text with thousands of sets
//! would be read thousands of times, and each of its words would be written as often. So the words
//! of a long text are kept for its next set, each once, and those of a text with very many are
//! left out: whoever searches for words looks at its sets, too ([`Omitted`](super::Omitted)).

use std::collections::{BTreeSet, HashMap};

use super::schema::{analyzer, is_omitted};
use crate::model::{ReleaseId, SentenceId};
use crate::text::fold;

/// Bytes of a folded text whose words are made anew for each set: that costs less than to look
/// them up.
const SHORT: usize = 4096;

/// Different words of a long text that an entry holds, and their bytes.
const MOST_WORDS: usize = 1000;
const MOST_BYTES: usize = 64 << 10;

/// Long texts whose words are kept.
const KEPT: usize = 128;

/// What an entry holds of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Words {
    /// A text with the same words, folded.
    pub(super) text: String,
    /// Whether it lacks words of the text.
    pub(super) are_omitted: bool,
}

impl Words {
    /// The words of a text.
    pub(super) fn of(text: &str) -> Self {
        let folded = fold(text);
        if folded.len() <= SHORT {
            return Self { text: folded, are_omitted: false };
        }
        #[cfg(test)]
        tests::count_a_long_text();
        let (mut words, mut bytes, mut are_omitted) = (BTreeSet::new(), 0, false);
        let mut analyzer = analyzer();
        let mut stream = analyzer.token_stream(&folded);
        while stream.advance() {
            let word = &stream.token().text;
            if is_omitted(word) {
                are_omitted = true;
            } else if !words.contains(word) {
                bytes += word.len() + 1;
                words.insert(word.clone());
                if words.len() > MOST_WORDS || bytes > MOST_BYTES {
                    return Self { text: String::new(), are_omitted: true };
                }
            }
        }
        let words: Vec<String> = words.into_iter().collect();
        Self { text: words.join(" "), are_omitted }
    }
}

/// The words of the long texts of one commit.
#[derive(Debug, Default)]
pub(super) struct LongTexts {
    known: HashMap<(ReleaseId, SentenceId), Words>,
}

impl LongTexts {
    /// Forgets all: a sentence has one text in a commit, and perhaps another one in the next.
    pub(super) fn clear(&mut self) {
        self.known.clear();
    }

    /// The words of a sentence's text.
    pub(super) fn words(&mut self, sentence: (ReleaseId, SentenceId), text: &str) -> Words {
        if text.len() <= SHORT {
            return Words::of(text);
        }
        if let Some(known) = self.known.get(&sentence) {
            return known.clone();
        }
        let words = Words::of(text);
        if self.known.len() == KEPT {
            self.known.clear();
        }
        self.known.insert(sentence, words.clone());
        words
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::super::schema::words_of;
    use super::*;
    use crate::model::IdSpace;

    thread_local! {
        static LONG_TEXTS: Cell<usize> = const { Cell::new(0) };
    }

    pub(super) fn count_a_long_text() {
        LONG_TEXTS.set(LONG_TEXTS.get() + 1);
    }

    fn sentence(number: u64) -> (ReleaseId, SentenceId) {
        (ReleaseId(1), SentenceId::new(IdSpace::Imported, number))
    }

    #[test]
    fn a_long_text_has_the_words_of_the_text_each_once() {
        let text = "They checked the OLD bridge, and they left again. ".repeat(200);
        let words = Words::of(&text);
        assert_eq!(words.text, "again and bridge checked left old the they");
        assert!(!words.are_omitted);
        let short = Words::of("The OLD bridge.");
        assert_eq!((short.text.as_str(), short.are_omitted), ("the old bridge.", false));
        assert_eq!(words_of(&words.text).len(), 8);
    }

    #[test]
    fn a_text_of_very_many_words_has_none() {
        let many = |count: usize| {
            let words: Vec<String> = (0..count).map(|number| format!("word{number}")).collect();
            Words::of(&words.join(" "))
        };
        let most = many(MOST_WORDS);
        assert_eq!((words_of(&most.text).len(), most.are_omitted), (MOST_WORDS, false));
        assert_eq!(many(MOST_WORDS + 1), Words { text: String::new(), are_omitted: true });
        // Few words, each of them long.
        let long: Vec<String> = ["a", "b", "c"].map(|letter| letter.repeat(30_000)).into();
        assert_eq!(Words::of(&long.join(" ")), Words { text: String::new(), are_omitted: true });
        let one = Words::of(&format!("{} and more", "a".repeat(70_000)));
        assert_eq!(one, Words { text: "and more".to_owned(), are_omitted: true });
    }

    #[test]
    fn the_sets_of_a_long_text_read_it_once() {
        let texts = [1, 2].map(|number| format!("word{number} ").repeat(2_000));
        let mut long = LongTexts::default();
        LONG_TEXTS.set(0);
        for set in 0..1_000 {
            let at = set % 2;
            let words = long.words(sentence(at as u64), &texts[at]);
            assert_eq!(words.text, format!("word{}", at + 1));
        }
        assert_eq!(LONG_TEXTS.get(), 2);
        long.clear();
        assert_eq!(long.words(sentence(0), &texts[1]).text, "word2");
    }
}
