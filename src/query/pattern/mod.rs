//! Patterns: what a value of a name or text field is compared with.
//!
//! A pattern is compiled once, when the query is read, and then asked about every candidate. Exact
//! and wildcard patterns fold case letter by letter ([`fold`]), without context. So folding the
//! pieces of a pattern and folding a whole text agree, and so do finding a name and matching it.
//! Regular expressions fold with the `regex` crate's own Unicode rules.
//!
//! Composed and decomposed letters are the same. Pattern and text are composed before they are
//! compared, so a `.` of a regular expression is one accented letter however the text writes it.

mod automaton;
mod words;

use std::borrow::Cow;

use regex::{Regex, RegexBuilder};

pub use words::Words;

use crate::text::{composed, fold, fold_letter, is_same};

/// Whether capital and small letters are the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Case {
    /// They are: `Confirm` matches `confirm`.
    #[default]
    Fold,
    /// They are not.
    Sensitive,
}

impl Case {
    fn apply(self, text: &str) -> String {
        match self {
            Self::Fold => fold(text),
            Self::Sensitive => composed(text).into_owned(),
        }
    }
}

/// A compiled pattern: exact text, text with `*`, or a regular expression.
///
/// Two patterns are equal when they were written for the same matches in the same way.
#[derive(Debug, Clone)]
pub struct Pattern {
    form: Form,
    case: Case,
    matcher: Matcher,
}

/// The pattern as written, with escapes resolved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::query) enum Form {
    Exact(String),
    /// The pieces between the stars; at least two.
    Wildcard(Vec<String>),
    Regex(String),
}

#[derive(Debug, Clone)]
enum Matcher {
    /// Case already applied.
    Exact(String),
    /// Case already applied.
    Wildcard(Vec<String>),
    Regex(Regex),
}

impl Pattern {
    /// The pattern that matches `text` and nothing else.
    #[must_use]
    pub fn exact(text: &str, case: Case) -> Self {
        Self { form: Form::Exact(text.to_owned()), case, matcher: Matcher::Exact(case.apply(text)) }
    }

    /// Reads text in which `*` stands for any characters, none included, and a backslash takes the
    /// special meaning from the character after it. Without a star the pattern is exact.
    #[must_use]
    pub fn wildcard(source: &str, case: Case) -> Self {
        let mut pieces = vec![String::new()];
        let mut last_was_star = false;
        let mut letters = source.chars();
        while let Some(letter) = letters.next() {
            if letter == '*' {
                // `**` says no more than `*`.
                if !last_was_star {
                    pieces.push(String::new());
                }
                last_was_star = true;
                continue;
            }
            last_was_star = false;
            let literal = if letter == '\\' { letters.next().unwrap_or('\\') } else { letter };
            if let Some(piece) = pieces.last_mut() {
                piece.push(literal);
            }
        }
        if let [text] = pieces.as_slice() {
            return Self::exact(text, case);
        }
        Self::of_pieces(pieces, case)
    }

    /// Compiles a regular expression of the `regex` crate; it matches anywhere in a text unless it
    /// is anchored.
    ///
    /// # Errors
    /// When `written` is no regular expression, or one that compiles to more than 10 MB.
    pub fn regex(written: &str, case: Case) -> Result<Self, regex::Error> {
        let compiled =
            |source: &str| RegexBuilder::new(source).case_insensitive(case == Case::Fold).build();
        let mut source = composed(written);
        let mut regex = compiled(&source);
        // A mark behind a sign of the syntax, as in `\w` and an acute, is no part of a letter.
        if let (Err(_), Cow::Owned(_)) = (&regex, &source) {
            source = Cow::Borrowed(written);
            regex = compiled(&source);
        }
        let form = Form::Regex(without_escaped_quotes(&source));
        Ok(Self { form, case, matcher: Matcher::Regex(regex?) })
    }

    /// The pattern without the white space around it; a regular expression stays as it is.
    #[must_use]
    pub fn trimmed(&self) -> Self {
        match &self.form {
            Form::Exact(text) => Self::exact(text.trim(), self.case),
            Form::Wildcard(pieces) => {
                let mut pieces = pieces.clone();
                if let [first, .., last] = pieces.as_mut_slice() {
                    *first = first.trim_start().to_owned();
                    *last = last.trim_end().to_owned();
                }
                Self::of_pieces(pieces, self.case)
            }
            Form::Regex(_) => self.clone(),
        }
    }

