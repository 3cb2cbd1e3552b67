//! `fnstore_feed`: what was committed after a revision, change by change, and what comes then.

use std::collections::VecDeque;
use std::ffi::c_char;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use fnstore::database;
use fnstore::model::ReleaseId;
use fnstore::store;

use crate::boundary::{self, Handle, call};
use crate::change::Change;
use crate::database::Database;
use crate::error::{Error, Result};

/// Changes that are read together, but for the rest of their commit.
const TOGETHER: usize = 1024;

/// Changes whose records are read together.
const RECORDS: usize = 256;

/// The changes of a store, in order. Every thread may ask for the next one; those that ask at once
/// wait for each other.
pub struct Feed(Mutex<Source>);

struct Source {
    database: Arc<database::Database>,
    /// What was read last; `None` where no more comes.
    since: Option<u64>,
    with_records: bool,
    pending: VecDeque<store::Change>,
    ready: VecDeque<Change>,
}

impl Handle for Feed {
    const KIND: &'static str = "feed";
}

impl Source {
    fn next(&mut self, patience: Duration) -> Result<Option<Change>> {
        loop {
            if let Some(change) = self.ready.pop_front() {
                return Ok(Some(change));
            }
            if self.pending.is_empty() && !self.read(patience)? {
                return Ok(None);
            }
            let some = self.pending.len().min(RECORDS);
            // What fails is asked for again.
            let changes = self.pending.range(..some).cloned();
            self.ready = Change::all(&self.database, changes, self.with_records)?.into();
            self.pending.drain(..some);
        }
    }

    /// Reads some whole commits; says whether there are any. One that fails has read nothing.
    fn read(&mut self, patience: Duration) -> Result<bool> {
        let Some(since) = self.since else { return Ok(false) };
        let read = self.read_from(since, patience);
        if read.is_err() {
            self.since = Some(since);
            self.pending.clear();
        }
        read
    }

    fn read_from(&mut self, since: u64, patience: Duration) -> Result<bool> {
        if !self.database.wait_for_changes(since, patience)? {
            return Ok(false);
        }
        for change in self.database.changes(since)? {
            let change = change?;
            let (revision, is_end) = (change.revision, change.is_last);
            self.pending.push_back(change);
            if is_end {
                self.since = Some(revision);
                if self.pending.len() >= TOGETHER {
                    break;
                }
            }
        }
        Ok(true)
    }
}

/// What was committed after a revision, by any process; 0 is before everything. `generation` is the
/// one that was remembered with the revision, or null: a store of another one is an error of kind
/// `FNSTORE_KIND_REPLACED`, and is read anew from 0. `with_records` gives each record as it is
/// when it is read. Null when it fails. The caller frees the feed by `fnstore_feed_free`.
///
/// Take the changes of a commit together; remember its revision when the last one has come.
#[unsafe(no_mangle)]
pub extern "C" fn fnstore_follow(
    database: *const Database,
    since: u64,
    generation: *const c_char,
    with_records: bool,
    error: *mut *mut Error,
) -> *mut Feed {
    call(error, std::ptr::null_mut(), || {
        let database = boundary::borrow(database)?;
        let open = database.get();
        if let Some(generation) = boundary::optional_text(generation, "generation")? {
            open.require_generation(generation)?;
        }
        // A revision that is not there yet is an error here rather than later.
        drop(open.changes(since)?);
        let (pending, ready) = (VecDeque::new(), VecDeque::new());
        let since = Some(since);
        let source = Source { database: open, since, with_records, pending, ready };
        Ok(boundary::give(Feed(Mutex::new(source))))
    })
}

/// Every record of a release, by its number, as changes that add it: what a follower takes where a
/// release was added, which is one change. Nothing where there is no such release. Null when it
/// fails. The caller frees the feed by `fnstore_feed_free`; it ends by itself.
#[unsafe(no_mangle)]
pub extern "C" fn fnstore_records(
    database: *const Database,
    release: u32,
    error: *mut *mut Error,
) -> *mut Feed {
    call(error, std::ptr::null_mut(), || {
        let database = boundary::borrow(database)?;
        let open = database.get();
        let (mut pending, revision) = (VecDeque::new(), open.revision()?);
        let release = u16::try_from(release).map_or(ReleaseId(0), ReleaseId);
        if open.releases()?.iter().any(|of| of.id == release) {
            for subject in open.subjects(release)? {
                pending.push_back(store::Change::addition(revision, release, subject?));
            }
        }
        if let Some(last) = pending.back_mut() {
            last.is_last = true;
        }
        let (database, ready) = (open, VecDeque::new());
        let source = Source { database, since: None, with_records: true, pending, ready };
        Ok(boundary::give(Feed(Mutex::new(source))))
    })
}

/// The next change, which the caller frees by `fnstore_change_free`. Waits up to so many
/// milliseconds for a commit where there is none; 0 looks once. Null when time is over, and when it
/// fails: then `*error` is not null. A commit of another process is noticed within some 10 ms.
#[unsafe(no_mangle)]
pub extern "C" fn fnstore_feed_next(
    feed: *mut Feed,
    milliseconds: u64,
    error: *mut *mut Error,
) -> *mut Change {
    call(error, std::ptr::null_mut(), || {
        let feed = boundary::borrow(feed)?;
        let mut source = feed.0.lock().unwrap_or_else(PoisonError::into_inner);
        let next = source.next(Duration::from_millis(milliseconds))?;
        Ok(next.map_or(std::ptr::null_mut(), boundary::give))
    })
}

/// Frees a feed; changes that it gave stay. Null is nothing.
#[unsafe(no_mangle)]
pub extern "C" fn fnstore_feed_free(feed: *mut Feed) {
    boundary::take(feed);
}
