//! A prompt's file: its text, its fields, and the places of what is wrong.

use std::ops::Range;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use toml::Spanned;

use super::PromptError;
use crate::engine::Fingerprint;
use crate::text::input::read_text;

/// The text of a prompt, and where it comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PromptFile {
    pub(crate) path: PathBuf,
    text: String,
}

impl PromptFile {
    /// Reads a file.
    pub(crate) fn read(path: &Path) -> Result<Self, PromptError> {
        let text = read_text(path)
            .map_err(|source| PromptError::Read { path: path.to_owned(), source })?;
        Ok(Self::of(path, text))
    }

    /// A text that is at hand, under a name.
    pub(crate) fn of(path: &Path, text: impl Into<String>) -> Self {
        Self { path: path.to_owned(), text: text.into() }
    }

    /// BLAKE3 of the file.
    pub(crate) fn fingerprint(&self) -> Fingerprint {
        Fingerprint(*blake3::hash(self.text.as_bytes()).as_bytes())
    }

    /// Its fields.
    pub(crate) fn fields<T: DeserializeOwned>(&self) -> Result<T, PromptError> {
        toml::from_str(&self.text).map_err(|error| PromptError::Toml {
            path: self.path.clone(),
            line: self.line_of(error.span()),
            problem: error.message().to_owned(),
        })
    }

    /// The error of a field, whose value stands at a place.
    pub(crate) fn wrong(
        &self,
        field: &'static str,
        found: impl ToString,
        at: Range<usize>,
        expected: &'static str,
    ) -> PromptError {
        let line = self.line_of(Some(at));
        PromptError::Field {
            path: self.path.clone(),
            line,
            field,
            found: found.to_string(),
            expected,
        }
    }

    /// Checks the number of the format, of which there is one.
    pub(crate) fn check_format(&self, format: &Spanned<u32>) -> Result<(), PromptError> {
        match format.get_ref() {
            1 => Ok(()),
            other => Err(self.wrong("format", other, format.span(), "1")),
        }
    }

    /// The error of a value that the vocabulary spells with several tokens.
    pub(crate) fn no_token(&self, field: &'static str, found: &str) -> PromptError {
        PromptError::Token { path: self.path.clone(), field, found: found.to_owned() }
    }

    /// The line of a place, from 1.
    fn line_of(&self, at: Option<Range<usize>>) -> usize {
        let before = self.text.get(..at.map_or(0, |at| at.start)).unwrap_or(&self.text);
        1 + before.matches('\n').count()
    }
}
