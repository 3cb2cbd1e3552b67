//! What of a store lies in a folder.

use std::path::{Path, PathBuf};

use rocksdb::{DB, Options};

use super::error::OPENING;
use super::family::Family;
use super::{Result, StoreError, acknowledged};

/// Whether a store lies in `dir`.
pub(super) fn exists(dir: &Path) -> bool {
    current(dir).is_file()
}

/// The file that RocksDB begins to read at.
fn current(dir: &Path) -> PathBuf {
    dir.join("db").join("CURRENT")
}

/// Why there is no store to open: none was made, or one with acknowledged commits is damaged.
pub(super) fn absent_or_lost(dir: &Path) -> StoreError {
    let family = Family::Meta.name().to_owned();
    match acknowledged::last(dir) {
        Some(revision) if revision > 0 => StoreError::FileLost { path: current(dir), family },
        _ => StoreError::Absent { path: dir.to_owned() },
    }
}

/// That the list of a store's tables, which its first file names, is gone. While a writer opens
/// that may pass.
pub(super) fn lost_manifest(dir: &Path) -> Option<StoreError> {
    let name = std::fs::read_to_string(current(dir)).ok()?;
    let path = dir.join("db").join(name.trim_end());
    let family = Family::Meta.name().to_owned();
    (!path.exists()).then_some(StoreError::FileLost { path, family })
}

/// The families that RocksDB has there.
pub(super) fn present_families(db_dir: &Path) -> Result<Vec<String>> {
    DB::list_cf(&Options::default(), db_dir).map_err(StoreError::engine(OPENING))
}
