//! What a file of some sets must hold besides them: all that they refer to, what that refers to,
//! and so on, until nothing is named that is not there.
//!
//! In a part that ends with records of the release: all of them are written. In a file of additions
//! it ends at what is not an addition: the release that they add to has it, and it is named by
//! number and name. Additions are told by their numbers: those that a store counts out to people,
//! generated ones, and proposed LUs.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use crate::database::Result;
use crate::exchange::jsonl::Scope;
use crate::model::{
    ACCEPTED, AnnotationSet, AnnotationSetId, CorpusId, DocumentId, Frame, FrameElement, FrameId,
    IdSpace, LexUnit, LuId, OWN_RANGE, Origin, PROPOSED, Provenance, RecipeId, Reference, Refers,
    RelationId, Release, ReleaseId, SemTypeId, Sentence, SentenceId,
};
use crate::store::Store;

/// The ids of the records that a file must hold.
pub(super) struct Closure<'a> {
    store: &'a Store,
    release: ReleaseId,
    scope: Scope,
    /// Of additions; a part has all of them.
    pub(super) sem_types: BTreeSet<SemTypeId>,
    /// Every frame that is named, additions or not.
    pub(super) frames: BTreeSet<FrameId>,
    /// LUs to write.
    pub(super) lexunits: BTreeSet<(FrameId, LuId)>,
    /// Relations that are additions and were asked for; others go with their frames.
    pub(super) relations: BTreeSet<RelationId>,
    pub(super) recipes: BTreeSet<RecipeId>,
    /// Every sentence that is named, additions or not.
    pub(super) sentences: BTreeSet<SentenceId>,
    /// Sets to write, under their sentences.
    pub(super) sets: BTreeSet<(SentenceId, AnnotationSetId)>,
    /// Documents to write.
    pub(super) documents: BTreeSet<(CorpusId, DocumentId)>,
    /// The sets to write by their ids alone.
    set_ids: HashSet<AnnotationSetId>,
    /// Sets that were named and not looked at yet.
    named: HashSet<AnnotationSetId>,
    /// Sets to write that were taken only because others name them.
    origins: u64,
    /// Frames of LUs by the LUs' numbers, as files name them; read when first asked for.
    frames_of_lexunits: Option<HashMap<LuId, Vec<FrameId>>>,
}

/// Whether a sentence is an addition.
pub(super) fn is_added_sentence(sentence: SentenceId) -> bool {
    sentence.is_counted() || sentence.space() == IdSpace::Generated
}

/// Whether a file writes a sentence that it has sets of.
fn writes_sentence(scope: Scope, sentence: SentenceId) -> bool {
    scope != Scope::Additions || is_added_sentence(sentence)
}

/// Whether a set is an addition.
fn is_added_set(set: AnnotationSetId) -> bool {
    set.is_counted() || set.space() == IdSpace::Generated
}

/// The FEs of a frame of the release that are additions.
pub(super) fn added_elements<'f>(store: &Store, frame: &'f Frame) -> Result<Vec<&'f FrameElement>> {
    let mut added = Vec::new();
    for fe in &frame.elements {
        if store.has_counted(fe.id.0)? {
            added.push(fe);
        }
    }
    Ok(added)
}

/// What some sets are and name, gathered by one of several threads.
pub(super) struct Gathered<'a> {
    store: &'a Store,
    pub(super) release: Arc<Release>,
    scope: Scope,
    /// Whether there are layers over generated sentences; hardly anybody adds any.
    has_generated_layers: bool,
    /// Whether sets that were carried along are written with the generated ones.
    takes_along: bool,
    sets: Vec<(SentenceId, AnnotationSetId)>,
    /// In order, so that of several that fail it is always the same.
    references: BTreeSet<Reference>,
}

