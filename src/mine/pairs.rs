//! The pairs of one cluster.
//!
//! ```text
//! L12   every two sentences of the cluster; not the same in small letters, nor but for punctuation; the
//!       shorter has 2/3 of the longer's words; at most 12 edits of words
//! F2    the first two sentences of an article with those of another; 3 shared words of 4
//!       characters or more; the shorter has half of the longer's words
//! ```

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use super::distance::{EditCost, word_distance};
use super::sentences::{replace_numbers_and_days, sentences};
use crate::model::named;
use crate::text::{fold, one_spaced, words};

named! {
    /// How pairs are found.
    pub enum Method {
        /// Sentences of a cluster that few edits of words part.
        L12 => "l12",
        /// First two sentences of articles that share words.
        F2 => "f2",
    }
}

/// How to mine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MineOptions {
    /// How pairs are found.
    pub method: Method,
    /// Most edits of [`Method::L12`].
    pub limit: usize,
    /// What they cost.
    pub cost: EditCost,
    /// Numbers and weekdays are replaced before sentences are compared, and in what comes out.
    pub replace: bool,
}

/// An article of a cluster.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Article {
    /// Its name.
    pub name: String,
    /// Its day as it was written; empty where it is not known.
    pub date: String,
    /// Parts of its text in order, each split into sentences, unless they are sentences.
    pub parts: Vec<String>,
    /// Whether each part is one sentence.
    pub is_split: bool,
}

/// Where a sentence stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SentencePlace {
    /// Number of the article in the cluster.
    pub article: usize,
    /// Number of the sentence in the article, from 0.
    pub sentence: usize,
}

/// Two sentences that may be paraphrases.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pair {
    /// The text of either.
    pub texts: [String; 2],
    /// Where each stands first.
    pub places: [SentencePlace; 2],
    /// Words of either, punctuation counted.
    pub words: [usize; 2],
    /// Edits between them, under [`Method::L12`].
    pub distance: Option<usize>,
    /// Different words of four characters or more that both have, under [`Method::F2`].
    pub shared: Option<usize>,
}

/// Pairs that no earlier cluster gave, by their texts in either order.
#[derive(Debug, Clone, Default)]
pub struct Unseen(HashSet<[u8; 16]>);

impl Unseen {
    /// Whether a pair is the first with its texts.
    pub fn is_new(&mut self, pair: &Pair) -> bool {
        let mut texts: Vec<String> = pair.texts.iter().map(|text| text.to_lowercase()).collect();
        texts.sort_unstable();
        let hash = blake3::hash(texts.join("\t").as_bytes());
        let mut key = [0; 16];
        key.copy_from_slice(&hash.as_bytes()[..16]);
        self.0.insert(key)
    }
}

/// What a cluster gave.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Mined {
    /// The pairs, in the order of their sentences; no two have the same texts, in either order.
    pub pairs: Vec<Pair>,
    /// Articles whose text another of the cluster has.
    pub duplicates: usize,
    /// Different sentences that were compared.
    pub sentences: usize,
}

/// A sentence that is compared.
struct Sentence {
    text: String,
    /// Where it stands first.
    place: SentencePlace,
    /// Where it stands first in another article, if it does.
    again: Option<SentencePlace>,
    /// Words in small letters, as numbers.
    words: Vec<u32>,
    /// The same in ascending order.
    sorted: Vec<u32>,
    /// Those with a letter or a digit.
    plain: Vec<u32>,
    /// Different words of four characters or more with a letter or a digit, ascending.
    long: Vec<u32>,
}

/// Finds the pairs of a cluster.
///
/// The work is quadratic in the sentences of the cluster.
#[must_use]
pub fn mine(articles: &[Article], options: &MineOptions) -> Mined {
    let (sentences, duplicates) = read(articles, options);
    let mut mined = Mined { duplicates, sentences: sentences.len(), ..Mined::default() };
    match options.method {
        Method::L12 => by_edits(&sentences, options, &mut mined.pairs),
        Method::F2 => by_shared_words(&sentences, &mut mined.pairs),
    }
    mined
}

