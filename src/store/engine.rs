//! RocksDB behind plain gets, scans and batches: opening, column families, format check.
//!
//! A writer opens the store as RocksDB's primary, under [`super::lock`]. A reader opens it as a
//! *secondary*, which takes no lock and is safe beside a live writer (RocksDB's own words on plain
//! read-only opening beside one: undefined behaviour). A secondary shows one view until
//! [`Engine::refresh`].

mod reads;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, RwLock};
use std::time::{Duration, Instant};

use rocksdb::properties::{ESTIMATE_NUM_KEYS, PropName, TOTAL_SST_FILES_SIZE};
use rocksdb::{DB, WriteBatch, WriteOptions};

use super::error::OPENING;
use super::family::Family;
use super::held_directory::HeldDirectory;
use super::identity::IDENTITY_KEY;
use super::lock::WriterLock;
use super::present::{absent_or_lost, exists, lost_manifest, present_families};
use super::scratch::Scratch;
use super::tuning::{
    READERS_BLOCKS, WRITERS_BLOCKS, descriptors, readers_options, writers_options,
};
use super::view::{Pin, View, table};
use super::{Result, StoreError, acknowledged, book_of, identity, replace, site};
use crate::durable::create_directory;

/// Format of the store's keys and records. A new major one is not readable by this build; a new
/// minor one only adds.
pub const FORMAT: (u16, u16) = (2, 0);

/// Key of the format in `meta`: two big-endian u16, readable by every version of fnstore.
pub(super) const FORMAT_KEY: &[u8] = b"format";
/// Key of the fnstore version that wrote the store last, as text, for the message of a refusal.
pub(super) const WRITTEN_BY_KEY: &[u8] = b"written_by";

/// Bytes of rows from which on a writer that closes writes them to files. Fewer cost a reader less
/// than the files would, which are small and one for each family.
const LONG_LOG: u64 = 1 << 20;

/// How long a reader waits before it opens the store again.
const PAUSES: [Duration; 4] = [
    Duration::from_millis(10),
    Duration::from_millis(20),
    Duration::from_millis(50),
    Duration::from_millis(100),
];

/// How long a reader waits for another process to end its replacement of the store, on systems
/// where that takes the store's name away for a moment.
const REPLACING: Duration = Duration::from_secs(10);

/// How a writer opens a store.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Opening {
    /// Whether one is made where there is none.
    pub(super) create: bool,
    /// Whether it may have lost commits that were acknowledged.
    pub(super) despite_loss: bool,
}

/// An open RocksDB.
pub(super) struct Engine {
    /// What is read now. Whoever reads it keeps it open.
    view: RwLock<Arc<View>>,
    /// Held by the thread that moves the view on: no newer one goes for an older one.
    moving: Mutex<()>,
    db_dir: PathBuf,
    lock: Option<WriterLock>,
    /// Whether this handle made the store.
    is_new: bool,
    /// For the log of a reader's secondaries.
    scratch: Option<Scratch>,
    /// What keeps the view as it is.
    _pin: Option<Pin>,
}

impl Engine {
    /// Opens the store for writing.
    pub(super) fn open_writer(dir: &Path, opening: Opening) -> Result<Self> {
        site::require_free_or_ours(dir)?;
        if !exists(dir) && !replace::is_underway(dir) {
            if !opening.create {
                return Err(absent_or_lost(dir));
            }
            make(dir)?;
        }
        Self::open_locked(dir, WriterLock::take(dir)?, opening)
    }