impl<'a> Gathered<'a> {
    pub(super) fn new(
        store: &'a Store,
        release: Arc<Release>,
        (scope, takes_along): (Scope, bool),
    ) -> Result<Self> {
        let has_generated_layers = store.has_layers_from(release.id, IdSpace::Generated)?;
        let takes_along = takes_along && store.may_have_carried(release.id)?;
        let (sets, references) = (Vec::new(), BTreeSet::new());
        Ok(Self { store, release, scope, has_generated_layers, takes_along, sets, references })
    }

    /// Takes a set with its sentence.
    pub(super) fn add(&mut self, set: &AnnotationSet, sentence: &Sentence) -> Result<()> {
        let is_known = self.sets.last().is_some_and(|(before, _)| *before == sentence.id);
        self.sets.push((sentence.id, set.id));
        self.refer(set);
        if self.takes_along && set.provenance.origin() == Origin::Generated {
            for other in self.store.sets_of_sentence(self.release.id, sentence.id)? {
                let Some(other) = self.store.annotation_set(self.release.id, other?)? else {
                    continue;
                };
                if matches!(&other.provenance, Provenance::Carried(of) if of.generated == set.id) {
                    self.references.insert(Reference::Set(other.id));
                }
            }
        }
        if is_known || !writes_sentence(self.scope, sentence.id) {
            return Ok(());
        }
        self.refer(sentence);
        if self.has_generated_layers || sentence.id.space() != IdSpace::Generated {
            for layers in self.store.sentence_layers(self.release.id, sentence.id)? {
                self.refer(&layers?);
            }
        }
        Ok(())
    }

    fn refer(&mut self, record: &impl Refers) {
        self.references.extend(record.references().into_iter().map(|(_, reference)| reference));
    }
}

impl<'a> Closure<'a> {
    pub(super) fn new(store: &'a Store, release: ReleaseId, scope: Scope) -> Self {
        Self {
            store,
            release,
            scope,
            sem_types: BTreeSet::new(),
            frames: BTreeSet::new(),
            lexunits: BTreeSet::new(),
            relations: BTreeSet::new(),
            recipes: BTreeSet::new(),
            sentences: BTreeSet::new(),
            sets: BTreeSet::new(),
            documents: BTreeSet::new(),
            set_ids: HashSet::new(),
            named: HashSet::new(),
            origins: 0,
            frames_of_lexunits: None,
        }
    }

    fn adds(&self) -> bool {
        self.scope == Scope::Additions
    }

    /// Whether a set is among those to write.
    pub(super) fn has_set(&self, set: AnnotationSetId) -> bool {
        self.set_ids.contains(&set)
    }

    /// Number of sets to write that were taken only because others name them.
    pub(super) fn origins(&self) -> u64 {
        self.origins
    }

    /// Whether a frame is to be written, and not named alone.
    pub(super) fn writes_frame(&self, frame: FrameId) -> Result<bool> {
        Ok(!self.adds() || self.store.has_counted(frame.0)?)
    }

    /// Whether an LU is an addition.
    fn is_added_lexunit(&self, lu: &LexUnit) -> Result<bool> {
        let is_proposed =
            lu.id.0 >= OWN_RANGE && [PROPOSED, ACCEPTED].contains(&lu.status.as_str());
        Ok(is_proposed || self.store.has_counted(lu.id.0)?)
    }

    /// Whether a sentence is to be written, and not named alone.
    pub(super) fn writes_sentence(&self, sentence: SentenceId) -> bool {
        writes_sentence(self.scope, sentence)
    }

    /// Whether nothing was taken.
    pub(super) fn is_empty(&self) -> bool {
        self.sets.is_empty()
            && self.sentences.is_empty()
            && self.frames.is_empty()
            && self.lexunits.is_empty()
            && self.relations.is_empty()
            && self.sem_types.is_empty()
            && self.documents.is_empty()
    }

