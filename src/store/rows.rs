//! Every row of every family, decoded one after the other: for whoever checks or rewrites a store.
//!
//! A row that cannot be read or decoded is an item of its own, a [`RowFault`], and the pass goes
//! on. Blocks are read from the files with their checksums verified and leave no trace in the
//! cache.

use crate::model::{
    AnnotationSet, AnnotationSetId, CorpusId, Decided, Discovery, Document, DocumentId,
    DocumentLayout, Edition, Foreign, ForeignFile, Frame, FrameId, FrameLayout, FrameRelation,
    IrregularForm, Judgement, LexUnit, LexUnitLayout, Links, LuId, Mapping, NumberKind, Predicate,
    RecipeId, ReleaseId, ReleaseLayout, Resource, SemType, Sentence, SentenceId, SentenceLayers,
    Synset, Verification, Word, hexadecimal,
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
    /// A lexicon beside the releases.
    Resource(Box<Resource>),
    Synset(Box<Synset>),
    /// A word of a WordNet.
    Word(Word),
    Irregular(IrregularForm),
    Predicate(Box<Predicate>),
    Mapping(Box<Mapping>),
    /// Links of an LU or FE to other lexicons.
    Links(Box<Links>),
    /// What a search found of a word.
    Discovery(Box<Discovery>),
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
        Family::Recipe => RowContent::Recipe(recipe(key, value)?),
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
        Family::Evidence => evidence_cell(key, value).map(|_| RowContent::Evidence)?,
        family => beside_releases(family, key, value)?,
    })
}

/// What a row of another lexicon holds, or one that leads to it or was found through it.
fn beside_releases(
    family: Family,
    key: &[u8],
    value: &[u8],
) -> std::result::Result<RowContent, Undecoded> {
    Ok(match family {
        Family::Resource => RowContent::Resource(Box::new(model(key, value)?)),
        Family::Synset => RowContent::Synset(Box::new(model(key, value)?)),
        Family::Sense => RowContent::Word(model(key, value)?),
        Family::Irregular => RowContent::Irregular(model(key, value)?),
        Family::Predicate => RowContent::Predicate(Box::new(model(key, value)?)),
        Family::Mapping => RowContent::Mapping(Box::new(model(key, value)?)),
        Family::Link => RowContent::Links(Box::new(model(key, value)?)),
        Family::Discovery => RowContent::Discovery(Box::new(model(key, value)?)),
        _ => return Err((RowFaultKind::Key, "a row of no family".to_owned())),
    })
}

/// The number of a recipe that can be read.
fn recipe(key: &[u8], value: &[u8]) -> std::result::Result<RecipeId, Undecoded> {
    let recipe = key_of::<RecipeKey>(key)?.recipe;
    let read = record::decode::<RecipeRecord>(value);
    read.map(|_| recipe).map_err(|reason| (RowFaultKind::Record, reason))
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
mod tests;
