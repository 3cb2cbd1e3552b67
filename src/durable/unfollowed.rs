//! Files that are opened where they lie, never where a link of that name leads.
//!
//! Somebody else may have made a directory that is opened for writing. A link in it that has the
//! name of a file to be written leads to any file that the user may write.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

/// Opens a file unless its name is a link's.
///
/// # Errors
/// When the name is a link's, or as [`OpenOptions::open`].
pub fn open_unfollowed(options: &OpenOptions, path: &Path) -> io::Result<File> {
    #[cfg(any(target_os = "linux", target_os = "macos"))]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        let flags = rustix::fs::OFlags::NOFOLLOW.bits().cast_signed();
        options.clone().custom_flags(flags).open(path)
    }
    #[cfg(not(any(target_os = "linux", target_os = "macos")))]
    {
        // Without a flag of the system a link that is put there in between is followed.
        if path.is_symlink() {
            return Err(io::Error::other("a link stands in its place"));
        }
        options.open(path)
    }
}

/// The first link among the names in a directory, in order of name; none where there is no
/// directory.
///
/// # Errors
/// When the directory cannot be read.
pub fn first_link(directory: &Path) -> io::Result<Option<PathBuf>> {
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error)
            if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) =>
        {
            return Ok(None);
        }
        Err(error) => return Err(error),
    };
    let mut first: Option<PathBuf> = None;
    for entry in entries {
        let entry = entry?;
        if entry.file_type()?.is_symlink() {
            let path = entry.path();
            if first.as_ref().is_none_or(|first| path < *first) {
                first = Some(path);
            }
        }
    }
    Ok(first)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_link_is_neither_followed_nor_made_a_file() {
        let dir = tempfile::tempdir().unwrap();
        let (file, link) = (dir.path().join("file"), dir.path().join("link"));
        fs::write(&file, "mine").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        let mut options = File::options();
        options.write(true).create(true).truncate(true);
        assert!(open_unfollowed(&options, &link).is_err());
        assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
        assert!(open_unfollowed(&options, &file).is_ok());
        fs::remove_file(&file).unwrap();
        assert!(open_unfollowed(&options, &link).is_err(), "a dangling link");
        assert!(!file.exists());
    }

    #[test]
    fn the_first_link_of_a_directory_is_named() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(first_link(dir.path()).unwrap(), None);
        assert_eq!(first_link(&dir.path().join("absent")).unwrap(), None);
        fs::write(dir.path().join("a"), "").unwrap();
        for name in ["c", "b"] {
            std::os::unix::fs::symlink("elsewhere", dir.path().join(name)).unwrap();
        }
        assert_eq!(first_link(dir.path()).unwrap(), Some(dir.path().join("b")));
    }
}
