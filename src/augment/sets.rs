//! The sets of three tasks: what is asked of the rewriter, and which variants of an item there are.

use std::str::FromStr;

use super::memory::RewrittenText;
use super::{answer_kept, jaccard, many_ways, shared_word, top_word};
use crate::paraphrase::{Constraints, Request};
use crate::text::{Idf, fold};

/// Words that a translation's sentence is rewritten without, each alone; and texts that are asked
/// for each time.
const WAYS: usize = 4;
const TEXTS: usize = 4;

/// An item of any task.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AugmentItem {
    /// Its id.
    pub id: String,
    /// Part of the data that it is in; empty where none says so.
    pub split: String,
    /// Its label, where the task has one.
    pub label: String,
    /// Premise and hypothesis, question and candidate, or foreign and English.
    pub texts: [String; 2],
    /// What a candidate must keep, of a question.
    pub answer: String,
}

impl AugmentItem {
    /// Whether it is trained on: what no split says is.
    fn is_train(&self) -> bool {
        matches!(self.split.as_str(), "" | "train")
    }
}

/// Copies of what was and of what is new.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Copies {
    /// Of an item as it was.
    pub original: usize,
    /// Of each rewriting.
    pub rewritten: usize,
}

impl FromStr for Copies {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let count = |text: &str| text.parse().ok().filter(|count| *count <= 100);
        let both = text.split_once(':').and_then(|(a, b)| Some((count(a)?, count(b)?)));
        let (original, rewritten) = both.ok_or("expected two counts up to 100, as 10:1")?;
        Ok(Self { original, rewritten })
    }
}

/// A task whose data is rewritten.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum AugmentTask {
    /// Entailment: the most telling word of each sentence is banned, or the most telling that both
    /// have.
    Entailment {
        /// Whether it is the word that both have.
        shared: bool,
    },
    /// Candidate answers of questions: so many telling words are banned.
    Answers {
        /// How many.
        ban: usize,
    },
    /// The English side of a parallel corpus, rewritten in several ways.
    Translation {
        /// Rewritings share less than this of their words with the reference.
        jaccard: f64,
        /// Most rewritings of a sentence.
        most: usize,
        /// How often each stands in the set.
        copies: Copies,
    },
}

/// An item as it was, or rewritten.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variant {
    /// Number of the item.
    pub item: usize,
    /// What is new of it, as in `hypothesis`; `original` for nothing.
    pub variant: &'static str,
    /// Its two texts.
    pub texts: [String; 2],
}

fn request(text: &str, constraints: Constraints) -> Request {
    Request { text: text.to_owned(), constraints }
}

/// The best rewriting that is not the sentence itself.
fn changed<'t>(of: &'t [RewrittenText], text: &str) -> Option<&'t str> {
    of.iter().map(|of| of.text.as_str()).find(|found| fold(found) != fold(text))
}

impl AugmentTask {
    /// Names of the two texts of an item.
    #[must_use]
    pub fn names(&self) -> [&'static str; 2] {
        match self {
            Self::Entailment { .. } => ["premise", "hypothesis"],
            Self::Answers { .. } => ["question", "candidate"],
            Self::Translation { .. } => ["foreign", "english"],
        }
    }

    /// How many texts are asked for of each request.
    #[must_use]
    pub fn texts(&self) -> usize {
        if matches!(self, Self::Translation { .. }) { TEXTS } else { 1 }
    }

    /// What is asked of the rewriter, item by item.
    #[must_use]
    pub fn requests(&self, items: &[AugmentItem]) -> Vec<Vec<Request>> {
        let is_one_side = matches!(self, Self::Translation { .. });
        let trained = items.iter().filter(|item| item.is_train());
        let idf = Idf::new(trained.flat_map(|item| &item.texts[usize::from(is_one_side)..]));
        let asked = |AugmentItem { texts: [first, second], answer, .. }: &AugmentItem| match self {
            Self::Entailment { shared } => {
                let (of_first, of_second) = match shared {
                    true => (shared_word(first, second, &idf), shared_word(second, first, &idf)),
                    false => (top_word(first, &idf), top_word(second, &idf)),
                };
                vec![request(first, of_first), request(second, of_second)]
            }
            Self::Answers { ban } => {
                vec![request(second, answer_kept(second, first, answer, &idf, *ban))]
            }
            Self::Translation { .. } => {
                let ways = many_ways(second, &idf, WAYS).into_iter();
                ways.map(|constraints| request(second, constraints)).collect()
            }
        };
        items.iter().map(asked).collect()
    }

    /// The variants of items, by what was found for the requests of each.
    #[must_use]
    pub fn variants(
        &self,
        items: &[AugmentItem],
        found: &[Vec<Vec<RewrittenText>>],
    ) -> Vec<Variant> {
        let mut variants = Vec::new();
        for (at, (item, found)) in items.iter().zip(found).enumerate() {
            let [first, second] = [&*item.texts[0], &*item.texts[1]];
            let mut add = |variant, texts: [&str; 2]| {
                variants.push(Variant { item: at, variant, texts: texts.map(str::to_owned) });
            };
            match self {
                Self::Entailment { .. } => {
                    let (premise, hypothesis) =
                        (changed(&found[0], first), changed(&found[1], second));
                    add("original", [first, second]);
                    if let Some(new) = hypothesis {
                        add("hypothesis", [first, new]);
                    }
                    if let Some(new) = premise {
                        add("premise", [new, second]);
                    }
                    if let (Some(premise), Some(hypothesis)) = (premise, hypothesis) {
                        add("both", [premise, hypothesis]);
                    }
                    if item.is_train() {
                        add("again", [first, second]);
                    }
                }
                Self::Answers { .. } => {
                    add("original", [first, second]);
                    if let Some(new) = changed(&found[0], second) {
                        add("candidate", [first, new]);
                    }
                }
                Self::Translation { jaccard, most, copies } => {
                    (0..copies.original).for_each(|_| add("original", [first, second]));
                    for new in unlike(found, second, (*jaccard, *most)) {
                        (0..copies.rewritten).for_each(|_| add("english", [first, new]));
                    }
                }
            }
        }
        variants
    }
}

/// The different rewritings of a reference that are unlike enough, the best of each way first.
fn unlike<'t>(
    found: &'t [Vec<RewrittenText>],
    reference: &str,
    (least, most): (f64, usize),
) -> Vec<&'t str> {
    let mut new: Vec<&str> = Vec::new();
    for rank in 0..TEXTS {
        for text in found.iter().filter_map(|way| way.get(rank)).map(|of| of.text.as_str()) {
            let is_new = new.iter().all(|other| fold(other) != fold(text));
            if is_new && jaccard(text, reference) < least && new.len() < most {
                new.push(text);
            }
        }
    }
    new
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_are_two_counts() {
        assert_eq!("10:1".parse(), Ok(Copies { original: 10, rewritten: 1 }));
        for wrong in ["10", "a:1", "1:", "1:-1", "1:101"] {
            assert!(wrong.parse::<Copies>().unwrap_err().contains("as 10:1"), "{wrong}");
        }
    }

    #[test]
    fn a_copy_of_the_sentence_is_no_rewriting() {
        let texts: Vec<RewrittenText> = ["He LEFT.", "He went."]
            .iter()
            .map(|text| serde_json::from_value(serde_json::json!({ "text": text })).unwrap())
            .collect();
        assert_eq!(changed(&texts, "he left."), Some("He went."));
        assert_eq!(changed(&texts[..1], "he left."), None);
    }
}
