//! What a release's files hold beside FrameNet, by what it stands at.
//!
//! It is kept by file and by the path of the element, which names sentence and set as the file does
//! ([`crate::model::Foreign`]). Sets of one number in one sentence are not told apart.

use std::collections::HashMap;

use crate::database::Result;
use crate::model::{
    AnnotationSet, CorpusId, DocumentId, ForeignFile, ForeignPlace, FrameId, IdSpace, LuId,
    NumberKind, Provenance, ReleaseId, Sentence, WrittenNumbers,
};
use crate::store::Store;

/// What stands in the files of some releases.
#[derive(Default)]
pub(crate) struct ForeignContent {
    /// At sentences, by release and by what the sentence's number is written as.
    places: HashMap<(ReleaseId, String), Vec<Placed>>,
    /// Outside of sentences, by file.
    files: HashMap<(ReleaseId, ForeignFile), Vec<ForeignPlace>>,
    numbers: HashMap<ReleaseId, WrittenNumbers>,
}

struct Placed {
    file: ForeignFile,
    /// What the set's number is written as, where it stands inside of a set.
    set: Option<String>,
    place: ForeignPlace,
}

impl ForeignContent {
    pub(crate) fn read(
        store: &Store,
        releases: impl IntoIterator<Item = ReleaseId>,
    ) -> Result<Self> {
        let mut this = Self::default();
        for release in releases {
            for row in store.all_foreign(release)? {
                let (file, foreign) = row?;
                for place in foreign.places {
                    let Some(sentence) = key_of(&place.element, "sentence") else {
                        this.files.entry((release, file)).or_default().push(place);
                        continue;
                    };
                    let key = (release, sentence.to_owned());
                    let set = key_of(&place.element, "annotationSet").map(str::to_owned);
                    this.places.entry(key).or_default().push(Placed { file, set, place });
                }
            }
            this.numbers.insert(release, store.written_numbers(release)?);
        }
        Ok(this)
    }

    /// Whether the files hold nothing.
    pub(crate) fn is_empty(&self) -> bool {
        self.places.is_empty() && self.files.is_empty()
    }

    fn outside(
        &self,
        release: ReleaseId,
        file: ForeignFile,
    ) -> impl Iterator<Item = &ForeignPlace> {
        self.files.get(&(release, file)).into_iter().flatten()
    }

    /// What stands in a frame's file, outside of LUs.
    pub(crate) fn at_frame(
        &self,
        release: ReleaseId,
        frame: FrameId,
    ) -> impl Iterator<Item = &ForeignPlace> {
        let here = self.outside(release, ForeignFile::Frame(frame));
        here.filter(|place| key_of(&place.element, "lexUnit").is_none())
    }

    /// What stands in an LU's file outside of sentences, and at the LU in its frame's file.
    pub(crate) fn at_lexunit<'b>(
        &'b self,
        release: ReleaseId,
        (frame, lu): (FrameId, LuId),
        name: &'b str,
    ) -> impl Iterator<Item = &'b ForeignPlace> {
        let written = self.written(release, NumberKind::LexUnit, lu.0.into());
        // One without a number is known by its name.
        let is_own = move |place: &&ForeignPlace| {
            key_of(&place.element, "lexUnit")
                .is_some_and(|key| key == if written.is_empty() { name } else { &written })
        };
        let in_frame = self.outside(release, ForeignFile::Frame(frame)).filter(is_own);
        self.outside(release, ForeignFile::LexUnit(frame, lu)).chain(in_frame)
    }

    /// What stands in a document's file, outside of sentences.
    pub(crate) fn at_document(
        &self,
        release: ReleaseId,
        (corpus, document): (CorpusId, DocumentId),
    ) -> impl Iterator<Item = &ForeignPlace> {
        self.outside(release, ForeignFile::Document(corpus, document))
    }

    /// What stands at a sentence, and at everything in it.
    pub(crate) fn at_sentence<'b>(
        &'b self,
        release: ReleaseId,
        sentence: &'b Sentence,
    ) -> impl Iterator<Item = &'b ForeignPlace> {
        let here = self.of(release, sentence).filter(|placed| lists(placed.file, sentence));
        here.map(|placed| &placed.place)
    }

    /// What stands at a set, at everything in it, and at its sentence; nothing for sets of no file.
    pub(crate) fn at_set<'b>(
        &'b self,
        release: ReleaseId,
        set: &'b AnnotationSet,
        sentence: &'b Sentence,
    ) -> impl Iterator<Item = &'b ForeignPlace> {
        let number = set.id.in_xml(set.xml_id);
        let own = self.written(release, NumberKind::AnnotationSet, number);
        let here = self.of(release, sentence).filter(move |placed| {
            let is_own = placed.set.as_ref().is_none_or(|set| *set == own);
            is_own && holds(placed.file, set)
        });
        here.map(|placed| &placed.place)
    }

    fn of(&self, release: ReleaseId, sentence: &Sentence) -> impl Iterator<Item = &Placed> {
        let number = sentence.id.in_xml(sentence.xml_id);
        let written = self.written(release, NumberKind::Sentence, number);
        self.places.get(&(release, written)).into_iter().flatten()
    }

    fn written(&self, release: ReleaseId, kind: NumberKind, number: u64) -> String {
        let text = self.numbers.get(&release).and_then(|numbers| numbers.text(kind, number));
        text.map_or_else(|| number.to_string(), str::to_owned)
    }
}

/// Whether a file lists a sentence.
fn lists(file: ForeignFile, sentence: &Sentence) -> bool {
    let mut places = sentence.occurrences.iter();
    match (sentence.id.space(), file) {
        (IdSpace::Exemplar, ForeignFile::LexUnit(_, lu)) => {
            places.any(|place| place.lu == Some(lu))
        }
        (IdSpace::FullText, ForeignFile::Document(corpus, document)) => {
            places.any(|place| (place.corpus, place.document) == (Some(corpus), Some(document)))
        }
        _ => false,
    }
}

/// Whether a set comes from a file.
fn holds(file: ForeignFile, set: &AnnotationSet) -> bool {
    match (&set.provenance, file) {
        (Provenance::Exemplar { lu, .. }, ForeignFile::LexUnit(_, of)) => *lu == of,
        (Provenance::FullText { corpus, document }, ForeignFile::Document(of, number)) => {
            (*corpus, *document) == (of, number)
        }
        _ => false,
    }
}

/// What the innermost element of a name in a path is called by: nothing where it has no number.
fn key_of<'p>(path: &'p str, element: &str) -> Option<&'p str> {
    let (_, rest) = path.rsplit_once(&format!("/{element}"))?;
    match rest.strip_prefix('[') {
        Some(key) => key.split(']').next(),
        // Not the beginning of another name.
        None => rest.starts_with(['/', '#']).then_some("").or(rest.is_empty().then_some("")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_names_its_sentence_and_its_set() {
        let path = "/lexUnit[7]/subCorpus[a/b]/sentence[5]/annotationSet[6]#2/layer[FE]/label[X]";
        assert_eq!(key_of(path, "sentence"), Some("5"));
        assert_eq!(key_of(path, "annotationSet"), Some("6"));
        assert_eq!(key_of("/fullTextAnnotation/sentence[5]/text", "annotationSet"), None);
        assert_eq!(key_of("/x/sentence/annotationSet#3/layer", "annotationSet"), Some(""));
        assert_eq!(key_of("/x/sentence", "sentence"), Some(""));
        assert_eq!(key_of("/x/sentences[5]", "sentence"), None);
    }
}
