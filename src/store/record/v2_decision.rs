//! Version 2 of the record of decisions on a proposed LU: with what version 1 does not know of
//! their evidence.
//!
//! Decisions of earlier programs are still written in version 1.

use crate::model::{Decided, Evidence};

fields! {
    WeighedRecord { record, more }
}

pub(super) struct WeighedRecord {
    /// As version 1 has it.
    record: Decided,
    /// Of each decision's evidence, in order: frame fit, share of sets with unknown words, words.
    more: Vec<(Option<f32>, f32, u32)>,
}

impl WeighedRecord {
    /// `None` for decisions that version 1 holds.
    pub(super) fn of(decided: &Decided) -> Option<Self> {
        let more = decided.history.iter().map(|decision| {
            let Evidence { frame_fit, unknown, words, .. } = decision.evidence;
            (frame_fit, unknown, words)
        });
        let more: Vec<(Option<f32>, f32, u32)> = more.collect();
        let says_more = more.iter().any(|of| *of != (None, 0.0, 0));
        says_more.then(|| Self { record: decided.clone(), more })
    }

    pub(super) fn into_model(self) -> Result<Decided, String> {
        let Self { record: mut decided, more } = self;
        let (decisions, count) = (decided.history.len(), more.len());
        if decisions != count {
            return Err(format!("{decisions} decisions and evidence of {count}"));
        }
        for (decision, (frame_fit, unknown, words)) in decided.history.iter_mut().zip(more) {
            decision.evidence = Evidence { frame_fit, unknown, words, ..decision.evidence };
        }
        Ok(decided)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::super::key::DecisionKey;
    use super::super::{SECOND_VERSION, Stored, encode_as, v1_governance};
    use super::*;
    use crate::model::ReleaseId;

    /// Of two decisions the last knows more.
    pub(in super::super) fn weighed() -> Decided {
        let mut decided = v1_governance::tests::decided();
        if let Some(last) = decided.history.last_mut() {
            let frame_fit = Some(0.625);
            last.evidence = Evidence { frame_fit, unknown: 0.5, words: 2, ..last.evidence };
        }
        decided
    }

    #[test]
    fn decisions_of_both_versions_come_back_and_evidence_of_another_number_is_refused() {
        let without = v1_governance::tests::decided();
        let release = ReleaseId(1);
        let key = DecisionKey { release, frame: without.frame, name: without.name.clone() };
        for (decided, version) in [(without, 1), (weighed(), 2)] {
            let value = decided.to_value().unwrap();
            assert_eq!((value[0], Decided::from_value(&key, &value)), (version, Ok(decided)));
        }
        let mut record = WeighedRecord::of(&weighed()).unwrap();
        record.more.pop();
        let value = encode_as(SECOND_VERSION, &record).unwrap();
        let refused = Decided::from_value(&key, &value);
        assert_eq!(refused, Err("2 decisions and evidence of 1".to_owned()));
    }
}
