//! The database: store and index as one handle.
//!
//! A [`Database`] opened with [`Database::open`] reads, also beside a writer. One opened with
//! [`Database::open_writer`] also writes. It first brings the index up to date, if an earlier
//! writer was stopped between the store's commit and the index's.
//!
//! ```no_run
//! use fnstore::database::Database;
//! use fnstore::transfer::ImportOptions;
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

mod entry;
mod error;
mod feed;
mod held;
mod history;
mod kept_editor;
mod language;
pub(crate) mod layouts;
mod load;
pub(crate) mod reindex;
mod release_ref;
mod resources;
mod split_list;
mod turn;
mod wait;
mod write;
mod write_check;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

pub(crate) use entry::{entry, listing};
#[doc(hidden)]
pub use error::{BackupError, SplitListError};
pub use error::{DatabaseError, EditError, ExportError, LookupError, ReleaseError, ScriptError};
pub(crate) use held::Held;
use kept_editor::Keeper;
#[doc(hidden)]
pub use load::{LoadReport, Loader};
pub(crate) use reindex::each_entry;
pub use release_ref::ReleaseRef;
pub(crate) use turn::Taken;
use turn::Turns;
#[doc(hidden)]
pub use write::{JournalWrite, Write};

pub use crate::store::{
    Action, Change, Commit, Identity, Retention, SetLocation, StoreError, Subject, SubjectKind,
};

use crate::durable::is_inside;
use crate::index::{self, IndexError, IndexReader, IndexWriter};
use crate::model::{Release, ReleaseId, SplitList};
use crate::store::Store;
use crate::text::called;

/// What an operation of the database gives.
pub(crate) type Result<T> = std::result::Result<T, DatabaseError>;

/// A FrameNet database in a directory.
pub struct Database {
    /// The writer's index; a reader opens the index's last commit for each search instead. Before
    /// the store, so that it is closed when the store's lock is given up.
    pub(crate) writer: Option<Turns<IndexWriter>>,
    pub(crate) store: Store,
    pub(crate) dir: PathBuf,
    /// Why the index could not follow the last commit.
    index_lag: Mutex<Option<DatabaseError>>,
    /// The index as a snapshot saw it, `None` inside when there was none; the store beside it is
    /// at least as new and moves no more.
    snapshot: Option<Option<IndexView>>,
    /// Why the index was of no use the last time.
    index_fault: Arc<Mutex<Option<Arc<IndexError>>>>,
    /// Which part of the data something belongs to, before the built-in list.
    splits: Option<Arc<SplitList>>,
    /// Whether models may be used on releases in other languages than theirs.
    any_language: AtomicBool,
    /// Commits of a handle that writes without the index, one at a time.
    alone: Turns<()>,
    /// Which store it was when the handle was opened.
    opened: Option<Identity>,
    /// The editor behind a reader's handle.
    keeper: Keeper,
}

/// Changes that the index may be behind when it is left there: each query reads through them.
const BEHIND: usize = 10_000;