/// The sentences to be compared, and the number of articles that others repeat.
fn read(articles: &[Article], options: &MineOptions) -> (Vec<Sentence>, usize) {
    let (mut texts, mut seen) = (HashSet::new(), HashMap::new());
    let mut numbers: HashMap<String, u32> = HashMap::new();
    let (mut found, mut duplicates) = (Vec::<Sentence>::new(), 0);
    for (article, Article { parts, is_split, .. }) in articles.iter().enumerate() {
        if !texts.insert(parts) {
            duplicates += 1;
            continue;
        }
        let all = parts.iter().flat_map(|part| match is_split {
            true => vec![one_spaced(part)],
            false => sentences(part),
        });
        for (sentence, text) in all.enumerate() {
            if options.method == Method::F2 && sentence > 1 {
                break;
            }
            let text = if options.replace { replace_numbers_and_days(&text) } else { text };
            let place = SentencePlace { article, sentence };
            match seen.entry(fold(&text)) {
                Entry::Vacant(entry) => {
                    entry.insert(found.len());
                    found.push(Sentence::new(text, place, &mut numbers));
                }
                Entry::Occupied(entry) => found[*entry.get()].stands_also(place),
            }
        }
    }
    found.retain(|sentence| !sentence.plain.is_empty());
    (found, duplicates)
}

impl Sentence {
    fn new(text: String, place: SentencePlace, numbers: &mut HashMap<String, u32>) -> Self {
        let (mut words_of, mut plain, mut long) = (Vec::new(), Vec::new(), Vec::new());
        for word in words(&text).into_iter().filter_map(|word| word.of(&text)).map(fold) {
            let has_sign = word.chars().any(char::is_alphanumeric);
            let is_long = has_sign && word.chars().count() >= 4;
            let next = numbers.len() as u32;
            let number = *numbers.entry(word).or_insert(next);
            words_of.push(number);
            plain.extend(has_sign.then_some(number));
            long.extend(is_long.then_some(number));
        }
        let mut sorted = words_of.clone();
        sorted.sort_unstable();
        long.sort_unstable();
        long.dedup();
        Self { text, place, again: None, words: words_of, sorted, plain, long }
    }

    fn stands_also(&mut self, place: SentencePlace) {
        if place.article != self.place.article {
            self.again.get_or_insert(place);
        }
    }

    /// Where this and another sentence stand in different articles.
    fn apart(&self, other: &Self) -> Option<[SentencePlace; 2]> {
        let places = |of: &Self| [Some(of.place), of.again];
        let mine = places(self).into_iter().flatten();
        let both =
            mine.flat_map(|mine| places(other).into_iter().flatten().map(move |o| [mine, o]));
        both.into_iter().find(|[mine, others]| mine.article != others.article)
    }
}

fn by_edits(sentences: &[Sentence], options: &MineOptions, pairs: &mut Vec<Pair>) {
    for (at, a) in sentences.iter().enumerate() {
        for b in &sentences[at + 1..] {
            let (short, long) =
                (a.words.len().min(b.words.len()), a.words.len().max(b.words.len()));
            if 3 * short < 2 * long || long - short > options.limit || a.plain == b.plain {
                continue;
            }
            // Words that only one of them has are edits in any order; an exchange takes two.
            let alone = a.words.len() + b.words.len() - 2 * shared(&a.sorted, &b.sorted);
            let least = match options.cost {
                EditCost::DeleteInsert => alone,
                EditCost::Unit => alone.div_ceil(2),
            };
            if least > options.limit {
                continue;
            }
            let distance = word_distance(&a.words, &b.words, options.limit, options.cost);
            if distance.is_some() {
                pairs.push(pair(a, b, distance, None));
            }
        }
    }
}

fn by_shared_words(sentences: &[Sentence], pairs: &mut Vec<Pair>) {
    for (at, a) in sentences.iter().enumerate() {
        for b in &sentences[at + 1..] {
            let Some(places) = a.apart(b) else { continue };
            let (short, long) =
                (a.words.len().min(b.words.len()), a.words.len().max(b.words.len()));
            let shared = shared(&a.long, &b.long);
            if shared >= 3 && 2 * short >= long && a.plain != b.plain {
                pairs.push(Pair { places, ..pair(a, b, None, Some(shared)) });
            }
        }
    }
}

fn pair(a: &Sentence, b: &Sentence, distance: Option<usize>, shared: Option<usize>) -> Pair {
    Pair {
        texts: [a.text.clone(), b.text.clone()],
        places: [a.place, b.place],
        words: [a.words.len(), b.words.len()],
        distance,
        shared,
    }
}

