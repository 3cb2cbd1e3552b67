//! A file that takes its place only once it is whole; an earlier one stays until then.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::TempPath;

use super::passing::Passing;
use super::place::led_to;
use super::{folder_of, sync_directory};

/// Bytes that are gathered before they are written.
const BUFFER: usize = 1 << 18;

/// A file being written beside the place that it will take. It goes away unless it is finished.
#[derive(Debug)]
pub struct WholeFile {
    place: PathBuf,
    out: BufWriter<File>,
    beside: Passing,
    may_replace: bool,
}

impl WholeFile {
    /// Begins a file that will replace an earlier one of its name, whose rights it gets. A link
    /// stays one: the file that it leads to is replaced.
    ///
    /// # Errors
    /// When nothing can be written beside its place, or that is a link that leads nowhere.
    pub fn create(place: &Path) -> io::Result<Self> {
        let place = led_to(place)?;
        let beside = Passing::file(folder_of(&place))?;
        Self::create_beside(place, beside, true)
    }

    /// As [`create`](Self::create), for a place that nobody else can claim until this is finished
    /// or dropped. An earlier file is replaced only if it may be, whenever it came.
    ///
    /// # Errors
    /// [`io::ErrorKind::AlreadyExists`] when something is there that may not be replaced, one that
    /// is [`Claimed`](super::Claimed) when another process writes the file, and as
    /// [`create`](Self::create).
    pub fn claim(place: &Path, may_replace: bool) -> io::Result<Self> {
        let place = led_to(place)?;
        let beside = Passing::claimed_file(&place)?;
        if !may_replace && place.exists() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        Self::create_beside(place, beside, may_replace)
    }

    fn create_beside(
        place: PathBuf,
        (beside, file): (Passing, File),
        may_replace: bool,
    ) -> io::Result<Self> {
        if let Ok(earlier) = place.metadata()
            && earlier.is_file()
        {
            file.set_permissions(earlier.permissions())?;
        }
        let out = BufWriter::with_capacity(BUFFER, file);
        Ok(Self { place, out, beside, may_replace })
    }

    /// Brings the file to the disk and gives it its name.
    ///
    /// # Errors
    /// When it cannot be written or renamed; then an earlier one is as it was.
    /// [`io::ErrorKind::AlreadyExists`] when one came meanwhile that may not be replaced.
    pub fn finish(self) -> io::Result<()> {
        let Self { place, out, beside, may_replace } = self;
        out.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
        beside.take_place(|from| {
            let from = TempPath::try_from_path(from)?;
            Ok(if may_replace { from.persist(&place) } else { from.persist_noclobber(&place) }?)
        })?;
        sync_directory(folder_of(&place))
    }
}

impl Write for WholeFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Writes a file of these bytes, in place of an earlier one.
///
/// # Errors
/// As [`WholeFile::create`] and [`WholeFile::finish`].
pub fn write_file(place: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = WholeFile::create(place)?;
    file.write_all(bytes)?;
    file.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_earlier_file_stays_until_the_new_one_is_whole() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("file");
        write_file(&place, b"old").unwrap();
        let mut unfinished = WholeFile::create(&place).unwrap();
        unfinished.write_all(b"half").unwrap();
        drop(unfinished);
        assert_eq!(std::fs::read(&place).unwrap(), b"old");
        write_file(&place, b"new").unwrap();
        assert_eq!(std::fs::read(&place).unwrap(), b"new");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_claimed_file_replaces_what_came_meanwhile_only_if_it_may() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("file");
        let kind = |error: io::Error| error.kind();
        let claimed = WholeFile::claim(&place, false).unwrap();
        let second = WholeFile::claim(&place, true).unwrap_err();
        assert!(super::super::Claimed::is_cause_of(&second), "{second}");
        std::fs::write(&place, b"of another").unwrap();
        assert_eq!(kind(claimed.finish().unwrap_err()), io::ErrorKind::AlreadyExists);
        assert_eq!(std::fs::read(&place).unwrap(), b"of another");
        let refused = WholeFile::claim(&place, false).unwrap_err();
        assert_eq!(kind(refused), io::ErrorKind::AlreadyExists);
        let mut claimed = WholeFile::claim(&place, true).unwrap();
        claimed.write_all(b"new").unwrap();
        claimed.finish().unwrap();
        assert_eq!(std::fs::read(&place).unwrap(), b"new");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn what_cannot_be_written_fails_before_the_work() {
        let folder = tempfile::tempdir().unwrap();
        let error = WholeFile::create(&folder.path().join("nowhere/file")).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
        // Not even its own name may be a directory's.
        std::fs::create_dir(folder.path().join("directory")).unwrap();
        let error = write_file(&folder.path().join("directory"), b"x").unwrap_err();
        let kinds = [io::ErrorKind::IsADirectory, io::ErrorKind::PermissionDenied];
        assert!(kinds.contains(&error.kind()), "{error}");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn others_may_read_it_as_any_new_file() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let mode =
            |name: &str| std::fs::metadata(folder.path().join(name)).unwrap().permissions().mode();
        std::fs::write(folder.path().join("plain"), "").unwrap();
        write_file(&folder.path().join("whole"), b"").unwrap();
        assert_eq!(mode("whole"), mode("plain"));
        // What was closed to others stays so.
        let closed = std::fs::Permissions::from_mode(0o600);
        std::fs::set_permissions(folder.path().join("whole"), closed).unwrap();
        write_file(&folder.path().join("whole"), b"new").unwrap();
        assert_eq!(mode("whole") & 0o777, 0o600);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_stays_one_and_one_to_nothing_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        std::os::unix::fs::symlink("file", &link).unwrap();
        let error = write_file(&link, b"x").unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
        assert!(error.to_string().contains("a link to `file`"), "{error}");
        std::fs::write(&file, b"old").unwrap();
        write_file(&link, b"new").unwrap();
        assert!(link.is_symlink() && !file.is_symlink());
        assert_eq!(std::fs::read(&file).unwrap(), b"new");
    }
}
