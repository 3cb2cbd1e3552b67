//! Backups: a copy of the store at one revision, with a manifest that tells whether it is still
//! what was written.
//!
//! A backup is written as any reader reads, so it can be taken beside a live writer and from
//! read-only media. Reading verifies every checksum, so damage is not carried along. It holds no
//! index, which is derived; restoring builds one. `backup.json` is written last, and the whole
//! directory takes its name by one rename. So what looks like a backup is one.

mod manifest;

use std::io;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

pub use manifest::BackupManifest;

use crate::database::{BackupError, Database, DatabaseError, Result};
use crate::durable::{NewDirectory, create_directory, folder_of};
use crate::store::{Replacement, Store, StoreError};
use manifest::io_error;

impl Database {
    /// Writes a backup of the database as it is now into `dir`, which must not exist or be empty.
    ///
    /// # Errors
    /// When something is in `dir`, it is inside the database's own directory, a row cannot be read,
    /// or the backup cannot be written; then nothing is left of it.
    pub fn backup(&self, dir: &Path) -> Result<BackupManifest> {
        self.require_outside(dir)
            .map_err(|source| BackupError::Place { path: dir.to_owned(), source })?;
        // Other threads commit with this handle, or refresh it; a view of its own stays one state.
        let store = Store::open_reader(&self.dir)?;
        let parent = folder_of(dir);
        create_directory(parent).map_err(io_error(parent))?;
        let unfinished = match NewDirectory::create(dir, ".fnstore-backup-") {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                return Err(BackupError::NotEmpty { path: dir.to_owned() }.into());
            }
            Err(source) if source.kind() == io::ErrorKind::ResourceBusy => {
                return Err(BackupError::Place { path: dir.to_owned(), source }.into());
            }
            outcome => outcome.map_err(io_error(dir))?,
        };
        let mut manifest = BackupManifest {
            fnstore: env!("CARGO_PKG_VERSION").to_owned(),
            format: format_of(&store)?,
            revision: store.revision()?,
            created: SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |age| age.as_secs()),
            releases: store.releases()?.into_iter().map(|release| release.name).collect(),
            resources: store.resource_names()?,
            rows: store.copy_to(unfinished.path())?,
            bytes: 0,
            files: Default::default(),
        };
        manifest.take_files(unfinished.path())?;
        manifest.write(unfinished.path())?;
        unfinished.publish().map_err(io_error(dir))?;
        Ok(manifest)
    }
}

/// Puts the store of the backup in `backup` in the place of the one in `dir`, or makes one there.
///
/// Every file is compared with its hash, and the store opened and its index built, before
/// anything is replaced. Readers that have the old store open must open it again.
///
/// # Errors
/// When the backup is none, is damaged or holds a store of another format, when the store that
/// would be replaced is of another format, or another process writes it; then the store is as it
/// was.
pub fn restore(backup: &Path, dir: &Path) -> Result<BackupManifest> {
    let manifest = BackupManifest::read(backup)?;
    manifest.verify(backup)?;
    // What a program of another format can still read is not thrown away.
    if Store::exists(dir)
        && let Err(error @ StoreError::Format { .. }) = Store::open_reader(dir)
    {
        return Err(error.into());
    }
    restore_under_lock(backup, &manifest, Replacement::begin(dir)?)?;
    Ok(manifest)
}

/// The store's format, as a manifest says it.
fn format_of(store: &Store) -> Result<String> {
    let (major, minor) = store.format()?;
    Ok(format!("{major}.{minor}"))
}

/// Why the copied store does not open: damage is the backup's, and a disk that is full, say, tells
/// nothing of it.
fn open_error(error: DatabaseError, backup: &Path) -> DatabaseError {
    let reason = match error {
        DatabaseError::Store(error) if error.is_damage() => match error {
            StoreError::Engine { reason, .. } => reason,
            error => error.to_string(),
        },
        other => return other,
    };
    BackupError::Damaged { path: backup.to_owned(), reason }.into()
}

fn restore_under_lock(
    backup: &Path,
    manifest: &BackupManifest,
    replacement: Replacement,
) -> Result<()> {
    let incoming = replacement.incoming();
    manifest.copy_files(backup, &incoming)?;
    // Once more, of what was copied: opening it changes files.
    manifest.verify(&incoming)?;
    let store = Store::open_reader(&incoming).map_err(|error| open_error(error.into(), backup))?;
    manifest.describes(&store, backup)?;
    drop(store);
    let restored =
        Database::open_existing_writer(&incoming).map_err(|error| open_error(error, backup))?;
    // What was committed behind the backup's revision is no more: those who followed it are told.
    restored.store().begin_generation()?;
    restored.close()?;
    Ok(replacement.commit()?)
}