/// How many numbers two ascending lists have in common, repeated ones as often as both have them.
fn shared(a: &[u32], b: &[u32]) -> usize {
    let (mut i, mut j, mut count) = (0, 0, 0);
    while let (Some(left), Some(right)) = (a.get(i), b.get(j)) {
        count += usize::from(left == right);
        i += usize::from(left <= right);
        j += usize::from(right <= left);
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    fn article(name: &str, text: &str) -> Article {
        Article { name: name.into(), parts: vec![text.into()], ..Article::default() }
    }

    fn options(method: Method) -> MineOptions {
        MineOptions { method, limit: 12, cost: EditCost::DeleteInsert, replace: false }
    }

    #[test]
    fn sentences_pair_by_edits_and_not_by_case_or_punctuation() {
        let articles = [
            article("a", "Police arrested two men on Friday. Rain fell."),
            article("b", "Police arrested the two men Friday. Rain fell!"),
            article("c", "police arrested two men on friday"),
        ];
        let mined = mine(&articles, &options(Method::L12));
        let found: Vec<_> =
            mined.pairs.iter().map(|p| (p.places.map(|at| at.article), p.distance)).collect();
        assert_eq!(found, [([0, 1], Some(2)), ([1, 2], Some(3))]);
    }

    #[test]
    fn an_exchange_counts_as_is_asked_and_length_matters() {
        let articles = [article("a", "one two three four."), article("b", "one two three five.")];
        let unit = MineOptions { cost: EditCost::Unit, ..options(Method::L12) };
        assert_eq!(mine(&articles, &options(Method::L12)).pairs[0].distance, Some(2));
        assert_eq!(mine(&articles, &unit).pairs[0].distance, Some(1));
        let longer = [article("a", "one two three"), article("b", "one two three four five")];
        assert_eq!(mine(&longer, &options(Method::L12)).pairs, []);
    }

    #[test]
    fn first_sentences_pair_across_articles_by_long_words() {
        let first = "The storm killed seven people in Florida.";
        let articles = [
            article(
                "a",
                &format!("{first} The storm in Florida killed people. Third storm killed people."),
            ),
            article("b", "Seven people were killed as the storm hit. None."),
            article("c", first),
        ];
        let mined = mine(&articles, &options(Method::F2));
        let found: Vec<_> = mined.pairs.iter().map(|p| p.places.map(|at| at.sentence)).collect();
        // The first sentence stands in `c` too, so it pairs with the second of `a`.
        assert_eq!(found, [[0, 1], [0, 0], [1, 0]]);
        assert_eq!(mined.pairs[1].shared, Some(4));
    }

    #[test]
    fn a_sentence_that_two_articles_begin_with_pairs_with_the_next_of_either() {
        let (storm, killed) =
            ("A storm killed people in Florida.", "The storm in Florida killed seven people.");
        let articles =
            [article("a", &format!("{storm} {killed}")), article("b", &format!("{storm} None."))];
        let mined = mine(&articles, &options(Method::F2));
        let place = |article, sentence| SentencePlace { article, sentence };
        let found: Vec<_> = mined.pairs.iter().map(|pair| pair.places).collect();
        assert_eq!(found, [[place(1, 0), place(0, 1)]]);
    }

    #[test]
    fn long_words_have_four_characters_whatever_these_are() {
        let pair = |first, second| {
            mine(&[article("a", first), article("b", second)], &options(Method::F2)).pairs
        };
        let found = pair("In 1999 the storm hit Kobe.", "Kobe was hit in 1999 by a storm.");
        assert_eq!(found[0].shared, Some(3), "the year is one of them");
        assert_eq!(pair("In 199 the storm hit Kobe.", "Kobe was hit in 199 by a storm."), []);
        assert_eq!(pair("Kobe ---- the storm hit.", "A storm ---- it hit Kobe."), []);
    }

    #[test]
    fn an_article_that_comes_twice_counts_once() {
        let articles =
            [article("a", "It fell."), article("b", "It fell."), article("c", "It rose.")];
        let mined = mine(&articles, &options(Method::L12));
        assert_eq!((mined.duplicates, mined.sentences, mined.pairs.len()), (1, 2, 1));
    }

    #[test]
    fn numbers_are_no_difference_once_they_are_replaced() {
        let articles = [article("a", "He had 5 cats."), article("b", "He had 7 cats.")];
        let replaced = MineOptions { replace: true, ..options(Method::L12) };
        assert_eq!(mine(&articles, &options(Method::L12)).pairs.len(), 1);
        assert_eq!(mine(&articles, &replaced).pairs, []);
    }
}
