//! Version 1 of the records of layouts: how the files of a release list what they hold.

use bincode::{Decode, Encode};

use crate::model::{
    AnnotationSetId, Colors, CorpusId, DocumentId, DocumentLayout, FrameId, FrameIndexEntry,
    FrameLayout, IndexCorpus, LexUnitHead, LexUnitLayout, Lexeme, ListedElement, ListedRelation,
    ListedSentence, ListedSubcorpus, LuId, LuIndex, LuIndexEntry, OddLabel, OddOffsets, Pos,
    RelationId, RelationKind, RelationList, ReleaseLayout, SemTypeId, SemTypeList,
};

use super::super::key::LayoutKey;
use super::v1::{Result, sentence_code, sentence_from, set_code, set_from};

#[derive(Encode, Decode)]
pub(super) struct ReleaseLayoutRecord {
    /// Number, name, date of the last change.
    frame_index: Vec<(u32, String, String)>,
    lu_index: Option<LuIndexRecord>,
    fulltext_index: Option<Vec<IndexCorpusRecord>>,
    /// Date, numbers.
    sem_type_list: Option<(String, Vec<u32>)>,
    relation_list: Option<RelationListRecord>,
}

/// Number and name of a corpus, numbers and descriptions of its documents.
type IndexCorpusRecord = (u32, String, Vec<(u32, String)>);

#[derive(Encode, Decode)]
struct LuIndexRecord {
    legend: Vec<(String, String)>,
    entries: Vec<LuIndexEntryRecord>,
}

#[derive(Encode, Decode)]
struct LuIndexEntryRecord {
    id: u32,
    name: String,
    frame: u32,
    frame_name: String,
    status: String,
    annotated: bool,
}

#[derive(Encode, Decode)]
struct RelationListRecord {
    created: String,
    kinds: Vec<RelationKindRecord>,
}

#[derive(Encode, Decode)]
struct RelationKindRecord {
    id: Option<u32>,
    name: String,
    roles: (String, String),
    relations: Vec<u32>,
}

impl From<&ReleaseLayout> for ReleaseLayoutRecord {
    fn from(layout: &ReleaseLayout) -> Self {
        let corpus = |corpus: &IndexCorpus| {
            let documents = corpus.documents.iter().map(|(id, name)| (id.0, name.clone()));
            (corpus.id.0, corpus.name.clone(), documents.collect())
        };
        let frame =
            |entry: &FrameIndexEntry| (entry.id.0, entry.name.clone(), entry.modified.clone());
        Self {
            frame_index: layout.frame_index.iter().map(frame).collect(),
            lu_index: layout.lu_index.as_ref().map(Into::into),
            fulltext_index: layout
                .fulltext_index
                .as_ref()
                .map(|corpora| corpora.iter().map(corpus).collect()),
            sem_type_list: layout
                .sem_types
                .as_ref()
                .map(|list| (list.created.clone(), list.sem_types.iter().map(|id| id.0).collect())),
            relation_list: layout.relations.as_ref().map(Into::into),
        }
    }
}

impl ReleaseLayoutRecord {
    pub(super) fn into_model(self, _key: &LayoutKey) -> Result<ReleaseLayout> {
        let corpus = |(id, name, documents): IndexCorpusRecord| IndexCorpus {
            id: CorpusId(id),
            name,
            documents: documents.into_iter().map(|(id, name)| (DocumentId(id), name)).collect(),
        };
        let frame = |(id, name, modified)| FrameIndexEntry { id: FrameId(id), name, modified };
        Ok(ReleaseLayout {
            frame_index: self.frame_index.into_iter().map(frame).collect(),
            lu_index: self.lu_index.map(Into::into),
            fulltext_index: self
                .fulltext_index
                .map(|corpora| corpora.into_iter().map(corpus).collect()),
            sem_types: self.sem_type_list.map(|(created, ids)| SemTypeList {
                created,
                sem_types: ids.into_iter().map(SemTypeId).collect(),
            }),
            relations: self.relation_list.map(Into::into),
        })
    }
}

impl From<&LuIndex> for LuIndexRecord {
    fn from(index: &LuIndex) -> Self {
        let entry = |entry: &LuIndexEntry| LuIndexEntryRecord {
            id: entry.id.0,
            name: entry.name.clone(),
            frame: entry.frame.0,
            frame_name: entry.frame_name.clone(),
            status: entry.status.clone(),
            annotated: entry.annotated,
        };
        Self { legend: index.legend.clone(), entries: index.entries.iter().map(entry).collect() }
    }
}

