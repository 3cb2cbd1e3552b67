//! The store: FrameNet and what grew from it, in RocksDB.
//!
//! RocksDB is the truth; the Tantivy index beside it can always be rebuilt. Keys are laid out in
//! [`key`](self) (written down in `schema/keys.md`), values in versioned records
//! (`schema/records.md`). No signature outside this folder names RocksDB or bincode. The types of
//! [`crate::model`] are encoded by bincode's traits, which are no part of the public interface.
//!
//! A commit is one batch with the next revision number, synced before it returns. An import writes
//! its rows in bulk under a release number that is not listed; one last commit lists it. Rows of an
//! unlisted release are invisible, and the next import removes them.

mod acknowledged;
mod added;
mod batch;
mod change;
mod commit_record;
mod copy;
mod count_key;
mod counts;
mod current_sums;
mod discoveries;
mod engine;
mod error;
mod estimate;
mod evidence;
mod evidence_changes;
mod evidence_check;
mod evidence_row;
mod family;
mod foreign;
mod groups;
mod held_directory;
mod history;
mod identity;
mod in_order;
mod kept_evidence;
mod key;
mod links;
mod lock;
mod manifest;
mod merged;
mod names;
mod numbers;
mod own_ids;
mod packing;
mod present;
#[cfg(feature = "neural")]
mod proposed;
mod ranges;
mod read;
mod record;
mod recount;
mod removal;
mod repair;
mod replace;
mod resources;
mod row_fault;
mod row_list;
mod rows;
mod scratch;
mod set_rows;
mod site;
mod tally;
mod touched;
mod tuning;
mod view;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use crate::model::{
    AnnotationSet, AnnotationSetId, FrameId, LuId, RecipeId, Release, ReleaseId, SentenceId,
};
use acknowledged::Acknowledged;
pub use added::AddedCounts;
pub use batch::Batch;
use batch::Parts;
pub use change::{Action, Change, Subject, SubjectKind};
pub(crate) use change::{of_release, only};
pub(crate) use count_key::SetCount;
use counts::{Changes, Gathered};
use current_sums::Watch;
pub use engine::FORMAT;
pub(crate) use engine::require_format;
use engine::{Engine, Opening};
pub use error::StoreError;
pub use estimate::SetRange;
#[cfg(feature = "neural")]
pub(crate) use evidence::{LuEvidence, SetEvidence};
use family::Family;
pub(crate) use groups::SentenceGroup;
pub(crate) use held_directory::HeldDirectory;
pub use history::Retention;
pub(crate) use history::{Image, RowId};
pub use identity::Identity;
pub(crate) use in_order::in_order;
pub use key::NameKind;
use key::{ChangeKey, Key, Prefix};
pub use lock::Holder;
pub(crate) use ranges::{KeyRange, RowsPart};
pub use record::Commit;
use record::{ChangeRecord, MetaRecord, OwnIdsRecord};
pub(crate) use recount::Recount;
pub(crate) use repair::Unreadable;
pub use replace::Replacement;
use rocksdb::WriteBatch;
pub use row_fault::{RowFault, RowFaultKind};
pub use rows::{LayoutOf, Row, RowContent, decode_row};
pub use set_rows::SetPlace;
pub(crate) use tally::Tallied;

type Result<T> = std::result::Result<T, StoreError>;

/// Key of the store's book in `meta`.
const BOOK_KEY: &[u8] = b"book";

/// Key of the count of the store's own numbers in `meta`.
const OWN_IDS_KEY: &[u8] = b"own_ids";

/// Key in `meta` of how long before-images are kept.
const HISTORY_KEY: &[u8] = b"history";

/// An open store.
pub struct Store {
    engine: Engine,
    dir: PathBuf,
    /// Of a writer's handle.
    acknowledged: Option<Acknowledged>,
    /// Serialises commits of one process: each takes the next revision.
    commit: Mutex<()>,
    /// Numbers given out so far, committed or not; read when first asked for.
    own_ids: Mutex<Option<OwnIdsRecord>>,
    /// Who commits.
    author: Mutex<String>,
    /// What the rows of releases that are not listed yet add up to; `None` where that is not known.
    unlisted: Mutex<BTreeMap<ReleaseId, Option<Gathered>>>,
    watch: Mutex<Watch>,
    /// Whether counts and evidence are of the last commit, as far as a reader has looked.
    are_current: Mutex<Option<bool>>,
    /// Counts and evidence that could not be made.
    given_up: Mutex<BTreeSet<(Family, ReleaseId)>>,
}

