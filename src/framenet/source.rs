//! Where a release lies: a zip archive, read without unpacking it, or a directory.
//!
//! A release may come from anywhere, so nothing that it says of itself is believed: a file is read
//! up to a limit and never beyond the size that its archive declares, and no name or link leads out
//! of the release.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use zip::ZipArchive;

use super::{FramenetError, Result};

/// The file whose folder is a release's root.
const ROOT_FILE: &str = "frameIndex.xml";

/// Most bytes that are read of one file. The largest of FrameNet 1.5 has 2.3 MB.
const MAX_FILE: u64 = 32 << 20;

/// A release's files.
#[derive(Debug)]
pub struct Source {
    path: PathBuf,
    zipped: bool,
    /// What stands before every name, as in `fndata-1.5/`.
    prefix: String,
    /// Names of XML files below the prefix with `/`, with unpacked sizes in bytes, in order of name.
    files: Vec<(String, u64)>,
}

impl Source {
    /// Opens a zip file or a directory.
    ///
    /// # Errors
    /// When the path cannot be read, the archive is damaged, or what every release has is
    /// not in it: `frameIndex.xml`, a frame file and an LU file.
    pub fn open(path: &Path) -> Result<Self> {
        let io = |source| FramenetError::Io { path: path.to_owned(), source };
        let metadata = std::fs::metadata(path).map_err(io)?;
        let zipped = metadata.is_file();
        let mut files = Vec::new();
        if zipped {
            list_archive(path, &mut files)?;
        } else {
            let root = std::fs::canonicalize(path).map_err(io)?;
            list_directory(&root, "", &mut files)?;
        }
        let prefix = files
            .iter()
            .filter_map(|(name, _)| name.strip_suffix(ROOT_FILE))
            .filter(|prefix| prefix.is_empty() || prefix.ends_with('/'))
            .min_by_key(|prefix| prefix.len())
            .ok_or(FramenetError::NotARelease { path: path.to_owned(), expected: ROOT_FILE })?
            .to_owned();
        let mut files: Vec<(String, u64)> = files
            .into_iter()
            .filter_map(|(name, size)| Some((name.strip_prefix(&prefix)?.to_owned(), size)))
            .filter(|(name, _)| name.ends_with(".xml"))
            .collect();
        files.sort();
        if let Some((file, _)) = files.iter().find(|(_, size)| *size > MAX_FILE) {
            return Err(FramenetError::TooLarge { file: file.clone(), limit: MAX_FILE });
        }
        let source = Self { path: path.to_owned(), zipped, prefix, files };
        for (folder, expected) in [("frame/", "frame/*.xml"), ("lu/", "lu/*.xml")] {
            if source.xml_files(folder).is_empty() {
                return Err(FramenetError::NotARelease { path: path.to_owned(), expected });
            }
        }
        Ok(source)
    }

    /// The path it was opened with.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Names of the XML files of a folder (as in `lu/`), by the number in their name and then by
    /// name, so that `lu2.xml` comes before `lu10.xml`.
    #[must_use]
    pub fn xml_files(&self, folder: &str) -> Vec<&str> {
        let mut names: Vec<&str> = self
            .files
            .iter()
            .map(|(name, _)| name.as_str())
            .filter(|name| {
                name.strip_prefix(folder)
                    .is_some_and(|rest| rest.ends_with(".xml") && !rest.contains('/'))
            })
            .collect();
        names.sort_by_key(|name| {
            let digits: String = name.chars().filter(char::is_ascii_digit).collect();
            (digits.parse::<u64>().unwrap_or(u64::MAX), *name)
        });
        names
    }

    /// Whether there is a file of that name.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.files.binary_search_by(|(file, _)| file.as_str().cmp(name)).is_ok()
    }

    /// Unpacked bytes of all XML files.
    #[must_use]
    pub fn xml_bytes(&self) -> u64 {
        self.files.iter().map(|(_, size)| size).sum()
    }

    fn size(&self, name: &str) -> u64 {
        let at = self.files.binary_search_by(|(file, _)| file.as_str().cmp(name));
        at.map_or(0, |at| self.files[at].1)
    }

    /// Names in runs of at most so many files and so many unpacked bytes, a larger file by itself.
    #[must_use]
    pub fn chunks<'n>(&self, names: &'n [&'n str], files: usize, bytes: u64) -> Vec<&'n [&'n str]> {
        let mut chunks = Vec::new();
        let (mut start, mut sum) = (0, 0);
        for (at, name) in names.iter().enumerate() {
            let size = self.size(name);
            if at > start && (at - start == files || sum + size > bytes) {
                chunks.push(&names[start..at]);
                (start, sum) = (at, 0);
            }
            sum += size;
        }
        if start < names.len() {
            chunks.push(&names[start..]);
        }
        chunks
    }

    /// A handle that reads files; each thread takes its own.
    ///
    /// # Errors
    /// When the archive can no longer be opened.
    pub fn reader(&self) -> Result<SourceReader<'_>> {
        let archive = if self.zipped { Some(open_archive(&self.path)?) } else { None };
        Ok(SourceReader { source: self, archive })
    }
}

