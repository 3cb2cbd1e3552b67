//! Loading many rows into a release: one commit of the store for each write, one of the index at
//! the end.
//!
//! [`Database::write`] makes its rows found by the index before it returns, which costs an index
//! commit; thousands of writes one after the other want that once. Until then the list of changes
//! says what the index lacks: readers lay it over the index's hits, and the next writer replays it
//! when this process ends early. So a load that is cut short has lost nothing that it acknowledged.

use std::collections::HashMap;

use super::reindex::{LastSentence, with_entry_of};
use super::write::fill;
use super::{Database, Result, Taken, Write, reindex};
use crate::index::IndexWriter;
use crate::model::{ReleaseId, Sentence, SentenceId};
use crate::store::Store;

/// What a load did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct LoadReport {
    /// Annotation sets written.
    pub sets: u64,
    /// Sentences written.
    pub sentences: u64,
    /// LUs written.
    pub lexunits: u64,
    /// The store's revision after the last write.
    pub revision: u64,
}

/// A load under way; no other write of this process goes on beside it.
///
/// Dropped without [`finish`](Self::finish) it leaves the index to the next writer.
pub struct Loader<'a> {
    database: &'a Database,
    release: ReleaseId,
    index: Taken<'a, IndexWriter>,
    report: LoadReport,
    /// Whether the index has missed rows, so that only the list of changes knows them all.
    is_behind: bool,
    is_finished: bool,
}

impl Database {
    /// Starts loading rows into a release.
    ///
    /// # Errors
    /// When the handle is a reader's, or the store or the index fails.
    #[doc(hidden)]
    pub fn loader(&self, release: ReleaseId) -> Result<Loader<'_>> {
        let mut index = self.lock_writer()?;
        self.require_release(release)?;
        // The last commit stands for everything before it, too.
        reindex::catch_up(&self.store, &mut index)?;
        self.store.pause_packing(true)?;
        let report = LoadReport { revision: self.store.revision()?, ..LoadReport::default() };
        Ok(Loader { database: self, release, index, report, is_behind: false, is_finished: false })
    }
}

impl Loader<'_> {
    /// Writes rows, all of them or none; they are safe once this returns. Gives the new revision.
    ///
    /// Memory grows with a write and not with their number: some ten thousand sets each keep the
    /// cost of a commit small.
    ///
    /// # Errors
    /// When the store fails. An index that does not take the rows is brought up to date at the end.
    pub fn write(&mut self, write: &Write) -> Result<u64> {
        let store = &self.database.store;
        let mut batch = store.batch(self.release);
        let release = self.release;
        let known = fill(store, &mut batch, release, write)?;
        let index = &mut *self.index;
        let tell = !self.is_behind;
        let (committed, indexed) = rayon::join(
            || store.commit(batch),
            || if tell { add_sets(store, index, release, write, &known) } else { Ok(()) },
        );
        if committed.is_err() || indexed.is_err() {
            // What the index was told may not be in the store, or the other way round. When even
            // that fails, its next commit holds entries that the replay adds again in their place.
            self.is_behind = true;
            let _ = self.index.rollback();
        }
        let revision = committed?;
        self.report.sets += write.sets.len() as u64;
        self.report.sentences += write.sentences.len() as u64;
        self.report.lexunits += write.lexunits.len() as u64;
        self.report.revision = revision;
        Ok(revision)
    }

    /// Commits the index and packs the store's files, so that readers open few of them.
    ///
    /// # Errors
    /// When the store's files cannot be packed. What was written is in the store all the same; an
    /// index that could not follow is no failure: see [`Database::take_index_lag`].
    pub fn finish(mut self) -> Result<LoadReport> {
        self.is_finished = true;
        let (store, index) = (&self.database.store, &mut *self.index);
        let (is_behind, revision) = (self.is_behind, self.report.revision);
        store.pause_packing(false)?;
        let (indexed, packed) = rayon::join(
            || if is_behind { reindex::catch_up(store, index) } else { commit(index, revision) },
            || store.compact(),
        );
        self.database.note_index(indexed);
        packed?;
        Ok(self.report)
    }
}

impl Drop for Loader<'_> {
    fn drop(&mut self) {
        if !self.is_finished {
            // What the index was told goes; when even that fails, its next commit holds entries
            // that the replay adds again in their place.
            let _ = self.index.rollback();
            let _ = self.database.store.pause_packing(false);
        }
    }
}

/// Commits the index; when that fails it stays at its last commit.
fn commit(index: &mut IndexWriter, revision: u64) -> Result<()> {
    let outcome = index.commit(revision);
    if outcome.is_err() {
        let _ = index.rollback();
    }
    Ok(outcome?)
}

/// Tells the index of the sets of a write; `known` says which of them the release had.
fn add_sets(
    store: &Store,
    index: &mut IndexWriter,
    release: ReleaseId,
    write: &Write,
    known: &[bool],
) -> Result<()> {
    let sentences: HashMap<SentenceId, &Sentence> =
        write.sentences.iter().map(|sentence| (sentence.id, sentence)).collect();
    let mut last = LastSentence::default();
    for (set, known) in write.sets.iter().zip(known) {
        if *known {
            index.remove(release, set.id)?;
        }
        if let Some(sentence) = sentences.get(&set.sentence) {
            with_entry_of(release, set, sentence, |entry| index.add(entry))?;
        } else if let Some(sentence) = last.of(store, release, set)? {
            with_entry_of(release, set, sentence, |entry| index.add(entry))?;
        }
    }
    Ok(())
}
