//! How well a tagger does.
//!
//! Accuracy is the share of words whose tag is the gold one; words without a gold tag do not count.
//! Beside it stand the words that training never saw (as they are written, case and all), and a
//! baseline that knows words alone. It gives each word its most frequent tag in training, and every
//! other word the most frequent tag of all.

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};

use super::sentence::TaggedSentence;

/// Words, and how many of them are tagged rightly.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Accuracy {
    /// Words that have a gold tag.
    pub words: u64,
    /// Words whose tag is that.
    pub right: u64,
}

impl Accuracy {
    /// Counts a word.
    pub fn add(&mut self, is_right: bool) {
        self.words += 1;
        self.right += u64::from(is_right);
    }

    /// The share of the words that are right; 0 of no words.
    ///
    /// ```
    /// assert_eq!(fnstore::tag::Accuracy { words: 8, right: 6 }.share(), 0.75);
    /// ```
    #[must_use]
    pub fn share(&self) -> f64 {
        self.right as f64 / self.words.max(1) as f64
    }
}

/// Words of the development data that are tagged rightly.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct DevAccuracy {
    /// In sentences as they are written.
    pub written: Accuracy,
    /// In the same sentences in small letters.
    pub lowercase: Accuracy,
}

impl DevAccuracy {
    /// Words that are right, both ways together.
    pub(super) fn right(&self) -> u64 {
        self.written.right + self.lowercase.right
    }
}

/// The words of training data, each with its most frequent tag, of several the first.
#[derive(Debug, Clone, Default)]
pub struct TagLexicon {
    tag_of: HashMap<String, String>,
    most_frequent: String,
}

impl TagLexicon {
    /// The words of some sentences that have a tag.
    #[must_use]
    pub fn of(sentences: &[TaggedSentence]) -> Self {
        let mut of_word: HashMap<&str, BTreeMap<&str, u64>> = HashMap::new();
        let mut of_all: BTreeMap<&str, u64> = BTreeMap::new();
        for sentence in sentences {
            for (word, tag) in sentence.words.iter().zip(&sentence.tags) {
                let Some(tag) = tag else { continue };
                *of_word.entry(word).or_default().entry(tag).or_default() += 1;
                *of_all.entry(tag).or_default() += 1;
            }
        }
        let tag_of = of_word.into_iter();
        Self {
            tag_of: tag_of.map(|(word, tags)| (word.to_owned(), most_frequent(&tags))).collect(),
            most_frequent: most_frequent(&of_all),
        }
    }

    /// Whether training saw the word as it is written.
    #[must_use]
    pub fn contains(&self, word: &str) -> bool {
        self.tag_of.contains_key(word)
    }

    /// The word's most frequent tag, that of all words where it is unknown.
    #[must_use]
    pub fn tag(&self, word: &str) -> &str {
        self.tag_of.get(word).unwrap_or(&self.most_frequent)
    }
}

fn most_frequent(tags: &BTreeMap<&str, u64>) -> String {
    let mut best = ("", 0);
    for (&tag, &count) in tags {
        if count > best.1 {
            best = (tag, count);
        }
    }
    best.0.to_owned()
}

/// How well a tagger does on some sentences.
///
/// ```
/// use fnstore::tag::{TagLexicon, Measure, TaggedSentence};
///
/// let line = r#"{"words": ["he", "left"], "tags": ["PRP", "VBD"]}"#;
/// let gold: TaggedSentence = serde_json::from_str(line)?;
/// let mut measure = Measure::default();
/// measure.add(&gold, &["PRP", "VBN"], &TagLexicon::of(&[gold.clone()]));
/// assert_eq!((measure.all.share(), measure.baseline.share()), (0.5, 1.0));
/// assert_eq!(measure.confusions[&("VBD".to_owned(), "VBN".to_owned())], 1);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Measure {
    /// Sentences.
    pub sentences: u64,
    /// All words.
    pub all: Accuracy,
    /// Those that training did not see.
    pub unseen: Accuracy,
    /// All words, each with its most frequent tag.
    pub baseline: Accuracy,
    /// The same of words that training did not see.
    pub baseline_unseen: Accuracy,
    /// How often a gold tag was taken for another one.
    pub confusions: BTreeMap<(String, String), u64>,
}

impl Measure {
    /// Counts a sentence and what was found for its words.
    ///
    /// # Panics
    /// When there are not as many tags as words.
    pub fn add(&mut self, gold: &TaggedSentence, found: &[&str], lexicon: &TagLexicon) {
        assert_eq!(gold.words.len(), found.len(), "each word has its tag");
        self.sentences += 1;
        for ((word, tag), &found) in gold.words.iter().zip(&gold.tags).zip(found) {
            let Some(tag) = tag else { continue };
            let by_word = lexicon.tag(word) == tag;
            self.all.add(found == tag);
            self.baseline.add(by_word);
            if !lexicon.contains(word) {
                self.unseen.add(found == tag);
                self.baseline_unseen.add(by_word);
            }
            if found != tag {
                let pair = (tag.clone(), found.to_owned());
                *self.confusions.entry(pair).or_default() += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sentence(words: &[(&str, &str)]) -> TaggedSentence {
        let tag = |tag: &str| (!tag.is_empty()).then(|| tag.to_owned());
        TaggedSentence {
            words: words.iter().map(|(word, _)| (*word).to_owned()).collect(),
            tags: words.iter().map(|(_, name)| tag(name)).collect(),
        }
    }

    #[test]
    fn a_lexicon_has_the_most_frequent_tag_of_each_word() {
        let training = [
            sentence(&[("can", "MD"), ("can", "NN"), ("can", "MD"), ("fish", "")]),
            sentence(&[("left", "VBN"), ("left", "VBD"), ("tin", "NN"), ("can", "NN")]),
        ];
        let lexicon = TagLexicon::of(&training);
        assert_eq!(lexicon.tag("can"), "MD", "the first of equals");
        assert_eq!(lexicon.tag("left"), "VBD");
        // `fish` has no tag, `Can` another case; three NN are the most of all.
        assert!(!lexicon.contains("fish") && !lexicon.contains("Can"));
        assert_eq!((lexicon.tag("fish"), lexicon.tag("Can")), ("NN", "NN"));
        assert_eq!(TagLexicon::of(&[]).tag("x"), "");
    }

    #[test]
    fn words_without_a_gold_tag_do_not_count_and_new_words_count_twice() {
        let lexicon = TagLexicon::of(&[sentence(&[("the", "DT"), ("lock", "NN")])]);
        let gold = sentence(&[("the", "DT"), ("lock", "VB"), ("clicked", "VBD"), ("x", "")]);
        let mut measure = Measure::default();
        measure.add(&gold, &["DT", "NN", "VBD", "NN"], &lexicon);
        assert_eq!(measure.all, Accuracy { words: 3, right: 2 });
        assert_eq!(measure.unseen, Accuracy { words: 1, right: 1 });
        assert_eq!(measure.baseline, Accuracy { words: 3, right: 1 });
        assert_eq!(measure.baseline_unseen, Accuracy { words: 1, right: 0 });
        assert_eq!(
            measure.confusions.into_iter().collect::<Vec<_>>(),
            [(("VB".to_owned(), "NN".to_owned()), 1)]
        );
        assert_eq!(Accuracy::default().share(), 0.0);
    }
}
