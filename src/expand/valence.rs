//! Which frame elements the LUs of a frame come with.
//!
//! LUs of one frame differ in their valence: where `oust` has its object, `revolt` has none, and
//! `stinging` is said of a stimulus where `livid` is of who feels. So a sister LU is the likelier
//! to stand in a seed's place the more its annotated sentences express the core FEs that the seed
//! expresses. FrameNet's valence tables tell it; nothing is learned.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::unit::Unit;
use crate::model::{AnnotationSet, CoreType, FeStatus, Frame, Pos};

/// Sets that say nothing, added to those of each LU: a few sentences show little, and an LU that
/// nobody annotated nothing.
pub(super) const DOUBT: f64 = 8.0;

/// Names of the FEs that a set expresses; a label may have a name alone.
pub(crate) type Expressed = BTreeSet<String>;

/// The FEs that have words of their own in a set; `None` where nobody annotated them.
pub(crate) fn expressed(set: &AnnotationSet) -> Option<Expressed> {
    let labels = set.fe_layers().flat_map(|layer| &layer.labels);
    let labels = labels.filter(|label| label.extent.span().is_some());
    (set.fe_status == FeStatus::Annotated).then(|| labels.map(|label| label.name.clone()).collect())
}

/// What the annotated sets of a frame's LUs express of its core FEs.
#[derive(Debug, Default)]
pub(crate) struct Valences {
    core: Expressed,
    /// How many sets of an LU express the same core FEs.
    patterns: HashMap<Key, BTreeMap<Expressed, u32>>,
}

/// Lemma and part of speech of an LU, as [`Unit::key`] has them.
type Key = (String, Pos);

impl Valences {
    pub(crate) fn new(frame: &Frame) -> Self {
        let is_core = |kind| matches!(kind, CoreType::Core | CoreType::CoreUnexpressed);
        let core = frame.elements.iter().filter(|fe| is_core(fe.core_type));
        Self { core: core.map(|fe| fe.name.clone()).collect(), patterns: HashMap::new() }
    }

    /// Takes a set of an LU into account, where its FEs are annotated. Generated and carried sets
    /// do not count, also where somebody annotated them, or outputs would depend on what was
    /// expanded before.
    pub(crate) fn take(&mut self, unit: &Unit, set: &AnnotationSet) {
        if set.provenance.origin().is_of_written_text() {
            return;
        }
        if let Some(expressed) = expressed(set) {
            self.count(unit.key(), &expressed);
        }
    }

    fn count(&mut self, unit: Key, expressed: &Expressed) {
        let pattern = self.core_of(expressed);
        *self.patterns.entry(unit).or_default().entry(pattern).or_default() += 1;
    }

    /// How well the sentences of an LU agree with the FEs of a seed, from 0 to 1. Of the core FEs
    /// that either expresses, the mean share that both express. 0 where nobody annotated the seed
    /// or the LU, and where the frame has no core FEs.
    pub(crate) fn agreement(&self, seed: Option<&Expressed>, unit: &Key) -> f64 {
        let (Some(seed), Some(patterns)) = (seed, self.patterns.get(unit)) else { return 0.0 };
        if self.core.is_empty() {
            return 0.0;
        }
        let seed = self.core_of(seed);
        let (mut agreed, mut sets) = (0.0, DOUBT);
        for (pattern, count) in patterns {
            agreed += f64::from(*count) * common_share(&seed, pattern);
            sets += f64::from(*count);
        }
        agreed / sets
    }

    fn core_of(&self, expressed: &Expressed) -> Expressed {
        expressed & &self.core
    }
}