/// A handle's turn to commit.
pub(crate) enum Turn<'a> {
    /// With the index, which follows.
    Index(Taken<'a, IndexWriter>),
    /// Without it.
    Alone { _turn: Taken<'a, ()> },
}

/// The index's last commit, with the store's revision that it stands for.
pub(crate) type IndexView = (Arc<IndexReader>, u64);

impl Database {
    /// Opens the database in `dir` for reading, beside a writer or alone.
    ///
    /// Records are one view until [`refresh`](Self::refresh) or the next query, count or reading of
    /// [`changes`](Self::changes), which answer as of the moment they start. A view that the handle
    /// has moved on from closes with the last answers that are read from it, so a handle may stay
    /// open for as long as its process. The path is made absolute here: the process may go to
    /// another directory later.
    ///
    /// # Errors
    /// When there is none, or its format is another.
    pub fn open(dir: &Path) -> Result<Self> {
        Self::without_index(Store::open_reader(dir)?)
    }

    fn without_index(store: Store) -> Result<Self> {
        Ok(Self {
            dir: store.dir().to_owned(),
            opened: store.identity()?,
            store,
            writer: None,
            snapshot: None,
            index_fault: Arc::default(),
            index_lag: Mutex::default(),
            splits: None,
            any_language: AtomicBool::default(),
            alone: Turns::default(),
            keeper: Keeper::default(),
        })
    }

    /// Opens the database in `dir` for a few edits or judgements, for a tool that holds the lock
    /// only while it saves. The index stays where it is, unopened, which takes less time than
    /// [`open_existing_writer`](Self::open_existing_writer). Queries lay what it lacks over its
    /// hits, and the next writer brings it up. One that is far behind is brought up now.
    ///
    /// Imports, loads and expansions want a writer.
    ///
    /// # Errors
    /// When there is none, another process writes it, or its format is another.
    pub fn open_editor(dir: &Path) -> Result<Self> {
        let store = Store::open_writer(dir, false)?;
        let is_near = Self::index_lacks(&store)?.is_some_and(|changes| changes <= BEHIND);
        if is_near { Self::without_index(store) } else { Self::over_writer(store) }
    }

    /// Changes that the index lacks, of which no more than [`BEHIND`] and one are counted; `None`
    /// where there is none that serves the store.
    fn index_lacks(store: &Store) -> Result<Option<usize>> {
        let stamp = index::stamp(&store.dir().join("index")).ok().flatten();
        let revision = store.revision()?;
        let Some(stamp) = stamp.filter(|stamp| stamp.serves(revision)) else { return Ok(None) };
        Ok(Some(store.changes_since(stamp.revision)?.take(BEHIND + 1).count()))
    }

    /// A reader's handle on the database as it is at this moment, which stays as it is: whatever is
    /// committed later, by this process or another, its records and queries are of one state.
    ///
    /// A handle of [`open`](Self::open) moves on when it is queried, and a writer's always shows
    /// the last commit; several questions about one state, or one long answer, want a snapshot. It
    /// takes as long as opening the database, and keeps files that a writer has replaced until it
    /// is dropped.
    ///
    /// # Errors
    /// When the store or the index fails.
    ///
    /// ```
    /// # use fnstore::database::Database;
    /// # use fnstore::edit::Removal;
    /// # use fnstore::transfer::ImportOptions;
    /// # use fnstore::model::{FrameId, LuId};
    /// # let store = tempfile::tempdir()?;
    /// # let database = Database::open_writer(store.path())?;
    /// # let mini = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/mini-framenet");
    /// # let release = database.import(mini.as_ref(), &ImportOptions::default(), &mut |_| {})?.release;
    /// let before = database.snapshot()?;
    /// let mut edits = database.transaction(release.id)?;
    /// edits.remove_lexunit(FrameId(102), LuId(1001), Removal::Cascade)?;
    /// edits.commit()?;
    /// let query = "trigger=checked".parse()?;
    /// assert_eq!((before.count(&query)?, database.count(&query)?), (7, 0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn snapshot(&self) -> Result<Self> {
        let mut snapshot = Self::open(&self.dir)?;
        let index = snapshot.index_reader()?;
        snapshot.snapshot = Some(index);
        snapshot.splits = self.splits.clone();
        snapshot.allow_any_language(self.allows_any_language());
        Ok(snapshot)
    }

    /// Opens the database in `dir` for writing, and makes one when there is none: where nothing is,
    /// or in an empty folder.
    ///
    /// # Errors
    /// When something else is there, another process writes it, or its format is another.
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
        Self::over_writer(Store::open_writer(dir, create)?)
    }

    pub(crate) fn over_writer(store: Store) -> Result<Self> {
        let mut writer = match Self::index_over(&store) {
            Ok(writer) => writer,
            Err(error) => {
                // A store that was made a moment ago leaves nothing; why the index failed is what
                // counts.
                let _ = store.discard_if_new();
                return Err(error);
            }
        };
        Ok(Self {
            index_fault: Arc::new(Mutex::new(writer.take_replaced().map(Arc::new))),
            writer: Some(Turns::new(writer)),
            ..Self::without_index(store)?
        })
    }

    /// The index of a store, as new as the store.
    fn index_over(store: &Store) -> Result<IndexWriter> {
        reindex::remove_leftovers(store.dir())?;
        let mut writer = IndexWriter::open(&store.dir().join("index"))?;
        reindex::catch_up(store, &mut writer)?;
        Ok(writer)
    }

    /// Ends a writer's handle: waits for what the index still does in the background, which
    /// dropping the handle breaks off without harm.
    ///
    /// # Errors
    /// When the index cannot be written.
    pub fn close(self) -> Result<()> {
        let Some(writer) = self.writer else { return Ok(()) };
        Ok(writer.into_inner().finish()?)
    }

    /// Ends a writer's handle, and removes the database when this handle made it and nothing was
    /// committed to it: what a first import that failed wants. Nobody else can write it meanwhile.
    /// Says whether it was removed; its directory stays, with the lock's file in it.
    ///
    /// # Errors
    /// When the store fails, or something cannot be removed.
    pub fn discard_if_new(self) -> Result<bool> {
        let Self { writer, store, .. } = self;
        drop(writer);
        Ok(store.discard_if_new()?)
    }

    /// Why the index is behind the store, when it could not follow the last commit of this handle,
    /// as on a full disk; taken, so that it is told once.
    ///
    /// What was committed is in all the same. Queries lay the missing changes over the index's
    /// hits. The next commit, the next writer or [`reindex`](Self::reindex) brings it up to date.
    pub fn take_index_lag(&self) -> Option<DatabaseError> {
        self.index_lag.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).take()
    }

    /// The index of a writer's handle.
    pub(crate) fn require_writer(&self) -> Result<&Turns<IndexWriter>> {
        let refusal = || DatabaseError::ReadOnly { path: self.dir.clone() };
        self.writer.as_ref().ok_or_else(refusal)
    }

    /// As [`require_writer`](Self::require_writer), locked: no other thread commits meanwhile. A
    /// callback of a call that holds it is refused.
    pub(crate) fn lock_writer(&self) -> Result<Taken<'_, IndexWriter>> {
        self.require_writer()?.take().ok_or_else(|| self.busy())
    }

    fn busy(&self) -> DatabaseError {
        DatabaseError::Busy { path: self.dir.clone() }
    }

    /// Refuses a reader's handle.
    pub(crate) fn require_writable(&self) -> Result<()> {
        let refusal = || DatabaseError::ReadOnly { path: self.dir.clone() };
        self.store.is_writer().then_some(()).ok_or_else(refusal)
    }

    /// The turn of one thread to commit.
    pub(crate) fn turn(&self) -> Result<Turn<'_>> {
        if self.writer.is_none() && self.store.is_writer() {
            let turn = self.alone.take().ok_or_else(|| self.busy())?;
            return Ok(Turn::Alone { _turn: turn });
        }
        self.lock_writer().map(Turn::Index)
    }

    /// Brings the index to a commit of the store that is safe already, so that nothing that happens
    /// to the index makes it a failure.
    pub(crate) fn follow(&self, index: &mut IndexWriter) {
        self.note_index(reindex::catch_up(&self.store, index));
    }

    /// Takes note of whether the index could follow the last commit.
    pub(crate) fn note_index(&self, outcome: Result<()>) {
        let failure = outcome.err();
        *self.index_lag.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = failure;
    }

    /// Fails for a release that is not there, or no more: rows of it would be invisible.
    pub(crate) fn require_release(&self, release: ReleaseId) -> Result<()> {
        match self.releases()?.iter().any(|known| known.id == release) {
            true => Ok(()),
            false => Err(EditError::absent("release", release).into()),
        }
    }

    /// Removes a release, with all that was added to it. What `fnstore annotate` or an
    /// import made a release of is one. Gives the new revision.
    ///
    /// # Errors
    /// When there is no such release, or the store fails.
    pub fn remove_release<'a>(&self, release: impl Into<ReleaseRef<'a>>) -> Result<u64> {
        let mut turn = self.turn()?;
        let revision = self.store.remove_release(self.release(release)?.id)?;
        if let Turn::Index(index) = &mut turn {
            self.follow(index);
        }
        Ok(revision)
    }

    /// The store below: every record by its id.
    #[must_use]
    pub(crate) fn store(&self) -> &Store {
        &self.store
    }

    /// The directory; its path is absolute.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Takes up what a writer has committed since this handle was opened or refreshed last; of a
    /// [`snapshot`](Self::snapshot) nothing.
    ///
    /// # Errors
    /// When the store fails.
    pub fn refresh(&self) -> Result<()> {
        if self.snapshot.is_some() {
            return Ok(());
        }
        Ok(self.store.refresh()?)
    }

    /// The releases, in order of import.
    ///
    /// # Errors
    /// When the store fails.
    pub fn releases(&self) -> Result<Vec<Release>> {
        Ok(self.store.releases()?)
    }

    /// What is wrong with the index, as far as this handle has met it. A query that could not use
    /// it was answered by a scan of the store, which takes longer and finds the same. Of a writer's
    /// handle: what was wrong when it was opened, which built the index anew.
    ///
    /// `None` says that nothing was in the way; [`check`](Self::check) looks for what is wrong.
    #[must_use]
    pub fn index_fault(&self) -> Option<Arc<IndexError>> {
        self.index_fault.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).clone()
    }

    /// Takes note of what the index could not do.
    pub(crate) fn usable<T>(&self, outcome: std::result::Result<T, IndexError>) -> Option<T> {
        let fault = |error| {
            let mut fault =
                self.index_fault.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            *fault = Some(Arc::new(error));
        };
        outcome.map_err(fault).ok()
    }

    /// Fails for a place inside the database's own directory, at which nothing need be yet: what
    /// others write there could overwrite the store, or go with it.
    ///
    /// # Errors
    /// [`io::ErrorKind::InvalidInput`] when the place is inside.
    pub fn require_outside(&self, place: &Path) -> io::Result<()> {
        if !is_inside(place, &self.dir) {
            return Ok(());
        }
        let dir = self.dir.display();
        let message = format!("it is inside the store `{dir}`; name a place outside it");
        Err(io::Error::new(io::ErrorKind::InvalidInput, message))
    }

    /// Bytes on disk: store and index.
    #[must_use]
    pub fn disk_bytes(&self) -> u64 {
        let entries = std::fs::read_dir(self.dir.join("index")).into_iter().flatten().flatten();
        let index: u64 =
            entries.filter_map(|entry| entry.metadata().ok()).map(|metadata| metadata.len()).sum();
        self.store.disk_bytes() + index
    }

    /// The index that belongs to this handle's view.
    pub(crate) fn index_reader(&self) -> Result<Option<IndexView>> {
        if let Some(index) = &self.snapshot {
            return Ok(index.clone());
        }
        let place = self.store.place();
        // The index first, then the store: it must be at least as new, or hits could not be
        // checked.
        let index = self.last_index();
        self.store.refresh()?;
        // Of a store that a restore has put in the place of another, the index may be the other's.
        Ok(index.filter(|_| place.is_some_and(|place| self.store.is_of(&place))))
    }

    /// Whether it shows one state for good.
    pub(crate) fn is_snapshot(&self) -> bool {
        self.snapshot.is_some()
    }

    /// What this handle shows now, with an index that is no newer, for a long answer: of a reader's
    /// handle it stays as it is, whatever is committed and whoever refreshes the handle meanwhile.
    /// A writer's handle shows the last commit.
    pub(crate) fn still(&self, index: Option<IndexView>) -> Result<Held<'_>> {
        let Some(store) = self.store.pinned()? else { return Ok(Held::Borrowed(self)) };
        let still = Self {
            dir: self.dir.clone(),
            opened: self.opened.clone(),
            store,
            writer: None,
            snapshot: Some(index),
            index_fault: Arc::clone(&self.index_fault),
            index_lag: Mutex::default(),
            splits: self.splits.clone(),
            any_language: AtomicBool::new(self.allows_any_language()),
            alone: Turns::default(),
            keeper: Keeper::default(),
        };
        Ok(Held::Shared(Arc::new(still)))
    }

    /// As [`still`](Self::still), of the last commit.
    pub(crate) fn last_still(&self) -> Result<Held<'_>> {
        self.refresh()?;
        let index = self.index_reader()?;
        self.still(index)
    }

    /// The index's last commit; `None` when there is none, or none that opens: what a query asks of
    /// it, a scan answers too, until a writer repairs it.
    pub(crate) fn last_index(&self) -> Option<IndexView> {
        let path = self.dir.join("index");
        let stamp = self.usable(index::stamp(&path))??;
        let reader = self.usable(IndexReader::open(&path))??;
        Some((Arc::new(reader), stamp.revision))
    }
}

