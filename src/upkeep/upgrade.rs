//! Bringing a store to this build's format, after a backup.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::database::{Database, Result};
use crate::store::{FORMAT, Store, StoreError};

/// What an upgrade did, or would do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UpgradeReport {
    /// The store's format before, `(major, minor)`.
    pub from: (u16, u16),
    /// The store's format after: this build's, or a newer minor one that the store has already.
    pub to: (u16, u16),
    /// Rows in older record versions, by column family.
    pub outdated: BTreeMap<&'static str, u64>,
    /// Where the backup was written; `None` when nothing had to be upgraded.
    pub backup: Option<PathBuf>,
}

impl UpgradeReport {
    /// Whether there was nothing to do.
    #[must_use]
    pub fn is_current(&self) -> bool {
        self.from == self.to && self.outdated.is_empty()
    }
}

impl Database {
    /// Says what [`upgrade`](Self::upgrade) would do, and changes nothing.
    ///
    /// # Errors
    /// When there is no store, or a row cannot be read.
    pub fn upgrade_needed(dir: &Path) -> Result<UpgradeReport> {
        let store = Self::open(dir)?.store;
        let from = store.format()?;
        let outdated = store.outdated_rows()?;
        Ok(UpgradeReport { from, to: from.max(FORMAT), outdated, backup: None })
    }

    /// Rewrites what stands in older record versions, after a backup into `backup`; a store that is
    /// current already is left alone, without a backup.
    ///
    /// One that was stopped resumes where it was: a backup of the store at its revision that lies
    /// in `backup` is the one that it wrote, and stays. Nobody writes the store between the backup
    /// and the upgrade.
    ///
    /// # Errors
    /// When there is no store, another process writes it, something else lies in `backup` or it
    /// cannot be written, or a row cannot be read.
    pub fn upgrade(dir: &Path, backup: &Path) -> Result<UpgradeReport> {
        let dir = &std::path::absolute(dir)
            .map_err(|source| StoreError::Io { path: dir.to_owned(), source })?;
        let report = Self::upgrade_needed(dir)?;
        if report.is_current() {
            return Ok(report);
        }
        let reservation = Store::reserve(dir)?;
        // Once more: a writer may have been at it until now.
        let mut report = Self::upgrade_needed(dir)?;
        // Before the writer opens it: that already claims this build's format.
        Self::open(dir)?.backup_once(backup)?;
        report.backup = Some(backup.to_owned());
        let database = Self::over_writer(Store::open_reserved(reservation)?)?;
        report.outdated = database.store.rewrite_outdated()?;
        database.close()?;
        Ok(report)
    }
}
