//! The index against the store.

use std::collections::HashSet;

use super::{CheckCode, CheckOptions, CheckReport, Findings};
use crate::database::{Database, Result, each_entry};
use crate::index::{self, Entry, EntryState, IndexAudit, IndexReader};
use crate::model::{AnnotationSet, AnnotationSetId, ReleaseId};
use crate::store::{Change, Subject};

const FAMILY: &str = "index";

/// The index's last commit with its revision, when there is one that opens.
pub(super) fn open(
    database: &Database,
    report: &mut CheckReport,
) -> Result<Option<(IndexReader, u64)>> {
    let path = database.dir.join("index");
    let mut damaged = |reason: String| {
        report.findings.add(CheckCode::IndexDamaged, FAMILY, reason);
        Ok(None)
    };
    let stamp = match index::stamp(&path) {
        Ok(stamp) => stamp,
        Err(error) => return damaged(error.to_string()),
    };
    let is_there = IndexReader::open(&path).map(|reader| reader.is_some());
    let reader = is_there.and_then(|is_there| {
        if is_there {
            // What follows reads the files, and trusts them.
            IndexReader::verify(&path)?;
        }
        IndexReader::open(&path)
    });
    match (stamp, reader) {
        (Some(stamp), Ok(Some(reader))) => Ok(Some((reader, stamp.revision))),
        (_, Err(error)) => damaged(error.to_string()),
        // A writer that was stopped before the index's first commit: the next one makes it.
        (None, _) if path.join("meta.json").exists() || database.store.revision()? == 0 => {
            report.index_behind = database.store.revision()?;
            Ok(None)
        }
        _ => {
            let detail = format!("`{}`", path.display());
            report.findings.add(CheckCode::IndexAbsent, FAMILY, detail);
            Ok(None)
        }
    }
}

/// Compares the index with the store, which has that many frame-evoking sets.
pub(super) fn check(
    database: &Database,
    index: Option<(IndexReader, u64)>,
    sets: u64,
    options: CheckOptions,
    report: &mut CheckReport,
) -> Result<()> {
    let Some((reader, revision)) = index else { return Ok(()) };
    report.index_entries = Some(reader.entries());
    if revision > report.revision {
        let detail = format!("revision {revision}, the store's is {}", report.revision);
        report.findings.add(CheckCode::IndexAhead, FAMILY, detail);
        return Ok(());
    }
    report.index_behind = report.revision - revision;
    let pending = Pending::since(database, revision, &mut report.findings)?;
    if pending.is_empty() && reader.entries() != sets {
        let detail = format!("{} entries for {sets} sets", reader.entries());
        report.findings.add(CheckCode::IndexCount, FAMILY, detail);
    }
    if options.deep {
        match reader.audit() {
            Ok(audit) => entries(database, audit, &pending, &mut report.findings)?,
            Err(error) => {
                report.findings.add(CheckCode::IndexDamaged, FAMILY, error.to_string());
            }
        }
    }
    Ok(())
}

/// Every set has one entry, with its own terms, and there are no others.
fn entries(
    database: &Database,
    mut audit: IndexAudit,
    pending: &Pending,
    findings: &mut Findings,
) -> Result<()> {
    let store = &database.store;
    let mut damage = None;
    for release in store.releases()? {
        let mut check = |set: &AnnotationSet, entry: &Entry<'_>| {
            // What follows would say the same.
            if damage.is_some() {
                return Ok(());
            }
            match audit.check(entry) {
                Ok(state) if !pending.covers(release.id, set.id) => {
                    add(findings, release.name.as_str(), set, state);
                }
                Ok(_) => {}
                Err(error) => damage = Some(error),
            }
            Ok(())
        };
        // A row that cannot be read was found before.
        each_entry(store, release.id, &mut check, &|_| Ok(()))?;
        if let Some(error) = damage {
            findings.add(CheckCode::IndexDamaged, FAMILY, error.to_string());
            return Ok(());
        }
    }
    let extra = audit.unclaimed();
    if extra > 0 && pending.is_empty() {
        findings.add(CheckCode::IndexExtra, FAMILY, format!("{extra} entries"));
    }
    Ok(())
}

fn add(findings: &mut Findings, release: &str, set: &AnnotationSet, state: EntryState) {
    let code = match state {
        EntryState::Right => return,
        EntryState::Missing => CheckCode::IndexMissing,
        EntryState::Repeated(_) => CheckCode::IndexRepeated,
        EntryState::Wrong => CheckCode::IndexWrong,
    };
    let detail = match state {
        EntryState::Repeated(entries) => format!("set {} of {release}: {entries} entries", set.id),
        _ => format!("set {} of {release}", set.id),
    };
    findings.add(code, FAMILY, detail);
}

/// What the store has that an index which is behind need not have yet.
#[derive(Default)]
struct Pending {
    releases: HashSet<ReleaseId>,
    sets: HashSet<(ReleaseId, AnnotationSetId)>,
}

impl Pending {
    fn since(database: &Database, revision: u64, findings: &mut Findings) -> Result<Self> {
        let mut pending = Self::default();
        for change in database.store.changes_since(revision)? {
            match change {
                Ok(Change { release, subject, .. }) => match subject {
                    Subject::Set(set, _) => drop(pending.sets.insert((release, set))),
                    // Their names stand beside each of their sets.
                    Subject::Release | Subject::LexUnit(..) | Subject::Document(..) => {
                        pending.releases.insert(release);
                    }
                    _ => {}
                },
                Err(error) => findings.add(CheckCode::Unreadable, "change", error.to_string()),
            }
        }
        Ok(pending)
    }

    fn covers(&self, release: ReleaseId, set: AnnotationSetId) -> bool {
        self.releases.contains(&release) || self.sets.contains(&(release, set))
    }

    fn is_empty(&self) -> bool {
        self.releases.is_empty() && self.sets.is_empty()
    }
}
