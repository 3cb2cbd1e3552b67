//! Where a release lies: a zip archive, read without unpacking it, or a directory.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use zip::ZipArchive;

use super::FramenetError;

type Result<T> = std::result::Result<T, FramenetError>;

/// The file whose folder is a release's root.
const ROOT_FILE: &str = "frameIndex.xml";

/// A release's files.
#[derive(Debug)]
pub struct Source {
    path: PathBuf,
    zipped: bool,
    /// What stands before every name, as in `fndata-1.5/`.
    prefix: String,
    /// Names below the prefix with `/`, with unpacked sizes in bytes, in order of name.
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
            let mut archive = open_archive(path)?;
            for index in 0..archive.len() {
                let entry = archive.by_index_raw(index).map_err(|error| damaged(path, error))?;
                if entry.is_file() {
                    let name = entry.name().map_err(|error| damaged(path, error))?;
                    files.push((name.replace('\\', "/"), entry.size()));
                }
            }
        } else {
            list_directory(path, "", &mut files).map_err(io)?;
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
            .collect();
        files.sort();
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
        let xml = self.files.iter().filter(|(name, _)| name.ends_with(".xml"));
        xml.map(|(_, size)| size).sum()
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
                entry.read_to_end(&mut content).map_err(|error| FramenetError::Archive {
                    path: path.clone(),
                    reason: format!("`{name}`: {error}"),
                })?;
            }
            None => {
                let path = self.source.path.join(&full);
                content = std::fs::read(&path)
                    .map_err(|source| FramenetError::Io { path: path.clone(), source })?;
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

fn list_directory(root: &Path, below: &str, files: &mut Vec<(String, u64)>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(root.join(below))? {
        let entry = entry?;
        let Ok(name) = entry.file_name().into_string() else { continue };
        let metadata = std::fs::metadata(entry.path())?;
        if metadata.is_file() {
            files.push((format!("{below}{name}"), metadata.len()));
        } else if metadata.is_dir() && below.matches('/').count() < 2 {
            // A release is one folder deep; a folder that holds a release is two.
            list_directory(root, &format!("{below}{name}/"), files)?;
        }
    }
    Ok(())
}
