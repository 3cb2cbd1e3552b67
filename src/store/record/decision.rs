//! The record of the decisions on a proposed LU.

use super::super::key::DecisionKey;
use super::ids::one_of;
use super::{Stored, decode};
use crate::model::{Decided, Decision, Evidence, FrameId, Moved, Reviewed, Verdict};

coded! {
    Verdict as u8: |verdict| *verdict as u8, |code| one_of(&Verdict::ALL, code, "verdict");
}

fields! {
    Decided { history; absent frame: FrameId(0), name: String::new() }
    Decision { verdict, reviewer, time, note, lu, evidence, moved, undone }
    Evidence {
        sets, seeds, rounds, paraphrase, aligner, p, r, frames, likeness, frame_fit, unknown, words,
        evokes, evokes_share, verified
    }
    Moved { frame, lu, made, sets }
    Reviewed { reviewer, time, note }
}

impl Stored for Decided {
    type Key = DecisionKey;

    fn take_key(&mut self, key: &Self::Key) {
        (self.frame, self.name) = (key.frame, key.name.clone());
    }

    fn from_value(key: &Self::Key, value: &[u8]) -> Result<Self, String> {
        let mut decided: Self = decode(value)?;
        if decided.history.is_empty() {
            return Err("no decision".to_owned());
        }
        decided.take_key(key);
        Ok(decided)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::samples;
    use super::*;
    use crate::model::{LuId, ReleaseId};

    fn key() -> DecisionKey {
        let Decided { frame, name, .. } = samples::decided();
        DecisionKey { release: ReleaseId(1), frame, name }
    }

    #[test]
    fn what_no_writer_writes_is_refused() {
        let none = Decided { history: Vec::new(), ..samples::decided() };
        let read = |value: &[u8]| Decided::from_value(&key(), value);
        assert_eq!(read(&none.to_value().unwrap()), Err("no decision".to_owned()));
        // Version, number of decisions, then the first one's verdict.
        let mut value = samples::decided().to_value().unwrap();
        value[2] = 9;
        assert_eq!(read(&value), Err("verdict 9".to_owned()));
    }

    proptest! {
        #[test]
        fn decisions_come_back_with_their_evidence(
            (evokes, verified) in (prop::option::of(any::<f32>()), any::<u32>()),
            (frame_fit, unknown, words) in (prop::option::of(any::<f32>()), 0.0..=1.0_f32, any::<u32>()),
            (verdict, lu, made, undone) in (0_usize..4, any::<u32>(), any::<bool>(), any::<bool>()),
        ) {
            let mut decided = samples::decided();
            let Some(last) = decided.history.last_mut() else { panic!("no decision") };
            let evidence = Evidence { evokes, verified, frame_fit, unknown, words, ..last.evidence };
            let (verdict, lu) = (Verdict::ALL[verdict], LuId(lu));
            let moved = made.then(|| Moved { frame: FrameId(7), lu, made, sets: Vec::new() });
            let reviewed = |reviewer: String| Reviewed { reviewer, time: 7, note: String::new() };
            let undone = undone.then(|| reviewed("lee".to_owned()));
            *last = Decision { verdict, lu, evidence, moved, undone, ..last.clone() };
            let value = decided.to_value().unwrap();
            prop_assert_eq!(Decided::from_value(&key(), &value), Ok(decided));
        }
    }
}
