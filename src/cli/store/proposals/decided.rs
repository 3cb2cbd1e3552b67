//! What a decision on a proposal did, as it is said and as JSON.

use fnstore::edit::HandedOver;
use fnstore::model::{Release, Verdict};
use serde::Serialize;

use super::decide::DecisionRequest;
use crate::cli::print::output::{counted, grouped, tell};

/// A decision that was carried out, or taken back; see `schema/proposal-decided.schema.json`.
#[derive(Debug, Serialize)]
pub(crate) struct DecidedRecord {
    release: String,
    frame: String,
    lu: String,
    verdict: Verdict,
    /// Whether the decision was taken back.
    undone: bool,
    /// Whose decision an undo took back; null for a decision.
    decided_by: Option<String>,
    /// The frame of a move or the LU of a merge, as it was asked for.
    to: Option<String>,
    sets: u64,
    fes_kept: u64,
    fes_mapped: u64,
    fes_dropped: u64,
    /// Sets whose frame fit was of the old frame.
    frame_fits_removed: u64,
    /// Those of them whose frame fit was computed anew.
    frame_fits_computed: u64,
}

impl DecidedRecord {
    pub(super) fn new(
        release: &Release,
        [frame, lu]: [&str; 2],
        (asked, verdict, decided_by): (&DecisionRequest, Verdict, Option<String>),
        handed_over: &HandedOver,
    ) -> Self {
        let HandedOver { sets, elements, unfitted } = handed_over;
        Self {
            release: release.name.clone(),
            frame: frame.to_owned(),
            lu: lu.to_owned(),
            verdict,
            undone: matches!(asked, DecisionRequest::Undo),
            decided_by,
            to: match asked {
                DecisionRequest::Move(to) | DecisionRequest::Merge(to) => Some(to.clone()),
                DecisionRequest::Accept | DecisionRequest::Reject | DecisionRequest::Undo => None,
            },
            sets: *sets,
            fes_kept: elements.kept,
            fes_mapped: elements.mapped,
            fes_dropped: elements.dropped,
            frame_fits_removed: unfitted.len() as u64,
            frame_fits_computed: 0,
        }
    }

    /// Adds the frame fits that were computed after the decision, or warns of why they were not:
    /// the decision stands.
    pub(crate) fn add_fits(&mut self, computed: anyhow::Result<u64>) {
        match computed {
            Ok(computed) => self.frame_fits_computed = computed,
            Err(error) => tell(&format!(
                "warning: frame fit of the sets is removed, not computed again: {error:#}"
            )),
        }
    }

    /// In words, for whoever decided.
    pub(crate) fn said(&self) -> String {
        let name = format!("`{}` of `{}`", self.lu, self.frame);
        if self.undone {
            let whose = self.decided_by.as_deref().unwrap_or_default();
            return format!("undone: {} on {name}, by `{whose}`{}", self.verdict, self.fits());
        }
        let to = self.to.as_deref().unwrap_or_default();
        let sets = counted(self.sets, "annotation set");
        match self.verdict {
            Verdict::Accept => format!("accepted {name}"),
            Verdict::Reject => format!("rejected {name}"),
            Verdict::Merge => format!("merged {name} into `{to}`, {sets}"),
            Verdict::Move => {
                format!("moved {name} to `{to}`, {sets}; {}{}", self.elements(), self.fits())
            }
        }
    }

    fn elements(&self) -> String {
        let counts = [self.fes_kept, self.fes_mapped, self.fes_dropped].map(grouped);
        let [kept, mapped, dropped] = counts;
        format!("FEs: {kept} kept by name, {mapped} mapped by a relation, {dropped} dropped")
    }

    fn fits(&self) -> String {
        match (self.frame_fits_removed, self.frame_fits_computed) {
            (0, _) => String::new(),
            (removed, 0) => format!(
                "; frame fit removed from {}: `fnstore fit` computes it with the frame model",
                grouped(removed)
            ),
            (removed, computed) => {
                format!(
                    "; frame fit computed anew for {} of {}",
                    grouped(computed),
                    grouped(removed)
                )
            }
        }
    }
}
