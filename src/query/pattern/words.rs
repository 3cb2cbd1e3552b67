//! The words that a text must hold for a pattern to match.
//!
//! A *word* is a run of letters and digits (`char::is_alphanumeric`) of the folded text: what an
//! index of words keeps of a text. A pattern on a text becomes tests of such words, which every
//! text that the pattern matches passes; others may pass, too, so whoever searches asks the pattern
//! again.
//!
//! The pattern is laid out as a row of atoms. A run of letters among them is a whole word if it
//! ends at a mark or at the text's end. It is a part of one if anything may follow, as beside a
//! star.

use std::collections::BTreeSet;

use regex_syntax::hir::{Class, Hir, HirKind, Look};

use super::automaton::parsed;
use super::{Case, Form, Pattern};
use crate::text::{fold, fold_letter};

/// Tests of a text's words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Words {
    /// Nothing is known of the words: every text passes.
    Anything,
    /// The text holds this word.
    Whole(String),
    /// The text holds a word that this regular expression matches from end to end.
    Like(String),
    /// All of these hold.
    All(Vec<Words>),
    /// One of these holds.
    OneOf(Vec<Words>),
}

/// Letters of a part of a word, below which nearly every text has it.
const SHORTEST_PART: usize = 3;

/// Characters of a class that are looked at one by one.
const CLASS: usize = 32;

#[derive(Debug, Clone, PartialEq, Eq)]
enum Atom {
    /// One of these letters or digits, folded.
    Letter(BTreeSet<char>),
    /// A character that parts words.
    Mark,
    /// The start or the end of the text or of a line.
    Edge,
    /// A change between a word and no word as Unicode's `\w` sees it. The index differs: a
    /// superscript digit or a fraction continues a word there and ends one here.
    Boundary,
    /// Anything or nothing.
    Gap,
}

impl Pattern {
    /// The words that a text must hold for this pattern to match it.
    #[must_use]
    pub fn words(&self) -> Words {
        match &self.form {
            Form::Exact(text) => of_pieces(std::slice::from_ref(text)),
            Form::Wildcard(pieces) => of_pieces(pieces),
            Form::Regex(source) => match parsed(source, self.case == Case::Fold) {
                Some(hir) => of_expression(&hir),
                None => Words::Anything,
            },
        }
    }
}

impl Words {
    fn all(mut tests: Vec<Self>) -> Self {
        tests.retain(|test| *test != Self::Anything);
        tests.dedup();
        match tests.len() {
            0 => Self::Anything,
            1 => tests.remove(0),
            _ => Self::All(tests),
        }
    }
}

fn of_pieces(pieces: &[String]) -> Words {
    let mut atoms = vec![Atom::Edge];
    for (number, piece) in pieces.iter().enumerate() {
        if number > 0 {
            atoms.push(Atom::Gap);
        }
        atoms.extend(fold(piece).chars().map(|letter| atom([letter])));
    }
    atoms.push(Atom::Edge);
    Words::all(of_atoms(&atoms))
}

fn of_expression(hir: &Hir) -> Words {
    // It matches anywhere.
    let mut atoms = vec![Atom::Gap];
    let mut tests = Vec::new();
    lay_out(hir, &mut atoms, &mut tests);
    atoms.push(Atom::Gap);
    tests.extend(of_atoms(&atoms));
    Words::all(tests)
}

/// Appends the atoms of an expression; what holds of alternatives goes to `tests`.
fn lay_out(hir: &Hir, atoms: &mut Vec<Atom>, tests: &mut Vec<Words>) {
    match hir.kind() {
        HirKind::Empty => {}
        HirKind::Literal(bytes) => match std::str::from_utf8(&bytes.0) {
            Ok(text) => atoms.extend(text.chars().map(|letter| atom([letter]))),
            Err(_) => atoms.push(Atom::Gap),
        },
        HirKind::Class(class) => atoms.push(of_class(class)),
        HirKind::Look(look) => match look {
            Look::Start | Look::End => atoms.push(Atom::Edge),
            Look::StartLF | Look::EndLF | Look::StartCRLF | Look::EndCRLF => {
                atoms.push(Atom::Edge);
            }
            Look::WordAsciiNegate | Look::WordUnicodeNegate => {}
            // Most letters are no word to them, so they may stand inside one.
            Look::WordAscii
            | Look::WordStartAscii
            | Look::WordEndAscii
            | Look::WordStartHalfAscii
            | Look::WordEndHalfAscii => atoms.push(Atom::Gap),
            Look::WordUnicode
            | Look::WordStartUnicode
            | Look::WordEndUnicode
            | Look::WordStartHalfUnicode
            | Look::WordEndHalfUnicode => atoms.push(Atom::Boundary),
        },
        HirKind::Repetition(repetition) => {
            if repetition.min > 0 {
                lay_out(&repetition.sub, atoms, tests);
            }
            if (repetition.min, repetition.max) != (1, Some(1)) {
                atoms.push(Atom::Gap);
            }
        }
        HirKind::Capture(group) => lay_out(&group.sub, atoms, tests),
        HirKind::Concat(parts) => parts.iter().for_each(|part| lay_out(part, atoms, tests)),
        HirKind::Alternation(parts) => {
            let parts: Vec<Words> = parts.iter().map(of_expression).collect();
            if !parts.contains(&Words::Anything) {
                tests.push(Words::OneOf(parts));
            }
            atoms.push(Atom::Gap);
        }
    }
}

