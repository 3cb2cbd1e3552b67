//! FEs that annotation labels and no frame defines: releases label some, and one without frame
//! files has no others.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Lexicon;
use crate::database::Result;
use crate::model::{AnnotationSet, Frame, FrameId};
use crate::query::Pattern;
use crate::search::elements;

/// An FE that annotation labels in a frame which does not define it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LabelledElement {
    /// The frame's number.
    pub frame: FrameId,
    /// The frame's name.
    pub frame_name: Arc<str>,
    /// The label.
    pub name: String,
    /// Annotation sets that have it, but for generated ones, which take it from those.
    pub sets: u64,
}

impl Lexicon<'_> {
    /// The FEs of these names that annotation labels in these frames and the frames do not define,
    /// by frame and name.
    ///
    /// Reads the annotation sets of the frames but for generated ones: all of FrameNet 1.5 take
    /// half a second.
    ///
    /// # Errors
    /// When the store fails.
    pub fn labelled_fes(&self, frames: &Pattern, names: &Pattern) -> Result<Vec<LabelledElement>> {
        let mut found = Vec::new();
        for frame in self.find_frames(frames)? {
            let labelled = self.labelled_fes_of(&frame?)?;
            found.extend(labelled.into_iter().filter(|entry| names.matches(&entry.name)));
        }
        found.sort_by(|a, b| (a.frame, &a.name).cmp(&(b.frame, &b.name)));
        Ok(found)
    }

    /// The FEs that annotation labels in a frame and it does not define, by name.
    ///
    /// # Errors
    /// When the store fails.
    pub fn labelled_fes_of(&self, frame: &Frame) -> Result<Vec<LabelledElement>> {
        let mut labels = Labels::default();
        let sets = self.store().annotation_sets_but_generated(self.release.id, frame.id, None)?;
        for set in sets {
            if let Some(set) = set? {
                labels.add(frame, &set);
            }
        }
        let frame_name = Arc::<str>::from(frame.name.as_str());
        let entry = |(name, sets)| LabelledElement {
            frame: frame.id,
            frame_name: Arc::clone(&frame_name),
            name,
            sets,
        };
        Ok(labels.0.into_iter().map(entry).collect())
    }
}

/// Names of FEs that a frame does not define, with the number of sets that label them.
#[derive(Debug, Default)]
pub(super) struct Labels(pub(super) BTreeMap<String, u64>);

impl Labels {
    pub(super) fn add(&mut self, frame: &Frame, set: &AnnotationSet) {
        let mut names: Vec<&str> = elements(set)
            .map(|element| element.label.name.as_str())
            .filter(|name| frame.fe_by_name(name).is_none())
            .collect();
        names.sort_unstable();
        names.dedup();
        for name in names {
            match self.0.get_mut(name) {
                Some(sets) => *sets += 1,
                None => drop(self.0.insert(name.to_owned(), 1)),
            }
        }
    }
}
