//! Training data of other tasks, rewritten: what is asked of the rewriter, how answers come
//! together, and what it gains.
//!
//! Hu, Khayrallah, Culkin and others (2019), Improved Lexically Constrained Decoding for
//! Translation and Monolingual Rewriting, sections 4 and 5 and appendices A to C. An
//! [`AugmentTask`] makes requests, a [`RememberingRewriter`] rewrites each once. The one network
//! that is trained here is the small [`Classifier`] of entailment pairs.

mod aggregate;
mod arms;
mod classifier;
mod entailment;
mod judged;
mod memory;
mod sets;

use std::collections::HashSet;

pub use aggregate::{
    AggregateRule, AggregatedItem, Aggregates, Changes, PredictedItems, Prediction, best_class,
    combine, max_vote, search_weights,
};
pub use arms::{
    Answers, Arm, ArmsReport, AugmentedPair, Brittleness, compare_arms, mean_and_deviation,
};
pub use classifier::{Classifier, ClassifierOptions, Examples};
pub use entailment::{EntailmentPair, PairFeatures, PairReader};
pub use judged::{Rater, SystemFigures, Verdict, figures};
pub use memory::{AugmentError, RememberingRewriter, RewriteTally, RewrittenText};
pub use sets::{AugmentItem, AugmentTask, Copies, Variant};

use crate::paraphrase::Constraints;
use crate::text::{Idf, fold, names, words};

/// Pronouns whose gender a rewriting must keep under [`shared_word`].
const GENDERED: [&str; 8] = ["he", "her", "hers", "herself", "him", "himself", "his", "she"];

/// Bans the most telling word of a sentence of an entailment pair (section 5.1).
///
/// ```
/// use fnstore::augment::top_word;
/// use fnstore::text::Idf;
///
/// let idf = Idf::new(["They paid the bill.", "They paid.", "They left."]);
/// assert_eq!(top_word("They paid the bill.", &idf).avoid, ["bill"]);
/// ```
#[must_use]
pub fn top_word(sentence: &str, idf: &Idf) -> Constraints {
    Constraints::avoiding(idf.most_telling(sentence, 1, &[]))
}

/// Bans the most telling word that a sentence shares with the other of its pair, or its own if they
/// share none. Requires its names and its gendered pronouns (appendix A).
#[must_use]
pub fn shared_word(sentence: &str, other: &str, idf: &Idf) -> Constraints {
    let required = required(sentence, |word| GENDERED.binary_search(&fold(word).as_str()).is_ok());
    let kept = parts(&required);
    let kept: Vec<&str> = kept.iter().map(String::as_str).collect();
    let others: HashSet<String> = words_of(other).map(fold).collect();
    let all = idf.most_telling(sentence, usize::MAX, &kept);
    let common = all.iter().find(|word| others.contains(&fold(word)));
    let avoid = common.or(all.first()).map(|word| (*word).to_owned()).into_iter().collect();
    Constraints { avoid, require: one_each(required), ..Constraints::default() }
}

/// Requires the names that a candidate shares with the question, and the answer where the candidate
/// has it; bans its `count` most telling words else (section 5.2).
#[must_use]
pub fn answer_kept(
    candidate: &str,
    question: &str,
    answer: &str,
    idf: &Idf,
    count: usize,
) -> Constraints {
    let asked = fold(question);
    let mut required: Vec<String> =
        names_of(candidate).into_iter().filter(|name| asked.contains(&fold(name))).collect();
    let answer = answer.trim();
    if let Some(place) = fold(candidate).find(&fold(answer)).filter(|_| !answer.is_empty()) {
        // The candidate's own writing, where small letters are as many bytes.
        let written = candidate.get(place..place + answer.len()).unwrap_or(answer);
        required.push(written.to_owned());
    }
    let kept = parts(&required);
    let kept: Vec<&str> = kept.iter().map(String::as_str).collect();
    let avoid = idf.most_telling(candidate, count, &kept).into_iter().map(str::to_owned).collect();
    Constraints { avoid, require: one_each(required), ..Constraints::default() }
}

