//! What the records of a file refer to, and what is there for it.
//!
//! A reference leads to a record of the file or, in a file of additions, of the release that they
//! add to. Most records stand before what refers to them. What may follow (super types, documents
//! of a sentence, sets of a valence table or a chain) is noted with its place, and must be there
//! when the file ends.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::model::{
    AnnotationSetId, CorpusId, DocumentId, FeId, Frame, FrameId, LinkSubject, LuId, Reference,
    RelationId, SemTypeId, SentenceId,
};

/// As messages call what is looked for at the end of a file: the kind of record, and its number.
pub(super) fn described(reference: Reference) -> (&'static str, String) {
    match reference {
        Reference::SemType(id) => ("semantic type", id.to_string()),
        Reference::Frame(id) => ("frame", id.to_string()),
        Reference::LexUnit(_, id) | Reference::Listed(id) => ("LU", id.to_string()),
        Reference::Document(corpus, id) => ("document", format!("{id} of corpus {corpus}")),
        Reference::Sentence(id) => ("sentence", id.to_string()),
        Reference::Set(id) => ("annotation set", id.to_string()),
        Reference::Recipe(id) => ("recipe", id.to_string()),
    }
}

/// Where something is named: line and field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct FieldPlace {
    pub(super) line: usize,
    pub(super) field: &'static str,
}

/// What later records need of a frame.
#[derive(Debug, Clone)]
pub(super) struct KnownFrame {
    pub(super) name: String,
    /// Its FEs with their names.
    pub(super) elements: HashMap<FeId, String>,
    /// Whether it is defined; a frame that a release only names has no FEs.
    pub(super) has_file: bool,
}

impl From<&Frame> for KnownFrame {
    fn from(frame: &Frame) -> Self {
        let elements = frame.elements.iter().map(|fe| (fe.id, fe.name.clone())).collect();
        Self { name: frame.name.clone(), elements, has_file: frame.has_file }
    }
}

/// The ids of a file's records, and what was asked of the release that they add to. Some bytes for
/// each record.
#[derive(Debug, Default)]
pub(super) struct Known {
    /// `None` for a frame that was looked for and is not there; the same for LUs.
    pub(super) frames: HashMap<FrameId, Option<Arc<KnownFrame>>>,
    pub(super) lexunits: HashMap<(FrameId, LuId), Option<String>>,
    pub(super) listed: HashSet<LuId>,
    pub(super) sem_types: HashSet<SemTypeId>,
    pub(super) relations: HashSet<RelationId>,
    pub(super) documents: HashSet<(CorpusId, DocumentId)>,
    pub(super) sentences: HashSet<SentenceId>,
    /// With their frames, by which a judgement of the own frame is told.
    pub(super) sets: HashMap<AnnotationSetId, FrameId>,
    pub(super) layers: HashSet<AnnotationSetId>,
    pub(super) judgements: HashSet<(AnnotationSetId, String, String)>,
    pub(super) verifications: HashSet<AnnotationSetId>,
    pub(super) decisions: HashSet<(FrameId, String)>,
    pub(super) discoveries: HashSet<(FrameId, String)>,
    pub(super) links: HashSet<(FrameId, LinkSubject)>,
    pub(super) editions: HashSet<String>,
    /// What the release was found to have: a chain's sets name their seed again and again.
    pub(super) stored: HashSet<Reference>,
    /// What was named before it was there, and where first.
    open: HashMap<Reference, FieldPlace>,
}

impl Known {
    pub(super) fn has(&self, reference: Reference) -> bool {
        let is_in_file = match reference {
            Reference::SemType(id) => self.sem_types.contains(&id),
            Reference::Document(corpus, id) => self.documents.contains(&(corpus, id)),
            Reference::Listed(id) => self.listed.contains(&id),
            Reference::Set(id) => self.sets.contains_key(&id),
            // These stand before what names them, and are looked for then.
            Reference::Frame(_)
            | Reference::LexUnit(..)
            | Reference::Sentence(_)
            | Reference::Recipe(_) => true,
        };
        is_in_file || self.stored.contains(&reference)
    }

    /// Notes something that must be there by the end.
    pub(super) fn expect(&mut self, reference: Reference, place: FieldPlace) {
        self.open.entry(reference).or_insert(place);
    }

    /// Of what was named and is not there at the end of the file, that which was named first.
    pub(super) fn first_missing(&self) -> Option<(Reference, FieldPlace)> {
        let missing = self.open.iter().filter(|(reference, _)| !self.has(**reference));
        let missing = missing.map(|(reference, place)| (*reference, *place));
        missing.min_by_key(|(reference, place)| (*place, described(*reference).1))
    }
}
