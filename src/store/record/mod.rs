//! Records: what stands in values.
//!
//! A value is one version byte and a bincode encoding of the record: the fields that its file here
//! lists, in that order. So a change of [`crate::model`] cannot move the format. Every kind of
//! record has one version so far. Once a release has written it, a new layout is a new version
//! beside it, and the list stays. Decoding takes at most [`LIMIT`] bytes and refuses what is left
//! over; encoding refuses what decoding would not take.
//!
//! Law: where `encode(r)` is some value `v`, `decode(v) == r`.

#[macro_use]
mod fields;
mod annotation;
mod book;
mod change;
mod commit;
mod decision;
mod discovery;
mod document;
mod edition;
mod evidence;
mod foreign;
mod frame;
#[cfg(test)]
mod golden;
mod ids;
mod journal;
mod judgement;
mod layers;
mod layout;
mod lexunit;
mod link;
mod location;
mod numbers;
mod own_ids;
mod predicate;
mod recipe;
mod relation;
mod resource;
#[cfg(test)]
pub(super) mod samples;
#[cfg(test)]
mod schema_page;
mod sem_type;
mod sentence;
mod verification;
mod wordnet;

use bincode::config::{Configuration, Limit, LittleEndian, Varint};
use bincode::error::{DecodeError, EncodeError};

use crate::model::{
    AnnotationSet, Discovery, Document, DocumentLayout, Edition, Foreign, Frame, FrameLayout,
    FrameRelation, IrregularForm, Judgement, LexUnit, LexUnitLayout, LinkSubject, Links, Mapping,
    Predicate, ReleaseLayout, Resource, SemType, Sentence, SentenceLayers, Synset, Verification,
    Word,
};

use super::JournalEntry;
use super::key::{
    AnnotationKey, CommitKey, DiscoveryKey, DocumentKey, EditionKey, FrameKey, IrregularKey,
    JournalKey, JudgementKey, LayoutKey, LexUnitKey, LinkKey, MappingKey, PredicateKey,
    RelationKey, ResourceKey, SemTypeKey, SenseKey, SentenceKey, SentenceSetKey, SetKey, SynsetKey,
};
pub(super) use book::MetaRecord;
pub(super) use change::ChangeRecord;
pub use commit::Commit;
pub(super) use commit::{Bounds, Digest, ImageRecord};
pub(super) use location::{decode_location, encode_location};
pub(super) use numbers::NumbersRecord;
pub(super) use own_ids::OwnIdsRecord;
pub(super) use recipe::RecipeRecord;

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

/// Version of every record.
const VERSION: u8 = 1;
const CONFIG: Configuration<LittleEndian, Varint, Limit<LIMIT>> =
    bincode::config::standard().with_limit::<LIMIT>();

/// Encodes a record with its version.
pub(super) fn encode<R: bincode::Encode + bincode::Decode<()>>(record: &R) -> Encoded {
    let value = encode_any_size(record).map_err(Unwritable::Refused)?;
    if value.len() > TRIED && decode::<R>(&value).is_err() {
        return Err(Unwritable::Large { bytes: value.len() });
    }
    Ok(value)
}

fn encode_any_size<R: bincode::Encode>(record: &R) -> Result<Vec<u8>, String> {
    let mut value = vec![VERSION];
    match bincode::encode_into_std_write(record, &mut value, CONFIG) {
        Ok(_) => Ok(value),
        Err(EncodeError::OtherString(reason)) => Err(reason),
        Err(error) => Err(error.to_string()),
    }
}

/// Decodes a record.
pub(super) fn decode<R: bincode::Decode<()>>(value: &[u8]) -> Result<R, String> {
    match value.split_first() {
        Some((&VERSION, body)) => match bincode::decode_from_slice(body, CONFIG) {
            Ok((record, read)) if read == body.len() => Ok(record),
            Ok((_, read)) => Err(format!("{} bytes left over", body.len() - read)),
            Err(DecodeError::OtherString(reason)) => Err(reason),
            Err(error) => Err(error.to_string()),
        },
        Some((version, _)) => Err(format!("record version {version}, expected {VERSION}")),
        None => Err("empty".to_owned()),
    }
}

/// A type that has a key and a record. What the key says is not in the record.
pub(super) trait Stored: bincode::Encode + bincode::Decode<()> {
    type Key;

    /// Takes what the key says.
    fn take_key(&mut self, key: &Self::Key);

    fn to_value(&self) -> Encoded {
        encode(self)
    }

    fn from_value(key: &Self::Key, value: &[u8]) -> Result<Self, String> {
        let mut record: Self = decode(value)?;
        record.take_key(key);
        Ok(record)
    }
}

macro_rules! stored {
    ($($type:ty, $key:ty, $of_key:expr;)*) => {$(
        impl Stored for $type {
            type Key = $key;

            fn take_key(&mut self, key: &$key) {
                let take: fn(&mut Self, &$key) = $of_key;
                take(self, key);
            }
        }
    )*};
}

// Type, key, what the type has of its key.
stored! {
    Frame, FrameKey, |frame, key| frame.id = key.frame;
    FrameRelation, RelationKey, |relation, key| relation.id = key.relation;
    SemType, SemTypeKey, |sem_type, key| sem_type.id = key.sem_type;
    LexUnit, LexUnitKey, |lu, key| (lu.frame, lu.id) = (key.frame, key.lu);
    Document, DocumentKey, |document, key| {
        (document.corpus, document.id) = (key.corpus, key.document);
    };
    Sentence, SentenceKey, |sentence, key| sentence.id = key.sentence;
    AnnotationSet, AnnotationKey, |set, key| {
        (set.id, set.sentence, set.frame, set.lu) = (key.set, key.sentence, key.frame, key.lu);
    };
    SentenceLayers, SentenceSetKey, |set, key| (set.sentence, set.id) = (key.sentence, key.set);
    ReleaseLayout, LayoutKey, |_, _| {};
    FrameLayout, LayoutKey, |_, _| {};
    LexUnitLayout, LayoutKey, |_, _| {};
    DocumentLayout, LayoutKey, |_, _| {};
    NumbersRecord, LayoutKey, |_, _| {};
    Foreign, LayoutKey, |_, _| {};
    JournalEntry, JournalKey, |_, _| {};
    Judgement, JudgementKey, |judgement, key| {
        let (reviewer, question) = key.parts();
        (judgement.reviewer, judgement.question) = (reviewer.to_owned(), question.to_owned());
    };
    Verification, SetKey, |verification, key| verification.set = key.set;
    Commit, CommitKey, |commit, key| commit.revision = key.revision;
    Edition, EditionKey, |edition, key| edition.name.clone_from(&key.name);
    Resource, ResourceKey, |resource, key| resource.id = key.resource;
    Discovery, DiscoveryKey, |of, key| (of.frame, of.name) = (key.frame, key.name.clone());
    Synset, SynsetKey, |synset, key| synset.id = key.synset;
    Word, SenseKey, |word, key| (word.class, word.lemma) = (key.class, key.lemma.clone());
    IrregularForm, IrregularKey, |of, key| (of.class, of.form) = (key.class, key.form.clone());
    Predicate, PredicateKey, |of, key| of.name.clone_from(&key.name);
    Mapping, MappingKey, |of, key| of.number = key.number;
    Links, LinkKey, |links, key| {
        let of = LinkSubject::of_numbers(key.kind, key.number);
        (links.frame, links.of) = (key.frame, of.unwrap_or(links.of));
    };
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
        let refused = decode::<Vec<u64>>(&encode_any_size(&one_more).unwrap());
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
