//! Bringing rows of older record versions up to this build's.
//!
//! A row that stands as this build would write it is left alone, so an upgrade that was stopped
//! resumes where it was, and a second one does nothing. Both versions of a record say the same, so
//! readers may go on meanwhile.

use std::collections::BTreeMap;

use rocksdb::WriteBatch;

use super::family::Family;
use super::rows::rewritten;
use super::{Result, Store, StoreError};

/// Bytes of a batch while rewriting.
const BATCH: usize = 4 << 20;

impl Store {
    /// The store's format, `(major, minor)`.
    ///
    /// # Errors
    /// When the engine fails.
    pub fn format(&self) -> Result<(u16, u16)> {
        Ok(self.engine.check_format(&self.dir)?.unwrap_or(super::FORMAT))
    }

    /// Number of rows that stand in an older record version, by column family; families that have
    /// none are left out.
    ///
    /// # Errors
    /// When a row cannot be read or decoded.
    pub fn outdated_rows(&self) -> Result<BTreeMap<&'static str, u64>> {
        let mut outdated = BTreeMap::new();
        for family in Family::ALL {
            self.each_outdated(family, |_, _| {
                *outdated.entry(family.name()).or_insert(0) += 1;
                Ok(())
            })?;
        }
        Ok(outdated)
    }

    /// Rewrites the rows that stand in an older record version; gives their number by column
    /// family. The revision stays: nothing that a record says changes.
    ///
    /// # Errors
    /// When a row cannot be read or decoded, or the handle is a reader's.
    pub fn rewrite_outdated(&self) -> Result<BTreeMap<&'static str, u64>> {
        let _no_commit_meanwhile =
            self.commit.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let mut rewritten = BTreeMap::new();
        for family in Family::ALL {
            let mut batch = WriteBatch::default();
            self.each_outdated(family, |key, value| {
                *rewritten.entry(family.name()).or_insert(0) += 1;
                self.engine.put(&mut batch, family, key, &value)?;
                if batch.size_in_bytes() >= BATCH {
                    self.engine.write_synced(std::mem::take(&mut batch))?;
                }
                Ok(())
            })?;
            self.engine.write_synced(batch)?;
        }
        Ok(rewritten)
    }

    /// Hands on every row of a family that this build would write otherwise, as it would be.
    fn each_outdated(
        &self,
        family: Family,
        mut then: impl FnMut(&[u8], Vec<u8>) -> Result<()>,
    ) -> Result<()> {
        for row in self.engine.read_through(family)? {
            let (key, value) = row?;
            let current = rewritten(family, &key, &value)
                .map_err(|reason| StoreError::damaged(family.name(), &key, reason))?;
            if current.as_slice() != &*value {
                then(&key, current)?;
            }
        }
        Ok(())
    }
}
