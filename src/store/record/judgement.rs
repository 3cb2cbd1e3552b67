//! The record of what a reviewer says of a set; the key has the name and the question.

use crate::model::{Judgement, Shown};

fields! {
    Judgement {
        score, time, note, shown;
        absent reviewer: String::new(), question: String::new()
    }
    Shown { text, millis }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::super::key::JudgementKey;
    use super::super::{Stored, samples};
    use super::*;

    fn key(question: &str) -> JudgementKey {
        let (_, set) = samples::keyed(samples::generated());
        JudgementKey::new(crate::model::ReleaseId(1), set.id, "kim", question)
    }

    #[test]
    fn a_judgement_of_another_version_or_cut_short_is_an_error() {
        let error = Judgement::from_value(&key(""), &[3]);
        assert_eq!(error, Err("record version 3, expected 1".to_owned()));
        let value = samples::judgement(true).to_value().unwrap();
        let cut = Judgement::from_value(&key(""), &value[..value.len() - 1]);
        assert!(cut.unwrap_err().contains("UnexpectedEnd"));
    }

    proptest! {
        #[test]
        fn judgements_come_back_with_and_without_what_was_shown(
            (score, time, note) in (any::<u8>(), any::<u64>(), ".{0,9}"),
            shown in prop::option::of((".{0,9}", any::<u64>())),
            question in "[a-z]{0,9}",
        ) {
            let shown = shown.map(|(text, millis)| Shown { text, millis });
            let reviewer = "kim".to_owned();
            let judgement =
                Judgement { reviewer, question: question.clone(), score, time, note, shown };
            let value = judgement.to_value().unwrap();
            prop_assert_eq!(Judgement::from_value(&key(&question), &value), Ok(judgement));
        }
    }
}
