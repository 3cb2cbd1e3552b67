//! What commits replaced: who made each of them, when and why, and what its rows held before.
//!
//! Every commit has a row in `commit`. One that people made keeps the *before-images* of its
//! records in `before`, in the same batch: the row's value before it, and a digest of the value
//! that it left. So it can be undone, and whoever undoes it sees what has changed since. Rows that
//! follow from records, as names and places of sets, have none: they are made again with theirs.
//!
//! A load of many sets keeps none: what it adds is told by its recipe, and removed by it.

use std::time::{SystemTime, UNIX_EPOCH};

use rocksdb::WriteBatch;

use super::family::Family;
use super::key::{ChangeKey, CommitKey, Key, SetKey, release_of};
use super::record::{self, Bounds, Commit, Digest, ImageRecord, Stored};
use super::row_list::RowList;
use super::rows::content;
use super::tally::Keyed;
use super::{Action, Batch, HISTORY_KEY, Result, RowContent, Store, StoreError, Subject};
use crate::model::ReleaseId;

/// Commits whose before-images go with one commit, at most.
const TRIMMED: u64 = 10_000;

/// Rows of a commit from which on its before-images are written ahead of it, so many at a time:
/// they are as many as its records, and memory would hold them twice. Nobody sees them before the
/// commit, and the next commit begins by removing those of one that failed.
const AHEAD: usize = if cfg!(test) { 3 } else { 50_000 };

fn digest(value: &[u8]) -> Digest {
    let mut digest = Digest::default();
    digest.copy_from_slice(&blake3::hash(value).as_bytes()[..size_of::<Digest>()]);
    digest
}

/// How long before-images are kept. Those that fall out go with the next commits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Retention {
    /// Of the last so many commits; `None` of all.
    pub commits: Option<u64>,
    /// Of commits that are not older than so many seconds; `None` of all.
    pub seconds: Option<u64>,
}

/// Which row of the store.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct RowId {
    family: Family,
    key: Vec<u8>,
}

impl RowId {
    /// Whether the row has links of an LU or FE.
    pub(crate) fn is_of_links(&self) -> bool {
        self.family == Family::Link
    }

    /// The release that the row belongs to.
    pub(crate) fn release(&self) -> Option<ReleaseId> {
        release_of(self.family, &self.key)
    }

    /// What a value of the row says.
    pub(crate) fn content(&self, value: &[u8]) -> Result<RowContent> {
        let damaged = |(_, reason)| StoreError::damaged(self.family.name(), &self.key, reason);
        content(self.family, &self.key, value).map_err(damaged)
    }
}

/// What a row held before a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Image {
    pub(crate) row: RowId,
    /// `None` where the commit added it.
    pub(crate) before: Option<Vec<u8>>,
    after: Option<Digest>,
}

impl Image {
    fn decode(value: &[u8]) -> std::result::Result<Self, String> {
        let ImageRecord { family, key, before, after } = record::decode(value)?;
        let family = Family::of_record(family).ok_or_else(|| format!("family {family}"))?;
        Ok(Self { row: RowId { family, key }, before, after })
    }

    /// Whether the row holds what the commit left.
    pub(crate) fn is_left(&self, now: Option<&[u8]>) -> bool {
        self.after == now.map(digest)
    }
}

/// What a batch tells of itself.
#[derive(Debug, Default)]
pub(super) struct History {
    /// Who makes the commit, where that is not who makes the handle's.
    by: Option<String>,
    note: String,
    undoes: Vec<u64>,
    /// Rows whose before-images are to be kept, with a digest of what they become.
    rows: Option<RowList<Option<Digest>>>,
}

impl History {
    pub(super) fn undoes_any(&self) -> bool {
        !self.undoes.is_empty()
    }

    /// Takes note of what a row becomes.
    pub(super) fn row(&mut self, family: Family, key: &[u8], value: Option<&[u8]>) {
        let Some(rows) = &mut self.rows else { return };
        if family.record_number().is_some() {
            rows.push(family, key, value.map(digest));
        }
    }
}

