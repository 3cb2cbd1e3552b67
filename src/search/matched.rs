//! A set that a query found, and what can be asked of it.

use std::cell::{Cell, OnceCell};
use std::sync::Arc;

use super::answer::Answer;
use super::catalog::KnownDocument;
use super::facts::{Facts, Home};
use crate::database::{Database, Result};
use crate::model::{
    AnnotationSet, AnnotationSetId, Document, ForeignPlace, Generation, ListedPart, Provenance,
    ReleaseId, Sentence, Split, SplitList,
};
use crate::query::Field;
use crate::store::Store;
use crate::text::composed;

/// An annotation set that a query found. Its sentence and its names are read on demand.
pub struct Match<'a> {
    pub(super) facts: Arc<Facts<'a>>,
    pub(super) release: ReleaseId,
    pub(super) set: AnnotationSet,
    sentence: OnceCell<Option<Arc<Sentence>>>,
    home: OnceCell<Home>,
    document: OnceCell<Option<Arc<KnownDocument>>>,
    /// Whether its answer says nothing of its document and its part.
    has_no_place: Cell<bool>,
}

/// What an answer says of its document and its part.
#[derive(Default)]
struct Place {
    document: Option<Arc<str>>,
    description: Option<Arc<str>>,
    split: Option<Split>,
}

