//! The manifest of a backup: what it is, and the hash of every file.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::database::BackupError;

type Result<T> = std::result::Result<T, BackupError>;

/// Name of the manifest.
const FILE: &str = "backup.json";

/// Files that RocksDB writes for itself and never reads.
fn is_log(name: &str) -> bool {
    name == "LOCK" || name.starts_with("LOG")
}

/// What a backup holds; `schema/backup.schema.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackupManifest {
    /// The version of fnstore that wrote it.
    pub fnstore: String,
    /// The store's format, `major.minor`.
    pub format: String,
    /// The store's revision.
    pub revision: u64,
    /// When it was written, seconds since 1970 (UTC).
    pub created: u64,
    /// Names of the releases in it.
    pub releases: Vec<String>,
    /// Number of rows.
    pub rows: u64,
    /// Bytes of all files.
    pub bytes: u64,
    /// BLAKE3 hash of every file, hexadecimal, by name below the backup's directory.
    pub files: BTreeMap<String, String>,
}

impl BackupManifest {
    /// Hashes the files of the store that was copied to `dir`.
    pub(super) fn take_files(&mut self, dir: &Path) -> Result<()> {
        for name in file_names(dir)? {
            let path = dir.join(&name);
            self.bytes += fs::metadata(&path).map_err(io_error(&path))?.len();
            self.files.insert(name, hash(&path)?);
        }
        Ok(())
    }

    /// Writes the manifest, last of all: what has one is whole.
    pub(super) fn write(&self, dir: &Path) -> Result<()> {
        let path = dir.join(FILE);
        let mut json =
            serde_json::to_vec_pretty(self).map_err(io::Error::from).map_err(io_error(&path))?;
        json.push(b'\n');
        fs::write(&path, json).map_err(io_error(&path))
    }

    /// Reads the manifest of a backup, whose files are not looked at.
    ///
    /// # Errors
    /// When the directory holds none.
    pub fn read(dir: &Path) -> Result<Self> {
        let not = |reason: String| BackupError::NotABackup { path: dir.to_owned(), reason };
        let path = dir.join(FILE);
        let text = match fs::read(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(not("there is no `backup.json`".to_owned()));
            }
            Err(error) => return Err(io_error(&path)(error)),
        };
        serde_json::from_slice(&text).map_err(|error| not(format!("`backup.json`: {error}")))
    }

    /// Compares a directory with the manifest, file by file.
    pub(super) fn verify(&self, dir: &Path) -> Result<()> {
        let damaged = |reason| BackupError::Damaged { path: dir.to_owned(), reason };
        let present = file_names(dir)?;
        for name in self.files.keys() {
            if !present.contains(name) {
                return Err(damaged(format!("`{name}` is missing")));
            }
        }
        for name in present {
            let Some(expected) = self.files.get(&name) else {
                return Err(damaged(format!("`{name}` is not one of its files")));
            };
            if hash(&dir.join(&name))? != *expected {
                return Err(damaged(format!("`{name}` has another hash than when it was written")));
            }
        }
        Ok(())
    }

    /// Copies the files into another directory.
    pub(super) fn copy_files(&self, from: &Path, to: &Path) -> Result<()> {
        let db = to.join("db");
        fs::create_dir_all(&db).map_err(io_error(&db))?;
        for name in self.files.keys() {
            let target = to.join(name);
            fs::copy(from.join(name), &target).map_err(io_error(&target))?;
        }
        Ok(())
    }
}

/// Names of a copied store's files, as in `db/CURRENT`, in order.
fn file_names(dir: &Path) -> Result<Vec<String>> {
    let db = dir.join("db");
    let mut names = Vec::new();
    for entry in fs::read_dir(&db).map_err(io_error(&db))? {
        let entry = entry.map_err(io_error(&db))?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if !is_log(&name) {
            names.push(format!("db/{name}"));
        }
    }
    names.sort();
    Ok(names)
}

fn hash(path: &Path) -> Result<String> {
    let mut hasher = blake3::Hasher::new();
    let mut file = File::open(path).map_err(io_error(path))?;
    io::copy(&mut file, &mut hasher).map_err(io_error(path))?;
    Ok(hasher.finalize().to_hex().to_string())
}

pub(super) fn io_error(path: &Path) -> impl FnOnce(io::Error) -> BackupError {
    let path = path.to_owned();
    |source| BackupError::Io { path, source }
}
