//! Words that a rewriter put in a trigger's place and that can be no LU: function words, numbers,
//! parts of names, and what is no word at all.
//!
//! Their sentences stay. The lists of words are of English, so they refuse in English alone.

use super::{Attestation, Key};
use crate::model::{Pos, named};
use crate::text::{fold, is_stop_word};

named! {
    /// Why a word that stands under a proposed LU is no proposal.
    pub enum Refusal {
        /// It is a function word, or several.
        FunctionWord => "function-word",
        /// It is a number, or has a digit.
        Number => "number",
        /// It is a part of a name in all of its best sentences.
        PartOfName => "part-of-a-name",
        /// It has no letters, or neither word lists nor word vectors know it.
        NoWord => "no-word",
    }
}

/// Function words beside those that [`is_stop_word`] knows: they are no LUs either, but an
/// expansion may ban them.
const FUNCTION_WORDS: [&str; 56] = [
    "although",
    "among",
    "anybody",
    "anyone",
    "anything",
    "because",
    "between",
    "ca",
    "cannot",
    "despite",
    "during",
    "each",
    "either",
    "else",
    "ever",
    "every",
    "everybody",
    "everyone",
    "everything",
    "except",
    "having",
    "herself",
    "himself",
    "however",
    "itself",
    "myself",
    "n't",
    "neither",
    "never",
    "nobody",
    "none",
    "nothing",
    "n\u{2019}t",
    "one",
    "onto",
    "ought",
    "ours",
    "ourselves",
    "per",
    "since",
    "somebody",
    "someone",
    "something",
    "theirs",
    "themselves",
    "though",
    "toward",
    "towards",
    "unless",
    "until",
    "whatever",
    "where",
    "whereas",
    "whether",
    "whom",
    "whose",
];

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
pub(super) fn of_name((lemma, pos): &Key, is_english: bool) -> Option<Refusal> {
    if lemma.chars().any(char::is_numeric) {
        return Some(Refusal::Number);
    }
    let is_said = |word: &&str| word.chars().any(char::is_alphabetic);
    let words: Vec<&str> =
        lemma.split(|c: char| c.is_whitespace() || c == '-').filter(is_said).collect();
    if words.is_empty() {
        return Some(Refusal::NoWord);
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

/// Whether a word is one of a closed class, or what is left of one, as `'s`.
fn is_function_word(word: &str) -> bool {
    is_stop_word(word) || is_among(&FUNCTION_WORDS, word) || word.starts_with(['\'', '\u{2019}'])
}

fn is_among(list: &[&str], word: &str) -> bool {
    list.binary_search(&fold(word).as_str()).is_ok()
}

/// Whether a noun or verb of English is a part of a name in every sentence: it is capitalised
/// inside of the sentence, beside another word that is.
pub(super) fn is_part_of_name(pos: Pos, sentences: &[Attestation], is_english: bool) -> bool {
    is_english
        && [Pos::Noun, Pos::Verb].contains(&pos)
        && !sentences.is_empty()
        && sentences.iter().all(in_name)
}

fn in_name(sentence: &Attestation) -> bool {
    let text = sentence.text.as_str();
    let ([first, ..], [.., last]) = (&sentence.targets[..], &sentence.targets[..]) else {
        return false;
    };
    let ends = (text.get(..first.start as usize), text.get(last.end as usize..));
    let (Some(before), Some(after)) = ends else { return false };
    // Headlines capitalise all words.
    let is_said = |word: &&str| word.chars().next().is_some_and(char::is_alphabetic);
    if !text.split_whitespace().filter(is_said).any(|word| !is_capital(word)) {
        return false;
    }
    let begins_sentence = |before: &str| !before.contains(char::is_alphanumeric);
    // A neighbour in a name stands a space away, without punctuation between.
    let left = before.strip_suffix(' ').and_then(|before| {
        let start = before.rfind(' ').map_or(0, |space| space + 1);
        Some(&before[start..]).filter(|_| !begins_sentence(&before[..start]))
    });
    let right = after.strip_prefix(' ').and_then(|after| after.split(' ').next());
    let is_name = |word: &str| is_capital(word) && !is_function_word(word);
    is_capital(&sentence.trigger)
        && !begins_sentence(before)
        && (left.is_some_and(is_name) || right.is_some_and(is_name))
}

fn is_capital(word: &str) -> bool {
    word.chars().next().is_some_and(char::is_uppercase)
}

#[cfg(test)]
mod tests {
    use super::super::key_of;
    use super::*;
    use crate::model::{AnnotationSetId, IdSpace, Span};

    #[test]
    fn words_without_content_are_no_lus() {
        assert!(FUNCTION_WORDS.is_sorted() && NUMBERS.is_sorted());
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
        ] {
            assert_eq!(of(name, true), Some(refusal), "{name}");
        }
        for name in ["vet.v", "well-known.a", "give up.v", "out of.prep", "caf\u{e9}.n", "two.num"]
        {
            assert_eq!(of(name, true), None, "{name}");
        }
        // `the` is a word of its own elsewhere; digits are digits.
        assert_eq!(of("the.n", false), None);
        assert_eq!(of("the2.n", false), Some(Refusal::Number));
    }

    #[test]
    fn a_part_of_a_name_is_capitalised_beside_another_capital() {
        let sentence = |text: &str, trigger: &str| {
            let start = text.find(trigger).unwrap();
            let set = AnnotationSetId::new(IdSpace::Generated, 1);
            let (text, trigger) = (text.to_owned(), trigger.to_owned());
            let targets = vec![Span::new(start as u32, (start + trigger.len()) as u32)];
            Attestation { set, text, trigger, targets, round: 1, aligner: 1.0, p: None }
        };
        let is_part = |of: &[Attestation]| is_part_of_name(Pos::Noun, of, true);
        let name = sentence("He sold a Van Gogh to them .", "Gogh");
        let [times, first, alone, headline] = [
            ("They read the New York Times there .", "Times"),
            ("Times Square is empty .", "Times"),
            ("They read the Times there .", "Times"),
            ("New Times Come Soon", "Times"),
        ]
        .map(|(text, trigger)| sentence(text, trigger));
        assert!(is_part(&[name.clone(), times.clone()]));
        for other in [first, alone, headline] {
            assert!(!is_part(&[name.clone(), other.clone()]), "{}", other.text);
        }
        assert!(!is_part(&[]));
        assert!(!is_part_of_name(Pos::Noun, std::slice::from_ref(&times), false));
        // `British` beside `Empire` is a word with content.
        assert!(!is_part_of_name(Pos::Adjective, &[times], true));
    }
}