impl<'a> Match<'a> {
    pub(super) fn new(facts: &Arc<Facts<'a>>, release: ReleaseId, set: AnnotationSet) -> Self {
        let facts = Arc::clone(facts);
        let (sentence, home, document) = (OnceCell::new(), OnceCell::new(), OnceCell::new());
        Self { facts, release, set, sentence, home, document, has_no_place: Cell::new(false) }
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

    /// The same match, whose answer does not say which document lists it and which part it belongs
    /// to: these are not looked up then.
    #[must_use]
    pub fn without_place(self) -> Self {
        self.has_no_place.set(true);
        self
    }

    /// The set with everything that it refers to by name; `None` when its sentence is gone.
    ///
    /// # Errors
    /// When the store fails.
    pub fn into_answer(self) -> Result<Option<Answer>> {
        self.sentence()?;
        let Place { document, description, split } = match self.place() {
            // A seed that cannot be read keeps nobody from what grew from it.
            Err(error) if error.is_unreadable_record() && self.is_grown() => Place::default(),
            place => place?,
        };
        let Self { facts, release, set, sentence, .. } = self;
        let catalog = &facts.catalog;
        let sentence = sentence.into_inner().flatten().map(Arc::unwrap_or_clone);
        let (Some(sentence), Some(listed)) = (sentence, catalog.release(release)) else {
            return Ok(None);
        };
        Ok(Some(Answer {
            release: Arc::clone(listed),
            is_of_several: catalog.releases().len() > 1,
            frame: catalog.frame(release, set.frame)?,
            lexunit: catalog.lexunit(release, set.frame, set.lu)?,
            verification: facts.verification(release, set.id)?,
            document_description: description,
            document,
            split,
            sentence,
            set,
        }))
    }

    /// Where an answer says that it comes from, unless it is to say nothing.
    fn place(&self) -> Result<Place> {
        if self.has_no_place.get() {
            return Ok(Place::default());
        }
        let description = self.known_document()?.and_then(|known| known.description.clone());
        Ok(Place { document: self.document_name()?, description, split: self.split()? })
    }

    /// The sentence's text; `None` when the sentence is gone.
    ///
    /// # Errors
    /// When the store fails.
    pub fn text(&self) -> Result<Option<String>> {
        Ok(self.sentence()?.map(|sentence| sentence.text.clone()))
    }

    /// Whether it was generated or carried: its place is that of another set.
    fn is_grown(&self) -> bool {
        self.set.provenance.grown_from().is_some()
    }

    /// The human set that a generated one grew from.
    #[must_use]
    pub fn seed(&self) -> Option<AnnotationSetId> {
        self.generation().map(|made| made.seed)
    }

    pub(super) fn sentence(&self) -> Result<Option<&Sentence>> {
        if self.sentence.get().is_none() {
            let _ = self.sentence.set(self.facts.sentence(self.release, self.set.sentence)?);
        }
        Ok(self.sentence.get().and_then(Option::as_deref))
    }

    /// Reads the sentences of sets together, each once.
    pub(super) fn read_sentences(sets: &[Self]) -> Result<()> {
        let of_set = |of: &Self| (of.release, of.set.sentence);
        let mut unread: Vec<&Self> = sets.iter().filter(|of| of.sentence.get().is_none()).collect();
        let Some(store) = unread.first().map(|first| first.facts.store()) else { return Ok(()) };
        unread.sort_unstable_by_key(|of| of_set(of));
        let of_one: Vec<&[&Self]> = unread.chunk_by(|a, b| of_set(a) == of_set(b)).collect();
        let ids: Vec<_> = of_one.iter().map(|sets| of_set(sets[0])).collect();
        for (sets, sentence) in of_one.into_iter().zip(store.sentences_of(&ids)?) {
            let sentence = sentence.map(Arc::new);
            for of in sets {
                let _ = of.sentence.set(sentence.clone());
            }
        }
        Ok(())
    }

    /// Reads together what the answers of sets say beside the sets.
    pub(super) fn read_for_answers(sets: &[Self]) -> Result<()> {
        Self::read_sentences(sets)?;
        let Some(first) = sets.first() else { return Ok(()) };
        let seeds =
            sets.iter().filter_map(|of| Some((of.release, of.set.provenance.grown_from()?)));
        first.facts.read_homes(seeds)
    }

    /// Puts an empty sentence in the place of one that was not read, and leaves document and part
    /// unread, too.
    pub(super) fn leave_sentence(&self) {
        let (id, text, occurrences) = (self.set.sentence, String::new(), Vec::new());
        let empty = Sentence { id, xml_id: None, text, occurrences };
        let _ = self.sentence.set(Some(Arc::new(empty)));
        self.has_no_place.set(true);
    }

    /// The target's text; `None` when the sentence is gone.
    pub(crate) fn trigger(&self) -> Result<Option<String>> {
        Ok(self.sentence()?.map(|sentence| self.set.trigger(&sentence.text)))
    }

    pub(super) fn generation(&self) -> Option<&Generation> {
        match &self.set.provenance {
            Provenance::Generated(generation) => Some(generation),
            _ => None,
        }
    }

    /// A score of a generated set, where something has scored it; of any set the mean of its
    /// judgements, and what a frame model or a verifier says where it was asked.
    pub(super) fn score(&self, field: Field) -> Result<Option<f32>> {
        if field == Field::JudgementMean {
            return self.mean_judgement();
        }
        if field == Field::FrameFit {
            return Ok(self.set.provenance.fit().map(|fit| fit.probability));
        }
        if field == Field::Aligner {
            return Ok(self.set.provenance.aligner());
        }
        if field.is_of_verifier() {
            let said = self.facts.verification(self.release, self.set.id)?;
            return Ok(said.and_then(|said| match field {
                Field::Evokes => said.evokes,
                Field::SameMeaning => said.same_meaning,
                _ => said.reverse.map(|reverse| reverse.score),
            }));
        }
        Ok(self.generation().and_then(|made| match field {
            Field::Paraphrase => made.paraphrase_score(),
            Field::P => made.filter.map(|scores| scores.precision),
            Field::R => made.filter.map(|scores| scores.recall),
            _ => None,
        }))
    }

    fn mean_judgement(&self) -> Result<Option<f32>> {
        mean_judgement(self.facts.store(), self.release, self.set.id)
    }

    /// Names of the editions that hold the set, in order.
    pub(super) fn editions(&self) -> Result<Vec<&str>> {
        let editions = self.facts.editions()?.iter();
        let holding = editions.filter(|(release, edition)| {
            *release == self.release && edition.place_of(self.set.id).is_some()
        });
        Ok(holding.map(|(_, edition)| edition.name.as_str()).collect())
    }

    pub(crate) fn lexunit(&self) -> Result<Arc<str>> {
        self.facts.catalog.lexunit(self.release, self.set.frame, self.set.lu)
    }

    pub(crate) fn lexunit_status(&self) -> Result<Arc<str>> {
        self.facts.catalog.lexunit_status(self.release, self.set.frame, self.set.lu)
    }

    /// Where it comes from; where its seed or its source does, when it was generated or carried.
    pub(super) fn home(&self) -> Result<&Home> {
        if let Some(home) = self.home.get() {
            return Ok(home);
        }
        let home = match &self.set.provenance {
            Provenance::Generated(made) => self.facts.home_of_seed(self.release, made.seed)?,
            Provenance::Carried(of) => self.facts.home_of_seed(self.release, of.source)?,
            // It says so itself; no sentence needs to be read.
            Provenance::FullText { .. } => Home::of(&self.set, None),
            _ => Home::of(&self.set, self.sentence()?),
        };
        Ok(self.home.get_or_init(|| home))
    }

    /// The document that lists it.
    pub(super) fn document(&self) -> Result<Option<&Document>> {
        Ok(self.known_document()?.map(|known| &*known.document))
    }

    fn known_document(&self) -> Result<Option<&KnownDocument>> {
        if let Some(known) = self.document.get() {
            return Ok(known.as_deref());
        }
        let known = match self.home()?.listing {
            Some((corpus, Some(document))) => {
                self.facts.catalog.known_document(self.release, corpus, document)?
            }
            _ => None,
        };
        Ok(self.document.get_or_init(|| known).as_deref())
    }

    /// Its document as the field `doc` has it: the name of the document that lists it or its seed,
    /// else the file that it was read from.
    pub(super) fn document_name(&self) -> Result<Option<Arc<str>>> {
        match self.known_document()? {
            Some(known) => Ok(Some(Arc::clone(&known.name))),
            None => Ok(self.home()?.file.clone()),
        }
    }

    /// What the corpus that lists it is called: by its document, and where no document is known by
    /// any of the corpus's.
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

    /// What files hold beside FrameNet at the set, its sentence, its frame, LU or document.
    pub(super) fn foreign(&self, field: Field) -> Result<Vec<String>> {
        let beside = self.facts.foreign()?;
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

    /// The part of the data: what the split list says of the sentence, the LU, the document or all
    /// exemplars, the first that it names. Else the full-text document's, or for span-labelled data
    /// the one that its corpus is named after. Of a generated set its seed's. Without a list
    /// exemplars have none.
    ///
    /// # Errors
    /// When the store fails.
    pub fn split(&self) -> Result<Option<Split>> {
        let home = self.home()?;
        if let Some(list) = &self.facts.catalog.splits
            && let Some(listed) = self.listed_split(list, home)?
        {
            return Ok(listed);
        }
        if home.is_exemplar {
            return Ok(None);
        }
        Ok(self.known_document()?.and_then(|known| known.split))
    }

    fn listed_split(&self, list: &SplitList, home: &Home) -> Result<Option<ListedPart>> {
        let of_sentence = home.sentence.and_then(|id| list.sentences.get(&id));
        if let Some(split) = of_sentence {
            return Ok(Some(*split));
        }
        if let Some((frame, lu)) = home.lexunit.filter(|_| !list.lexunits.is_empty()) {
            let catalog = &self.facts.catalog;
            let frame_name = catalog.frame(self.release, frame)?;
            let lu_name = catalog.lexunit(self.release, frame, lu)?;
            if let Some(split) = list.of_lexunit(&composed(&frame_name), &composed(&lu_name)) {
                return Ok(Some(split));
            }
        }
        if !list.documents.is_empty()
            && let Some(split) = self.known_document()?.and_then(|known| known.listed)
        {
            return Ok(Some(split));
        }
        Ok(list.exemplars.filter(|_| home.is_exemplar))
    }
}

/// Mean of a set's judgements of whether its target evokes its frame; none where nobody has judged.
fn mean_judgement(store: &Store, release: ReleaseId, set: AnnotationSetId) -> Result<Option<f32>> {
    let (mut sum, mut count) = (0_u32, 0_u16);
    for judgement in store.judgements(release, set)? {
        let judgement = judgement?;
        if judgement.is_of_frame() {
            sum += u32::from(judgement.score);
            count += 1;
        }
    }
    Ok((count > 0).then(|| (f64::from(sum) / f64::from(count)) as f32))
}

impl Database {
    /// Mean of a set's judgements of whether its target evokes its frame; none where nobody has
    /// judged it.
    pub(crate) fn mean_judgement(
        &self,
        release: ReleaseId,
        set: AnnotationSetId,
    ) -> Result<Option<f32>> {
        mean_judgement(self.store(), release, set)
    }
}
