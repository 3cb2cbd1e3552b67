//! Version 1 of the records by which people govern what expansions wrote: decisions on proposed LUs, and
//! editions.

use bincode::{Decode, Encode};

use super::{set_code, set_from};
use crate::model::{
    Decided, Decision, Edition, Evidence, FrameId, FrozenSet, LuId, Moved, Undone, Verdict,
};
use crate::store::key::{DecisionKey, EditionKey};

/// `decision`
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
pub(in super::super) struct DecidedRecord {
    history: Vec<DecisionRecord>,
}

#[derive(Debug, Clone, PartialEq, Encode, Decode)]
struct DecisionRecord {
    /// 0 accept, 1 reject, 2 move, 3 merge.
    verdict: u8,
    reviewer: String,
    /// Seconds since 1970 (UTC).
    time: u64,
    note: String,
    lu: u32,
    evidence: EvidenceRecord,
    moved: Option<MovedRecord>,
    undone: Option<UndoneRecord>,
}

#[derive(Debug, Clone, PartialEq, Encode, Decode)]
struct EvidenceRecord {
    sets: u32,
    seeds: u32,
    rounds: u32,
    paraphrase: f32,
    aligner: f32,
    p: Option<f32>,
    r: Option<f32>,
    frames: u32,
    likeness: Option<f32>,
}

#[derive(Debug, Clone, PartialEq, Encode, Decode)]
struct MovedRecord {
    frame: u32,
    lu: u32,
    made: bool,
    /// Coded ids.
    sets: Vec<u64>,
}

#[derive(Debug, Clone, PartialEq, Encode, Decode)]
struct UndoneRecord {
    reviewer: String,
    time: u64,
    note: String,
}

/// `edition`
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
pub(in super::super) struct EditionRecord {
    expression: String,
    /// Seconds since 1970 (UTC).
    created: u64,
    revision: u64,
    sentences: u64,
    pairs: u64,
    lemma_pairs: u64,
    /// Coded ids, in order of id.
    sets: Vec<u64>,
    /// For each of them the first bytes of the hash of its content.
    contents: Vec<u64>,
}

impl From<&Decided> for DecidedRecord {
    fn from(decided: &Decided) -> Self {
        Self { history: decided.history.iter().map(DecisionRecord::from).collect() }
    }
}

impl From<&Decision> for DecisionRecord {
    fn from(decision: &Decision) -> Self {
        let Decision { verdict, reviewer, time, note, lu, evidence, moved, undone } =
            decision.clone();
        let Evidence { sets, seeds, rounds, paraphrase, aligner, p, r, frames, likeness } =
            evidence;
        Self {
            verdict: verdict as u8,
            reviewer,
            time,
            note,
            lu: lu.0,
            evidence: EvidenceRecord {
                sets,
                seeds,
                rounds,
                paraphrase,
                aligner,
                p,
                r,
                frames,
                likeness,
            },
            moved: moved.map(|Moved { frame, lu, made, sets }| MovedRecord {
                frame: frame.0,
                lu: lu.0,
                made,
                sets: sets.into_iter().map(set_code).collect(),
            }),
            undone: undone.map(|Undone { reviewer, time, note }| UndoneRecord {
                reviewer,
                time,
                note,
            }),
        }
    }
}

impl DecidedRecord {
    pub(super) fn into_model(self, key: &DecisionKey) -> Result<Decided, String> {
        let history: Vec<Decision> =
            self.history.into_iter().map(DecisionRecord::into_model).collect::<Result<_, _>>()?;
        if history.is_empty() {
            return Err("no decision".to_owned());
        }
        Ok(Decided { frame: key.frame, name: key.name.clone(), history })
    }
}

impl DecisionRecord {
    fn into_model(self) -> Result<Decision, String> {
        let verdict = Verdict::ALL.get(usize::from(self.verdict)).copied();
        let EvidenceRecord { sets, seeds, rounds, paraphrase, aligner, p, r, frames, likeness } =
            self.evidence;
        let moved = |MovedRecord { frame, lu, made, sets }| -> Result<Moved, String> {
            let sets = sets.into_iter().map(set_from).collect::<Result<_, _>>()?;
            Ok(Moved { frame: FrameId(frame), lu: LuId(lu), made, sets })
        };
        Ok(Decision {
            verdict: verdict.ok_or_else(|| format!("verdict {}", self.verdict))?,
            reviewer: self.reviewer,
            time: self.time,
            note: self.note,
            lu: LuId(self.lu),
            evidence: Evidence { sets, seeds, rounds, paraphrase, aligner, p, r, frames, likeness },
            moved: self.moved.map(moved).transpose()?,
            undone: self.undone.map(|UndoneRecord { reviewer, time, note }| Undone {
                reviewer,
                time,
                note,
            }),
        })
    }
}

