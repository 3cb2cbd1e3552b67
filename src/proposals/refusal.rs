//! Words that a rewriter put in a trigger's place and that can be no LU: function words, numbers,
//! parts of names, and what is no word at all.
//!
//! Their sentences stay. The lists of words are of English, so they refuse in English alone.

use super::Key;
use crate::model::{Pos, named};
use crate::text::{fold, is_function_word};

named! {
    /// Why a word that stands under a proposed LU is no proposal.
    pub enum Refusal {
        /// It is a function word, or several.
        FunctionWord => "function-word",
        /// It is a number, or has a digit.
        Number => "number",
        /// It has punctuation that no LU has: a point behind a word, a comma, a quotation mark.
        Punctuation => "punctuation",
        /// It is a part of a name in all of its best sentences.
        PartOfName => "part-of-a-name",
        /// It has no letters, or neither word lists nor word vectors know it.
        NoWord => "no-word",
    }
}

/// Words of numbers.
const NUMBERS: [&str; 32] = [
    "billion",
    "eight",
    "eighteen",
    "eighty",
    "eleven",
    "fifteen",
    "fifty",
    "five",
    "forty",
    "four",
    "fourteen",
    "hundred",
    "million",
    "nine",
    "nineteen",
    "ninety",
    "seven",
    "seventeen",
    "seventy",
    "six",
    "sixteen",
    "sixty",
    "ten",
    "thirteen",
    "thirty",
    "thousand",
    "three",
    "trillion",
    "twelve",
    "twenty",
    "two",
    "zero",
];

/// Why no LU can have a name, if none can. A verb, noun or adjective of English has a word beside
/// function words and numbers; what a rewriter gets wrong, as `the.v` or `prepared2.v`, has none.
pub(crate) fn of_name((lemma, pos): &Key, is_english: bool) -> Option<Refusal> {
    if lemma.chars().any(char::is_numeric) {
        return Some(Refusal::Number);
    }
    let is_said = |word: &&str| word.chars().any(char::is_alphabetic);
    let words: Vec<&str> =
        lemma.split(|c: char| c.is_whitespace() || c == '-').filter(is_said).collect();
    if words.is_empty() {
        return Some(Refusal::NoWord);
    }
    if has_punctuation(lemma) {
        return Some(Refusal::Punctuation);
    }
    if !is_english || ![Pos::Verb, Pos::Noun, Pos::Adjective].contains(pos) {
        return None;
    }
    let is_number = |word: &str| is_among(&NUMBERS, word);
    if words.iter().all(|word| is_function_word(word)) {
        return Some(Refusal::FunctionWord);
    }
    let says_nothing = |word: &&str| is_function_word(word) || is_number(word);
    words.iter().all(says_nothing).then_some(Refusal::Number)
}

/// Whether a lemma has signs that no LU of FrameNet has in its name. Those have hyphens,
/// apostrophes, `_`, `(`, `)` and `/`; a point is of an abbreviation, behind a single letter.
fn has_punctuation(lemma: &str) -> bool {
    const OTHERS: &str = "\u{a1}\u{ab}\u{bb}\u{bf}\u{2013}\u{2014}\u{201c}\u{201d}\u{201e}\u{2026}";
    let mut word = 0;
    lemma.chars().any(|letter| {
        let behind = word;
        word = if letter.is_alphabetic() { word + 1 } else { 0 };
        match letter {
            '.' => behind != 1,
            '-' | '\'' | '_' | '(' | ')' | '/' | '&' => false,
            letter => letter.is_ascii_punctuation() || OTHERS.contains(letter),
        }
    })
}

fn is_among(list: &[&str], word: &str) -> bool {
    list.binary_search(&fold(word).as_str()).is_ok()
}

/// Whether a noun or verb of English is a part of a name in every one of its best sentences; each
/// says whether it is so there.
pub(super) fn is_part_of_name(pos: Pos, in_sentences: &[bool], is_english: bool) -> bool {
    is_english
        && [Pos::Noun, Pos::Verb].contains(&pos)
        && !in_sentences.is_empty()
        && in_sentences.iter().all(|is_in_name| *is_in_name)
}

#[cfg(test)]
mod tests {
    use super::super::key_of;
    use super::*;

    #[test]
    fn words_without_content_are_no_lus() {
        assert!(NUMBERS.is_sorted());
        let of = |name: &str, is_english| of_name(&key_of(name), is_english);
        for (name, refusal) in [
            ("the.v", Refusal::FunctionWord),
            ("be.v", Refusal::FunctionWord),
            ("that.n", Refusal::FunctionWord),
            ("Himself.n", Refusal::FunctionWord),
            ("'s.v", Refusal::FunctionWord),
            ("would have.v", Refusal::FunctionWord),
            ("prepared2.v", Refusal::Number),
            ("7up.n", Refusal::Number),
            ("forty.a", Refusal::Number),
            ("two.a", Refusal::Number),
            ("twenty-five.a", Refusal::Number),
            ("-.n", Refusal::NoWord),
            ("see that.certify.v", Refusal::Punctuation),
            ("see that..certify.v", Refusal::Punctuation),
            ("check that..v", Refusal::Punctuation),
            ("see, certify.v", Refusal::Punctuation),
            ("\u{201c}vet.v", Refusal::Punctuation),
        ] {
            assert_eq!(of(name, true), Some(refusal), "{name}");
        }
        for name in [
            "vet.v",
            "well-known.a",
            "give up.v",
            "out of.prep",
            "caf\u{e9}.n",
            "two.num",
            "child's_play.n",
            "(in/out) line.n",
            "aid_((act)).n",
            "b&b.n",
            "u.s..n",
            "don\u{2019}t know.v",
        ] {
            assert_eq!(of(name, true), None, "{name}");
        }
        // `the` is a word of its own elsewhere; digits are digits.
        assert_eq!(of("the.n", false), None);
        assert_eq!(of("the2.n", false), Some(Refusal::Number));
    }

    #[test]
    fn a_noun_or_verb_is_a_part_of_a_name_where_all_of_its_sentences_say_so() {
        assert!(is_part_of_name(Pos::Noun, &[true, true], true));
        assert!(is_part_of_name(Pos::Verb, &[true], true));
        for (pos, of, is_english) in [
            (Pos::Noun, &[true, false][..], true),
            (Pos::Noun, &[], true),
            (Pos::Noun, &[true], false),
            // `British` beside `Empire` is a word with content.
            (Pos::Adjective, &[true], true),
        ] {
            assert!(!is_part_of_name(pos, of, is_english), "{pos:?} {of:?}");
        }
    }
}
