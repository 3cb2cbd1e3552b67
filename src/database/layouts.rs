//! What is taken out of a layout when the records that it speaks of change: order stays, the
//! records have the word.

use super::Result;
use crate::model::{FrameId, ReleaseId};
use crate::store::{Batch, Store};

/// Takes the list of related frames out of a frame file's layout. The file spells relations out in
/// its own words, which need not agree with the release's list.
pub(crate) fn forget_relations(
    store: &Store,
    batch: &mut Batch<'_>,
    release: ReleaseId,
    frame: FrameId,
) -> Result<()> {
    let layout = store.frame_layout(release, frame)?;
    if let Some(mut layout) = layout.filter(|layout| !layout.relations.is_empty()) {
        layout.relations.clear();
        batch.put_frame_layout(frame, &layout)?;
    }
    Ok(())
}

/// Takes the FEs out of the headers of the LU files of a frame.
pub(crate) fn forget_elements(
    store: &Store,
    batch: &mut Batch<'_>,
    release: ReleaseId,
    frame: FrameId,
) -> Result<()> {
    for lu in store.lexunits_of(release, frame)? {
        let lu = lu?.id;
        let layout = store.lexunit_layout(release, frame, lu)?;
        if let Some(mut layout) = layout.filter(|layout| layout.elements.is_some()) {
            layout.elements = None;
            batch.put_lexunit_layout(frame, lu, &layout)?;
        }
    }
    Ok(())
}