    /// Opens the store as the writer that holds the lock, and looks again whether there is one:
    /// another process may have removed a store whose first import failed.
    pub(super) fn open_locked(dir: &Path, lock: WriterLock, opening: Opening) -> Result<Self> {
        let Opening { create, despite_loss } = opening;
        let db_dir = dir.join("db");
        replace::recover(dir)?;
        let is_new = !exists(dir);
        let mut is_rewound = false;
        if is_new && !create {
            return Err(absent_or_lost(dir));
        }
        let mut options = writers_options();
        options.create_if_missing(true);
        options.create_missing_column_families(true);
        let mut names: Vec<String> =
            Family::ALL.iter().map(|family| family.name().to_owned()).collect();
        if is_new {
            // RocksDB would make an empty store over what is left of a damaged one.
            if let lost @ StoreError::FileLost { .. } = absent_or_lost(dir) {
                return Err(lost);
            }
            make(&db_dir)?;
        } else {
            lost_manifest(dir).map_or(Ok(()), Err)?;
            // Refused before the primary opens it, which tidies up and cuts the log where it ends.
            match Self::examine(dir) {
                Err(StoreError::CommitsLost { .. }) if despite_loss => is_rewound = true,
                outcome => outcome?,
            }
            // RocksDB's primary must open every family there is, a newer format's too.
            let present = present_families(&db_dir)?;
            names.extend(present.into_iter().filter(|name| !is_family(name)));
        }
        let db = DB::open_cf_descriptors(&options, &db_dir, descriptors(names, WRITERS_BLOCKS))
            .map_err(StoreError::engine(OPENING))?;
        let mut engine = Self::over(View::new(db), db_dir);
        (engine.lock, engine.is_new) = (Some(lock), is_new);
        if !despite_loss {
            engine.require_revision(dir, acknowledged::last(dir))?;
        }
        // A newer minor format stays what it is: this build does not take away what that one added.
        let found = engine.check_format(dir)?;
        let (major, minor) = found.map_or(FORMAT, |found| found.max(FORMAT));
        let mut batch = WriteBatch::default();
        let format = [major.to_be_bytes(), minor.to_be_bytes()].concat();
        engine.put(&mut batch, Family::Meta, FORMAT_KEY, &format)?;
        engine.put(
            &mut batch,
            Family::Meta,
            WRITTEN_BY_KEY,
            env!("CARGO_PKG_VERSION").as_bytes(),
        )?;
        // Revisions that were lost are given again, with other content.
        let identity = engine.get(Family::Meta, IDENTITY_KEY)?;
        if let Some(drawn) = identity::to_put(identity, is_rewound) {
            engine.put(&mut batch, Family::Meta, IDENTITY_KEY, &drawn)?;
        }
        engine.write_synced(batch)?;
        Ok(engine)
    }

    fn over(view: View, db_dir: PathBuf) -> Self {
        let view = RwLock::new(Arc::new(view));
        let moving = Mutex::default();
        Self { view, moving, db_dir, lock: None, is_new: false, scratch: None, _pin: None }
    }

    /// Opens the store beside a writer or alone. A writer may delete a file, or a restore the
    /// store, between a reader's learning of its name and opening it. Then the reader starts over.
    pub(super) fn open_reader(dir: &Path) -> Result<Self> {
        let begun = Instant::now();
        let (mut pauses, mut is_mended) = (PAUSES.into_iter(), false);
        loop {
            let error = match Self::open_secondary(dir) {
                Err(error) => error,
                opened => return opened,
            };
            let is_underway = replace::is_underway(dir);
            let is_back = matches!(error, StoreError::Absent { .. }) && exists(dir);
            if !(is_underway || is_back || may_pass(&error)) {
                return Err(error);
            }
            if let Some(pause) = pauses.next() {
                std::thread::sleep(pause);
                continue;
            }
            if is_mended || is_back {
                return Err(error);
            }
            match WriterLock::take_existing(dir) {
                Ok(lock) => Self::mend(dir, lock)?,
                Err(StoreError::Locked { .. }) if is_underway && begun.elapsed() < REPLACING => {
                    pauses = PAUSES.into_iter();
                    continue;
                }
                Err(_) => return Err(lost_manifest(dir).unwrap_or(error)),
            }
            (pauses, is_mended) = (PAUSES.into_iter(), true);
        }
    }

    /// Does to a store that did not open for reading what its next writer would do first. A loss of
    /// power leaves the end of a log, or a replacement between its renames, which a secondary does
    /// not read past. Damage is thereby told as a writer tells it. Beside a writer, or where
    /// nothing can be written, the reader's own error stands.
    fn mend(dir: &Path, lock: WriterLock) -> Result<()> {
        Self::open_locked(dir, lock, Opening::default()).map(drop)
    }

