//! A directory that appears with all its files or not at all, where nothing was.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::passing::Passing;
use super::place::{led_to, make_way, refuse_fixed};
use super::{folder_of, sync_directory, sync_tree};

/// A directory being filled beside the place that it will take. It goes away unless it is
/// published.
#[derive(Debug)]
pub struct NewDirectory {
    place: PathBuf,
    files: Passing,
}

impl NewDirectory {
    /// Begins a directory whose place must be free: nothing is there, or an empty directory. A link
    /// to one stays a link. Until it is published its name begins with `prefix`.
    ///
    /// # Errors
    /// [`io::ErrorKind::AlreadyExists`] when the place is not free, [`io::ErrorKind::ResourceBusy`]
    /// when it is a directory that cannot be replaced; one that is [`Claimed`](super::Claimed) when
    /// another process writes it; another when nothing can be written beside it.
    pub fn create(place: &Path, prefix: &str) -> io::Result<Self> {
        let place = led_to(place)?;
        let is_there = match fs::read_dir(&place) {
            Ok(mut entries) => {
                if entries.next().is_some() {
                    return Err(taken());
                }
                true
            }
            Err(error) if error.kind() == io::ErrorKind::NotADirectory && place.exists() => {
                return Err(taken());
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => false,
            Err(error) => return Err(error),
        };
        if is_there {
            refuse_fixed(&place)?;
        }
        let files = Passing::claimed_directory(&place, prefix)?;
        Ok(Self { place, files })
    }

    /// Where its files are written.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.files.path()
    }

    /// Brings it to the disk with all that is in it, and gives it its name.
    ///
    /// # Errors
    /// When it cannot be written, or something has come to its place meanwhile; then nothing is
    /// left of it.
    pub fn publish(self) -> io::Result<()> {
        let Self { place, files } = self;
        sync_tree(files.path())?;
        files.take_place(|from| {
            if place.exists() {
                make_way(&place)?;
            }
            fs::rename(from, &place)
        })?;
        sync_directory(folder_of(&place))
    }
}

fn taken() -> io::Error {
    let message = "something is there: expected nothing, or an empty directory";
    io::Error::new(io::ErrorKind::AlreadyExists, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_appears_with_all_its_files_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("out");
        let directory = NewDirectory::create(&place, ".new-").unwrap();
        fs::write(directory.path().join("file"), "x").unwrap();
        drop(directory);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        // An empty directory is as good as none.
        fs::create_dir(&place).unwrap();
        let directory = NewDirectory::create(&place, ".new-").unwrap();
        fs::create_dir(directory.path().join("deep")).unwrap();
        fs::write(directory.path().join("deep/file"), "x").unwrap();
        directory.publish().unwrap();
        assert_eq!(fs::read_to_string(place.join("deep/file")).unwrap(), "x");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn what_is_there_stays() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("out");
        let taken = || NewDirectory::create(&place, ".new-").unwrap_err().kind();
        fs::write(&place, "mine").unwrap();
        assert_eq!(taken(), io::ErrorKind::AlreadyExists);
        fs::remove_file(&place).unwrap();
        let late = NewDirectory::create(&place, ".new-").unwrap();
        let second = NewDirectory::create(&place, ".new-").unwrap_err();
        assert!(super::super::Claimed::is_cause_of(&second), "{second}");
        fs::create_dir(&place).unwrap();
        fs::write(place.join("mine"), "mine").unwrap();
        assert_eq!(taken(), io::ErrorKind::AlreadyExists);
        let error = late.publish().unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::DirectoryNotEmpty);
        assert_eq!(fs::read_to_string(place.join("mine")).unwrap(), "mine");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_to_an_empty_directory_stays_one_and_one_to_nothing_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let (real, link) = (folder.path().join("real"), folder.path().join("link"));
        std::os::unix::fs::symlink(&real, &link).unwrap();
        let error = NewDirectory::create(&link, ".new-").unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
        assert!(error.to_string().contains("a link to"), "{error}");
        fs::create_dir(&real).unwrap();
        let directory = NewDirectory::create(&link, ".new-").unwrap();
        fs::write(directory.path().join("file"), "x").unwrap();
        directory.publish().unwrap();
        assert!(link.is_symlink() && !real.is_symlink());
        assert_eq!(fs::read_to_string(real.join("file")).unwrap(), "x");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }
}
