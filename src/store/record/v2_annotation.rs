//! Version 2 of the record of an annotation set: a generated one that filters have scored.
//!
//! Version 1 has no room for the scores. Sets without any are still written in it, so that programs
//! of format 1.1 read them.

use crate::model::{AnnotationSet, FilterScores, Provenance};

fields! {
    ScoredRecord { record, precision, recall, filter }
}

pub(super) struct ScoredRecord {
    record: AnnotationSet,
    precision: f32,
    recall: f32,
    filter: [u8; 16],
}

impl ScoredRecord {
    /// `None` for a set without scores.
    pub(super) fn of(set: &AnnotationSet) -> Option<Self> {
        let Provenance::Generated(made) = &set.provenance else { return None };
        let FilterScores { precision, recall, filter } = made.filter?;
        Some(Self { record: set.clone(), precision, recall, filter })
    }

    pub(super) fn into_model(self) -> Result<AnnotationSet, String> {
        let Self { record: mut set, precision, recall, filter } = self;
        let Provenance::Generated(made) = &mut set.provenance else {
            let origin = set.provenance.origin().as_str();
            return Err(format!("scores of filters, and a set of origin {origin}"));
        };
        made.filter = Some(FilterScores { precision, recall, filter });
        Ok(set)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::{SECOND_VERSION, Stored, decode_as, encode_as, golden};
    use super::*;

    #[test]
    fn scores_of_a_set_that_was_not_generated_are_an_error() {
        let (key, set) = golden::keyed(golden::annotation(Provenance::User));
        let record =
            ScoredRecord { record: set.clone(), precision: 0.5, recall: 0.5, filter: [3; 16] };
        let error = AnnotationSet::from_value(&key, &encode_as(SECOND_VERSION, &record).unwrap());
        assert_eq!(error, Err("scores of filters, and a set of origin user".to_owned()));
    }

    #[test]
    fn a_set_of_another_version_is_an_error() {
        let (key, _) = golden::keyed(golden::scored());
        let error = AnnotationSet::from_value(&key, &[5]);
        assert_eq!(error, Err("record version 5, expected 1".to_owned()));
        assert_eq!(AnnotationSet::from_value(&key, &[]), Err("empty".to_owned()));
    }

    proptest! {
        #[test]
        fn sets_come_back_with_and_without_scores(
            scores in prop::option::of((0.0..=1.0_f32, 0.0..=1.0_f32, any::<[u8; 16]>())),
        ) {
            let (key, mut set) = golden::keyed(golden::generated());
            let Provenance::Generated(made) = &mut set.provenance else { panic!("not generated") };
            made.filter = scores
                .map(|(precision, recall, filter)| FilterScores { precision, recall, filter });
            let value = set.to_value().unwrap();
            prop_assert_eq!(value[0], if scores.is_some() { 2 } else { 1 });
            prop_assert_eq!(AnnotationSet::from_value(&key, &value), Ok(set));
            prop_assert_eq!(decode_as::<ScoredRecord>(2, &value).is_ok(), scores.is_some());
        }
    }
}