    fn open_secondary(dir: &Path) -> Result<Self> {
        site::require_free_or_ours(dir)?;
        let absent = || absent_or_lost(dir);
        if !exists(dir) {
            return Err(absent());
        }
        let db_dir = dir.join("db");
        let present = present_families(&db_dir)?;
        if !present.iter().any(|name| name == Family::Meta.name()) {
            return Err(absent());
        }
        let scratch = Scratch::new()?;
        let first = View::open_secondary(&db_dir, &scratch, present)?;
        let mut engine = Self::over(first, db_dir);
        engine.scratch = Some(scratch);
        // Before the refresh: what is acknowledged now, the writer has written.
        let acknowledged = acknowledged::last(dir);
        engine.refresh()?;
        engine.require_all_files()?;
        // The format is written last: without it the store is being made, or its making was cut
        // short, and there is nothing to read.
        engine.check_format(dir)?.ok_or_else(absent)?;
        // The families may be listed before the last of them is made.
        let mut required = Family::ALL.into_iter().filter(|family| !family.may_be_absent());
        required.try_for_each(|family| engine.view().family(family).map(drop))?;
        engine.require_revision(dir, acknowledged)?;
        Ok(engine)
    }

    /// Opens a store that nobody writes, without touching it, to see whether it may be written.
    fn examine(dir: &Path) -> Result<()> {
        let db_dir = dir.join("db");
        let present = present_families(&db_dir)?;
        if !present.iter().any(|name| name == Family::Meta.name()) {
            // Its making was cut short.
            return match absent_or_lost(dir) {
                StoreError::Absent { .. } => Ok(()),
                lost => Err(lost),
            };
        }
        let present = descriptors(present, READERS_BLOCKS);
        // With a reader's options all files are opened, and one that is lost is told before a row
        // of it is asked for.
        let db = DB::open_cf_descriptors_read_only(&readers_options(), &db_dir, present, false);
        let db = db.map_err(|error| match Self::open_secondary(dir) {
            // A reader knows which table it is.
            Err(lost @ StoreError::FileLost { .. }) => lost,
            _ => StoreError::engine(OPENING)(error),
        })?;
        let engine = Self::over(View::new(db), db_dir);
        engine.check_format(dir)?;
        engine.require_revision(dir, acknowledged::last(dir))
    }

    /// Everything that was acknowledged must be there.
    fn require_revision(&self, dir: &Path, acknowledged: Option<u64>) -> Result<()> {
        let (Some(acknowledged), found) = (acknowledged, book_of(self)?.revision) else {
            return Ok(());
        };
        if found < acknowledged {
            return Err(StoreError::CommitsLost { path: dir.to_owned(), found, acknowledged });
        }
        Ok(())
    }

    /// A secondary leaves out what it cannot open, without an error. Beside a writer that is right
    /// for files that are gone by the time it looks: the view is then brought up to where they are.
    fn require_all_files(&self) -> Result<()> {
        let mut pauses = PAUSES.into_iter();
        loop {
            let missing = self.view().missing_file(&self.db_dir)?;
            let Some((number, family)) = missing else { return Ok(()) };
            let Some(pause) = pauses.next() else {
                return Err(StoreError::FileLost { path: table(&self.db_dir, number), family });
            };
            std::thread::sleep(pause);
            self.refresh()?;
        }
    }

    /// The store's format, which must be one that this build reads; `None` for a store that holds
    /// nothing yet (its making may have been cut short).
    pub(super) fn check_format(&self, dir: &Path) -> Result<Option<(u16, u16)>> {
        let Some(found) = self.get(Family::Meta, FORMAT_KEY)? else { return Ok(None) };
        let (major, minor) = match found.as_slice() {
            [a, b, c, d] => (u16::from_be_bytes([*a, *b]), u16::from_be_bytes([*c, *d])),
            _ => return Err(StoreError::damaged(Family::Meta.name(), FORMAT_KEY, "no format")),
        };
        let written_by = self.get(Family::Meta, WRITTEN_BY_KEY)?.unwrap_or_default();
        require_format(dir, (major, minor), &String::from_utf8_lossy(&written_by))?;
        Ok(Some((major, minor)))
    }

