//! Files that take their place only once they are whole; an earlier one stays until then.

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, ensure};
use tempfile::NamedTempFile;

/// A file being written beside the place that it will take.
pub(super) struct WholeFile {
    path: PathBuf,
    what: &'static str,
    out: BufWriter<NamedTempFile>,
}

impl WholeFile {
    /// A file that replaces an earlier one of its name. What cannot be written fails here, before
    /// the work. `what` it is stands in messages, as in `report`.
    pub(super) fn create(path: &Path, what: &'static str) -> anyhow::Result<Self> {
        let beside = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        let mut builder = tempfile::Builder::new();
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let file = builder
            .prefix(&format!(".{what}-"))
            .tempfile_in(beside.unwrap_or(Path::new(".")))
            .with_context(|| format!("cannot write the {what} `{}`", path.display()))?;
        Ok(Self { path: path.to_owned(), what, out: BufWriter::with_capacity(1 << 18, file) })
    }

    /// As [`create`](Self::create), but an earlier file is replaced only by `force`.
    pub(super) fn create_new(path: &Path, what: &'static str, force: bool) -> anyhow::Result<Self> {
        ensure!(
            force || !path.exists(),
            "cannot write the {what} `{}`: it is there already; `--force` replaces it",
            path.display()
        );
        Self::create(path, what)
    }

    /// Gives the file its name.
    pub(super) fn finish(self) -> anyhow::Result<()> {
        let Self { path, what, out } = self;
        let outcome = out
            .into_inner()
            .map_err(std::io::IntoInnerError::into_error)
            .and_then(|file| Ok(file.persist(&path).map(drop)?));
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
