//! How FrameNet's files list what they hold, as JSON: what an export as XML needs beside the records.

use serde::{Deserialize, Serialize};

use super::annotation::NamedId;
use super::lexicon::{sem_type_ids, sem_type_numbers};
use super::lexunit::{LexemeRecord, lexemes, pos_of};
use super::{Checked, ColorsRecord, Kind, sentence_id, set_id, set_ids, written};
use crate::model::{
    CorpusId, DocumentId, DocumentLayout, Foreign, ForeignFile, FrameId, FrameIndexEntry,
    FrameLayout, IndexCorpus, LexUnitHead, LexUnitLayout, ListedElement, ListedRelation,
    ListedSentence, ListedSubcorpus, LuId, LuIndex, LuIndexEntry, OddLabel, OddOffsets, RelationId,
    RelationKind, RelationList, ReleaseLayout, SemTypeList, Title,
};

/// The file that a layout describes, with the layout.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Layout {
    /// The files at the top of a release.
    Release(ReleaseLayout),
    /// A frame's file.
    Frame(FrameId, FrameLayout),
    /// An LU's file.
    LexUnit(FrameId, LuId, LexUnitLayout),
    /// A document's file.
    Document(CorpusId, DocumentId, DocumentLayout),
    /// What a file holds beside FrameNet.
    Foreign(ForeignFile, Foreign),
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ReleaseLayoutRecord {
    kind: Kind,
    frame_index: Option<Vec<FrameIndexRecord>>,
    lu_index: Option<LuIndexRecord>,
    fulltext_index: Option<Vec<IndexCorpusRecord>>,
    sem_types: Option<SemTypeListRecord>,
    relations: Option<RelationListRecord>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FrameIndexRecord {
    id: u32,
    name: String,
    modified: String,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct LuIndexRecord {
    legend: Vec<LegendRecord>,
    entries: Vec<LuIndexEntryRecord>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct LegendRecord {
    name: String,
    description: String,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct LuIndexEntryRecord {
    id: u32,
    name: String,
    frame: NamedId,
    status: String,
    annotated: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    instances: Option<u32>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct IndexCorpusRecord {
    id: u32,
    name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    documents: Vec<IndexDocumentRecord>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct IndexDocumentRecord {
    id: u32,
    name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    description: Option<String>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SemTypeListRecord {
    created: String,
    sem_types: Vec<u32>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RelationListRecord {
    created: String,
    types: Vec<RelationTypeRecord>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RelationTypeRecord {
    id: Option<u32>,
    name: String,
    super_role: String,
    sub_role: String,
    relations: Vec<u32>,
}

impl From<ReleaseLayout> for ReleaseLayoutRecord {
    fn from(layout: ReleaseLayout) -> Self {
        let ReleaseLayout { frame_index, lu_index, fulltext_index, sem_types, relations } = layout;
        let frame = |FrameIndexEntry { id, name, modified }: FrameIndexEntry| FrameIndexRecord {
            id: id.0,
            name,
            modified,
        };
        let document = |(id, Title { name, description }): (DocumentId, Title)| {
            IndexDocumentRecord { id: id.0, name, description }
        };
        let corpus = |IndexCorpus { id, title: Title { name, description }, documents }| {
            let documents = documents.into_iter().map(document).collect();
            IndexCorpusRecord { id: id.0, name, description, documents }
        };
        let sem_types = sem_types.map(|SemTypeList { created, sem_types }| SemTypeListRecord {
            created,
            sem_types: sem_type_numbers(sem_types),
        });
        Self {
            kind: Kind::ReleaseLayout,
            frame_index: frame_index.map(|index| index.into_iter().map(frame).collect()),
            lu_index: lu_index.map(LuIndexRecord::from),
            fulltext_index: fulltext_index.map(|corpora| corpora.into_iter().map(corpus).collect()),
            sem_types,
            relations: relations.map(RelationListRecord::from),
        }
    }
}

impl From<ReleaseLayoutRecord> for ReleaseLayout {
    fn from(record: ReleaseLayoutRecord) -> Self {
        let frame = |FrameIndexRecord { id, name, modified }| FrameIndexEntry {
            id: FrameId(id),
            name,
            modified,
        };
        let document = |IndexDocumentRecord { id, name, description }| {
            (DocumentId(id), Title { name, description })
        };
        let corpus = |IndexCorpusRecord { id, name, description, documents }| {
            let documents = documents.into_iter().map(document).collect();
            IndexCorpus { id: CorpusId(id), title: Title { name, description }, documents }
        };
        let sem_types = record.sem_types.map(|SemTypeListRecord { created, sem_types }| {
            SemTypeList { created, sem_types: sem_type_ids(sem_types) }
        });
        Self {
            frame_index: record.frame_index.map(|index| index.into_iter().map(frame).collect()),
            lu_index: record.lu_index.map(LuIndex::from),
            fulltext_index: record
                .fulltext_index
                .map(|corpora| corpora.into_iter().map(corpus).collect()),
            sem_types,
            relations: record.relations.map(RelationList::from),
        }
    }
}

impl From<LuIndex> for LuIndexRecord {
    fn from(LuIndex { legend, entries }: LuIndex) -> Self {
        let entry = |entry: LuIndexEntry| {
            let LuIndexEntry { id, name, frame, frame_name, status, annotated, instances } = entry;
            let frame = NamedId { id: frame.0, name: frame_name };
            LuIndexEntryRecord { id: id.0, name, frame, status, annotated, instances }
        };
        let line = |(name, description)| LegendRecord { name, description };
        Self {
            legend: legend.into_iter().map(line).collect(),
            entries: entries.into_iter().map(entry).collect(),
        }
    }
}

impl From<LuIndexRecord> for LuIndex {
    fn from(LuIndexRecord { legend, entries }: LuIndexRecord) -> Self {
        let entry = |entry: LuIndexEntryRecord| {
            let LuIndexEntryRecord { id, name, frame, status, annotated, instances } = entry;
            LuIndexEntry {
                id: LuId(id),
                name,
                frame: FrameId(frame.id),
                frame_name: frame.name,
                status,
                annotated,
                instances,
            }
        };
        let line = |LegendRecord { name, description }| (name, description);
        Self {
            legend: legend.into_iter().map(line).collect(),
            entries: entries.into_iter().map(entry).collect(),
        }
    }
}

impl From<RelationList> for RelationListRecord {
    fn from(RelationList { created, kinds }: RelationList) -> Self {
        let kind = |kind: RelationKind| {
            let RelationKind { id, name, super_role, sub_role, relations } = kind;
            let relations = relations.into_iter().map(|relation| relation.0).collect();
            RelationTypeRecord { id, name, super_role, sub_role, relations }
        };
        Self { created, types: kinds.into_iter().map(kind).collect() }
    }
}

impl From<RelationListRecord> for RelationList {
    fn from(RelationListRecord { created, types }: RelationListRecord) -> Self {
        let kind = |kind: RelationTypeRecord| {
            let RelationTypeRecord { id, name, super_role, sub_role, relations } = kind;
            let relations = relations.into_iter().map(RelationId).collect();
            RelationKind { id, name, super_role, sub_role, relations }
        };
        Self { created, kinds: types.into_iter().map(kind).collect() }
    }
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FrameLayoutRecord {
    kind: Kind,
    frame: u32,
    relations: Vec<ListedRelationRecord>,
    lexunits: Vec<u32>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ListedRelationRecord {
    #[serde(rename = "type")]
    relation_type: String,
    id: Option<u32>,
    frames: Vec<ListedFrameRecord>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ListedFrameRecord {
    id: Option<u32>,
    name: String,
}

impl FrameLayoutRecord {
    pub(super) fn new(frame: FrameId, layout: FrameLayout) -> Self {
        let FrameLayout { relations, lexunits } = layout;
        let relation = |ListedRelation { kind, id, frames }: ListedRelation| {
            let frames = frames.into_iter();
            let frames = frames.map(|(id, name)| ListedFrameRecord { id: id.map(|id| id.0), name });
            ListedRelationRecord { relation_type: kind, id, frames: frames.collect() }
        };
        Self {
            kind: Kind::FrameLayout,
            frame: frame.0,
            relations: relations.into_iter().map(relation).collect(),
            lexunits: lexunits.into_iter().map(|lu| lu.0).collect(),
        }
    }

    pub(super) fn into_model(self) -> Layout {
        let relation = |relation: ListedRelationRecord| {
            let frames = relation.frames.into_iter();
            let frames = frames.map(|frame| (frame.id.map(FrameId), frame.name)).collect();
            ListedRelation { kind: relation.relation_type, id: relation.id, frames }
        };
        let layout = FrameLayout {
            relations: self.relations.into_iter().map(relation).collect(),
            lexunits: self.lexunits.into_iter().map(LuId).collect(),
        };
        Layout::Frame(FrameId(self.frame), layout)
    }
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LexUnitLayoutRecord {
    kind: Kind,
    frame: u32,
    lu: u32,
    head: Option<HeadRecord>,
    lexemes: Vec<LexemeRecord>,
    elements: Option<Vec<ListedElementRecord>>,
    corpora: Vec<ListedCorpusRecord>,
    subcorpora: Vec<SubcorpusRecord>,
    odd_labels: Vec<OddLabelRecord>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct HeadRecord {
    name: String,
    pos: String,
    status: String,
    incorporated_fe: Option<String>,
    definition: String,
    sem_types: Vec<u32>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ListedElementRecord {
    name: String,
    core_type: String,
    abbreviation: String,
    colors: ColorsRecord,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ListedCorpusRecord {
    id: u32,
    documents: Vec<u32>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SubcorpusRecord {
    name: String,
    sentences: Vec<ListedSentenceRecord>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ListedSentenceRecord {
    id: String,
    occurrence: u32,
    sets: Vec<String>,
}

/// A label whose place a set cannot hold; `start` and `end` are FrameNet's, the end included.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct OddLabelRecord {
    set: String,
    layer: u32,
    label: u32,
    start: Option<u32>,
    end: Option<u32>,
    ni: Option<String>,
}

impl From<ListedSentence> for ListedSentenceRecord {
    fn from(ListedSentence { id, occurrence, sets }: ListedSentence) -> Self {
        Self { id: id.to_string(), occurrence, sets: written(&sets) }
    }
}

fn listed_sentences(records: Vec<ListedSentenceRecord>) -> Checked<Vec<ListedSentence>> {
    let sentence = |ListedSentenceRecord { id, occurrence, sets }: ListedSentenceRecord| {
        let (id, sets) = (sentence_id("sentences.id", &id)?, set_ids("sentences.sets", &sets)?);
        Ok(ListedSentence { id, occurrence, sets })
    };
    records.into_iter().map(sentence).collect()
}

impl From<OddLabel> for OddLabelRecord {
    fn from(OddLabel { set, label }: OddLabel) -> Self {
        let OddOffsets { layer, label, start, end, null } = label;
        Self { set: set.to_string(), layer, label, start, end, ni: null }
    }
}

fn odd_labels(records: Vec<OddLabelRecord>) -> Checked<Vec<OddLabel>> {
    let label = |record: OddLabelRecord| {
        let OddLabelRecord { set, layer, label, start, end, ni } = record;
        let label = OddOffsets { layer, label, start, end, null: ni };
        Ok(OddLabel { set: set_id("odd_labels.set", &set)?, label })
    };
    records.into_iter().map(label).collect()
}

impl LexUnitLayoutRecord {
    pub(super) fn new(frame: FrameId, lu: LuId, layout: LexUnitLayout) -> Self {
        let LexUnitLayout { head, lexemes, elements, corpora, subcorpora, odd_labels } = layout;
        let element = |element: ListedElement| {
            let ListedElement { name, core_type, abbreviation, colors } = element;
            ListedElementRecord { name, core_type, abbreviation, colors: colors.into() }
        };
        let corpus = |(id, documents): (CorpusId, Vec<DocumentId>)| ListedCorpusRecord {
            id: id.0,
            documents: documents.into_iter().map(|document| document.0).collect(),
        };
        let subcorpus = |ListedSubcorpus { name, sentences }: ListedSubcorpus| {
            let sentences = sentences.into_iter().map(ListedSentenceRecord::from).collect();
            SubcorpusRecord { name, sentences }
        };
        Self {
            kind: Kind::LexunitLayout,
            frame: frame.0,
            lu: lu.0,
            head: head.map(HeadRecord::from),
            lexemes: lexemes.into_iter().map(LexemeRecord::from).collect(),
            elements: elements.map(|elements| elements.into_iter().map(element).collect()),
            corpora: corpora.into_iter().map(corpus).collect(),
            subcorpora: subcorpora.into_iter().map(subcorpus).collect(),
            odd_labels: odd_labels.into_iter().map(OddLabelRecord::from).collect(),
        }
    }

    pub(super) fn into_model(self) -> Checked<Layout> {
        let element = |element: ListedElementRecord| ListedElement {
            name: element.name,
            core_type: element.core_type,
            abbreviation: element.abbreviation,
            colors: element.colors.into(),
        };
        let corpus = |corpus: ListedCorpusRecord| {
            (CorpusId(corpus.id), corpus.documents.into_iter().map(DocumentId).collect())
        };
        let subcorpus = |subcorpus: SubcorpusRecord| {
            let sentences = listed_sentences(subcorpus.sentences)
                .map_err(|fault| fault.inside("subcorpora"))?;
            Ok(ListedSubcorpus { name: subcorpus.name, sentences })
        };
        let layout = LexUnitLayout {
            head: self.head.map(HeadRecord::into_model).transpose()?,
            lexemes: lexemes(self.lexemes)?,
            elements: self.elements.map(|elements| elements.into_iter().map(element).collect()),
            corpora: self.corpora.into_iter().map(corpus).collect(),
            subcorpora: self.subcorpora.into_iter().map(subcorpus).collect::<Checked<_>>()?,
            odd_labels: odd_labels(self.odd_labels)?,
        };
        Ok(Layout::LexUnit(FrameId(self.frame), LuId(self.lu), layout))
    }
}

impl From<LexUnitHead> for HeadRecord {
    fn from(head: LexUnitHead) -> Self {
        let LexUnitHead { name, pos, status, incorporated_fe, definition, sem_types } = head;
        let pos = pos.as_str().to_owned();
        let sem_types = sem_type_numbers(sem_types);
        Self { name, pos, status, incorporated_fe, definition, sem_types }
    }
}

impl HeadRecord {
    fn into_model(self) -> Checked<LexUnitHead> {
        Ok(LexUnitHead {
            pos: pos_of("head.pos", &self.pos)?,
            name: self.name,
            status: self.status,
            incorporated_fe: self.incorporated_fe,
            definition: self.definition,
            sem_types: sem_type_ids(self.sem_types),
        })
    }
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DocumentLayoutRecord {
    kind: Kind,
    corpus: u32,
    document: u32,
    sentences: Vec<ListedSentenceRecord>,
    odd_labels: Vec<OddLabelRecord>,
}

impl DocumentLayoutRecord {
    pub(super) fn new(corpus: CorpusId, document: DocumentId, layout: DocumentLayout) -> Self {
        let DocumentLayout { sentences, odd_labels } = layout;
        Self {
            kind: Kind::DocumentLayout,
            corpus: corpus.0,
            document: document.0,
            sentences: sentences.into_iter().map(ListedSentenceRecord::from).collect(),
            odd_labels: odd_labels.into_iter().map(OddLabelRecord::from).collect(),
        }
    }

    pub(super) fn into_model(self) -> Checked<Layout> {
        let layout = DocumentLayout {
            sentences: listed_sentences(self.sentences)?,
            odd_labels: odd_labels(self.odd_labels)?,
        };
        Ok(Layout::Document(CorpusId(self.corpus), DocumentId(self.document), layout))
    }
}