/// What asks for different rewritings of a reference: nothing, and each of its `count` most telling
/// words banned alone. (The 34 ways of ParaBank are not in the paper.)
#[must_use]
pub fn many_ways(sentence: &str, idf: &Idf, count: usize) -> Vec<Constraints> {
    let telling = idf.most_telling(sentence, count, &[]);
    let bans = telling.into_iter().map(|word| Constraints::avoiding([word]));
    [Constraints::default()].into_iter().chain(bans).collect()
}

/// The share of the different words of two sentences that both have, in `[0, 1]`; case is folded.
#[must_use]
pub fn jaccard(a: &str, b: &str) -> f64 {
    let set = |text: &str| -> HashSet<String> { words_of(text).map(fold).collect() };
    let (a, b) = (set(a), set(b));
    let both = a.intersection(&b).count();
    let all = a.len() + b.len() - both;
    if all == 0 { 1.0 } else { both as f64 / all as f64 }
}

fn words_of(text: &str) -> impl Iterator<Item = &str> {
    words(text).into_iter().filter_map(|word| word.of(text))
}

fn names_of(text: &str) -> Vec<String> {
    names(text).into_iter().filter_map(|name| name.of(text)).map(str::to_owned).collect()
}

/// The names of a sentence, and its words that must stay besides.
fn required(sentence: &str, must_stay: impl Fn(&str) -> bool) -> Vec<String> {
    let mut required = names_of(sentence);
    for word in words_of(sentence).filter(|word| must_stay(word)) {
        if !required.iter().any(|other| other == word) {
            required.push(word.to_owned());
        }
    }
    required
}

/// The words of phrases.
fn parts(phrases: &[String]) -> Vec<String> {
    phrases.iter().flat_map(|phrase| words_of(phrase)).map(str::to_owned).collect()
}

/// Phrases that must each occur once, however often they were found.
fn one_each(phrases: Vec<String>) -> Vec<Vec<String>> {
    let mut seen = HashSet::new();
    phrases.into_iter().filter(|phrase| seen.insert(fold(phrase))).map(|p| vec![p]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn idf() -> Idf {
        Idf::new(["She sold the house", "She sold the red car", "He sold", "Later she left"])
    }

    #[test]
    fn gendered_pronouns_are_ascending() {
        assert!(GENDERED.is_sorted());
    }

    #[test]
    fn the_word_that_both_sentences_have_is_banned_and_names_and_gender_stay() {
        let (sentence, other) = ("Later she sold the red car to Kim Lee", "Kim sold a house");
        let found = shared_word(sentence, other, &idf());
        assert_eq!(
            (found.avoid, found.require),
            (vec!["sold".to_owned()], vec![vec!["Kim Lee".to_owned()], vec!["she".to_owned()],])
        );
        let alone = shared_word("He sold the car", "Nobody left", &idf());
        assert_eq!(alone.avoid, ["car"]);
    }

    #[test]
    fn the_answer_and_the_names_of_the_question_are_never_banned() {
        let candidate = "In 1999 Kim Lee sold the Red House near Boston.";
        let found = answer_kept(candidate, "What did Kim Lee sell?", "red house", &idf(), 4);
        assert_eq!(found.require, [["Kim Lee"], ["Red House"]]);
        assert_eq!(found.avoid, ["near", "Boston", "sold"]);
        let none = answer_kept(candidate, "Who?", "the moon", &idf(), 0);
        assert_eq!(none, Constraints::default());
    }

    #[test]
    fn sentences_are_alike_by_their_different_words() {
        assert_eq!(jaccard("The dog sat", "the DOG ran"), 0.5);
        assert_eq!((jaccard("", ""), jaccard("a", "")), (1.0, 0.0));
    }

    #[test]
    fn a_reference_is_rewritten_freely_and_without_each_of_its_telling_words() {
        let asked = many_ways("She sold the red car", &idf(), 2);
        let banned: Vec<Vec<String>> = asked.into_iter().map(|of| of.avoid).collect();
        assert_eq!(banned, [vec![], vec!["red".to_owned()], vec!["car".to_owned()]]);
    }
}
