//! What people decided on proposals, a row for each decision.

use serde::Serialize;

use super::Result;
use crate::database::Database;
use crate::model::{Decision, Release, Reviewed, Verdict};

/// A decision as JSON; see `schema/proposal-decision.schema.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct DecisionRecord {
    /// Name of the release
    pub release: String,
    /// Name of the frame
    pub frame: String,
    /// Name of the proposed LU
    pub lu: String,
    /// What was decided
    pub verdict: Verdict,
    /// Who
    pub reviewer: String,
    /// When, in seconds since 1970 (UTC)
    pub time: u64,
    /// Why; may be empty
    pub note: String,
    /// Frame that the sets went to
    pub to_frame: Option<String>,
    /// LU that the sets went to
    pub to_lu: Option<String>,
    /// Generated sets that the proposal had
    pub sets: u64,
    /// Who took it back
    pub undone_by: Option<String>,
    /// When
    pub undone_at: Option<u64>,
    /// Why
    pub undone_note: Option<String>,
}

/// Every decision on proposals of these releases, also those that were undone, in order of frame
/// and name.
///
/// # Errors
/// When the store fails.
pub fn decisions(database: &Database, releases: &[Release]) -> Result<Vec<DecisionRecord>> {
    let catalog = database.catalog()?;
    let mut records = Vec::new();
    for release in releases {
        for decided in database.store().all_decisions(release.id)? {
            let decided = decided?;
            let frame = catalog.frame(release.id, decided.frame)?;
            for decision in decided.history {
                let to = match &decision.moved {
                    Some(moved) => Some((
                        catalog.frame(release.id, moved.frame)?.to_string(),
                        catalog.lexunit(release.id, moved.frame, moved.lu)?.to_string(),
                    )),
                    None => None,
                };
                let named = [&*release.name, &*frame, &*decided.name].map(str::to_owned);
                records.push(DecisionRecord::new(named, decision, to));
            }
        }
    }
    Ok(records)
}

impl DecisionRecord {
    fn new(
        [release, frame, lu]: [String; 3],
        decision: Decision,
        to: Option<(String, String)>,
    ) -> Self {
        let Decision { verdict, reviewer, time, note, evidence, undone, .. } = decision;
        let (to_frame, to_lu) = to.unzip();
        let undone = undone.map(|Reviewed { reviewer, time, note }| (reviewer, (time, note)));
        let (undone_by, undone) = undone.unzip();
        let (undone_at, undone_note) = undone.unzip();
        Self {
            release,
            frame,
            lu,
            verdict,
            reviewer,
            time,
            note,
            to_frame,
            to_lu,
            sets: u64::from(evidence.sets),
            undone_by,
            undone_at,
            undone_note,
        }
    }
}