    /// Whether this handle may write.
    pub(super) fn is_writer(&self) -> bool {
        self.lock.is_some()
    }

    /// Takes up what the writer has committed since the handle was opened or refreshed last. A
    /// writer may take away a file meanwhile; then the reader looks again.
    pub(super) fn refresh(&self) -> Result<()> {
        let Some(scratch) = &self.scratch else { return Ok(()) };
        let _moving = self.moving.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let mut pauses = PAUSES.into_iter();
        loop {
            let view = self.view();
            match (view.move_on(&self.db_dir, scratch), pauses.next()) {
                (Ok(None), _) => return Ok(()),
                (Ok(Some(next)), _) => {
                    let current = self.view.write();
                    *current.unwrap_or_else(|poisoned| poisoned.into_inner()) = Arc::new(next);
                    return Ok(());
                }
                // The store of before is the last one until the next has its name.
                (Err(_), _) if self.db_dir.parent().is_some_and(replace::is_underway) => {
                    return Ok(());
                }
                (Err(_), Some(pause)) => std::thread::sleep(pause),
                (Err(error), None) => return Err(error),
            }
        }
    }

    /// What a reader reads now, which stays as it is; nothing of a writer's, which always moves on.
    pub(super) fn pinned(&self) -> Option<Self> {
        if self.is_writer() {
            return None;
        }
        let pin = Pin::new(self.view());
        let (view, moving) = (RwLock::new(pin.view()), Mutex::default());
        let (db_dir, _pin) = (self.db_dir.clone(), Some(pin));
        Some(Self { view, moving, db_dir, lock: None, is_new: false, scratch: None, _pin })
    }

    /// Whether what is read has a family that a store may lack.
    pub(super) fn has(&self, family: Family) -> bool {
        self.view().db.cf_handle(family.name()).is_some()
    }

    /// What is read now. It stays open for as long as somebody has it.
    pub(super) fn view(&self) -> Arc<View> {
        Arc::clone(&self.view.read().unwrap_or_else(|poisoned| poisoned.into_inner()))
    }

    /// The directory that has the store's name now.
    pub(super) fn place(&self) -> Option<HeldDirectory> {
        HeldDirectory::of(&self.db_dir).ok()
    }

    /// Whether what is read is the store in that directory.
    pub(super) fn is_of(&self, place: &HeldDirectory) -> bool {
        self.view().is_of(place)
    }

    pub(super) fn put(
        &self,
        batch: &mut WriteBatch,
        family: Family,
        key: &[u8],
        value: &[u8],
    ) -> Result<()> {
        batch.put_cf(self.view().family(family)?, key, value);
        Ok(())
    }

    pub(super) fn delete(&self, batch: &mut WriteBatch, family: Family, key: &[u8]) -> Result<()> {
        batch.delete_cf(self.view().family(family)?, key);
        Ok(())
    }

    pub(super) fn delete_from(
        &self,
        batch: &mut WriteBatch,
        family: Family,
        start: &[u8],
        end: &[u8],
    ) -> Result<()> {
        batch.delete_range_cf(self.view().family(family)?, start, end);
        Ok(())
    }

    /// Writes a batch that survives a crash of the machine once this returns.
    pub(super) fn write_synced(&self, batch: WriteBatch) -> Result<()> {
        self.require_writer()?;
        let mut options = WriteOptions::default();
        options.set_sync(true);
        self.view().db.write_opt(batch, &options).map_err(StoreError::engine("committing"))
    }

    /// Writes a batch that is safe once the next synced one is.
    pub(super) fn write_ahead(&self, batch: WriteBatch) -> Result<()> {
        if batch.is_empty() {
            return Ok(());
        }
        self.require_writer()?;
        self.view().db.write(batch).map_err(StoreError::engine("committing"))
    }

