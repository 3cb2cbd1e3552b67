//! Checking a database: whether every row makes sense, what refers to something finds it, and the
//! index holds what the store says.
//!
//! A check reads as any reader does, beside a live writer too, and changes nothing. It goes over
//! the rows once, on all threads and in bounded memory: the names of what was found are counted,
//! the first of each kind kept. A *deep* check also follows every reference back, and compares
//! every entry of the index, term by term, with the set that it stands for.
//!
//! What is no fault is no finding. Rows of an import that was stopped are invisible and swept by
//! the next one. An index that is behind the store is brought up by the next writer.

mod codes;
mod derived;
mod index;
mod pass;
mod rows;

use std::collections::BTreeMap;
use std::path::Path;

pub use codes::{CheckCode, Finding, Findings};

use crate::database::{Database, DatabaseError, Result};
use crate::store::{Identity, StoreError};

/// How much is checked.
#[derive(Debug, Clone, Copy, Default)]
pub struct CheckOptions {
    /// Whether references are followed back and the index is compared set by set.
    pub deep: bool,
}

/// What a check saw.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct CheckReport {
    /// Which store it is, where a writer has given it an identity.
    pub identity: Option<Identity>,
    /// The store's revision that was checked.
    pub revision: u64,
    /// Rows read of each column family.
    pub rows: BTreeMap<&'static str, u64>,
    /// Of these, rows of releases that are not listed: what an import that was stopped left.
    pub unlisted_rows: u64,
    /// Entries of the index; `None` when there is no index that opens.
    pub index_entries: Option<u64>,
    /// How many commits the index is behind the store.
    pub index_behind: u64,
    /// What is wrong.
    pub findings: Findings,
}

impl Database {
    /// Checks the database in `dir`; one that does not open for damage is a finding, too.
    ///
    /// # Errors
    /// When there is none, its format is another, or it cannot be read for another reason than
    /// damage, as when too many files are open.
    pub fn check_at(
        dir: &Path,
        options: CheckOptions,
        progress: &mut dyn FnMut(u64),
    ) -> Result<CheckReport> {
        let (code, outcome) = match Self::open(dir) {
            Ok(database) => (CheckCode::Unreadable, database.check(options, progress)),
            Err(error @ DatabaseError::Store(StoreError::CommitsLost { .. })) => {
                (CheckCode::CommitsLost, Err(error))
            }
            Err(error) => (CheckCode::Open, Err(error)),
        };
        match outcome {
            Err(DatabaseError::Store(error)) if error.is_damage() => {
                let mut report = CheckReport::default();
                report.findings.add(code, "meta", error.to_string());
                Ok(report)
            }
            outcome => outcome,
        }
    }

    /// Checks the database as it is now. `progress` is told the number of rows read so far.
    ///
    /// A reader's handle is held still meanwhile. On a writer's, a commit by another thread may
    /// show as a finding: check by a reader's beside one. By a
    /// [`snapshot`](Self::snapshot) the last commit is checked, too.
    ///
    /// Memory is bounded but for eight bytes for each entry of the index under
    /// [`deep`](CheckOptions::deep).
    ///
    /// # Errors
    /// When the store's book cannot be read, or rows cannot for want of files, room or memory;
    /// whatever else is wrong is in the report.
    pub fn check(
        &self,
        options: CheckOptions,
        progress: &mut dyn FnMut(u64),
    ) -> Result<CheckReport> {
        if self.is_snapshot() {
            return Self::open(self.dir())?.check(options, progress);
        }
        let mut report = CheckReport::default();
        // The index first: the store must be at least as new.
        let index = index::open(self, &mut report)?;
        self.store.refresh()?;
        let still = self.still(None)?;
        report.revision = still.store.revision()?;
        report.identity = still.store.identity().unwrap_or_default();
        let sets = pass::check(&still.store, options, &mut report, progress)?;
        index::check(&still, index, sets, options, &mut report)?;
        Ok(report)
    }
}
