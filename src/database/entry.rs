//! What the index is told of a set: the same at import, after a write and in a rebuild.

use crate::index::Entry;
use crate::model::{AnnotationSet, CorpusId, DocumentId, Occurrence, Provenance, ReleaseId};

/// The document that a set belongs to: a full-text set's own, an exemplar's as its LU file lists
/// the sentence.
pub(super) fn listing(
    set: &AnnotationSet,
    occurrences: &[Occurrence],
) -> Option<(CorpusId, DocumentId)> {
    match &set.provenance {
        Provenance::FullText { corpus, document } => Some((*corpus, *document)),
        Provenance::Exemplar { lu, .. } => {
            let mut of_lu = occurrences.iter().filter(|place| place.lu == Some(*lu));
            of_lu.find_map(|place| place.corpus.zip(place.document))
        }
        _ => None,
    }
}

/// The entry of a set; `place` holds the names of the corpus and the document of its [`listing`].
pub(super) fn entry<'a>(
    release: ReleaseId,
    set: &'a AnnotationSet,
    text: &'a str,
    trigger: &'a str,
    place: Option<(&'a str, &'a str)>,
) -> Entry<'a> {
    Entry {
        release,
        frame: set.frame,
        lu: set.lu,
        sentence: set.sentence,
        set: set.id,
        trigger,
        text,
        origin: set.provenance.origin(),
        corpus: place.map(|(corpus, _)| corpus),
        document: place.map(|(_, document)| document),
        generation: match &set.provenance {
            Provenance::Generated(generation) => Some(generation),
            _ => None,
        },
    }
}
