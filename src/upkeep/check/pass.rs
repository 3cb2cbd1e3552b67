//! The pass over all rows, part by part on all threads, whose findings come in the order of the
//! rows.
//!
//! A family with a block that cannot be read is read once more, from its first row to that block:
//! where parts begin and end makes no difference to what is found.

use std::collections::{BTreeMap, BTreeSet};

use super::rows::{Checker, Known};
use super::{CheckCode, CheckOptions, CheckReport, Findings};
use crate::database::{DatabaseError, Result};
use crate::model::ReleaseId;
use crate::store::{
    Recount, Row, RowFault, RowFaultKind, RowsPart, Store, StoreError, Tallied, in_order,
};

/// Families that have one row for each set that evokes a frame.
const SET_FAMILIES: [&str; 3] = ["annotation", "set_location", "by_sentence"];

/// Rows whose sentences are read together.
const TOGETHER: usize = 256;

type CheckedRow = std::result::Result<Row, Box<RowFault>>;

/// Goes over every row; gives the number of frame-evoking sets of the listed releases that can be
/// read.
pub(super) fn check(
    store: &Store,
    options: CheckOptions,
    report: &mut CheckReport,
    progress: &mut dyn FnMut(u64),
) -> Result<u64> {
    let listed: BTreeSet<ReleaseId> = store.releases()?.iter().map(|release| release.id).collect();
    let visible = store.visible()?;
    let (known, revision) = (Known::new(store), report.revision);
    let checker = || Checker::new(store, options, revision, &known);
    let read = |part: RowsPart| {
        let seen = Seen::of(store.rows_of_part(&part), checker(), &visible);
        (part, seen)
    };
    let mut all = Seen::default();
    let pass = || {
        let (mut of_family, mut family, mut is_cut, mut shown) = (Seen::default(), None, false, 0);
        in_order(store.parts_of_rows(), read, |(part, seen)| {
            if family.replace(part.family()) != Some(part.family()) {
                all.merge(std::mem::take(&mut of_family));
                is_cut = false;
            }
            if is_cut {
                return Ok(());
            }
            if seen.is_cut {
                of_family = Seen::of(store.rows_of_part(&part.whole()), checker(), &visible);
                is_cut = true;
            } else {
                of_family.merge(seen);
            }
            let rows: u64 = all.rows.values().chain(of_family.rows.values()).sum();
            shown = rows.max(shown);
            progress(shown);
            of_family.failure.take().map_or(Ok(()), Err)
        })?;
        all.merge(of_family);
        Ok(())
    };
    // Which releases can be compared is known at the end.
    let evidence = || listed.iter().map(|of| (*of, store.evidence_differences(*of))).collect();
    let evidence = side_by_side(pass, evidence)?;
    let Seen { rows, unlisted, of_release, tallied, unread, unreadable, .. } = all;
    let Seen { recount, mut findings, images, .. } = all;
    let last = store.revision()?;
    for (revision, missing) in images {
        // What a commit wrote ahead that failed goes with the next.
        if missing != 0 && revision <= last {
            let detail = format!("commit {revision}: its record counts {missing:+} more");
            findings.add(CheckCode::Rows, "before", detail);
        }
    }
    compare_tallies(store, &tallied, &unread, &mut findings)?;
    compare_sums(store, (recount, evidence), &listed, &mut findings)?;
    let sets = compare_families(&listed, &of_release, &mut findings);
    (report.rows, report.unlisted_rows) = (rows, unlisted);
    report.findings.merge(findings);
    Ok(sets.saturating_sub(unreadable))
}

/// Holds what commits have kept, where they are as new as the store, against the rows.
fn compare_sums(
    store: &Store,
    (recount, evidence): (Recount, Differences),
    listed: &BTreeSet<ReleaseId>,
    findings: &mut Findings,
) -> Result<()> {
    if !store.are_sums_current()? {
        return Ok(());
    }
    let sure = recount.sure_of(listed.iter().copied());
    for difference in recount.differences() {
        findings.add(CheckCode::Counts, "count", difference);
    }
    for (_, differences) in evidence.into_iter().filter(|(release, _)| sure.contains(release)) {
        for difference in differences? {
            findings.add(CheckCode::Counts, "evidence", difference);
        }
    }
    Ok(())
}

/// Where the evidence of each release is not what its rows say.
type Differences = Vec<(ReleaseId, std::result::Result<Vec<String>, StoreError>)>;

/// Does the first here and the second on a thread of the pool, or behind it where there is one
/// thread; gives what the second found.
fn side_by_side(
    first: impl FnOnce() -> Result<()>,
    second: impl FnOnce() -> Differences + Send,
) -> Result<Differences> {
    if rayon::current_num_threads() == 1 {
        first()?;
        return Ok(second());
    }
    let mut found = Differences::new();
    rayon::in_place_scope(|scope| {
        scope.spawn(|_| found = second());
        first()
    })?;
    Ok(found)
}

