//! The store: FrameNet and what grew from it, in RocksDB.
//!
//! RocksDB is the truth; the Tantivy index beside it can always be rebuilt. Keys are laid out in
//! [`key`](self) (written down in `schema/keys.md`), values in versioned records
//! (`schema/records.md`). Nothing of RocksDB or bincode shows outside this folder.
//!
//! A commit is one batch with the next revision number, synced before it returns. An import writes
//! its rows in bulk under a release number that is not listed; one last commit lists it. Rows of an
//! unlisted release are invisible, and the next import removes them.

mod batch;
mod engine;
mod error;
mod estimate;
mod key;
mod lock;
mod read;
mod record;

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use crate::model::{AnnotationSetId, FrameId, LuId, RecipeId, Release, ReleaseId, SentenceId};
pub use batch::Batch;
pub use engine::FORMAT;
use engine::{Engine, Family};
pub use error::StoreError;
pub use estimate::Scope;
pub use key::NameKind;
use key::{ChangeKey, Key, Prefix};
pub use lock::Holder;
use record::{ChangeRecord, JournalRecord, MetaRecord, RecipeRecord, ReleaseRecord};
use rocksdb::WriteBatch;

type Result<T> = std::result::Result<T, StoreError>;

/// Key of the store's book in `meta`.
const BOOK_KEY: &[u8] = b"book";

/// An open store.
pub struct Store {
    engine: Engine,
    dir: PathBuf,
    /// Serialises commits of one process: each takes the next revision.
    commit: Mutex<()>,
}

/// Where an annotation set is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SetLocation {
    /// Its frame.
    pub frame: FrameId,
    /// Its LU.
    pub lu: LuId,
    /// Its sentence.
    pub sentence: SentenceId,
}

/// How far the chain of a seed's target has come under a recipe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournalEntry {
    /// The last finished round.
    pub round: u16,
    /// Why the chain ended before its time; `None` while more rounds may follow.
    pub end: Option<String>,
    /// The sets of the chain, in order of round.
    pub chain: Vec<AnnotationSetId>,
}

impl From<&JournalEntry> for JournalRecord {
    fn from(entry: &JournalEntry) -> Self {
        Self {
            round: entry.round,
            end: entry.end.clone(),
            chain: entry.chain.iter().map(|set| set.bits()).collect(),
        }
    }
}

impl TryFrom<JournalRecord> for JournalEntry {
    type Error = String;

    fn try_from(record: JournalRecord) -> std::result::Result<Self, String> {
        let set = |bits: u64| AnnotationSetId::from_bits(bits).ok_or(format!("set {bits}"));
        let chain = record.chain.into_iter().map(set).collect::<std::result::Result<_, _>>()?;
        Ok(Self { round: record.round, end: record.end, chain })
    }
}

/// What a commit touched.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Change {
    /// A release became visible, with everything in it.
    ReleaseAdded(ReleaseId),
    /// A set was written.
    SetWritten(ReleaseId, AnnotationSetId, SetLocation),
    /// An LU was written.
    LexUnitWritten(ReleaseId, FrameId, LuId),
}

impl TryFrom<ChangeRecord> for Change {
    type Error = String;

    fn try_from(record: ChangeRecord) -> std::result::Result<Self, String> {
        Ok(match record {
            ChangeRecord::ReleaseAdded(release) => Self::ReleaseAdded(ReleaseId(release)),
            ChangeRecord::SetWritten(release, frame, lu, sentence, set) => Self::SetWritten(
                ReleaseId(release),
                AnnotationSetId::from_bits(set).ok_or(format!("set {set}"))?,
                SetLocation {
                    frame: FrameId(frame),
                    lu: LuId(lu),
                    sentence: SentenceId::from_bits(sentence)
                        .ok_or(format!("sentence {sentence}"))?,
                },
            ),
            ChangeRecord::LexUnitWritten(release, frame, lu) => {
                Self::LexUnitWritten(ReleaseId(release), FrameId(frame), LuId(lu))
            }
        })
    }
}

impl Store {
    /// Whether a store lies in `dir`.
    #[must_use]
    pub fn exists(dir: &Path) -> bool {
        engine::exists(dir)
    }

    /// Opens the store in `dir` for writing, making one when there is none and `create` says so.
    ///
    /// # Errors
    /// When another process writes it, its format is another, or there is none to open.
    pub fn open_writer(dir: &Path, create: bool) -> Result<Self> {
        let engine = Engine::open_writer(dir, create)?;
        Ok(Self { engine, dir: dir.to_owned(), commit: Mutex::new(()) })
    }

    /// Opens the store in `dir` for reading, beside a writer or alone.
    ///
    /// # Errors
    /// When there is none, or its format is another.
    pub fn open_reader(dir: &Path) -> Result<Self> {
        let engine = Engine::open_reader(dir)?;
        Ok(Self { engine, dir: dir.to_owned(), commit: Mutex::new(()) })
    }

    /// The directory.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Whether this handle may write.
    #[must_use]
    pub fn is_writer(&self) -> bool {
        self.engine.is_writer()
    }

