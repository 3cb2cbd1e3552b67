//! Records: what stands in values.
//!
//! A value is one version byte and a bincode encoding of that version's record: the fields that the
//! version lists, in its order. So a change of [`crate::model`] cannot move the format: a new
//! layout is a new file `v2_*.rs` beside `v1*.rs`, and no old list is edited. Decoding takes at
//! most [`LIMIT`] bytes and refuses what is left over; encoding refuses what decoding would not
//! take.
//!
//! Law: where `encode(r)` is some value `v`, `decode(v) == r`.

#[macro_use]
mod fields;
#[cfg(test)]
mod golden;
#[cfg(test)]
mod schema_page;
mod v1;
mod v1_annotation;
mod v1_foreign;
mod v1_governance;
mod v1_layout;
mod v1_numbers;
mod v1_user;
mod v2_annotation;
mod v2_change;
mod v2_decision;
mod v2_document;
mod v2_edition;
mod v2_judgement;
mod v2_location;
mod v2_release_layout;
mod v3_annotation;
mod v3_edition;
mod v4_annotation;

use bincode::config::{Configuration, Limit, LittleEndian, Varint};
use bincode::error::{DecodeError, EncodeError};

use crate::model::{
    AnnotationSet, AnnotationSetId, Document, DocumentLayout, Frame, FrameId, FrameLayout,
    FrameRelation, LexUnit, LexUnitLayout, LuId, ReleaseLayout, SemType, Sentence, SentenceId,
    SentenceLayers,
};

use super::SetLocation;
use super::key::{
    AnnotationKey, DocumentKey, FrameKey, LayoutKey, LexUnitKey, RelationKey, SemTypeKey,
    SentenceKey, SentenceSetKey,
};
use v1::SetLocationRecord;
pub(super) use v1::{
    ChangeRecord as WrittenRecord, JournalRecord, MetaRecord, RecipeRecord, sentence_code,
    sentence_from, set_code, set_from,
};
pub(super) use v1_numbers::NumbersRecord;
pub(super) use v1_user::OwnIdsRecord;
use v2_annotation::ScoredRecord;
pub(super) use v2_change::{ChangeRecord, SubjectRecord};
use v2_document::DescribedRecord;
pub(super) use v2_judgement::{decode_judgement, encode_judgement};
use v2_location::LocationRecord;
use v2_release_layout::DescribedLayoutRecord;
use v3_annotation::CarriedRecord;
use v4_annotation::JudgedRecord;

/// Most bytes that a record may decode to. Far above the largest of FrameNet 1.5 (an LU with its
/// valence tables, under 1 MB), far below what a damaged length could demand.
pub(super) const LIMIT: usize = 64 << 20;

/// Bytes of a value from which on encoding tries whether it decodes. A byte of a value stands for
/// at most 256 bytes in memory, which is what [`LIMIT`] counts: no smaller value can pass it.
pub(super) const TRIED: usize = LIMIT / 256;

/// Why nobody could read a record again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Unwritable {
    /// It is too large.
    Large {
        /// Bytes of its value.
        bytes: usize,
    },
    /// It holds what decoding refuses.
    Refused(String),
}

/// A value, where its record can be read again.
pub(super) type Encoded = Result<Vec<u8>, Unwritable>;

const VERSION: u8 = 1;
const CONFIG: Configuration<LittleEndian, Varint, Limit<LIMIT>> =
    bincode::config::standard().with_limit::<LIMIT>();

/// Version of the change records that are written; rows of version 1 are read.
const CHANGE_VERSION: u8 = 2;
/// So for the records that locate sets.
const LOCATION_VERSION: u8 = 2;
/// Version of the records that say more than version 1 can hold: of sets that filters have scored,
/// documents with descriptions, top files of FrameNet 1.7, decisions that know more. Every other
/// one is of version 1.
const SECOND_VERSION: u8 = 2;
/// Version of the records of sets to which FEs were carried, and of editions with split lists.
const THIRD_VERSION: u8 = 3;
/// Version of the records of sets of which a frame model says how likely their frames are.
const FOURTH_VERSION: u8 = 4;

