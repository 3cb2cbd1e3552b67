//! Where a release lies: a zip archive, read without unpacking it, or a directory.
//!
//! A release may come from anywhere, so nothing that it says of itself is believed. A file is read
//! up to a limit and never beyond the size that its archive declares. No name or link leads out of
//! the release.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read};
use std::path::{Path, PathBuf};

use zip::ZipArchive;

use super::{FramenetError, Result, Warning, WarningCode, WarningLog};

/// Folders of a release.
pub const FOLDERS: [&str; 3] = ["frame/", "lu/", "fulltext/"];

/// Files at the top of a release.
pub const TOP_FILES: [&str; 5] =
    ["semTypes.xml", "frameIndex.xml", "luIndex.xml", "fulltextIndex.xml", "frRelation.xml"];

/// Most bytes that are read of one file. The largest of FrameNet 1.5 has 2.3 MB.
const MAX_FILE: u64 = 32 << 20;

/// A release's files.
#[derive(Debug)]
pub struct Source {
    path: PathBuf,
    zipped: bool,
    /// What stands before every name, as in `fndata-1.5/`.
    prefix: String,
    /// The XML files of the release, in order of name.
    files: Vec<Entry>,
    odd: WarningLog,
}

/// A file below the path.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    /// Its name with `/`: below the path while files are listed, below the prefix in a [`Source`].
    name: String,
    /// Unpacked size in bytes.
    size: u64,
    place: ContentPlace,
}

/// Where a file's content lies.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum ContentPlace {
    /// Number in the archive. Its name there may be written with `\`.
    Archive(usize),
    /// On the disk.
    Disk(PathBuf),
}

impl Source {
    /// Opens a zip file or a directory.
    ///
    /// # Errors
    /// When the path cannot be read, the archive is damaged, or it holds no frame file, LU file or
    /// full-text file.
    pub fn open(path: &Path) -> Result<Self> {
        let io = |source| FramenetError::Io { path: path.to_owned(), source };
        let metadata = std::fs::metadata(path).map_err(io)?;
        let zipped = metadata.is_file();
        let mut listing = Listing::default();
        if zipped {
            listing.add_archive(path)?;
        } else {
            let root = std::fs::canonicalize(path).map_err(io)?;
            listing.add_directory(&root, &root, "")?;
        }
        let Listing { files, mut odd } = listing;
        let prefix = root_of(&files);
        let no_release = || FramenetError::NotARelease {
            path: path.to_owned(),
            expected: "frame/*.xml, lu/*.xml or fulltext/*.xml",
        };
        let prefix = prefix.ok_or_else(no_release)?;
        let mut kept = Vec::with_capacity(files.len());
        for mut entry in files {
            if !is_xml(&entry.name) {
                continue;
            }
            match entry.name.strip_prefix(&prefix).and_then(of_a_release) {
                Some(name) => {
                    entry.name = name;
                    kept.push(entry);
                }
                None => note(&mut odd, WarningCode::FileNotRead, &entry.name, || {
                    "no release has an XML file there; not read".to_owned()
                }),
            }
        }
        kept.sort();
        if kept.windows(2).any(|pair| pair[0].name == pair[1].name) {
            return Err(damaged(path, "two of its files have one name"));
        }
        if let Some(entry) = kept.iter().find(|entry| entry.size > MAX_FILE) {
            return Err(FramenetError::TooLarge { file: entry.name.clone(), limit: MAX_FILE });
        }
        let mut source = Self { path: path.to_owned(), zipped, prefix, files: kept, odd };
        source.look_for_folders();
        Ok(source)
    }

    fn look_for_folders(&mut self) {
        for folder in FOLDERS {
            if self.has_folder(folder) || self.lists_none(folder) {
                continue;
            }
            let detail = "the release has no XML file there; read without it".to_owned();
            let file = folder.to_owned();
            self.odd.add(Warning { code: WarningCode::FolderMissing, file, line: 0, detail });
        }
    }

    /// Whether the index of a folder is there and lists nothing, so that the folder is not missed.
    fn lists_none(&self, folder: &str) -> bool {
        let (index, entry) = match folder {
            "frame/" => ("frameIndex.xml", "frame"),
            "lu/" => ("luIndex.xml", "lu"),
            _ => ("fulltextIndex.xml", "document"),
        };
        if !self.has(index) {
            return false;
        }
        let content = self.reader().and_then(|mut reader| reader.read(index));
        let content = content.map(String::from_utf8);
        let name_of = |tag: &str| {
            let end = tag.find(|letter: char| letter.is_whitespace() || "/>".contains(letter));
            let name = &tag[..end.unwrap_or(tag.len())];
            name.rsplit(':').next() == Some(entry)
        };
        matches!(content, Ok(Ok(content)) if !content.split('<').skip(1).any(name_of))
    }

    /// The path it was opened with.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Name of the folder inside the path that holds the release, as in `fndata-1.5`; `None` where
    /// the path itself does.
    #[must_use]
    pub fn folder(&self) -> Option<&str> {
        let folder = self.prefix.trim_end_matches('/').rsplit('/').next()?;
        (!folder.is_empty()).then_some(folder)
    }