/// Reads files of a [`Source`].
pub struct SourceReader<'a> {
    source: &'a Source,
    archive: Option<ZipArchive<BufReader<File>>>,
}

impl SourceReader<'_> {
    /// The content of a file, by its name below the release's root.
    ///
    /// # Errors
    /// When the file is not there, cannot be read, or fails its checksum.
    pub fn read(&mut self, name: &str) -> Result<Vec<u8>> {
        let full = format!("{}{name}", self.source.prefix);
        let mut content = Vec::new();
        match &mut self.archive {
            Some(archive) => {
                let path = &self.source.path;
                let mut entry = archive.by_name(&full).map_err(|error| damaged(path, error))?;
                // The archive reader ends with an error at the declared size, which was looked at.
                let read = entry.read_to_end(&mut content);
                read.map_err(|error| damaged(path, format!("`{name}`: {error}")))?;
            }
            None => {
                let path = self.source.path.join(&full);
                let read = File::open(&path)
                    .and_then(|file| file.take(MAX_FILE + 1).read_to_end(&mut content));
                read.map_err(|source| FramenetError::Io { path, source })?;
                if content.len() as u64 > MAX_FILE {
                    return Err(FramenetError::TooLarge { file: name.to_owned(), limit: MAX_FILE });
                }
            }
        }
        Ok(content)
    }
}

fn open_archive(path: &Path) -> Result<ZipArchive<BufReader<File>>> {
    let file =
        File::open(path).map_err(|source| FramenetError::Io { path: path.to_owned(), source })?;
    ZipArchive::new(BufReader::new(file)).map_err(|error| damaged(path, error))
}

fn damaged(path: &Path, error: impl ToString) -> FramenetError {
    FramenetError::Archive { path: path.to_owned(), reason: error.to_string() }
}

fn list_archive(path: &Path, files: &mut Vec<(String, u64)>) -> Result<()> {
    let mut archive = open_archive(path)?;
    if archive.has_duplicate_names() {
        return Err(damaged(path, "two of its files have one name"));
    }
    for index in 0..archive.len() {
        let entry = archive.by_index_raw(index).map_err(|error| damaged(path, error))?;
        let name = entry.name().map_err(|error| damaged(path, error))?.replace('\\', "/");
        if leads_out(&name) {
            return Err(damaged(path, format!("its file `{name}` leads out of the archive")));
        }
        if entry.is_symlink() {
            return Err(damaged(path, format!("its file `{name}` is a link")));
        }
        if entry.is_file() {
            files.push((name, entry.size()));
        }
    }
    Ok(())
}

/// Whether a name, put below a directory, could name something outside of it.
fn leads_out(name: &str) -> bool {
    let has_drive = name.as_bytes().get(1) == Some(&b':');
    name.starts_with('/') || has_drive || name.split('/').any(|part| part == "..")
}

/// Lists the files below `root`, which is a canonical path.
fn list_directory(root: &Path, below: &str, files: &mut Vec<(String, u64)>) -> Result<()> {
    let io_at = |path: PathBuf| |source| FramenetError::Io { path, source };
    let dir = root.join(below);
    for entry in std::fs::read_dir(&dir).map_err(io_at(dir.clone()))? {
        let entry = entry.map_err(io_at(dir.clone()))?;
        let Ok(name) = entry.file_name().into_string() else { continue };
        let path = entry.path();
        if entry.file_type().map_err(io_at(path.clone()))?.is_symlink() {
            let target = std::fs::canonicalize(&path).map_err(io_at(path.clone()))?;
            if !target.starts_with(root) {
                return Err(FramenetError::Outside { path, target });
            }
        }
        let metadata = std::fs::metadata(&path).map_err(io_at(path))?;
        if metadata.is_file() {
            files.push((format!("{below}{name}"), metadata.len()));
        } else if metadata.is_dir() && below.matches('/').count() < 2 {
            // A release is one folder deep; a folder that holds a release is two.
            list_directory(root, &format!("{below}{name}/"), files)?;
        }
    }
    Ok(())
}