fn of_class(class: &Class) -> Atom {
    let Class::Unicode(class) = class else { return Atom::Gap };
    let size: usize = class.ranges().iter().map(|range| range.len()).sum();
    if size > CLASS {
        return Atom::Gap;
    }
    atom(class.ranges().iter().flat_map(|range| range.start()..=range.end()))
}

/// The atom for one of these characters.
fn atom(letters: impl IntoIterator<Item = char>) -> Atom {
    let mut of_words = BTreeSet::new();
    let mut marks = 0;
    for letter in letters {
        let mut folded = fold_letter(letter);
        match (folded.next(), folded.next()) {
            (Some(one), None) if one.is_alphanumeric() => {
                of_words.insert(one);
            }
            (Some(_), None) => marks += 1,
            _ => return Atom::Gap,
        }
    }
    match (of_words.is_empty(), marks) {
        (false, 0) => Atom::Letter(of_words),
        (true, 1..) => Atom::Mark,
        _ => Atom::Gap,
    }
}

/// A test for each run of letters that says enough.
fn of_atoms(atoms: &[Atom]) -> Vec<Words> {
    let mut tests = Vec::new();
    let mut at = 0;
    while at < atoms.len() {
        let letters = |atom: &&Atom| matches!(atom, Atom::Letter(_));
        let length = atoms[at..].iter().take_while(letters).count();
        if length == 0 {
            at += 1;
            continue;
        }
        let run = &atoms[at..at + length];
        let before = at.checked_sub(1).map_or(&Atom::Gap, |before| &atoms[before]);
        let after = atoms.get(at + length).unwrap_or(&Atom::Gap);
        tests.extend(of_run(neighbour(before, run.first()), run, neighbour(after, run.last())));
        at += length;
    }
    tests
}

/// What stands beside a letter of a run. A boundary beside what is no letter to `\w` says that one
/// is on its other side, so the word goes on there.
fn neighbour<'a>(side: &'a Atom, letter: Option<&Atom>) -> &'a Atom {
    let is_word = |letter: &Atom| match letter {
        Atom::Letter(letters) => letters.iter().all(|one| regex_syntax::is_word_character(*one)),
        _ => false,
    };
    match side {
        Atom::Boundary if !letter.is_some_and(is_word) => &Atom::Gap,
        side => side,
    }
}

