//! One answer of a query: an annotation set with everything that it refers to by name.

use std::sync::Arc;

use crate::model::{AnnotationSet, Label, LayerName, Release, Sentence, Span, Split, Verification};

/// An annotation set that a query found.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Answer {
    /// Its release.
    pub release: Arc<Release>,
    /// Whether the store has other releases: then what is drawn of the set names its own.
    pub is_of_several: bool,
    /// Name of its frame.
    pub frame: Arc<str>,
    /// Name of its LU.
    pub lexunit: Arc<str>,
    /// Its document as the field `doc` has it: of a generated set its seed's.
    pub document: Option<Arc<str>>,
    /// Description of its document, where that has one beside its name.
    pub document_description: Option<Arc<str>>,
    /// The part of the data that it belongs to.
    pub split: Option<Split>,
    /// What a verifier says of it.
    pub verification: Option<Verification>,
    /// Its sentence.
    pub sentence: Sentence,
    /// The set.
    pub set: AnnotationSet,
}

impl Answer {
    /// The target's text, pieces joined by a space.
    #[must_use]
    pub fn trigger(&self) -> String {
        self.set.trigger(&self.sentence.text)
    }

    /// The FE labels with the grammatical function and phrase type that stand on the same span.
    pub fn elements(&self) -> impl Iterator<Item = ElementLabel<'_>> {
        elements(&self.set)
    }
}

/// An FE label of an annotation set, with what the GF and PT layers say of its span.
#[derive(Debug, Clone, Copy)]
pub struct ElementLabel<'a> {
    /// The label.
    pub label: &'a Label,
    /// Rank of its layer.
    pub rank: u8,
    /// Grammatical function.
    pub gf: Option<&'a str>,
    /// Phrase type.
    pub pt: Option<&'a str>,
}

/// The FE labels of a set, in order of layer and label.
pub(crate) fn elements(set: &AnnotationSet) -> impl Iterator<Item = ElementLabel<'_>> {
    set.fe_layers().flat_map(|layer| layer.labels.iter().map(move |label| (layer.rank, label))).map(
        |(rank, label)| {
            let span = label.extent.span();
            ElementLabel {
                label,
                rank,
                gf: on_span(set, &LayerName::Gf, rank, span),
                pt: on_span(set, &LayerName::Pt, rank, span),
            }
        },
    )
}

/// The label of a layer of that name and rank on exactly that span.
fn on_span<'a>(
    set: &'a AnnotationSet,
    name: &LayerName,
    rank: u8,
    span: Option<Span>,
) -> Option<&'a str> {
    let span = span?;
    let layers = set.layers.iter().filter(|layer| layer.name == *name && layer.rank == rank);
    let mut labels = layers.flat_map(|layer| &layer.labels);
    labels.find(|label| label.extent.span() == Some(span)).map(|label| label.name.as_str())
}
