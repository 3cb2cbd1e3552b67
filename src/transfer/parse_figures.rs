//! How well an annotator parses sentences of which nothing is given, by the measures that parsers
//! of FrameNet are compared by.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::AnnotatedTarget;
use crate::align::Counts;
use crate::identify::FrameSentence;
use crate::label::{Inventory, LabelledSentence, LabelledTarget};
use crate::model::{AnnotationSetId, Span};

/// What was right of the targets of some sentences, and of their whole structures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ParseFigures {
    /// Sentences that were read.
    pub sentences: u64,
    /// Sentences that were not: they are too long. What is annotated in them counts as not found.
    pub left_out: u64,
    /// Places at which a target begins, whatever its end and its frame.
    pub beginnings: Counts,
    /// Targets with their frames and FEs, in halves ([`Inventory::halves`]); a target with its
    /// frame counts two, and is right if both ends of its span and the frame are. An FE is right if
    /// its target is, both ends of its span, and its name. FEs of a right target count only where
    /// people annotated its FEs.
    pub structures: Counts,
}

/// What people annotated, to compare with.
pub struct GoldStructures<'a> {
    inventory: &'a Inventory,
    labelled: HashMap<AnnotationSetId, &'a LabelledTarget>,
}

impl<'a> GoldStructures<'a> {
    /// The FEs of some sentences, with the FEs that frames have.
    #[must_use]
    pub fn new(inventory: &'a Inventory, labelled: &'a [LabelledSentence]) -> Self {
        let targets = labelled.iter().flat_map(|sentence| &sentence.targets);
        Self { inventory, labelled: targets.map(|target| (target.set, target)).collect() }
    }

    /// What the FEs of a target weigh, in halves.
    fn weight<'e>(&self, frame: &str, names: impl Iterator<Item = &'e str>) -> u64 {
        names.map(|name| self.inventory.halves(frame, name)).sum()
    }
}

impl ParseFigures {
    /// Counts a sentence, and what was found in it; nothing where it was not read.
    pub fn add(
        &mut self,
        gold: &GoldStructures<'_>,
        sentence: &FrameSentence,
        found: Option<&[AnnotatedTarget]>,
    ) {
        self.sentences += u64::from(found.is_some());
        self.left_out += u64::from(found.is_none());
        let found = found.unwrap_or_default();
        let begins: HashSet<u32> = sentence.targets.iter().map(|of| of.span.start).collect();
        let begin: HashSet<u32> = found.iter().map(|of| of.target.span().start).collect();
        self.beginnings.gold += begins.len() as u64;
        self.beginnings.predicted += begin.len() as u64;
        self.beginnings.right += begins.intersection(&begin).count() as u64;
        for target in &sentence.targets {
            let labelled = gold.labelled.get(&target.set);
            let names = labelled.into_iter().flat_map(|of| &of.elements).map(|of| &*of.name);
            self.structures.gold += 2 + gold.weight(&target.frame, names);
        }
        for one in found {
            let frame = &*one.target.frame;
            let mut right = sentence.targets.iter();
            let right = right.find(|of| of.span == one.target.span() && &*of.frame == frame);
            let elements = one.elements.as_deref().unwrap_or_default();
            let names = elements.iter().map(|of| &*of.name);
            let Some(right) = right else {
                self.structures.predicted += 2 + gold.weight(frame, names);
                continue;
            };
            self.structures.predicted += 2;
            self.structures.right += 2;
            let Some(labelled) = gold.labelled.get(&right.set) else { continue };
            self.structures.predicted += gold.weight(frame, names);
            let annotated: BTreeSet<(Span, &str)> =
                labelled.elements.iter().map(|of| (of.span, &*of.name)).collect();
            let are_right = elements.iter().filter(|of| annotated.contains(&(of.span, &*of.name)));
            self.structures.right += gold.weight(frame, are_right.map(|of| &*of.name));
        }
    }
}