impl Batch<'_> {
    /// From now on the commit keeps what its records held before, so that it can be undone.
    pub(crate) fn keep_images(&mut self) {
        self.history.rows.get_or_insert_default();
    }

    /// Says why the commit is made, and which ones it takes back.
    pub(crate) fn explain(&mut self, note: &str, undoes: &[u64]) {
        (self.history.note, self.history.undoes) = (note.to_owned(), undoes.to_vec());
    }

    /// Says who makes the commit, whoever makes the handle's.
    pub(crate) fn sign(&mut self, by: &str) {
        self.history.by = Some(by.to_owned());
    }

    /// Deletes the before-images of a commit: some are lost, and the others bring nothing back.
    pub(super) fn drop_images(&mut self, revision: u64) -> Result<()> {
        let [start, end] =
            [revision, revision + 1].map(|revision| ChangeKey { revision, ordinal: 0 }.encode());
        self.store.engine.delete_from(&mut self.rows, Family::Before, &start, &end)?;
        match self.store.commit_made(revision)? {
            Some(commit) => {
                self.store.put_commit(&mut self.rows, &Commit { images: None, ..commit })
            }
            None => Ok(()),
        }
    }

    /// Puts back what a row held, or removes it, without what follows from it.
    pub(crate) fn restore(&mut self, row: &RowId, value: Option<&[u8]>) -> Result<()> {
        let RowId { family, key } = row;
        if let Some(key) = SetKey::decode(key).filter(|_| *family == Family::Verification) {
            let was_there = self.store.has_verification(key.release, key.set)?;
            let action = match (was_there, value) {
                (_, None) => Action::Removed,
                (true, Some(_)) => Action::Edited,
                (false, Some(_)) => Action::Added,
            };
            self.record(action, &Subject::Verification(key.set));
        }
        match value {
            Some(value) => self.put_row(*family, key, family.name(), value),
            None => self.delete_row(*family, key),
        }
    }
}

impl Store {
    /// Says who makes the commits of this handle from now on.
    pub fn set_author(&self, by: &str) {
        let mut author = self.author.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        by.clone_into(&mut author);
    }

    /// Who makes them; empty where nobody said so.
    pub(crate) fn author(&self) -> String {
        self.author.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).clone()
    }

    /// Adds to a commit who made it, and what its records held before.
    pub(super) fn put_history(
        &self,
        rows: &mut WriteBatch,
        keyed: &mut Keyed,
        revision: u64,
        (changes, history): (u32, History),
    ) -> Result<()> {
        let mut images = history.rows.is_some().then_some(0_u32);
        let is_large = history.rows.as_ref().is_some_and(|rows| rows.len() > AHEAD);
        let mut ahead = WriteBatch::default();
        history.rows.unwrap_or_default().each_last(|family, key, after, _| {
            let before = self.engine.get(family, key)?;
            if before.as_deref().map(digest) == after {
                return Ok(());
            }
            let count = images.get_or_insert_default();
            let family = family.record_number().unwrap_or_default();
            let image = ImageRecord { family, key: key.to_vec(), before, after };
            let value = record::encode(&image)
                .map_err(|why| StoreError::unwritable("before", revision, why))?;
            let key = ChangeKey { revision, ordinal: *count }.encode();
            let into = if is_large { &mut ahead } else { &mut *rows };
            self.engine.put(into, Family::Before, &key, &value)?;
            *count += 1;
            if ahead.len() >= AHEAD {
                self.engine.write_ahead(std::mem::take(&mut ahead))?;
            }
            Ok(())
        })?;
        self.engine.write_ahead(ahead)?;
        let by = history.by.unwrap_or_else(|| self.author());
        let (note, undoes) = (history.note, history.undoes);
        let commit = Commit { revision, at: now(), by, note, undoes, images, changes };
        self.put_commit(rows, &commit)?;
        keyed.push(Family::Commit, &CommitKey { revision }.encode(), true);
        self.trim_history(rows, revision)
    }

    /// Removes what a commit wrote ahead that failed, before one of the same number is made.
    pub(super) fn drop_ahead(&self, revision: u64) -> Result<()> {
        let start = ChangeKey { revision, ordinal: 0 }.encode();
        if self.engine.scan_from(Family::Before, start.clone())?.next().is_none() {
            return Ok(());
        }
        let mut rows = WriteBatch::default();
        self.engine.delete_from(&mut rows, Family::Before, &start, &[0xff; 9])?;
        self.engine.write_ahead(rows)
    }

    fn put_commit(&self, rows: &mut WriteBatch, commit: &Commit) -> Result<()> {
        let value = commit.to_value();
        let value = value.map_err(|why| StoreError::unwritable("commit", commit.revision, why))?;
        let key = CommitKey { revision: commit.revision }.encode();
        self.engine.put(rows, Family::Commit, &key, &value)
    }

    /// Deletes before-images that are kept no longer.
    fn trim_history(&self, rows: &mut WriteBatch, last: u64) -> Result<()> {
        let Some(mut bounds) = self.bounds()? else { return Ok(()) };
        let oldest_kept = bounds.commits.map_or(0, |commits| (last + 1).saturating_sub(commits));
        let since = bounds.seconds.map_or(0, |seconds| now().saturating_sub(seconds));
        let first = bounds.oldest;
        while bounds.oldest < last && bounds.oldest - first < TRIMMED {
            let commit = self.commit_made(bounds.oldest)?;
            let is_old = commit.as_ref().is_none_or(|commit| commit.at < since);
            if bounds.oldest >= oldest_kept && !is_old {
                break;
            }
            if let Some(commit) = commit.filter(|commit| commit.images.is_some()) {
                let [start, end] = [commit.revision, commit.revision + 1]
                    .map(|revision| ChangeKey { revision, ordinal: 0 }.encode());
                self.engine.delete_from(rows, Family::Before, &start, &end)?;
                self.put_commit(rows, &Commit { images: None, ..commit })?;
            }
            bounds.oldest += 1;
        }
        if bounds.oldest > first { self.put_bounds(rows, &bounds) } else { Ok(()) }
    }

    fn bounds(&self) -> Result<Option<Bounds>> {
        let Some(value) = self.engine.get(Family::Meta, HISTORY_KEY)? else { return Ok(None) };
        let damaged = |reason| StoreError::damaged("meta", HISTORY_KEY, reason);
        record::decode(&value).map(Some).map_err(damaged)
    }

    fn put_bounds(&self, rows: &mut WriteBatch, bounds: &Bounds) -> Result<()> {
        let value = record::encode(bounds);
        let value = value.map_err(|why| StoreError::unwritable("meta", "history", why))?;
        self.engine.put(rows, Family::Meta, HISTORY_KEY, &value)
    }

    /// How long before-images are kept.
    ///
    /// # Errors
    /// When the engine fails or the row is damaged.
    pub fn retention(&self) -> Result<Retention> {
        let Bounds { commits, seconds, .. } = self.bounds()?.unwrap_or_default();
        Ok(Retention { commits, seconds })
    }

    /// Says how long before-images are kept, and deletes those that fall out now.
    ///
    /// # Errors
    /// When the engine fails, or the handle is a reader's.
    pub fn set_retention(&self, retention: Retention) -> Result<()> {
        let _one_at_a_time = self.commit.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let oldest = self.bounds()?.map_or(0, |bounds| bounds.oldest);
        let Retention { commits, seconds } = retention;
        loop {
            let mut rows = WriteBatch::default();
            let from = self.bounds()?.map_or(oldest, |bounds| bounds.oldest);
            self.put_bounds(&mut rows, &Bounds { commits, seconds, oldest: from })?;
            self.engine.write_synced(rows)?;
            let mut rows = WriteBatch::default();
            self.trim_history(&mut rows, self.revision()?)?;
            if rows.is_empty() {
                return Ok(());
            }
            self.engine.write_synced(rows)?;
        }
    }

    /// Who made a commit, when and why; `None` where no commit of that number is written down.
    ///
    /// # Errors
    /// When the engine fails or the record is damaged.
    pub fn commit_made(&self, revision: u64) -> Result<Option<Commit>> {
        let key = CommitKey { revision };
        let bytes = key.encode();
        let Some(value) = self.engine.get(Family::Commit, &bytes)? else { return Ok(None) };
        let damaged = |reason| StoreError::damaged("commit", &bytes, reason);
        Commit::from_value(&key, &value).map(Some).map_err(damaged)
    }

    /// What the records of a commit held before it, in order of family and key.
    pub(crate) fn images(&self, revision: u64) -> Result<Vec<Image>> {
        let start = ChangeKey { revision, ordinal: 0 }.encode();
        let mut images = Vec::new();
        for row in self.engine.scan(Family::Before, start[..8].to_vec())? {
            let (key, value) = row?;
            let damaged = |reason| StoreError::damaged("before", &key, reason);
            images.push(Image::decode(&value).map_err(damaged)?);
        }
        Ok(images)
    }

    /// What a row holds.
    pub(crate) fn row_value(&self, row: &RowId) -> Result<Option<Vec<u8>>> {
        self.engine.get(row.family, &row.key)
    }
}

