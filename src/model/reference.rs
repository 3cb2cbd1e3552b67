//! What records name by number, said once: an import, a check, an edit and an export each follow
//! it. FEs belong to their frames and are no records of their own.

use super::{
    AnnotationSet, AnnotationSetId, CorpusId, Document, DocumentId, Frame, FrameElement, FrameId,
    FrameRelation, IdSpace, LexUnit, LuId, Occurrence, Provenance, RecipeId, SemType, SemTypeId,
    Sentence, SentenceId, SentenceLayers,
};

/// A record that another one names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs, reason = "each is what its name says")]
pub enum Reference {
    SemType(SemTypeId),
    Frame(FrameId),
    LexUnit(FrameId, LuId),
    /// An LU by its number alone, as files name it that list sentences.
    Listed(LuId),
    Document(CorpusId, DocumentId),
    Sentence(SentenceId),
    Set(AnnotationSetId),
    Recipe(RecipeId),
}

/// What a record names, each with the field that names it.
type References = Vec<(&'static str, Reference)>;

/// A record that names others.
pub trait Refers {
    /// What it names, each with the field that names it.
    fn references(&self) -> References;

    /// Whether it names something.
    fn refers_to(&self, something: Reference) -> bool {
        self.references().iter().any(|(_, reference)| *reference == something)
    }
}

fn each<'a, T: Copy>(
    field: &'static str,
    ids: &'a [T],
    of: fn(T) -> Reference,
) -> impl Iterator<Item = (&'static str, Reference)> + use<'a, T> {
    ids.iter().map(move |id| (field, of(*id)))
}

/// Says of each kind of record what it names.
macro_rules! refers {
    ($($record:ty: |$it:ident| $references:expr;)*) => {$(
        impl Refers for $record {
            fn references(&self) -> References {
                let $it = self;
                $references
            }
        }
    )*};
}

refers! {
    SemType: |it| each("parents", &it.parents, Reference::SemType).collect();
    FrameElement: |it| each("sem_types", &it.sem_types, Reference::SemType).collect();
    Frame: |it| {
        let of_elements = it.elements.iter().flat_map(Refers::references);
        each("sem_types", &it.sem_types, Reference::SemType).chain(of_elements).collect()
    };
    FrameRelation: |it| {
        vec![("parent", Reference::Frame(it.parent)), ("child", Reference::Frame(it.child))]
    };
    LexUnit: |it| {
        // FrameNet's own tables name full-text sets that no file of a release has.
        let sets = it.valences.sets().into_iter().filter(|set| set.space() != IdSpace::FullText);
        let mut all = vec![("frame", Reference::Frame(it.frame))];
        all.extend(each("sem_types", &it.sem_types, Reference::SemType));
        all.extend(sets.map(|set| ("sets", Reference::Set(set))));
        all
    };
    Document: |it| each("sentences", &it.sentences, Reference::Sentence).collect();
    Sentence: |it| {
        let of_place = |place: &Occurrence| {
            let document = place.corpus.zip(place.document);
            let document = document.map(|(corpus, id)| Reference::Document(corpus, id));
            let lu = place.lu.map(|lu| ("occurrences.lu", Reference::Listed(lu)));
            document.map(|of| ("occurrences.document", of)).into_iter().chain(lu)
        };
        it.occurrences.iter().flat_map(of_place).collect()
    };
    SentenceLayers: |it| {
        let mut all = vec![("sentence", Reference::Sentence(it.sentence))];
        all.extend(each("listed_under", &it.listed_under, Reference::Listed));
        all
    };
    AnnotationSet: |it| {
        let mut all = vec![
            ("sentence", Reference::Sentence(it.sentence)),
            ("frame", Reference::Frame(it.frame)),
            ("lu", Reference::LexUnit(it.frame, it.lu)),
        ];
        match &it.provenance {
            Provenance::Exemplar { lu, .. } => all.push(("provenance.lu", Reference::Listed(*lu))),
            Provenance::FullText { corpus, document } => {
                all.push(("provenance.document", Reference::Document(*corpus, *document)));
            }
            Provenance::Imported { .. } | Provenance::User | Provenance::Predicted(_) => {}
            Provenance::Generated(made) => {
                all.push(("provenance.recipe", Reference::Recipe(made.recipe)));
                all.push(("provenance.seed", Reference::Set(made.seed)));
                all.push(("provenance.source", Reference::Set(made.source)));
                all.extend(each("provenance.chain", &made.chain, Reference::Set));
            }
            Provenance::Carried(carrying) => {
                all.push(("provenance.generated", Reference::Set(carrying.generated)));
                all.push(("provenance.source", Reference::Set(carrying.source)));
            }
        }
        all
    };
}
