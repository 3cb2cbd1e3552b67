//! The index built anew, whatever state the old one is in.

use std::path::Path;

use crate::database::reindex::{LEFTOVERS, catch_up, io_error, remove_leftovers};
use crate::database::{Database, Result};
use crate::durable::rename;
use crate::index::{IndexReader, IndexWriter};
use crate::store::Store;

/// What building the index anew gave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReindexReport {
    /// Entries: one for each set that evokes a frame.
    pub entries: u64,
    /// The store's revision that the index stands for.
    pub revision: u64,
}

impl Database {
    /// Builds the index of the database in `dir` anew, whatever state it is in.
    ///
    /// A store that has lost commits
    /// ([`StoreError::CommitsLost`](crate::store::StoreError::CommitsLost)) opens again afterwards,
    /// with what is left.
    ///
    /// The new index is made beside the old one and takes its place when it is whole; between the
    /// two renames readers find none, and scan. A process that is killed there leaves none, and the
    /// next writer makes it.
    ///
    /// # Errors
    /// When there is no store, another process writes it, or the index cannot be written; then the
    /// old one is still there.
    pub fn reindex(dir: &Path) -> Result<ReindexReport> {
        let store = Store::open_writer_despite_loss(dir)?;
        let dir = store.dir();
        remove_leftovers(dir)?;
        let (path, [fresh, old]) = (dir.join("index"), LEFTOVERS.map(|name| dir.join(name)));
        let mut writer = IndexWriter::open(&fresh)?;
        catch_up(&store, &mut writer)?;
        writer.finish()?;
        let entries = IndexReader::open(&fresh)?.map_or(0, |index| index.entries());
        rename(&path, &old).map_err(io_error(&path))?;
        rename(&fresh, &path).map_err(io_error(&fresh))?;
        remove_leftovers(dir)?;
        Ok(ReindexReport { entries, revision: store.revision()? })
    }
}