/// Where an annotation set is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SetLocation {
    /// Its frame.
    pub frame: FrameId,
    /// Its LU.
    pub lu: LuId,
    /// Its sentence.
    pub sentence: SentenceId,
}

impl SetLocation {
    /// Where a set belongs.
    #[must_use]
    pub fn of(set: &AnnotationSet) -> Self {
        Self { frame: set.frame, lu: set.lu, sentence: set.sentence }
    }
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

/// What a family of rows takes on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FamilySize {
    /// Its name, as in `schema/keys.md`.
    pub family: &'static str,
    /// About how many rows it has: a row that was overwritten may count twice.
    pub rows: u64,
    /// Bytes of its files; rows that are in the log alone do not count.
    pub bytes: u64,
}

/// What the store says of itself; of one that was never committed to, how it begins.
fn book_of(engine: &Engine) -> Result<MetaRecord> {
    match engine.get(Family::Meta, BOOK_KEY)? {
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

impl Store {
    /// Whether a store lies in `dir`.
    #[must_use]
    pub fn exists(dir: &Path) -> bool {
        present::exists(dir)
    }

    /// Opens the store in `dir` for writing, making one when there is none and `create` says so.
    ///
    /// # Errors
    /// When another process writes it, its format is another, or there is none to open.
    pub fn open_writer(dir: &Path, create: bool) -> Result<Self> {
        let dir = site::fixed(dir)?;
        Self::over(Engine::open_writer(&dir, Opening { create, ..Opening::default() })?, dir)
    }

    /// Opens the store in `dir` for writing even when it has lost commits that were acknowledged
    /// ([`StoreError::CommitsLost`]), which is forgotten thereby.
    ///
    /// # Errors
    /// Otherwise as [`open_writer`](Self::open_writer).
    pub fn open_writer_despite_loss(dir: &Path) -> Result<Self> {
        let dir = site::fixed(dir)?;
        let opening = Opening { despite_loss: true, ..Opening::default() };
        Self::over(Engine::open_writer(&dir, opening)?, dir)
    }

    /// Opens the store in `dir` for reading, beside a writer or alone.
    ///
    /// # Errors
    /// When there is none, or its format is another.
    pub fn open_reader(dir: &Path) -> Result<Self> {
        let dir = site::fixed(dir)?;
        Self::over(Engine::open_reader(&dir)?, dir)
    }

    fn over(engine: Engine, dir: PathBuf) -> Result<Self> {
        let mut acknowledged = None;
        if engine.is_writer() {
            // A disk without room for a line is no reason not to open: its absence says nothing.
            acknowledged = Acknowledged::begin(&dir, book_of(&engine)?.revision).ok();
        }
        let (commit, own_ids, author) = Default::default();
        let (unlisted, watch, are_current, given_up) = Default::default();
        let opened = Self {
            engine,
            dir,
            acknowledged,
            commit,
            own_ids,
            author,
            unlisted,
            watch,
            are_current,
            given_up,
        };
        Ok(opened)
    }

    /// Closes the store, and removes it when this handle made it and nothing was committed to it:
    /// what a first import that failed wants. Nobody else can write it meanwhile. The directory
    /// stays, with the lock's file in it. Says whether the store was removed.
    ///
    /// # Errors
    /// When the engine fails, or something cannot be removed.
    pub fn discard_if_new(self) -> Result<bool> {
        if !self.engine.is_new() || self.revision()? > 0 {
            return Ok(false);
        }
        let Self { engine, dir, .. } = self;
        engine.discard(&dir)?;
        Ok(true)
    }

    /// The directory; its path is absolute.
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
        let refreshed = self.engine.refresh();
        self.forget_current_sums();
        refreshed
    }

    /// A reader's handle on what this one shows now, which stays as it is; `None` of a writer's.
    pub(crate) fn pinned(&self) -> Result<Option<Self>> {
        let pinned = self.engine.pinned().map(|engine| Self::over(engine, self.dir.clone()));
        pinned.transpose()
    }

    /// The directory that has the store's name now: another one after a restore.
    pub(crate) fn place(&self) -> Option<HeldDirectory> {
        self.engine.place()
    }

    /// Whether what this handle shows is the store in that directory.
    pub(crate) fn is_of(&self, place: &HeldDirectory) -> bool {
        self.engine.is_of(place)
    }

    /// The last revision that the store's writer acknowledged, as far as is known: what a commit
    /// changes that others can look at for nothing.
    pub(crate) fn acknowledged(&self) -> Option<u64> {
        acknowledged::last(&self.dir)
    }

    /// The store's format, `(major, minor)`.
    ///
    /// # Errors
    /// When the engine fails, or the format is another than this build's.
    pub fn format(&self) -> Result<(u16, u16)> {
        Ok(self.engine.check_format(&self.dir)?.unwrap_or(FORMAT))
    }

    /// Number of the last commit.
    ///
    /// # Errors
    /// When the engine fails.
    pub fn revision(&self) -> Result<u64> {
        Ok(self.book()?.revision)
    }

    fn book(&self) -> Result<MetaRecord> {
        book_of(&self.engine)
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
        let Batch { rows, changes, counts, keyed, touched, history, .. } = batch;
        self.commit_with((rows, keyed, touched, history), changes, |book| {
            for listed in &mut book.releases {
                if let Some([gained, lost]) = counts.get(&listed.id) {
                    listed.counts.recount(*gained, *lost);
                }
            }
        })
    }

    fn commit_with(
        &self,
        (mut rows, mut keyed, touched, history): Parts,
        changes: Vec<ChangeRecord>,
        edit: impl FnOnce(&mut MetaRecord),
    ) -> Result<u64> {
        let _one_at_a_time = self.commit.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let mut book = self.book()?;
        book.revision += 1;
        env!("CARGO_PKG_VERSION").clone_into(&mut book.written_by);
        edit(&mut book);
        let revision = book.revision;
        self.drop_ahead(revision)?;
        let unwritable = |family| move |why| StoreError::unwritable(family, revision, why);
        for (ordinal, change) in (0_u32..).zip(&changes) {
            let key = ChangeKey { revision: book.revision, ordinal }.encode();
            let value = record::encode(change).map_err(unwritable("change"))?;
            self.engine.put(&mut rows, Family::Change, &key, &value)?;
            keyed.push(Family::Change, &key, true);
        }
        if let Some(given) = *self.own_ids() {
            let value = record::encode(&given).map_err(unwritable("meta"))?;
            self.engine.put(&mut rows, Family::Meta, OWN_IDS_KEY, &value)?;
            keyed.push(Family::Meta, OWN_IDS_KEY, true);
        }
        let removes =
            history.undoes_any() || changes.iter().any(|change| change.action == Action::Removed);
        let count = u32::try_from(changes.len()).unwrap_or(u32::MAX);
        drop(changes);
        self.put_history(&mut rows, &mut keyed, revision, (count, history))?;
        let listed: Vec<_> = book.releases.iter().map(|release| release.id).collect();
        self.drop_merged(&mut rows, removes, &keyed)?;
        let visible = listed.iter().copied().chain(self.resource_ids(&keyed)?);
        self.put_tally(&mut rows, &visible.collect::<Vec<_>>(), keyed)?;
        let are_current = self.are_sums_current()?;
        let (changes, evidence) = Changes::of(&self.engine, touched)?;
        let unsure = changes.unsure();
        if !are_current {
            self.drop_unlisted_sums(&mut rows, &listed)?;
        }
        self.put_counts(&mut rows, &listed, changes, are_current)?;
        let is_sure = |release| are_current && !unsure.contains(&release);
        self.put_evidence(&mut rows, &listed, evidence, is_sure)?;
        self.trust_sums(&mut rows, revision)?;
        let value = record::encode(&book).map_err(unwritable("meta"))?;
        self.engine.put(&mut rows, Family::Meta, BOOK_KEY, &value)?;
        self.engine.write_synced(rows)?;
        if let Some(acknowledged) = &self.acknowledged {
            // The commit is safe whether or not this can be written.
            let _ = acknowledged.note(book.revision);
        }
        Ok(book.revision)
    }

    /// Takes the number for a new release, and removes what an unfinished import left under it.
    ///
    /// # Errors
    /// When the engine fails, or the handle is a reader's.
    pub fn begin_release(&self) -> Result<ReleaseId> {
        let book = self.book()?;
        let next = ReleaseId(book.next_release);
        if self.visible()?.contains(&next) {
            let reason = "no release number is left".to_owned();
            return Err(StoreError::damaged("meta", BOOK_KEY, reason));
        }
        let start = Prefix::of(next).bytes();
        let mut rows = WriteBatch::default();
        for family in Family::ALL.into_iter().filter(|family| family.by_release()) {
            if self.engine.scan_from(family, start.clone())?.next().is_some() {
                self.engine.delete_from(&mut rows, family, &start, &[0xff; 3])?;
            }
        }
        self.engine.write_synced(rows)?;
        self.begin_counts(next);
        Ok(next)
    }

    /// Writes rows of a release that is not listed: fast, invisible, and safe only once the release
    /// is listed.
    ///
    /// # Errors
    /// When the engine fails, or the handle is a reader's.
    pub fn write_unlisted(&self, batch: Batch<'_>) -> Result<()> {
        self.engine.write_bulk(batch.rows)?;
        self.note_unlisted(batch.release, &batch.touched);
        Ok(())
    }

    /// Lists a release: from here on it is visible, whole. Gives the new revision.
    ///
    /// # Errors
    /// When the engine fails, or the handle is a reader's.
    pub fn list_release(&self, release: &Release) -> Result<u64> {
        self.list_release_with(release, self.batch(release.id))
    }

    /// As [`list_release`](Self::list_release), with rows that must not show before the release
    /// does and that no release number hides, as recipes.
    ///
    /// # Errors
    /// When the engine fails, or the handle is a reader's.
    pub fn list_release_with(&self, release: &Release, batch: Batch<'_>) -> Result<u64> {
        self.engine.flush()?;
        let added = Change::record(release.id, Action::Added, &Subject::Release);
        let changes: Vec<_> = std::iter::once(added).chain(batch.changes).collect();
        let parts = (batch.rows, batch.keyed, batch.touched, batch.history);
        self.commit_with(parts, changes, |book| {
            book.releases.push(release.clone());
            book.next_release = release.id.0.saturating_add(1);
        })
    }

    /// The number of a recipe, or the one that it is to have, and whether it is written down.
    ///
    /// # Errors
    /// When the engine fails.
    pub fn recipe_number(&self, fingerprint: [u8; 16]) -> Result<(RecipeId, bool)> {
        let known = self.recipes()?;
        match known.iter().find(|(_, known, _)| *known == fingerprint) {
            Some((id, ..)) => Ok((*id, true)),
            None => Ok((RecipeId(known.last().map_or(1, |(id, ..)| id.0 + 1)), false)),
        }
    }

    /// The number of a recipe, which is written down when it is new.
    ///
    /// `description` is the whole recipe as JSON; its fingerprint says which recipes are the same.
    ///
    /// # Errors
    /// When the engine fails, or the recipe is new and the handle is a reader's.
    pub fn recipe(&self, fingerprint: [u8; 16], description: &str) -> Result<RecipeId> {
        let (id, is_known) = self.recipe_number(fingerprint)?;
        if is_known {
            return Ok(id);
        }
        // A recipe belongs to no release; the batch's own release number stands in no row of it.
        let mut batch = self.batch(ReleaseId(0));
        batch.put_recipe(id, fingerprint, description)?;
        self.commit(batch)?;
        Ok(id)
    }

    /// Bytes of the store's files on disk, the index not counted.
    #[must_use]
    pub fn disk_bytes(&self) -> u64 {
        let entries = std::fs::read_dir(self.dir.join("db")).into_iter().flatten().flatten();
        entries.filter_map(|entry| entry.metadata().ok()).map(|metadata| metadata.len()).sum()
    }
    /// Stops packing files, which is what many writes want that are all packed at their end, or
    /// resumes it. Readers find many files meanwhile.
    ///
    /// # Errors
    /// When the engine fails, or the handle is a reader's.
    pub fn pause_packing(&self, pause: bool) -> Result<()> {
        self.engine.pause_packing(pause)
    }

    /// Sorts what was written into few files, packed as tightly as they are meant to stay. Takes
    /// some ten seconds for each gigabyte.
    ///
    /// # Errors
    /// When the engine fails, or the handle is a reader's.
    pub fn compact(&self) -> Result<()> {
        self.engine.compact()
    }

    /// Bytes on disk of each family of rows, and about how many rows it has; the largest first.
    ///
    /// # Errors
    /// When the engine fails.
    pub fn family_sizes(&self) -> Result<Vec<FamilySize>> {
        let mut sizes = Vec::new();
        for family in Family::ALL.into_iter().filter(|family| self.engine.has(*family)) {
            let (rows, bytes) = self.engine.size(family)?;
            sizes.push(FamilySize { family: family.name(), rows, bytes });
        }
        sizes.sort_by_key(|size| std::cmp::Reverse(size.bytes));
        Ok(sizes)
    }
}
