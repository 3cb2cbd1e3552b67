//! What a handle reads: an open RocksDB, and the rows under way in it.
//!
//! RocksDB's secondary keeps the rows of the log that it has read. Once the primary has written
//! newer ones to a table and dropped the log, the secondary shows its older ones beside rows of the
//! table: two revisions in one view. So a reader catches up only as long as nothing but the log has
//! grown, and otherwise opens RocksDB again. The earlier one stays open for the iterators that are
//! on it, and closes with the last of them. A view that somebody has [pinned](Pin) is never caught
//! up: whoever reads it in pieces reads one state.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

use rocksdb::{ColumnFamily, DB, DBRawIterator, ReadOptions};
use self_cell::self_cell;
use tempfile::TempDir;

use super::error::OPENING;
use super::family::Family;
use super::held_directory::HeldDirectory;
use super::manifest::{self, Stamp};
use super::present::present_families;
use super::scratch::Scratch;
use super::tuning::{READERS_BLOCKS, descriptors, readers_options};
use super::{Result, StoreError};

/// A key and its value.
pub(super) type KeyValue = (Box<[u8]>, Box<[u8]>);

/// An open RocksDB.
pub(super) struct View {
    pub(super) db: DB,
    /// Where a reader's tables stood before it was opened.
    stamp: Option<Stamp>,
    /// The directory that a reader has opened.
    place: Option<HeldDirectory>,
    /// A secondary's own files, which go when it is closed.
    _own: Option<TempDir>,
    still: Mutex<Still>,
}

/// What keeps a view as it is.
#[derive(Default)]
struct Still {
    pins: usize,
    /// The writer's logs with their lengths, before a reader read them last.
    logs: BTreeSet<(OsString, u64)>,
}

/// Keeps a view as it is for as long as it lives.
pub(super) struct Pin(Arc<View>);

impl Pin {
    pub(super) fn new(view: Arc<View>) -> Self {
        view.still().pins += 1;
        Self(view)
    }

    pub(super) fn view(&self) -> Arc<View> {
        Arc::clone(&self.0)
    }
}

impl Drop for Pin {
    fn drop(&mut self) {
        self.0.still().pins -= 1;
    }
}

impl View {
    pub(super) fn new(db: DB) -> Self {
        Self { db, stamp: None, place: None, _own: None, still: Mutex::default() }
    }

    /// Opens a secondary with the families `present`, whose own files go to a new directory in
    /// `scratch`.
    pub(super) fn open_secondary(
        db_dir: &Path,
        scratch: &Scratch,
        present: Vec<String>,
    ) -> Result<Self> {
        let place = HeldDirectory::of(db_dir).map_err(io_error(db_dir))?;
        let stamp = manifest::stamp(db_dir).map_err(io_error(db_dir))?;
        let logs = logs_in(db_dir).map_err(io_error(db_dir))?;
        let own = tempfile::tempdir_in(scratch.path()).map_err(io_error(scratch.path()))?;
        let families = descriptors(present, READERS_BLOCKS);
        let options = readers_options();
        let db = DB::open_cf_descriptors_as_secondary(&options, db_dir, own.path(), families);
        let db = db.map_err(StoreError::engine(OPENING))?;
        if !place.is_still(db_dir) {
            // Some of its files may be the one store's and some the other's.
            let reason = "another store has taken its place".to_owned();
            return Err(StoreError::Engine { action: OPENING, reason });
        }
        let still = Mutex::new(Still { pins: 0, logs });
        Ok(Self { db, stamp: Some(stamp), place: Some(place), _own: Some(own), still })
    }

    fn still(&self) -> MutexGuard<'_, Still> {
        self.still.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Whether what is read is the store in that directory. A writer's always is: nobody replaces
    /// what it has locked.
    pub(super) fn is_of(&self, place: &HeldDirectory) -> bool {
        self.place.as_ref().is_none_or(|own| own.is(place))
    }

    /// Takes up what the writer has committed since. Gives the view that shows it, where that is
    /// another.
    pub(super) fn move_on(&self, db_dir: &Path, scratch: &Scratch) -> Result<Option<Self>> {
        let is_as_it_was = || {
            let stamp = manifest::stamp(db_dir).map_err(io_error(db_dir))?;
            let is_in_place = self.place.as_ref().is_none_or(|place| place.is_still(db_dir));
            Ok::<_, StoreError>(is_in_place && self.stamp.as_ref() == Some(&stamp))
        };
        if is_as_it_was()? {
            let logs = logs_in(db_dir).map_err(io_error(db_dir))?;
            // Nobody pins it while it catches up.
            let mut still = self.still();
            if still.pins == 0 {
                let caught_up = self.db.try_catch_up_with_primary();
                caught_up.map_err(StoreError::engine("catching up with the writer"))?;
                still.logs = logs.clone();
            }
            if still.logs == logs && is_as_it_was()? {
                return Ok(None);
            }
        }
        let next = Self::open_secondary(db_dir, scratch, present_families(db_dir)?)?;
        if let Some((number, family)) = next.missing_file(db_dir)? {
            return Err(StoreError::FileLost { path: table(db_dir, number), family });
        }
        Ok(Some(next))
    }