fn of_run(before: &Atom, run: &[Atom], after: &Atom) -> Option<Words> {
    let is_open = |side: &Atom| *side == Atom::Gap;
    if (is_open(before) || is_open(after)) && run.len() < SHORTEST_PART {
        return None;
    }
    let is_closed = |side: &Atom| matches!(side, Atom::Mark | Atom::Edge);
    let mut body = String::new();
    let mut plain = true;
    for atom in run {
        let Atom::Letter(letters) = atom else { continue };
        plain &= letters.len() == 1;
        let of_atom = letters.iter().collect::<String>();
        body.push_str(&if letters.len() == 1 { of_atom } else { format!("[{of_atom}]") });
    }
    if plain && is_closed(before) && is_closed(after) {
        return Some(Words::Whole(body));
    }
    let left = match before {
        Atom::Mark | Atom::Edge => "",
        Atom::Boundary => "(?:.*[^0-9a-z])?",
        _ => ".*",
    };
    let right = match after {
        Atom::Mark | Atom::Edge => "",
        Atom::Boundary => "(?:[^0-9a-z].*)?",
        _ => ".*",
    };
    Some(Words::Like(format!("{left}{body}{right}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use regex::Regex;

    /// The words of a text as an index keeps them.
    fn words_of(text: &str) -> Vec<String> {
        let folded = fold(text);
        let words = folded.split(|letter: char| !letter.is_alphanumeric());
        words.filter(|word| !word.is_empty()).map(str::to_owned).collect()
    }

    fn pass(test: &Words, words: &[String]) -> bool {
        match test {
            Words::Anything => true,
            Words::Whole(word) => words.contains(word),
            Words::Like(like) => {
                let like = Regex::new(&format!("^(?s:{like})$")).unwrap();
                words.iter().any(|word| like.is_match(word))
            }
            Words::All(tests) => tests.iter().all(|test| pass(test, words)),
            Words::OneOf(tests) => tests.iter().any(|test| pass(test, words)),
        }
    }

    fn of_regex(source: &str) -> Words {
        Pattern::regex(source, Case::Fold).unwrap().words()
    }

    fn like(pattern: &str) -> Words {
        Words::Like(pattern.to_owned())
    }

    fn whole(word: &str) -> Words {
        Words::Whole(word.to_owned())
    }

    #[test]
    fn words_that_must_be_whole_are_whole() {
        let exact = Pattern::exact("He did, too.", Case::Fold);
        assert_eq!(exact.words(), Words::All(vec![whole("he"), whole("did"), whole("too")]));
        let inner = Pattern::wildcard("*the evidence of*", Case::Fold);
        assert_eq!(inner.words(), Words::All(vec![like(".*the"), whole("evidence")]));
        let ends = Pattern::wildcard("The*fence .", Case::Fold);
        assert_eq!(ends.words(), Words::All(vec![like("the.*"), like(".*fence")]));
        assert_eq!(Pattern::wildcard("*ab*", Case::Fold).words(), Words::Anything);
    }

    #[test]
    fn regular_expressions_give_their_literals() {
        assert_eq!(of_regex(r"\bnot\b"), like("(?:.*[^0-9a-z])?not(?:[^0-9a-z].*)?"));
        assert_eq!(of_regex(" evident "), whole("evident"));
        assert_eq!(
            of_regex("confirm(ed|ing) the"),
            Words::All(vec![like(".*confirm.*"), like("the.*")])
        );
        assert_eq!(
            of_regex("verified|corroborated"),
            Words::OneOf(vec![like(".*verified.*"), like(".*corroborated.*")])
        );
        assert_eq!(of_regex("^Some( more)?$"), like("[s\u{17f}]ome.*"));
        assert_eq!(of_regex("[0-9]+"), Words::Anything);
        assert_eq!(of_regex("a|confirm"), Words::Anything);
    }

    /// What `beside` takes of a folded letter holds of each that folds to it; and what folds to the
    /// edge of an ASCII word is a word itself.
    #[test]
    fn folding_keeps_what_is_a_word() {
        for letter in '\0'..=char::MAX {
            let folded: Vec<char> = fold_letter(letter).collect();
            let is_word = regex_syntax::is_word_character(letter);
            // Letters newer than the regular expressions' tables match nothing there.
            if letter.is_alphabetic() && !is_word {
                continue;
            }
            if let [one] = folded[..] {
                assert_eq!(letter.is_alphanumeric(), one.is_alphanumeric(), "{letter:?}");
                let of_folded = regex_syntax::is_word_character(one);
                assert!(!one.is_alphanumeric() || is_word == of_folded, "{letter:?}");
            }
            let is_ascii = |letter: &char| letter.is_ascii_alphanumeric();
            assert!(is_word || !folded.iter().any(is_ascii), "{letter:?}");
        }
    }

    #[test]
    fn a_boundary_beside_a_digit_that_is_no_word_leaves_the_word_open() {
        assert_eq!(of_regex("\\b\u{bd} cup "), whole("cup"));
        assert_eq!(of_regex("\\babc\u{bd}"), like("(?:.*[^0-9a-z])?abc\u{bd}.*"));
        assert_eq!(of_regex("\u{bd}abc\\b"), like(".*\u{bd}abc(?:[^0-9a-z].*)?"));
        assert_eq!(of_regex("(?-u:\\b)\u{e9}tude"), like(".*\u{e9}tude.*"));
    }

    fn pieces() -> impl Strategy<Value = String> {
        let piece = proptest::sample::select(vec![
            "abc",
            "K",
            "sab",
            "\u{130}ba",
            " ",
            r"\b",
            r"\B",
            "[ab]c",
            "(?-i:ABK)",
            "(abc|kab b)",
            "(?:abk )+",
            "b?",
            "^",
            "$",
            r"\s",
            "-",
            ".",
            r"\d",
            "\u{b2}",
            "\u{bd}",
            "\u{e9}",
            "\u{3c3}",
            "\u{3a3}k",
            r"(?-u:\b)",
            r"\b{start}",
            r"\b{end}",
            r"\b{start-half}",
            r"\b{end-half}",
            r"(?-u:\b{start-half})",
            "_",
            "\u{307}",
            "H\u{331}",
            "e\u{301}c",
        ]);
        proptest::collection::vec(piece, 0..5).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn no_match_is_lost(
            source in pieces(),
            text in "([aAbBcCsSkK\u{130}\u{307}\u{212a}\u{17f}\u{b2}\u{bd}\u{e9}\u{3c2}\u{3a3}5_ .-]|abc|kab|Abk|1\u{bd}| |H\u{331}|e\u{301}c|\u{301}){0,8}",
            sensitive: bool,
        ) {
            let case = if sensitive { Case::Sensitive } else { Case::Fold };
            let words = words_of(&text);
            if let Ok(pattern) = Pattern::regex(&source, case) {
                let test = pattern.words();
                prop_assert!(!pattern.matches(&text) || pass(&test, &words), "{} {:?}", source, test);
            }
            for source in [source.replace('.', "*"), format!("*{text}*"), text.clone()] {
                let wildcard = Pattern::wildcard(&source, case);
                let test = wildcard.words();
                prop_assert!(!wildcard.matches(&text) || pass(&test, &words), "{} {:?}", source, test);
            }
        }
    }
}
