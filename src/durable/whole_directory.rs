//! A directory of files, as a model's, that replaces an earlier one only once it is whole.
//!
//! The new directory is made beside its place. Then the old one is renamed to `.NAME.replaced`, the
//! new one to `NAME`, and the old one is removed. A process that is killed between the two renames
//! leaves a `.NAME.replaced` and no `NAME`: [`WholeDirectory::prepare`] moves the old one back.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::passing::Passing;
use super::{create_directory, folder_of, remove_directory, sync_directory, sync_tree};

/// The place of a directory that is to be written, tried beforehand.
#[derive(Debug)]
pub struct WholeDirectory {
    place: PathBuf,
    /// The folder in which the place is.
    folder: PathBuf,
    name: String,
}

impl WholeDirectory {
    /// Checks that a directory can be written at a place, before the work; folders above it are
    /// made. What is there already must be an empty directory, or one of plain files that
    /// `may_replace` accepts.
    ///
    /// # Errors
    /// When something else is there, or nothing can be written beside it.
    pub fn prepare(
        place: &Path,
        may_replace: impl FnOnce(&Path) -> bool,
    ) -> io::Result<WholeDirectory> {
        // A link stays one: what it leads to is replaced.
        let place = if place.exists() { place.canonicalize()? } else { place.to_owned() };
        let name = place.file_name().and_then(|name| name.to_str()).ok_or_else(|| {
            let message = "expected a path that ends in the name of a directory, in UTF-8";
            io::Error::new(io::ErrorKind::InvalidInput, message)
        })?;
        let folder = folder_of(&place).to_owned();
        let directory = Self { name: name.to_owned(), folder, place };
        create_directory(&directory.folder)?;
        directory.temporary()?;
        let Self { place, .. } = &directory;
        if !place.exists() {
            super::rename(&directory.replaced(), place)?;
        }
        let is_there = place.exists() || place.is_symlink();
        if is_there && !(is_plain(place)? && (is_empty(place)? || may_replace(place))) {
            let message = "there is something else: expected nothing, an empty directory, or an \
                           earlier one of its kind";
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, message));
        }
        Ok(directory)
    }

    /// Makes ready to write a directory that takes the place of nothing but an empty one.
    ///
    /// # Errors
    /// As [`prepare`](Self::prepare).
    pub fn prepare_new(place: &Path) -> io::Result<WholeDirectory> {
        Self::prepare(place, |_| false).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => {
                let message = "there is something already: expected nothing or an empty directory";
                io::Error::new(io::ErrorKind::AlreadyExists, message)
            }
            _ => error,
        })
    }

    /// Where it will be.
    pub fn place(&self) -> &Path {
        &self.place
    }

    /// Writes the directory: `fill` gets an empty one. Files of an earlier directory that `fill`
    /// does not write are kept.
    ///
    /// # Errors
    /// When `fill` fails or the place cannot be taken; then what was there is there still.
    pub fn write<E: From<io::Error>>(
        self,
        fill: impl FnOnce(&Path) -> Result<(), E>,
    ) -> Result<(), E> {
        let new = self.temporary()?;
        fill(new.path())?;
        let Self { place, folder, .. } = &self;
        let is_there = place.exists();
        if is_there {
            keep_others(place, new.path())?;
        }
        sync_tree(new.path())?;
        let replaced = self.replaced();
        if is_there {
            remove_directory(&replaced)?;
            fs::rename(place, &replaced)?;
        }
        if let Err(error) = new.take_place(|from| fs::rename(from, place)) {
            if is_there {
                fs::rename(&replaced, place)?;
            }
            return Err(error.into());
        }
        sync_directory(folder)?;
        // It is in nobody's way when that fails: the new directory is there.
        let _ = remove_directory(&replaced);
        Ok(())
    }

    /// An empty directory beside the place, which goes away unless it is kept.
    fn temporary(&self) -> io::Result<Passing> {
        Passing::directory(&self.folder, &format!(".{}.writing-", self.name))
    }

    /// Where the earlier directory is while the new one takes its place.
    fn replaced(&self) -> PathBuf {
        self.folder.join(format!(".{}.replaced", self.name))
    }
}