impl From<LuIndexRecord> for LuIndex {
    fn from(record: LuIndexRecord) -> Self {
        let entry = |entry: LuIndexEntryRecord| LuIndexEntry {
            id: LuId(entry.id),
            name: entry.name,
            frame: FrameId(entry.frame),
            frame_name: entry.frame_name,
            status: entry.status,
            annotated: entry.annotated,
        };
        Self { legend: record.legend, entries: record.entries.into_iter().map(entry).collect() }
    }
}

impl From<&RelationList> for RelationListRecord {
    fn from(list: &RelationList) -> Self {
        let kind = |kind: &RelationKind| RelationKindRecord {
            id: kind.id,
            name: kind.name.clone(),
            roles: (kind.super_role.clone(), kind.sub_role.clone()),
            relations: kind.relations.iter().map(|id| id.0).collect(),
        };
        Self { created: list.created.clone(), kinds: list.kinds.iter().map(kind).collect() }
    }
}

impl From<RelationListRecord> for RelationList {
    fn from(record: RelationListRecord) -> Self {
        let kind = |kind: RelationKindRecord| RelationKind {
            id: kind.id,
            name: kind.name,
            super_role: kind.roles.0,
            sub_role: kind.roles.1,
            relations: kind.relations.into_iter().map(RelationId).collect(),
        };
        Self { created: record.created, kinds: record.kinds.into_iter().map(kind).collect() }
    }
}

/// Kind, number, frames.
type ListedRelationRecord = (String, Option<u32>, Vec<(Option<u32>, String)>);

#[derive(Encode, Decode)]
pub(super) struct FrameLayoutRecord {
    listed_relations: Vec<ListedRelationRecord>,
    lexunits: Vec<u32>,
}

impl From<&FrameLayout> for FrameLayoutRecord {
    fn from(layout: &FrameLayout) -> Self {
        let relation = |listed: &ListedRelation| {
            let frames = listed.frames.iter().map(|(id, name)| (id.map(|id| id.0), name.clone()));
            (listed.kind.clone(), listed.id, frames.collect())
        };
        Self {
            listed_relations: layout.relations.iter().map(relation).collect(),
            lexunits: layout.lexunits.iter().map(|id| id.0).collect(),
        }
    }
}

impl FrameLayoutRecord {
    pub(super) fn into_model(self, _key: &LayoutKey) -> Result<FrameLayout> {
        let frame = |(id, name): (Option<u32>, String)| (id.map(FrameId), name);
        let relations = self.listed_relations.into_iter().map(|(kind, id, frames)| {
            ListedRelation { kind, id, frames: frames.into_iter().map(frame).collect() }
        });
        Ok(FrameLayout {
            relations: relations.collect(),
            lexunits: self.lexunits.into_iter().map(LuId).collect(),
        })
    }
}

/// Name, part of speech, order, headword, break before.
type ListedLexemeRecord = (String, String, Option<u32>, Option<bool>, Option<bool>);
/// Name, core type, abbreviation, foreground, background.
type ListedElementRecord = (String, String, String, String, String);

#[derive(Encode, Decode)]
pub(super) struct LexUnitLayoutRecord {
    head: Option<HeadRecord>,
    lexemes: Vec<ListedLexemeRecord>,
    elements: Option<Vec<ListedElementRecord>>,
    corpora: Vec<(u32, Vec<u32>)>,
    subcorpora: Vec<(String, Vec<ListedSentenceRecord>)>,
    odd_labels: Vec<OddLabelRecord>,
}

#[derive(Encode, Decode)]
struct HeadRecord {
    name: String,
    pos: String,
    status: String,
    incorporated_fe: Option<String>,
    definition: String,
    sem_types: Vec<u32>,
}

/// Sentence, occurrence, sets.
type ListedSentenceRecord = (u64, u32, Vec<u64>);
/// Set, layer, label, first and last character, null instantiation.
type OddLabelRecord = (u64, u32, u32, Option<u32>, Option<u32>, Option<String>);

fn listed_code(listed: &ListedSentence) -> ListedSentenceRecord {
    let sets = listed.sets.iter().copied().map(set_code).collect();
    (sentence_code(listed.id), listed.occurrence, sets)
}

fn listed_from((id, occurrence, sets): ListedSentenceRecord) -> Result<ListedSentence> {
    let sets = sets.into_iter().map(set_from).collect::<Result<Vec<AnnotationSetId>>>()?;
    Ok(ListedSentence { id: sentence_from(id)?, occurrence, sets })
}

fn odd_code(OddLabel { set, label }: &OddLabel) -> OddLabelRecord {
    let OddOffsets { layer, label, start, end, null } = label;
    (set_code(*set), *layer, *label, *start, *end, null.clone())
}

