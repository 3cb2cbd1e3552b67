//! Files that take their place only once they are whole; an earlier one stays until then.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, ensure};
use tempfile::TempPath;

/// A file being written beside the place that it will take.
pub(super) struct WholeFile {
    path: PathBuf,
    what: &'static str,
    out: BufWriter<File>,
    /// Where it is until it is whole; `None` for what is no plain file, as `/dev/null` or a pipe: that
    /// is written to, and never replaced.
    beside: Option<TempPath>,
}

fn is_device(path: &Path) -> bool {
    path.metadata().is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir())
}

impl WholeFile {
    /// A file that replaces an earlier one of its name. What cannot be written fails here, before
    /// the work. `what` it is stands in messages, as in `report`.
    pub(super) fn create(path: &Path, what: &'static str) -> anyhow::Result<Self> {
        let (file, beside) = Self::open(path, what)
            .with_context(|| format!("cannot write the {what} `{}`", path.display()))?;
        let out = BufWriter::with_capacity(1 << 18, file);
        Ok(Self { path: path.to_owned(), what, out, beside })
    }

    fn open(path: &Path, what: &str) -> std::io::Result<(File, Option<TempPath>)> {
        if is_device(path) {
            return Ok((File::options().write(true).open(path)?, None));
        }
        let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        let mut builder = tempfile::Builder::new();
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let prefix = format!(".{what}-");
        let file = builder.prefix(&prefix).tempfile_in(folder.unwrap_or(Path::new(".")))?;
        let (file, beside) = file.into_parts();
        Ok((file, Some(beside)))
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
        let Self { path, what, out, beside } = self;
        let outcome = out
            .into_inner()
            .map_err(std::io::IntoInnerError::into_error)
            .and_then(|_| beside.map_or(Ok(()), |beside| Ok(beside.persist(&path)?)));
        outcome.with_context(|| format!("cannot write the {what} `{}`", path.display()))
    }
}

impl Write for WholeFile {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.out.write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.out.flush()
    }
}
