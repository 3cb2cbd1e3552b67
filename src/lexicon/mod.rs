//! One release as its reader sees it: frames, FEs, LUs, relations, semantic types, documents,
//! sentences and their annotation.
//!
//! Ids are a release's own, so everything is asked of a [`Lexicon`], which stands for one. It is a
//! handle: it holds no data, is cheap to clone, and may be used from many threads at a time. A
//! function that may find nothing gives an `Option`; one that gives one thing and finds several
//! fails and lists them. A plural noun gives an iterator that reads
//! rows on demand, in the order of their keys. `find_*` takes a [`Pattern`] and gives what matches
//! in order of name.
//!
//! ```
//! use fnstore::database::Database;
//! use fnstore::transfer::ImportOptions;
//! use fnstore::query::{Case, Pattern};
//!
//! # let store = tempfile::tempdir()?;
//! # let release = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/mini-framenet");
//! let database = Database::open_writer(store.path())?;
//! database.import(release.as_ref(), &ImportOptions::default(), &mut |_| {})?;
//! let lexicon = database.lexicon("mini-framenet")?;
//!
//! let frame = lexicon.frame_by_name("Checking")?.expect("it is in the release");
//! assert_eq!(frame.elements.len(), 9);
//! for lu in lexicon.find_lus(&Pattern::wildcard("insp*", Case::Fold))? {
//!     let lu = lu?;
//!     for exemplar in lexicon.exemplars(&lu)? {
//!         let exemplar = exemplar?;
//!         println!("{}: {}", lu.name, exemplar.sentence.text);
//!     }
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod coverage;
mod difference;
mod edition;
mod elements;
mod foreign;
mod forms;
mod growth;
mod growth_figure;
mod only;
mod predicates;
mod profile;
mod semtypes;
mod valence;
mod wordnet;

use std::collections::BTreeMap;
use std::sync::Arc;

pub use coverage::SetCounts;
#[doc(hidden)]
pub use coverage::{Coverage, CoverageCounts};
#[doc(hidden)]
pub use difference::{Change, Compared, Difference};
#[doc(hidden)]
pub use edition::EditionChanges;
#[cfg(feature = "neural")]
pub(crate) use edition::content_hash;
pub use elements::LabelledElement;
#[doc(hidden)]
pub use foreign::FileSubject;
#[doc(hidden)]
pub use growth::{NewTrigger, RoundGrowth};
#[doc(hidden)]
pub use growth_figure::growth_figure;
pub use only::RecordKey;
#[doc(hidden)]
pub use predicates::Predicates;
#[cfg(feature = "neural")]
pub use profile::FrameProfile;
#[doc(hidden)]
pub use semtypes::{Contradiction, DerivedTypes, Propagation};
pub use semtypes::{SemTypeTree, propagate};
pub use valence::observed_valences;
pub use wordnet::Wordnet;

use crate::database::{Database, DatabaseError, ReleaseRef, Result};
use crate::model::{
    AnnotationSet, AnnotationSetId, CorpusId, Document, DocumentId, Frame, FrameElement, FrameId,
    FrameRelation, LexUnit, LuId, Origin, Release, SemType, SemTypeId, Sentence, SentenceId,
    SentenceLayers,
};
use crate::query::{Case, Expression, Field, Pattern, Term, Test};
use crate::search::{Answer, ElementLabel, elements};
use crate::store::{NameKind, Store, StoreError};
use crate::text::called;

/// A release of a database, for reading.
#[derive(Clone)]
pub struct Lexicon<'a> {
    database: &'a Database,
    release: Arc<Release>,
}

/// A frame element with the frame that it belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ElementOfFrame {
    /// The frame's number.
    pub frame: FrameId,
    /// The frame's name.
    pub frame_name: Arc<str>,
    /// The FE.
    pub element: FrameElement,
}

/// A type of frame relations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RelationKind {
    /// Its name, as in `Inheritance`.
    pub name: String,
    /// What it calls the super frame, as in `Parent`.
    pub super_role: String,
    /// What it calls the sub frame, as in `Child`.
    pub sub_role: String,
    /// Number of relations of the type.
    pub relations: u64,
}