fn odd_from((set, layer, label, start, end, null): OddLabelRecord) -> Result<OddLabel> {
    let label = OddOffsets { layer, label, start, end, null };
    Ok(OddLabel { set: set_from(set)?, label })
}

impl From<&LexUnitLayout> for LexUnitLayoutRecord {
    fn from(layout: &LexUnitLayout) -> Self {
        let lexeme = |lexeme: &Lexeme| {
            let pos = lexeme.pos.as_str().to_owned();
            (lexeme.name.clone(), pos, lexeme.order, lexeme.headword, lexeme.break_before)
        };
        let element = |fe: &ListedElement| {
            let Colors { fg, bg } = fe.colors.clone();
            (fe.name.clone(), fe.core_type.clone(), fe.abbreviation.clone(), fg, bg)
        };
        let corpus = |(id, documents): &(CorpusId, Vec<DocumentId>)| {
            (id.0, documents.iter().map(|id| id.0).collect())
        };
        let subcorpus = |listed: &ListedSubcorpus| {
            (listed.name.clone(), listed.sentences.iter().map(listed_code).collect())
        };
        Self {
            head: layout.head.as_ref().map(Into::into),
            lexemes: layout.lexemes.iter().map(lexeme).collect(),
            elements: layout.elements.as_ref().map(|all| all.iter().map(element).collect()),
            corpora: layout.corpora.iter().map(corpus).collect(),
            subcorpora: layout.subcorpora.iter().map(subcorpus).collect(),
            odd_labels: layout.odd_labels.iter().map(odd_code).collect(),
        }
    }
}

impl LexUnitLayoutRecord {
    pub(super) fn into_model(self, _key: &LayoutKey) -> Result<LexUnitLayout> {
        let lexemes = self.lexemes.into_iter().map(|(name, pos, order, headword, break_before)| {
            let pos = Pos::parse(&pos);
            Lexeme { name, pos, order, headword, break_before }
        });
        let element = |(name, core_type, abbreviation, fg, bg)| ListedElement {
            name,
            core_type,
            abbreviation,
            colors: Colors { fg, bg },
        };
        let corpora = self
            .corpora
            .into_iter()
            .map(|(id, documents)| (CorpusId(id), documents.into_iter().map(DocumentId).collect()));
        let subcorpus = |(name, sentences): (String, Vec<ListedSentenceRecord>)| {
            let sentences = sentences.into_iter().map(listed_from).collect::<Result<_>>()?;
            Ok(ListedSubcorpus { name, sentences })
        };
        Ok(LexUnitLayout {
            head: self.head.map(Into::into),
            lexemes: lexemes.collect(),
            elements: self.elements.map(|all| all.into_iter().map(element).collect()),
            corpora: corpora.collect(),
            subcorpora: self.subcorpora.into_iter().map(subcorpus).collect::<Result<_>>()?,
            odd_labels: self.odd_labels.into_iter().map(odd_from).collect::<Result<_>>()?,
        })
    }
}

impl From<&LexUnitHead> for HeadRecord {
    fn from(head: &LexUnitHead) -> Self {
        Self {
            name: head.name.clone(),
            pos: head.pos.as_str().to_owned(),
            status: head.status.clone(),
            incorporated_fe: head.incorporated_fe.clone(),
            definition: head.definition.clone(),
            sem_types: head.sem_types.iter().map(|id| id.0).collect(),
        }
    }
}

impl From<HeadRecord> for LexUnitHead {
    fn from(record: HeadRecord) -> Self {
        Self {
            name: record.name,
            pos: Pos::parse(&record.pos),
            status: record.status,
            incorporated_fe: record.incorporated_fe,
            definition: record.definition,
            sem_types: record.sem_types.into_iter().map(SemTypeId).collect(),
        }
    }
}

#[derive(Encode, Decode)]
pub(super) struct DocumentLayoutRecord {
    sentences: Vec<ListedSentenceRecord>,
    odd_labels: Vec<OddLabelRecord>,
}

impl From<&DocumentLayout> for DocumentLayoutRecord {
    fn from(layout: &DocumentLayout) -> Self {
        Self {
            sentences: layout.sentences.iter().map(listed_code).collect(),
            odd_labels: layout.odd_labels.iter().map(odd_code).collect(),
        }
    }
}

impl DocumentLayoutRecord {
    pub(super) fn into_model(self, _key: &LayoutKey) -> Result<DocumentLayout> {
        Ok(DocumentLayout {
            sentences: self.sentences.into_iter().map(listed_from).collect::<Result<_>>()?,
            odd_labels: self.odd_labels.into_iter().map(odd_from).collect::<Result<_>>()?,
        })
    }
}
