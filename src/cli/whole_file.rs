//! Files that commands write for the user: whole or not at all, unless they are devices or pipes.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, ensure};
use fnstore::durable;

/// A file being written for the user.
pub(super) struct WholeFile {
    path: PathBuf,
    what: &'static str,
    out: Out,
}

enum Out {
    /// Takes its place once it is whole.
    File(durable::WholeFile),
    /// What is no plain file, as `/dev/null` or a pipe: it is written to, and never replaced.
    Device(BufWriter<File>),
}

fn is_device(path: &Path) -> bool {
    path.metadata().is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir())
}

impl WholeFile {
    /// A file that replaces an earlier one of its name. What cannot be written fails here, before
    /// the work. `what` it is stands in messages, as in `report`.
    pub(super) fn create(path: &Path, what: &'static str) -> anyhow::Result<Self> {
        let out = if is_device(path) {
            File::options().write(true).open(path).map(|file| Out::Device(BufWriter::new(file)))
        } else {
            durable::WholeFile::create(path).map(Out::File)
        };
        let out = out.with_context(|| format!("cannot write the {what} `{}`", path.display()))?;
        Ok(Self { path: path.to_owned(), what, out })
    }

    /// As [`create`](Self::create), but an earlier file is replaced only by `force`.
    pub(super) fn create_new(path: &Path, what: &'static str, force: bool) -> anyhow::Result<Self> {
        ensure!(
            force || !path.exists() || is_device(path),
            "cannot write the {what} `{}`: it is there already; `--force` replaces it",
            path.display()
        );
        Self::create(path, what)
    }

    /// Gives the file its name.
    pub(super) fn finish(self) -> anyhow::Result<()> {
        let Self { path, what, out } = self;
        let outcome = match out {
            Out::File(file) => file.finish(),
            Out::Device(mut out) => out.flush(),
        };
        outcome.with_context(|| format!("cannot write the {what} `{}`", path.display()))
    }
}

impl Write for WholeFile {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        match &mut self.out {
            Out::File(file) => file.write(bytes),
            Out::Device(out) => out.write(bytes),
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        match &mut self.out {
            Out::File(file) => file.flush(),
            Out::Device(out) => out.flush(),
        }
    }
}
