//! Which lemmas a release has LUs of.

use std::collections::HashMap;

use super::Result;
use super::unit::Unit;
use crate::model::{FrameId, LuId, OWN_RANGE, PROPOSED, Pos, ReleaseId};
use crate::store::Store;

/// Lemmas of a release's own LUs, as running text in lower case, with the number of LUs of that
/// name.
pub(super) struct KnownUnits(HashMap<(String, Pos), u32>);

impl KnownUnits {
    pub(super) fn read(store: &Store, release: ReleaseId) -> Result<Self> {
        let mut known = HashMap::new();
        for row in store.lexunit_names(release)? {
            let (frame, lu, name) = row?;
            let is_proposed = || -> Result<bool> {
                let lu = store.lexunit(release, frame, lu)?;
                Ok(lu.is_some_and(|lu| lu.status == PROPOSED))
            };
            // An LU of the store's own range was proposed, or someone added it.
            if lu.0 < OWN_RANGE || !is_proposed()? {
                let key = unit_key(store, release, (frame, lu), &name)?;
                *known.entry(key).or_insert(0) += 1;
            }
        }
        Ok(Self(known))
    }

    pub(super) fn has(&self, unit: &(String, Pos)) -> bool {
        self.0.contains_key(unit)
    }

    /// How many frames have an LU of that lemma and part of speech.
    pub(super) fn frames_with(&self, unit: &(String, Pos)) -> u32 {
        self.0.get(unit).copied().unwrap_or(0)
    }
}

/// As [`Unit::key`], of an LU of a name; it is read only where the name may say its sense.
pub(super) fn unit_key(
    store: &Store,
    release: ReleaseId,
    (frame, lu): (FrameId, LuId),
    name: &str,
) -> Result<(String, Pos)> {
    let read = name.contains('_').then(|| store.lexunit(release, frame, lu)).transpose()?.flatten();
    Ok(read.map_or_else(|| lemma_of(name), |lexunit| Unit::of(&lexunit).key()))
}

/// Lemma as running text in lower case, and part of speech, of an LU name.
fn lemma_of(name: &str) -> (String, Pos) {
    Unit::new(name).key()
}
