//! A frame with everything that refers to it.

use std::collections::BTreeMap;

use super::SetCounts;
use super::elements::Labels;
use crate::database::{Database, Result};
use crate::model::{Frame, FrameRelation, IdSpace, LexUnit, LuId, Release, SemTypeId};
use crate::query::Pattern;
use crate::store::NameKind;

/// A frame with everything that refers to it.
#[derive(Debug, Clone)]
pub struct FrameProfile {
    /// The release.
    pub release: Release,
    /// The frame.
    pub frame: Frame,
    /// Its LUs, by name.
    pub lexunits: Vec<LexUnit>,
    /// Annotation sets of its LUs, counted by origin.
    pub sets: BTreeMap<LuId, SetCounts>,
    /// FEs that annotation labels in it and that it does not define, with the number of sets.
    pub labelled: BTreeMap<String, u64>,
    /// Relations in which it is the super or the sub frame, by number.
    pub relations: Vec<FrameRelation>,
    /// Names of the semantic types that the frame and its FEs have.
    pub sem_types: BTreeMap<SemTypeId, String>,
}

impl Database {
    /// The frames whose name matches, with all that refers to them, in order of release and name.
    ///
    /// # Errors
    /// When the pattern is a name that no release has, with the nearest one, or the store fails.
    #[doc(hidden)]
    pub fn frame_profiles(&self, names: &Pattern) -> Result<Vec<FrameProfile>> {
        self.require_name(NameKind::Frame, names)?;
        let mut profiles = Vec::new();
        for lexicon in self.lexicons()? {
            for frame in lexicon.find_frames(names)? {
                profiles.push(self.frame_profile(lexicon.release(), frame?)?);
            }
        }
        Ok(profiles)
    }

    fn frame_profile(&self, release: &Release, frame: Frame) -> Result<FrameProfile> {
        let mut lexunits: Vec<LexUnit> =
            self.store.lexunits_of(release.id, frame.id)?.collect::<std::result::Result<_, _>>()?;
        lexunits.sort_by(|a, b| (&a.name, a.id).cmp(&(&b.name, b.id)));
        let mut relations = Vec::new();
        for relation in self.store.relations(release.id)? {
            let relation = relation?;
            if relation.parent == frame.id || relation.child == frame.id {
                relations.push(relation);
            }
        }
        let of_elements = frame.elements.iter().flat_map(|fe| &fe.sem_types);
        let mut sem_types = BTreeMap::new();
        for id in frame.sem_types.iter().chain(of_elements) {
            if let Some(sem_type) = self.store.sem_type(release.id, *id)? {
                sem_types.insert(*id, sem_type.name);
            }
        }
        let (mut sets, mut labels) = (BTreeMap::<LuId, SetCounts>::new(), Labels::default());
        for set in self.store.annotation_sets_of_frame(release.id, frame.id)? {
            let set = set?;
            // As the listing of FEs: generated sets take their labels from the others.
            if set.id.space() != IdSpace::Generated {
                labels.add(&frame, &set);
            }
            sets.entry(set.lu).or_default().add(set.provenance.origin(), 1);
        }
        let (release, labelled) = (release.clone(), labels.0);
        Ok(FrameProfile { release, frame, lexunits, sets, labelled, relations, sem_types })
    }
}
