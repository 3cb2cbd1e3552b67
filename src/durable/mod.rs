//! Files and directories that take their place whole or not at all, and are on the disk then.
//!
//! Something new is written beside its place under a passing name and synced. One rename gives it
//! its name, and the directory that holds the name is synced. A process that is killed, and a
//! machine that loses power, leave what was there before or what is new.
//!
//! A name is on the disk once the directory that holds it is synced; syncing a file writes its
//! content alone. [`create_directory`], [`rename`] and [`remove_directory`] know that.
//!
//! A process that is killed leaves its passing names. Whoever writes beside them next removes them,
//! as their locks are free. A process that ends at once calls [`abandon`] before.

mod locked_file;
mod new_directory;
mod passing;
mod place;
mod stamp;
mod tree;
mod unfollowed;
mod whole_directory;
mod whole_file;

use std::fs::{self, File};
use std::io;
use std::path::Path;

pub use locked_file::LockedFile;
pub use new_directory::NewDirectory;
pub use passing::{Claimed, abandon};
pub use place::is_inside;
pub use stamp::Stamp;
pub use tree::sync_tree;
pub use unfollowed::{first_link, open_unfollowed};
pub use whole_directory::WholeDirectory;
pub use whole_file::{WholeFile, write_file};

/// The directory that a path's last name is in.
#[must_use]
pub fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Makes a directory and those above it, unless they are there, and brings their names to the disk.
///
/// # Errors
/// When one of them cannot be made or synced.
pub fn create_directory(directory: &Path) -> io::Result<()> {
    let folder = folder_of(directory);
    if directory.is_dir() {
        // Whoever made it may have been killed before it was synced. Who may not even read the
        // directory above it has not made it.
        let _ = sync_directory(folder);
        return Ok(());
    }
    place::refuse_dangling(directory)?;
    create_directory(folder)?;
    match fs::create_dir(directory) {
        // Another process was faster.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && directory.is_dir() => {}
        outcome => outcome?,
    }
    sync_directory(folder)
}

/// Brings the names in a directory to the disk, on platforms that can.
///
/// # Errors
/// When the directory cannot be read, or the disk fails.
pub fn sync_directory(directory: &Path) -> io::Result<()> {
    if cfg!(unix) {
        File::open(directory)?.sync_all()?;
    }
    Ok(())
}

/// Renames a file or directory and brings both names' directories to the disk. Says whether it was
/// there to be renamed.
///
/// # Errors
/// When it cannot be renamed, or the disk fails.
pub fn rename(from: &Path, to: &Path) -> io::Result<bool> {
    match fs::rename(from, to) {
        Err(error) if error.kind() == io::ErrorKind::NotFound && !from.exists() => {
            return Ok(false);
        }
        outcome => outcome?,
    }
    // The new name first: a disk that has it alone has lost nothing.
    sync_directory(folder_of(to))?;
    if folder_of(from) != folder_of(to) {
        sync_directory(folder_of(from))?;
    }
    Ok(true)
}

/// Gives two directories each other's name in one step, and brings the names to the disk: at no
/// moment is there none of either name. Says whether the system and the file system can do that;
/// nothing has changed where they cannot.
///
/// # Errors
/// When one of them is not there, or the disk fails.
pub fn exchange(one: &Path, other: &Path) -> io::Result<bool> {
    if !exchange_names(one, other)? {
        return Ok(false);
    }
    sync_directory(folder_of(one))?;
    if folder_of(one) != folder_of(other) {
        sync_directory(folder_of(other))?;
    }
    Ok(true)
}

#[cfg(any(target_os = "linux", target_os = "macos"))]
fn exchange_names(one: &Path, other: &Path) -> io::Result<bool> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    use rustix::io::Errno;
    match renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE) {
        // An old kernel, a file system that cannot, or a container that forbids it.
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP | Errno::PERM) => Ok(false),
        outcome => Ok(outcome.map(|()| true)?),
    }
}

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
fn exchange_names(_one: &Path, _other: &Path) -> io::Result<bool> {
    Ok(false)
}

/// Removes a directory with all that is in it, when it is there.
///
/// # Errors
/// When something of it cannot be removed.
pub fn remove_directory(directory: &Path) -> io::Result<()> {
    match fs::remove_dir_all(directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        outcome => outcome,
    }
}

/// A passing name in a directory. Others may read what gets it, as any new file.
fn passing_name<'a>(prefix: &'a str, mode: u32) -> tempfile::Builder<'a, 'static> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(prefix);
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(mode));
    #[cfg(not(unix))]
    let _ = mode;
    builder
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_are_made_with_those_above_them() {
        let folder = tempfile::tempdir().unwrap();
        let deep = folder.path().join("a/b/c");
        create_directory(&deep).unwrap();
        create_directory(&deep).unwrap();
        assert!(deep.is_dir());
        fs::write(folder.path().join("file"), "").unwrap();
        let error = create_directory(&folder.path().join("file/below")).unwrap_err();
        let kinds = [io::ErrorKind::NotADirectory, io::ErrorKind::AlreadyExists];
        assert!(kinds.contains(&error.kind()), "{error}");
    }

    #[test]
    fn what_is_not_there_is_not_renamed_and_need_not_be_removed() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        assert!(!rename(&from, &to).unwrap());
        fs::create_dir(&from).unwrap();
        assert!(rename(&from, &to).unwrap());
        assert!(to.is_dir() && !from.exists());
        let nowhere = folder.path().join("nowhere/to");
        assert_eq!(rename(&to, &nowhere).unwrap_err().kind(), io::ErrorKind::NotFound);
        remove_directory(&to).unwrap();
        remove_directory(&to).unwrap();
        assert!(!to.exists());
    }

    #[test]
    fn two_directories_take_each_others_name_or_both_keep_their_own() {
        let folder = tempfile::tempdir().unwrap();
        let (one, other) = (folder.path().join("one"), folder.path().join("other"));
        fs::create_dir(&one).unwrap();
        fs::write(one.join("file"), "").unwrap();
        fs::create_dir(&other).unwrap();
        let exchanged = exchange(&one, &other).unwrap();
        assert_eq!(other.join("file").exists(), exchanged);
        assert_eq!(one.join("file").exists(), !exchanged);
        if exchanged {
            let missing = exchange(&one, &folder.path().join("missing")).unwrap_err();
            assert_eq!(missing.kind(), io::ErrorKind::NotFound);
            assert!(one.is_dir());
        }
    }
}