/// What was seen of some rows.
#[derive(Default)]
struct Seen {
    /// Rows of each family.
    rows: BTreeMap<&'static str, u64>,
    /// Of these, rows of releases that are not listed.
    unlisted: u64,
    of_release: BTreeMap<(ReleaseId, &'static str), u64>,
    tallied: BTreeMap<(Option<ReleaseId>, &'static str), Tallied>,
    /// Families with rows of which not even the keys can be read.
    unread: BTreeSet<&'static str>,
    /// Whether rows are missing behind these, which cannot be read.
    is_cut: bool,
    /// Frame-evoking sets that cannot be read.
    unreadable: u64,
    recount: Recount,
    findings: Findings,
    /// How many more before-images each commit says that it has than were found.
    images: BTreeMap<u64, i64>,
    /// What kept rows from being read that may be whole.
    failure: Option<DatabaseError>,
}

impl Seen {
    fn of(
        rows: std::result::Result<impl Iterator<Item = CheckedRow>, StoreError>,
        mut checker: Checker<'_>,
        listed: &BTreeSet<ReleaseId>,
    ) -> Self {
        let mut seen = Self::default();
        let mut rows = match rows {
            Ok(rows) => rows,
            Err(error) => return Self { failure: Some(error.into()), ..seen },
        };
        loop {
            let batch: Vec<CheckedRow> = rows.by_ref().take(TOGETHER).collect();
            if batch.is_empty() || seen.failure.is_some() {
                break;
            }
            checker.read_sentences(batch.iter().flatten());
            for row in batch {
                seen.add(row, &mut checker, listed);
            }
        }
        let (findings, images, failure) = checker.into_findings();
        seen.failure = seen.failure.or(failure.map(Into::into));
        Self { findings, images, ..seen }
    }

    fn add(&mut self, row: CheckedRow, checker: &mut Checker<'_>, listed: &BTreeSet<ReleaseId>) {
        let (family, release) = match &row {
            Ok(row) => (row.family, row.release),
            Err(fault) => (fault.family, fault.release),
        };
        *self.rows.entry(family).or_default() += 1;
        self.is_cut |= matches!(&row, Err(fault) if fault.kind == RowFaultKind::Unreadable);
        if release.is_some_and(|release| !listed.contains(&release)) {
            self.unlisted += 1;
            return;
        }
        if let Some(release) = release {
            *self.of_release.entry((release, family)).or_default() += 1;
        }
        if matches!(&row, Err(fault) if fault.kind == RowFaultKind::Unreadable) {
            self.unread.insert(family);
        }
        if let Some(key) = key_of(&row).filter(|key| Store::is_tallied(family, key)) {
            self.tallied.entry((release, family)).or_default().add(key);
        }
        self.recount.add(&row);
        match row {
            Ok(row) => checker.row(&row),
            Err(fault) if fault.kind == RowFaultKind::Failed => {
                let RowFault { reason, .. } = *fault;
                let failure = StoreError::Engine { action: "reading rows", reason };
                self.failure.get_or_insert(failure.into());
            }
            Err(fault) => {
                self.unreadable += u64::from(fault.family == SET_FAMILIES[0]);
                checker.fault(&fault);
            }
        }
    }

    /// Takes up what was seen of the rows behind.
    fn merge(&mut self, behind: Self) {
        for (family, rows) in behind.rows {
            *self.rows.entry(family).or_default() += rows;
        }
        for (of, rows) in behind.of_release {
            *self.of_release.entry(of).or_default() += rows;
        }
        for (of, tallied) in behind.tallied {
            self.tallied.entry(of).or_default().merge(tallied);
        }
        for (revision, missing) in behind.images {
            *self.images.entry(revision).or_default() += missing;
        }
        self.unlisted += behind.unlisted;
        self.unreadable += behind.unreadable;
        self.unread.extend(behind.unread);
        self.recount.merge(behind.recount);
        self.findings.merge(behind.findings);
        self.failure = self.failure.take().or(behind.failure);
    }
}

fn key_of(row: &std::result::Result<Row, Box<RowFault>>) -> Option<&[u8]> {
    match row {
        Ok(row) => Some(&row.key),
        Err(fault) => fault.decoded_key(),
    }
}

/// Holds the rows that were found against those that commits have left.
fn compare_tallies(
    store: &Store,
    tallied: &BTreeMap<(Option<ReleaseId>, &'static str), Tallied>,
    unread: &BTreeSet<&'static str>,
    findings: &mut Findings,
) -> Result<()> {
    for ((release, family), expected) in store.tallied()? {
        let found = tallied.get(&(release, family)).copied().unwrap_or_default();
        if found != expected && !unread.contains(family) {
            let of = release.map_or_else(String::new, |release| format!("release {release}: "));
            let (found, expected) = (found.rows, expected.rows);
            let detail = format!("{of}{found} rows, and commits have left {expected}, or others");
            findings.add(CheckCode::Rows, family, detail);
        }
    }
    Ok(())
}

/// Holds the families that have a row for each set against each other; gives the number of sets.
fn compare_families(
    listed: &BTreeSet<ReleaseId>,
    of_release: &BTreeMap<(ReleaseId, &'static str), u64>,
    findings: &mut Findings,
) -> u64 {
    let count = |release, family| of_release.get(&(release, family)).copied().unwrap_or(0);
    for release in listed {
        let counts = SET_FAMILIES.map(|family| count(*release, family));
        if counts.iter().any(|count| *count != counts[0]) {
            let detail = format!("release {release}: {SET_FAMILIES:?} have {counts:?} rows");
            findings.add(CheckCode::Count, SET_FAMILIES[0], detail);
        }
    }
    listed.iter().map(|release| count(*release, SET_FAMILIES[0])).sum()
}
