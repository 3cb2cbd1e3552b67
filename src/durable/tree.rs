//! A directory with all that is in it, brought to the disk.
//!
//! Thousands of files are written down much faster by one sync of their file system than by one of
//! each of them. That is as good where the file system is a local one that does what it says, and
//! the kernel tells the caller of a write that failed. Anywhere else each file is synced by itself:
//! a network's `syncfs` may return before the server has written anything.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use super::sync_directory;

/// Files that are synced at a time: the file system writes down several of them at once.
const SYNCS_AT_A_TIME: usize = 8;

/// Files from which on the whole file system is synced. It writes down what others have written,
/// too, so a few files are not worth it.
const MANY: usize = 500;

/// Brings a directory with all files and directories in it to the disk.
///
/// # Errors
/// When one of them cannot be opened or synced.
pub fn sync_tree(directory: &Path) -> io::Result<()> {
    let (mut files, mut directories) = (Vec::new(), Vec::new());
    list(directory, &mut files, &mut directories)?;
    if files.len() >= MANY && sync_file_system(directory)? {
        return Ok(());
    }
    sync_each(files)?;
    directories.iter().try_for_each(|directory| sync_directory(directory))
}

fn sync_each(files: Vec<PathBuf>) -> io::Result<()> {
    let waiting = Mutex::new(files);
    let next = || waiting.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).pop();
    let sync = || -> io::Result<()> {
        while let Some(file) = next() {
            File::open(file)?.sync_all()?;
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let others: Vec<_> = (1..SYNCS_AT_A_TIME).map(|_| scope.spawn(sync)).collect();
        let own = sync();
        let joined = others.into_iter().map(|other| other.join().expect("syncing does not panic"));
        joined.fold(own, Result::and)
    })
}

/// Syncs the file system that a directory is on, where that is as good as syncing each file; says
/// whether it was.
#[cfg(target_os = "linux")]
fn sync_file_system(directory: &Path) -> io::Result<bool> {
    let directory = File::open(directory)?;
    if !is_local(&directory)? || !tells_of_failures() {
        return Ok(false);
    }
    rustix::fs::syncfs(&directory)?;
    Ok(true)
}

#[cfg(not(target_os = "linux"))]
fn sync_file_system(_directory: &Path) -> io::Result<bool> {
    Ok(false)
}

/// Whether a file is on a file system whose sync is known to wait for the disk.
#[cfg(target_os = "linux")]
fn is_local(file: &File) -> io::Result<bool> {
    /// Numbers in `linux/magic.h`: ext2 to ext4, XFS, Btrfs, F2FS, tmpfs.
    const LOCAL: [u64; 5] = [0xef53, 0x5846_5342, 0x9123_683e, 0xf2f5_2010, 0x0102_1994];
    // The number's type, and so its sign, depends on the processor.
    let found = rustix::fs::fstatfs(file)?.f_type as u64 & 0xffff_ffff;
    Ok(LOCAL.contains(&found))
}

/// Whether the kernel's `syncfs` says that a write failed: since Linux 5.8.
#[cfg(target_os = "linux")]
fn tells_of_failures() -> bool {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    is_since_5_8(&release)
}

#[cfg(target_os = "linux")]
fn is_since_5_8(release: &str) -> bool {
    let mut numbers =
        release.split(|letter: char| !letter.is_ascii_digit()).map_while(|part| part.parse().ok());
    let version: (u32, u32) =
        (numbers.next().unwrap_or_default(), numbers.next().unwrap_or_default());
    version >= (5, 8)
}

/// The files and directories below a directory, and itself; a directory comes after those in it.
fn list(
    directory: &Path,
    files: &mut Vec<PathBuf>,
    directories: &mut Vec<PathBuf>,
) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        match entry.file_type()? {
            kind if kind.is_dir() => list(&entry.path(), files, directories)?,
            kind if kind.is_file() => files.push(entry.path()),
            _ => {}
        }
    }
    directories.push(directory.to_owned());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_is_synced_with_all_that_is_in_it() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("a/b")).unwrap();
        for at in 0..20 {
            fs::write(folder.path().join(format!("a/{at}")), "x").unwrap();
        }
        let (mut files, mut directories) = (Vec::new(), Vec::new());
        list(folder.path(), &mut files, &mut directories).unwrap();
        assert_eq!((files.len(), directories.len()), (20, 3));
        assert_eq!(directories.last().map(PathBuf::as_path), Some(folder.path()));
        sync_tree(folder.path()).unwrap();
        let missing = sync_tree(&folder.path().join("missing")).unwrap_err();
        assert_eq!(missing.kind(), io::ErrorKind::NotFound);
        for at in 20..MANY {
            fs::write(folder.path().join(format!("a/{at}")), "x").unwrap();
        }
        sync_tree(folder.path()).unwrap();
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn only_where_a_failure_is_told_the_whole_file_system_is_synced() {
        for (release, is_told) in [
            ("6.1.0-18-amd64\n", true),
            ("5.8.0", true),
            ("5.7.19", false),
            ("4.18.0-513.el8.x86_64", false),
            ("10.0", true),
            ("", false),
        ] {
            assert_eq!(is_since_5_8(release), is_told, "{release}");
        }
        // The kernel's own files are on no disk.
        assert!(!is_local(&File::open("/proc/self/status").unwrap()).unwrap());
    }
}