/// The Jaccard coefficient; 1 for two that are empty.
fn common_share(a: &Expressed, b: &Expressed) -> f64 {
    let (common, all) = (a.intersection(b).count(), a.union(b).count());
    if all == 0 { 1.0 } else { common as f64 / all as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Provenance;
    use crate::model::{
        AnnotationSetId, Extent, FrameId, Generation, IdSpace, Label, Layer, LayerName, LuId,
        NullInstantiation, RecipeId, SentenceId, Span,
    };

    fn fes(numbers: &[u32]) -> Expressed {
        numbers.iter().map(ToString::to_string).collect()
    }

    fn verb(lemma: &str) -> Key {
        (lemma.to_owned(), Pos::Verb)
    }

    /// LUs of a frame with the core FEs 1 to 3, each with sets that express some FEs.
    fn valences(sets: &[(&str, u32, &[u32])]) -> Valences {
        let mut valences = Valences { core: fes(&[1, 2, 3]), ..Valences::default() };
        for (lemma, count, expressed) in sets {
            for _ in 0..*count {
                valences.count(verb(lemma), &fes(expressed));
            }
        }
        valences
    }

    #[test]
    fn an_lu_agrees_whose_sentences_express_the_core_elements_of_the_seed() {
        let valences = valences(&[
            ("oust", 24, &[1, 2, 9]),
            ("revolt", 24, &[1]),
            ("mutiny", 12, &[1]),
            ("mutiny", 12, &[1, 2]),
            ("dethrone", 1, &[1, 2]),
        ]);
        let of = |lemma| valences.agreement(Some(&fes(&[1, 2, 8])), &verb(lemma));
        // Peripheral FEs, 8 and 9, do not count.
        assert_eq!(of("oust"), 24.0 / (24.0 + DOUBT));
        assert_eq!(of("revolt"), 12.0 / (24.0 + DOUBT));
        assert_eq!(of("mutiny"), 18.0 / (24.0 + DOUBT));
        assert_eq!(of("dethrone"), 1.0 / (1.0 + DOUBT), "one sentence shows little");
        assert_eq!(of("depose"), 0.0, "nobody annotated it");
    }

    #[test]
    fn what_expresses_none_agrees_with_what_expresses_none() {
        let valences = valences(&[("rain", 8, &[]), ("pour", 8, &[3])]);
        let none = fes(&[7]);
        assert_eq!(valences.agreement(Some(&none), &verb("rain")), 0.5);
        assert_eq!(valences.agreement(Some(&none), &verb("pour")), 0.0);
        assert_eq!(valences.agreement(None, &verb("rain")), 0.0, "a seed that nobody annotated");
    }

    #[test]
    fn only_words_express_an_element_and_only_where_somebody_looked() {
        let label = |fe: u32, extent| Label::new(fe.to_string(), extent);
        let labels = vec![
            label(1, Extent::Overt(Span::new(0, 4))),
            label(2, Extent::Null(NullInstantiation::Definite)),
            label(3, Extent::None),
        ];
        let set = |fe_status| annotated(fe_status, labels.clone(), Provenance::User);
        assert_eq!(expressed(&set(FeStatus::Annotated)), Some(fes(&[1])));
        assert_eq!(expressed(&set(FeStatus::Unannotated)), None);
        assert_eq!(expressed(&set(FeStatus::Unknown)), None);
    }

    fn annotated(fe_status: FeStatus, labels: Vec<Label>, provenance: Provenance) -> AnnotationSet {
        let id = AnnotationSetId::new(IdSpace::Exemplar, 1);
        let sentence = SentenceId::new(IdSpace::Exemplar, 1);
        let layers = vec![Layer { name: LayerName::Fe, rank: 1, labels }];
        let empty = AnnotationSet::placed(id, sentence, (FrameId(1), LuId(1)));
        AnnotationSet { fe_status, layers, provenance, ..empty }
    }

    #[test]
    fn generated_sets_do_not_count_even_where_somebody_annotated_them() {
        let generation =
            Generation::of_seed(AnnotationSetId::new(IdSpace::Exemplar, 1), 1, RecipeId(1));
        let counted = |provenance| {
            let mut valences = Valences { core: fes(&[1]), ..Valences::default() };
            let set = annotated(FeStatus::Annotated, Vec::new(), provenance);
            valences.take(&Unit::new("rain.v"), &set);
            valences.patterns.len()
        };
        assert_eq!(counted(Provenance::User), 1);
        assert_eq!(counted(Provenance::Generated(Box::new(generation))), 0);
    }

    #[test]
    fn where_a_frame_has_no_core_elements_nothing_is_known_to_agree() {
        let mut valences = Valences::default();
        valences.count(verb("rain"), &fes(&[7]));
        assert_eq!(valences.agreement(Some(&fes(&[7])), &verb("rain")), 0.0);
    }
}
