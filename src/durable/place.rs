//! Where something new shall be. Links are followed; what cannot be replaced is told first.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::folder_of;

/// Where a path leads: what a link leads to, or the path itself when nothing is there.
///
/// # Errors
/// When it is a link that leads nowhere.
pub(super) fn led_to(path: &Path) -> io::Result<PathBuf> {
    refuse_dangling(path)?;
    if path.exists() { path.canonicalize() } else { Ok(path.to_owned()) }
}

/// Whether a path, at which nothing need be yet, leads into a directory or to it.
#[must_use]
pub fn is_inside(path: &Path, directory: &Path) -> bool {
    let Ok(path) = std::path::absolute(path) else { return false };
    let there = path.ancestors().find_map(|above| above.canonicalize().ok());
    match (there, directory.canonicalize()) {
        (Some(there), Ok(directory)) => there.starts_with(directory),
        _ => false,
    }
}

/// Fails for a link that leads nowhere: what it should lead to is not known to be meant.
pub(super) fn refuse_dangling(path: &Path) -> io::Result<()> {
    if !path.is_symlink() || path.exists() {
        return Ok(());
    }
    let target = fs::read_link(path)?;
    let message = format!(
        "it is a link to `{}`, where nothing is; make that, or remove the link",
        target.display()
    );
    Err(io::Error::new(io::ErrorKind::NotFound, message))
}

/// Fails for a directory that cannot be replaced: one that processes work in, or that a file system
/// is mounted on.
pub(super) fn refuse_fixed(directory: &Path) -> io::Result<()> {
    let is_here = std::env::current_dir()
        .and_then(|here| Ok(here.canonicalize()? == directory))
        .unwrap_or_default();
    if is_here {
        return Err(busy("it is the working directory, which stays; name a new directory in it"));
    }
    if is_mounted_on(directory)? { Err(mounted()) } else { Ok(()) }
}

/// Removes an empty directory, for another to take its place.
pub(super) fn make_way(directory: &Path) -> io::Result<()> {
    fs::remove_dir(directory).map_err(|error| match error.kind() {
        io::ErrorKind::ResourceBusy => mounted(),
        _ => error,
    })
}

fn mounted() -> io::Error {
    busy("a file system is mounted on it, so it stays; name a new directory in it")
}

fn busy(message: &str) -> io::Error {
    io::Error::new(io::ErrorKind::ResourceBusy, message)
}

/// Whether a directory is the root of a file system. What is mounted of the same file system looks
/// like any other directory, and is told by the renaming itself.
#[cfg(unix)]
fn is_mounted_on(directory: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt as _;
    Ok(directory.metadata()?.dev() != folder_of(directory).metadata()?.dev())
}

#[cfg(not(unix))]
fn is_mounted_on(directory: &Path) -> io::Result<bool> {
    Ok(directory == folder_of(directory))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_inside_a_directory_wherever_it_seems_to_be() {
        let folder = tempfile::tempdir().unwrap();
        let (store, beside) = (folder.path().join("store"), folder.path().join("store-2"));
        fs::create_dir_all(store.join("db")).unwrap();
        fs::create_dir(&beside).unwrap();
        for inside in ["", "db", "db/CURRENT", "new/deep", "../store/x", "../store-2/../store"] {
            assert!(is_inside(&store.join(inside), &store), "{inside}");
        }
        for outside in ["../x", "../store-2", "../store-2/x", "../new/x", ".."] {
            assert!(!is_inside(&store.join(outside), &store), "{outside}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_link_into_a_directory_leads_inside() {
        let folder = tempfile::tempdir().unwrap();
        let (store, link) = (folder.path().join("store"), folder.path().join("link"));
        fs::create_dir(&store).unwrap();
        std::os::unix::fs::symlink(&store, &link).unwrap();
        assert!(is_inside(&link.join("x"), &store) && is_inside(&store.join("x"), &link));
    }
}
