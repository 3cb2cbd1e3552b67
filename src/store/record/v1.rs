//! Version 1 of the records of frames, LUs, sentences and the store's own books.

use bincode::{Decode, Encode};

use crate::model::{
    AnnotationSetId, Colors, CoreType, CorpusId, Creation, Document, DocumentId, FeId,
    FeRealization, FeRelation, Frame, FrameElement, FrameId, FrameRelation, Governor, LexUnit,
    Lexeme, Listing, LuId, Occurrence, Pos, Release, ReleaseCounts, ReleaseId, SemType, SemTypeId,
    Sentence, SentenceCount, SentenceId, ValencePattern, ValenceUnit, Valences,
};

use super::super::key::{DocumentKey, FrameKey, LexUnitKey, RelationKey, SemTypeKey, SentenceKey};

pub(super) type Result<T> = std::result::Result<T, String>;

/// An annotation-set id: the number shifted left by two, the space in the low bits, which keeps
/// small numbers small in a variable-length integer.
pub(in super::super) fn set_code(id: AnnotationSetId) -> u64 {
    id.number() << 2 | id.space() as u64
}

pub(in super::super) fn set_from(code: u64) -> Result<AnnotationSetId> {
    AnnotationSetId::from_bits((code & 3) << 56 | code >> 2)
        .filter(|_| code >> 58 == 0)
        .ok_or_else(|| format!("{code} is no annotation-set id"))
}

/// A sentence id, coded like an annotation set's.
pub(in super::super) fn sentence_code(id: SentenceId) -> u64 {
    id.number() << 2 | id.space() as u64
}

pub(in super::super) fn sentence_from(code: u64) -> Result<SentenceId> {
    SentenceId::from_bits((code & 3) << 56 | code >> 2)
        .filter(|_| code >> 58 == 0)
        .ok_or_else(|| format!("{code} is no sentence id"))
}

/// Author and date.
type CreationRecord = (String, String);

fn creation(record: CreationRecord) -> Creation {
    Creation { by: record.0, date: record.1 }
}

#[derive(Encode, Decode)]
pub(super) struct FrameRecord {
    name: String,
    definition: String,
    elements: Vec<FrameElementRecord>,
    core_sets: Vec<Vec<u32>>,
    sem_types: Vec<u32>,
    created: CreationRecord,
    modified: String,
    has_file: bool,
}

#[derive(Encode, Decode)]
struct FrameElementRecord {
    id: u32,
    name: String,
    abbreviation: String,
    core_type: u8,
    definition: String,
    sem_types: Vec<u32>,
    requires: Vec<u32>,
    excludes: Vec<u32>,
    colors: (String, String),
    created: CreationRecord,
}

const CORE_TYPES: [CoreType; 4] =
    [CoreType::Core, CoreType::CoreUnexpressed, CoreType::Peripheral, CoreType::ExtraThematic];

impl From<&Frame> for FrameRecord {
    fn from(frame: &Frame) -> Self {
        let ids = |ids: &[FeId]| ids.iter().map(|id| id.0).collect::<Vec<u32>>();
        let element = |fe: &FrameElement| FrameElementRecord {
            id: fe.id.0,
            name: fe.name.clone(),
            abbreviation: fe.abbreviation.clone(),
            core_type: fe.core_type as u8,
            definition: fe.definition.clone(),
            sem_types: fe.sem_types.iter().map(|id| id.0).collect(),
            requires: ids(&fe.requires),
            excludes: ids(&fe.excludes),
            colors: (fe.colors.fg.clone(), fe.colors.bg.clone()),
            created: (fe.created.by.clone(), fe.created.date.clone()),
        };
        Self {
            name: frame.name.clone(),
            definition: frame.definition.clone(),
            elements: frame.elements.iter().map(element).collect(),
            core_sets: frame.core_sets.iter().map(|set| ids(set)).collect(),
            sem_types: frame.sem_types.iter().map(|id| id.0).collect(),
            created: (frame.created.by.clone(), frame.created.date.clone()),
            modified: frame.modified.clone(),
            has_file: frame.has_file,
        }
    }
}