/// The release that a name means, if there is one.
///
/// # Errors
/// When the name is written as no release's, and several names are equivalent.
pub(crate) fn release_called<'a>(
    releases: &'a [Release],
    name: &str,
) -> Result<Option<&'a Release>> {
    let found = called(releases, name, |release| &release.name);
    match found.as_slice() {
        [] => Ok(None),
        [one] => Ok(Some(*one)),
        // They look alike: only their letters tell them apart.
        several => Err(DatabaseError::Lookup(LookupError::Ambiguous {
            kind: "release",
            name: name.to_owned(),
            choices: several.iter().map(|of| format!("`{}`", of.name.escape_default())).collect(),
        })),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ReleaseCounts;

    fn release(id: u16, name: &str) -> Release {
        Release {
            id: ReleaseId(id),
            name: name.to_owned(),
            language: "fr".to_owned(),
            source: String::new(),
            source_bytes: 0,
            imported: 0,
            counts: ReleaseCounts::default(),
        }
    }

    #[test]
    fn a_release_is_meant_by_its_own_spelling_or_by_the_only_equivalent_one() {
        let releases = [release(1, "\u{1e69}"), release(2, "s\u{323}\u{307}"), release(3, "s")];
        let found = |name: &str| {
            release_called(&releases, name).map(|found| found.map(|release| release.id.0))
        };
        assert_eq!(found("\u{1e69}").unwrap(), Some(1));
        assert_eq!(found("s\u{323}\u{307}").unwrap(), Some(2), "not the first that is equivalent");
        assert_eq!(found("t").unwrap(), None);
        let error = found("s\u{307}\u{323}").unwrap_err();
        let DatabaseError::Lookup(LookupError::Ambiguous { kind, choices, .. }) = &error else {
            panic!("{error}")
        };
        assert_eq!(*kind, "release");
        assert_eq!(*choices, [r"`\u{1e69}`", r"`s\u{323}\u{307}`"]);
        let only = release_called(&releases[1..], "\u{1e69}").unwrap();
        assert_eq!(only.map(|release| release.id.0), Some(2));
    }
}
