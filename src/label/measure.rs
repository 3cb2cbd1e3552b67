//! How well a labeller does: precision, recall and F1 over FEs, micro-averaged; one is right if its
//! span (in bytes, to the character) and its name are.

use serde::{Deserialize, Serialize};

use super::data::{LabelledSentence, LabelledTarget};
use super::elements::{FoundElement, Inventory};
use crate::model::CoreType;

/// FEs found, annotated, and right.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ElementCounts {
    /// Those that are both annotated and found.
    pub right: u64,
    /// Those found.
    pub found: u64,
    /// Those annotated.
    pub gold: u64,
}

impl ElementCounts {
    /// The share of the found ones that is right; 0 of none.
    #[must_use]
    pub fn precision(&self) -> f64 {
        self.right as f64 / self.found.max(1) as f64
    }

    /// The share of the annotated ones that is found; 0 of none.
    #[must_use]
    pub fn recall(&self) -> f64 {
        self.right as f64 / self.gold.max(1) as f64
    }

    /// The harmonic mean of both.
    ///
    /// ```
    /// let counts = fnstore::label::ElementCounts { right: 2, found: 4, gold: 2 };
    /// assert_eq!((counts.precision(), counts.recall()), (0.5, 1.0));
    /// assert!((counts.f1() - 2.0 / 3.0).abs() < 1e-12);
    /// ```
    #[must_use]
    pub fn f1(&self) -> f64 {
        2.0 * self.right as f64 / (self.found + self.gold).max(1) as f64
    }

    /// Counts one FE that is found, annotated, or both.
    fn add(&mut self, is_found: bool, is_gold: bool) {
        self.add_many(1, is_found, is_gold);
    }

    fn add_many(&mut self, many: u64, is_found: bool, is_gold: bool) {
        self.right += many * u64::from(is_found && is_gold);
        self.found += many * u64::from(is_found);
        self.gold += many * u64::from(is_gold);
    }
}

/// What development data says of an epoch.
pub type DevFigures = ElementCounts;

/// How well a labeller does on some targets.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Measure {
    /// Targets.
    pub targets: u64,
    /// Targets whose FEs are exactly those annotated.
    pub whole: u64,
    /// All FEs.
    pub all: ElementCounts,
    /// FEs of each core type, in the order of [`CoreType::ALL`].
    pub by_core_type: [ElementCounts; CoreType::ALL.len()],
    /// All FEs in halves ([`Inventory::halves`]), so that core ones count twice what others do.
    pub halves: ElementCounts,
    /// FEs that their frame does not have: nothing finds those.
    pub unknown: ElementCounts,
    /// FEs that stand on the target itself.
    pub on_target: ElementCounts,
    /// FEs elsewhere.
    pub elsewhere: ElementCounts,
}

impl Measure {
    /// Counts a target of a sentence and what was found for it.
    pub fn add(
        &mut self,
        inventory: &Inventory,
        sentence: &LabelledSentence,
        gold: &LabelledTarget,
        found: &[FoundElement],
    ) {
        self.targets += 1;
        let is_found =
            |span, name: &str| found.iter().any(|one| one.span == span && one.name == name);
        let is_gold = |one: &FoundElement| {
            gold.elements.iter().any(|gold| gold.span == one.span && gold.name == one.name)
        };
        let mut is_whole = true;
        let known = gold.elements.iter().map(|gold| (gold.span, &*gold.name, true));
        let more =
            found.iter().filter(|one| !is_gold(one)).map(|one| (one.span, &*one.name, false));
        for (span, name, is_gold) in known.chain(more) {
            let is_found = is_found(span, name);
            is_whole &= is_found && is_gold;
            let target =
                sentence.words[gold.target.start].start..sentence.words[gold.target.end - 1].end;
            let place = match span.start == target.start && span.end == target.end {
                true => &mut self.on_target,
                false => &mut self.elsewhere,
            };
            place.add(is_found, is_gold);
            self.all.add(is_found, is_gold);
            self.halves.add_many(inventory.halves(&gold.frame, name), is_found, is_gold);
            let core_type = inventory.core_type(&gold.frame, name);
            let kind = CoreType::ALL.iter().position(|of| Some(*of) == core_type);
            kind.map_or(&mut self.unknown, |at| &mut self.by_core_type[at]).add(is_found, is_gold);
        }
        self.whole += u64::from(is_whole);
    }
}