#[cfg(test)]
impl Store {
    /// Deletes the first before-image of a commit, as damage does.
    pub(crate) fn lose_image(&self, revision: u64) -> Result<()> {
        let mut rows = WriteBatch::default();
        let key = ChangeKey { revision, ordinal: 0 }.encode();
        self.engine.delete(&mut rows, Family::Before, &key)?;
        self.engine.write_synced(rows)
    }

    /// Leaves before-images, as a large commit does that fails.
    pub(crate) fn leave_images(&self, revision: u64, count: u32) -> Result<()> {
        let mut rows = WriteBatch::default();
        for ordinal in 0..count {
            let key = CommitKey { revision }.encode();
            let family = Family::LexUnit.record_number().unwrap_or_default();
            let image = ImageRecord { family, key, before: None, after: None };
            let value = record::encode(&image).expect("an image is written");
            let key = ChangeKey { revision, ordinal }.encode();
            self.engine.put(&mut rows, Family::Before, &key, &value)?;
        }
        self.engine.write_ahead(rows)
    }

    /// Every row, but for those of families that are not wanted, with its value.
    pub(crate) fn values(&self, without: &[&str]) -> Result<Vec<(RowId, Vec<u8>)>> {
        let mut values = Vec::new();
        for family in Family::ALL.into_iter().filter(|it| !without.contains(&it.name())) {
            for row in self.engine.scan(family, Vec::new())? {
                let (key, value) = row?;
                values.push((RowId { family, key: key.to_vec() }, value.to_vec()));
            }
        }
        Ok(values)
    }
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}
