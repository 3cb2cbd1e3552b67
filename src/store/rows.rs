//! Every row of every family, decoded one after the other: for whoever checks or rewrites a store.
//!
//! A row that cannot be read or decoded is an item of its own, a [`RowFault`], and the pass goes
//! on. Blocks are read from the files with their checksums verified and leave no trace in the
//! cache.

use crate::model::{
    AnnotationSet, AnnotationSetId, CorpusId, Decided, Document, DocumentId, DocumentLayout,
    Edition, Foreign, ForeignFile, Frame, FrameId, FrameLayout, FrameRelation, Judgement, LexUnit,
    LexUnitLayout, LuId, NumberKind, RecipeId, ReleaseId, ReleaseLayout, SemType, Sentence,
    SentenceId, SentenceLayers, Verification, hexadecimal,
};

use super::family::Family;
use super::identity::{self, IDENTITY_KEY};
use super::key::{
    AnnotationKey, ChangeKey, CountKey, JournalKey, JudgementKey, Key, LayoutKey, LexUnitKey,
    NameKey, NameKind, RecipeKey, SentenceKey, SentenceSetKey, SetKey, release_of,
};
use super::merged::{self, MERGED_KEY};
use super::names::unpair;
use super::record::{
    self, Bounds, Commit, ImageRecord, MetaRecord, NumbersRecord, OwnIdsRecord, RecipeRecord,
    Stored,
};
use super::row_fault::{RowFault, RowFaultKind, record_name};
use super::tally::{TALLY_KEY, Tally};
use super::view::KeyValue;
use super::{
    BOOK_KEY, Change, HISTORY_KEY, JournalEntry, OWN_IDS_KEY, Result, SetLocation, Store,
    StoreError,
};
use super::{count_key, evidence_row};

/// A row with what its key and its value say.
#[derive(Debug, Clone)]
pub struct Row {
    /// The column family.
    pub family: &'static str,
    /// The key.
    pub key: Vec<u8>,
    /// The release, in families whose keys start with one.
    pub release: Option<ReleaseId>,
    /// What stands there.
    pub content: RowContent,
}

/// What stands in a row.
#[derive(Debug, Clone)]
#[allow(missing_docs, reason = "each is what its name says")]
#[non_exhaustive]
pub enum RowContent {
    /// A row of the store's own book.
    Meta,
    Frame(Frame),
    Relation(FrameRelation),
    SemType(SemType),
    LexUnit(Box<LexUnit>),
    Document(Document),
    Sentence(Sentence),
    Set(Box<AnnotationSet>),
    SentenceLayers(SentenceLayers),
    /// Where a set is kept.
    SetLocation(AnnotationSetId, SetLocation),
    /// A set that evokes a frame in a sentence.
    BySentence(SentenceId, AnnotationSetId),
    /// A name; the two numbers are its id's.
    Name {
        kind: NameKind,
        folded: bool,
        name: String,
        id: (u32, u32),
    },
    Recipe(RecipeId),
    Journal {
        seed: AnnotationSetId,
        recipe: RecipeId,
        entry: JournalEntry,
    },
    /// A judgement of a set.
    Judgement(AnnotationSetId, Judgement),
    /// What a verifier says of a set.
    Verification(AnnotationSetId),
    Decisions(Decided),
    Edition(Edition),
    /// How a file of the release lists what it holds.
    Layout(LayoutOf),
    /// What a commit touched.
    Change(Change),
    /// Who made a commit.
    Commit(Commit),
    /// What a row held before the commit of that number.
    Before(u64),
    /// How many rows agree in what the key names.
    Count(u64),
    /// What the generated sets of an LU say together, or how many of them a seed gave.
    Evidence,
}

/// The file that a layout describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "each is what its name says")]
pub enum LayoutOf {
    /// The files at the top of the release.
    Release,
    Frame(FrameId),
    LexUnit(FrameId, LuId),
    Document(CorpusId, DocumentId),
    /// No file: what fresh numbers of a kind are written as.
    Numbers(NumberKind),
    /// What a file holds beside FrameNet.
    Foreign(ForeignFile),
}

