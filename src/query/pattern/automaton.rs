//! A pattern as an automaton over whole, folded texts, for dictionaries of such texts.
//!
//! An index keeps triggers folded letter by letter and walks its dictionary with a regular
//! expression that has no anchors, no word boundaries and no flags. What is built here matches the
//! folded form of **every** text that the pattern matches, and may match others. Assertions are
//! left out, and a large class of characters becomes any character. Whoever searches asks the
//! pattern again.
//!
//! Law: `pattern.matches(t)` implies that `automaton` matches `fold(t)` from end to end. Texts
//! fold to composed letters, and so does what a pattern says of them.

use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, Hir, HirKind, Look, Repetition};

use super::{Form, Pattern};
use crate::text::{fold, fold_letter};

/// Any text.
const ANYTHING: &str = "(?s:.*)";

/// Characters of a class that are looked at one by one; a larger class becomes any character, which
/// also keeps the automaton small.
const CLASS: usize = 300;

/// The one letter whose lower case is two characters.
const DOTTED_I: char = '\u{130}';

impl Pattern {
    /// A regular expression that matches, from end to end, every folded text (see [`fold`])
    /// whose original this pattern matches. `None` when that would be every text.
    #[must_use]
    pub fn automaton(&self) -> Option<String> {
        match &self.form {
            Form::Exact(text) => Some(literal(text)),
            Form::Wildcard(pieces) => {
                let pieces: Vec<String> = pieces.iter().map(|piece| literal(piece)).collect();
                let says_something = pieces.iter().any(|piece| !piece.is_empty());
                says_something.then(|| pieces.join(ANYTHING))
            }
            Form::Regex(source) => {
                let hir = parsed(source, true)?;
                let (from_start, to_end) = anchors(&hir);
                let body = widened(&hir);
                if matches!(body.kind(), HirKind::Empty) && !(from_start && to_end) {
                    return None;
                }
                let open = |closed: bool| if closed { "" } else { ANYTHING };
                Some(format!("{}(?:{body}){}", open(from_start), open(to_end)))
            }
        }
    }
}

/// A regular expression as the `regex` crate reads it. Case is folded here also where the pattern
/// minds it: a folded text has lost its capitals.
pub(super) fn parsed(source: &str, fold_case: bool) -> Option<Hir> {
    ParserBuilder::new().case_insensitive(fold_case).build().parse(source).ok()
}

fn literal(text: &str) -> String {
    regex::escape(&fold(text))
}

/// Whether the expression is tied to the start and to the end of the text.
fn anchors(hir: &Hir) -> (bool, bool) {
    let is = |hir: &Hir, look| matches!(hir.kind(), HirKind::Look(found) if *found == look);
    match hir.kind() {
        HirKind::Concat(parts) => (
            parts.first().is_some_and(|part| is(part, Look::Start)),
            parts.last().is_some_and(|part| is(part, Look::End)),
        ),
        HirKind::Capture(group) => anchors(&group.sub),
        _ => (is(hir, Look::Start), is(hir, Look::End)),
    }
}

/// The expression over folded texts, without assertions.
fn widened(hir: &Hir) -> Hir {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => Hir::empty(),
        HirKind::Literal(bytes) => match std::str::from_utf8(&bytes.0) {
            Ok(text) => Hir::literal(fold(text).into_bytes()),
            Err(_) => any_letter(),
        },
        HirKind::Class(Class::Unicode(class)) => folded_class(class),
        HirKind::Class(Class::Bytes(_)) => any_letter(),
        HirKind::Repetition(Repetition { min, max, sub, .. }) => Hir::repetition(Repetition {
            min: *min,
            max: *max,
            greedy: true,
            sub: Box::new(widened(sub)),
        }),
        HirKind::Capture(group) => widened(&group.sub),
        HirKind::Concat(parts) => Hir::concat(parts.iter().map(widened).collect()),
        HirKind::Alternation(parts) => Hir::alternation(parts.iter().map(widened).collect()),
    }
}