    /// Takes a set and what it refers to; sets that it names are only noted.
    pub(super) fn take_set(&mut self, set: &AnnotationSet, sentence: &Sentence) -> Result<()> {
        if !self.set_ids.insert(set.id) {
            return Ok(());
        }
        self.sets.insert((set.sentence, set.id));
        self.take_sentence(sentence)?;
        self.take_all(set)
    }

    /// Takes sets and what they refer to; sets that they name are only noted.
    pub(super) fn take_gathered(&mut self, gathered: Gathered<'_>) -> Result<()> {
        for (sentence, set) in gathered.sets {
            if self.set_ids.insert(set) {
                self.sets.insert((sentence, set));
                self.sentences.insert(sentence);
            }
        }
        gathered.references.into_iter().try_for_each(|reference| self.take(reference))
    }

    /// Takes what a record refers to; sets that it names are only noted, and its sentence is there.
    fn take_all(&mut self, record: &impl Refers) -> Result<()> {
        record.references().into_iter().try_for_each(|(_, reference)| self.take(reference))
    }

    fn take(&mut self, reference: Reference) -> Result<()> {
        match reference {
            Reference::SemType(id) => self.take_sem_type(id),
            Reference::Frame(id) => self.take_frame(id),
            Reference::LexUnit(frame, lu) => self.take_lexunit(frame, lu),
            Reference::Listed(lu) => self.take_listed(lu),
            Reference::Document(corpus, id) => self.take_document(corpus, id),
            Reference::Sentence(_) => Ok(()),
            Reference::Set(set) => {
                self.named.insert(set);
                Ok(())
            }
            Reference::Recipe(recipe) => {
                self.recipes.insert(recipe);
                Ok(())
            }
        }
    }

    /// Takes the sets that were named, those that they name, and so on.
    pub(super) fn close(&mut self) -> Result<()> {
        while !self.named.is_empty() {
            let mut named: Vec<_> = std::mem::take(&mut self.named).into_iter().collect();
            named.retain(|set| !self.set_ids.contains(set) && (!self.adds() || is_added_set(*set)));
            named.sort_unstable();
            for id in named {
                let Some(set) = self.store.annotation_set(self.release, id)? else { continue };
                let sentence = self.store.sentence(self.release, set.sentence)?;
                if let Some(sentence) = sentence {
                    self.take_set(&set, &sentence)?;
                    self.origins += 1;
                }
            }
        }
        Ok(())
    }

    /// Takes everything that people added to the release, whether or not a set refers to it. An LU
    /// that they accepted is theirs; its sentences go with it.
    pub(super) fn take_all_of_people(&mut self) -> Result<()> {
        let (store, release) = (self.store, self.release);
        for sem_type in store.sem_types(release)? {
            self.take_sem_type(sem_type?.id)?;
        }
        for frame in store.frames(release)? {
            let frame = frame?;
            if store.has_counted(frame.id.0)? || !added_elements(store, &frame)?.is_empty() {
                self.take_frame(frame.id)?;
            }
        }
        for row in store.lexunit_names(release)? {
            let (frame, lu, _) = row?;
            if store.has_counted(lu.0)? {
                self.take_lexunit(frame, lu)?;
            } else if lu.0 >= OWN_RANGE {
                self.take_if_accepted(frame, lu)?;
            }
        }
        for found in store.discoveries(release)? {
            let found = found?;
            if store.lexunit(release, found.frame, found.lu)?.is_some() {
                self.take_lexunit(found.frame, found.lu)?;
            }
        }
        for relation in store.relations(release)? {
            let relation = relation?;
            if store.has_counted(relation.id.0)? {
                self.relations.insert(relation.id);
                self.take_all(&relation)?;
            }
        }
        for document in store.documents(release)? {
            let document = document?;
            self.take_document(document.corpus, document.id)?;
        }
        for sentence in store.sentences_from(release, IdSpace::Imported)? {
            let sentence = sentence?;
            if is_added_sentence(sentence.id) {
                self.take_sentence(&sentence)?;
            }
        }
        Ok(())
    }