/// A key or a value that does not decode.
type Undecoded = (RowFaultKind, String);

impl Store {
    /// Every row, family by family, in order of key; also rows of releases that are not listed.
    ///
    /// # Errors
    /// When a family cannot be opened at all.
    pub fn rows(
        &self,
    ) -> Result<impl Iterator<Item = std::result::Result<Row, Box<RowFault>>> + '_> {
        let mut families = Vec::new();
        for family in Family::ALL.into_iter().filter(|family| self.engine.has(*family)) {
            families.push(self.rows_of(family)?);
        }
        Ok(families.into_iter().flatten())
    }

    fn rows_of(
        &self,
        family: Family,
    ) -> Result<impl Iterator<Item = std::result::Result<Row, Box<RowFault>>> + '_> {
        Ok(decoded(family, Box::default(), self.engine.read_through(family)?))
    }
}

/// Rows of a family behind a key with what they say.
pub(super) fn decoded(
    family: Family,
    behind: Box<[u8]>,
    rows: impl Iterator<Item = Result<KeyValue>>,
) -> impl Iterator<Item = std::result::Result<Row, Box<RowFault>>> {
    let mut last_key = behind;
    rows.map(move |row| {
        let fault = |key: &[u8], kind, reason| {
            Box::new(RowFault {
                family: family.name(),
                key: hexadecimal(key),
                name: record_name(family.name(), key).unwrap_or_default(),
                bytes: key.into(),
                release: release_of(family, key),
                kind,
                reason,
            })
        };
        let (key, value) = row.map_err(|error| {
            let is_damage = error.is_damage();
            match error {
                StoreError::Engine { reason, .. } if !is_damage => {
                    fault(&last_key, RowFaultKind::Failed, reason)
                }
                error => fault(&last_key, RowFaultKind::Unreadable, error.to_string()),
            }
        })?;
        let decoded = content(family, &key, &value);
        let row = decoded.map_err(|(kind, reason)| fault(&key, kind, reason));
        let row = row.map(|content| Row {
            family: family.name(),
            key: key.to_vec(),
            release: release_of(family, &key),
            content,
        });
        last_key = key;
        row
    })
}

fn key_of<K: Key>(key: &[u8]) -> std::result::Result<K, Undecoded> {
    K::decode(key).ok_or_else(|| (RowFaultKind::Key, "no key of this family".to_owned()))
}

fn model<T>(key: &[u8], value: &[u8]) -> std::result::Result<T, Undecoded>
where
    T: Stored,
    T::Key: Key,
{
    T::from_value(&key_of(key)?, value).map_err(|reason| (RowFaultKind::Record, reason))
}

/// What a row says, given the name of its column family, its key and its value, from wherever they
/// come.
///
/// # Errors
/// When there is no such family, or the key or the value is none of it.
pub fn decode_row(
    family: &str,
    key: &[u8],
    value: &[u8],
) -> std::result::Result<RowContent, (RowFaultKind, String)> {
    let known = Family::ALL.into_iter().find(|known| known.name() == family);
    let known = known.ok_or_else(|| {
        (RowFaultKind::Key, format!("`{family}` is no column family of schema/keys.md"))
    })?;
    content(known, key, value)
}

/// Fails for a row that could not be read again; its value is what [`record`] gives.
///
/// A release has hundreds of thousands of LUs, sentences and sets: of those the key alone is read.
/// Their codes and size were tried as they were encoded, and decoding refuses nothing else of them.
pub(super) fn require_readable(
    family: Family,
    key: &[u8],
    value: &[u8],
) -> std::result::Result<(), Undecoded> {
    match family {
        Family::LexUnit => key_of::<LexUnitKey>(key).map(drop),
        Family::Sentence => key_of::<SentenceKey>(key).map(drop),
        Family::Annotation => key_of::<AnnotationKey>(key).map(drop),
        Family::SentenceLayers => key_of::<SentenceSetKey>(key).map(drop),
        _ => content(family, key, value).map(drop),
    }
}

