//! The pieces of a query's text: words, operators, punctuation and values.
//!
//! Which piece may come next depends on the place: after an operator `not` is a value, elsewhere a
//! connective. So the parser asks for the piece it needs instead of reading a list of tokens.

use super::{Operator, QueryError};

/// A reader over the text of a query.
pub(super) struct Lexer<'a> {
    text: &'a str,
    /// Byte offset of the next character.
    at: usize,
    /// Where the last value without quotes ended.
    bare_end: Option<usize>,
}

/// A value as written, quotes removed, escapes other than `\"` kept for the value's own reader.
pub(super) struct Value {
    pub(super) text: String,
    pub(super) column: usize,
}

impl<'a> Lexer<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, at: 0, bare_end: None }
    }

    /// Column of the next piece, from 1, after skipping space.
    pub(super) fn column(&mut self) -> usize {
        self.skip_space();
        self.text[..self.at].chars().count() + 1
    }

    /// Whether nothing but space stands between a value without quotes and what comes next: the
    /// value may have been meant to go on.
    pub(super) fn follows_bare_value(&mut self) -> bool {
        self.skip_space();
        self.bare_end.is_some_and(|end| end < self.at && self.text[end..self.at].trim().is_empty())
    }

    /// Whether only space is left.
    pub(super) fn is_at_end(&mut self) -> bool {
        self.skip_space();
        self.at == self.text.len()
    }

    /// Takes `mark` if it comes next.
    pub(super) fn take_mark(&mut self, mark: char) -> bool {
        self.skip_space();
        let found = self.rest().starts_with(mark);
        if found {
            self.at += mark.len_utf8();
        }
        found
    }

    /// Whether `mark` comes next.
    pub(super) fn is_next(&mut self, mark: char) -> bool {
        self.skip_space();
        self.rest().starts_with(mark)
    }

    /// The word that comes next, without taking it: a field or a connective.
    pub(super) fn peek_word(&mut self) -> Option<&'a str> {
        self.skip_space();
        let rest = self.rest();
        let end = rest.find(|c: char| !is_word_character(c)).unwrap_or(rest.len());
        (end > 0).then(|| &rest[..end])
    }

    /// Takes the word that comes next.
    pub(super) fn take_word(&mut self) -> Option<&'a str> {
        let word = self.peek_word()?;
        self.at += word.len();
        Some(word)
    }

    /// Takes `keyword`, in whatever case, if it comes next.
    pub(super) fn take_keyword(&mut self, keyword: &str) -> bool {
        let found = self.peek_word().is_some_and(|word| word.eq_ignore_ascii_case(keyword));
        if found {
            self.at += keyword.len();
        }
        found
    }

    /// Takes the operator that comes next.
    pub(super) fn take_operator(&mut self) -> Option<Operator> {
        self.skip_space();
        let found = Operator::ALL.into_iter().find(|o| self.rest().starts_with(o.as_str()))?;
        self.at += found.as_str().len();
        Some(found)
    }

    /// Takes the value that comes next, bare or quoted.
    pub(super) fn take_value(&mut self) -> Result<Value, QueryError> {
        let column = self.column();
        match self.rest().chars().next() {
            Some(quote @ ('"' | '\'')) => {
                self.at += 1;
                let text = self.take_quoted(quote)?;
                Ok(Value { text, column })
            }
            _ => {
                let end = bare_end(self.rest());
                let text = self.rest()[..end].to_owned();
                if text.is_empty() {
                    return Err(self.unexpected("a value (one with spaces stands in quotes)"));
                }
                self.at += end;
                self.bare_end = Some(self.at);
                Ok(Value { text, column })
            }
        }
    }

    /// The rest of a quoted value. `\` before the quote gives the quote; before anything else both
    /// characters stay, so a regular expression needs no doubled backslashes.
    fn take_quoted(&mut self, quote: char) -> Result<String, QueryError> {
        let mut text = String::new();
        let mut letters = self.rest().char_indices();
        while let Some((i, letter)) = letters.next() {
            if letter == quote {
                self.at += i + 1;
                return Ok(text);
            }
            if letter != '\\' {
                text.push(letter);
                continue;
            }
            match letters.next() {
                Some((_, next)) if next == quote => text.push(quote),
                Some((_, next)) => text.extend(['\\', next]),
                None => text.push('\\'),
            }
        }
        self.at = self.text.len();
        Err(self.unexpected("the closing quote of the value"))
    }

    /// The error that says what stands here instead of `expected`.
    pub(super) fn unexpected(&mut self, expected: &'static str) -> QueryError {
        let column = self.column();
        let found = match self.peek_word() {
            Some(word) => format!("`{word}`"),
            None => match self.rest().chars().next() {
                Some(mark) => format!("`{mark}`"),
                None => "the end".to_owned(),
            },
        };
        QueryError::Syntax { column, found, expected }
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn skip_space(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
    }
}

/// Whether `source` can stand without quotes and be read back as it is.
pub(super) fn is_bare_value(source: &str) -> bool {
    !source.is_empty()
        && bare_end(source) == source.len()
        && !source.contains('\\')
        && !source.starts_with(['\'', '"'])
}

/// Length of the bare value that `rest` starts with. A backslash takes the next character along.
fn bare_end(rest: &str) -> usize {
    let mut letters = rest.char_indices();
    while let Some((i, letter)) = letters.next() {
        if letter == '\\' {
            letters.next();
        } else if letter.is_whitespace() || "(){}\"=<>~".contains(letter) {
            return i;
        }
    }
    rest.len()
}

fn is_word_character(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_' || letter == '-' || letter == '.'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Result<String, QueryError> {
        Lexer::new(text).take_value().map(|value| value.text)
    }

    #[test]
    fn a_bare_value_ends_at_space_and_marks() {
        for (text, expected) in [
            ("PP[of] x", "PP[of]"),
            ("NP}", "NP"),
            ("a)", "a"),
            ("don't", "don't"),
            ("x>=3", "x"),
            ("\u{e9}t\u{e9}\u{a0}x", "\u{e9}t\u{e9}"),
            (r"a\ b c", r"a\ b"),
        ] {
            assert_eq!(value(text).unwrap(), expected, "{text}");
        }
    }

    #[test]
    fn a_quoted_value_keeps_its_backslashes_except_before_the_quote() {
        assert_eq!(value(r#""\bnot\b" x"#).unwrap(), r"\bnot\b");
        assert_eq!(value(r#""say \"no\"""#).unwrap(), r#"say "no""#);
        assert_eq!(value(r#""a\\" b"#).unwrap(), r"a\\");
        assert_eq!(value(r#"'it\'s "so"'"#).unwrap(), r#"it's "so""#);
        assert_eq!(value("''").unwrap(), "");
    }

    #[test]
    fn an_unclosed_quote_is_reported_at_the_end() {
        let error = value("\"\u{e9}t\u{e9}").unwrap_err();
        assert_eq!(error.column(), 5);
        assert_eq!(
            error.to_string(),
            "cannot read the query at column 5: found the end, expected the closing quote of the \
             value"
        );
    }
}