    /// Writes a batch that only [`Engine::flush`] makes safe.
    pub(super) fn write_bulk(&self, batch: WriteBatch) -> Result<()> {
        self.require_writer()?;
        self.view().db.write_without_wal(batch).map_err(StoreError::engine("writing"))
    }

    /// Writes everything in memory to files.
    pub(super) fn flush(&self) -> Result<()> {
        let view = self.view();
        for family in Family::ALL {
            view.db.flush_cf(view.family(family)?).map_err(StoreError::engine("flushing"))?;
        }
        Ok(())
    }

    /// About how many rows a family has, and the bytes of its files.
    pub(super) fn size(&self, family: Family) -> Result<(u64, u64)> {
        let view = self.view();
        let family = view.family(family)?;
        let property = |name: &PropName| {
            let value = view.db.property_int_value_cf(family, name);
            value.map(Option::unwrap_or_default).map_err(StoreError::engine("reading a size"))
        };
        Ok((property(ESTIMATE_NUM_KEYS)?, property(TOTAL_SST_FILES_SIZE)?))
    }

    /// Bytes of the log: a reader reads them again as it opens.
    fn unflushed(&self) -> u64 {
        let files = std::fs::read_dir(&self.db_dir).into_iter().flatten().flatten();
        let logs = files.filter(|file| file.path().extension().is_some_and(|it| it == "log"));
        logs.filter_map(|log| Some(log.metadata().ok()?.len())).sum()
    }

    /// Whether this handle made the store.
    pub(super) fn is_new(&self) -> bool {
        self.is_new
    }

    /// Closes a writer's handle and removes the store before anyone else can write it.
    pub(super) fn discard(mut self, dir: &Path) -> Result<()> {
        let lock = self.lock.take().ok_or(StoreError::ReadOnly)?;
        drop(self);
        replace::discard(dir, &lock)
    }

    pub(super) fn require_writer(&self) -> Result<()> {
        if self.is_writer() { Ok(()) } else { Err(StoreError::ReadOnly) }
    }
}

impl Drop for Engine {
    /// A writer leaves readers little of the log to read, and few files to open. What cannot be
    /// done now stays for the next one.
    fn drop(&mut self) {
        if self.is_writer() {
            if self.unflushed() > LONG_LOG {
                let _ = self.flush();
            }
            let _ = self.merge_scattered();
        }
    }
}

/// Refuses a store of another major format than this build's, in `path` or in a backup there.
pub(crate) fn require_format(path: &Path, found: (u16, u16), written_by: &str) -> Result<()> {
    if found.0 == FORMAT.0 {
        return Ok(());
    }
    let (path, written_by) = (path.to_owned(), written_by.to_owned());
    Err(StoreError::Format { path, found, supported: FORMAT, written_by })
}

/// Whether what keeps a reader from opening a store may be a writer at work.
fn may_pass(error: &StoreError) -> bool {
    matches!(
        error,
        StoreError::Engine { .. }
            | StoreError::Damaged { .. }
            | StoreError::CommitsLost { .. }
            | StoreError::Io { .. }
    )
}

/// Makes a directory whose name is on the disk before anything in it is acknowledged.
fn make(dir: &Path) -> Result<()> {
    create_directory(dir).map_err(|source| StoreError::Io { path: dir.to_owned(), source })
}

fn is_family(name: &str) -> bool {
    Family::ALL.iter().any(|family| family.name() == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Between the moment a process sees a store and the moment it has the lock, the first import
    /// of another may fail and take the store away.
    #[test]
    fn a_store_that_goes_before_the_lock_is_had_is_not_made_again() {
        let dir = tempfile::tempdir().unwrap();
        let opening = Opening { create: true, ..Opening::default() };
        drop(Engine::open_writer(dir.path(), opening).unwrap());
        let lock = WriterLock::take(dir.path()).unwrap();
        std::fs::remove_dir_all(dir.path().join("db")).unwrap();
        let error = Engine::open_locked(dir.path(), lock, Opening::default()).map(drop);
        let error = error.unwrap_err();
        assert!(matches!(error, StoreError::Absent { .. }), "{error}");
        assert!(!dir.path().join("db").exists(), "an empty store was made");
    }
}
