//! Annotation sets of a run of keys, from its beginning or from a place in it on.

use super::estimate::SetRange;
use super::family::Family;
use super::key::{AnnotationKey, Key};
use super::read::record_of;
use super::{Result, SetLocation, Store};
use crate::model::{AnnotationSet, AnnotationSetId, ReleaseId};

/// A place in the order of annotation sets: the set there need not be.
pub type SetPlace = (ReleaseId, SetLocation, AnnotationSetId);

impl SetRange {
    /// The release that it lies in.
    #[must_use]
    pub fn release(self) -> ReleaseId {
        match self {
            Self::Release(release) | Self::Frame(release, _) | Self::LexUnit(release, ..) => {
                release
            }
        }
    }
}

impl Store {
    /// The annotation sets of a run of keys, by frame, LU, sentence and id; those behind a place
    /// alone, if there is one.
    ///
    /// # Errors
    /// When the engine fails or a record is damaged.
    pub fn annotation_sets_in(
        &self,
        range: SetRange,
        after: Option<SetPlace>,
    ) -> Result<impl Iterator<Item = Result<AnnotationSet>> + '_> {
        let (family, prefix) = (Family::Annotation, range.prefix());
        let after = after.map(|place| key_of(place).encode()).unwrap_or_default();
        // Runs that lie before the place have nothing to give.
        let is_behind = prefix < after && !after.starts_with(&prefix);
        let rows = match is_behind {
            true => None,
            false => Some(self.engine.scan_behind(family, prefix, after)?),
        };
        let read = move |key: &[u8], value: &[u8]| {
            record_of(family, key, value).map(|(_, set): (_, AnnotationSet)| set)
        };
        Ok(rows.into_iter().flat_map(move |rows| rows.each(read)))
    }
}

pub(super) fn key_of((release, at, set): SetPlace) -> AnnotationKey {
    let SetLocation { frame, lu, sentence } = at;
    AnnotationKey { release, frame, lu, sentence, set }
}
