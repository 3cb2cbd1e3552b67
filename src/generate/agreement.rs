//! Number agreement of the words of a blank with the verb behind it.
//!
//! Only forms of *be*, *have* and *do* tell numbers apart for sure without a parser, and only where
//! the old words agreed: else the blank is no subject.

use crate::model::Pos;
use crate::text::{fold, lemmatize};

/// Verbs that want a third person singular, and those that want a plural or the second person.
const SINGULAR_VERBS: [&str; 5] = ["is", "was", "has", "does", "'s"];
const PLURAL_VERBS: [&str; 6] = ["are", "were", "have", "do", "'re", "'ve"];
/// Verbs that *I* goes with.
const FIRST_VERBS: [&str; 7] = ["am", "'m", "was", "have", "'ve", "do", "'d"];

const SINGULAR_WORDS: [&str; 9] =
    ["he", "she", "it", "this", "that", "everyone", "everything", "something", "nothing"];
const PLURAL_WORDS: [&str; 7] = ["they", "we", "you", "these", "those", "people", "police"];

/// Words behind which the head of a noun phrase does not stand.
const BEHIND_HEADS: [&str; 18] = [
    "of", "in", "on", "at", "for", "from", "with", "by", "to", "about", "between", "who", "which",
    "that", "whose", "as", "under", "near",
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Number {
    First,
    Singular,
    Plural,
}

/// Whether new words can be the subject of the verb behind a blank, if the old ones were.
pub(super) fn keeps_to_verb(old: &str, new: &str, next: &str) -> bool {
    let verb = positive(next);
    agree(old, &verb) != Some(true) || agree(new, &verb) != Some(false)
}

/// Whether a noun phrase and a verb agree, where both tell.
fn agree(phrase: &str, verb: &str) -> Option<bool> {
    let is_one_of = |verbs: &[&str]| verbs.contains(&verb);
    if !is_one_of(&SINGULAR_VERBS) && !is_one_of(&PLURAL_VERBS) && !is_one_of(&FIRST_VERBS) {
        return None;
    }
    Some(match number(phrase)? {
        Number::First => is_one_of(&FIRST_VERBS),
        Number::Singular => is_one_of(&SINGULAR_VERBS),
        Number::Plural => is_one_of(&PLURAL_VERBS),
    })
}

/// A verb in small letters and without `n't`.
fn positive(verb: &str) -> String {
    let verb = fold(verb).replace('\u{2019}', "'");
    verb.strip_suffix("n't").map_or(verb.clone(), str::to_owned)
}

/// The number of a noun phrase, as its head or a joint of two tells it.
fn number(phrase: &str) -> Option<Number> {
    let folded = fold(phrase);
    let words: Vec<&str> = folded.split_whitespace().collect();
    let end = words.iter().skip(1).position(|word| BEHIND_HEADS.contains(word));
    let core = &words[..end.map_or(words.len(), |at| at + 1)];
    let head = *core.last()?;
    if core.contains(&"and") {
        return Some(Number::Plural);
    }
    if core == ["i"] {
        return Some(Number::First);
    }
    if core.len() == 1 && SINGULAR_WORDS.contains(&head) {
        return Some(Number::Singular);
    }
    if PLURAL_WORDS.contains(&head) {
        return Some(Number::Plural);
    }
    if !head.chars().all(char::is_alphabetic) || core.len() == 1 {
        return None;
    }
    let lemma = lemmatize(head, Pos::Noun, &|_, _| false).0;
    let is_plural = lemma != head && !head.ends_with("ss");
    // `the poor`, `many`: only an article of one thing tells a singular.
    let is_single = ["a", "an", "this", "that", "every", "each"].contains(&core[0]);
    match (is_plural, is_single) {
        (true, false) => Some(Number::Plural),
        (false, true) => Some(Number::Singular),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_subjects_keep_to_the_verb_of_the_old_ones() {
        for (old, new, next, keeps) in [
            ("it", "the lights of the hospital", "is", false),
            ("it", "a light", "is", true),
            ("They", "an old man", "have", false),
            ("They", "an old man and his dog", "have", true),
            ("the boys", "He", "weren't", false),
            ("I", "he", "have", false),
            ("I", "the men", "have", true),
            ("I", "he", "was", true),
            ("he", "I", "is", false),
            ("he", "I", "was", true),
            // The old words are no subject.
            ("him", "the boys", "was", true),
            ("the man", "he", "have", true),
            ("it", "the lights", "swam", true),
            // Nothing is known of the new ones.
            ("it", "the poor", "is", true),
            ("it", "Paris", "is", true),
            ("it", "the boss", "is", true),
        ] {
            assert_eq!(keeps_to_verb(old, new, next), keeps, "{old}, {new} {next}");
        }
    }
}
