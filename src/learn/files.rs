//! The files of small networks: their directories, and the lines of data that they learn from.

use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::durable::WholeDirectory;
use crate::engine::{NamedTensor, write_model as write_tensors};
use crate::model::coded;
use crate::text::input::Lines;

/// Name of a configuration's file.
pub(crate) const CONFIG: &str = "config.json";

/// What is wrong with a file of a model or of data.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// It cannot be read or written.
    #[error("cannot {action} `{path}`", path = .path.display())]
    Io {
        /// What was being done.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// It does not hold what it should.
    #[error("cannot use `{path}` line {line}: found {found}, expected {expected}", path = .path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// Line, from 1.
        line: usize,
        /// What stands there.
        found: String,
        /// What should.
        expected: &'static str,
    },
    /// A checkpoint is of another training run.
    #[error("cannot go on from checkpoint `{path}`: it was made with {setting} `{found}`, this run has `{expected}`; train as before, or give another file", path = .path.display())]
    Run {
        /// The checkpoint.
        path: PathBuf,
        /// What differs.
        setting: String,
        /// What the checkpoint was made with.
        found: String,
        /// What this run has.
        expected: String,
    },
}

coded!(FileError {
    Self::Content { .. } => BadInput.coded("E-file"),
});

impl FileError {
    /// What a line holds and what it should.
    pub(crate) fn content(
        path: &Path,
        line: usize,
        found: impl Into<String>,
        expected: &'static str,
    ) -> Self {
        Self::Content { path: path.to_owned(), line, found: found.into(), expected }
    }

    /// Why something cannot be done with a file.
    pub(crate) fn io(action: &'static str, path: &Path) -> impl Fn(io::Error) -> Self {
        move |source| Self::Io { action, path: path.to_owned(), source }
    }
}

/// Reads `config.json` of a model's directory; `expected` says of what it is the configuration.
pub(crate) fn read_config<T: DeserializeOwned>(
    directory: &Path,
    action: &'static str,
    expected: &'static str,
) -> Result<T, FileError> {
    let path = directory.join(CONFIG);
    let json = std::fs::read(&path).map_err(FileError::io(action, &path))?;
    let wrong = |e: serde_json::Error| FileError::content(&path, e.line(), e.to_string(), expected);
    serde_json::from_slice(&json).map_err(wrong)
}

/// Writes a model, all of it or nothing.
pub(crate) fn write_model(
    out: WholeDirectory,
    action: &'static str,
    config: &impl Serialize,
    tensors: &[NamedTensor<'_>],
) -> Result<(), FileError> {
    let place = out.place().to_owned();
    write_tensors(out, config, tensors).map_err(FileError::io(action, &place))
}

/// Most bytes of a line of data.
pub(crate) const LINE_LIMIT: usize = 64 << 20;

/// Reads the lines of a file that are not blank, each with its number from 1. If `parse` cannot use
/// a line, it says what it found and what was expected there.
pub(crate) fn read_lines<T>(
    path: &Path,
    action: &'static str,
    mut parse: impl FnMut(&str) -> Result<T, (String, &'static str)>,
) -> Result<Vec<(usize, T)>, FileError> {
    let unreadable = FileError::io(action, path);
    let mut lines = Lines::open(path, LINE_LIMIT).map_err(&unreadable)?;
    let mut items = Vec::new();
    while lines.advance().map_err(&unreadable)? {
        if lines.is_blank() {
            continue;
        }
        let line = usize::try_from(lines.number()).unwrap_or(usize::MAX);
        let text = lines.text().map_err(|fault| (fault.found(), fault.expected()));
        let item = text.and_then(&mut parse);
        let wrong = |(found, expected)| FileError::content(path, line, found, expected);
        items.push((line, item.map_err(wrong)?));
    }
    Ok(items)
}
