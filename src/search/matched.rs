//! A set that a query found, and what can be asked of it.

use std::cell::OnceCell;
use std::rc::Rc;
use std::sync::Arc;

use super::answer::Answer;
use super::facts::{Facts, Home};
use crate::database::Result;
use crate::model::{
    AnnotationSet, Document, ForeignPlace, Generation, Provenance, ReleaseId, Sentence, Split,
};
use crate::query::Field;

/// An annotation set that a query found. Its sentence and its names are read when they are asked
/// for.
pub struct Match<'a> {
    pub(super) facts: Rc<Facts<'a>>,
    pub(super) release: ReleaseId,
    pub(super) set: AnnotationSet,
    sentence: OnceCell<Option<Sentence>>,
    home: OnceCell<Home>,
}

impl<'a> Match<'a> {
    pub(super) fn new(facts: &Rc<Facts<'a>>, release: ReleaseId, set: AnnotationSet) -> Self {
        let facts = Rc::clone(facts);
        Self { facts, release, set, sentence: OnceCell::new(), home: OnceCell::new() }
    }

    /// Number of its release.
    #[must_use]
    pub fn release(&self) -> ReleaseId {
        self.release
    }

    /// The set.
    #[must_use]
    pub fn set(&self) -> &AnnotationSet {
        &self.set
    }

    /// The set with everything that it refers to by name; `None` when its sentence is gone.
    ///
    /// # Errors
    /// When the store fails.
    pub fn into_answer(self) -> Result<Option<Answer>> {
        self.sentence()?;
        let Self { facts, release, set, sentence, .. } = self;
        let catalog = &facts.catalog;
        let sentence = sentence.into_inner().flatten();
        let (Some(sentence), Some(listed)) = (sentence, catalog.release(release)) else {
            return Ok(None);
        };
        let document = match set.provenance {
            Provenance::FullText { corpus, document } => {
                catalog.document(release, corpus, document)?
            }
            _ => None,
        };
        Ok(Some(Answer {
            release: Arc::clone(listed),
            frame: catalog.frame(release, set.frame)?,
            lexunit: catalog.lexunit(release, set.frame, set.lu)?,
            document_description: document
                .as_ref()
                .and_then(|document| document.description.as_deref().map(Into::into)),
            document: document.map(|document| document.name.as_str().into()),
            sentence,
            set,
        }))
    }

    pub(super) fn sentence(&self) -> Result<Option<&Sentence>> {
        if self.sentence.get().is_none() {
            let found = self.facts.store.sentence(self.release, self.set.sentence)?;
            let _ = self.sentence.set(found);
        }
        Ok(self.sentence.get().and_then(Option::as_ref))
    }

    pub(super) fn trigger(&self) -> Result<Option<String>> {
        Ok(self.sentence()?.map(|sentence| self.set.trigger(&sentence.text)))
    }

    pub(super) fn generation(&self) -> Option<&Generation> {
        match &self.set.provenance {
            Provenance::Generated(generation) => Some(generation),
            _ => None,
        }
    }

    /// A score of a generated set; those of filters only where a filter has scored it.
    pub(super) fn score(&self, field: Field) -> Option<f32> {
        let made = self.generation()?;
        match field {
            Field::Paraphrase => Some(made.paraphrase),
            Field::Aligner => Some(made.aligner),
            Field::P => made.filter.map(|scores| scores.precision),
            Field::R => made.filter.map(|scores| scores.recall),
            _ => None,
        }
    }

    pub(super) fn lexunit(&self) -> Result<Arc<str>> {
        self.facts.catalog.lexunit(self.release, self.set.frame, self.set.lu)
    }

    pub(super) fn lexunit_status(&self) -> Result<Arc<str>> {
        self.facts.catalog.lexunit_status(self.release, self.set.frame, self.set.lu)
    }

    /// Where it comes from; where its seed comes from, when it was generated.
    pub(super) fn home(&self) -> Result<&Home> {
        if let Some(home) = self.home.get() {
            return Ok(home);
        }
        let home = match &self.set.provenance {
            Provenance::Generated(made) => self.facts.home_of_seed(self.release, made.seed)?,
            // It says so itself; no sentence needs to be read.
            Provenance::FullText { .. } => Home::of(&self.set, None),
            _ => Home::of(&self.set, self.sentence()?),
        };
        Ok(self.home.get_or_init(|| home))
    }

    /// The document that lists it.
    pub(super) fn document(&self) -> Result<Option<Arc<Document>>> {
        match self.home()?.listing {
            Some((corpus, Some(document))) => {
                self.facts.catalog.document(self.release, corpus, document)
            }
            _ => Ok(None),
        }
    }

    /// What the corpus that lists it is called: by its document, and where no document is known by any
    /// of the corpus's.
    pub(super) fn corpus_names(&self) -> Result<Vec<String>> {
        if let Some(document) = self.document()? {
            return Ok(vec![document.corpus_name.clone()]);
        }
        match self.home()?.listing {
            Some((corpus, _)) => {
                Ok(self.facts.catalog.corpus_names(self.release, corpus)?.to_vec())
            }
            None => Ok(Vec::new()),
        }
    }

    /// What files hold beside FrameNet: at the set and at its sentence, or at its frame, LU or document.
    pub(super) fn foreign(&self, field: Field) -> Result<Vec<String>> {
        let beside = self.facts.beside()?;
        if beside.is_empty() {
            return Ok(Vec::new());
        }
        let (release, set, name) = (self.release, &self.set, self.lexunit()?);
        let places: Vec<&ForeignPlace> = match field {
            Field::FrameForeign => beside.at_frame(release, set.frame).collect(),
            Field::LuForeign => beside.at_lexunit(release, (set.frame, set.lu), &name).collect(),
            Field::DocForeign => match self.home()?.listing {
                Some((corpus, Some(document))) => {
                    beside.at_document(release, (corpus, document)).collect()
                }
                _ => Vec::new(),
            },
            _ => match self.sentence()? {
                Some(sentence) => beside.at_set(release, set, sentence).collect(),
                None => Vec::new(),
            },
        };
        Ok(places.into_iter().flat_map(ForeignPlace::texts).collect())
    }

    /// The part of the data: the full-text document's, for span-labelled data what its corpus is called
    /// after, for generated sets the seed's. Exemplars have none.
    pub(super) fn split(&self) -> Result<Option<Split>> {
        if self.home()?.is_exemplar {
            return Ok(None);
        }
        Ok(self.document()?.and_then(|document| Split::of(&document)))
    }
}
