//! What an export says that it wrote, and what its format cannot hold.

use std::collections::BTreeMap;
use std::path::Path;

use fnstore::exchange::jsonl::Scope;
use fnstore::model::Positive;
use fnstore::transfer::FramenetLoss;
use serde::Serialize;

use super::format::To;
use crate::cli::print::output::{counted, grouped, tell};

/// The name of a loss in reports.
pub(super) fn framenet_loss(loss: FramenetLoss) -> &'static str {
    match loss {
        FramenetLoss::Generated => "generation",
        FramenetLoss::Imported => "imported",
        FramenetLoss::Predicted => "predicted",
        FramenetLoss::User => "user",
        FramenetLoss::Order => "order",
        FramenetLoss::Sentences => "sentences",
        FramenetLoss::Judgements => "judgements",
        FramenetLoss::Verifications => "verifications",
        FramenetLoss::Decisions => "decisions",
        FramenetLoss::Rejected => "rejected",
        FramenetLoss::Editions => "editions",
        FramenetLoss::Characters => "characters",
        _ => "other",
    }
}

/// An export as JSON; see `schema/export.schema.json`.
#[derive(Debug, Serialize)]
pub(super) struct ExportRecord {
    pub(super) to: To,
    pub(super) expression: String,
    pub(super) release: Option<String>,
    pub(super) scope: Option<Scope>,
    pub(super) records: BTreeMap<&'static str, u64>,
    /// Sets among them that were not asked for: others grew from them, or they were carried along;
    /// for jsonl.
    pub(super) origins: u64,
    pub(super) losses: BTreeMap<&'static str, LossRecord>,
    /// Files that a part leaves out, by folder, for framenet-xml.
    pub(super) left_out: BTreeMap<&'static str, u64>,
    /// The editions that the expression names with `edition=`; the program ends with 1 if a set of
    /// one is gone or changed.
    pub(super) editions: Vec<EditionRecord>,
}

#[derive(Debug, Serialize)]
pub(super) struct EditionRecord {
    pub(super) release: String,
    pub(super) name: String,
    pub(super) sets: Positive,
    pub(super) removed: u64,
    pub(super) changed: u64,
}

#[derive(Debug, Serialize)]
pub(super) struct LossRecord {
    pub(super) count: Positive,
    pub(super) said: &'static str,
}

impl ExportRecord {
    pub(super) fn found(&self) -> bool {
        self.release.is_some() || self.records.values().any(|count| *count > 0)
    }

    /// Says what was written and what was lost.
    pub(super) fn tell(&self, path: Option<&Path>) {
        let records = self.records.iter();
        let records = records.map(|(kind, count)| format!("{} {kind}", grouped(*count)));
        let records = records.collect::<Vec<_>>().join(", ");
        let whose = match (&self.release, self.scope) {
            (Some(release), Some(Scope::Additions)) => format!(" added to {release}"),
            (Some(release), Some(Scope::Part)) => format!(" of {release}, a part of it"),
            (Some(release), _) => format!(" of {release}, whole"),
            (None, _) => String::new(),
        };
        let place = path.map_or(String::new(), |path| format!(" to {}", path.display()));
        tell(&format!("exported{place}: {records}{whose}"));
        if self.origins > 0 {
            let origins = grouped(self.origins);
            tell(&format!(
                "  {origins:>9}  of these sets were not asked for: others grew from them, or they were carried along"
            ));
        }
        for (folder, count) in &self.left_out {
            tell(&format!("  {:>9}  files of {folder} left out", grouped(*count)));
        }
        for EditionRecord { name, sets, removed, changed, .. } in &self.editions {
            if removed + changed > 0 {
                tell(&format!(
                    "edition `{name}` is not what it was: of its {} {} gone and {} \
                     changed; `fnstore edition verify {name}` names them",
                    counted(*sets, "set"),
                    grouped(*removed),
                    grouped(*changed)
                ));
            }
        }
        self.tell_losses();
    }

    /// Says that nothing was written, and what there would have been.
    pub(super) fn tell_nothing(&self) {
        tell(if self.losses.is_empty() { "nothing found" } else { "nothing written" });
        self.tell_losses();
    }

    fn tell_losses(&self) {
        if self.losses.is_empty() {
            return;
        }
        tell(&format!("what {} cannot hold:", self.to));
        for (name, LossRecord { count, said }) in &self.losses {
            tell(&format!("  {:>9}  {name:<22} {said}", grouped(*count)));
        }
    }
}
