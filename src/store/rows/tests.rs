//! What is written is read, and damage is a fault.

use std::path::Path;

use proptest::prelude::*;

use super::super::key::EvidenceKey;
use super::super::record::{ChangeRecord, Encoded, Unwritable};
use super::*;
use crate::model::{Extent, Label, Layer, LayerName, Span};

/// The golden values, under keys that fit them.
fn golden() -> Vec<(Family, Vec<u8>, Vec<u8>)> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/records");
    let files = std::fs::read_dir(dir).unwrap();
    let mut values = Vec::new();
    for file in files.map(|entry| entry.unwrap().path()) {
        let name = file.file_stem().unwrap().to_str().unwrap().to_owned();
        let text = std::fs::read_to_string(&file).unwrap();
        let digits: Vec<u32> = text.chars().filter_map(|digit| digit.to_digit(16)).collect();
        let value = digits.chunks(2).map(|pair| (pair[0] << 4 | pair[1]) as u8).collect();
        let (family, key) = place(&name);
        values.push((family, key, value));
    }
    values
}

/// The family that a golden file is called after, and a key in it.
fn place(name: &str) -> (Family, Vec<u8>) {
    let layouts = ["layout_release", "layout_frame", "layout_lexunit", "layout_document"];
    if name == "own_ids" {
        return (Family::Meta, OWN_IDS_KEY.to_vec());
    }
    if name == "meta_history" {
        return (Family::Meta, HISTORY_KEY.to_vec());
    }
    if name == "evidence" {
        let place = (FrameId(1), LuId(1));
        return (Family::Evidence, EvidenceKey::of_lu(ReleaseId(1), place).encode());
    }
    if name == "layout_numbers" {
        let key = LayoutKey::of_numbers(ReleaseId(1), NumberKind::LexUnit, 0);
        return (Family::Layout, key.encode());
    }
    if name == "layout_foreign" {
        let file = ForeignFile::Frame(FrameId(1));
        return (Family::Layout, LayoutKey::of_foreign(ReleaseId(1), file).encode());
    }
    if let Some(kind) = layouts.iter().position(|layout| name.starts_with(layout)) {
        let (release, kind) = (ReleaseId(1), kind as u8 + 1);
        return (Family::Layout, LayoutKey { release, kind, first: 0, second: 0 }.encode());
    }
    if name.starts_with("location") {
        return (Family::SetLocation, key(Family::SetLocation));
    }
    let of_name = Family::ALL.into_iter().filter(|family| name.starts_with(family.name()));
    let family = of_name.max_by_key(|family| family.name().len());
    let family = family.unwrap_or_else(|| panic!("{name} is of no family"));
    (family, key(family))
}

/// A key of the family's length, of small numbers.
fn key(family: Family) -> Vec<u8> {
    if family == Family::Meta {
        return BOOK_KEY.to_vec();
    }
    let is_key = |key: &Vec<u8>| !matches!(content(family, key, &[]), Err((RowFaultKind::Key, _)));
    (0..40).map(|length| vec![0; length]).find(is_key).unwrap_or_default()
}

/// A record without a key, decoded and encoded again.
fn anew<T>(value: &[u8]) -> std::result::Result<Encoded, Undecoded>
where
    T: bincode::Decode<()> + bincode::Encode,
{
    let record: T = record::decode(value).map_err(|reason| (RowFaultKind::Record, reason))?;
    Ok(record::encode(&record))
}

/// A row's value, decoded and encoded again.
fn again(family: Family, key: &[u8], value: &[u8]) -> std::result::Result<Vec<u8>, Undecoded> {
    fn keyed<T>(key: &[u8], value: &[u8]) -> std::result::Result<Encoded, Undecoded>
    where
        T: Stored,
        T::Key: Key,
    {
        model::<T>(key, value).map(|record| record.to_value())
    }
    let content = content(family, key, value)?;
    let record = |reason: String| (RowFaultKind::Record, reason);
    let encoded = match content {
        RowContent::Frame(_) => keyed::<Frame>(key, value)?,
        RowContent::Relation(_) => keyed::<FrameRelation>(key, value)?,
        RowContent::SemType(_) => keyed::<SemType>(key, value)?,
        RowContent::LexUnit(_) => keyed::<LexUnit>(key, value)?,
        RowContent::Document(_) => keyed::<Document>(key, value)?,
        RowContent::Sentence(_) => keyed::<Sentence>(key, value)?,
        RowContent::Set(_) => keyed::<AnnotationSet>(key, value)?,
        RowContent::SentenceLayers(_) => keyed::<SentenceLayers>(key, value)?,
        RowContent::SetLocation(set, location) => record::encode_location(set, location),
        RowContent::Journal { .. } => keyed::<JournalEntry>(key, value)?,
        RowContent::Judgement(..) => keyed::<Judgement>(key, value)?,
        RowContent::Verification(_) => keyed::<Verification>(key, value)?,
        RowContent::Decisions(_) => keyed::<Decided>(key, value)?,
        RowContent::Edition(_) => keyed::<Edition>(key, value)?,
        RowContent::Layout(LayoutOf::Release) => keyed::<ReleaseLayout>(key, value)?,
        RowContent::Layout(LayoutOf::Frame(_)) => keyed::<FrameLayout>(key, value)?,
        RowContent::Layout(LayoutOf::LexUnit(..)) => keyed::<LexUnitLayout>(key, value)?,
        RowContent::Layout(LayoutOf::Document(..)) => keyed::<DocumentLayout>(key, value)?,
        RowContent::Layout(LayoutOf::Numbers(_)) => keyed::<NumbersRecord>(key, value)?,
        RowContent::Layout(LayoutOf::Foreign(_)) => keyed::<Foreign>(key, value)?,
        RowContent::Recipe(_) => anew::<RecipeRecord>(value)?,
        RowContent::Resource(_) => keyed::<Resource>(key, value)?,
        RowContent::Synset(_) => keyed::<Synset>(key, value)?,
        RowContent::Word(_) => keyed::<Word>(key, value)?,
        RowContent::Irregular(_) => keyed::<IrregularForm>(key, value)?,
        RowContent::Predicate(_) => keyed::<Predicate>(key, value)?,
        RowContent::Mapping(_) => keyed::<Mapping>(key, value)?,
        RowContent::Links(_) => keyed::<Links>(key, value)?,
        RowContent::Discovery(_) => keyed::<Discovery>(key, value)?,
        RowContent::Commit(_) => keyed::<Commit>(key, value)?,
        RowContent::Before(_) => anew::<ImageRecord>(value)?,
        RowContent::Change(_) => anew::<ChangeRecord>(value)?,
        RowContent::Meta if key == BOOK_KEY => anew::<MetaRecord>(value)?,
        RowContent::Meta if key == HISTORY_KEY => anew::<Bounds>(value)?,
        RowContent::Meta if key == OWN_IDS_KEY => anew::<OwnIdsRecord>(value)?,
        RowContent::Count(count) => Ok(count.to_be_bytes().to_vec()),
        RowContent::Evidence => evidence_cell(key, value)?.encode(),
        // Without a record.
        RowContent::Meta | RowContent::BySentence(..) | RowContent::Name { .. } => {
            Ok(value.to_owned())
        }
    };
    encoded.map_err(|why| record(format!("{why:?}")))
}