/// What stands in a row of a family.
pub(super) fn content(
    family: Family,
    key: &[u8],
    value: &[u8],
) -> std::result::Result<RowContent, Undecoded> {
    let record = |reason: String| (RowFaultKind::Record, reason);
    Ok(match family {
        Family::Meta => {
            check_meta(key, value)?;
            RowContent::Meta
        }
        Family::Frame => RowContent::Frame(model(key, value)?),
        Family::Relation => RowContent::Relation(model(key, value)?),
        Family::SemType => RowContent::SemType(model(key, value)?),
        Family::LexUnit => RowContent::LexUnit(Box::new(model(key, value)?)),
        Family::Document => RowContent::Document(model(key, value)?),
        Family::Sentence => RowContent::Sentence(model(key, value)?),
        Family::Annotation => RowContent::Set(Box::new(model(key, value)?)),
        Family::SentenceLayers => RowContent::SentenceLayers(model(key, value)?),
        Family::SetLocation => {
            let set = key_of::<SetKey>(key)?.set;
            RowContent::SetLocation(set, record::decode_location(set, value).map_err(record)?)
        }
        Family::BySentence => {
            let key: SentenceSetKey = key_of(key)?;
            RowContent::BySentence(key.sentence, key.set)
        }
        Family::Name => {
            let NameKey { kind, folded, name, id, .. } = key_of(key)?;
            RowContent::Name { kind, folded, name, id: unpair(id) }
        }
        Family::Recipe => {
            let recipe = key_of::<RecipeKey>(key)?.recipe;
            record::decode::<RecipeRecord>(value).map_err(record)?;
            RowContent::Recipe(recipe)
        }
        Family::Journal => {
            let JournalKey { seed, recipe, .. } = key_of(key)?;
            RowContent::Journal { seed, recipe, entry: model(key, value)? }
        }
        Family::Judgement => {
            RowContent::Judgement(key_of::<JudgementKey>(key)?.set, model(key, value)?)
        }
        Family::Verification => RowContent::Verification(model::<Verification>(key, value)?.set),
        Family::Decision => RowContent::Decisions(model(key, value)?),
        Family::Edition => RowContent::Edition(model(key, value)?),
        Family::Layout => RowContent::Layout(layout(key, value)?),
        Family::Change => {
            let revision = key_of::<ChangeKey>(key)?.revision;
            RowContent::Change(Change::decode(revision, value).map_err(record)?)
        }
        Family::Commit => RowContent::Commit(model(key, value)?),
        Family::Before => RowContent::Before(before(key, value)?),
        Family::Count => RowContent::Count(count(key, value)?),
        Family::Evidence => {
            evidence_cell(key, value)?;
            RowContent::Evidence
        }
    })
}

/// The commit before which a row held what an image says.
fn before(key: &[u8], value: &[u8]) -> std::result::Result<u64, Undecoded> {
    let damaged = |reason: String| (RowFaultKind::Record, reason);
    let revision = key_of::<ChangeKey>(key)?.revision;
    let ImageRecord { family, .. } = record::decode(value).map_err(damaged)?;
    Family::of_record(family).ok_or_else(|| damaged(format!("family {family}")))?;
    Ok(revision)
}

/// Whether a row of `meta` is what its key says.
fn check_meta(key: &[u8], value: &[u8]) -> std::result::Result<(), Undecoded> {
    let record = |reason: String| (RowFaultKind::Record, reason);
    if key == BOOK_KEY {
        record::decode::<MetaRecord>(value).map_err(record)?;
    } else if key == OWN_IDS_KEY {
        record::decode::<OwnIdsRecord>(value).map_err(record)?;
    } else if key == IDENTITY_KEY {
        identity::decode(value).ok_or_else(|| record("no identity".to_owned()))?;
    } else if key == TALLY_KEY {
        Tally::decode(value).ok_or_else(|| record("no counts of rows".to_owned()))?;
    } else if key == HISTORY_KEY {
        record::decode::<Bounds>(value).map_err(record)?;
    } else if key == MERGED_KEY && !merged::is_list(value) {
        return Err(record("no list of shards".to_owned()));
    }
    Ok(())
}