/// The types of some frame relations, by name.
#[must_use]
#[doc(hidden)]
pub fn relation_kinds<'r>(
    relations: impl IntoIterator<Item = &'r FrameRelation>,
) -> Vec<RelationKind> {
    let mut counts: BTreeMap<(&str, &str, &str), u64> = BTreeMap::new();
    for relation in relations {
        let key = (relation.kind.as_str(), &*relation.super_role, &*relation.sub_role);
        *counts.entry(key).or_default() += 1;
    }
    let kind =
        |((name, super_role, sub_role), relations): ((&str, &str, &str), u64)| RelationKind {
            name: name.to_owned(),
            super_role: super_role.to_owned(),
            sub_role: sub_role.to_owned(),
            relations,
        };
    counts.into_iter().map(kind).collect()
}

/// An annotation set with its sentence.
#[derive(Debug, Clone, PartialEq)]
pub struct AnnotatedSentence {
    /// The sentence.
    pub sentence: Sentence,
    /// The set.
    pub set: AnnotationSet,
}

impl AnnotatedSentence {
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

impl Database {
    /// A release, by its name or its number, for reading.
    ///
    /// # Errors
    /// When there is none, with the nearest name.
    pub fn lexicon<'r>(&self, release: impl Into<ReleaseRef<'r>>) -> Result<Lexicon<'_>> {
        Ok(Lexicon { database: self, release: Arc::new(self.release(release)?) })
    }

    /// Every release, for reading, in order of import.
    ///
    /// # Errors
    /// When the store fails.
    pub fn lexicons(&self) -> Result<Vec<Lexicon<'_>>> {
        let releases = self.releases()?.into_iter();
        Ok(releases.map(|release| Lexicon { database: self, release: Arc::new(release) }).collect())
    }

    /// Checks that some release has the name, where the pattern is one. A pattern of many names may
    /// match nothing; a name that nothing has is a slip.
    ///
    /// # Errors
    /// When no release has it, with the nearest name.
    pub fn require_name(&self, kind: NameKind, names: &Pattern) -> Result<()> {
        let Some(name) = names.as_exact() else { return Ok(()) };
        for lexicon in self.lexicons()? {
            let ids = lexicon.store().ids_by_name(lexicon.release.id, kind, name, true)?;
            if !ids.is_empty() {
                return Ok(());
            }
        }
        if kind == NameKind::FrameElement {
            let (every, names) = (Pattern::wildcard("*", Case::Fold), folded(name));
            for lexicon in self.lexicons()? {
                if !lexicon.labelled_fes(&every, &names)?.is_empty() {
                    return Ok(());
                }
            }
        }
        Err(self.unknown(kind, name)?)
    }
}

impl<'a> Lexicon<'a> {
    /// The release.
    #[must_use]
    pub fn release(&self) -> &Release {
        &self.release
    }

