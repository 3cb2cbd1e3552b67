//! How telling a word is: inverse document frequency over sentences.
//!
//! `idf(t) = ln(|D| / |{d in D : t in d}|)`, with the sentences as documents. The words of highest
//! IDF carry what a sentence is about. Banning them forces a rewriting to find other words (Hu et
//! al. 2019, sections 5.1 and 5.2 and appendix A). Case is folded.

use std::collections::{HashMap, HashSet};

use super::{fold, words};

/// Function words, which are never worth a ban: what IDF of a small corpus may get wrong.
const STOP_WORDS: [&str; 95] = [
    "a", "about", "after", "all", "also", "am", "an", "and", "any", "are", "as", "at", "be",
    "been", "before", "being", "but", "by", "can", "could", "did", "do", "does", "doing", "down",
    "for", "from", "had", "has", "have", "having", "he", "her", "here", "hers", "him", "his",
    "how", "i", "if", "in", "into", "is", "it", "its", "may", "me", "might", "must", "my", "no",
    "nor", "not", "of", "off", "on", "or", "our", "out", "over", "shall", "she", "should", "so",
    "some", "such", "than", "that", "the", "their", "them", "then", "there", "these", "they",
    "this", "those", "to", "too", "under", "up", "upon", "us", "was", "we", "were", "what", "when",
    "which", "who", "will", "with", "would", "you", "your",
];

/// Whether a word is a function word, which says little by itself. Case is folded.
#[must_use]
pub fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.binary_search(&fold(word).as_str()).is_ok()
}

/// Document frequencies of words.
///
/// ```
/// use fnstore::text::Idf;
///
/// let idf = Idf::new(["They checked the bill.", "They paid the bill.", "They left."]);
/// assert_eq!(idf.of("bill"), (3.0f64 / 2.0).ln());
/// assert_eq!(idf.most_telling("They checked the bill.", 2, &[]), ["checked", "bill"]);
/// ```
#[derive(Debug, Clone, Default)]
pub struct Idf {
    documents: u64,
    /// Documents that hold a word, by its folded form.
    counts: HashMap<String, u64>,
}

impl Idf {
    /// Counts the words of sentences.
    pub fn new<S: AsRef<str>>(sentences: impl IntoIterator<Item = S>) -> Self {
        let mut idf = Self::default();
        sentences.into_iter().for_each(|sentence| idf.add(sentence.as_ref()));
        idf
    }

    /// Counts the words of one more sentence.
    pub fn add(&mut self, sentence: &str) {
        self.documents += 1;
        let words = words(sentence).into_iter().filter_map(|word| word.of(sentence));
        let words: HashSet<String> = words.map(fold).collect();
        for word in words {
            *self.counts.entry(word).or_default() += 1;
        }
    }

    /// Number of sentences.
    #[must_use]
    pub fn documents(&self) -> u64 {
        self.documents
    }

    /// The IDF of a word (natural log); that of a word seen once for one never seen.
    #[must_use]
    pub fn of(&self, word: &str) -> f64 {
        let count = self.counts.get(&fold(word)).copied().unwrap_or(1);
        (self.documents.max(1) as f64 / count as f64).ln()
    }

    /// The `count` words of a sentence with the highest IDF, highest first, ties in the order of
    /// the sentence. Function words, words with anything but letters, and those in `kept` (case
    /// folded) are left out; a word stands once, as it is written first. The paper leaves the first
    /// two out for question answering alone (footnote 9).
    #[must_use]
    pub fn most_telling<'t>(&self, sentence: &'t str, count: usize, kept: &[&str]) -> Vec<&'t str> {
        let mut seen: HashSet<String> = kept.iter().map(|word| fold(word)).collect();
        let words = words(sentence).into_iter().filter_map(|word| word.of(sentence));
        let mut telling: Vec<&str> = words
            .filter(|word| word.chars().all(char::is_alphabetic))
            .filter(|word| !is_stop_word(word))
            .filter(|word| seen.insert(fold(word)))
            .collect();
        telling.sort_by(|a, b| self.of(b).total_cmp(&self.of(a)));
        telling.truncate(count);
        telling
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stop_words_are_ascending() {
        assert!(STOP_WORDS.is_sorted());
    }

    #[test]
    fn a_word_counts_once_a_sentence_whatever_its_case() {
        let idf = Idf::new(["The dog saw the dog.", "A Dog!", "Cats.", "Cats."]);
        assert_eq!(idf.documents(), 4);
        assert_eq!(idf.of("DOG"), 2f64.ln());
        assert_eq!(idf.of("saw"), 4f64.ln());
        assert_eq!(idf.of("never"), 4f64.ln());
    }

    #[test]
    fn function_words_numbers_and_kept_words_are_never_telling() {
        let idf = Idf::new(["the the", "b", "c"]);
        let telling = idf.most_telling("The 3 well-known dogs saw 7up dogs would", 9, &["SAW"]);
        assert_eq!(telling, ["dogs"]);
        assert!(idf.most_telling("", 3, &[]).is_empty());
        assert!(Idf::default().of("x").is_finite());
    }
}
