//! Version 3 of the record of an annotation set: a generated one with FEs of its seed.
//!
//! Other sets are written in version 1 or 2, so that earlier programs read them.

use crate::model::{AnnotationSet, CarriedElement, FeStatus, FilterScores, Provenance};

fields! {
    CarriedRecord { record, scores, elements }
}

pub(super) struct CarriedRecord {
    record: AnnotationSet,
    /// Precision, recall and fingerprint, as in version 2.
    scores: Option<(f32, f32, [u8; 16])>,
    /// Names of FEs, each with its score where it was found.
    elements: Vec<(String, Option<f32>)>,
}

impl CarriedRecord {
    /// `None` for a set that has nothing carried over.
    pub(super) fn of(set: &AnnotationSet) -> Option<Self> {
        let made = match &set.provenance {
            Provenance::Generated(made) => Some(made),
            _ => None,
        };
        let elements = made.map_or(&[][..], |made| &made.elements);
        let is_flagged = made.is_some_and(|made| made.flags.lost_element);
        let is_carried = set.fe_status == FeStatus::Carried || is_flagged || !elements.is_empty();
        is_carried.then(|| Self {
            record: set.clone(),
            scores: made
                .and_then(|made| made.filter)
                .map(|of| (of.precision, of.recall, of.filter)),
            elements: elements.iter().map(|of| (of.name.clone(), of.score)).collect(),
        })
    }

    pub(super) fn into_model(self) -> Result<AnnotationSet, String> {
        let Self { record: mut set, scores, elements } = self;
        if let Provenance::Generated(made) = &mut set.provenance {
            made.filter = scores.map(|(precision, recall, filter)| FilterScores {
                precision,
                recall,
                filter,
            });
            let element = |(name, score)| CarriedElement { name, score };
            made.elements = elements.into_iter().map(element).collect();
        } else if scores.is_some() || !elements.is_empty() {
            let origin = set.provenance.origin().as_str();
            return Err(format!("FEs carried over, and a set of origin {origin}"));
        }
        Ok(set)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use proptest::prelude::*;

    use super::super::{Stored, THIRD_VERSION, encode_as, golden};
    use super::*;

    /// [`golden::scored`] with FEs carried over, of which one was not found.
    pub(in super::super) fn carried() -> AnnotationSet {
        let mut set = golden::scored();
        set.fe_status = FeStatus::Carried;
        if let Provenance::Generated(made) = &mut set.provenance {
            made.flags.lost_element = true;
            let element = |name: &str, score| CarriedElement { name: name.to_owned(), score };
            made.elements = vec![element("Checker", Some(0.5)), element("Matter", None)];
        }
        set
    }

    #[test]
    fn elements_of_a_set_that_was_not_generated_are_an_error() {
        let (key, set) = golden::keyed(golden::annotation(Provenance::User));
        let elements = vec![("Agent".to_owned(), None)];
        let record = CarriedRecord { record: set.clone(), scores: None, elements };
        let error = AnnotationSet::from_value(&key, &encode_as(THIRD_VERSION, &record).unwrap());
        assert_eq!(error, Err("FEs carried over, and a set of origin user".to_owned()));
    }

    proptest! {
        #[test]
        fn sets_come_back_with_what_was_carried(
            elements in prop::collection::vec(("[A-Z][a-z]{0,5}", prop::option::of(0.0..=1.0_f32)), 0..4),
            (is_scored, is_lost, status) in (any::<bool>(), any::<bool>(), 0_usize..4),
        ) {
            let (key, mut set) = golden::keyed(if is_scored { golden::scored() } else { golden::generated() });
            set.fe_status = FeStatus::ALL[status];
            let Provenance::Generated(made) = &mut set.provenance else { panic!("not generated") };
            made.flags.lost_element = is_lost;
            made.elements = elements.into_iter().map(|(name, score)| CarriedElement { name, score }).collect();
            let is_carried = is_lost || !made.elements.is_empty() || set.fe_status == FeStatus::Carried;
            let value = set.to_value().unwrap();
            prop_assert_eq!(value[0], match (is_carried, is_scored) { (true, _) => 3, (_, true) => 2, _ => 1 });
            prop_assert_eq!(AnnotationSet::from_value(&key, &value), Ok(set));
        }
    }
}