    fn take_if_accepted(&mut self, frame: FrameId, lu: LuId) -> Result<()> {
        let lexunit = self.store.lexunit(self.release, frame, lu)?;
        if lexunit.is_none_or(|lexunit| lexunit.status != ACCEPTED) {
            return Ok(());
        }
        self.take_lexunit(frame, lu)?;
        for set in self.store.annotation_sets_of_lexunit(self.release, frame, lu)? {
            let set = set?;
            if let Some(sentence) = self.store.sentence(self.release, set.sentence)? {
                self.take_set(&set, &sentence)?;
            }
        }
        Ok(())
    }

    fn take_sem_type(&mut self, id: SemTypeId) -> Result<()> {
        if !self.adds() || !self.store.has_counted(id.0)? || !self.sem_types.insert(id) {
            return Ok(());
        }
        let sem_type = self.store.sem_type(self.release, id)?;
        sem_type.map_or(Ok(()), |sem_type| self.take_all(&sem_type))
    }

    fn take_frame(&mut self, id: FrameId) -> Result<()> {
        if !self.frames.insert(id) || !self.adds() {
            return Ok(());
        }
        let Some(frame) = self.store.frame(self.release, id)? else { return Ok(()) };
        if self.store.has_counted(id.0)? {
            return self.take_all(&frame);
        }
        added_elements(self.store, &frame)?.into_iter().try_for_each(|fe| self.take_all(fe))
    }

    fn take_lexunit(&mut self, frame: FrameId, lu: LuId) -> Result<()> {
        self.take_frame(frame)?;
        if !self.adds() {
            self.lexunits.insert((frame, lu));
            return Ok(());
        }
        if lu.0 < OWN_RANGE || self.lexunits.contains(&(frame, lu)) {
            return Ok(());
        }
        let Some(lexunit) = self.store.lexunit(self.release, frame, lu)? else { return Ok(()) };
        if !self.is_added_lexunit(&lexunit)? {
            return Ok(());
        }
        self.lexunits.insert((frame, lu));
        self.take_all(&lexunit)
    }

    /// Takes the LUs of a number: files name an LU without its frame.
    fn take_listed(&mut self, lu: LuId) -> Result<()> {
        if self.adds() && lu.0 < OWN_RANGE {
            return Ok(());
        }
        if self.frames_of_lexunits.is_none() {
            let mut frames: HashMap<LuId, Vec<FrameId>> = HashMap::new();
            for row in self.store.lexunit_names(self.release)? {
                let (frame, lu, _) = row?;
                frames.entry(lu).or_default().push(frame);
            }
            self.frames_of_lexunits = Some(frames);
        }
        let frames = self.frames_of_lexunits.as_ref().and_then(|frames| frames.get(&lu)).cloned();
        frames.into_iter().flatten().try_for_each(|frame| self.take_lexunit(frame, lu))
    }

    fn take_sentence(&mut self, sentence: &Sentence) -> Result<()> {
        if !self.sentences.insert(sentence.id) || !self.writes_sentence(sentence.id) {
            return Ok(());
        }
        self.take_all(sentence)?;
        let mut layers = self.store.sentence_layers(self.release, sentence.id)?;
        layers.try_for_each(|layers| self.take_all(&layers?))
    }

    fn take_document(&mut self, corpus: CorpusId, document: DocumentId) -> Result<()> {
        let is_wanted = !self.adds() || self.store.has_counted(document.0)?;
        if !is_wanted || !self.documents.insert((corpus, document)) || !self.adds() {
            return Ok(());
        }
        // A part's documents list what is in the file; additions are written as they are.
        let Some(record) = self.store.document(self.release, corpus, document)? else {
            return Ok(());
        };
        for id in record.sentences.into_iter().filter(|id| is_added_sentence(*id)) {
            if let Some(sentence) = self.store.sentence(self.release, id)? {
                self.take_sentence(&sentence)?;
            }
        }
        Ok(())
    }
}
