//! The FEs of a frame by their names, composed or not.

use super::called;
use crate::model::{Frame, FrameElement};

impl Frame {
    /// The FEs [called](crate::text::called) so: one, but for odd releases.
    pub fn fes_by_name(&self, name: &str) -> impl Iterator<Item = &FrameElement> + use<'_> {
        called(&self.elements, name, |fe| &fe.name).into_iter()
    }

    /// The FE of that name. Of several the first in the release's order;
    /// [`fes_by_name`](Self::fes_by_name) gives all.
    #[must_use]
    pub fn fe_by_name(&self, name: &str) -> Option<&FrameElement> {
        self.fes_by_name(name).next()
    }
}
