//! Input that comes through a pipe, copied to a temporary file: a zip archive is read from its end,
//! and by several threads.

use std::fs::File;
use std::io::{self, IsTerminal as _, Read};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use tempfile::TempDir;

/// Stands for standard input.
const STANDARD_INPUT: &str = "-";

/// A path that can be read from anywhere.
pub(crate) struct Input {
    path: PathBuf,
    /// What was given, where that is a pipe; the copy lives as long as the input.
    piped: Option<(String, TempDir)>,
}

impl Input {
    /// The path as it is, or a copy of what comes through it.
    pub(crate) fn open(given: &Path) -> anyhow::Result<Self> {
        if given == Path::new(STANDARD_INPUT) {
            if io::stdin().is_terminal() {
                bail!("expected a file on standard input, and it is a terminal; use `< FILE`");
            }
            return Self::copy("standard-input", STANDARD_INPUT, &mut io::stdin().lock());
        }
        let is_pipe =
            given.metadata().is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir());
        if !is_pipe {
            return Ok(Self { path: given.to_owned(), piped: None });
        }
        let name = given.display().to_string();
        let mut file = File::open(given).with_context(|| format!("cannot read `{name}`"))?;
        Self::copy("pipe", &name, &mut file)
    }

    fn copy(file: &str, given: &str, content: &mut impl Read) -> anyhow::Result<Self> {
        let dir = TempDir::with_prefix("fnstore-import-");
        let dir = dir.context("cannot make a temporary directory for what comes through a pipe")?;
        let path = dir.path().join(file);
        let mut copy = File::create_new(&path)
            .with_context(|| format!("cannot write `{}`", path.display()))?;
        let bytes = io::copy(content, &mut copy)
            .with_context(|| format!("cannot copy `{given}` to `{}`", path.display()))?;
        if bytes == 0 {
            bail!("`{given}` is empty; expected a release's zip file or JSON lines");
        }
        Ok(Self { path, piped: Some((given.to_owned(), dir)) })
    }

    /// Where it can be read.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// What was given, where that is a pipe.
    pub(crate) fn pipe(&self) -> Option<String> {
        self.piped.as_ref().map(|(given, _)| given.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_where_it_is_and_a_pipe_is_copied() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("a");
        std::fs::write(&file, "x").unwrap();
        let input = Input::open(&file).unwrap();
        assert_eq!((input.path(), input.pipe()), (file.as_path(), None));
        let input = Input::copy("pipe", "/dev/fd/63", &mut &b"content"[..]).unwrap();
        assert_eq!(std::fs::read(input.path()).unwrap(), b"content");
        assert_eq!(input.pipe().as_deref(), Some("/dev/fd/63"));
        let copy = input.path().to_owned();
        drop(input);
        assert!(!copy.exists());
    }

    #[test]
    fn nothing_through_a_pipe_is_an_error() {
        let error = Input::copy("pipe", "-", &mut io::empty()).err().unwrap();
        assert!(error.to_string().starts_with("`-` is empty"), "{error}");
    }
}
