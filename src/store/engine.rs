//! RocksDB behind plain gets, scans and batches: opening, column families, format check.
//!
//! A writer opens the store as RocksDB's primary, under [`super::lock`]. A reader opens it as a
//! *secondary*, which takes no lock and is safe beside a live writer (RocksDB's own words on plain
//! read-only opening beside one: undefined behaviour). A secondary shows one view until
//! [`Engine::refresh`].

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Mutex;
use std::time::Duration;

use rocksdb::properties::{
    CUR_SIZE_ALL_MEM_TABLES, ESTIMATE_NUM_KEYS, PropName, TOTAL_SST_FILES_SIZE,
};
use rocksdb::{
    BottommostLevelCompaction, ColumnFamily, CompactOptions, DB, IteratorMode, Options,
    PrefixRange, ReadOptions, WriteBatch, WriteOptions,
};

use super::lock::WriterLock;
use super::scratch::Scratch;
use super::tuning::{database_options, descriptors};
use super::{StoreError, acknowledged, book_of, manifest, replace};

type Result<T> = std::result::Result<T, StoreError>;

/// A key and its value.
pub(super) type KeyValue = (Box<[u8]>, Box<[u8]>);

/// Format of the store's keys and records. A new major one is not readable by this build; a new
/// minor one only adds.
pub const FORMAT: (u16, u16) = (1, 3);

/// Column families.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Family {
    Meta,
    Frame,
    Relation,
    SemType,
    LexUnit,
    Document,
    Sentence,
    Annotation,
    SentenceLayers,
    SetLocation,
    BySentence,
    Name,
    Recipe,
    Journal,
    Judgement,
    Layout,
    Change,
}

impl Family {
    pub(super) const ALL: [Self; 17] = [
        Self::Meta,
        Self::Frame,
        Self::Relation,
        Self::SemType,
        Self::LexUnit,
        Self::Document,
        Self::Sentence,
        Self::Annotation,
        Self::SentenceLayers,
        Self::SetLocation,
        Self::BySentence,
        Self::Name,
        Self::Recipe,
        Self::Journal,
        Self::Judgement,
        Self::Layout,
        Self::Change,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Meta => "meta",
            Self::Frame => "frame",
            Self::Relation => "relation",
            Self::SemType => "semtype",
            Self::LexUnit => "lexunit",
            Self::Document => "document",
            Self::Sentence => "sentence",
            Self::Annotation => "annotation",
            Self::SentenceLayers => "sentence_layers",
            Self::SetLocation => "set_location",
            Self::BySentence => "by_sentence",
            Self::Name => "name",
            Self::Recipe => "recipe",
            Self::Journal => "journal",
            Self::Judgement => "judgement",
            Self::Layout => "layout",
            Self::Change => "change",
        }
    }

    /// Whether the family's keys start with a release.
    pub(super) fn by_release(self) -> bool {
        !matches!(self, Self::Meta | Self::Recipe | Self::Change)
    }

    /// Whether stores of format 1.0 have the family. A reader finds nothing in one that a store lacks;
    /// a writer makes it.
    fn in_first_format(self) -> bool {
        !matches!(self, Self::Layout)
    }
}

/// Key of the format in `meta`: two big-endian u16, readable by every version of fnstore.
const FORMAT_KEY: &[u8] = b"format";
/// Key of the fnstore version that wrote the store last, as text, for the message of a refusal.
const WRITTEN_BY_KEY: &[u8] = b"written_by";

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

/// An open RocksDB.
pub(super) struct Engine {
    db: DB,
    _lock: Option<WriterLock>,
    /// For a secondary's log.
    _scratch: Option<Scratch>,
}

impl Engine {
    /// Opens the store for writing; `despite_loss` says that it may be one that has lost commits.
    pub(super) fn open_writer(dir: &Path, create: bool, despite_loss: bool) -> Result<Self> {
        if !exists(dir) && !replace::is_underway(dir) {
            if !create {
                return Err(StoreError::Absent { path: dir.to_owned() });
            }
            std::fs::create_dir_all(dir)
                .map_err(|source| StoreError::Io { path: dir.to_owned(), source })?;
        }
        Self::open_locked(dir, WriterLock::take(dir)?, despite_loss)
    }

