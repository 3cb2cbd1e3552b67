//! The record of an annotation set that evokes a frame, and of where it comes from.

use super::ids::one_of;
use crate::model::{
    AnnotationSet, AnnotationSetId, CarriedElement, Carrying, FeStatus, FilterScores, Flags,
    FrameFit, FrameId, Generation, IdSpace, LuId, Method, Prediction, Provenance, SentenceId,
};

/// The number of a set or sentence whose key has it.
pub(super) const IN_KEY: u64 = 0;

coded! {
    FeStatus as u8: |status| *status as u8, |code| one_of(&FeStatus::ALL, code, "FE status");
    Method as u8: |method| *method as u8, |code| one_of(&Method::ALL, code, "method");
    Flags as u8: bits, flags;
}

/// copy 1, duplicate 2, weak alignment 4, unmet 8, unknown word 16, unlike frame 32, lost FE 64.
fn bits(flags: &Flags) -> u8 {
    let mut flags = *flags;
    flags.slots().iter().enumerate().map(|(bit, (_, set))| u8::from(**set) << bit).sum()
}

fn flags(bits: u8) -> Result<Flags, String> {
    if bits >> 7 != 0 {
        return Err(format!("flags {bits:#b}"));
    }
    let mut flags = Flags::default();
    for (bit, (_, flag)) in flags.slots().into_iter().enumerate() {
        *flag = bits & (1 << bit) != 0;
    }
    Ok(flags)
}

fields! {
    AnnotationSet {
        xml_id, status, created, targets, fe_status, layers, provenance;
        absent id: AnnotationSetId::new(IdSpace::Exemplar, IN_KEY),
        sentence: SentenceId::new(IdSpace::Exemplar, IN_KEY), frame: FrameId(0), lu: LuId(0)
    }
    Generation {
        seed, source, target_ordinal, round, rank, chain, method, recipe, flags, paraphrase,
        aligner, filter, elements, fit
    }
    FilterScores { precision, recall, filter }
    CarriedElement { name, score }
    FrameFit { probability, model }
    Prediction { file, fit, runners_up }
    Carrying { generated, source, aligner, elements }
}

cases! {
    Provenance, "provenance" {
        0 => Exemplar { lu, subcorpus },
        1 => FullText { corpus, document },
        2 => Imported { file },
        3 => User,
        4 => Generated(made),
        5 => Predicted(prediction),
        6 => Carried(carrying),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::{Stored, samples};
    use super::*;

    #[test]
    fn a_set_of_another_version_or_origin_is_an_error() {
        let (key, _) = samples::keyed(samples::scored());
        let error = AnnotationSet::from_value(&key, &[5]);
        assert_eq!(error, Err("record version 5, expected 1".to_owned()));
        assert_eq!(AnnotationSet::from_value(&key, &[]), Err("empty".to_owned()));
        let mut value = samples::annotation(Provenance::User).to_value().unwrap();
        *value.last_mut().unwrap() = 7;
        assert_eq!(AnnotationSet::from_value(&key, &value), Err("provenance 7".to_owned()));
    }

    fn scores() -> impl Strategy<Value = FilterScores> {
        (0.0..=1.0_f32, 0.0..=1.0_f32, any::<[u8; 16]>())
            .prop_map(|(precision, recall, filter)| FilterScores { precision, recall, filter })
    }

    fn fit() -> impl Strategy<Value = FrameFit> {
        (0.0..=1.0_f32, any::<[u8; 16]>())
            .prop_map(|(probability, model)| FrameFit { probability, model })
    }

    fn element() -> impl Strategy<Value = CarriedElement> {
        ("[A-Z][a-z]{0,5}", prop::option::of(0.0..=1.0_f32))
            .prop_map(|(name, score)| CarriedElement { name, score })
    }

    proptest! {
        #[test]
        fn generated_sets_come_back_with_what_is_known_of_them(
            (filter, fit) in (prop::option::of(scores()), prop::option::of(fit())),
            elements in prop::collection::vec(element(), 0..4),
            (bits, status, method) in (0..128_u8, 0_usize..4, 0_usize..3),
            (paraphrase, aligner) in (any::<f32>(), any::<f32>()),
        ) {
            let (key, mut set) = samples::keyed(samples::generated());
            set.fe_status = FeStatus::ALL[status];
            let Provenance::Generated(made) = &mut set.provenance else { panic!("not generated") };
            let (flags, method) = (flags(bits).unwrap(), Method::ALL[method]);
            **made = Generation {
                filter, fit, elements, flags, method, paraphrase, aligner, ..(**made).clone()
            };
            let value = set.to_value().unwrap();
            prop_assert_eq!(AnnotationSet::from_value(&key, &value), Ok(set));
        }

        #[test]
        fn carried_sets_come_back_with_where_they_came_from(
            (source, aligner) in (0..1_u64 << 56, 0.0..=1.0_f32),
            elements in prop::collection::vec(element(), 0..4),
        ) {
            let (_, other) = samples::keyed(samples::generated());
            let source = AnnotationSetId::new(IdSpace::FullText, source);
            let carrying = Carrying { generated: other.id, source, aligner, elements };
            let provenance = Provenance::Carried(Box::new(carrying));
            let (key, set) = samples::keyed(samples::annotation(provenance));
            let value = set.to_value().unwrap();
            prop_assert_eq!(AnnotationSet::from_value(&key, &value), Ok(set));
        }

        #[test]
        fn predicted_sets_come_back_with_what_the_model_said(
            file in ".{0,9}",
            fit in fit(),
            runners_up in prop::collection::vec((".{0,9}", any::<f32>()), 0..4),
        ) {
            let prediction = Prediction { file, fit, runners_up };
            let provenance = Provenance::Predicted(Box::new(prediction));
            let (key, set) = samples::keyed(samples::annotation(provenance));
            let value = set.to_value().unwrap();
            prop_assert_eq!(AnnotationSet::from_value(&key, &value), Ok(set));
        }
    }
}