/// Encodes a record with its version.
pub(super) fn encode<R: bincode::Encode + bincode::Decode<()>>(record: &R) -> Encoded {
    encode_as(VERSION, record)
}

/// Encodes a change.
pub(super) fn encode_change(record: &ChangeRecord) -> Encoded {
    encode_as(CHANGE_VERSION, record)
}

fn encode_as<R: bincode::Encode + bincode::Decode<()>>(version: u8, record: &R) -> Encoded {
    let value = encode_any_size(version, record).map_err(Unwritable::Refused)?;
    if value.len() > TRIED && decode_as::<R>(version, &value).is_err() {
        return Err(Unwritable::Large { bytes: value.len() });
    }
    Ok(value)
}

fn encode_any_size<R: bincode::Encode>(version: u8, record: &R) -> Result<Vec<u8>, String> {
    let mut value = vec![version];
    match bincode::encode_into_std_write(record, &mut value, CONFIG) {
        Ok(_) => Ok(value),
        Err(EncodeError::OtherString(reason)) => Err(reason),
        Err(error) => Err(error.to_string()),
    }
}

/// Whether a value that [`Stored::to_value`] gives can be read without a try: its version's codes
/// are tried as they are written, its size is, and the version refuses nothing else.
pub(super) fn is_read_as_written(value: &[u8]) -> bool {
    value.first() == Some(&VERSION)
}

/// Decodes a record of a known version.
pub(super) fn decode<R: bincode::Decode<()>>(value: &[u8]) -> Result<R, String> {
    decode_as(VERSION, value)
}

/// Decodes a change; `Err` in `Ok` is one of version 1.
pub(super) fn decode_change(value: &[u8]) -> Result<Result<ChangeRecord, WrittenRecord>, String> {
    match value.first() {
        Some(&VERSION) => decode_as(VERSION, value).map(Err),
        _ => decode_as(CHANGE_VERSION, value).map(Ok),
    }
}

/// Encodes where a set is kept.
pub(super) fn encode_location(set: AnnotationSetId, location: SetLocation) -> Encoded {
    encode_as(LOCATION_VERSION, &LocationRecord::new(set, location))
}

/// Decodes where a set is kept, from either version.
pub(super) fn decode_location(set: AnnotationSetId, value: &[u8]) -> Result<SetLocation, String> {
    if value.first() != Some(&VERSION) {
        return decode_as::<LocationRecord>(LOCATION_VERSION, value)?.into_model(set);
    }
    let SetLocationRecord { frame, lu, sentence } = decode(value)?;
    let sentence = SentenceId::from_bits(sentence).ok_or(format!("sentence {sentence}"))?;
    Ok(SetLocation { frame: FrameId(frame), lu: LuId(lu), sentence })
}

fn decode_as<R: bincode::Decode<()>>(expected: u8, value: &[u8]) -> Result<R, String> {
    match value.split_first() {
        Some((&version, body)) if version == expected => {
            match bincode::decode_from_slice(body, CONFIG) {
                Ok((record, read)) if read == body.len() => Ok(record),
                Ok((_, read)) => Err(format!("{} bytes left over", body.len() - read)),
                Err(DecodeError::OtherString(reason)) => Err(reason),
                Err(error) => Err(error.to_string()),
            }
        }
        Some((version, _)) => Err(format!("record version {version}, expected {expected}")),
        None => Err("empty".to_owned()),
    }
}

/// A type of [`crate::model`] that has a key and a record. What the key says is not in the record.
pub(super) trait Stored: Sized {
    type Key;
    fn to_value(&self) -> Encoded;
    fn from_value(key: &Self::Key, value: &[u8]) -> Result<Self, String>;
}

macro_rules! stored {
    ($($model:ty, $key:ty, $of_key:expr $(, $version:ident $other:ty)*;)*) => {$(
        impl Stored for $model {
            type Key = $key;

            fn to_value(&self) -> Encoded {
                $(if let Some(record) = <$other>::of(self) {
                    return encode_as($version, &record);
                })*
                encode(self)
            }

            fn from_value(key: &Self::Key, value: &[u8]) -> Result<Self, String> {
                let place: fn(&mut Self, &$key) = $of_key;
                let mut model = match value.first() {
                    $(Some(&$version) => decode_as::<$other>($version, value)?.into_model()?,)*
                    _ => decode(value)?,
                };
                place(&mut model, key);
                Ok(model)
            }
        }
    )*};
}