/// The count that stands in a row of `count`.
fn count(key: &[u8], value: &[u8]) -> std::result::Result<u64, Undecoded> {
    let no_key = || (RowFaultKind::Key, "a count of nothing that is counted".to_owned());
    let no_count = || (RowFaultKind::Record, "no count".to_owned());
    let is_sound = key_of::<CountKey>(key)?.is_sound();
    is_sound.then_some(()).ok_or_else(no_key)?;
    count_key::decode(value).ok_or_else(no_count)
}

/// What stands in a row of `evidence`.
fn evidence_cell(key: &[u8], value: &[u8]) -> std::result::Result<evidence_row::Cell, Undecoded> {
    let no_key = || (RowFaultKind::Key, "evidence of nothing".to_owned());
    let cell = evidence_row::decode(&key_of(key)?, value);
    cell.map_err(|reason| (RowFaultKind::Record, reason))?.ok_or_else(no_key)
}

/// Which file's layout stands in a row that decodes as one.
fn layout(key: &[u8], value: &[u8]) -> std::result::Result<LayoutOf, Undecoded> {
    let LayoutKey { kind, first, second, .. } = key_of(key)?;
    Ok(match kind {
        1 => model::<ReleaseLayout>(key, value).map(|_| LayoutOf::Release)?,
        2 => model::<FrameLayout>(key, value).map(|_| LayoutOf::Frame(FrameId(first)))?,
        3 => model::<LexUnitLayout>(key, value)
            .map(|_| LayoutOf::LexUnit(FrameId(first), LuId(second)))?,
        4 => model::<DocumentLayout>(key, value)
            .map(|_| LayoutOf::Document(CorpusId(first), DocumentId(second)))?,
        5 => {
            model::<NumbersRecord>(key, value)?;
            let no_kind = || (RowFaultKind::Key, format!("numbers of kind {first}"));
            LayoutOf::Numbers(NumberKind::from_code(first).ok_or_else(no_kind)?)
        }
        6..=9 => {
            model::<Foreign>(key, value)?;
            let no_file = || (RowFaultKind::Key, format!("file {first} at the top of a release"));
            let file = key_of::<LayoutKey>(key)?.foreign_file().ok_or_else(no_file)?;
            LayoutOf::Foreign(file)
        }
        _ => return Err((RowFaultKind::Key, format!("layout of kind {kind}"))),
    })
}

#[cfg(test)]
mod tests {
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
        let is_key =
            |key: &Vec<u8>| !matches!(content(family, key, &[]), Err((RowFaultKind::Key, _)));
        (0..40).map(|length| vec![0; length]).find(is_key).unwrap_or_default()
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
            RowContent::Recipe(_) => {
                record::encode(&record::decode::<RecipeRecord>(value).map_err(record)?)
            }
            RowContent::Commit(_) => keyed::<Commit>(key, value)?,
            RowContent::Before(_) => {
                record::encode(&record::decode::<ImageRecord>(value).map_err(record)?)
            }
            RowContent::Change(_) => {
                record::encode(&record::decode::<ChangeRecord>(value).map_err(record)?)
            }
            RowContent::Meta if key == BOOK_KEY => {
                record::encode(&record::decode::<MetaRecord>(value).map_err(record)?)
            }
            RowContent::Meta if key == HISTORY_KEY => {
                record::encode(&record::decode::<Bounds>(value).map_err(record)?)
            }
            RowContent::Meta if key == OWN_IDS_KEY => {
                record::encode(&record::decode::<OwnIdsRecord>(value).map_err(record)?)
            }
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
            let is_of_text = [Family::Meta, Family::Decision, Family::Edition, Family::Judgement];
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
}
