//! Version 1 of the records of frames, LUs, sentences and the store's own books.

use bincode::{Decode, Encode};

use crate::model::{
    AnnotationSetId, Colors, CoreType, CorpusId, Creation, Document, DocumentId, FeId,
    FeRealization, FeRelation, Frame, FrameElement, FrameId, FrameRelation, Governor, IdSpace,
    LexUnit, Lexeme, Listing, LuId, Occurrence, Pos, RecipeId, RelationId, Release, ReleaseCounts,
    ReleaseId, SemType, SemTypeId, Sentence, SentenceCount, SentenceId, ValencePattern,
    ValenceUnit, Valences,
};

/// An annotation-set id: the number shifted left by two, the space in the low bits, which keeps
/// small numbers small in a variable-length integer.
pub(in super::super) fn set_code(id: AnnotationSetId) -> u64 {
    id.number() << 2 | id.space() as u64
}

pub(in super::super) fn set_from(code: u64) -> Result<AnnotationSetId, String> {
    AnnotationSetId::from_bits((code & 3) << 56 | code >> 2)
        .filter(|_| code >> 58 == 0)
        .ok_or_else(|| format!("{code} is no annotation-set id"))
}

/// A sentence id, coded like an annotation set's.
pub(in super::super) fn sentence_code(id: SentenceId) -> u64 {
    id.number() << 2 | id.space() as u64
}

pub(in super::super) fn sentence_from(code: u64) -> Result<SentenceId, String> {
    SentenceId::from_bits((code & 3) << 56 | code >> 2)
        .filter(|_| code >> 58 == 0)
        .ok_or_else(|| format!("{code} is no sentence id"))
}

/// The case with that number.
pub(super) fn one_of<T: Copy>(all: &[T], code: u8, what: &str) -> Result<T, String> {
    all.get(usize::from(code)).copied().ok_or_else(|| format!("{what} {code}"))
}

const CORE_TYPES: [CoreType; 4] =
    [CoreType::Core, CoreType::CoreUnexpressed, CoreType::Peripheral, CoreType::ExtraThematic];

coded! {
    ReleaseId as u16: |id| id.0, |number| Ok(Self(number));
    FrameId as u32: |id| id.0, |number| Ok(Self(number));
    FeId as u32: |id| id.0, |number| Ok(Self(number));
    LuId as u32: |id| id.0, |number| Ok(Self(number));
    SemTypeId as u32: |id| id.0, |number| Ok(Self(number));
    RelationId as u32: |id| id.0, |number| Ok(Self(number));
    CorpusId as u32: |id| id.0, |number| Ok(Self(number));
    DocumentId as u32: |id| id.0, |number| Ok(Self(number));
    RecipeId as u32: |id| id.0, |number| Ok(Self(number));
    AnnotationSetId as u64: |id| set_code(*id), set_from;
    SentenceId as u64: |id| sentence_code(*id), sentence_from;
    Pos as String: |pos| pos.as_str().to_owned(), |text| Ok(Self::parse(&text));
    CoreType as u8: |core_type| *core_type as u8, |code| one_of(&CORE_TYPES, code, "core type");
    ReleaseCounts as [u64; 13]: |counts| counts.named().map(|(_, count)| count), |counts| Ok(of(counts));
}

/// Counts in the order of the fields of `ReleaseCounts`.
fn of(counts: [u64; 13]) -> ReleaseCounts {
    let mut named = ReleaseCounts::default();
    for ((_, slot), count) in named.slots().into_iter().zip(counts) {
        *slot = count;
    }
    named
}

fields! {
    Frame {
        name, definition, elements, core_sets, sem_types, created, modified, has_file;
        absent id: FrameId(0)
    }
    FrameElement {
        id, name, abbreviation, core_type, definition, sem_types, requires, excludes, colors, created
    }
    Creation { by, date }
    Colors { fg, bg }
    FrameRelation {
        kind, super_role, sub_role, parent, parent_name, child, child_name, elements;
        absent id: RelationId(0)
    }
    FeRelation { id, parent, parent_name, child, child_name }
    SemType { name, abbreviation, definition, parents; absent id: SemTypeId(0) }
    LexUnit {
        name, pos, status, definition, lexemes, incorporated_fe, sem_types, lemma_id, created,
        sentence_count, total_annotated, subcorpora, valences, listing;
        absent id: LuId(0), frame: FrameId(0)
    }
    Lexeme { name, pos, order, headword, break_before }
    SentenceCount { annotated, total }
    Valences { governors, realizations, groups }
    Governor { kind, lemma, sets }
    FeRealization { elements, total, patterns }
    ValencePattern { total, units, sets }
    ValenceUnit { fe, pt, gf }
    Listing { frame_file, lu_file }
    Document {
        corpus_name, name, file, sentences;
        absent id: DocumentId(0), corpus: CorpusId(0), corpus_description: None, description: None,
        in_headers: None
    }
    Sentence {
        xml_id, text, occurrences;
        absent id: SentenceId::new(IdSpace::Exemplar, 0)
    }
    Occurrence { lu, subcorpus, corpus, document, paragraph, number, position }
    Release { id, name, language, source, source_bytes, imported, counts }
    MetaRecord { created_by, written_by, revision, next_release, releases }
    SetLocationRecord { frame, lu, sentence }
    RecipeRecord { fingerprint, description }
    JournalRecord { round, end, chain }
}

/// `meta`: the store as a whole.
#[derive(Debug, Clone)]
pub(in super::super) struct MetaRecord {
    /// fnstore version that made the store.
    pub(in super::super) created_by: String,
    /// fnstore version that wrote it last.
    pub(in super::super) written_by: String,
    /// Number of the last commit.
    pub(in super::super) revision: u64,
    /// Number for the next release; never reused.
    pub(in super::super) next_release: u16,
    /// The visible releases.
    pub(in super::super) releases: Vec<Release>,
}

/// `set_location`.
pub(in super::super) struct SetLocationRecord {
    pub(in super::super) frame: u32,
    pub(in super::super) lu: u32,
    pub(in super::super) sentence: u64,
}

/// `recipe`.
#[derive(Debug, Clone)]
pub(in super::super) struct RecipeRecord {
    /// BLAKE3 of the description, first 16 bytes.
    pub(in super::super) fingerprint: [u8; 16],
    /// The whole recipe as JSON.
    pub(in super::super) description: String,
}

/// `journal`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) struct JournalRecord {
    /// Last finished round.
    pub(in super::super) round: u16,
    /// Why the chain ended, when it did.
    pub(in super::super) end: Option<String>,
    /// The sets of the chain, as in keys.
    pub(in super::super) chain: Vec<u64>,
}

/// `change`.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub(in super::super) enum ChangeRecord {
    /// A release became visible.
    ReleaseAdded(u16),
    /// A set was written: release, frame, LU, sentence, set.
    SetWritten(u16, u32, u32, u64, u64),
    /// An LU was written: release, frame, LU.
    LexUnitWritten(u16, u32, u32),
}
