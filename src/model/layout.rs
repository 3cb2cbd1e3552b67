//! How a release's files list what they hold.
//!
//! The other records say *what* a release says, once for all its files. A layout says where and in
//! which order one file says it, and what that file says in its own way: so an export can write the
//! same files again. Queries never look at layouts, and a record that was written into a store by
//! other means than an import has none.

use super::{
    AnnotationSetId, Colors, CorpusId, DocumentId, FrameId, LexUnit, Lexeme, LuId, Pos, RelationId,
    SemTypeId, SentenceId, Title,
};

/// How the files at the top of a release list what lies below them; `None` for a file that the
/// release does not have.
///
/// A name or status of an index is empty where the listed file itself says the same. What is
/// written out then follows the record, also after an edit.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ReleaseLayout {
    /// `frameIndex.xml`, in file order.
    pub frame_index: Option<Vec<FrameIndexEntry>>,
    /// `luIndex.xml`.
    pub lu_index: Option<LuIndex>,
    /// `fulltextIndex.xml`.
    pub fulltext_index: Option<Vec<IndexCorpus>>,
    /// `semTypes.xml`.
    pub sem_types: Option<SemTypeList>,
    /// `frRelation.xml`.
    pub relations: Option<RelationList>,
}

/// A frame of the frame index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FrameIndexEntry {
    /// Number.
    pub id: FrameId,
    /// Name.
    pub name: String,
    /// Date of the last change as written; empty when not given.
    pub modified: String,
}

/// The LU index.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LuIndex {
    /// What the statuses mean: name and description, in file order.
    pub legend: Vec<(String, String)>,
    /// The LUs, in file order.
    pub entries: Vec<LuIndexEntry>,
}

/// An LU of the LU index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LuIndexEntry {
    /// Number of the LU.
    pub id: LuId,
    /// Its name.
    pub name: String,
    /// Number of its frame.
    pub frame: FrameId,
    /// Name of its frame.
    pub frame_name: String,
    /// Its status.
    pub status: String,
    /// Whether its file holds annotation.
    pub annotated: bool,
    /// Number of its annotated instances (`numAnnotInstances`); FrameNet 1.5 does not say it.
    pub instances: Option<u32>,
}

/// A corpus of the full-text index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexCorpus {
    /// Number.
    pub id: CorpusId,
    /// What the index calls it.
    pub title: Title,
    /// Number and title of its documents, in file order.
    pub documents: Vec<(DocumentId, Title)>,
}

/// The order of `semTypes.xml`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SemTypeList {
    /// When the file was made, as written; empty when not given.
    pub created: String,
    /// The types, in file order.
    pub sem_types: Vec<SemTypeId>,
}

/// The order of `frRelation.xml`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RelationList {
    /// When the file was made, as written; empty when not given.
    pub created: String,
    /// The types of relations, in file order, those without any relation too.
    pub kinds: Vec<RelationKind>,
}

/// A type of frame relations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RelationKind {
    /// FrameNet's number, when given.
    pub id: Option<u32>,
    /// Name, as in `Inheritance`.
    pub name: String,
    /// What the super frame is called, as in `Parent`.
    pub super_role: String,
    /// What the sub frame is called, as in `Child`.
    pub sub_role: String,
    /// Its relations, in file order.
    pub relations: Vec<RelationId>,
}

/// How a frame file lists relations and LUs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FrameLayout {
    /// Related frames by the frame's own words, as in `Is Used by`. FrameNet 1.5 contradicts
    /// `frRelation.xml` here in 130 places, so these are kept as they stand.
    pub relations: Vec<ListedRelation>,
    /// Its LUs, in file order.
    pub lexunits: Vec<LuId>,
}

/// One kind of relation in a frame file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedRelation {
    /// The frame's words, as in `Inherits from`.
    pub kind: String,
    /// FrameNet's number of the type, when given.
    pub id: Option<u32>,
    /// Names of the frames with their numbers, where those are given, in file order.
    pub frames: Vec<(Option<FrameId>, String)>,
}

/// How an LU file lists its sentences, and what it says in its own way.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LexUnitLayout {
    /// What it says of the LU, when the frame's file says something else; the LU's record has the
    /// frame file's word then.
    pub head: Option<LexUnitHead>,
    /// The words of the lemma. FrameNet's LU files leave out order and headword of a single word,
    /// and differ from the frame's file in more.
    pub lexemes: Vec<Lexeme>,
    /// The FEs of its header, when they are not the frame's own in order of name.
    pub elements: Option<Vec<ListedElement>>,
    /// The corpora of its header with their documents, in file order.
    pub corpora: Vec<(CorpusId, Vec<DocumentId>)>,
    /// Its subcorpora, in file order.
    pub subcorpora: Vec<ListedSubcorpus>,
    /// Labels whose place is not what the file says.
    pub odd_labels: Vec<OddLabel>,
}

/// What frame file and LU file both say of an LU.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LexUnitHead {
    /// Name.
    pub name: String,
    /// Part of speech.
    pub pos: Pos,
    /// Status.
    pub status: String,
    /// Name of the incorporated FE.
    pub incorporated_fe: Option<String>,
    /// Definition.
    pub definition: String,
    /// Semantic types.
    pub sem_types: Vec<SemTypeId>,
}

impl LexUnitHead {
    /// What a record says of its LU.
    #[must_use]
    pub fn of(lu: &LexUnit) -> Self {
        Self {
            name: lu.name.clone(),
            pos: lu.pos,
            status: lu.status.clone(),
            incorporated_fe: lu.incorporated_fe.clone(),
            definition: lu.definition.clone(),
            sem_types: lu.sem_types.clone(),
        }
    }
}

/// An FE in the header of an LU file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedElement {
    /// Name.
    pub name: String,
    /// Core type, as written.
    pub core_type: String,
    /// Short name.
    pub abbreviation: String,
    /// Display colours.
    pub colors: Colors,
}

/// A subcorpus of an LU file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedSubcorpus {
    /// Name; empty when it has none.
    pub name: String,
    /// Its sentences, in file order; one may stand there twice.
    pub sentences: Vec<ListedSentence>,
}

/// How a full-text file lists its sentences.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DocumentLayout {
    /// Its sentences, in file order.
    pub sentences: Vec<ListedSentence>,
    /// Labels whose place is not what the file says.
    pub odd_labels: Vec<OddLabel>,
}

/// A sentence as a file lists it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedSentence {
    /// The sentence.
    pub id: SentenceId,
    /// Which of the sentence's occurrences this is, from 0.
    pub occurrence: u32,
    /// Its annotation sets here, of either kind, in file order.
    pub sets: Vec<AnnotationSetId>,
}

/// The offsets and null instantiation of a label that a record cannot hold: outside the sentence,
/// one offset without the other, or both a place and a null instantiation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OddLabel {
    /// The label's set.
    pub set: AnnotationSetId,
    /// What is odd.
    pub label: OddOffsets,
}

/// Where a label lies by the words of its file; see [`OddLabel`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OddOffsets {
    /// Which of the set's layers, from 0.
    pub layer: u32,
    /// Which of the layer's labels, from 0.
    pub label: u32,
    /// First character, as written.
    pub start: Option<u32>,
    /// Last character, as written.
    pub end: Option<u32>,
    /// Null instantiation, as written.
    pub null: Option<String>,
}