impl FrameRecord {
    pub(super) fn into_model(self, key: &FrameKey) -> Result<Frame> {
        let ids = |ids: Vec<u32>| ids.into_iter().map(FeId).collect::<Vec<FeId>>();
        let element = |fe: FrameElementRecord| -> Result<FrameElement> {
            let core_type = CORE_TYPES.get(usize::from(fe.core_type)).copied();
            Ok(FrameElement {
                id: FeId(fe.id),
                name: fe.name,
                abbreviation: fe.abbreviation,
                core_type: core_type.ok_or_else(|| format!("core type {}", fe.core_type))?,
                definition: fe.definition,
                sem_types: fe.sem_types.into_iter().map(SemTypeId).collect(),
                requires: ids(fe.requires),
                excludes: ids(fe.excludes),
                colors: Colors { fg: fe.colors.0, bg: fe.colors.1 },
                created: creation(fe.created),
            })
        };
        Ok(Frame {
            id: key.frame,
            name: self.name,
            definition: self.definition,
            elements: self.elements.into_iter().map(element).collect::<Result<_>>()?,
            core_sets: self.core_sets.into_iter().map(ids).collect(),
            sem_types: self.sem_types.into_iter().map(SemTypeId).collect(),
            created: creation(self.created),
            modified: self.modified,
            has_file: self.has_file,
        })
    }
}

/// Number; the parent FE's number and name; the child FE's.
type FeRelationRecord = (u32, (u32, String), (u32, String));

#[derive(Encode, Decode)]
pub(super) struct RelationRecord {
    kind: String,
    roles: (String, String),
    parent: (u32, String),
    child: (u32, String),
    elements: Vec<FeRelationRecord>,
}

impl From<&FrameRelation> for RelationRecord {
    fn from(relation: &FrameRelation) -> Self {
        let elements = relation.elements.iter().map(|fe| {
            (fe.id, (fe.parent.0, fe.parent_name.clone()), (fe.child.0, fe.child_name.clone()))
        });
        Self {
            kind: relation.kind.clone(),
            roles: (relation.super_role.clone(), relation.sub_role.clone()),
            parent: (relation.parent.0, relation.parent_name.clone()),
            child: (relation.child.0, relation.child_name.clone()),
            elements: elements.collect(),
        }
    }
}

impl RelationRecord {
    pub(super) fn into_model(self, key: &RelationKey) -> Result<FrameRelation> {
        let elements = self.elements.into_iter().map(|(id, parent, child)| FeRelation {
            id,
            parent: FeId(parent.0),
            parent_name: parent.1,
            child: FeId(child.0),
            child_name: child.1,
        });
        Ok(FrameRelation {
            id: key.relation,
            kind: self.kind,
            super_role: self.roles.0,
            sub_role: self.roles.1,
            parent: FrameId(self.parent.0),
            parent_name: self.parent.1,
            child: FrameId(self.child.0),
            child_name: self.child.1,
            elements: elements.collect(),
        })
    }
}

#[derive(Encode, Decode)]
pub(super) struct SemTypeRecord {
    name: String,
    abbreviation: String,
    definition: String,
    parents: Vec<u32>,
}

impl From<&SemType> for SemTypeRecord {
    fn from(sem_type: &SemType) -> Self {
        Self {
            name: sem_type.name.clone(),
            abbreviation: sem_type.abbreviation.clone(),
            definition: sem_type.definition.clone(),
            parents: sem_type.parents.iter().map(|id| id.0).collect(),
        }
    }
}

impl SemTypeRecord {
    pub(super) fn into_model(self, key: &SemTypeKey) -> Result<SemType> {
        Ok(SemType {
            id: key.sem_type,
            name: self.name,
            abbreviation: self.abbreviation,
            definition: self.definition,
            parents: self.parents.into_iter().map(SemTypeId).collect(),
        })
    }
}

#[derive(Encode, Decode)]
pub(super) struct LexUnitRecord {
    name: String,
    pos: String,
    status: String,
    definition: String,
    lexemes: Vec<LexemeRecord>,
    incorporated_fe: Option<String>,
    sem_types: Vec<u32>,
    lemma_id: Option<u32>,
    created: CreationRecord,
    sentence_count: (u32, u32),
    total_annotated: u32,
    subcorpora: Vec<String>,
    governors: Vec<(String, String, Vec<u64>)>,
    realizations: Vec<RealizationRecord>,
    groups: Vec<RealizationRecord>,
    frame_file: bool,
    lu_file: bool,
}

#[derive(Encode, Decode)]
struct LexemeRecord {
    name: String,
    pos: String,
    order: Option<u32>,
    headword: Option<bool>,
    break_before: Option<bool>,
}

#[derive(Encode, Decode)]
struct RealizationRecord {
    elements: Vec<String>,
    total: u32,
    patterns: Vec<PatternRecord>,
}

#[derive(Encode, Decode)]
struct PatternRecord {
    total: u32,
    /// FE, phrase type, grammatical function.
    units: Vec<(String, String, String)>,
    sets: Vec<u64>,
}

