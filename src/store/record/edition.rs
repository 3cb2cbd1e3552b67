//! The record of an edition: the ids of its sets, their contents, and the hash of the ids.

use bincode::de::Decoder;
use bincode::enc::Encoder;
use bincode::error::{DecodeError, EncodeError};
use bincode::{Decode, Encode};

use super::ids::one_of;
use crate::model::{
    Candidate, Cut, Edition, FrozenSet, KeptSplitList, Promise, PromiseGroup, PromiseGroups,
    SplitListId,
};

coded! {
    PromiseGroups as u8:
        |by| *by as u8, |code| one_of(&PromiseGroups::ALL, code, "groups of a promise");
}

fields! {
    FrozenSet { set, content }
    KeptSplitList { id, lines }
    SplitListId { name, fingerprint }
    Promise { precision, confidence, rank, by, seed, groups }
    PromiseGroup { name, candidates, cut }
    Candidate { set, score }
    Cut { score, sets, judged, right, lower }
}

/// Fields of an edition's record, as [`Edition`] is encoded below.
#[cfg(test)]
pub(super) const EDITION_FIELDS: &[&str] = &[
    "expression",
    "created",
    "revision",
    "sentences",
    "pairs",
    "lemma_pairs",
    "split_list",
    "sets",
    "hash",
    "promise",
];

#[doc(hidden)]
impl Encode for Edition {
    fn encode<E: Encoder>(&self, encoder: &mut E) -> Result<(), EncodeError> {
        self.expression.encode(encoder)?;
        (self.created, self.revision).encode(encoder)?;
        (self.sentences, self.pairs, self.lemma_pairs).encode(encoder)?;
        self.split_list.encode(encoder)?;
        self.sets.encode(encoder)?;
        self.hash().encode(encoder)?;
        self.promise.encode(encoder)
    }
}

#[doc(hidden)]
impl<C> Decode<C> for Edition {
    /// Refuses sets that are not in order of id, and those of another hash.
    fn decode<D: Decoder<Context = C>>(decoder: &mut D) -> Result<Self, DecodeError> {
        let refused = |reason: &str| Err(DecodeError::OtherString(reason.to_owned()));
        let expression = Decode::decode(decoder)?;
        let (created, revision) = Decode::decode(decoder)?;
        let (sentences, pairs, lemma_pairs) = Decode::decode(decoder)?;
        let split_list = Decode::decode(decoder)?;
        let sets: Vec<FrozenSet> = Decode::decode(decoder)?;
        let edition = Self {
            name: String::new(),
            expression,
            created,
            revision,
            sentences,
            pairs,
            lemma_pairs,
            split_list,
            sets,
            promise: None,
        };
        let hash = <[u8; 32]>::decode(decoder)?;
        if !edition.sets.is_sorted_by(|a, b| a.set < b.set) {
            return refused("sets out of order");
        }
        if edition.hash() != hash {
            return refused("the hash is not that of the sets");
        }
        let promise: Option<Promise> = Decode::decode(decoder)?;
        if promise.as_ref().is_some_and(|promise| !promise.is_sound()) {
            return refused("a promise that cannot be one");
        }
        Ok(Self { promise, ..edition })
    }
}

borrowed!(Edition);

/// An edition that promises something.
#[cfg(test)]
pub(super) fn promised() -> Edition {
    use crate::model::{AnnotationSetId, IdSpace};
    let candidate = |(number, score)| Candidate {
        set: AnnotationSetId::new(IdSpace::Generated, number),
        score,
    };
    let cut = Cut { score: 0.875, sets: 2, judged: 30, right: 30, lower: 0.9375 };
    let group = |name: &str, candidates: &[(u64, f32)], cut| PromiseGroup {
        name: name.to_owned(),
        candidates: candidates.iter().copied().map(candidate).collect(),
        cut,
    };
    let promise = Promise {
        precision: 0.9,
        confidence: 0.95,
        rank: "evokes".to_owned(),
        by: Some(PromiseGroups::Round),
        seed: 1,
        groups: vec![
            group("round=1", &[(1, 1.0), (7, 0.25), (300, 0.875)], Some(cut)),
            group("round=2", &[(8, 0.5)], None),
        ],
    };
    Edition { promise: Some(promise), ..super::samples::edition() }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::super::key::EditionKey;
    use super::super::{Stored, samples, tests::is_cut_short};
    use super::*;
    use crate::model::{AnnotationSetId, IdSpace, ReleaseId};

    fn read(value: &[u8]) -> Result<Edition, String> {
        let key = EditionKey { release: ReleaseId(1), name: "first".to_owned() };
        Edition::from_value(&key, value)
    }

    #[test]
    fn what_no_writer_writes_is_refused() {
        let mut edition = samples::edition();
        edition.sets.reverse();
        let value = edition.to_value().unwrap();
        assert_eq!(read(&value), Err("sets out of order".to_owned()));
        let mut value = samples::edition().to_value().unwrap();
        let last_of_hash = value.len() - 2;
        value[last_of_hash] ^= 1;
        assert_eq!(read(&value), Err("the hash is not that of the sets".to_owned()));
        let value = samples::listed().to_value().unwrap();
        for end in 0..value.len() {
            is_cut_short(read(&value[..end]), end);
        }
    }

    proptest! {
        #[test]
        fn editions_come_back_with_their_lists_and_sets(
            list in prop::option::of((".{0,9}", any::<[u8; 16]>(), prop::option::of(".{0,9}"))),
            sets in prop::collection::btree_map(0..1_u64 << 56, any::<u64>(), 0..4),
            counts in any::<[u64; 5]>(),
        ) {
            let split_list = list.map(|(name, fingerprint, lines)| KeptSplitList {
                id: SplitListId { name, fingerprint },
                lines,
            });
            let id = |number| AnnotationSetId::new(IdSpace::Generated, number);
            let sets = sets.into_iter();
            let sets = sets.map(|(number, content)| FrozenSet { set: id(number), content });
            let [created, revision, sentences, pairs, lemma_pairs] = counts;
            let edition = Edition {
                split_list,
                sets: sets.collect(),
                created,
                revision,
                sentences,
                pairs,
                lemma_pairs,
                ..samples::edition()
            };
            prop_assert_eq!(read(&edition.to_value().unwrap()), Ok(edition));
        }
    }
}
