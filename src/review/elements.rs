//! Frame elements of a set, of which reviewers move the spans.

use crate::model::{AnnotationSet, Extent, LayerName, Span};

/// An FE that is moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct MovedElement {
    /// Its place among those that [`spanning`] gives.
    pub(super) element: usize,
    pub(super) before: Span,
    pub(super) after: Span,
}

/// The FEs that have a span, by name, in the order of layers and labels.
pub(super) fn spanning(set: &AnnotationSet) -> impl Iterator<Item = (&str, Span)> {
    let labels = set.fe_layers().flat_map(|layer| &layer.labels);
    labels.filter_map(|label| Some((label.name.as_str(), label.extent.span()?)))
}

/// Moves an FE, and with it what else is said of its span in layers of its rank: grammatical
/// function and phrase type. Gives whether it stands where it is said to stand.
pub(super) fn move_element(set: &mut AnnotationSet, moved: MovedElement) -> bool {
    let mut at = 0;
    let mut rank = None;
    for layer in set.layers.iter_mut().filter(|layer| layer.name == LayerName::Fe) {
        for label in &mut layer.labels {
            let Some(span) = label.extent.span() else { continue };
            if at == moved.element && span == moved.before {
                label.extent = Extent::Overt(moved.after);
                rank = Some(layer.rank);
            }
            at += 1;
        }
    }
    let Some(rank) = rank else { return false };
    let beside = [LayerName::Gf, LayerName::Pt];
    for layer in &mut set.layers {
        if layer.rank == rank && beside.contains(&layer.name) {
            for label in &mut layer.labels {
                if label.extent.span() == Some(moved.before) {
                    label.extent = Extent::Overt(moved.after);
                }
            }
        }
    }
    true
}