/// Decoding gives a row or a fault. A row that was read is written, read and written as itself.
fn assert_law(family: Family, key: &[u8], value: &[u8]) {
    if content(family, key, value).is_ok() {
        let written = again(family, key, value).unwrap();
        assert_eq!(again(family, key, &written), Ok(written), "{family:?}");
    }
}

#[test]
fn golden_values_decode() {
    let golden = golden();
    assert!(golden.len() > 15, "{}", golden.len());
    for (family, key, value) in golden {
        assert_eq!(again(family, &key, &value), Ok(value), "{family:?}");
    }
}

/// The sets among the golden values, with spans in place of their labels, as they are written.
fn written(spans: &[Span]) -> Vec<(Family, Vec<u8>, Encoded)> {
    let label = |span: &Span| Label::new("Checker", Extent::Overt(*span));
    let labels = spans.iter().map(label).collect();
    let layers = vec![Layer { name: LayerName::Fe, rank: 1, labels }];
    let mut written = Vec::new();
    for (family, key, value) in golden() {
        let value = match content(family, &key, &value).unwrap() {
            RowContent::Set(set) => AnnotationSet { layers: layers.clone(), ..*set }.to_value(),
            RowContent::SentenceLayers(set) => {
                SentenceLayers { layers: layers.clone(), ..set }.to_value()
            }
            _ => continue,
        };
        written.push((family, key, value));
    }
    written
}

#[test]
fn a_span_that_ends_before_it_starts_is_not_written() {
    let refused = Err(Unwritable::Refused("a span from 5 to 2".to_owned()));
    let all = written(&[Span { start: 5, end: 2 }]);
    assert!(all.len() > 4, "{}", all.len());
    for (family, _, value) in all {
        assert_eq!(value, refused, "{family:?}");
    }
}

#[test]
fn keys_of_other_families_are_not_written() {
    for (family, key, value) in golden() {
        assert_eq!(require_readable(family, &key, &value), Ok(()), "{family:?}");
        let short = require_readable(family, &key[..key.len() - 1], &value);
        let is_of_text = [
            Family::Meta,
            Family::Decision,
            Family::Edition,
            Family::Judgement,
            Family::Sense,
            Family::Irregular,
            Family::Predicate,
            Family::Discovery,
        ];
        assert!(short.is_err() || is_of_text.contains(&family), "{family:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(3_000) })]

    #[test]
    fn what_is_written_is_read(
        spans in prop::collection::vec((0..4_u32, 0..4_u32), 1..4),
        which: usize,
    ) {
        let spans: Vec<Span> =
            spans.into_iter().map(|(start, end)| Span { start, end }).collect();
        let is_right = spans.iter().all(|span| span.start <= span.end);
        let written = written(&spans);
        let (family, key, value) = &written[which % written.len()];
        prop_assert_eq!(value.is_ok(), is_right);
        if let Ok(value) = value {
            prop_assert_eq!(require_readable(*family, key, value), Ok(()));
            prop_assert!(content(*family, key, value).is_ok());
        }
    }

    #[test]
    fn noise_is_a_row_or_a_fault(key: Vec<u8>, mut value: Vec<u8>, version in 0..3_u8) {
        for family in Family::ALL {
            assert_law(family, &key, &value);
        }
        value.insert(0, version);
        for family in Family::ALL {
            assert_law(family, &self::key(family), &value);
        }
    }

    #[test]
    fn a_mutated_value_is_a_row_or_a_fault(
        which: usize,
        flips in prop::collection::vec((any::<usize>(), any::<u8>()), 1..5),
        cut in prop::option::of(any::<usize>()),
    ) {
        let golden = golden();
        let (family, key, mut value) = golden[which % golden.len()].clone();
        for (at, bits) in flips {
            let at = at % value.len();
            value[at] ^= bits;
        }
        if let Some(cut) = cut {
            value.truncate(cut % value.len());
        }
        assert_law(family, &key, &value);
    }
}