    /// Opens the store as the writer that holds the lock, and makes one when there is none.
    pub(super) fn open_locked(dir: &Path, lock: WriterLock, despite_loss: bool) -> Result<Self> {
        let db_dir = dir.join("db");
        replace::recover(dir)?;
        let fresh = !exists(dir);
        let mut options = database_options();
        options.create_if_missing(true);
        options.create_missing_column_families(true);
        let mut names: Vec<String> =
            Family::ALL.iter().map(|family| family.name().to_owned()).collect();
        if !fresh {
            // Refused before the primary opens it, which tidies up and cuts the log where it ends.
            match Self::look_at(dir) {
                Err(StoreError::CommitsLost { .. }) if despite_loss => {}
                Err(error @ (StoreError::Format { .. } | StoreError::CommitsLost { .. })) => {
                    return Err(error);
                }
                _ => {}
            }
            // RocksDB's primary must open every family there is, a newer format's too.
            let present = present_families(&db_dir)?;
            names.extend(present.into_iter().filter(|name| !is_family(name)));
        }
        let db = DB::open_cf_descriptors(&options, &db_dir, descriptors(names))
            .map_err(StoreError::engine("opening the store"))?;
        let engine = Self { db, _lock: Some(lock), _scratch: None };
        // A newer minor format stays what it is: this build does not take away what that one added.
        let (major, minor) = engine.check_format(dir)?.map_or(FORMAT, |found| found.max(FORMAT));
        let mut batch = WriteBatch::default();
        let format = [major.to_be_bytes(), minor.to_be_bytes()].concat();
        batch.put_cf(engine.family(Family::Meta)?, FORMAT_KEY, format);
        batch.put_cf(engine.family(Family::Meta)?, WRITTEN_BY_KEY, env!("CARGO_PKG_VERSION"));
        engine.write_synced(batch)?;
        Ok(engine)
    }

    /// Opens the store beside a writer or alone. A writer may take away a file between the moment
    /// a reader learns its name and the moment it opens it; then the reader starts over.
    pub(super) fn open_reader(dir: &Path) -> Result<Self> {
        let mut pauses = PAUSES.into_iter();
        loop {
            let outcome = Self::open_secondary(dir);
            let lost = matches!(
                outcome,
                Err(StoreError::Engine { .. }
                    | StoreError::Damaged { .. }
                    | StoreError::CommitsLost { .. }
                    | StoreError::Io { .. })
            ) || replace::is_underway(dir);
            match pauses.next() {
                Some(pause) if lost => std::thread::sleep(pause),
                _ => return outcome,
            }
        }
    }

    fn open_secondary(dir: &Path) -> Result<Self> {
        let absent = || StoreError::Absent { path: dir.to_owned() };
        if !exists(dir) {
            return Err(absent());
        }
        let db_dir = dir.join("db");
        let present = present_families(&db_dir)?;
        if !present.iter().any(|name| name == Family::Meta.name()) {
            return Err(absent());
        }
        let scratch = Scratch::new()?;
        let db = DB::open_cf_descriptors_as_secondary(
            &database_options(),
            db_dir.as_path(),
            scratch.path(),
            descriptors(present),
        )
        .map_err(StoreError::engine("opening the store for reading"))?;
        let engine = Self { db, _lock: None, _scratch: Some(scratch) };
        // Before the refresh: what is acknowledged now, the writer has written.
        let acknowledged = acknowledged::last(dir);
        engine.refresh()?;
        engine.require_all_files(&db_dir)?;
        // The format is written last: without it the store is being made, or its making was cut
        // short, and there is nothing to read.
        engine.check_format(dir)?.ok_or_else(absent)?;
        // The families may be listed before the last of them is made.
        let mut families = Family::ALL.into_iter().filter(|family| family.in_first_format());
        families.try_for_each(|family| engine.family(family).map(drop))?;
        engine.require_revision(dir, acknowledged)?;
        Ok(engine)
    }