    /// The records of a family within the options' bounds, in key order. They keep the view open.
    pub(super) fn rows(self: Arc<Self>, family: Family, options: ReadOptions) -> Result<Rows> {
        Rows::try_new(self, |view| {
            let mut rows = view.db.raw_iterator_cf_opt(view.family(family)?, options);
            rows.seek_to_first();
            Ok(Cursor { rows, state: State::Before })
        })
    }

    pub(super) fn family(&self, family: Family) -> Result<&ColumnFamily> {
        self.db.cf_handle(family.name()).ok_or_else(|| StoreError::Damaged {
            family: family.name(),
            name: String::new(),
            key: String::new(),
            reason: "the column family is missing".to_owned(),
        })
    }

    /// A table file that the manifest names and this view does not have.
    pub(super) fn missing_file(&self, db_dir: &Path) -> Result<Option<(u64, String)>> {
        let named = manifest::live_files(db_dir).map_err(io_error(db_dir))?;
        let files = self.db.live_files().map_err(StoreError::engine("listing files"))?;
        let number = |name: &str| name.trim_matches(|c: char| !c.is_ascii_digit()).parse().ok();
        let present: BTreeSet<u64> = files.iter().filter_map(|file| number(&file.name)).collect();
        Ok(named
            .into_iter()
            .flatten()
            .find(|(file, family)| self.db.cf_handle(family).is_some() && !present.contains(file)))
    }
}

/// A place among rows.
struct Cursor<'v> {
    rows: DBRawIterator<'v>,
    state: State,
}

enum State {
    /// The row that it stands on is the next.
    Before,
    /// The row that it stands on was read.
    Read,
    /// There are no more.
    Done,
}

self_cell! {
    /// Records under way, and the view that they are read from.
    pub(super) struct Rows {
        owner: Arc<View>,
        #[covariant]
        dependent: Cursor,
    }
}

impl Rows {
    /// What is made of the next row, whose key and value are not copied.
    pub(super) fn read<T>(
        &mut self,
        read: impl FnOnce(&[u8], &[u8]) -> Result<T>,
    ) -> Option<Result<T>> {
        self.with_dependent_mut(|_, Cursor { rows, state }| {
            match state {
                State::Before => {}
                State::Read => rows.next(),
                State::Done => return None,
            }
            if let Some((key, value)) = rows.item() {
                *state = State::Read;
                return Some(read(key, value));
            }
            *state = State::Done;
            rows.status().err().map(|error| Err(StoreError::engine("scanning records")(error)))
        })
    }

    /// What is made of each row.
    pub(super) fn each<T>(
        mut self,
        mut read: impl FnMut(&[u8], &[u8]) -> Result<T>,
    ) -> impl Iterator<Item = Result<T>> {
        std::iter::from_fn(move || self.read(&mut read))
    }

    /// Goes on with the first record from a key on.
    #[cfg(feature = "neural")]
    pub(super) fn skip_to(&mut self, key: &[u8]) {
        self.with_dependent_mut(|_, Cursor { rows, state }| {
            rows.seek(key);
            *state = State::Before;
        });
    }
}

impl Iterator for Rows {
    type Item = Result<KeyValue>;

    fn next(&mut self) -> Option<Self::Item> {
        self.read(|key, value| Ok((key.into(), value.into())))
    }
}

/// The logs of a writer, with their lengths: a commit makes one longer.
fn logs_in(db_dir: &Path) -> std::io::Result<BTreeSet<(OsString, u64)>> {
    let mut logs = BTreeSet::new();
    for entry in std::fs::read_dir(db_dir)? {
        let entry = entry?;
        let name = entry.file_name();
        if Path::new(&name).extension().is_some_and(|it| it == "log") {
            match entry.metadata() {
                Ok(metadata) => drop(logs.insert((name, metadata.len()))),
                // The writer has taken it away.
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
    }
    Ok(logs)
}

/// A table file of a number.
pub(super) fn table(db_dir: &Path, number: u64) -> PathBuf {
    db_dir.join(format!("{number:06}.sst"))
}

fn io_error(path: &Path) -> impl FnOnce(std::io::Error) -> StoreError {
    let path = path.to_owned();
    |source| StoreError::Io { path, source }
}
