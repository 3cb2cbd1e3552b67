//! The table of the benchmark; `schema/eval-lexicon.schema.json`.

use fnstore::model::Fraction;
use fnstore::proposals::HiddenFigures;
use fnstore::proposals::benchmark::{Substitutes, Swords, SwordsReading};
use serde::Serialize;

use super::part::Part;
use super::system::{Missing, System};
use crate::cli::print::output::Output;
use crate::cli::print::render::Row;

/// The benchmark as JSON; see `schema/eval-lexicon.schema.json`.
#[derive(Debug, Serialize)]
pub(super) struct Document {
    /// Name of the release whose LUs were hidden
    release: String,
    pub(super) systems: Vec<SystemRecord>,
    /// What they say in a word's place, on SWORDS
    pub(super) substitutes: Vec<SubstitutesRecord>,
    /// What was not run or measured, with the reason
    pub(super) left_out: Vec<LeftOut>,
}

/// What a system finds in a part.
#[derive(Debug, Serialize)]
pub(super) struct SystemRecord {
    /// JSON `{"enum": ["hidden", "later", "scratch"]}`.
    part: &'static str,
    /// The system, or the file of its proposals
    system: String,
    /// What it had to find words without, of what is not there for the release's language
    without: Vec<&'static str>,
    /// Frames that were asked about
    frames: usize,
    /// LUs that were hidden
    hidden: usize,
    /// Proposals that their frame does not have
    proposals: usize,
    /// Hidden LUs among them
    found: usize,
    /// Share of the hidden LUs among the ten best proposals of their frame
    recall_at_10: Fraction,
    /// Share of the hidden LUs among the fifty best proposals of their frame
    recall_at_50: Fraction,
    /// Share of the hidden LUs that are proposed
    recall: Fraction,
    /// Share of the ten best proposals of each frame that are hidden LUs; null without any
    precision_at_10: Option<Fraction>,
    /// Share of the proposals that are hidden LUs; null without any
    precision: Option<Fraction>,
}

/// How good a system's substitutes are, on SWORDS.
#[derive(Debug, Serialize)]
pub(super) struct SubstitutesRecord {
    /// The system, or the file of its substitutes
    system: String,
    /// Targets that were asked about
    targets: usize,
    /// F@10 where more than half of the votes are for an answer
    acceptable_strict: Fraction,
    /// The same, without what nobody judged
    acceptable_lenient: Fraction,
    /// F@10 where one vote is for an answer
    conceivable_strict: Fraction,
    /// The same, without what nobody judged
    conceivable_lenient: Fraction,
}

/// What was not run or measured.
#[derive(Debug, Serialize)]
pub(super) struct LeftOut {
    /// JSON `{"enum": ["hidden", "later", "scratch", "swords"]}`.
    part: &'static str,
    /// The system; null for the part or some of its frames
    system: Option<&'static str>,
    /// The reason
    why: String,
}

impl LeftOut {
    pub(super) fn part(part: Part, why: String) -> Self {
        Self { part: part.as_str(), system: None, why }
    }

    pub(super) fn system(part: Part, system: System, why: String) -> Self {
        Self { part: part.as_str(), system: Some(system.as_str()), why }
    }
}

impl SystemRecord {
    pub(super) fn new(part: Part, system: &str, frames: usize, of: &HiddenFigures) -> Self {
        Self {
            part: part.as_str(),
            system: system.to_owned(),
            without: Vec::new(),
            frames,
            hidden: of.hidden,
            proposals: of.proposals,
            found: of.found,
            recall_at_10: of.recall_at_10(),
            recall_at_50: of.recall_at_50(),
            recall: of.recall(),
            precision_at_10: of.precision_at_10(),
            precision: of.precision(),
        }
    }

    pub(super) fn without(self, missing: Missing) -> Self {
        Self { without: missing, ..self }
    }
}

impl SubstitutesRecord {
    pub(super) fn new(system: &str, targets: usize, of: (&Swords, &Substitutes)) -> Self {
        let f = |is_acceptable, is_lenient| {
            let reading = SwordsReading { is_acceptable, is_lenient };
            of.0.measure(targets, of.1, reading).f_at_10()
        };
        Self {
            system: system.to_owned(),
            targets,
            acceptable_strict: f(true, false),
            acceptable_lenient: f(true, true),
            conceivable_strict: f(false, false),
            conceivable_lenient: f(false, true),
        }
    }
}

impl Row for SubstitutesRecord {
    const COLUMNS: &'static [&'static str] = &[
        "system",
        "targets",
        "acceptable_strict",
        "acceptable_lenient",
        "conceivable_strict",
        "conceivable_lenient",
    ];

    fn cells(&self) -> Vec<String> {
        let acceptable = [self.acceptable_strict, self.acceptable_lenient];
        let conceivable = [self.conceivable_strict, self.conceivable_lenient];
        [self.system.clone(), self.targets.to_string()]
            .into_iter()
            .chain([acceptable, conceivable].concat().iter().map(|f| format!("{f:.4}")))
            .collect()
    }
}

impl Row for SystemRecord {
    const COLUMNS: &'static [&'static str] = &[
        "part",
        "system",
        "frames",
        "hidden",
        "proposals",
        "found",
        "recall_at_10",
        "recall_at_50",
        "recall",
        "precision_at_10",
        "precision",
    ];

    fn cells(&self) -> Vec<String> {
        let counts = [self.frames, self.hidden, self.proposals, self.found];
        let recalls = [self.recall_at_10, self.recall_at_50, self.recall].map(Some);
        let shares = recalls.into_iter().chain([self.precision_at_10, self.precision]);
        let written = |share: Option<f64>| share.map_or_else(String::new, |of| format!("{of:.4}"));
        [self.part.to_owned(), self.system.clone()]
            .into_iter()
            .chain(counts.map(|count| count.to_string()))
            .chain(shares.map(written))
            .collect()
    }
}

impl Document {
    pub(super) fn new(release: &str) -> Self {
        let release = release.to_owned();
        Self { release, systems: Vec::new(), substitutes: Vec::new(), left_out: Vec::new() }
    }

    pub(super) fn lay_out(&self, output: &mut Output) -> anyhow::Result<()> {
        output.heading(&self.release)?;
        if !self.systems.is_empty() {
            output.table_of(&self.systems)?;
        }
        if !self.substitutes.is_empty() {
            output.heading("SWORDS, F@10")?;
            output.table_of(&self.substitutes)?;
        }
        for of in self.systems.iter().filter(|of| !of.without.is_empty()) {
            let SystemRecord { part, system, without, .. } = of;
            output.line(&format!("{part} {system}: words without {}", without.join(", ")))?;
        }
        for LeftOut { part, system, why } in &self.left_out {
            let system = system.map(|of| format!(" {of}")).unwrap_or_default();
            output.line(&format!("not run: {part}{system}: {why}"))?;
        }
        Ok(())
    }
}
