//! From a template and the texts in it to tokens.

use crate::engine::{TokenizeError, Tokenizer};

/// Tokens of a template's control tokens, and of the texts between them.
///
/// The tokenizer takes every text for plain text.
pub(crate) struct Spelling<'a> {
    tokenizer: &'a Tokenizer,
    tokens: Vec<u32>,
    /// Not cut into tokens yet.
    text: String,
}

impl<'a> Spelling<'a> {
    pub(crate) fn new(tokenizer: &'a Tokenizer) -> Self {
        Self { tokenizer, tokens: Vec::new(), text: String::new() }
    }

    /// Adds a text that spells no control token.
    pub(crate) fn value(&mut self, value: &str) {
        self.text.push_str(value);
    }

    /// Adds a part of the template.
    pub(crate) fn template(&mut self, mut rest: &str) -> Result<(), TokenizeError> {
        while let Some((at, id, length)) = self.first_control(rest) {
            self.text.push_str(&rest[..at]);
            self.end_text()?;
            self.tokens.push(id);
            rest = &rest[at + length..];
        }
        self.text.push_str(rest);
        Ok(())
    }

    /// The tokens of all that was added.
    pub(crate) fn into_tokens(mut self) -> Result<Vec<u32>, TokenizeError> {
        self.end_text()?;
        Ok(self.tokens)
    }

    /// The first control token that a text spells, the longest of several: place, id and length.
    fn first_control(&self, text: &str) -> Option<(usize, u32, usize)> {
        let specials = self.tokenizer.special_ids().iter();
        let found = specials.filter_map(|id| {
            let spelled = self.tokenizer.token(*id).filter(|spelled| !spelled.is_empty())?;
            Some((text.find(&spelled)?, *id, spelled.len()))
        });
        found.min_by_key(|(at, _, length)| (*at, usize::MAX - length))
    }

    fn end_text(&mut self) -> Result<(), TokenizeError> {
        self.tokens.extend(self.tokenizer.encode(&self.text)?);
        self.text.clear();
        Ok(())
    }
}

/// A text without line breaks.
pub(crate) fn one_line(text: &str) -> String {
    let is_break = |c: char| matches!(c, '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}');
    let is_separator = |c: char| matches!(c, '\u{2028}' | '\u{2029}');
    text.trim().replace(|c: char| is_break(c) || is_separator(c), " ")
}
