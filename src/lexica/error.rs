//! What can go wrong while a lexicon other than FrameNet's is read.

use std::path::PathBuf;

use super::Result;
use crate::model::coded;

/// A lexicon cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LexicaError {
    /// A file or directory cannot be read.
    #[error("cannot read `{}`", path.display())]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The place holds no lexicon that is read.
    #[error(
        "L-none: `{}` holds no lexicon that is read: expected {expected}; give the directory that holds \
         the lexicon's files, or its file",
        path.display()
    )]
    None {
        /// The place.
        path: PathBuf,
        /// What was looked for and not found.
        expected: String,
    },
    /// A file that others go with is not there.
    #[error(
        "L-missing: `{}` lacks `{file}`, which goes with `{with}`; give all files of the lexicon",
        directory.display()
    )]
    Missing {
        /// The directory.
        directory: PathBuf,
        /// What is not there.
        file: String,
        /// What is there.
        with: String,
    },
    /// A gzip file is damaged or cut off.
    #[error("L-gzip: `{}` does not unpack: {reason}; the file is damaged or cut off", path.display())]
    Gzip {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A line of a file is not what it should be.
    #[error(
        "L-line: {file}:{line}: {found}, expected {expected}; the file is damaged or of another format"
    )]
    Line {
        /// The file.
        file: String,
        /// The line, from 1.
        line: usize,
        /// What stands there.
        found: String,
        /// What should.
        expected: String,
    },
    /// A file names something that no file has.
    #[error(
        "L-reference: {file}:{line}: {what} `{name}` is in no file; give all files of the lexicon"
    )]
    Reference {
        /// The file.
        file: String,
        /// The line, from 1.
        line: usize,
        /// What is named.
        what: &'static str,
        /// Its id.
        name: String,
    },
    /// Two things have one id.
    #[error("L-repeated: {file}:{line}: {what} `{name}` is there already")]
    Repeated {
        /// The file.
        file: String,
        /// The line, from 1.
        line: usize,
        /// What it is.
        what: &'static str,
        /// Its id.
        name: String,
    },
}

coded!(LexicaError {
    Self::None { .. } => BadInput.coded("L-none"),
    Self::Missing { .. } => BadInput.coded("L-missing"),
    Self::Gzip { .. } => BadInput.coded("L-gzip"),
    Self::Line { .. } => BadInput.coded("L-line"),
    Self::Reference { .. } => BadInput.coded("L-reference"),
    Self::Repeated { .. } => BadInput.coded("L-repeated"),
});

/// A file's bytes as text.
pub(super) fn text_of(file: &str, bytes: Vec<u8>) -> Result<String> {
    String::from_utf8(bytes).map_err(|error| {
        let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        At { file, line: line_behind(valid) }.wrong("bytes that are no UTF-8", "text")
    })
}

/// The line, from 1, in which a file goes on behind these bytes.
pub(super) fn line_behind(before: &[u8]) -> usize {
    before.iter().filter(|byte| **byte == b'\n').count() + 1
}

/// A place in a file, from which errors are made.
#[derive(Debug, Clone, Copy)]
pub(super) struct At<'a> {
    pub(super) file: &'a str,
    pub(super) line: usize,
}

impl At<'_> {
    pub(super) fn wrong(
        self,
        found: impl Into<String>,
        expected: impl Into<String>,
    ) -> LexicaError {
        let (found, expected) = (found.into(), expected.into());
        LexicaError::Line { file: self.file.to_owned(), line: self.line, found, expected }
    }

    pub(super) fn absent(self, what: &'static str, name: impl Into<String>) -> LexicaError {
        let (file, line) = (self.file.to_owned(), self.line);
        LexicaError::Reference { file, line, what, name: name.into() }
    }

    pub(super) fn repeated(self, what: &'static str, name: impl Into<String>) -> LexicaError {
        let (file, line) = (self.file.to_owned(), self.line);
        LexicaError::Repeated { file, line, what, name: name.into() }
    }
}