// Model, key, what the model has of its key; then the records of later versions, of which the first
// that holds what version 1 cannot hold is written.
stored! {
    Frame, FrameKey, |frame, key| frame.id = key.frame;
    FrameRelation, RelationKey, |relation, key| relation.id = key.relation;
    SemType, SemTypeKey, |sem_type, key| sem_type.id = key.sem_type;
    LexUnit, LexUnitKey, |lu, key| (lu.frame, lu.id) = (key.frame, key.lu);
    Sentence, SentenceKey, |sentence, key| sentence.id = key.sentence;
    SentenceLayers, SentenceSetKey, |set, key| (set.sentence, set.id) = (key.sentence, key.set);
    FrameLayout, LayoutKey, |_, _| {};
    LexUnitLayout, LayoutKey, |_, _| {};
    DocumentLayout, LayoutKey, |_, _| {};
    Document, DocumentKey, |document, key| {
        (document.corpus, document.id) = (key.corpus, key.document);
    }, SECOND_VERSION DescribedRecord;
    ReleaseLayout, LayoutKey, |_, _| {}, SECOND_VERSION DescribedLayoutRecord;
    AnnotationSet, AnnotationKey, |set, key| {
        (set.id, set.sentence, set.frame, set.lu) = (key.set, key.sentence, key.frame, key.lu);
    }, FOURTH_VERSION JudgedRecord, THIRD_VERSION CarriedRecord, SECOND_VERSION ScoredRecord;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Asserts that a value was read as one that was cut at a byte.
    pub(super) fn is_cut_short<T: std::fmt::Debug>(read: Result<T, String>, end: usize) {
        let error = read.unwrap_err();
        let expected = if end == 0 { "empty" } else { "UnexpectedEnd" };
        assert!(error.starts_with(expected), "cut at {end}: {error}");
    }

    #[test]
    fn what_is_left_over_or_of_another_version_is_refused() {
        let mut value = encode(&7_u32).unwrap();
        assert_eq!(decode::<u32>(&value), Ok(7));
        value.push(0);
        assert_eq!(decode::<u32>(&value), Err("1 bytes left over".to_owned()));
        assert_eq!(decode::<u32>(&[9, 7]), Err("record version 9, expected 1".to_owned()));
        assert_eq!(decode::<u32>(&[]), Err("empty".to_owned()));
    }

    #[test]
    fn a_length_beyond_the_limit_is_refused() {
        // A vector said to hold 2^32 bytes.
        let value = [VERSION, 253, 0, 0, 0, 0, 1, 0, 0, 0];
        assert_eq!(decode::<Vec<u8>>(&value), Err("LimitExceeded".to_owned()));
    }

    #[test]
    fn the_largest_list_that_decodes_is_the_largest_that_encodes() {
        let most = LIMIT / size_of::<u64>() - 1;
        let value = encode(&vec![1_u64; most]).unwrap();
        assert_eq!(decode::<Vec<u64>>(&value).map(|list| list.len()), Ok(most));
        let one_more = vec![1_u64; most + 1];
        assert_eq!(encode(&one_more), Err(Unwritable::Large { bytes: most + 7 }));
        let refused = decode::<Vec<u64>>(&encode_any_size(VERSION, &one_more).unwrap());
        assert_eq!(refused, Err("LimitExceeded".to_owned()));
    }

    #[test]
    fn records_whose_parts_take_more_in_memory_than_in_values_are_tried() {
        // Nothing takes a byte in a value, and 24 in memory.
        let lists = vec![Vec::<u8>::new(); LIMIT / size_of::<Vec<u8>>() + 1];
        let encoded = encode(&lists);
        assert!(
            matches!(encoded, Err(Unwritable::Large { bytes }) if bytes < LIMIT / 20),
            "{encoded:?}"
        );
        assert!(size_of::<Vec<u8>>() < LIMIT / TRIED);
    }
}