    /// Opens a store that nobody writes, without touching it, to see whether it may be written.
    fn look_at(dir: &Path) -> Result<()> {
        let db_dir = dir.join("db");
        let present = descriptors(present_families(&db_dir)?);
        let db = DB::open_cf_descriptors_read_only(&database_options(), &db_dir, present, false)
            .map_err(StoreError::engine("looking at the store"))?;
        let engine = Self { db, _lock: None, _scratch: None };
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

    /// A secondary leaves out what it cannot open, without an error. Beside a writer that is right for
    /// files that are gone by the time it looks: the view is then brought up to where they are.
    fn require_all_files(&self, db_dir: &Path) -> Result<()> {
        let mut pauses = PAUSES.into_iter();
        loop {
            let Some((number, family)) = self.missing_file(db_dir)? else { return Ok(()) };
            let Some(pause) = pauses.next() else {
                let path = db_dir.join(format!("{number:06}.sst"));
                return Err(StoreError::FileLost { path, family });
            };
            std::thread::sleep(pause);
            self.refresh()?;
        }
    }

    /// A table file that the manifest names and this handle does not have.
    fn missing_file(&self, db_dir: &Path) -> Result<Option<(u64, String)>> {
        let named = manifest::live_files(db_dir)
            .map_err(|source| StoreError::Io { path: db_dir.to_owned(), source })?;
        let files = self.db.live_files().map_err(StoreError::engine("listing files"))?;
        let number = |name: &str| name.trim_matches(|c: char| !c.is_ascii_digit()).parse().ok();
        let present: BTreeSet<u64> = files.iter().filter_map(|file| number(&file.name)).collect();
        Ok(named
            .into_iter()
            .flatten()
            .find(|(file, family)| self.db.cf_handle(family).is_some() && !present.contains(file)))
    }

    /// The store's format, which must be one that this build reads; `None` for a store that holds
    /// nothing yet (its making may have been cut short).
    pub(super) fn check_format(&self, dir: &Path) -> Result<Option<(u16, u16)>> {
        let version = |major: u16, minor: u16| format!("{major}.{minor}");
        let Some(found) = self.get(Family::Meta, FORMAT_KEY)? else { return Ok(None) };
        let (major, minor) = match found.as_slice() {
            [a, b, c, d] => (u16::from_be_bytes([*a, *b]), u16::from_be_bytes([*c, *d])),
            _ => return Err(StoreError::damaged(Family::Meta.name(), FORMAT_KEY, "no format")),
        };
        if major == FORMAT.0 {
            return Ok(Some((major, minor)));
        }
        let written_by = self.get(Family::Meta, WRITTEN_BY_KEY)?.unwrap_or_default();
        Err(StoreError::Format {
            path: dir.to_owned(),
            found: version(major, minor),
            supported: version(FORMAT.0, FORMAT.1),
            written_by: String::from_utf8_lossy(&written_by).into_owned(),
        })
    }

    /// Whether this handle may write.
    pub(super) fn is_writer(&self) -> bool {
        self._lock.is_some()
    }

    /// Takes up what the writer has committed since the handle was opened or refreshed last.
    pub(super) fn refresh(&self) -> Result<()> {
        if self.is_writer() {
            return Ok(());
        }
        self.db
            .try_catch_up_with_primary()
            .map_err(StoreError::engine("catching up with the writer"))
    }

    pub(super) fn get(&self, family: Family, key: &[u8]) -> Result<Option<Vec<u8>>> {
        let Some(handle) = self.readable(family)? else { return Ok(None) };
        self.db.get_cf(handle, key).map_err(StoreError::engine("reading a record"))
    }

    /// The records whose keys start with `prefix`, in key order.
    pub(super) fn scan(
        &self,
        family: Family,
        prefix: Vec<u8>,
    ) -> Result<impl Iterator<Item = Result<KeyValue>> + '_> {
        let mut options = ReadOptions::default();
        options.set_iterate_range(PrefixRange(prefix));
        self.rows(family, options)
    }