    /// What is odd about the files themselves: folders that are not there, links that lead nowhere,
    /// files that are not read.
    #[must_use]
    pub fn oddities(&self) -> &WarningLog {
        &self.odd
    }

    /// Whether a folder (as in `lu/`) holds a file.
    #[must_use]
    pub fn has_folder(&self, folder: &str) -> bool {
        self.files.iter().any(|entry| entry.name.starts_with(folder))
    }

    /// Names of the XML files of a folder (as in `lu/`), by the number in their name and then by
    /// name, so that `lu2.xml` comes before `lu10.xml`.
    #[must_use]
    pub fn xml_files(&self, folder: &str) -> Vec<&str> {
        let names = self.files.iter().map(|entry| entry.name.as_str());
        let mut names: Vec<&str> = names.filter(|name| name.starts_with(folder)).collect();
        names.sort_by_key(|name| {
            let digits: String = name.chars().filter(char::is_ascii_digit).collect();
            (digits.parse::<u64>().unwrap_or(u64::MAX), *name)
        });
        names
    }

    /// Whether there is a file of that name.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.entry(name).is_some()
    }

    /// Unpacked bytes of all XML files.
    #[must_use]
    pub fn xml_bytes(&self) -> u64 {
        self.files.iter().map(|entry| entry.size).sum()
    }

    fn entry(&self, name: &str) -> Option<&Entry> {
        let at = self.files.binary_search_by(|entry| entry.name.as_str().cmp(name));
        at.ok().map(|at| &self.files[at])
    }

    fn size(&self, name: &str) -> u64 {
        self.entry(name).map_or(0, |entry| entry.size)
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
        let path = &self.source.path;
        let Some(entry) = self.source.entry(name) else {
            let path = path.join(format!("{}{name}", self.source.prefix));
            return Err(FramenetError::Io { path, source: io::ErrorKind::NotFound.into() });
        };
        let mut content = Vec::new();
        match &entry.place {
            ContentPlace::Archive(index) => {
                let archive = self.archive.as_mut().expect("the reader of an archive opens it");
                let mut entry = archive.by_index(*index).map_err(|error| damaged(path, error))?;
                // The archive reader ends with an error at the declared size, which was looked at.
                let read = entry.read_to_end(&mut content);
                read.map_err(|error| damaged(path, format!("`{name}`: {error}")))?;
            }
            ContentPlace::Disk(path) => {
                let read = File::open(path)
                    .and_then(|file| file.take(MAX_FILE + 1).read_to_end(&mut content));
                read.map_err(|source| FramenetError::Io { path: path.clone(), source })?;
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
    let mut file = BufReader::new(file);
    // A damaged download still begins as a zip file does.
    let begins = file.fill_buf().is_ok_and(|begin| begin.starts_with(b"PK"));
    ZipArchive::new(file).map_err(|error| match begins {
        true => damaged(path, error),
        false => FramenetError::NotARelease { path: path.to_owned(), expected: "a zip file" },
    })
}

fn damaged(path: &Path, error: impl ToString) -> FramenetError {
    FramenetError::Archive { path: path.to_owned(), reason: error.to_string() }
}

/// The folder that holds the release: the one with most of a release's folders and top files, of
/// these the one with the shortest name.
fn root_of(files: &[Entry]) -> Option<String> {
    let mut found: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let mut has_folder: BTreeSet<&str> = BTreeSet::new();
    for entry in files.iter().filter(|entry| is_xml(&entry.name)) {
        let (folder, file) = entry.name.split_at(entry.name.rfind('/').map_or(0, |at| at + 1));
        if let Some(file) = top_file(file) {
            found.entry(folder).or_default().insert(file);
        }
        for known in FOLDERS {
            let root = folder.strip_suffix(known);
            if let Some(root) = root.filter(|root| root.is_empty() || root.ends_with('/')) {
                found.entry(root).or_default().insert(known);
                has_folder.insert(root);
            }
        }
    }
    let roots = found.into_iter().filter(|(root, _)| has_folder.contains(root));
    let best = roots.min_by_key(|(root, found)| (Reverse(found.len()), root.len()));
    best.map(|(root, _)| root.to_owned())
}

fn is_xml(name: &str) -> bool {
    name.len() > 4
        && name.is_char_boundary(name.len() - 4)
        && name.to_ascii_lowercase().ends_with(".xml")
}

/// The name by which a file at the top of a release is known: some systems write `FRAMEINDEX.XML`.
fn top_file(name: &str) -> Option<&'static str> {
    TOP_FILES.into_iter().find(|known| known.eq_ignore_ascii_case(name))
}

/// The name of an XML file below the root, when it is one that is read.
fn of_a_release(name: &str) -> Option<String> {
    if let Some(known) = top_file(name) {
        return Some(known.to_owned());
    }
    let of_folder =
        |folder: &&str| name.strip_prefix(folder).is_some_and(|file| !file.contains('/'));
    FOLDERS.iter().any(of_folder).then(|| name.to_owned())
}

/// A name of the disk with `/` between its parts: a zip file made on Windows may have been unpacked
/// to files with `\` in their names. What is not UTF-8 is written as `%FF`.
fn written(name: &OsStr) -> String {
    let mut written = String::new();
    for chunk in name.as_encoded_bytes().utf8_chunks() {
        written.push_str(&chunk.valid().replace('\\', "/"));
        for byte in chunk.invalid() {
            written.push_str(&format!("%{byte:02X}"));
        }
    }
    written
}

/// Whether a file or folder of that name is hidden or an operating system's own, as `._lu1.xml`,
/// `.DS_Store`, `__MACOSX` and an editor's `.#lu1.xml` are.
fn is_litter(part: &str) -> bool {
    part.starts_with('.') && part != "." || ["__MACOSX", "Thumbs.db", "desktop.ini"].contains(&part)
}

fn note(odd: &mut WarningLog, code: WarningCode, file: &str, detail: impl FnOnce() -> String) {
    odd.note(code, || Warning { code, file: file.to_owned(), line: 0, detail: detail() });
}

/// The files below a path, with what is passed over.
#[derive(Default)]
struct Listing {
    files: Vec<Entry>,
    odd: WarningLog,
}

impl Listing {
    fn add_archive(&mut self, path: &Path) -> Result<()> {
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
            if !entry.is_file() && !entry.is_symlink() {
                let name = name.trim_end_matches('/');
                if is_xml(name) {
                    self.is_no_file(name, "a folder");
                }
                continue;
            }
            if name.split('/').any(is_litter) {
                self.pass_over(&name);
                continue;
            }
            if entry.is_symlink() {
                return Err(damaged(path, format!("its file `{name}` is a link")));
            }
            self.files.push(Entry {
                name,
                size: entry.size(),
                place: ContentPlace::Archive(index),
            });
        }
        Ok(())
    }

    /// Lists the files of a directory below `root`, which is a canonical path; `below` is what
    /// their names begin with.
    fn add_directory(&mut self, root: &Path, dir: &Path, below: &str) -> Result<()> {
        let io_at = |path: PathBuf| |source| FramenetError::Io { path, source };
        let entries = std::fs::read_dir(dir).map_err(io_at(dir.to_owned()))?;
        let mut entries = entries.collect::<io::Result<Vec<_>>>().map_err(io_at(dir.to_owned()))?;
        entries.sort_by_key(std::fs::DirEntry::file_name);
        for entry in entries {
            let path = entry.path();
            let name = format!("{below}{}", written(&entry.file_name()));
            if name[below.len()..].split('/').any(is_litter) {
                self.pass_over(&name);
                continue;
            }
            if entry.file_type().map_err(io_at(path.clone()))?.is_symlink() {
                let target = match std::fs::canonicalize(&path) {
                    Ok(target) => target,
                    Err(error) => {
                        self.leads_nowhere(&name, &error);
                        continue;
                    }
                };
                if !target.starts_with(root) {
                    return Err(FramenetError::Outside { path, target });
                }
            }
            let metadata = std::fs::metadata(&path).map_err(io_at(path.clone()))?;
            if metadata.is_file() {
                self.files.push(Entry {
                    name,
                    size: metadata.len(),
                    place: ContentPlace::Disk(path),
                });
            } else if metadata.is_dir() {
                self.look_into(root, &path, &name)?;
            } else if is_xml(&name) {
                self.is_no_file(&name, "neither a file nor a folder");
            }
        }
        Ok(())
    }

    fn look_into(&mut self, root: &Path, dir: &Path, name: &str) -> Result<()> {
        if is_xml(name) {
            self.is_no_file(name, "a folder");
        }
        // A release is one folder deep; a folder that holds a release is two.
        if name.matches('/').count() < 2 {
            return self.add_directory(root, dir, &format!("{name}/"));
        }
        note(&mut self.odd, WarningCode::FileNotRead, name, || {
            "a folder further down than any of a release; not looked into".to_owned()
        });
        Ok(())
    }

    fn is_no_file(&mut self, name: &str, what: &str) {
        note(&mut self.odd, WarningCode::FileNotRead, name, || {
            format!("called like a file of a release, and {what}; not read")
        });
    }

    fn pass_over(&mut self, name: &str) {
        note(&mut self.odd, WarningCode::Litter, name, || {
            "left by an operating system or an editor; not read".to_owned()
        });
    }

    fn leads_nowhere(&mut self, name: &str, error: &io::Error) {
        note(&mut self.odd, WarningCode::LinkDangling, name, || {
            format!("the link leads nowhere ({error}); not read")
        });
    }
}

/// Whether a name, put below a directory, could name something outside of it.
fn leads_out(name: &str) -> bool {
    let has_drive = name.as_bytes().get(1) == Some(&b':');
    name.starts_with('/') || has_drive || name.split('/').any(|part| part == "..")
}