    fn store(&self) -> &'a Store {
        &self.database.store
    }

    /// The frame of that number.
    ///
    /// # Errors
    /// When the store fails; so for every function here.
    pub fn frame(&self, id: FrameId) -> Result<Option<Frame>> {
        Ok(self.store().frame(self.release.id, id)?)
    }

    /// All frames, by number.
    pub fn frames(&self) -> Result<impl Iterator<Item = Result<Frame>> + use<'a>> {
        Ok(self.store().frames(self.release.id)?.map(|frame| Ok(frame?)))
    }

    /// The frames whose name matches, in order of name.
    pub fn find_frames(
        &self,
        names: &Pattern,
    ) -> Result<impl Iterator<Item = Result<Frame>> + use<'a>> {
        let mut ids = Vec::new();
        if let (Some(name), Case::Fold) = (names.as_exact(), names.case()) {
            ids = self.store().frames_by_name(self.release.id, name, true)?;
        } else {
            for row in self.store().frame_names(self.release.id)? {
                let (id, name) = row?;
                if names.matches(&name) {
                    ids.push(id);
                }
            }
        }
        let (store, release) = (self.store(), self.release.id);
        Ok(ids.into_iter().filter_map(move |id| found(store.frame(release, id))))
    }

    /// The frames of these names, letter case folded, in the order of the names.
    ///
    /// # Errors
    /// When no release has a frame of one of the names, with the nearest name.
    pub fn frames_called(&self, names: &[String]) -> Result<Vec<Frame>> {
        let mut called = Vec::new();
        for name in names {
            let pattern = Pattern::exact(name, Case::Fold);
            self.database.require_name(NameKind::Frame, &pattern)?;
            for frame in self.find_frames(&pattern)? {
                called.push(frame?);
            }
        }
        Ok(called)
    }

    /// Number and name of every frame, in order of name, without reading the frames themselves.
    pub fn frame_names(&self) -> Result<impl Iterator<Item = Result<(FrameId, String)>> + use<'a>> {
        Ok(self.store().frame_names(self.release.id)?.map(|row| Ok(row?)))
    }

    /// All frame elements that frames define, by number of their frame, in its order;
    /// [`labelled_fes`](Self::labelled_fes) gives the others.
    pub fn fes(&self) -> Result<impl Iterator<Item = Result<ElementOfFrame>> + use<'a>> {
        Ok(self.frames()?.flat_map(|frame| match frame {
            Ok(frame) => elements_of(frame).map(Ok).collect(),
            Err(error) => vec![Err(error)],
        }))
    }

    /// The frame elements whose name matches, in the order of [`fes`](Self::fes).
    pub fn find_fes(
        &self,
        names: &Pattern,
    ) -> Result<impl Iterator<Item = Result<ElementOfFrame>> + use<'a>> {
        let names = names.clone();
        Ok(self.fes()?.filter(move |row| {
            row.as_ref().map_or(true, |entry| names.matches(&entry.element.name))
        }))
    }

    /// The LU of that number in that frame.
    pub fn lu_of_frame(&self, frame: FrameId, id: LuId) -> Result<Option<LexUnit>> {
        Ok(self.store().lexunit(self.release.id, frame, id)?)
    }

    /// All LUs, by frame and number; those of status `Problem`, too.
    pub fn lus(&self) -> Result<impl Iterator<Item = Result<LexUnit>> + use<'a>> {
        Ok(self.store().lexunits(self.release.id)?.map(|lu| Ok(lu?)))
    }

    /// The LUs of a frame, by number.
    pub fn lus_of(
        &self,
        frame: FrameId,
    ) -> Result<impl Iterator<Item = Result<LexUnit>> + use<'a>> {
        Ok(self.store().lexunits_of(self.release.id, frame)?.map(|lu| Ok(lu?)))
    }

    /// The LUs of that name, as FrameNet spells it, by frame: one in each frame that the name
    /// evokes, and now and then two.
    pub fn lus_by_name(&self, name: &str) -> Result<Vec<LexUnit>> {
        let found = self.find_lus(&Pattern::exact(name, Case::Sensitive))?;
        Ok(called(found.collect::<Result<Vec<_>>>()?, name, |lu| &lu.name))
    }

    /// The LUs whose name matches, in order of name.
    pub fn find_lus(
        &self,
        names: &Pattern,
    ) -> Result<impl Iterator<Item = Result<LexUnit>> + use<'a>> {
        let (store, release) = (self.store(), self.release.id);
        let mut ids = Vec::new();
        if let Some(name) = names.as_exact() {
            ids = store.lexunits_by_name(release, name, names.case() == Case::Fold)?;
        } else {
            for row in store.lexunit_names(release)? {
                let (frame, lu, name) = row?;
                if names.matches(&name) {
                    ids.push((frame, lu));
                }
            }
        }
        Ok(ids.into_iter().filter_map(move |(frame, lu)| found(store.lexunit(release, frame, lu))))
    }

    /// Frame, number and name of every LU, in order of name, without reading the LUs themselves.
    pub fn lu_names(
        &self,
    ) -> Result<impl Iterator<Item = Result<(FrameId, LuId, String)>> + use<'a>> {
        Ok(self.store().lexunit_names(self.release.id)?.map(|row| Ok(row?)))
    }

    /// All frame relations with the FEs that they map, by number.
    pub fn relations(&self) -> Result<impl Iterator<Item = Result<FrameRelation>> + use<'a>> {
        Ok(self.store().relations(self.release.id)?.map(|relation| Ok(relation?)))
    }

    /// The relations in which a frame stands, on either side, by number.
    pub fn relations_of(
        &self,
        frame: FrameId,
    ) -> Result<impl Iterator<Item = Result<FrameRelation>> + use<'a>> {
        Ok(self.relations()?.filter(move |row| {
            row.as_ref()
                .map_or(true, |relation| relation.parent == frame || relation.child == frame)
        }))
    }

    /// The types of frame relations, by name.
    pub fn relation_kinds(&self) -> Result<Vec<RelationKind>> {
        Ok(relation_kinds(&self.relations()?.collect::<Result<Vec<_>>>()?))
    }

    /// The semantic type of that number.
    pub fn semtype(&self, id: SemTypeId) -> Result<Option<SemType>> {
        Ok(self.store().sem_type(self.release.id, id)?)
    }

    /// All semantic types with the order of inheritance among them.
    pub fn semtype_tree(&self) -> Result<SemTypeTree> {
        Ok(SemTypeTree::new(self.semtypes()?.collect::<Result<Vec<_>>>()?))
    }

    /// All semantic types, by number.
    pub fn semtypes(&self) -> Result<impl Iterator<Item = Result<SemType>> + use<'a>> {
        Ok(self.store().sem_types(self.release.id)?.map(|semtype| Ok(semtype?)))
    }

    /// The full-text documents, by corpus and number.
    ///
    /// A release also names documents whose text it does not hold, as the sources of exemplars;
    /// those are left out.
    pub fn documents(&self) -> Result<impl Iterator<Item = Result<Document>> + use<'a>> {
        let documents = self.store().documents(self.release.id)?.map(|document| Ok(document?));
        Ok(documents.filter(|row: &Result<Document>| {
            row.as_ref().map_or(true, |document| !document.file.is_empty())
        }))
    }

    /// The full-text documents whose name or file matches, by corpus and number.
    pub fn find_documents(
        &self,
        names: &Pattern,
    ) -> Result<impl Iterator<Item = Result<Document>> + use<'a>> {
        let names = names.clone();
        Ok(self.documents()?.filter(move |row| {
            row.as_ref()
                .map_or(true, |document| document.named_by(|text| names.matches(text)).is_some())
        }))
    }

    /// The document of that number in that corpus, full text or a source of exemplars.
    pub fn document(&self, corpus: CorpusId, id: DocumentId) -> Result<Option<Document>> {
        Ok(self.store().document(self.release.id, corpus, id)?)
    }

    /// The sentence of that id.
    pub fn sentence(&self, id: SentenceId) -> Result<Option<Sentence>> {
        Ok(self.store().sentence(self.release.id, id)?)
    }

    /// All sentences, by id: exemplars, full text, imported, generated.
    pub fn sentences(&self) -> Result<impl Iterator<Item = Result<Sentence>> + use<'a>> {
        Ok(self.store().sentences(self.release.id)?.map(|sentence| Ok(sentence?)))
    }

    /// The sentences of a document, in reading order.
    pub fn sentences_of<'d>(
        &self,
        document: &'d Document,
    ) -> impl Iterator<Item = Result<Sentence>> + use<'a, 'd> {
        let (store, release) = (self.store(), self.release.id);
        document.sentences.iter().filter_map(move |id| found(store.sentence(release, *id)))
    }

    /// The annotation set of that id.
    pub fn annotation_set(&self, id: AnnotationSetId) -> Result<Option<AnnotationSet>> {
        Ok(self.store().annotation_set(self.release.id, id)?)
    }

    /// All annotation sets, by frame, LU, sentence and id.
    pub fn annotation_sets(&self) -> Result<impl Iterator<Item = Result<AnnotationSet>> + use<'a>> {
        Ok(self.store().annotation_sets(self.release.id)?.map(|set| Ok(set?)))
    }

    /// The sets that evoke frames in a sentence, by id.
    pub fn annotation_sets_of(
        &self,
        sentence: SentenceId,
    ) -> Result<impl Iterator<Item = Result<AnnotationSet>> + use<'a>> {
        let (store, release) = (self.store(), self.release.id);
        let ids = store.sets_of_sentence(release, sentence)?;
        Ok(ids.filter_map(move |id| match id {
            Ok(id) => found(store.annotation_set(release, id)),
            Err(error) => Some(Err(error.into())),
        }))
    }

    /// The sets of an LU, whoever made them, in order of sentence.
    pub fn annotation_sets_of_lu(
        &self,
        frame: FrameId,
        lu: LuId,
    ) -> Result<impl Iterator<Item = Result<AnnotationSet>> + use<'a>> {
        let (store, release) = (self.store(), self.release.id);
        let sets = store.annotation_sets_of_lexunit(release, frame, lu)?;
        Ok(sets.map(|set| Ok(set?)))
    }

    /// The annotation sets of an LU, by sentence and id. Generated ones, which may be many, are not
    /// decoded: `None` stands in the place of each.
    #[cfg(feature = "neural")]
    pub(crate) fn annotation_sets_but_generated(
        &self,
        frame: FrameId,
        lu: LuId,
    ) -> Result<impl Iterator<Item = Result<Option<AnnotationSet>>> + use<'a>> {
        let (store, release) = (self.store(), self.release.id);
        let sets = store.annotation_sets_but_generated(release, frame, Some(lu))?;
        Ok(sets.map(|set| Ok(set?)))
    }

    /// The sentence layers of a sentence (parts of speech, named entities, constructions), by id.
    pub fn sentence_layers_of(
        &self,
        sentence: SentenceId,
    ) -> Result<impl Iterator<Item = Result<SentenceLayers>> + use<'a>> {
        let layers = self.store().sentence_layers(self.release.id, sentence)?;
        Ok(layers.map(|layers| Ok(layers?)))
    }

    /// The exemplars of an LU: the sets of its own file with their sentences, by sentence and id.
    ///
    /// [`annotations`](Self::annotations) with `lu=` finds its sets of every origin.
    pub fn exemplars(
        &self,
        lu: &LexUnit,
    ) -> Result<impl Iterator<Item = Result<AnnotatedSentence>> + use<'a>> {
        let (store, release) = (self.store(), self.release.id);
        let sets = store.annotation_sets_of_lexunit(release, lu.frame, lu.id)?;
        Ok(sets.filter_map(move |set| {
            let set = match set {
                Ok(set) => set,
                Err(error) => return Some(Err(error.into())),
            };
            if set.provenance.origin() != Origin::Exemplar {
                return None;
            }
            let sentence = found(store.sentence(release, set.sentence))?;
            Some(sentence.map(|sentence| AnnotatedSentence { sentence, set }))
        }))
    }

    /// The annotation sets of this release that a query finds, as [`Database::query`] gives them.
    ///
    /// # Errors
    /// As [`Database::query`].
    pub fn annotations(
        &self,
        expression: &Expression,
    ) -> Result<impl Iterator<Item = Result<Answer>> + use<'a>> {
        self.database.query(&self.here(expression))
    }

    /// An expression of this release alone.
    fn here(&self, expression: &Expression) -> Expression {
        let name = Pattern::exact(&self.release.name, Case::Sensitive);
        let here = Term { field: Field::Release, test: Test::Pattern(name) };
        Expression::conjunction([Expression::Term(here), expression.clone()])
    }
}

/// A name in any letter case.
fn folded(name: &str) -> Pattern {
    Pattern::exact(name, Case::Fold)
}

/// What a read by id found, for iterators: a row that is gone is left out.
fn found<T>(row: std::result::Result<Option<T>, StoreError>) -> Option<Result<T>> {
    row.map_err(DatabaseError::from).transpose()
}

fn elements_of(frame: Frame) -> impl Iterator<Item = ElementOfFrame> {
    let (id, name) = (frame.id, Arc::<str>::from(frame.name));
    let element =
        move |element| ElementOfFrame { frame: id, frame_name: Arc::clone(&name), element };
    frame.elements.into_iter().map(element)
}
