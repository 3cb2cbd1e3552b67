//! Files that commands write for the user: whole or not at all, unless they are devices or pipes.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::anyhow;
use fnstore::durable;

use super::stop;

/// A file being written for the user.
pub(crate) struct WholeFile {
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

fn failed(path: &Path, what: &str, error: io::Error) -> anyhow::Error {
    let path = path.display();
    if error.kind() == io::ErrorKind::AlreadyExists {
        return anyhow!(
            "cannot write the {what} `{path}`: it is there already; `--force` replaces it"
        );
    }
    anyhow::Error::new(error).context(format!("cannot write the {what} `{path}`"))
}

impl WholeFile {
    /// A file that replaces an earlier one of its name. What cannot be written fails here, before
    /// the work. `what` it is stands in messages, as in `report`.
    pub(crate) fn create(path: &Path, what: &'static str) -> anyhow::Result<Self> {
        Self::begin(path, what, durable::WholeFile::create)
    }

    /// As [`create`](Self::create), but an earlier file is replaced only by `force`, and no two
    /// commands write one file.
    pub(crate) fn create_new(path: &Path, what: &'static str, force: bool) -> anyhow::Result<Self> {
        Self::begin(path, what, |path| durable::WholeFile::claim(path, force))
    }

    fn begin(
        path: &Path,
        what: &'static str,
        begin: impl FnOnce(&Path) -> io::Result<durable::WholeFile>,
    ) -> anyhow::Result<Self> {
        stop::clean_up()?;
        let out = if is_device(path) {
            File::options().write(true).open(path).map(|file| Out::Device(BufWriter::new(file)))
        } else {
            begin(path).map(Out::File)
        };
        let out = out.map_err(|error| failed(path, what, error))?;
        Ok(Self { path: path.to_owned(), what, out })
    }

    /// Gives the file its name.
    pub(crate) fn finish(self) -> anyhow::Result<()> {
        let Self { path, what, out } = self;
        let outcome = match out {
            Out::File(file) => file.finish(),
            Out::Device(mut out) => out.flush(),
        };
        outcome.map_err(|error| failed(&path, what, error))
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
