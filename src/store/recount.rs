//! Counting the rows of a store beside the counts that it keeps: for a check.

use std::collections::BTreeSet;

use super::count_key::words;
use super::counts::{Cells, Gathered};
use super::family::Family;
use super::key::{CountKey, Key};
use super::row_fault::{RowFault, RowFaultKind};
use super::rows::{Row, RowContent};
use crate::model::ReleaseId;

/// Rows counted as commits do, and the counts that are kept.
#[derive(Default)]
pub(crate) struct Recount {
    found: Gathered,
    kept: Cells,
    /// Releases with a row that cannot be read, which may have been counted.
    unsure: BTreeSet<ReleaseId>,
    /// Whether rows may be missing of which not even the keys can be read.
    is_unread: bool,
}

impl Recount {
    /// Takes up a row of a listed release; one of a family that is not counted is passed by.
    pub(crate) fn add(&mut self, row: &std::result::Result<Row, Box<RowFault>>) {
        match row {
            Ok(row) => self.add_row(row),
            Err(fault) => self.add_fault(fault),
        }
    }

    /// Takes up what was counted of other rows.
    pub(crate) fn merge(&mut self, other: Self) {
        self.found.merge(other.found);
        self.kept.extend(other.kept);
        self.unsure.extend(other.unsure);
        self.is_unread |= other.is_unread;
    }

    fn add_row(&mut self, row: &Row) {
        let Some(release) = row.release else { return };
        let key = match &row.content {
            RowContent::Set(set) => Some(CountKey::of_set(release, set)),
            RowContent::LexUnit(lu) => Some(CountKey::of_lexunit(release, lu)),
            RowContent::Sentence(sentence) => CountKey::of_sentence(release, sentence.id),
            RowContent::Count(count) => {
                self.kept.extend(CountKey::decode(&row.key).map(|key| (key, *count)));
                None
            }
            _ => None,
        };
        if let Some(key) = key {
            self.found.add(&key);
        }
    }

    fn add_fault(&mut self, fault: &RowFault) {
        let counted = [
            Family::Annotation,
            Family::LexUnit,
            Family::Sentence,
            Family::Verification,
            Family::Count,
            Family::Evidence,
        ];
        if counted.iter().any(|family| family.name() == fault.family) {
            self.unsure.extend(fault.release);
            self.is_unread |= fault.kind == RowFaultKind::Unreadable;
        }
    }

    /// The releases of which every row could be read.
    pub(crate) fn sure_of(&self, releases: impl IntoIterator<Item = ReleaseId>) -> Vec<ReleaseId> {
        let is_sure = |release: &ReleaseId| !self.is_unread && !self.unsure.contains(release);
        releases.into_iter().filter(is_sure).collect()
    }

    /// The counts that are not what the rows say, each in words. A release without counts has none.
    pub(crate) fn differences(self) -> Vec<String> {
        let Self { found, kept, unsure, is_unread } = self;
        let found = found.cells();
        let of = |cells: &Cells, key: &CountKey| cells.get(key).copied().unwrap_or_default();
        let keys: BTreeSet<&CountKey> = found.keys().chain(kept.keys()).collect();
        let counted: BTreeSet<ReleaseId> = kept.keys().map(|key| key.release).collect();
        let is_compared =
            |release| !is_unread && counted.contains(release) && !unsure.contains(release);
        let compared = keys.into_iter().filter(|key| is_compared(&key.release));
        let difference = |key: &CountKey| {
            let (found, kept) = (of(&found, key), of(&kept, key));
            (found != kept).then(|| format!("{}: {kept}, and the rows are {found}", words(key)))
        };
        compared.filter_map(difference).collect()
    }
}