/// Whether a directory holds nothing but files.
fn is_plain(directory: &Path) -> io::Result<bool> {
    if !directory.is_dir() {
        return Ok(false);
    }
    for entry in fs::read_dir(directory)? {
        if !entry?.path().is_file() {
            return Ok(false);
        }
    }
    Ok(true)
}

fn is_empty(directory: &Path) -> io::Result<bool> {
    Ok(fs::read_dir(directory)?.next().is_none())
}

/// Copies the files that only the old directory has into the new one.
fn keep_others(old: &Path, new: &Path) -> io::Result<()> {
    for entry in fs::read_dir(old)? {
        let entry = entry?;
        let to = new.join(entry.file_name());
        if !to.exists() {
            fs::copy(entry.path(), to)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prepare(place: &Path) -> io::Result<WholeDirectory> {
        WholeDirectory::prepare(place, |old| old.join("model").is_file())
    }

    fn write(place: &Path, text: &str) -> io::Result<()> {
        prepare(place)?.write(|new| fs::write(new.join("model"), text))
    }

    fn names(directory: &Path) -> Vec<String> {
        let entries = fs::read_dir(directory).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.collect();
        names.sort_unstable();
        names
    }

    #[test]
    fn a_directory_is_made_and_replaced_and_other_files_of_it_stay() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("new/deep");
        write(&place, "one").unwrap();
        fs::write(place.join("CARD.md"), "of mine").unwrap();
        write(&place, "two").unwrap();
        assert_eq!(fs::read_to_string(place.join("model")).unwrap(), "two");
        assert_eq!(fs::read_to_string(place.join("CARD.md")).unwrap(), "of mine");
        assert_eq!(names(place.parent().unwrap()), ["deep"]);
    }

    #[test]
    fn the_old_one_is_there_until_the_new_one_is_whole() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("head");
        write(&place, "old").unwrap();
        let failed = prepare(&place).unwrap().write(|new| {
            fs::write(new.join("model"), "half")?;
            assert_eq!(fs::read_to_string(place.join("model"))?, "old");
            Err(io::Error::other("killed"))
        });
        assert_eq!(failed.unwrap_err().to_string(), "killed");
        assert_eq!(fs::read_to_string(place.join("model")).unwrap(), "old");
        assert_eq!(names(folder.path()), ["head"]);
    }

    #[test]
    fn the_old_one_comes_back_when_a_process_was_killed_between_the_renames() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("head");
        write(&place, "old").unwrap();
        let replaced = folder.path().join(".head.replaced");
        fs::rename(&place, &replaced).unwrap();
        prepare(&place).unwrap();
        assert_eq!(names(folder.path()), ["head"]);
        // Killed before the old one was removed.
        fs::create_dir(&replaced).unwrap();
        write(&place, "new").unwrap();
        assert_eq!(names(folder.path()), ["head"]);
    }

    #[test]
    fn what_is_something_else_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("file"), "").unwrap();
        fs::create_dir_all(at("home/documents")).unwrap();
        fs::create_dir(at("other")).unwrap();
        fs::write(at("other/letter"), "dear").unwrap();
        fs::create_dir(at("empty")).unwrap();
        for (name, kind) in [
            ("file", io::ErrorKind::AlreadyExists),
            ("file/below", io::ErrorKind::AlreadyExists),
            ("home", io::ErrorKind::AlreadyExists),
            ("other", io::ErrorKind::AlreadyExists),
            ("..", io::ErrorKind::AlreadyExists),
        ] {
            assert_eq!(prepare(&at(name)).unwrap_err().kind(), kind, "{name}");
        }
        assert_eq!(fs::read_to_string(at("other/letter")).unwrap(), "dear");
        write(&at("empty"), "x").unwrap();
        assert_eq!(names(&at("empty")), ["model"]);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_stays_one() {
        let folder = tempfile::tempdir().unwrap();
        let (place, link) = (folder.path().join("head"), folder.path().join("link"));
        write(&place, "old").unwrap();
        std::os::unix::fs::symlink(&place, &link).unwrap();
        write(&link, "new").unwrap();
        assert!(link.is_symlink());
        assert_eq!(fs::read_to_string(place.join("model")).unwrap(), "new");
    }
}
