//! Version 4 of the record of an annotation set: one of which a frame model says how likely its
//! frame is.
//!
//! Such a set was generated, or predicted by that model. Other sets are written in earlier
//! versions, so that earlier programs read them.

use crate::model::{AnnotationSet, CarriedElement, FilterScores, FrameFit, Prediction, Provenance};

fields! {
    JudgedRecord { record, scores, elements, fit, predicted }
}

pub(super) struct JudgedRecord {
    /// As version 1 has it; a predicted set as one of a user.
    record: AnnotationSet,
    /// Precision, recall and fingerprint, as in version 2.
    scores: Option<(f32, f32, [u8; 16])>,
    /// As in version 3.
    elements: Vec<(String, Option<f32>)>,
    /// Probability of the frame, and fingerprint of the model.
    fit: (f32, [u8; 16]),
    /// Of a predicted set its file and the next likeliest frames.
    predicted: Option<(String, Vec<(String, f32)>)>,
}

impl JudgedRecord {
    /// `None` for a set that no frame model has judged.
    pub(super) fn of(set: &AnnotationSet) -> Option<Self> {
        let fit = set.provenance.fit()?;
        let made = match &set.provenance {
            Provenance::Generated(made) => Some(made),
            _ => None,
        };
        let predicted = match &set.provenance {
            Provenance::Predicted(of) => Some((of.file.clone(), of.runners_up.clone())),
            _ => None,
        };
        let scores = made.and_then(|made| made.filter);
        let elements = made.map_or(&[][..], |made| &made.elements);
        Some(Self {
            record: set.clone(),
            scores: scores.map(|of| (of.precision, of.recall, of.filter)),
            elements: elements.iter().map(|of| (of.name.clone(), of.score)).collect(),
            fit: (fit.probability, fit.model),
            predicted,
        })
    }

    pub(super) fn into_model(self) -> Result<AnnotationSet, String> {
        let Self { record: mut set, scores, elements, fit: (probability, model), predicted } = self;
        let fit = FrameFit { probability, model };
        match (&mut set.provenance, predicted) {
            (Provenance::User, Some((file, runners_up))) => {
                let prediction = Prediction { file, fit, runners_up };
                set.provenance = Provenance::Predicted(Box::new(prediction));
            }
            (Provenance::Generated(made), None) => {
                made.filter = scores.map(|(precision, recall, filter)| FilterScores {
                    precision,
                    recall,
                    filter,
                });
                let element = |(name, score)| CarriedElement { name, score };
                made.elements = elements.into_iter().map(element).collect();
                made.fit = Some(fit);
            }
            (other, _) => {
                let origin = other.origin().as_str();
                return Err(format!("a frame model's probability, and a set of origin {origin}"));
            }
        }
        Ok(set)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use proptest::prelude::*;

    use super::super::{FOURTH_VERSION, Stored, encode_as, golden};
    use super::*;

    fn prediction(probability: f32) -> Provenance {
        let fit = FrameFit { probability, model: [7; 16] };
        let runners_up = vec![("Scrutiny".to_owned(), 0.25)];
        Provenance::Predicted(Box::new(Prediction { file: "news.txt".to_owned(), fit, runners_up }))
    }

    /// A generated set with all that can be known of it.
    pub(in super::super) fn judged() -> AnnotationSet {
        let mut set = super::super::v3_annotation::tests::carried();
        if let Provenance::Generated(made) = &mut set.provenance {
            made.fit = Some(FrameFit { probability: 0.75, model: [7; 16] });
        }
        set
    }

    /// A set that a model predicted.
    pub(in super::super) fn predicted() -> AnnotationSet {
        golden::annotation(prediction(0.5))
    }

    #[test]
    fn a_probability_of_a_set_that_people_made_is_an_error() {
        let (key, set) = golden::keyed(golden::annotation(Provenance::User));
        let fit = (0.5, [7; 16]);
        let record =
            JudgedRecord { record: set, scores: None, elements: vec![], fit, predicted: None };
        let error = AnnotationSet::from_value(&key, &encode_as(FOURTH_VERSION, &record).unwrap());
        let expected = "a frame model's probability, and a set of origin user";
        assert_eq!(error, Err(expected.to_owned()));
    }

    proptest! {
        #[test]
        fn sets_come_back_with_what_a_frame_model_says(
            (probability, is_scored, is_predicted) in (0.0..=1.0_f32, any::<bool>(), any::<bool>()),
        ) {
            let set = if is_scored { golden::scored() } else { golden::generated() };
            let (key, mut set) = golden::keyed(set);
            match &mut set.provenance {
                provenance if is_predicted => *provenance = prediction(probability),
                Provenance::Generated(made) => {
                    made.elements = vec![CarriedElement { name: "Agent".to_owned(), score: None }];
                    made.fit = Some(FrameFit { probability, model: [7; 16] });
                }
                _ => unreachable!("the golden sets are generated"),
            }
            let value = set.to_value().unwrap();
            prop_assert_eq!(value[0], 4);
            prop_assert_eq!(AnnotationSet::from_value(&key, &value), Ok(set));
        }
    }
}