fn folded_class(class: &ClassUnicode) -> Hir {
    let size: usize = class.ranges().iter().map(ClassUnicodeRange::len).sum();
    if size > CLASS {
        return any_letter();
    }
    let letters = || class.ranges().iter().flat_map(|range| range.start()..=range.end());
    let single = letters().filter(|letter| *letter != DOTTED_I).flat_map(fold_letter);
    let single = single.map(|letter| ClassUnicodeRange::new(letter, letter));
    let single = Hir::class(Class::Unicode(ClassUnicode::new(single)));
    if letters().any(|letter| letter == DOTTED_I) {
        let double: String = fold_letter(DOTTED_I).collect();
        return Hir::alternation(vec![single, Hir::literal(double.into_bytes())]);
    }
    single
}

/// Any character, in its folded form: one or two.
fn any_letter() -> Hir {
    let any = Class::Unicode(ClassUnicode::new([ClassUnicodeRange::new('\0', char::MAX)]));
    let sub = Box::new(Hir::class(any));
    Hir::repetition(Repetition { min: 1, max: Some(2), greedy: true, sub })
}

#[cfg(test)]
mod tests {
    use super::super::Case;
    use super::*;
    use proptest::prelude::*;
    use regex::Regex;

    /// Whether the automaton of a pattern lets a text through.
    fn passes(pattern: &Pattern, text: &str) -> bool {
        let folded = fold(text);
        pattern.automaton().is_none_or(|automaton| {
            Regex::new(&format!("^(?:{automaton})$")).unwrap().is_match(&folded)
        })
    }

    #[test]
    fn an_automaton_keeps_what_the_pattern_says_of_the_ends() {
        for (source, text, expected) in [
            ("^verif", "Verified", true),
            ("^verif", "reverified", false),
            ("ing$", "checking", true),
            ("ing$", "checkings", false),
            (r"^(look|keep)\s+\w+$", "Looked over", false),
            (r"^(look|keep)\s+\w+$", "keep on", true),
            ("[A-C]x", "bX", true),
            ("[A-C]x", "dX", false),
        ] {
            let pattern = Pattern::regex(source, Case::Fold).unwrap();
            assert_eq!(passes(&pattern, text), expected, "{source} {text}");
        }
        assert_eq!(Pattern::wildcard("*", Case::Fold).automaton(), None);
        assert_eq!(Pattern::regex("", Case::Fold).unwrap().automaton(), None);
        let pattern = Pattern::wildcard("Corroborat*", Case::Fold);
        assert_eq!(pattern.automaton().as_deref(), Some("corroborat(?s:.*)"));
    }

    #[test]
    fn the_letter_that_folds_to_two_counts_as_one() {
        let text = "\u{130}s";
        for source in ["^..$", "^.s", r"^\w+$", "^[\u{130}x]s$", "\u{130}S", "(?-i:[\u{130}])"] {
            let pattern = Pattern::regex(source, Case::Fold).unwrap();
            assert!(pattern.matches(text) && passes(&pattern, text), "{source}");
        }
    }

    fn pieces() -> impl Strategy<Value = String> {
        let piece = proptest::sample::select(vec![
            "a",
            "B",
            "K",
            "s",
            "\u{130}",
            "\u{3c3}",
            "\u{3c2}",
            "H\u{331}",
            "h",
            "e\u{301}",
            "\u{e9}",
            "(?-i:\u{3a3})",
            ".",
            r"\w",
            r"\b",
            "[a-k]",
            "[^a]",
            "(?-i:A)",
            "(a|Bs|)",
            "x*",
            "a+?",
            "(?:sK){1,2}",
            "^",
            "$",
            r"\s",
            "-",
        ]);
        proptest::collection::vec(piece, 0..5).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn no_match_is_lost(
            source in pieces(),
            text in "([aAbBsSkKx\u{130}\u{131}\u{212a}\u{17f}\u{3c3}\u{3a3}\u{3c2}eh\u{e9}\u{301}\u{331} -]|H\u{331}){0,6}",
            sensitive: bool,
        ) {
            let case = if sensitive { Case::Sensitive } else { Case::Fold };
            if let Ok(pattern) = Pattern::regex(&source, case) {
                prop_assert!(!pattern.matches(&text) || passes(&pattern, &text), "{}", source);
            }
            let wildcard = Pattern::wildcard(&source.replace('.', "*"), case);
            prop_assert!(!wildcard.matches(&text) || passes(&wildcard, &text), "{}", source);
        }
    }
}
