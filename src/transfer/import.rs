//! Importing a release: files in parallel, rows in order.
//!
//! Files are parsed by all cores, chunk by chunk, while one thread writes the chunk before in the
//! order of the files' names. So ids and warnings do not depend on timing, and memory is bounded by
//! a few chunks. Nothing is visible before the last commit.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Mutex;
use std::sync::mpsc::sync_channel;
use std::time::{SystemTime, UNIX_EPOCH};

use rayon::prelude::*;

use super::assemble::{Assembled, Assembler};
use crate::database::{Database, DatabaseError, ReleaseError, Result, reindex};
use crate::framenet::{
    FOLDERS, FrameFile, FramenetError, FullTextFile, LanguageGuess, LuFile, Source, SourceReader,
    TopFile, WarningLog, language_of_file, language_of_name, read_frame_file, read_frame_index,
    read_fulltext_file, read_fulltext_index, read_lu_file, read_lu_index, read_relations,
    read_sem_types,
};
use crate::index::{IndexError, IndexWriter};
use crate::model::{Origin, Release, ReleaseCounts, WrittenNumbers, is_name};

/// How a release is imported.
#[derive(Debug, Clone, Default)]
pub struct ImportOptions {
    /// Name of the release; by default that of the file or folder, where `fndata-1.5` becomes
    /// `bfn-1.5`.
    pub release: Option<String>,
    /// Language tag; by default `en`, with a warning where the release speaks for another.
    pub language: Option<String>,
    /// What to record as the release's source, which has no name that says anything of it (a pipe);
    /// by default the path.
    pub source: Option<String>,
    /// Whether the first warning ends the import.
    pub strict: bool,
}

/// How far an import is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ImportProgress {
    /// Files read.
    pub files: usize,
    /// Files to read.
    pub of: usize,
}

/// What an import did.
#[derive(Debug)]
#[non_exhaustive]
pub struct ImportReport {
    /// The release, with its counts.
    pub release: Release,
    /// Number of frame-evoking sets of each origin and status.
    pub statuses: BTreeMap<(Origin, String), u64>,
    /// What was odd.
    pub warnings: WarningLog,
    /// Bytes of store and index on disk.
    pub disk_bytes: u64,
    /// Why the index could not be brought up to the import, when it could not: a full disk. The
    /// release is in all the same; the next writer brings the index up.
    pub index_error: Option<IndexError>,
}

/// The name that a release gets from its file: `fndata-1.5.zip` is `bfn-1.5` (Berkeley FrameNet),
/// anything else is called after its file or directory.
#[must_use]
pub fn default_release_name(path: &Path) -> String {
    let absolute = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let stem = if absolute.is_dir() { absolute.file_name() } else { absolute.file_stem() };
    let stem = stem.map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    called_after(&stem)
}

fn called_after(stem: &str) -> String {
    match stem.strip_prefix("fndata-") {
        Some(version) => format!("bfn-{version}"),
        None => stem.to_owned(),
    }
}

/// The name of a release: as given, or by its path; what came through a pipe is called after the
/// `folder` that holds it there.
pub(super) fn release_name(
    options: &ImportOptions,
    path: &Path,
    folder: Option<&str>,
) -> Result<String> {
    let name = match (&options.release, &options.source) {
        (Some(name), _) => name.clone(),
        (None, None) => default_release_name(path),
        (None, Some(given)) => match folder {
            Some(folder) => called_after(folder),
            None => {
                return Err(DatabaseError::Release(ReleaseError::Unnamed {
                    source_name: given.clone(),
                }));
            }
        },
    };
    check_release_name(&name)?;
    Ok(name)
}

/// What the names of a release, and what its first files declare, say of its language.
fn language_of_files(source: &Source) -> Result<Option<(String, LanguageGuess)>> {
    let path = std::fs::canonicalize(source.path()).unwrap_or_else(|_| source.path().to_owned());
    let own = path.file_name().map(|name| name.to_string_lossy().into_owned());
    for name in own.into_iter().chain(source.folder().map(str::to_owned)) {
        if let Some(guess) = language_of_name(&name) {
            return Ok(Some((name, guess)));
        }
    }
    let mut reader = source.reader()?;
    for folder in FOLDERS {
        if let Some(file) = source.xml_files(folder).first()
            && let Some(guess) = language_of_file(file, &reader.read(file)?)?
        {
            return Ok(Some(((*file).to_owned(), guess)));
        }
    }
    Ok(None)
}

/// Refuses a name that no release can have.
pub(super) fn check_release_name(name: &str) -> Result<()> {
    if is_name(name) {
        return Ok(());
    }
    Err(DatabaseError::Release(ReleaseError::Name { name: name.to_owned() }))
}

/// Files parsed together: enough to keep all cores busy, few enough to hold two chunks in memory.
const CHUNK: usize = 48;

/// Bytes of XML parsed together at most, unless one file has more. What is parsed takes a few times
/// as much, and a release of huge files must not fill memory.
const CHUNK_BYTES: u64 = 16 << 20;

