//! What the index is told of a set: the same at import, after a write and in a rebuild.

use crate::index::Entry;
use crate::model::{AnnotationSet, CorpusId, DocumentId, LuId, Occurrence, Provenance, ReleaseId};

/// The corpus that lists a set, and the document in it, as far as they are known. A full-text set
/// has its own, an exemplar the one under which its LU file lists the sentence. A set that people
/// added has the one that lists its sentence first. A generated set has its seed's, and a carried
/// one its source's, which is not looked up here.
pub(crate) fn listing(
    set: &AnnotationSet,
    occurrences: &[Occurrence],
) -> Option<(CorpusId, Option<DocumentId>)> {
    let first = |lu: Option<LuId>| {
        let mut places = occurrences.iter().filter(|place| lu.is_none() || place.lu == lu);
        places.find_map(|place| Some((place.corpus?, place.document)))
    };
    match &set.provenance {
        Provenance::FullText { corpus, document } => Some((*corpus, Some(*document))),
        Provenance::Exemplar { lu, .. } => first(Some(*lu)),
        Provenance::Imported { .. } | Provenance::User | Provenance::Predicted(_) => first(None),
        Provenance::Generated(_) | Provenance::Carried(_) => None,
    }
}

/// The entry of a set; `occurrences` are its sentence's.
pub(crate) fn entry<'a>(
    release: ReleaseId,
    set: &'a AnnotationSet,
    text: &'a str,
    trigger: &'a str,
    occurrences: &[Occurrence],
) -> Entry<'a> {
    let listing = listing(set, occurrences);
    Entry {
        release,
        frame: set.frame,
        lu: set.lu,
        sentence: set.sentence,
        set: set.id,
        trigger,
        text,
        origin: set.provenance.origin(),
        corpus: listing.map(|(corpus, _)| corpus),
        document: listing.and_then(|(corpus, document)| Some((corpus, document?))),
        generation: match &set.provenance {
            Provenance::Generated(generation) => Some(generation),
            _ => None,
        },
        carrying: match &set.provenance {
            Provenance::Carried(carrying) => Some(carrying),
            _ => None,
        },
    }
}
