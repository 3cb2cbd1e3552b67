//! Inflection of lemmas of one or several words.
//!
//! In `carry out` and `deep fry` the verb inflects, in `point of view` the noun before the
//! preposition, in `prime minister` the last word, in `aid and abet` both verbs.

use super::inflection::{Inflection, inflect, inflections};
use super::spacing::one_spaced;
use super::{fold, spelling_variants};
use crate::model::Pos;

/// Prepositions that end the part of a noun phrase in which its head stands.
const PREPOSITIONS: [&str; 19] = [
    "about", "against", "at", "between", "by", "de", "for", "from", "in", "into", "of", "off",
    "on", "out", "over", "to", "under", "up", "with",
];

/// First words of verbs whose second word inflects: `deep fries`, `flight tested`, `there is`. They
/// are no verbs themselves, or none that takes a noun.
const BEFORE_VERBS: [&str; 11] = [
    "cold", "deep", "flight", "ghost", "mass", "pan", "roller", "shallow", "spoon", "there",
    "window",
];

/// Words beside the prepositions behind which the first word is the verb after all: `pan down`.
const PARTICLES: [&str; 7] = ["along", "apart", "around", "away", "back", "down", "together"];

/// Verbs in `-ly`; other words in it are adverbs.
const VERBS_IN_LY: [&str; 15] = [
    "ally", "apply", "bully", "comply", "dally", "fly", "imply", "multiply", "ply", "rally",
    "rely", "reply", "sully", "supply", "tally",
];

/// The lemma of a lexical unit as running text: remarks in parentheses removed, underscores as
/// spaces. FrameNet writes `abide_((by))`, `get_a(n)_eyeful`, `American_(N_and_S_Am)`.
///
/// ```
/// assert_eq!(fnstore::text::plain_lemma("abide_((by))"), "abide");
/// assert_eq!(fnstore::text::plain_lemma("carry out"), "carry out");
/// ```
#[must_use]
pub fn plain_lemma(lemma: &str) -> String {
    let mut plain = String::with_capacity(lemma.len());
    let mut depth = 0_u32;
    for c in lemma.chars() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            '_' if depth == 0 => plain.push(' '),
            _ if depth == 0 => plain.push(c),
            _ => {}
        }
    }
    one_spaced(&plain)
}

/// Index of the word that inflects, or `None` when none does.
pub(super) fn head_word(words: &[&str], pos: Pos) -> Option<usize> {
    if words.len() < 2 {
        return Some(0);
    }
    let preposition = words.iter().skip(1).position(|word| PREPOSITIONS.contains(word));
    match pos {
        Pos::Verb => Some(usize::from(is_before_verb(words))),
        Pos::Noun => Some(preposition.unwrap_or(words.len() - 1)),
        // `close to`, not `well known` or `shut off`.
        Pos::Adjective => {
            let is_free = preposition == Some(0) && !["off", "out", "up"].contains(&words[1]);
            is_free.then_some(0)
        }
        Pos::Number => Some(words.len() - 1),
        _ => None,
    }
}

/// Whether the first of several words of a verb is none itself.
fn is_before_verb(words: &[&str]) -> bool {
    let (first, second) = (words[0], words[1]);
    let is_adverb = first.ends_with("ly") && !VERBS_IN_LY.contains(&first);
    let is_particle = PREPOSITIONS.contains(&second) || PARTICLES.contains(&second);
    (is_adverb || BEFORE_VERBS.contains(&first)) && !is_particle
}

/// Index of the piece of a discontinuous target that holds its head: the verb of `piece ...
/// together`, the longest piece where no word heads the others (`sooner ... than later`).
///
/// ```
/// use fnstore::model::Pos;
///
/// assert_eq!(fnstore::text::head_piece(&["sit", "down"], Pos::Verb), Some(0));
/// assert_eq!(fnstore::text::head_piece(&["pieced", "together"], Pos::Verb), Some(0));
/// assert_eq!(fnstore::text::head_piece(&[], Pos::Verb), None);
/// ```
#[must_use]
pub fn head_piece(pieces: &[&str], pos: Pos) -> Option<usize> {
    let lower: Vec<String> = pieces.iter().map(|piece| fold(piece)).collect();
    let words: Vec<(usize, &str)> = lower
        .iter()
        .enumerate()
        .flat_map(|(at, piece)| piece.split_whitespace().map(move |word| (at, word)))
        .collect();
    let texts: Vec<&str> = words.iter().map(|(_, word)| *word).collect();
    match head_word(&texts, pos) {
        Some(head) => words.get(head).map(|(at, _)| *at),
        // Of equally long pieces the first.
        None => (0..lower.len()).rev().max_by_key(|&at| lower[at].chars().count()),
    }
}

