//! Which table files a RocksDB says it has: its MANIFEST, read as RocksDB writes it.
//!
//! A secondary takes a table file that is missing, or whose index is damaged, for one that the
//! primary has deleted. It shows the column family without it: fewer rows and no error. So a reader
//! compares the files that its handle has with those that the MANIFEST names.
//!
//! The MANIFEST is a log of *version edits* in blocks of 32 KiB (RocksDB, `db/log_format.h`); an
//! edit is a sequence of tagged fields (`db/version_edit.h`). A field that this file does not know
//! ends the reading without an answer, and nothing is compared.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::path::Path;

const BLOCK: usize = 32 << 10;
/// Checksum (4 bytes), length (2), kind (1).
const HEADER: usize = 7;
const FULL: u8 = 1;
const FIRST: u8 = 2;
const MIDDLE: u8 = 3;
const LAST: u8 = 4;

/// The live table files by number, each with its column family; `None` when the MANIFEST holds
/// something unknown.
pub(super) fn live_files(db_dir: &Path) -> io::Result<Option<BTreeMap<u64, String>>> {
    let current = std::fs::read_to_string(db_dir.join("CURRENT"))?;
    let log = std::fs::read(db_dir.join(current.trim_end()))?;
    let mut live = Live::default();
    for record in records(&log) {
        if live.apply(&record).is_none() {
            return Ok(None);
        }
    }
    let name = |family: &u32| live.names.get(family).cloned();
    Ok(live.files.iter().map(|(file, family)| Some((*file, name(family)?))).collect())
}

/// What stands for the state of the tables: the MANIFEST's name and length. It grows with every
/// table that is made or goes.
pub(super) type Stamp = (String, u64);

/// Where the tables of a RocksDB stand.
pub(super) fn stamp(db_dir: &Path) -> io::Result<Stamp> {
    let name = std::fs::read_to_string(db_dir.join("CURRENT"))?.trim_end().to_owned();
    let length = std::fs::metadata(db_dir.join(&name))?.len();
    Ok((name, length))
}

/// The records of a log; one cut short at the end is left out.
fn records(log: &[u8]) -> Vec<Vec<u8>> {
    let mut records = Vec::new();
    let mut record = Vec::new();
    let mut at = 0;
    loop {
        let left_in_block = BLOCK - at % BLOCK;
        if left_in_block < HEADER {
            at += left_in_block;
        }
        let Some(header) = log.get(at..at + HEADER) else { return records };
        let length = usize::from(header[4]) | usize::from(header[5]) << 8;
        let start = at + HEADER;
        let Some(piece) = log.get(start..start + length) else { return records };
        match header[6] {
            FULL | FIRST => record = piece.to_vec(),
            MIDDLE | LAST => record.extend_from_slice(piece),
            _ => return records,
        }
        if matches!(header[6], FULL | LAST) {
            records.push(std::mem::take(&mut record));
        }
        at = start + length;
    }
}

/// What the edits so far add up to.
struct Live {
    files: BTreeMap<u64, u32>,
    names: HashMap<u32, String>,
}

impl Default for Live {
    fn default() -> Self {
        Self { files: BTreeMap::new(), names: HashMap::from([(0, "default".to_owned())]) }
    }
}

impl Live {
    /// Applies an edit; `None` when it is not one that is known.
    fn apply(&mut self, edit: &[u8]) -> Option<()> {
        let mut fields = Fields(edit);
        let (mut family, mut added, mut name) = (0, Vec::new(), None);
        while !fields.0.is_empty() {
            match fields.number()? {
                // Log number, next file, last sequence, previous log, oldest log to keep, highest
                // family, place in an atomic group.
                2 | 3 | 4 | 9 | 10 | 203 | 300 => drop(fields.number()?),
                // Comparator, and whatever newer versions may ignore: identity, logs, times.
                1 | 0x2000.. => drop(fields.bytes()?),
                // Where a compaction goes on: level, key.
                5 => drop((fields.number()?, fields.bytes()?)),
                // A file that is gone: level, number.
                6 => {
                    fields.number()?;
                    self.files.remove(&fields.number()?);
                }
                // A new file.
                103 => added.push(new_file(&mut fields)?),
                200 => family = u32::try_from(fields.number()?).ok()?,
                201 => name = Some(String::from_utf8(fields.bytes()?.to_vec()).ok()?),
                _ => return None,
            }
        }
        // A file that moves to another level is deleted and added by one edit.
        self.files.extend(added.into_iter().map(|file| (file, family)));
        if let Some(name) = name {
            self.names.insert(family, name);
        }
        Some(())
    }
}

/// Reads over a new file's fields; gives its number.
fn new_file(fields: &mut Fields<'_>) -> Option<u64> {
    const END: u64 = 1;
    let _level = fields.number()?;
    let number = fields.number()?;
    let _size = fields.number()?;
    let (_smallest, _largest) = (fields.bytes()?, fields.bytes()?);
    let (_oldest, _newest) = (fields.number()?, fields.number()?);
    while fields.number()? != END {
        fields.bytes()?;
    }
    Some(number)
}

/// What is left of an edit.
struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    /// A number, seven bits a byte, the lowest first.
    fn number(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let (byte, rest) = self.0.split_first()?;
            self.0 = rest;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }

    /// Bytes after their length.
    fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = usize::try_from(self.number()?).ok()?;
        let (bytes, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(bytes)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rocksdb::{DB, Options};

    use super::*;

    fn numbers(db: &DB) -> BTreeMap<u64, String> {
        let number = |name: &str| name.trim_matches(|c: char| !c.is_ascii_digit()).parse().unwrap();
        let files = db.live_files().unwrap().into_iter();
        files.map(|file| (number(&file.name), file.column_family_name)).collect()
    }

    #[test]
    fn the_manifest_names_the_files_that_rocksdb_has() {
        let dir = tempfile::tempdir().unwrap();
        let mut options = Options::default();
        options.create_if_missing(true);
        options.create_missing_column_families(true);
        options.set_max_manifest_file_size(64 << 10);
        let db = DB::open_cf(&options, dir.path(), ["a", "b"]).unwrap();
        // Long keys, so that edits cross the blocks of the log and a second MANIFEST is begun.
        for round in 0..120_u32 {
            for family in ["a", "b"] {
                let key = format!("{round:0300}{family}");
                db.put_cf(db.cf_handle(family).unwrap(), key, [0; 64]).unwrap();
                db.flush_cf(db.cf_handle(family).unwrap()).unwrap();
            }
            if round % 40 == 30 {
                db.compact_range_cf(db.cf_handle("a").unwrap(), None::<&[u8]>, None::<&[u8]>);
            }
        }
        db.cancel_all_background_work(true);
        let expected = numbers(&db);
        assert!(expected.len() > 1, "{expected:?}");
        assert_eq!(live_files(dir.path()).unwrap(), Some(expected));
    }

    proptest! {
        #[test]
        fn no_bytes_make_the_reader_panic(log: Vec<u8>, edit: Vec<u8>) {
            records(&log);
            let _ = Live::default().apply(&edit);
        }
    }
}
