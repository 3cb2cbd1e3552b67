//! What parts two sentences, counted by machine: a check beside the counts of people (Dolan et al.
//! 2004, Table 2).
//!
//! The words that a longest common subsequence leaves are *alone*. Those that stand alone on both
//! sides have moved: *reordering*. Of the others, a word that is the other side's in another
//! spelling is *spelling*, and one content word for one between the same neighbours is a *synonym*.
//! Inflections of one word count as neither.

use crate::model::Pos;
use crate::text::{fold, is_stop_word, lemma_candidates, spelling_variants, words};

/// Instances in one pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Estimate {
    /// Words in another spelling.
    pub spelling: usize,
    /// Content words in each other's place.
    pub synonym: usize,
    /// Words that stand elsewhere.
    pub reordering: usize,
}

/// Counts what parts two sentences.
///
/// ```
/// let found = fnstore::mine::estimate("The colour of the car", "The color of the vehicle");
/// assert_eq!((found.spelling, found.synonym, found.reordering), (1, 1, 0));
/// ```
#[must_use]
pub fn estimate(source: &str, target: &str) -> Estimate {
    let (a, b) = (plain_words(source), plain_words(target));
    let mut found = Estimate::default();
    let mut gaps = gaps(&a, &b);
    let alone: Vec<String> = gaps.iter().flat_map(|[_, right]| right.clone()).collect();
    let mut moved: Vec<String> = Vec::new();
    for word in gaps.iter().flat_map(|[left, _]| left) {
        let times = |list: &[String]| list.iter().filter(|other| *other == word).count();
        if times(&moved) < times(&alone) {
            moved.push(word.clone());
        }
    }
    found.reordering = moved.iter().filter(|word| !is_stop_word(word)).count();
    for side in gaps.iter_mut().flatten() {
        side.retain(|word| !moved.contains(word));
    }
    for gap in &gaps {
        let [[left], [right]] = [&gap[0][..], &gap[1][..]] else { continue };
        if is_same_word(left, right) {
            continue;
        }
        if is_respelt(left, right) {
            found.spelling += 1;
        } else if [left, right].iter().all(|word| !is_stop_word(word) && is_of_letters(word)) {
            found.synonym += 1;
        }
    }
    found
}

fn plain_words(text: &str) -> Vec<String> {
    let words = words(text).into_iter().filter_map(|word| word.of(text));
    words.filter(|word| word.chars().any(char::is_alphanumeric)).map(fold).collect()
}

fn is_of_letters(word: &str) -> bool {
    word.chars().all(char::is_alphabetic)
}

fn is_same_word(a: &str, b: &str) -> bool {
    [Pos::Noun, Pos::Verb, Pos::Adjective].into_iter().any(|pos| {
        let other = lemma_candidates(b, pos);
        lemma_candidates(a, pos).iter().any(|lemma| other.contains(lemma))
    })
}

fn is_respelt(a: &str, b: &str) -> bool {
    let bare = |word: &str| -> String { word.chars().filter(|c| c.is_alphanumeric()).collect() };
    bare(a) == bare(b) || spelling_variants(a).iter().any(|variant| variant == b)
}

/// What either side has between the words of a longest common subsequence.
fn gaps(a: &[String], b: &[String]) -> Vec<[Vec<String>; 2]> {
    // Longest common subsequence of what follows each two places.
    let mut longest = vec![vec![0_usize; b.len() + 1]; a.len() + 1];
    for i in (0..a.len()).rev() {
        for j in (0..b.len()).rev() {
            longest[i][j] = match a[i] == b[j] {
                true => longest[i + 1][j + 1] + 1,
                false => longest[i + 1][j].max(longest[i][j + 1]),
            };
        }
    }
    let (mut gaps, mut gap) = (Vec::new(), [Vec::new(), Vec::new()]);
    let (mut i, mut j) = (0, 0);
    while i < a.len() || j < b.len() {
        if i < a.len() && j < b.len() && a[i] == b[j] {
            gaps.push(std::mem::take(&mut gap));
            (i, j) = (i + 1, j + 1);
        } else if j == b.len() || i < a.len() && longest[i + 1][j] >= longest[i][j + 1] {
            gap[0].push(a[i].clone());
            i += 1;
        } else {
            gap[1].push(b[j].clone());
            j += 1;
        }
    }
    gaps.push(gap);
    gaps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_that_moved_is_no_synonym() {
        let found = estimate("Yesterday police arrested him", "Police arrested him yesterday");
        assert_eq!(found, Estimate { reordering: 1, ..Estimate::default() });
    }

    #[test]
    fn inflections_and_function_words_are_no_synonyms() {
        assert_eq!(estimate("He walks in", "He walked in"), Estimate::default());
        assert_eq!(estimate("He fell on it", "He fell from it"), Estimate::default());
        assert_eq!(estimate("", "He fell"), Estimate::default());
    }
}
