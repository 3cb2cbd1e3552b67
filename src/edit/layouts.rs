//! Keeping layouts behind the edits: how a release's files list what they hold must not say what is
//! no longer so.
//!
//! An export takes order and wording from a layout and the rest from the records, leaves out what
//! is gone and adds what is new. So a layout may stay when records come and go. What it says itself
//! of an edited record is taken out of it.

use std::collections::{BTreeMap, BTreeSet};

use super::Transaction;
use super::staged::StagedRow;
use crate::database::Result;
use crate::database::layouts::forget_relations;
use crate::model::{
    AnnotationSet, AnnotationSetId, CorpusId, Document, DocumentId, Frame, FrameId, FrameLayout,
    FrameRelation, Label, LayerName, LexUnit, LexUnitHead, LexUnitLayout, LuId, OddLabel,
    Provenance,
};
use crate::store::Batch;

impl Transaction<'_> {
    /// Puts what the staged edits do to layouts into the batch.
    pub(super) fn write_layouts(&self, batch: &mut Batch<'_>) -> Result<()> {
        let mut headers = BTreeSet::new();
        for (before, after) in self.staged.changed::<Frame>() {
            match (before, after) {
                (Some(before), None) => batch.delete_frame_layout(before.id)?,
                (Some(before), Some(after)) => {
                    if before.elements_by_name() != after.elements_by_name() {
                        headers.insert(after.id);
                    }
                }
                (None, _) => {}
            }
        }
        self.write_frame_layouts(batch)?;
        for (before, after) in self.staged.changed::<Document>() {
            if let (Some(document), None) = (before, after) {
                batch.delete_document_layout(document.corpus, document.id)?;
            }
        }
        self.write_document_layouts(batch)?;
        self.write_lexunit_layouts(&headers, batch)
    }

    /// Frame files, which name related frames in words of their own, call renamed ones by their new
    /// names, and do not go on listing relations where some came or went.
    fn write_frame_layouts(&self, batch: &mut Batch<'_>) -> Result<()> {
        let mut related = BTreeSet::new();
        for (before, after) in self.staged.changed::<FrameRelation>() {
            if before.map(ends) != after.map(ends) {
                let ends = before.into_iter().chain(after);
                related.extend(ends.flat_map(|relation| [relation.parent, relation.child]));
            }
        }
        let (store, release) = (&self.database.store, self.release);
        for frame in &related {
            if !self.staged.is_removed::<Frame>(frame) {
                forget_relations(store, batch, release, *frame)?;
            }
        }
        let renamed: Vec<(&Frame, &Frame)> = self
            .staged
            .changed::<Frame>()
            .filter_map(|(before, after)| before.zip(after))
            .filter(|(before, after)| before.name != after.name)
            .collect();
        if renamed.is_empty() {
            return Ok(());
        }
        // Any file may name them: FrameNet's do not keep to the list of relations.
        for row in store.frame_names(release)? {
            let (frame, _) = row?;
            if related.contains(&frame) || self.staged.is_removed::<Frame>(&frame) {
                continue;
            }
            if let Some(mut layout) = store.frame_layout(release, frame)?
                && rename(&mut layout, &renamed)
            {
                batch.put_frame_layout(frame, &layout)?;
            }
        }
        Ok(())
    }

    /// Documents do not go on saying where labels of edited sets stood.
    fn write_document_layouts(&self, batch: &mut Batch<'_>) -> Result<()> {
        let mut edited: BTreeMap<(CorpusId, DocumentId), EditedSets<'_>> = BTreeMap::new();
        for (before, after) in self.staged.changed::<AnnotationSet>() {
            if let Some(set) = before
                && let Provenance::FullText { corpus, document } = &set.provenance
            {
                edited.entry((*corpus, *document)).or_default().insert(set.id, (set, after));
            }
        }
        let (store, release) = (&self.database.store, self.release);
        for (key @ (corpus, document), sets) in edited {
            let is_gone = self.staged.is_removed::<Document>(&key);
            let layout = store.document_layout(release, corpus, document)?;
            if let Some(mut layout) = layout.filter(|_| !is_gone)
                && forget_places(&mut layout.odd_labels, &sets)
            {
                batch.put_document_layout(corpus, document, &layout)?;
            }
        }
        Ok(())
    }

    /// The same for LU files, whose headers also do not go on saying what the LU and the frame's
    /// FEs were called.
    fn write_lexunit_layouts(
        &self,
        headers: &BTreeSet<FrameId>,
        batch: &mut Batch<'_>,
    ) -> Result<()> {
        let (store, release) = (&self.database.store, self.release);
        let mut touched: BTreeMap<(FrameId, LuId), EditedSets<'_>> = BTreeMap::new();
        for (before, after) in self.staged.changed::<AnnotationSet>() {
            if let Some(set) = before
                && let Provenance::Exemplar { lu, .. } = &set.provenance
            {
                touched.entry((set.frame, *lu)).or_default().insert(set.id, (set, after));
            }
        }
        for frame in headers {
            for row in store.lexunits_of(release, *frame)? {
                touched.entry(row?.key()).or_default();
            }
        }
        let mut edited: BTreeMap<(FrameId, LuId), (&LexUnit, Option<&LexUnit>)> = BTreeMap::new();
        for (before, after) in self.staged.changed::<LexUnit>() {
            if let Some(before) = before {
                edited.insert(before.key(), (before, after));
                touched.entry(before.key()).or_default();
            }
        }
        for (key @ (frame, lu), sets) in touched {
            if self.staged.is_removed::<LexUnit>(&key) {
                batch.delete_lexunit_layout(frame, lu)?;
                continue;
            }
            let Some(mut layout) = store.lexunit_layout(release, frame, lu)? else { continue };
            let mut differs = forget_places(&mut layout.odd_labels, &sets);
            if headers.contains(&frame) {
                differs |= layout.elements.take().is_some();
            }
            if let Some((before, Some(after))) = edited.get(&key) {
                differs |= follow(&mut layout, before, after);
            }
            if differs {
                batch.put_lexunit_layout(frame, lu, &layout)?;
            }
        }
        Ok(())
    }
}

