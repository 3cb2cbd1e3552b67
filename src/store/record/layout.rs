//! The records of layouts: how the files of a release list what they hold.

use crate::model::{
    DocumentLayout, FrameIndexEntry, FrameLayout, IndexCorpus, LexUnitHead, LexUnitLayout,
    ListedElement, ListedRelation, ListedSentence, ListedSubcorpus, LuIndex, LuIndexEntry,
    OddLabel, OddOffsets, RelationKind, RelationList, ReleaseLayout, SemTypeList,
};

fields! {
    ReleaseLayout { frame_index, lu_index, fulltext_index, sem_types, relations }
    FrameIndexEntry { id, name, modified }
    LuIndex { legend, entries }
    LuIndexEntry { id, name, frame, frame_name, status, annotated, instances }
    IndexCorpus { id, title, documents }
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

#[cfg(test)]
mod tests {
    use super::super::{Stored, samples};
    use super::*;

    #[test]
    fn a_layout_without_a_frame_index_comes_back_without_one() {
        let key = samples::release_layout_key();
        for frame_index in [None, Some(Vec::new())] {
            let layout = ReleaseLayout { frame_index, ..samples::described_layout() };
            assert_eq!(ReleaseLayout::from_value(&key, &layout.to_value().unwrap()), Ok(layout));
        }
    }
}
