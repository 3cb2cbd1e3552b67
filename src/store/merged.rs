//! Shards that were merged whole: their files need not be read again.
//!
//! That holds as long as nothing is removed. A commit that removes a record, forgets how far a seed
//! is, or takes back another drops the list: whatever is merged after it is read. A backup and what
//! is restored from it have the list of the state that they are of.

use rocksdb::WriteBatch;

use super::family::Family;
use super::tally::Keyed;
use super::{Result, Store};
use crate::model::ReleaseId;

/// Key of the list in `meta`: of each shard the release and the BLAKE3 of its file.
pub(super) const MERGED_KEY: &[u8] = b"merged";

const DIGEST: usize = 32;
const ENTRY: usize = 2 + DIGEST;
/// The last so many shards are listed: one that is not is read again, and changes nothing.
const MOST: usize = 10_000;

impl Store {
    /// Whether a file of this BLAKE3 was merged into a release, and all of it is still there.
    ///
    /// # Errors
    /// When the engine fails.
    pub fn has_merged(&self, release: ReleaseId, digest: &[u8; DIGEST]) -> Result<bool> {
        let entry = entry(release, digest);
        Ok(self.merged()?.chunks(ENTRY).any(|listed| listed == entry))
    }

    /// Lists a file as merged, once all of it is committed.
    ///
    /// # Errors
    /// When the engine fails, or the handle is a reader's.
    pub fn note_merged(&self, release: ReleaseId, digest: &[u8; DIGEST]) -> Result<()> {
        let _one_at_a_time = self.commit.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let mut list = self.merged()?;
        let entry = entry(release, digest);
        if list.chunks(ENTRY).any(|listed| listed == entry) {
            return Ok(());
        }
        list.extend(entry);
        let most = MOST * ENTRY;
        let list = &list[list.len().saturating_sub(most)..];
        let mut rows = WriteBatch::default();
        self.engine.put(&mut rows, Family::Meta, MERGED_KEY, list)?;
        self.engine.write_synced(rows)
    }

    /// Drops the list with a commit that removes something.
    pub(super) fn drop_merged(
        &self,
        rows: &mut WriteBatch,
        removes: bool,
        keyed: &Keyed,
    ) -> Result<()> {
        let forgets = keyed.iter().any(|(family, _, put)| family == Family::Journal && !put);
        if (removes || forgets) && self.engine.get(Family::Meta, MERGED_KEY)?.is_some() {
            self.engine.delete(rows, Family::Meta, MERGED_KEY)?;
        }
        Ok(())
    }

    /// The list. One that is damaged says nothing: shards are read again.
    fn merged(&self) -> Result<Vec<u8>> {
        let list = self.engine.get(Family::Meta, MERGED_KEY)?.unwrap_or_default();
        Ok(if is_list(&list) { list.to_vec() } else { Vec::new() })
    }
}

/// Whether a row is a list of shards.
pub(super) fn is_list(value: &[u8]) -> bool {
    value.len().is_multiple_of(ENTRY)
}

fn entry(release: ReleaseId, digest: &[u8; DIGEST]) -> [u8; ENTRY] {
    let mut entry = [0; ENTRY];
    entry[..2].copy_from_slice(&release.0.to_be_bytes());
    entry[2..].copy_from_slice(digest);
    entry
}