impl From<&Edition> for EditionRecord {
    fn from(edition: &Edition) -> Self {
        Self {
            expression: edition.expression.clone(),
            created: edition.created,
            revision: edition.revision,
            sentences: edition.sentences,
            pairs: edition.pairs,
            lemma_pairs: edition.lemma_pairs,
            sets: edition.sets.iter().map(|frozen| set_code(frozen.set)).collect(),
            contents: edition.sets.iter().map(|frozen| frozen.content).collect(),
        }
    }
}

impl EditionRecord {
    pub(super) fn into_model(self, key: &EditionKey) -> Result<Edition, String> {
        let (count, contents) = (self.sets.len(), self.contents.len());
        if count != contents {
            return Err(format!("{count} sets and {contents} contents"));
        }
        let sets = self.sets.into_iter().map(set_from).zip(self.contents);
        let sets = sets.map(|(set, content)| Ok(FrozenSet { set: set?, content }));
        let sets = sets.collect::<Result<Vec<_>, String>>()?;
        if !sets.is_sorted_by(|a, b| a.set < b.set) {
            return Err("sets out of order".to_owned());
        }
        Ok(Edition {
            name: key.name.clone(),
            expression: self.expression,
            created: self.created,
            revision: self.revision,
            sentences: self.sentences,
            pairs: self.pairs,
            lemma_pairs: self.lemma_pairs,
            sets,
        })
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::model::{AnnotationSetId, IdSpace};

    fn set(number: u64) -> AnnotationSetId {
        AnnotationSetId::new(IdSpace::Generated, number)
    }

    /// A proposal that was accepted, taken back and moved.
    pub(in super::super) fn decided() -> Decided {
        let evidence = Evidence {
            sets: 3,
            seeds: 2,
            rounds: 0b101,
            paraphrase: 0.75,
            aligner: 0.5,
            p: Some(0.25),
            r: None,
            frames: 1,
            likeness: Some(-0.125),
        };
        let accepted = Decision {
            verdict: Verdict::Accept,
            reviewer: "kim".to_owned(),
            time: 1_700_000_000,
            note: "na\u{ef}ve".to_owned(),
            lu: LuId(1 << 31),
            evidence,
            moved: None,
            undone: Some(Undone {
                reviewer: "lee".to_owned(),
                time: 1_700_000_001,
                note: String::new(),
            }),
        };
        let moved = Decision {
            verdict: Verdict::Move,
            moved: Some(Moved {
                frame: FrameId(103),
                lu: LuId(7),
                made: true,
                sets: vec![set(1), set(300)],
            }),
            undone: None,
            ..accepted.clone()
        };
        Decided { frame: FrameId(102), name: "vet.v".to_owned(), history: vec![accepted, moved] }
    }

    pub(in super::super) fn edition() -> Edition {
        let sets = [(1, u64::MAX), (300, 7)];
        Edition {
            name: "first".to_owned(),
            expression: "p>=0.5".to_owned(),
            created: 1_700_000_000,
            revision: 9,
            sentences: 2,
            pairs: 2,
            lemma_pairs: 1,
            sets: sets.map(|(number, content)| FrozenSet { set: set(number), content }).into(),
        }
    }

    #[test]
    fn what_no_writer_writes_is_refused() {
        let key = EditionKey { release: crate::model::ReleaseId(1), name: "first".to_owned() };
        let mut record = EditionRecord::from(&edition());
        record.sets.reverse();
        assert_eq!(record.clone().into_model(&key), Err("sets out of order".to_owned()));
        record.contents.pop();
        assert_eq!(record.into_model(&key), Err("2 sets and 1 contents".to_owned()));
        let (release, name) = (crate::model::ReleaseId(1), "vet.v".to_owned());
        let key = DecisionKey { release, frame: FrameId(102), name };
        let mut record = DecidedRecord::from(&decided());
        record.history[0].verdict = 9;
        assert_eq!(record.clone().into_model(&key), Err("verdict 9".to_owned()));
        record.history.clear();
        assert_eq!(record.into_model(&key), Err("no decision".to_owned()));
    }
}
