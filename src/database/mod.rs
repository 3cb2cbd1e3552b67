//! The database: store and index as one handle.
//!
//! A [`Database`] opened with [`Database::open`] reads, also beside a writer; one opened with
//! [`Database::open_writer`] also writes, and brings the index up to date first when an earlier
//! writer was stopped between the store's commit and the index's.
//!
//! ```no_run
//! use fnstore::database::{Database, ImportOptions};
//! use fnstore::query::Expression;
//!
//! let database = Database::open_writer("store".as_ref())?;
//! database.import("fndata-1.5.zip".as_ref(), &ImportOptions::default(), &mut |_| {})?;
//! for answer in database.query(&Expression::parse("frame=Verification")?)? {
//!     let answer = answer?;
//!     println!("{}: {}", answer.lexunit, answer.sentence.text);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod answer;
mod assemble;
mod catalog;
mod count;
mod entry;
mod error;
mod evaluate;
mod import;
mod lookup;
mod matched;
mod plan;
mod reindex;
mod select;
mod split;
mod stand_in;
mod value;
mod write;

use std::path::{Path, PathBuf};
use std::sync::Mutex;

pub use answer::{Answer, ElementLabel};
pub use catalog::{Catalog, FrameProfile};
pub use count::ValueCount;
pub use error::DatabaseError;
pub use import::{ImportOptions, ImportProgress, ImportReport, default_release_name};
pub use matched::Match;
pub use plan::{Access, Explanation, TermReport};
pub use select::{Answers, Matches};
pub use split::Split;
pub use value::Value;
pub use write::{JournalWrite, Write};

use crate::index::{self, IndexReader, IndexWriter};
use crate::model::Release;
use crate::query::nearest;
use crate::store::Store;

type Result<T> = std::result::Result<T, DatabaseError>;

/// A FrameNet database in a directory.
pub struct Database {
    store: Store,
    dir: PathBuf,
    /// The writer's index; a reader opens the index's last commit for each search instead.
    writer: Option<Mutex<IndexWriter>>,
}

impl Database {
    /// Opens the database in `dir` for reading, beside a writer or alone.
    ///
    /// Records are one view until [`refresh`](Self::refresh) or the next query or count, which
    /// answers as of the moment it starts.
    ///
    /// # Errors
    /// When there is none, or its format is another.
    pub fn open(dir: &Path) -> Result<Self> {
        let store = Store::open_reader(dir)?;
        Ok(Self { store, dir: dir.to_owned(), writer: None })
    }

    /// Opens the database in `dir` for writing, and makes one when there is none.
    ///
    /// # Errors
    /// When another process writes it, or its format is another.
    pub fn open_writer(dir: &Path) -> Result<Self> {
        Self::for_writing(dir, true)
    }

    /// Opens the database in `dir` for writing.
    ///
    /// # Errors
    /// When there is none, another process writes it, or its format is another.
    pub fn open_existing_writer(dir: &Path) -> Result<Self> {
        Self::for_writing(dir, false)
    }

    fn for_writing(dir: &Path, create: bool) -> Result<Self> {
        let store = Store::open_writer(dir, create)?;
        let mut writer = IndexWriter::open(&dir.join("index"))?;
        reindex::catch_up(&store, &mut writer)?;
        Ok(Self { store, dir: dir.to_owned(), writer: Some(Mutex::new(writer)) })
    }

    /// The store below: every record by its id.
    #[must_use]
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// The directory.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Takes up what a writer has committed since this handle was opened or refreshed last.
    ///
    /// # Errors
    /// When the store fails.
    pub fn refresh(&self) -> Result<()> {
        Ok(self.store.refresh()?)
    }

    /// The releases, in order of import.
    ///
    /// # Errors
    /// When the store fails.
    pub fn releases(&self) -> Result<Vec<Release>> {
        Ok(self.store.releases()?)
    }

    /// The release of that name.
    ///
    /// # Errors
    /// When there is none, with the nearest name.
    pub fn release(&self, name: &str) -> Result<Release> {
        let releases = self.releases()?;
        if let Some(release) = releases.iter().find(|release| release.name == name) {
            return Ok(release.clone());
        }
        let names = releases.iter().map(|release| release.name.as_str());
        Err(DatabaseError::UnknownName {
            kind: "release",
            name: name.to_owned(),
            nearest: nearest(name, names).map(str::to_owned),
        })
    }

    /// Bytes on disk: store and index.
    #[must_use]
    pub fn disk_bytes(&self) -> u64 {
        let entries = std::fs::read_dir(self.dir.join("index")).into_iter().flatten().flatten();
        let index: u64 =
            entries.filter_map(|entry| entry.metadata().ok()).map(|metadata| metadata.len()).sum();
        self.store.disk_bytes() + index
    }

    /// The index's last commit, with the revision that it stands for; `None` when there is none, or
    /// none that opens: what a query asks of it, a scan answers too, until a writer repairs it.
    fn index_reader(&self) -> Result<Option<(IndexReader, u64)>> {
        let path = self.dir.join("index");
        let Some(stamp) = index::stamp(&path)? else { return Ok(None) };
        let Ok(reader) = IndexReader::open(&path) else { return Ok(None) };
        // The store must be at least as new as the index, or hits could not be checked.
        self.store.refresh()?;
        Ok(reader.map(|reader| (reader, stamp.revision)))
    }
}