/// The forms of a lemma of one or several words under one inflection, the usual one first.
#[must_use]
pub fn inflect_phrase(lemma: &str, pos: Pos, inflection: Inflection) -> Vec<String> {
    let words: Vec<&str> = lemma.split(' ').collect();
    if let (Pos::Verb, [first, joint @ ("and" | "or"), second]) = (pos, words.as_slice()) {
        let seconds = inflect(second, pos, inflection);
        let firsts = inflect(first, pos, inflection);
        let pairs = firsts.iter().flat_map(|a| seconds.iter().map(move |b| (a, b)));
        return pairs.map(|(a, b)| format!("{a} {joint} {b}")).collect();
    }
    let Some(head) = head_word(&words, pos) else { return Vec::new() };
    let forms = inflect(words[head], pos, inflection).into_iter();
    forms
        .map(|form| {
            let mut words = words.clone();
            words[head] = &form;
            words.join(" ")
        })
        .collect()
}

/// A lemma of one or several words and all its forms, lemma first, without repeats.
///
/// ```
/// use fnstore::model::Pos;
/// use fnstore::text::inflections_of_phrase;
///
/// let forms = inflections_of_phrase("take place", Pos::Verb);
/// assert_eq!(forms, ["take place", "takes place", "taking place", "took place", "taken place"]);
/// ```
#[must_use]
pub fn inflections_of_phrase(lemma: &str, pos: Pos) -> Vec<String> {
    if !lemma.contains(' ') {
        return inflections(lemma, pos);
    }
    let mut forms = vec![lemma.to_owned()];
    for &inflection in Inflection::of(pos) {
        forms.extend(inflect_phrase(lemma, pos, inflection));
    }
    without_repeats(forms)
}

/// The phrase with one of its words in its other spelling, for every word that has one.
pub(crate) fn respellings(phrase: &str) -> Vec<String> {
    let words: Vec<&str> = phrase.split(' ').collect();
    let mut respelled = Vec::new();
    for (at, word) in words.iter().enumerate() {
        for variant in spelling_variants(word) {
            let mut words = words.clone();
            words[at] = &variant;
            respelled.push(words.join(" "));
        }
    }
    respelled
}

/// Each form once, where it stands first.
pub(super) fn without_repeats(forms: Vec<String>) -> Vec<String> {
    let mut seen = std::collections::HashSet::new();
    forms.into_iter().filter(|form| seen.insert(form.clone())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_word_that_carries_the_ending_is_found() {
        let plural = |lemma| inflect_phrase(lemma, Pos::Noun, Inflection::Plural);
        assert_eq!(plural("course of action"), ["courses of action"]);
        assert_eq!(plural("hot-water bottle"), ["hot-water bottles"]);
        assert_eq!(plural("human being"), ["human beings"]);
        let past = |lemma| inflect_phrase(lemma, Pos::Verb, Inflection::Past);
        assert_eq!(past("aid and abet"), ["aided and abetted"]);
        assert_eq!(past("go back and forth"), ["went back and forth"]);
        for (lemma, expected) in [
            ("deep fry", "deep fried"),
            ("flight test", "flight tested"),
            ("sexually assault", "sexually assaulted"),
            ("pan out", "panned out"),
            ("window shop", "window shopped"),
            ("fly the coop", "flew the coop"),
            ("rely on", "relied on"),
            ("dog steps", "dogged steps"),
        ] {
            assert_eq!(past(lemma)[0], expected);
        }
        assert_eq!(inflections_of_phrase("there be", Pos::Verb)[1], "there is");
        assert_eq!(plural("nom de plume"), ["noms de plume"]);
        assert_eq!(
            inflections_of_phrase("close to", Pos::Adjective),
            ["close to", "closer to", "closest to"]
        );
        for lemma in ["well known", "shut off", "fed up"] {
            assert_eq!(inflections_of_phrase(lemma, Pos::Adjective), [lemma]);
        }
    }

    #[test]
    fn remarks_leave_the_lemma() {
        assert_eq!(plain_lemma("get_a(n)_eyeful"), "get a eyeful");
        assert_eq!(plain_lemma("American_(N_and_S_Am)"), "American");
        assert_eq!(plain_lemma("(in/out) line"), "line");
        assert_eq!(plain_lemma("influence((mass))"), "influence");
        assert_eq!(plain_lemma(")("), "");
    }
}