/// What a relation is, but for what its frames are called.
fn ends(relation: &FrameRelation) -> (&str, FrameId, FrameId) {
    (&relation.kind, relation.parent, relation.child)
}

/// Writes the new names of frames in place of the old ones; says whether there were any.
fn rename(layout: &mut FrameLayout, renamed: &[(&Frame, &Frame)]) -> bool {
    let mut differs = false;
    for (id, name) in layout.relations.iter_mut().flat_map(|kind| &mut kind.frames) {
        let is_meant = |frame: &Frame| id.is_none_or(|id| id == frame.id) && *name == frame.name;
        if let Some((_, after)) = renamed.iter().find(|(before, _)| is_meant(before)) {
            name.clone_from(&after.name);
            differs = true;
        }
    }
    differs
}

/// Sets as they were, and as they are unless they are gone.
type EditedSets<'a> = BTreeMap<AnnotationSetId, (&'a AnnotationSet, Option<&'a AnnotationSet>)>;

/// Takes what a layout says of labels that these edits changed out of it; says whether there was
/// something.
fn forget_places(odd: &mut Vec<OddLabel>, sets: &EditedSets<'_>) -> bool {
    let before = odd.len();
    odd.retain(|odd| match sets.get(&odd.set) {
        None => true,
        Some((_, None)) => false,
        Some((before, Some(after))) => label_of(before, odd) == label_of(after, odd),
    });
    odd.len() < before
}

/// The label that a layout says something of, with its layer.
fn label_of<'a>(set: &'a AnnotationSet, odd: &OddLabel) -> Option<(&'a LayerName, u8, &'a Label)> {
    let layer = set.layers.get(odd.label.layer as usize)?;
    Some((&layer.name, layer.rank, layer.labels.get(odd.label.label as usize)?))
}

/// Lets an LU file's header say what the LU's record says; says whether it said something else.
fn follow(layout: &mut LexUnitLayout, before: &LexUnit, after: &LexUnit) -> bool {
    let mut differs = false;
    if LexUnitHead::of(before) != LexUnitHead::of(after) {
        differs |= layout.head.take().is_some();
    }
    if before.lexemes != after.lexemes {
        layout.lexemes.clone_from(&after.lexemes);
        differs = true;
    }
    differs
}
