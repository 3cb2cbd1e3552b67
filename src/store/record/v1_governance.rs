//! Versions 1 of the records by which people govern what expansions wrote: decisions on proposed
//! LUs, and editions. Decisions that know more are written in version 2 (`v2_decision.rs`), and so
//! are editions (`v2_edition.rs`), or in version 3 with the lines of a split list
//! (`v3_edition.rs`).

use super::super::key::{DecisionKey, EditionKey};
use super::v1::one_of;
use super::v2_decision::WeighedRecord;
use super::v2_edition::HashedRecord;
use super::v3_edition::ListedRecord;
use super::{Encoded, SECOND_VERSION, Stored, THIRD_VERSION, decode, decode_as, encode, encode_as};
use crate::model::{
    AnnotationSetId, Decided, Decision, Edition, Evidence, FrameId, FrozenSet, Moved, Reviewed,
    Verdict,
};

coded! {
    Verdict as u8: |verdict| *verdict as u8, |code| one_of(&Verdict::ALL, code, "verdict");
}

fields! {
    Decided { history; absent frame: FrameId(0), name: String::new() }
    Decision { verdict, reviewer, time, note, lu, evidence, moved, undone }
    Evidence { sets, seeds, rounds, paraphrase, aligner, p, r, frames, likeness; absent frame_fit: None, unknown: 0.0, words: 0 }
    Moved { frame, lu, made, sets }
    Reviewed { reviewer, time, note }
    EditionRecord { expression, created, revision, sentences, pairs, lemma_pairs, sets, contents }
}

/// `edition`
#[derive(Debug, Clone, PartialEq)]
pub(in super::super) struct EditionRecord {
    expression: String,
    /// Seconds since 1970 (UTC).
    created: u64,
    revision: u64,
    sentences: u64,
    pairs: u64,
    lemma_pairs: u64,
    /// In order of id.
    sets: Vec<AnnotationSetId>,
    /// For each of them the first bytes of the hash of its content.
    contents: Vec<u64>,
}

impl Stored for Decided {
    type Key = DecisionKey;

    fn to_value(&self) -> Encoded {
        WeighedRecord::of(self)
            .map_or_else(|| encode(self), |record| encode_as(SECOND_VERSION, &record))
    }

    fn from_value(key: &Self::Key, value: &[u8]) -> Result<Self, String> {
        let decided = match value.first() {
            Some(&SECOND_VERSION) => {
                decode_as::<WeighedRecord>(SECOND_VERSION, value)?.into_model()?
            }
            _ => decode::<Self>(value)?,
        };
        if decided.history.is_empty() {
            return Err("no decision".to_owned());
        }
        Ok(Self { frame: key.frame, name: key.name.clone(), ..decided })
    }
}

impl Stored for Edition {
    type Key = EditionKey;

    fn to_value(&self) -> Encoded {
        match ListedRecord::of(self) {
            Some(record) => encode_as(THIRD_VERSION, &record),
            None => encode_as(SECOND_VERSION, &HashedRecord::from(self)),
        }
    }

    fn from_value(key: &Self::Key, value: &[u8]) -> Result<Self, String> {
        match value.first() {
            Some(&THIRD_VERSION) => {
                decode_as::<ListedRecord>(THIRD_VERSION, value)?.into_model(key)
            }
            Some(&SECOND_VERSION) => {
                decode_as::<HashedRecord>(SECOND_VERSION, value)?.into_model(key)
            }
            _ => decode::<EditionRecord>(value)?.into_model(key),
        }
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
            sets: edition.sets.iter().map(|frozen| frozen.set).collect(),
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
        let sets = self.sets.into_iter().zip(self.contents);
        let sets: Vec<FrozenSet> = sets.map(|(set, content)| FrozenSet { set, content }).collect();
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
            split_list: None,
            sets,
        })
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::model::{IdSpace, LuId};

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
            ..Evidence::default()
        };
        let accepted = Decision {
            verdict: Verdict::Accept,
            reviewer: "kim".to_owned(),
            time: 1_700_000_000,
            note: "na\u{ef}ve".to_owned(),
            lu: LuId(1 << 31),
            evidence,
            moved: None,
            undone: Some(Reviewed {
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
            split_list: None,
            sets: sets.map(|(number, content)| FrozenSet { set: set(number), content }).into(),
        }
    }

    /// The edition as programs of format 1.4 write it.
    pub(in super::super) fn first_version() -> Vec<u8> {
        encode(&EditionRecord::from(&edition())).unwrap()
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
        let none = Decided { history: Vec::new(), ..decided() };
        let read = |value: &[u8]| Decided::from_value(&key, value);
        assert_eq!(read(&none.to_value().unwrap()), Err("no decision".to_owned()));
        // Version, number of decisions, then the first one's verdict.
        let mut value = decided().to_value().unwrap();
        value[2] = 9;
        assert_eq!(read(&value), Err("verdict 9".to_owned()));
    }
}
