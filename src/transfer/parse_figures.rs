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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::database::Database;
    use crate::identify::FoundTarget;
    use crate::label::FoundElement;
    use crate::transfer::ImportOptions;

    /// What people annotated in the small lexicon, with what its frames have.
    struct Annotated {
        inventory: Inventory,
        labelled: Vec<LabelledSentence>,
        sentences: Vec<FrameSentence>,
    }

    impl Annotated {
        fn read() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let database = Database::open_writer(folder.path()).unwrap();
            let release = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/mini-framenet");
            let options = ImportOptions::default();
            database.import(release.as_ref(), &options, &mut |_| {}).unwrap();
            let query = "frame=Checking".parse().unwrap();
            let lexicon = database.lexicon("mini-framenet").unwrap();
            Self {
                inventory: Inventory::read(&lexicon).unwrap(),
                labelled: LabelledSentence::read(&database, "mini-framenet", &query).unwrap(),
                sentences: FrameSentence::read(&database, "mini-framenet", &query).unwrap(),
            }
        }

        /// Whole structures of one sentence, where a parser says of it what `change` makes of the
        /// truth.
        fn structures(&self, change: impl FnOnce(&mut AnnotatedTarget)) -> Counts {
            let sentence = self.sentence();
            let mut found = self.truth();
            change(&mut found);
            let gold = GoldStructures::new(&self.inventory, &self.labelled);
            let mut figures = ParseFigures::default();
            figures.add(&gold, sentence, Some(&[found]));
            figures.structures
        }

        /// The first sentence with one target, one core FE and one peripheral FE, and no more.
        fn sentence(&self) -> &FrameSentence {
            let mut all = self.sentences.iter();
            let is_plain =
                |of: &&FrameSentence| of.targets.len() == 1 && self.weights(of) == [1, 2];
            all.find(is_plain).expect("there is such a sentence")
        }

        fn elements(&self, sentence: &FrameSentence) -> Vec<FoundElement> {
            let set = sentence.targets[0].set;
            let targets = self.labelled.iter().flat_map(|of| &of.targets);
            let elements = targets.filter(|of| of.set == set).flat_map(|of| &of.elements);
            let found = elements.map(|of| (of.name.clone(), of.span));
            found.map(|(name, span)| FoundElement { name, span, score: 1.0 }).collect()
        }

        /// What its FEs weigh, in order.
        fn weights(&self, sentence: &FrameSentence) -> Vec<u64> {
            let elements = self.elements(sentence);
            let weight = |of: &FoundElement| self.inventory.halves("Checking", &of.name);
            let mut weights: Vec<u64> = elements.iter().map(weight).collect();
            weights.sort_unstable();
            weights
        }

        fn truth(&self) -> AnnotatedTarget {
            let sentence = self.sentence();
            let target = FoundTarget {
                pieces: vec![sentence.targets[0].span],
                frame: sentence.targets[0].frame.clone(),
                lexunit: None,
                score: 1.0,
                is_by_form: false,
                runners_up: Vec::new(),
            };
            AnnotatedTarget { target, elements: Some(self.elements(sentence)) }
        }
    }

    fn counts(right: u64, predicted: u64, gold: u64) -> Counts {
        Counts { right, predicted, gold }
    }

    /// A target with its frame counts 2, the core FE 2, the peripheral one 1.
    #[test]
    fn whole_structures_weigh_targets_and_core_elements_twice() {
        let people = Annotated::read();
        let core = |elements: &[FoundElement]| -> usize {
            elements
                .iter()
                .position(|of| people.inventory.halves("Checking", &of.name) == 2)
                .expect("one FE is core")
        };
        assert_eq!(people.structures(|_| {}), counts(5, 5, 5));
        let nothing = people.structures(|found| found.elements = None);
        assert_eq!(nothing, counts(2, 2, 5), "nobody looked for FEs");
        let short = people.structures(|found| {
            let elements = found.elements.as_mut().unwrap();
            let place = core(elements);
            elements[place].span.end -= 1;
        });
        assert_eq!(short, counts(3, 5, 5), "a core FE ends too early");
        let missed = people.structures(|found| {
            let elements = found.elements.as_mut().unwrap();
            elements.remove(core(elements));
        });
        assert_eq!(missed, counts(3, 3, 5), "a core FE is missed");
        let more = people.structures(|found| {
            let elements = found.elements.as_mut().unwrap();
            let span = Span::new(0, 1);
            elements.push(FoundElement { name: "Matter".to_owned(), span, score: 1.0 });
        });
        assert_eq!(more, counts(5, 7, 5), "a core FE too many");
        let renamed = people.structures(|found| {
            found.target.frame = "Repairing".into();
            found.elements = Some(Vec::new());
        });
        assert_eq!(renamed, counts(0, 2, 5), "another frame");
        let moved = people.structures(|found| found.target.pieces[0].end -= 1);
        assert_eq!(moved, counts(0, 5, 5), "a target of another end is another target");
    }

    #[test]
    fn what_is_annotated_in_a_sentence_that_was_not_read_is_not_found() {
        let people = Annotated::read();
        let gold = GoldStructures::new(&people.inventory, &people.labelled);
        let mut figures = ParseFigures::default();
        figures.add(&gold, people.sentence(), None);
        assert_eq!((figures.sentences, figures.left_out), (0, 1));
        assert_eq!(figures.beginnings, counts(0, 0, 1));
        assert_eq!(figures.structures, counts(0, 0, 5));
    }
}
