//! Records: what stands in values.
//!
//! A value is one version byte and a bincode encoding of that version's record. Records are types of
//! their own, so that a change of [`crate::model`] cannot move the format: a new layout is a new
//! file `v2.rs` beside `v1.rs`, and no old file is edited. Decoding takes at most [`LIMIT`] bytes and
//! refuses what is left over.
//!
//! Law: `decode(encode(r)) == r`.

#[cfg(test)]
mod golden;
mod v1;
mod v1_annotation;
mod v1_layout;
mod v1_numbers;
mod v1_user;
mod v2_annotation;
mod v2_change;
mod v2_location;

use bincode::config::{Configuration, Limit, LittleEndian, Varint};

use crate::model::{
    AnnotationSet, AnnotationSetId, Document, DocumentLayout, Frame, FrameId, FrameLayout,
    FrameRelation, LexUnit, LexUnitLayout, LuId, Release, ReleaseLayout, SemType, Sentence,
    SentenceId, SentenceLayers,
};

use super::SetLocation;
use super::key::{
    AnnotationKey, DocumentKey, FrameKey, LayoutKey, LexUnitKey, RelationKey, SemTypeKey,
    SentenceKey, SentenceSetKey,
};
use v1::SetLocationRecord;
pub(super) use v1::{
    ChangeRecord as WrittenRecord, JournalRecord, MetaRecord, RecipeRecord, ReleaseRecord,
    sentence_code, sentence_from, set_code, set_from,
};
use v1_annotation::AnnotationRecord;
pub(super) use v1_numbers::NumbersRecord;
pub(super) use v1_user::{JudgementRecord, OwnIdsRecord};
use v2_annotation::ScoredRecord;
pub(super) use v2_change::{ChangeRecord, SubjectRecord};
use v2_location::LocationRecord;

/// Most bytes that a record may decode to: far above the largest of FrameNet 1.5 (an LU with its
/// valence tables, under 1 MB), far below what a damaged length could ask for.
pub(super) const LIMIT: usize = 64 << 20;

const VERSION: u8 = 1;
const CONFIG: Configuration<LittleEndian, Varint, Limit<LIMIT>> =
    bincode::config::standard().with_limit::<LIMIT>();

/// Version of the change records that are written; rows of version 1 are read.
const CHANGE_VERSION: u8 = 2;
/// So for the records that locate sets.
const LOCATION_VERSION: u8 = 2;
/// Version of the records of sets that filters have scored; every other set is of version 1.
const SCORED_VERSION: u8 = 2;

/// Encodes a record with its version.
pub(super) fn encode<R: bincode::Encode>(record: &R) -> Vec<u8> {
    encode_as(VERSION, record)
}

/// Encodes a change.
pub(super) fn encode_change(record: &ChangeRecord) -> Vec<u8> {
    encode_as(CHANGE_VERSION, record)
}

fn encode_as<R: bincode::Encode>(version: u8, record: &R) -> Vec<u8> {
    let mut value = vec![version];
    bincode::encode_into_std_write(record, &mut value, CONFIG)
        .expect("writing to a vector cannot fail and no record holds an unsized sequence");
    value
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
pub(super) fn encode_location(set: AnnotationSetId, location: SetLocation) -> Vec<u8> {
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
                Err(error) => Err(error.to_string()),
            }
        }
        Some((version, _)) => Err(format!("record version {version}, expected {expected}")),
        None => Err("empty".to_owned()),
    }
}

/// A type of [`crate::model`] that has a key and a record.
pub(super) trait Stored: Sized {
    type Key;
    fn to_value(&self) -> Vec<u8>;
    fn from_value(key: &Self::Key, value: &[u8]) -> Result<Self, String>;
}

macro_rules! stored {
    ($($model:ty, $key:ty, $record:ty;)*) => {$(
        impl Stored for $model {
            type Key = $key;

            fn to_value(&self) -> Vec<u8> {
                encode(&<$record>::from(self))
            }

            fn from_value(key: &Self::Key, value: &[u8]) -> Result<Self, String> {
                decode::<$record>(value)?.into_model(key)
            }
        }
    )*};
}

stored! {
    Frame, FrameKey, v1::FrameRecord;
    FrameRelation, RelationKey, v1::RelationRecord;
    SemType, SemTypeKey, v1::SemTypeRecord;
    LexUnit, LexUnitKey, v1::LexUnitRecord;
    Document, DocumentKey, v1::DocumentRecord;
    Sentence, SentenceKey, v1::SentenceRecord;
    SentenceLayers, SentenceSetKey, v1_annotation::SentenceLayersRecord;
    ReleaseLayout, LayoutKey, v1_layout::ReleaseLayoutRecord;
    FrameLayout, LayoutKey, v1_layout::FrameLayoutRecord;
    LexUnitLayout, LayoutKey, v1_layout::LexUnitLayoutRecord;
    DocumentLayout, LayoutKey, v1_layout::DocumentLayoutRecord;
}

impl Stored for AnnotationSet {
    type Key = AnnotationKey;

    fn to_value(&self) -> Vec<u8> {
        match ScoredRecord::of(self) {
            Some(record) => encode_as(SCORED_VERSION, &record),
            None => encode(&AnnotationRecord::from(self)),
        }
    }

    fn from_value(key: &AnnotationKey, value: &[u8]) -> Result<Self, String> {
        match value.first() {
            Some(&VERSION) => decode::<AnnotationRecord>(value)?.into_model(key),
            _ => decode_as::<ScoredRecord>(SCORED_VERSION, value)?.into_model(key),
        }
    }
}

/// A release's record and its model, for the list in `meta`.
pub(super) fn release_from(record: ReleaseRecord) -> Release {
    record.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_over_or_of_another_version_is_refused() {
        let mut value = encode(&7_u32);
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
        assert!(decode::<Vec<u8>>(&value).is_err());
    }
}