impl From<&FeRealization> for RealizationRecord {
    fn from(item: &FeRealization) -> Self {
        let unit = |unit: &ValenceUnit| (unit.fe.clone(), unit.pt.clone(), unit.gf.clone());
        let pattern = |pattern: &ValencePattern| PatternRecord {
            total: pattern.total,
            units: pattern.units.iter().map(unit).collect(),
            sets: pattern.sets.iter().copied().map(set_code).collect(),
        };
        Self {
            elements: item.elements.clone(),
            total: item.total,
            patterns: item.patterns.iter().map(pattern).collect(),
        }
    }
}

impl RealizationRecord {
    fn into_model(self) -> Result<FeRealization> {
        let pattern = |pattern: PatternRecord| -> Result<ValencePattern> {
            let units = pattern.units.into_iter().map(|(fe, pt, gf)| ValenceUnit { fe, pt, gf });
            Ok(ValencePattern {
                total: pattern.total,
                units: units.collect(),
                sets: pattern.sets.into_iter().map(set_from).collect::<Result<_>>()?,
            })
        };
        Ok(FeRealization {
            elements: self.elements,
            total: self.total,
            patterns: self.patterns.into_iter().map(pattern).collect::<Result<_>>()?,
        })
    }
}

impl From<&LexUnit> for LexUnitRecord {
    fn from(lu: &LexUnit) -> Self {
        let lexeme = |lexeme: &Lexeme| LexemeRecord {
            name: lexeme.name.clone(),
            pos: lexeme.pos.as_str().to_owned(),
            order: lexeme.order,
            headword: lexeme.headword,
            break_before: lexeme.break_before,
        };
        let governor = |item: &Governor| {
            let sets = item.sets.iter().copied().map(set_code).collect();
            (item.kind.clone(), item.lemma.clone(), sets)
        };
        Self {
            name: lu.name.clone(),
            pos: lu.pos.as_str().to_owned(),
            status: lu.status.clone(),
            definition: lu.definition.clone(),
            lexemes: lu.lexemes.iter().map(lexeme).collect(),
            incorporated_fe: lu.incorporated_fe.clone(),
            sem_types: lu.sem_types.iter().map(|id| id.0).collect(),
            lemma_id: lu.lemma_id,
            created: (lu.created.by.clone(), lu.created.date.clone()),
            sentence_count: (lu.sentence_count.annotated, lu.sentence_count.total),
            total_annotated: lu.total_annotated,
            subcorpora: lu.subcorpora.clone(),
            governors: lu.valences.governors.iter().map(governor).collect(),
            realizations: lu.valences.realizations.iter().map(Into::into).collect(),
            groups: lu.valences.groups.iter().map(Into::into).collect(),
            frame_file: lu.listing.frame_file,
            lu_file: lu.listing.lu_file,
        }
    }
}

impl LexUnitRecord {
    pub(super) fn into_model(self, key: &LexUnitKey) -> Result<LexUnit> {
        let lexemes = self.lexemes.into_iter().map(|lexeme| Lexeme {
            name: lexeme.name,
            pos: Pos::parse(&lexeme.pos),
            order: lexeme.order,
            headword: lexeme.headword,
            break_before: lexeme.break_before,
        });
        let governor = |(kind, lemma, sets): (String, String, Vec<u64>)| -> Result<Governor> {
            let sets = sets.into_iter().map(set_from).collect::<Result<_>>()?;
            Ok(Governor { kind, lemma, sets })
        };
        let realizations =
            |items: Vec<RealizationRecord>| items.into_iter().map(RealizationRecord::into_model);
        Ok(LexUnit {
            id: key.lu,
            frame: key.frame,
            name: self.name,
            pos: Pos::parse(&self.pos),
            status: self.status,
            definition: self.definition,
            lexemes: lexemes.collect(),
            incorporated_fe: self.incorporated_fe,
            sem_types: self.sem_types.into_iter().map(SemTypeId).collect(),
            lemma_id: self.lemma_id,
            created: creation(self.created),
            sentence_count: SentenceCount {
                annotated: self.sentence_count.0,
                total: self.sentence_count.1,
            },
            total_annotated: self.total_annotated,
            subcorpora: self.subcorpora,
            valences: Valences {
                governors: self.governors.into_iter().map(governor).collect::<Result<_>>()?,
                realizations: realizations(self.realizations).collect::<Result<_>>()?,
                groups: realizations(self.groups).collect::<Result<_>>()?,
            },
            listing: Listing { frame_file: self.frame_file, lu_file: self.lu_file },
        })
    }
}

#[derive(Encode, Decode)]
pub(super) struct DocumentRecord {
    corpus_name: String,
    name: String,
    file: String,
    sentences: Vec<u64>,
}

impl From<&Document> for DocumentRecord {
    fn from(document: &Document) -> Self {
        Self {
            corpus_name: document.corpus_name.clone(),
            name: document.name.clone(),
            file: document.file.clone(),
            sentences: document.sentences.iter().copied().map(sentence_code).collect(),
        }
    }
}

