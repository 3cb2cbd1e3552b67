//! The manifest of a backup: what it is, and the hash of every file.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::format_of;
use crate::database::BackupError;
use crate::model::Hex64;
use crate::store::{Store, require_format};

type Result<T> = std::result::Result<T, BackupError>;

/// Name of the manifest.
const FILE: &str = "backup.json";

/// Bytes of a manifest, at most: each file takes some hundred of them.
const MOST: u64 = 64 << 20;

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
    /// JSON `{"type": "string", "pattern": "^[0-9]+\\.[0-9]+$"}`.
    pub format: String,
    /// The store's revision.
    pub revision: u64,
    /// When it was written, seconds since 1970 (UTC).
    pub created: u64,
    /// Names of the releases in it.
    pub releases: Vec<String>,
    /// Names of the other lexicons in it.
    #[serde(default)]
    pub resources: Vec<String>,
    /// Number of rows.
    pub rows: u64,
    /// Bytes of all files.
    pub bytes: u64,
    /// BLAKE3 hash of every file, hexadecimal, by name below the backup's directory.
    pub files: BTreeMap<String, Hex64>,
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
    /// When the directory holds none, or one of a store whose format this build does not read.
    pub fn read(dir: &Path) -> crate::database::Result<Self> {
        let manifest = Self::read_any_format(dir)?;
        if let Some(found) = manifest.store_format() {
            require_format(dir, found, &manifest.fnstore)?;
        }
        Ok(manifest)
    }

    /// Major and minor.
    fn store_format(&self) -> Option<(u16, u16)> {
        let (major, minor) = self.format.split_once('.')?;
        Some((major.parse().ok()?, minor.parse().ok()?))
    }

    fn read_any_format(dir: &Path) -> Result<Self> {
        let not = |reason: String| BackupError::NotABackup { path: dir.to_owned(), reason };
        let path = dir.join(FILE);
        let file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(not("there is no `backup.json`".to_owned()));
            }
            Err(error) => return Err(io_error(&path)(error)),
        };
        let mut text = Vec::new();
        file.take(MOST + 1).read_to_end(&mut text).map_err(io_error(&path))?;
        if text.len() as u64 > MOST {
            return Err(not(format!("`backup.json` is larger than {} MiB", MOST >> 20)));
        }
        serde_json::from_slice(&text).map_err(|error| not(format!("`backup.json`: {error}")))
    }

    /// Compares a directory with the manifest, file by file.
    pub(super) fn verify(&self, dir: &Path) -> Result<()> {
        let damaged = |reason| BackupError::Damaged { path: dir.to_owned(), reason };
        let present = file_names(dir)?;
        let mut bytes = 0;
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
            bytes += fs::metadata(dir.join(&name)).map_err(io_error(&dir.join(&name)))?.len();
        }
        agrees(dir, "bytes", &self.bytes, &bytes)
    }

    /// Compares what the manifest says of the store with the store itself.
    pub(super) fn describes(&self, store: &Store, dir: &Path) -> crate::database::Result<()> {
        let releases: Vec<String> =
            store.releases()?.into_iter().map(|release| release.name).collect();
        agrees(dir, "format", &self.format, &format_of(store)?)?;
        agrees(dir, "revision", &self.revision, &store.revision()?)?;
        agrees(dir, "releases", &self.releases, &releases)?;
        agrees(dir, "resources", &self.resources, &store.resource_names()?)?;
        Ok(agrees(dir, "rows", &self.rows, &store.count_rows()?)?)
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

/// Refuses a member of the manifest that says something else than is found.
fn agrees<T: PartialEq + Debug>(dir: &Path, member: &str, said: &T, found: &T) -> Result<()> {
    if said == found {
        return Ok(());
    }
    let reason = format!("`backup.json` says {member} {said:?}, and it has {found:?}");
    Err(BackupError::Damaged { path: dir.to_owned(), reason })
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