impl Database {
    /// A release without rows, under a name that the database does not have yet.
    pub(super) fn new_release(
        &self,
        name: String,
        path: &Path,
        source_bytes: u64,
        options: &ImportOptions,
    ) -> Result<Release> {
        self.require_free_name(&name)?;
        Ok(Release {
            id: self.store.begin_release()?,
            name,
            language: options.language.clone().unwrap_or_else(|| "en".to_owned()),
            source: options.source.clone().unwrap_or_else(|| path.display().to_string()),
            source_bytes,
            imported: SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |age| age.as_secs()),
            counts: ReleaseCounts::default(),
        })
    }

    /// Imports a FrameNet release from a zip file or a directory.
    ///
    /// All or nothing: a failed import leaves the database as it was.
    ///
    /// # Errors
    /// When the path holds no release, a file is malformed, a release of the name is there already,
    /// or the handle is a reader's.
    pub fn import(
        &self,
        path: &Path,
        options: &ImportOptions,
        progress: &mut dyn FnMut(ImportProgress),
    ) -> Result<ImportReport> {
        self.import_with(path, options, &mut |at| {
            progress(at);
            ControlFlow::Continue(())
        })
    }

    /// As [`import`](Self::import). `progress` is asked after each chunk of files, on the caller's
    /// thread; `Break` ends the import.
    ///
    /// # Errors
    /// As [`import`](Self::import), and [`ReleaseError::Stopped`] after `Break`.
    pub fn import_with(
        &self,
        path: &Path,
        options: &ImportOptions,
        progress: &mut dyn FnMut(ImportProgress) -> ControlFlow<()>,
    ) -> Result<ImportReport> {
        let mut index = self.lock_writer()?;
        let source = Source::open(path)?;
        let name = release_name(options, path, source.folder())?;
        // The import's commit stands for everything before it, too.
        reindex::catch_up(&self.store, &mut index)?;
        let release = self.new_release(name, path, source.xml_bytes(), options)?;
        let outcome = self.import_files(&source, release, options, &mut index, progress);
        if outcome.is_err() {
            // What went wrong first is what there is to say; the next writing recovers the index.
            let _ = index.rollback();
        }
        outcome
    }

    fn import_files(
        &self,
        source: &Source,
        mut release: Release,
        options: &ImportOptions,
        index: &mut IndexWriter,
        progress: &mut dyn FnMut(ImportProgress) -> ControlFlow<()>,
    ) -> Result<ImportReport> {
        let frame_files = source.xml_files("frame/");
        let lu_files = source.xml_files("lu/");
        let fulltext_files = source.xml_files("fulltext/");
        let of = frame_files.len() + lu_files.len() + fulltext_files.len();
        let mut files = 0;
        let mut advance = |count: usize| {
            files += count;
            match progress(ImportProgress { files, of }) {
                ControlFlow::Continue(()) => Ok(()),
                ControlFlow::Break(()) => Err(DatabaseError::Release(ReleaseError::Stopped)),
            }
        };
        advance(0)?;

        let mut assembler = Assembler::new(&self.store, index, &release, options.strict);
        assembler.add_source(source)?;
        let asks = options.language.is_none();
        let by_files = if asks { language_of_files(source)? } else { None };
        read_before_frames(source, &mut assembler)?;
        add_all::<FrameFile>(source, &frame_files, &mut assembler, &mut advance)?;
        read_after_frames(source, &mut assembler)?;
        assembler.write_frames()?;
        add_all::<LuFile>(source, &lu_files, &mut assembler, &mut advance)?;
        add_all::<FullTextFile>(source, &fulltext_files, &mut assembler, &mut advance)?;
        let by_letters = || assembler.language_of_letters();
        if let Some(found) = by_files.or_else(by_letters).filter(|_| asks) {
            assembler.ask_for_language(&release.language, found)?;
        }
        let Assembled { counts, statuses, warnings } = assembler.finish()?;
        release.counts = counts;
        let mut listed = false;
        let committed = index.commit_with(|| -> Result<u64> {
            let revision = self.store.list_release(&release)?;
            listed = true;
            Ok(revision)
        });
        // Once listed, the release is in: an index that could not follow is behind, and queries and
        // the next writer make up for that.
        let index_error = match committed {
            Err(DatabaseError::Index(error)) if listed => {
                let _ = index.rollback();
                Some(error)
            }
            outcome => outcome.map(|()| None)?,
        };
        Ok(ImportReport { release, statuses, warnings, disk_bytes: self.disk_bytes(), index_error })
    }
}

/// Reads a file at the top of a release, when it is there.
fn top_file<T>(
    source: &Source,
    assembler: &mut Assembler<'_>,
    name: &'static str,
    read: impl FnOnce(&str, &[u8], &WrittenNumbers) -> std::result::Result<TopFile<T>, FramenetError>,
) -> Result<Option<TopFile<T>>> {
    if !source.has(name) {
        assembler.add_missing_file(name)?;
        return Ok(None);
    }
    let content = source.reader()?.read(name)?;
    let file = read(name, &content, assembler.numbers())?;
    assembler.take_numbers(&file.numbers);
    Ok(Some(file))
}

