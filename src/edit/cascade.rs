//! Removals, and what else they take along: nothing that is left refers to what is gone.
//!
//! What only belongs to a record always goes with it: a set's judgements and its place in valence
//! tables and journals, the sentence of a generated set, decisions on LUs proposed for a frame.
//! Editions stay; verifying one says which sets are gone. Everything else is asked for with
//! [`Removal::Cascade`].

use std::collections::BTreeSet;

use super::staged::{Judged, StagedRow, absent};
use super::{EditError, Removal, Result, Transaction};
use crate::model::{
    AnnotationSet, AnnotationSetId, CorpusId, Decided, Document, DocumentId, Frame, FrameId,
    FrameRelation, IdSpace, LexUnit, LuId, Provenance, Reference, Refers, RelationId, SemType,
    SemTypeId, Sentence, SentenceId, SentenceLayers,
};

/// Removing. With [`Removal::Alone`] a record goes only when no other refers to it.
impl Transaction<'_> {
    /// Removes a frame; with [`Removal::Cascade`] also its LUs with their sets, and its relations.
    ///
    /// # Errors
    /// [`EditError`] when it is not there, or in use; so for every function here.
    pub fn remove_frame(&mut self, frame: FrameId, removal: Removal) -> Result<()> {
        if self.frame(frame)?.is_none() {
            return Err(absent::<Frame>(frame).into());
        }
        let lexunits = self.lexunits_of(frame)?;
        let mut relations = self.all_relations()?;
        relations.retain(|relation| relation.refers_to(Reference::Frame(frame)));
        if removal == Removal::Alone && !(lexunits.is_empty() && relations.is_empty()) {
            let by =
                format!("{} LUs and {} relations belong to it", lexunits.len(), relations.len());
            return Err(in_use::<Frame>(frame, by).into());
        }
        self.forget_lexunits(&lexunits)?;
        for relation in relations {
            self.delete::<FrameRelation>(relation.id)?;
        }
        let decisions = self.database.store.all_decisions(self.release)?;
        for decided in self.staged.over(decisions, |decided: &Decided| decided.frame == frame)? {
            if decided.frame == frame {
                self.delete::<Decided>(decided.key())?;
            }
        }
        self.delete::<Frame>(frame)
    }

    /// Removes an LU; with [`Removal::Cascade`] also its sets, and the sentences that only its file
    /// listed.
    pub fn remove_lexunit(&mut self, frame: FrameId, lu: LuId, removal: Removal) -> Result<()> {
        let Some(there) = self.lexunit(frame, lu)? else {
            return Err(absent::<LexUnit>(format_args!("{lu} of frame {frame}")).into());
        };
        let sets = self.sets_of_lexunit(frame, lu)?.len();
        if removal == Removal::Alone && sets > 0 {
            return Err(in_use::<LexUnit>(lu, format!("it has {sets} annotation sets")).into());
        }
        self.forget_lexunits(&[there])
    }

    /// Removes LUs with their sets, and the sentences that only their files listed: all of them in
    /// one reading of the sentences.
    #[cfg(feature = "neural")]
    pub(crate) fn remove_lexunits(&mut self, lexunits: &[LexUnit]) -> Result<()> {
        self.forget_lexunits(lexunits)
    }

    /// Removes a relation between frames.
    pub fn remove_relation(&mut self, relation: RelationId) -> Result<()> {
        if self.relation(relation)?.is_none() {
            return Err(absent::<FrameRelation>(relation).into());
        }
        self.delete::<FrameRelation>(relation)
    }

    /// Removes a sentence; with [`Removal::Cascade`] also its sets and layers, and its place in a
    /// document.
    pub fn remove_sentence(&mut self, sentence: SentenceId, removal: Removal) -> Result<()> {
        if self.sentence(sentence)?.is_none() {
            return Err(absent::<Sentence>(sentence).into());
        }
        let sets = self.sets_of_sentence(sentence)?;
        let layers = self.layers_of_sentence(sentence)?.len();
        let mut documents = self.all_documents()?;
        documents.retain(|document| document.refers_to(Reference::Sentence(sentence)));
        if removal == Removal::Alone && !(sets.is_empty() && layers == 0 && documents.is_empty()) {
            let by = format!(
                "{} annotation sets, {layers} sets of sentence layers and {} documents have it",
                sets.len(),
                documents.len()
            );
            return Err(in_use::<Sentence>(sentence, by).into());
        }
        self.forget_sets(sets)?;
        self.forget_sentence(sentence)
    }

    /// Removes an annotation set with its judgements; with [`Removal::Cascade`] also the sets that
    /// were generated from it.
    pub fn remove_annotation_set(&mut self, set: AnnotationSetId, removal: Removal) -> Result<()> {
        let Some(there) = self.annotation_set(set)? else {
            return Err(absent::<AnnotationSet>(set).into());
        };
        let grown = self.grown_from(std::slice::from_ref(&there))?.len();
        if removal == Removal::Alone && grown > 0 {
            let by =
                format!("{grown} annotation sets were generated or carried from it, or after it");
            return Err(in_use::<AnnotationSet>(set, by).into());
        }
        self.forget_sets(vec![there])
    }

    /// Removes a semantic type; with [`Removal::Cascade`] frames, FEs, LUs and sub types lose it.
    pub fn remove_sem_type(&mut self, sem_type: SemTypeId, removal: Removal) -> Result<()> {
        if self.sem_type(sem_type)?.is_none() {
            return Err(absent::<SemType>(sem_type).into());
        }
        self.look_at(super::ReadScope::Release);
        let (store, release) = (&self.database.store, self.release);
        let mut frames: Vec<Frame> = self.staged.over(store.frames(release)?, |_| true)?;
        let mut lexunits: Vec<LexUnit> = self.staged.over(store.lexunits(release)?, |_| true)?;
        let mut types: Vec<SemType> = self.staged.over(store.sem_types(release)?, |_| true)?;
        frames.retain(|frame| frame.refers_to(Reference::SemType(sem_type)));
        lexunits.retain(|lu| lu.refers_to(Reference::SemType(sem_type)));
        types.retain(|of| of.refers_to(Reference::SemType(sem_type)));
        if removal == Removal::Alone
            && !(frames.is_empty() && lexunits.is_empty() && types.is_empty())
        {
            let by = format!(
                "{} frames, {} LUs and {} semantic types have it",
                frames.len(),
                lexunits.len(),
                types.len()
            );
            return Err(in_use::<SemType>(sem_type, by).into());
        }
        for mut frame in frames {
            frame.sem_types.retain(|id| *id != sem_type);
            frame.elements.iter_mut().for_each(|fe| fe.sem_types.retain(|id| *id != sem_type));
            self.put(frame)?;
        }
        for mut lu in lexunits {
            lu.sem_types.retain(|id| *id != sem_type);
            self.put(lu)?;
        }
        for mut of in types {
            of.parents.retain(|id| *id != sem_type);
            self.put(of)?;
        }
        self.delete::<SemType>(sem_type)
    }

    /// Removes a document; with [`Removal::Cascade`] also its sets, and the sentences that no other
    /// place lists. Reads every sentence of the release.
    pub fn remove_document(
        &mut self,
        corpus: CorpusId,
        document: DocumentId,
        removal: Removal,
    ) -> Result<()> {
        if self.document(corpus, document)?.is_none() {
            return Err(absent::<Document>(format_args!("{document} of corpus {corpus}")).into());
        }
        self.look_at(super::ReadScope::Release);
        let store = &self.database.store;
        let mut listed: Vec<Sentence> =
            self.staged.over(store.sentences(self.release)?, |_| true)?;
        let key = (Some(corpus), Some(document));
        let itself = Reference::Document(corpus, document);
        listed.retain(|sentence| sentence.refers_to(itself));
        if removal == Removal::Alone && !listed.is_empty() {
            let by = format!("it lists {} sentences", listed.len());
            return Err(in_use::<Document>(document, by).into());
        }
        for mut sentence in listed {
            let mut sets = self.sets_of_sentence(sentence.id)?;
            sets.retain(|set| set.refers_to(itself));
            self.forget_sets(sets)?;
            sentence.occurrences.retain(|at| (at.corpus, at.document) != key);
            self.delist(sentence)?;
        }
        self.delete::<Document>((corpus, document))
    }

    /// Deletes LUs with their sets, and takes their places out of the sentences that list them.
    fn forget_lexunits(&mut self, lexunits: &[LexUnit]) -> Result<()> {
        let mut sets = Vec::new();
        for lu in lexunits {
            sets.extend(self.sets_of_lexunit(lu.frame, lu.id)?);
        }
        self.forget_sets(sets)?;
        for lu in lexunits {
            self.delete::<LexUnit>(lu.key())?;
        }
        let files = lexunits.iter().filter(|lu| lu.listing.lu_file).map(|lu| lu.id);
        let files: BTreeSet<LuId> = files.collect();
        if files.is_empty() {
            return Ok(());
        }
        // No key leads from an LU's file to its sentences.
        let store = &self.database.store;
        let mut listed: Vec<Sentence> =
            self.staged.over(store.sentences(self.release)?, |_| true)?;
        let is_gone = |lu: Option<LuId>| lu.is_some_and(|lu| files.contains(&lu));
        listed.retain(|sentence| sentence.occurrences.iter().any(|at| is_gone(at.lu)));
        for mut sentence in listed {
            for mut layers in self.layers_of_sentence(sentence.id)? {
                layers.listed_under.retain(|lu| !files.contains(lu));
                self.put(layers)?;
            }
            sentence.occurrences.retain(|at| !is_gone(at.lu));
            self.delist(sentence)?;
        }
        Ok(())
    }

    /// Writes a sentence that fewer places list; without any, and without sets, it goes.
    fn delist(&mut self, sentence: Sentence) -> Result<()> {
        let id = sentence.id;
        let is_unused = sentence.occurrences.is_empty() && self.sets_of_sentence(id)?.is_empty();
        if is_unused { self.forget_sentence(id) } else { self.put(sentence) }
    }

    /// Deletes a sentence that has no sets, with its layers and its places in documents.
    fn forget_sentence(&mut self, sentence: SentenceId) -> Result<()> {
        for layers in self.layers_of_sentence(sentence)? {
            self.delete::<SentenceLayers>(layers.key())?;
        }
        for mut document in self.all_documents()? {
            if document.refers_to(Reference::Sentence(sentence)) {
                document.sentences.retain(|id| *id != sentence);
                self.put(document)?;
            }
        }
        self.delete::<Sentence>(sentence)
    }

    /// The sets that were generated from any of these, or whose chain they are part of, and those
    /// that were carried from or beside one.
    fn grown_from(&self, sets: &[AnnotationSet]) -> Result<Vec<AnnotationSet>> {
        let ids: BTreeSet<AnnotationSetId> = sets.iter().map(|set| set.id).collect();
        let frames: BTreeSet<FrameId> = sets.iter().map(|set| set.frame).collect();
        // Generated sets stand in the frame of their seed; the journal knows those that moved.
        let mut candidates = Vec::new();
        for &frame in &frames {
            candidates.extend(self.sets_of_frame(frame)?);
        }
        // Sets that were carried along stand in the sentence of a generated one, in other frames.
        let written = sets.iter().filter(|set| set.sentence.space() == IdSpace::Generated);
        for sentence in written.map(|set| set.sentence).collect::<BTreeSet<_>>() {
            let of_sentence = self.sets_of_sentence(sentence)?;
            candidates.extend(of_sentence.into_iter().filter(|set| !frames.contains(&set.frame)));
        }
        let known: BTreeSet<AnnotationSetId> = candidates.iter().map(|set| set.id).collect();
        for set in sets {
            let seed = seed_of(set).unwrap_or(set.id);
            for row in self.database.store.journals_of(self.release, seed)? {
                for id in row?.2.chain {
                    if !known.contains(&id) {
                        candidates.extend(self.annotation_set(id)?);
                    }
                }
            }
        }
        let is_named = |(_, of)| matches!(of, Reference::Set(id) if ids.contains(&id));
        candidates
            .retain(|set| !ids.contains(&set.id) && set.references().into_iter().any(is_named));
        Ok(candidates)
    }

    /// Sets, and all that grew from them.
    pub(super) fn sets_that_go(&self, sets: &[AnnotationSet]) -> Result<Vec<AnnotationSet>> {
        let mut all = sets.to_vec();
        loop {
            let grown = self.grown_from(&all)?;
            if grown.is_empty() {
                return Ok(all);
            }
            all.extend(grown);
        }
    }

    /// Deletes sets, those grown from them, and what belongs to any of these alone.
    pub(super) fn forget_sets(&mut self, sets: Vec<AnnotationSet>) -> Result<()> {
        let sets = self.sets_that_go(&sets)?;
        let ids: BTreeSet<AnnotationSetId> = sets.iter().map(|set| set.id).collect();
        for set in &sets {
            for judgement in self.judgements(set.id)? {
                self.delete::<Judged>((set.id, judgement.reviewer, judgement.question))?;
            }
            self.delete::<AnnotationSet>(set.id)?;
        }
        self.forget_in_journals(&sets, &ids)?;
        let lexunits: BTreeSet<_> = sets.iter().map(|set| (set.frame, set.lu)).collect();
        for (frame, lu) in lexunits {
            if let Some(lu) = self.lexunit(frame, lu)? {
                self.put(without_sets(lu, &ids))?;
            }
        }
        let generated = sets.iter().filter(|set| set.sentence.space() == IdSpace::Generated);
        for sentence in generated.map(|set| set.sentence).collect::<BTreeSet<_>>() {
            if self.sets_of_sentence(sentence)?.is_empty() {
                self.forget_sentence(sentence)?;
            }
        }
        Ok(())
    }

    /// Deletes the journals of seeds that go, and takes sets that go out of the others' chains.
    fn forget_in_journals(
        &mut self,
        sets: &[AnnotationSet],
        ids: &BTreeSet<AnnotationSetId>,
    ) -> Result<()> {
        let seeds: BTreeSet<_> = sets.iter().map(|set| seed_of(set).unwrap_or(set.id)).collect();
        for seed in seeds {
            for row in self.database.store.journals_of(self.release, seed)? {
                let (target, recipe, stored) = row?;
                let key = (seed, target, recipe);
                let staged = self.staged.journal.remove(&key);
                let entry = staged.unwrap_or(Some(stored)).filter(|_| !ids.contains(&seed));
                let entry = entry.map(|mut entry| {
                    entry.chain.retain(|id| !ids.contains(id));
                    entry
                });
                self.staged.journal.insert(key, entry);
            }
        }
        Ok(())
    }
}

fn in_use<R: StagedRow>(id: impl std::fmt::Display, by: String) -> EditError {
    EditError::InUse { kind: R::KIND, id: id.to_string(), by }
}

fn seed_of(set: &AnnotationSet) -> Option<AnnotationSetId> {
    match &set.provenance {
        Provenance::Generated(made) => Some(made.seed),
        _ => None,
    }
}

/// An LU whose valence tables do not name these sets. The counts are FrameNet's own and stay.
fn without_sets(mut lu: LexUnit, gone: &BTreeSet<AnnotationSetId>) -> LexUnit {
    lu.valences.retain_sets(|set| !gone.contains(&set));
    lu
}