impl DocumentRecord {
    pub(super) fn into_model(self, key: &DocumentKey) -> Result<Document> {
        Ok(Document {
            id: key.document,
            corpus: key.corpus,
            corpus_name: self.corpus_name,
            name: self.name,
            file: self.file,
            sentences: self.sentences.into_iter().map(sentence_from).collect::<Result<_>>()?,
        })
    }
}

#[derive(Encode, Decode)]
pub(super) struct SentenceRecord {
    xml_id: Option<u64>,
    text: String,
    occurrences: Vec<OccurrenceRecord>,
}

#[derive(Encode, Decode)]
struct OccurrenceRecord {
    lu: Option<u32>,
    subcorpus: Option<String>,
    corpus: Option<u32>,
    document: Option<u32>,
    paragraph: Option<u32>,
    number: Option<u32>,
    position: Option<u64>,
}

impl From<&Sentence> for SentenceRecord {
    fn from(sentence: &Sentence) -> Self {
        let occurrence = |place: &Occurrence| OccurrenceRecord {
            lu: place.lu.map(|id| id.0),
            subcorpus: place.subcorpus.clone(),
            corpus: place.corpus.map(|id| id.0),
            document: place.document.map(|id| id.0),
            paragraph: place.paragraph,
            number: place.number,
            position: place.position,
        };
        Self {
            xml_id: sentence.xml_id,
            text: sentence.text.clone(),
            occurrences: sentence.occurrences.iter().map(occurrence).collect(),
        }
    }
}

impl SentenceRecord {
    pub(super) fn into_model(self, key: &SentenceKey) -> Result<Sentence> {
        let occurrences = self.occurrences.into_iter().map(|place| Occurrence {
            lu: place.lu.map(LuId),
            subcorpus: place.subcorpus,
            corpus: place.corpus.map(CorpusId),
            document: place.document.map(DocumentId),
            paragraph: place.paragraph,
            number: place.number,
            position: place.position,
        });
        Ok(Sentence {
            id: key.sentence,
            xml_id: self.xml_id,
            text: self.text,
            occurrences: occurrences.collect(),
        })
    }
}

/// `meta`: the store as a whole.
#[derive(Debug, Clone, Encode, Decode)]
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
    pub(in super::super) releases: Vec<ReleaseRecord>,
}

#[derive(Debug, Clone, Encode, Decode)]
pub(in super::super) struct ReleaseRecord {
    id: u16,
    name: String,
    language: String,
    source: String,
    source_bytes: u64,
    imported: u64,
    /// In the order of the fields of `ReleaseCounts`.
    counts: [u64; 13],
}

impl From<&Release> for ReleaseRecord {
    fn from(release: &Release) -> Self {
        Self {
            id: release.id.0,
            name: release.name.clone(),
            language: release.language.clone(),
            source: release.source.clone(),
            source_bytes: release.source_bytes,
            imported: release.imported,
            counts: release.counts.named().map(|(_, count)| count),
        }
    }
}

impl ReleaseRecord {
    /// Counts what a commit brings and what it takes away.
    pub(in super::super) fn recount(&mut self, gained: ReleaseCounts, lost: ReleaseCounts) {
        let sums = self.counts.iter_mut().zip(gained.named()).zip(lost.named());
        for ((count, (_, gained)), (_, lost)) in sums {
            *count = (*count + gained).saturating_sub(lost);
        }
    }

    /// Whether it is the record of that release.
    pub(in super::super) fn is_of(&self, release: ReleaseId) -> bool {
        self.id == release.0
    }
}

impl From<ReleaseRecord> for Release {
    fn from(record: ReleaseRecord) -> Self {
        let mut counts = ReleaseCounts::default();
        for ((_, slot), count) in counts.slots().into_iter().zip(record.counts) {
            *slot = count;
        }
        Self {
            id: ReleaseId(record.id),
            name: record.name,
            language: record.language,
            source: record.source,
            source_bytes: record.source_bytes,
            imported: record.imported,
            counts,
        }
    }
}

/// `set_location`.
#[derive(Encode, Decode)]
pub(in super::super) struct SetLocationRecord {
    pub(in super::super) frame: u32,
    pub(in super::super) lu: u32,
    pub(in super::super) sentence: u64,
}

/// `recipe`.
#[derive(Debug, Clone, Encode, Decode)]
pub(in super::super) struct RecipeRecord {
    /// BLAKE3 of the description, first 16 bytes.
    pub(in super::super) fingerprint: [u8; 16],
    /// The whole recipe as JSON.
    pub(in super::super) description: String,
}

/// `journal`.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
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
