//! Whether what commits keep beside the rows, counts and evidence, is of the last commit; and
//! making it anew.
//!
//! Each commit writes its revision beside them. A program that knows nothing of them leaves it as
//! it was. Then readers go by the rows, and the next commit makes all anew.

use std::collections::BTreeSet;
use std::sync::{MutexGuard, PoisonError};

use rocksdb::WriteBatch;

use super::family::Family;
use super::key::release_of;
use super::removal::bounds;
use super::{Result, Store};
use crate::model::{Release, ReleaseId};

/// Key in `meta` of the revision that counts and evidence are of.
pub(super) const SUMS_KEY: &[u8] = b"sums";

/// How they are made; sums that were made otherwise are made anew.
const MADE: u8 = 1;

/// Rows between two calls of whoever watches.
const STEP: u64 = 1 << 16;

/// Who is told of rows that are read to make counts and evidence anew, and how many those are.
#[derive(Default)]
pub(super) struct Watch {
    read: u64,
    tell: Option<Box<dyn FnMut(u64) + Send>>,
}

impl Store {
    /// Calls `tell` now and then with the number of rows that were read so far to make counts and
    /// evidence anew: the first commit to a store that has none takes so long as reading it does.
    pub fn watch_sums(&self, tell: impl FnMut(u64) + Send + 'static) {
        let mut watch = self.watch.lock().unwrap_or_else(PoisonError::into_inner);
        watch.tell = Some(Box::new(tell));
    }

    /// Takes note of a row that was read.
    pub(super) fn tell_read(&self) {
        let mut watch = self.watch.lock().unwrap_or_else(PoisonError::into_inner);
        watch.read += 1;
        let read = watch.read;
        if read.is_multiple_of(STEP)
            && let Some(tell) = &mut watch.tell
        {
            tell(read);
        }
    }

    /// Whether counts and evidence are of the last commit, where there are any.
    ///
    /// # Errors
    /// When the engine fails.
    pub(crate) fn are_sums_current(&self) -> Result<bool> {
        let mut known = self.are_current.lock().unwrap_or_else(PoisonError::into_inner);
        // What a reader shows changes as it refreshes, and not before.
        if let Some(known) = known.filter(|_| !self.is_writer()) {
            return Ok(known);
        }
        let revision = self.revision()?;
        let value = self.engine.get(Family::Meta, SUMS_KEY)?;
        let are_current = value.is_some_and(|value| value == encode(revision));
        *known = Some(are_current);
        Ok(are_current)
    }

    /// What is read from now on may be of another commit.
    pub(super) fn forget_current_sums(&self) {
        *self.are_current.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Says in a commit that counts and evidence are of it.
    pub(super) fn trust_sums(&self, rows: &mut WriteBatch, revision: u64) -> Result<()> {
        self.engine.put(rows, Family::Meta, SUMS_KEY, &encode(revision))
    }

    /// From now on counts and evidence are not read.
    pub(super) fn distrust_sums(&self) -> Result<()> {
        let mut rows = WriteBatch::default();
        self.engine.delete(&mut rows, Family::Meta, SUMS_KEY)?;
        self.engine.write_synced(rows)
    }

    /// Deletes the counts or the evidence of a release.
    pub(super) fn delete_sums(
        &self,
        rows: &mut WriteBatch,
        family: Family,
        release: ReleaseId,
    ) -> Result<()> {
        let [start, end] = bounds(release);
        self.engine.delete_from(rows, family, &start, &end)
    }

    /// Whether counts or evidence of a release could not be made: each try reads all that can be
    /// read, and a repair or another process may try again.
    pub(super) fn is_given_up(&self, family: Family, release: ReleaseId) -> bool {
        self.given_up().contains(&(family, release))
    }

    /// Leaves a release without counts or evidence, which cannot be made.
    pub(super) fn give_up(
        &self,
        rows: &mut WriteBatch,
        family: Family,
        release: ReleaseId,
    ) -> Result<()> {
        self.given_up().insert((family, release));
        let [start, _] = bounds(release);
        let first = unless_damaged(self.engine.scan(family, start)?.next().transpose())?;
        match first {
            Some(None) => Ok(()),
            _ => self.delete_sums(rows, family, release),
        }
    }

    fn given_up(&self) -> MutexGuard<'_, BTreeSet<(Family, ReleaseId)>> {
        self.given_up.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Deletes the counts and the evidence of releases that are not listed: a program that knows
    /// nothing of them left them.
    pub(super) fn drop_unlisted_sums(
        &self,
        rows: &mut WriteBatch,
        listed: &[ReleaseId],
    ) -> Result<()> {
        for family in [Family::Count, Family::Evidence] {
            let mut from = Vec::new();
            loop {
                let first = self.engine.scan_from(family, from)?.next().transpose();
                let Some(Some((key, _))) = unless_damaged(first)? else { break };
                let Some(release) = release_of(family, &key) else { break };
                if !listed.contains(&release) {
                    self.delete_sums(rows, family, release)?;
                }
                [_, from] = bounds(release);
            }
        }
        Ok(())
    }

    /// Makes counts and evidence of all listed releases anew, as far as they can be read.
    ///
    /// # Errors
    /// When the engine fails, or the handle is a reader's.
    pub(crate) fn mend_sums(&self) -> Result<()> {
        let _one_at_a_time = self.commit.lock().unwrap_or_else(PoisonError::into_inner);
        let book = self.book()?;
        self.given_up().clear();
        let mut rows = WriteBatch::default();
        for Release { id, .. } in book.releases {
            self.recount(&mut rows, id)?;
            if unless_damaged(self.remake_evidence(id))?.is_none() {
                self.give_up(&mut rows, Family::Evidence, id)?;
            }
        }
        self.trust_sums(&mut rows, book.revision)?;
        self.engine.write_synced(rows)
    }

    /// The listed releases whose counts or evidence are not what their rows say. What may be of an
    /// earlier commit is not read, and no fault; nor is what cannot be held against rows that lie
    /// in a damaged file.
    ///
    /// # Errors
    /// When the engine fails.
    pub(crate) fn wrong_sums(&self) -> Result<Vec<ReleaseId>> {
        let mut wrong = Vec::new();
        if self.are_sums_current()? {
            for Release { id, .. } in self.book()?.releases {
                let are_counts_right = unless_damaged(self.are_counts_right(id))?.unwrap_or(true);
                let differences = unless_damaged(self.evidence_differences(id))?;
                let is_wrong = !are_counts_right || differences.is_some_and(|it| !it.is_empty());
                wrong.extend(is_wrong.then_some(id));
            }
        }
        Ok(wrong)
    }
}

/// What was read; `None` where that is damaged.
pub(super) fn unless_damaged<T>(read: Result<T>) -> Result<Option<T>> {
    match read {
        Ok(read) => Ok(Some(read)),
        Err(error) if error.is_damage() => Ok(None),
        Err(error) => Err(error),
    }
}

fn encode(revision: u64) -> [u8; 9] {
    let mut value = [MADE; 9];
    value[..8].copy_from_slice(&revision.to_be_bytes());
    value
}
