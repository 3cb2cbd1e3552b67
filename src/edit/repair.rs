//! The removal of records that cannot be read.
//!
//! A record that cannot be read keeps nobody from the others. Only a restore brings it back; where
//! no backup has it, it is removed with what would be left dangling, and the store is whole again.

use std::collections::BTreeMap;
use std::path::Path;

use crate::database::{Database, Result};
use crate::model::ReleaseId;
use crate::store::{RowFault, Unreadable};

/// What a repair did.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct RepairReport {
    /// Rows that could not be read, and are removed.
    pub removed: Vec<RowFault>,
    /// Rows that could not be read and stay: frames, semantic types, documents, recipes and the
    /// store's own book, to which too much else refers, and rows that lie in a damaged file.
    pub kept: Vec<RowFault>,
    /// How many records went in all, by kind: those above, and what would have been left dangling.
    pub gone: BTreeMap<&'static str, u64>,
    /// Names of the releases whose counts were not what their rows are, and are made anew.
    pub recounted: Vec<String>,
}

impl Database {
    /// Every row that cannot be read or makes no sense, but for those of releases that are not
    /// listed, which the next import removes.
    ///
    /// # Errors
    /// When a column family cannot be opened at all.
    pub fn unreadable_rows(&self) -> Result<Vec<RowFault>> {
        let listed = self.store.visible()?;
        let faults = self.store.rows()?.filter_map(std::result::Result::err);
        let of_listed =
            |fault: &RowFault| fault.release.is_none_or(|release| listed.contains(&release));
        Ok(faults.map(|fault| *fault).filter(of_listed).collect())
    }

    /// Names of the releases whose kept counts are not what their rows are. A release without
    /// counts, which an earlier program wrote, is none of them; nor is one whose rows lie in a
    /// damaged file, which stays, and is not counted. Reads every set.
    ///
    /// # Errors
    /// When the store fails.
    pub fn miscounted(&self) -> Result<Vec<String>> {
        let wrong = self.store.wrong_sums()?;
        let releases = self.releases()?.into_iter();
        Ok(releases.filter(|of| wrong.contains(&of.id)).map(|of| of.name).collect())
    }

    /// Removes the records that cannot be read from the database in `dir`, with what would be left
    /// dangling: the sets of a sentence or of an LU, the sets generated from a set. The list of
    /// changes tells of it, and the index follows. Then counts are made anew that are not what the
    /// rows are. Where nothing is wrong, nothing is written.
    ///
    /// # Errors
    /// When there is none, another process writes it, or it cannot be written.
    pub fn repair(dir: &Path) -> Result<RepairReport> {
        let database = Self::open_existing_writer(dir)?;
        let mut report = RepairReport::default();
        let mut records: BTreeMap<ReleaseId, Vec<Unreadable>> = BTreeMap::new();
        let mut alone = database.store.batch(ReleaseId(0));
        for fault in database.unreadable_rows()? {
            let unreadable = database.store.unreadable(&fault)?;
            match (&unreadable, fault.release) {
                (Unreadable::Retained, _) => {
                    report.kept.push(fault);
                    continue;
                }
                (Unreadable::Alone(subject), release) => {
                    alone.turn_to(release.unwrap_or(ReleaseId(0)));
                    alone.delete_unreadable(&fault, subject.as_ref())?;
                    *report.gone.entry(fault.family).or_default() += 1;
                }
                (_, Some(release)) => records.entry(release).or_default().push(unreadable),
                // Of these families every key begins with a release.
                (_, None) => continue,
            }
            report.removed.push(fault);
        }
        if !alone.is_empty() {
            database.store.commit(alone)?;
        }
        for (release, records) in records {
            let mut edits = database.transaction(release)?;
            edits.remove_unreadable(&records)?;
            for (kind, count) in edits.removed() {
                *report.gone.entry(kind).or_default() += count;
            }
            edits.commit()?;
        }
        if !report.removed.is_empty() {
            database.follow(&mut *database.lock_writer()?);
        }
        report.recounted = database.miscounted()?;
        if !report.recounted.is_empty() {
            database.store.mend_sums()?;
        }
        database.close()?;
        Ok(report)
    }
}