    /// The records from a key on, in key order.
    pub(super) fn scan_from(
        &self,
        family: Family,
        start: Vec<u8>,
    ) -> Result<impl Iterator<Item = Result<KeyValue>> + '_> {
        let mut options = ReadOptions::default();
        options.set_iterate_range(start..);
        self.rows(family, options)
    }

    fn rows(
        &self,
        family: Family,
        options: ReadOptions,
    ) -> Result<impl Iterator<Item = Result<KeyValue>> + '_> {
        let handle = self.readable(family)?;
        let rows = handle
            .map(|handle| self.db.iterator_cf_opt(handle, options, IteratorMode::Start))
            .into_iter()
            .flatten();
        Ok(rows.map(|row| row.map_err(StoreError::engine("scanning records"))))
    }

    /// About how many records a family holds, by what the files say of themselves.
    pub(super) fn estimated_records(&self, family: Family) -> Result<u64> {
        let found = self.db.property_int_value_cf(self.family(family)?, ESTIMATE_NUM_KEYS);
        Ok(found.map_err(StoreError::engine("estimating a family's size"))?.unwrap_or_default())
    }

    /// Every record of a family, in key order: read from the files, checksums verified, and not kept
    /// in the cache.
    pub(super) fn read_through(
        &self,
        family: Family,
    ) -> Result<impl Iterator<Item = Result<KeyValue>> + '_> {
        let mut options = ReadOptions::default();
        options.set_verify_checksums(true);
        options.fill_cache(false);
        self.rows(family, options)
    }

    /// RocksDB itself, for what goes over whole families.
    pub(super) fn db(&self) -> &DB {
        &self.db
    }

    pub(super) fn put(
        &self,
        batch: &mut WriteBatch,
        family: Family,
        key: &[u8],
        value: &[u8],
    ) -> Result<()> {
        batch.put_cf(self.family(family)?, key, value);
        Ok(())
    }

    pub(super) fn delete(&self, batch: &mut WriteBatch, family: Family, key: &[u8]) -> Result<()> {
        batch.delete_cf(self.family(family)?, key);
        Ok(())
    }

    pub(super) fn delete_from(
        &self,
        batch: &mut WriteBatch,
        family: Family,
        start: &[u8],
        end: &[u8],
    ) -> Result<()> {
        batch.delete_range_cf(self.family(family)?, start, end);
        Ok(())
    }

    /// Writes a batch that survives a crash of the machine once this returns.
    pub(super) fn write_synced(&self, batch: WriteBatch) -> Result<()> {
        self.require_writer()?;
        let mut options = WriteOptions::default();
        options.set_sync(true);
        self.db.write_opt(batch, &options).map_err(StoreError::engine("committing"))
    }

    /// Writes a batch that only [`Engine::flush`] makes safe.
    pub(super) fn write_bulk(&self, batch: WriteBatch) -> Result<()> {
        self.require_writer()?;
        self.db.write_without_wal(batch).map_err(StoreError::engine("writing"))
    }

    /// Writes everything in memory to files.
    pub(super) fn flush(&self) -> Result<()> {
        for family in Family::ALL {
            self.db.flush_cf(self.family(family)?).map_err(StoreError::engine("flushing"))?;
        }
        Ok(())
    }

    /// Writes everything in memory to files and sorts the files of each family into one level.
    pub(super) fn compact(&self) -> Result<()> {
        self.require_writer()?;
        self.flush()?;
        // The largest first, shared out among the threads that there are.
        let mut families = Vec::new();
        for family in Family::ALL {
            families.push((self.size(family)?.1, self.family(family)?));
        }
        families.sort_unstable_by_key(|(bytes, _)| *bytes);
        let waiting = Mutex::new(families);
        let next = || waiting.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).pop();
        let compact = || {
            let mut options = CompactOptions::default();
            options.set_bottommost_level_compaction(BottommostLevelCompaction::ForceOptimized);
            options.set_exclusive_manual_compaction(false);
            while let Some((_, family)) = next() {
                self.db.compact_range_cf_opt(family, None::<&[u8]>, None::<&[u8]>, &options);
            }
        };
        std::thread::scope(|scope| {
            scope.spawn(compact);
            compact();
        });
        Ok(())
    }

    /// Stops or resumes the packing of files that nothing reads while rows are loaded: each row is
    /// then packed once, by [`Engine::compact`]. What is read at every write is packed all the time.
    pub(super) fn pause_packing(&self, pause: bool) -> Result<()> {
        self.require_writer()?;
        let option = [("disable_auto_compactions", if pause { "true" } else { "false" })];
        for family in [Family::Annotation, Family::Sentence, Family::BySentence, Family::Change] {
            self.db
                .set_options_cf(self.family(family)?, &option)
                .map_err(StoreError::engine("changing options"))?;
        }
        Ok(())
    }

    /// About how many rows a family has, and the bytes of its files.
    pub(super) fn size(&self, family: Family) -> Result<(u64, u64)> {
        let family = self.family(family)?;
        let property = |name: &PropName| {
            let value = self.db.property_int_value_cf(family, name);
            value.map(Option::unwrap_or_default).map_err(StoreError::engine("reading a size"))
        };
        Ok((property(ESTIMATE_NUM_KEYS)?, property(TOTAL_SST_FILES_SIZE)?))
    }

    /// Bytes that only the log holds on disk, about: a reader reads them again as it opens.
    fn unflushed(&self) -> u64 {
        let of = |family: Family| {
            let family = self.db.cf_handle(family.name())?;
            self.db.property_int_value_cf(family, CUR_SIZE_ALL_MEM_TABLES).ok().flatten()
        };
        Family::ALL.into_iter().filter_map(of).sum()
    }

    fn require_writer(&self) -> Result<()> {
        if self.is_writer() { Ok(()) } else { Err(StoreError::ReadOnly) }
    }

    /// The family's handle; `None` when the store is of a format without it.
    fn readable(&self, family: Family) -> Result<Option<&ColumnFamily>> {
        match self.family(family) {
            Err(_) if !family.in_first_format() => Ok(None),
            found => found.map(Some),
        }
    }

    fn family(&self, family: Family) -> Result<&ColumnFamily> {
        self.db.cf_handle(family.name()).ok_or_else(|| StoreError::Damaged {
            family: family.name(),
            key: String::new(),
            reason: "the column family is missing".to_owned(),
        })
    }
}

impl Drop for Engine {
    /// A writer leaves readers little of the log to read. What cannot be flushed stays in the log.
    fn drop(&mut self) {
        if self.is_writer() && self.unflushed() > LONG_LOG {
            let _ = self.flush();
        }
    }
}

/// Whether a store lies in `dir`.
pub(super) fn exists(dir: &Path) -> bool {
    dir.join("db").join("CURRENT").is_file()
}

fn is_family(name: &str) -> bool {
    Family::ALL.iter().any(|family| family.name() == name)
}

pub(super) fn present_families(db_dir: &Path) -> Result<Vec<String>> {
    DB::list_cf(&Options::default(), db_dir).map_err(StoreError::engine("reading the manifest"))
}