    fn of_pieces(pieces: Vec<String>, case: Case) -> Self {
        let folded = pieces.iter().map(|piece| case.apply(piece)).collect();
        Self { form: Form::Wildcard(pieces), case, matcher: Matcher::Wildcard(folded) }
    }

    /// Whether `text` matches.
    #[must_use]
    pub fn matches(&self, text: &str) -> bool {
        match &self.matcher {
            Matcher::Exact(wanted) => match self.case {
                Case::Sensitive => is_same(wanted, text),
                Case::Fold if text.is_ascii() => {
                    text.chars().flat_map(fold_letter).eq(wanted.chars())
                }
                Case::Fold => fold(text) == *wanted,
            },
            Matcher::Wildcard(pieces) => match self.case {
                Case::Sensitive => pieces_match(pieces, &readable(text)),
                Case::Fold => pieces_match(pieces, &fold(text)),
            },
            Matcher::Regex(regex) => regex.is_match(&readable(text)),
        }
    }

    /// Whether letter case counts.
    #[must_use]
    pub fn case(&self) -> Case {
        self.case
    }

    /// The text of an exact pattern as written, `None` for the others.
    #[must_use]
    pub fn as_exact(&self) -> Option<&str> {
        match &self.form {
            Form::Exact(text) => Some(text),
            Form::Wildcard(_) | Form::Regex(_) => None,
        }
    }

    /// The literal pieces between the stars, as written: one for an exact pattern, `None` for a
    /// regular expression.
    #[must_use]
    pub fn pieces(&self) -> Option<&[String]> {
        match &self.form {
            Form::Exact(text) => Some(std::slice::from_ref(text)),
            Form::Wildcard(pieces) => Some(pieces),
            Form::Regex(_) => None,
        }
    }

    /// The source of a regular expression, `None` for the others.
    #[must_use]
    pub fn as_regex(&self) -> Option<&str> {
        match &self.form {
            Form::Regex(source) => Some(source),
            Form::Exact(_) | Form::Wildcard(_) => None,
        }
    }

    pub(in crate::query) fn form(&self) -> &Form {
        &self.form
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.form == other.form && self.case == other.case
    }
}

/// The text as patterns of pieces read it: composed, and folded where folding composes more than
/// the text has, as with `H` and a line below. So what matches a text also matches the automaton,
/// which knows folded texts.
fn readable(text: &str) -> Cow<'_, str> {
    let composed = composed(text);
    if composed.is_ascii() {
        return composed;
    }
    let folded = fold(&composed);
    if composed.chars().flat_map(fold_letter).eq(folded.chars()) {
        composed
    } else {
        Cow::Owned(folded)
    }
}

/// `\"` means `"` in a regular expression, and a query can write the first form only inside single
/// quotes. One form for both lets every pattern be printed inside double quotes. A last backslash
/// without a partner can only end a comment, and goes for the same reason.
fn without_escaped_quotes(valid: &str) -> String {
    let mut out = String::with_capacity(valid.len());
    let mut letters = valid.chars();
    while let Some(letter) = letters.next() {
        if letter != '\\' {
            out.push(letter);
            continue;
        }
        match letters.next() {
            Some('"') => out.push('"'),
            Some(next) => out.extend(['\\', next]),
            None => {}
        }
    }
    out
}

