//! Version 1 of the records of layouts: how the files of a release list what they hold.

use bincode::de::Decoder;
use bincode::enc::Encoder;
use bincode::error::{DecodeError, EncodeError};
use bincode::{Decode, Encode};

use crate::model::{
    DocumentLayout, FrameIndexEntry, FrameLayout, IndexCorpus, LexUnitHead, LexUnitLayout,
    ListedElement, ListedRelation, ListedSentence, ListedSubcorpus, LuIndex, LuIndexEntry,
    OddLabel, OddOffsets, RelationKind, RelationList, ReleaseLayout, SemTypeList, Title,
};

fields! {
    FrameIndexEntry { id, name, modified }
    LuIndex { legend, entries }
    LuIndexEntry { id, name, frame, frame_name, status, annotated; absent instances: None }
    IndexCorpus { id, title, documents }
    Title { name; absent description: None }
    SemTypeList { created, sem_types }
    RelationList { created, kinds }
    RelationKind { id, name, super_role, sub_role, relations }
    FrameLayout { relations, lexunits }
    ListedRelation { kind, id, frames }
    LexUnitLayout { head, lexemes, elements, corpora, subcorpora, odd_labels }
    LexUnitHead { name, pos, status, incorporated_fe, definition, sem_types }
    ListedElement { name, core_type, abbreviation, colors }
    ListedSubcorpus { name, sentences }
    DocumentLayout { sentences, odd_labels }
    ListedSentence { id, occurrence, sets }
    OddLabel { set, label }
    OddOffsets { layer, label, start, end, null }
}

#[doc(hidden)]
impl Encode for ReleaseLayout {
    /// A release without a frame index is written like one whose index is empty.
    fn encode<E: Encoder>(&self, encoder: &mut E) -> Result<(), EncodeError> {
        let Self { frame_index, lu_index, fulltext_index, sem_types, relations } = self;
        frame_index.as_deref().unwrap_or_default().encode(encoder)?;
        lu_index.encode(encoder)?;
        fulltext_index.encode(encoder)?;
        sem_types.encode(encoder)?;
        relations.encode(encoder)
    }
}

#[doc(hidden)]
impl<C> Decode<C> for ReleaseLayout {
    fn decode<D: Decoder<Context = C>>(decoder: &mut D) -> Result<Self, DecodeError> {
        Ok(Self {
            frame_index: Some(Decode::decode(decoder)?),
            lu_index: Decode::decode(decoder)?,
            fulltext_index: Decode::decode(decoder)?,
            sem_types: Decode::decode(decoder)?,
            relations: Decode::decode(decoder)?,
        })
    }
}

borrowed!(ReleaseLayout);