    /// Takes up what was committed since the handle was opened or refreshed last.
    ///
    /// # Errors
    /// When the engine fails.
    pub fn refresh(&self) -> Result<()> {
        self.engine.refresh()
    }

    /// Number of the last commit.
    ///
    /// # Errors
    /// When the engine fails.
    pub fn revision(&self) -> Result<u64> {
        Ok(self.book()?.revision)
    }

    fn book(&self) -> Result<MetaRecord> {
        match self.engine.get(Family::Meta, BOOK_KEY)? {
            Some(value) => record::decode(&value)
                .map_err(|reason| StoreError::damaged(Family::Meta.name(), BOOK_KEY, reason)),
            None => {
                let version = env!("CARGO_PKG_VERSION").to_owned();
                Ok(MetaRecord {
                    created_by: version.clone(),
                    written_by: version,
                    revision: 0,
                    next_release: 1,
                    releases: Vec::new(),
                })
            }
        }
    }

    /// Starts a batch of rows of a release.
    #[must_use]
    pub fn batch(&self, release: ReleaseId) -> Batch<'_> {
        Batch::new(self, release)
    }

    /// Commits a batch: all of it or nothing, safe once this returns. Gives the new revision.
    ///
    /// # Errors
    /// When the engine fails, or the handle is a reader's.
    pub fn commit(&self, batch: Batch<'_>) -> Result<u64> {
        let Batch { rows, changes, .. } = batch;
        self.commit_with(rows, &changes, |_| {})
    }

    fn commit_with(
        &self,
        mut rows: WriteBatch,
        changes: &[ChangeRecord],
        edit: impl FnOnce(&mut MetaRecord),
    ) -> Result<u64> {
        let _one_at_a_time = self.commit.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let mut book = self.book()?;
        book.revision += 1;
        env!("CARGO_PKG_VERSION").clone_into(&mut book.written_by);
        edit(&mut book);
        for (ordinal, change) in (0_u32..).zip(changes) {
            let key = ChangeKey { revision: book.revision, ordinal }.encode();
            self.engine.put(&mut rows, Family::Change, &key, &record::encode(change))?;
        }
        self.engine.put(&mut rows, Family::Meta, BOOK_KEY, &record::encode(&book))?;
        self.engine.write_synced(rows)?;
        Ok(book.revision)
    }

    /// Takes the number for a new release, and removes what an unfinished import left under it.
    ///
    /// # Errors
    /// When the engine fails, or the handle is a reader's.
    pub fn begin_release(&self) -> Result<ReleaseId> {
        let next = ReleaseId(self.book()?.next_release);
        let start = Prefix::of(next).bytes();
        let mut rows = WriteBatch::default();
        for family in Family::ALL.into_iter().filter(|family| family.by_release()) {
            if self.engine.scan_from(family, start.clone())?.next().is_some() {
                self.engine.delete_from(&mut rows, family, &start, &[0xff; 3])?;
            }
        }
        self.engine.write_synced(rows)?;
        Ok(next)
    }

    /// Writes rows of a release that is not listed: fast, invisible, and safe only once the release
    /// is listed.
    ///
    /// # Errors
    /// When the engine fails, or the handle is a reader's.
    pub fn write_unlisted(&self, batch: Batch<'_>) -> Result<()> {
        self.engine.write_bulk(batch.rows)
    }

    /// Lists a release: from here on it is visible, whole. Gives the new revision.
    ///
    /// # Errors
    /// When the engine fails, or the handle is a reader's.
    pub fn list_release(&self, release: &Release) -> Result<u64> {
        self.engine.flush()?;
        let changes = [ChangeRecord::ReleaseAdded(release.id.0)];
        self.commit_with(WriteBatch::default(), &changes, |book| {
            book.releases.push(ReleaseRecord::from(release));
            book.next_release = release.id.0 + 1;
        })
    }

    /// The number of a recipe, which is written down when it is new.
    ///
    /// `description` is the whole recipe as JSON; its fingerprint says which recipes are the same.
    ///
    /// # Errors
    /// When the engine fails, or the recipe is new and the handle is a reader's.
    pub fn recipe(&self, fingerprint: [u8; 16], description: &str) -> Result<RecipeId> {
        let known = self.recipes()?;
        if let Some((id, ..)) = known.iter().find(|(_, known, _)| *known == fingerprint) {
            return Ok(*id);
        }
        let id = RecipeId(known.last().map_or(1, |(id, ..)| id.0 + 1));
        // A recipe belongs to no release; the batch's own release number stands in no row of it.
        let mut batch = self.batch(ReleaseId(0));
        batch.put_recipe(id, &RecipeRecord { fingerprint, description: description.to_owned() })?;
        self.commit(batch)?;
        Ok(id)
    }

    /// Bytes of the store's files on disk, the index not counted.
    #[must_use]
    pub fn disk_bytes(&self) -> u64 {
        let entries = std::fs::read_dir(self.dir.join("db")).into_iter().flatten().flatten();
        entries.filter_map(|entry| entry.metadata().ok()).map(|metadata| metadata.len()).sum()
    }
}