/// Reads the top files that frame files are held against.
fn read_before_frames(source: &Source, assembler: &mut Assembler<'_>) -> Result<()> {
    if let Some(file) = top_file(source, assembler, "semTypes.xml", read_sem_types)? {
        assembler.add_sem_types(file)?;
    }
    if let Some(file) = top_file(source, assembler, "frameIndex.xml", read_frame_index)? {
        assembler.add_frame_index(file)?;
    }
    Ok(())
}

/// Reads the top files that name frames and LUs.
fn read_after_frames(source: &Source, assembler: &mut Assembler<'_>) -> Result<()> {
    if let Some(file) = top_file(source, assembler, "luIndex.xml", read_lu_index)? {
        assembler.add_lu_index(file)?;
    }
    if let Some(file) = top_file(source, assembler, "fulltextIndex.xml", read_fulltext_index)? {
        assembler.add_fulltext_index(file)?;
    }
    if let Some(file) = top_file(source, assembler, "frRelation.xml", read_relations)? {
        assembler.add_relations(file)?;
    }
    Ok(())
}

/// A file of one of a release's folders.
trait ReleaseFile: Sized + Send {
    fn read(
        file: &str,
        content: &[u8],
        numbers: &WrittenNumbers,
    ) -> std::result::Result<Self, FramenetError>;
    /// Its name inside the release.
    fn file(&self) -> &str;
    /// What the fresh numbers that it brings stand for.
    fn numbers(&self) -> &WrittenNumbers;
    fn add(self, assembler: &mut Assembler<'_>) -> Result<()>;
}

macro_rules! release_files {
    ($($file:ty, $read:ident, $add:ident;)*) => {$(
        impl ReleaseFile for $file {
            fn read(
                file: &str,
                content: &[u8],
                numbers: &WrittenNumbers,
            ) -> std::result::Result<Self, FramenetError> {
                $read(file, content, numbers)
            }

            fn file(&self) -> &str {
                &self.file
            }

            fn numbers(&self) -> &WrittenNumbers {
                &self.numbers
            }

            fn add(self, assembler: &mut Assembler<'_>) -> Result<()> {
                assembler.$add(self)
            }
        }
    )*};
}

release_files! {
    FrameFile, read_frame_file, add_frame_file;
    LuFile, read_lu_file, add_lu_file;
    FullTextFile, read_fulltext_file, add_fulltext_file;
}

/// Adds the files of a folder.
///
/// They are read beside the fresh numbers that were known before the first of them, so that what
/// one says does not depend on how far the others are. A file whose fresh number stands for
/// something else by the time it is added is read once more.
fn add_all<F: ReleaseFile>(
    source: &Source,
    names: &[&str],
    assembler: &mut Assembler<'_>,
    advance: &mut dyn FnMut(usize) -> Result<()>,
) -> Result<()> {
    let numbers = assembler.numbers().clone();
    let read = |file: &str, content: &[u8]| F::read(file, content, &numbers);
    let mut again = source.reader()?;
    in_chunks(source, names, read, |chunk| {
        advance(chunk.len())?;
        for mut file in chunk {
            let name = file.file().to_owned();
            if !assembler.take_numbers(file.numbers()) {
                file = F::read(&name, &again.read(&name)?, assembler.numbers())?;
                assembler.take_numbers(file.numbers());
            }
            file.add(assembler).map_err(|error| error.in_file(&name, 0))?;
        }
        assembler.flush()
    })
}

/// Reads and parses files by all cores and hands them on in order, chunk by chunk.
fn in_chunks<T: Send>(
    source: &Source,
    names: &[&str],
    parse: impl Fn(&str, &[u8]) -> std::result::Result<T, FramenetError> + Sync,
    mut take: impl FnMut(Vec<T>) -> Result<()>,
) -> Result<()> {
    let readers: Mutex<Vec<SourceReader<'_>>> = Mutex::new(Vec::new());
    let read_one = |name: &&str| -> std::result::Result<T, FramenetError> {
        let spare = readers.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).pop();
        let mut reader = match spare {
            Some(reader) => reader,
            None => source.reader()?,
        };
        let content = reader.read(name)?;
        readers.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).push(reader);
        parse(name, &content)
    };
    std::thread::scope(|scope| {
        let (sender, receiver) = sync_channel(1);
        scope.spawn(move || {
            for chunk in source.chunks(names, CHUNK, CHUNK_BYTES) {
                let parsed: std::result::Result<Vec<T>, FramenetError> =
                    chunk.par_iter().map(read_one).collect();
                let failed = parsed.is_err();
                // The receiver hangs up when it fails; then nothing more is wanted.
                if sender.send(parsed).is_err() || failed {
                    return;
                }
            }
        });
        for parsed in receiver {
            take(parsed?)?;
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn berkeley_releases_are_called_after_their_version() {
        assert_eq!(default_release_name("x/fndata-1.5.zip".as_ref()), "bfn-1.5");
        assert_eq!(default_release_name("x/mini-framenet".as_ref()), "mini-framenet");
    }
}