/// Whether `text` is the pieces in order, with anything between them.
///
/// The first piece is anchored at the start, the last at the end. A middle piece is taken at its
/// first place, which leaves the most room for those after it.
fn pieces_match(pieces: &[String], text: &str) -> bool {
    let [first, middle @ .., last] = pieces else { return false };
    let Some(mut rest) = text.strip_prefix(first.as_str()) else { return false };
    for piece in middle {
        let Some(at) = rest.find(piece.as_str()) else { return false };
        rest = &rest[at + piece.len()..];
    }
    rest.ends_with(last.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_exact_pattern_folds_case_unless_told() {
        let folding = Pattern::exact("\u{c9}tude.n", Case::Fold);
        assert!(folding.matches("\u{e9}TUDE.n"));
        assert!(!folding.matches("\u{e9}tudes.n"));
        assert!(!Pattern::exact("Check", Case::Sensitive).matches("check"));
        assert!(Pattern::exact("Check", Case::Sensitive).matches("Check"));
    }

    #[test]
    fn composed_and_decomposed_letters_match_each_other() {
        let (one, other) = ("r\u{e9}sum\u{e9}.n", "re\u{301}sume\u{301}.n");
        for (pattern, text) in [(one, other), (other, one)] {
            for case in [Case::Fold, Case::Sensitive] {
                assert!(Pattern::exact(pattern, case).matches(text));
                assert!(Pattern::wildcard(&pattern.replace('n', "*"), case).matches(text));
                assert!(Pattern::regex(&format!("^{pattern}$"), case).unwrap().matches(text));
                assert!(!Pattern::exact("resume.n", case).matches(text));
            }
            assert!(Pattern::exact(&pattern.to_uppercase(), Case::Fold).matches(text));
        }
        let letter = Pattern::regex("^r[e\u{301}]sum.\\.n$", Case::Fold).unwrap();
        assert!(letter.matches(one) && letter.matches(other));
        assert!(!Pattern::wildcard("re*", Case::Fold).matches(other), "the letter is another");
        // A mark that composes with nothing stays what it is.
        assert!(Pattern::regex("\\w\u{301}", Case::Fold).unwrap().matches("x\u{301}"));
    }

    #[test]
    fn a_star_stands_for_anything_and_nothing() {
        let pattern = Pattern::wildcard("look*up", Case::Fold);
        for text in ["lookup", "look it up", "LOOK UP"] {
            assert!(pattern.matches(text), "{text}");
        }
        for text in ["look", "overlookup", "look upward", "up look"] {
            assert!(!pattern.matches(text), "{text}");
        }
        assert!(Pattern::wildcard("*", Case::Fold).matches(""));
    }

    #[test]
    fn the_ends_of_a_wildcard_do_not_share_letters() {
        assert!(!Pattern::wildcard("aba*ba", Case::Fold).matches("aba"));
        assert!(Pattern::wildcard("aba*ba", Case::Fold).matches("ababa"));
    }

    #[test]
    fn a_backslash_makes_a_star_literal() {
        let pattern = Pattern::wildcard(r"5 \* 3\\", Case::Fold);
        assert_eq!(pattern.as_exact(), Some(r"5 * 3\"));
        assert!(pattern.matches(r"5 * 3\"));
        assert_eq!(Pattern::wildcard(r"a\", Case::Fold).as_exact(), Some(r"a\"));
    }

    #[test]
    fn a_regular_expression_matches_anywhere_and_keeps_its_backslashes() {
        let pattern = Pattern::regex(r"\bnot\b", Case::Fold).unwrap();
        assert!(pattern.matches("It was NOT so."));
        assert!(!pattern.matches("nothing"));
        assert_eq!(pattern.as_regex(), Some(r"\bnot\b"));
        let error = Pattern::regex("(", Case::Fold).unwrap_err().to_string();
        assert!(error.contains("unclosed group"), "{error}");
    }

    proptest! {
        #[test]
        fn a_wildcard_agrees_with_its_regular_expression(
            source in "[abA*]{0,8}", text in "[abAB\n]{0,8}",
        ) {
            for case in [Case::Fold, Case::Sensitive] {
                let pattern = Pattern::wildcard(&source, case);
                let pieces: Vec<String> = source.split('*').map(regex::escape).collect();
                let regex = format!("^(?s:{})$", pieces.join(".*"));
                let regex = Pattern::regex(&regex, case).unwrap();
                prop_assert_eq!(pattern.matches(&text), regex.matches(&text));
            }
        }

        #[test]
        fn any_text_matches_itself_in_other_letters(text in "\\PC{0,12}") {
            let pattern = Pattern::exact(&text, Case::Fold);
            prop_assert!(pattern.matches(&text));
            prop_assert!(pattern.matches(&Case::Fold.apply(&text)));
        }
    }
}
