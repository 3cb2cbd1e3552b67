//! Writes: rows gathered in a batch, committed together.

use std::collections::BTreeMap;
use std::fmt::Display;

use rocksdb::WriteBatch;

use crate::model::{
    AnnotationSet, AnnotationSetId, CorpusId, Counted, Decided, Document, DocumentId,
    DocumentLayout, Edition, ForeignFile, Frame, FrameId, FrameLayout, FrameRelation, Judgement,
    LexUnit, LexUnitLayout, LuId, RecipeId, RelationId, ReleaseCounts, ReleaseId, ReleaseLayout,
    SemType, Sentence, SentenceId, SentenceLayers, Verification,
};
use crate::text::fold;

use super::family::Family;
use super::history::History;
use super::key::{
    AnnotationKey, CountKey, DecisionKey, DocumentKey, EditionKey, FrameKey, JournalKey,
    JudgementKey, Key, LayoutKey, LexUnitKey, NameKey, NameKind, RecipeKey, RelationKey,
    SemTypeKey, SentenceKey, SentenceSetKey, SetKey,
};
use super::names::pair;
use super::record::{self, ChangeRecord, Encoded, RecipeRecord, Stored};
use super::rows::require_readable;
use super::tally::{self, Keyed};
use super::touched::{Said, Touched};
use super::{Action, Change, JournalEntry, Result, SetLocation, Store, StoreError, Subject};

/// Rows of a release, or of several, to be written together, and what the list of changes says of
/// them.
pub struct Batch<'a> {
    pub(super) store: &'a Store,
    pub(super) release: ReleaseId,
    pub(super) rows: WriteBatch,
    pub(super) changes: Vec<ChangeRecord>,
    /// Keys of rows that are counted.
    pub(super) keyed: Keyed,
    /// Rows that are counted by what they say.
    pub(super) touched: Touched,
    /// What each release counts once this is committed and did not before, and the other way
    /// round.
    pub(super) counts: BTreeMap<ReleaseId, [ReleaseCounts; 2]>,
    pub(super) history: History,
}

/// What a commit is made of: rows, keys that are counted, what changes kept counts, and what it
/// tells of itself.
pub(super) type Parts = (WriteBatch, Keyed, Touched, History);

impl<'a> Batch<'a> {
    pub(super) fn new(store: &'a Store, release: ReleaseId) -> Self {
        let (rows, counts, history) = Default::default();
        let (changes, keyed, touched) = Default::default();
        Self { store, release, rows, changes, keyed, touched, counts, history }
    }

    /// Goes on with rows of another release, which are written together with those before.
    pub fn turn_to(&mut self, release: ReleaseId) {
        self.release = release;
    }

    /// Bytes gathered so far.
    #[must_use]
    pub fn size(&self) -> usize {
        self.rows.size_in_bytes()
    }

    /// Number of rows gathered so far.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether nothing was gathered.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Puts a record that its reader takes; `name` is what errors call it. Every writer of records
    /// comes through here: what could not be read again would keep everybody from the rest.
    pub(super) fn put(
        &mut self,
        family: Family,
        key: &impl Key,
        name: impl Display,
        value: Encoded,
    ) -> Result<()> {
        let value = value.map_err(|why| StoreError::unwritable(family.name(), &name, why))?;
        self.put_row(family, &key.encode(), name, &value)
    }

    pub(super) fn put_row(
        &mut self,
        family: Family,
        key: &[u8],
        name: impl Display,
        value: &[u8],
    ) -> Result<()> {
        require_readable(family, key, value)
            .map_err(|(_, reason)| StoreError::invalid(family.name(), name, reason))?;
        self.count(family, key, true);
        self.history.row(family, key, Some(value));
        self.touched.written(family, key, value);
        self.store.engine.put(&mut self.rows, family, key, value)
    }

    /// Puts a key without a value.
    fn mark(&mut self, family: Family, key: &impl Key, name: impl Display) -> Result<()> {
        self.put_row(family, &key.encode(), name, &[])
    }

    fn delete(&mut self, family: Family, key: &impl Key) -> Result<()> {
        self.delete_row(family, &key.encode())
    }

    pub(super) fn delete_row(&mut self, family: Family, key: &[u8]) -> Result<()> {
        self.count(family, key, false);
        self.history.row(family, key, None);
        self.touched.deleted(family, key);
        self.store.engine.delete(&mut self.rows, family, key)
    }

    fn count(&mut self, family: Family, key: &[u8], is_put: bool) {
        if tally::is_counted(family, key) {
            self.keyed.push(family, key, is_put);
        }
    }

    /// Lists a change of the release in the commit, in order. What is not listed is not found by
    /// [`Store::changes_since`], and the index does not hear of it.
    pub fn record(&mut self, action: Action, subject: &Subject) {
        self.changes.push(Change::record(self.release, action, subject));
    }

    /// Keeps the counts of a listed release true: a record is `after`, which was `before`.
    pub fn recount<T: Counted>(&mut self, before: Option<&T>, after: Option<&T>) {
        let [gained, lost] = self.counts.entry(self.release).or_default();
        lost.add(before.map(T::counts).unwrap_or_default());
        gained.add(after.map(T::counts).unwrap_or_default());
    }

    fn put_name(&mut self, kind: NameKind, name: &str, id: u64) -> Result<()> {
        require_text(Family::Name, name)?;
        for key in name_keys(self.release, kind, name, id) {
            self.mark(Family::Name, &key, name)?;
        }
        Ok(())
    }

    fn delete_name(&mut self, kind: NameKind, name: &str, id: u64) -> Result<()> {
        for key in name_keys(self.release, kind, name, id) {
            self.delete(Family::Name, &key)?;
        }
        Ok(())
    }

    /// Writes a frame with its names and its FEs' names.
    ///
    /// # Errors
    /// When the engine fails.
    pub fn put_frame(&mut self, frame: &Frame) -> Result<()> {
        let key = FrameKey { release: self.release, frame: frame.id };
        self.put(Family::Frame, &key, &frame.name, frame.to_value())?;
        self.put_name(NameKind::Frame, &frame.name, u64::from(frame.id.0))?;
        for fe in &frame.elements {
            self.put_name(NameKind::FrameElement, &fe.name, pair(frame.id.0, fe.id.0))?;
        }
        Ok(())
    }

    /// Deletes a frame with the names that it was written with.
    ///
    /// # Errors
    /// When the engine fails; so for every deletion. A row that is deleted and put again in the
    /// same batch is there.
    pub fn delete_frame(&mut self, frame: &Frame) -> Result<()> {
        self.delete(Family::Frame, &FrameKey { release: self.release, frame: frame.id })?;
        self.delete_name(NameKind::Frame, &frame.name, u64::from(frame.id.0))?;
        for fe in &frame.elements {
            self.delete_name(NameKind::FrameElement, &fe.name, pair(frame.id.0, fe.id.0))?;
        }
        Ok(())
    }

    /// Writes a frame relation.
    ///
    /// # Errors
    /// When the engine fails.
    pub fn put_relation(&mut self, relation: &FrameRelation) -> Result<()> {
        let key = RelationKey { release: self.release, relation: relation.id };
        self.put(Family::Relation, &key, relation.id, relation.to_value())
    }

    /// Deletes a frame relation.
    pub fn delete_relation(&mut self, relation: RelationId) -> Result<()> {
        self.delete(Family::Relation, &RelationKey { release: self.release, relation })
    }

    /// Writes a semantic type with its name.
    ///
    /// # Errors
    /// When the engine fails.
    pub fn put_sem_type(&mut self, sem_type: &SemType) -> Result<()> {
        let key = SemTypeKey { release: self.release, sem_type: sem_type.id };
        self.put(Family::SemType, &key, &sem_type.name, sem_type.to_value())?;
        self.put_name(NameKind::SemType, &sem_type.name, u64::from(sem_type.id.0))
    }

    /// Deletes a semantic type with its name.
    pub fn delete_sem_type(&mut self, sem_type: &SemType) -> Result<()> {
        let key = SemTypeKey { release: self.release, sem_type: sem_type.id };
        self.delete(Family::SemType, &key)?;
        self.delete_name(NameKind::SemType, &sem_type.name, u64::from(sem_type.id.0))
    }

    /// Writes an LU with its name.
    ///
    /// # Errors
    /// When the engine fails.
    pub fn put_lexunit(&mut self, lu: &LexUnit) -> Result<()> {
        let key = LexUnitKey { release: self.release, frame: lu.frame, lu: lu.id };
        self.put(Family::LexUnit, &key, &lu.name, lu.to_value())?;
        let said = Said::LexUnit(CountKey::of_lexunit(self.release, lu));
        self.touched.put(Family::LexUnit, &key, said, false);
        self.put_name(NameKind::LexUnit, &lu.name, pair(lu.frame.0, lu.id.0))
    }

    /// Deletes an LU with its name.
    pub fn delete_lexunit(&mut self, lu: &LexUnit) -> Result<()> {
        let key = LexUnitKey { release: self.release, frame: lu.frame, lu: lu.id };
        self.delete(Family::LexUnit, &key)?;
        self.delete_name(NameKind::LexUnit, &lu.name, pair(lu.frame.0, lu.id.0))
    }

    /// Writes a document with its name.
    ///
    /// # Errors
    /// When the engine fails.
    pub fn put_document(&mut self, document: &Document) -> Result<()> {
        let key =
            DocumentKey { release: self.release, corpus: document.corpus, document: document.id };
        self.put(Family::Document, &key, &document.name, document.to_value())?;
        let id = pair(document.corpus.0, document.id.0);
        self.put_name(NameKind::Document, &document.name, id)
    }

    /// Deletes a document with its name.
    pub fn delete_document(&mut self, document: &Document) -> Result<()> {
        let key =
            DocumentKey { release: self.release, corpus: document.corpus, document: document.id };
        self.delete(Family::Document, &key)?;
        let id = pair(document.corpus.0, document.id.0);
        self.delete_name(NameKind::Document, &document.name, id)
    }

    /// Writes a sentence.
    ///
    /// # Errors
    /// When the engine fails.
    pub fn put_sentence(&mut self, sentence: &Sentence) -> Result<()> {
        self.put_text(sentence, false)
    }

    /// As [`put_sentence`](Self::put_sentence), of an id that the release does not have: the store
    /// need not look.
    pub(crate) fn put_new_sentence(&mut self, sentence: &Sentence) -> Result<()> {
        self.put_text(sentence, true)
    }

    fn put_text(&mut self, sentence: &Sentence, is_new: bool) -> Result<()> {
        let key = SentenceKey { release: self.release, sentence: sentence.id };
        self.put(Family::Sentence, &key, sentence.id, sentence.to_value())?;
        let said = Said::of_sentence(self.release, sentence);
        self.touched.put(Family::Sentence, &key, said, is_new);
        Ok(())
    }

    /// Deletes a sentence.
    pub fn delete_sentence(&mut self, sentence: SentenceId) -> Result<()> {
        self.delete(Family::Sentence, &SentenceKey { release: self.release, sentence })
    }

    /// Writes an annotation set that evokes a frame, with the rows that locate it.
    ///
    /// # Errors
    /// When the engine fails.
    pub fn put_annotation_set(&mut self, set: &AnnotationSet) -> Result<()> {
        self.put_set(set, false)
    }

    /// As [`put_annotation_set`](Self::put_annotation_set), of an id that the release does not
    /// have: the store need not look.
    pub(crate) fn put_new_annotation_set(&mut self, set: &AnnotationSet) -> Result<()> {
        self.put_set(set, true)
    }

    fn put_set(&mut self, set: &AnnotationSet, is_new: bool) -> Result<()> {
        let release = self.release;
        let key = AnnotationKey {
            release,
            frame: set.frame,
            lu: set.lu,
            sentence: set.sentence,
            set: set.id,
        };
        self.put(Family::Annotation, &key, set.id, set.to_value())?;
        let said = Said::of_set(release, set);
        self.touched.put(Family::Annotation, &key, said, is_new);
        let value = record::encode_location(set.id, SetLocation::of(set));
        self.put(Family::SetLocation, &SetKey { release, set: set.id }, set.id, value)?;
        let by_sentence = SentenceSetKey { release, sentence: set.sentence, set: set.id };
        self.mark(Family::BySentence, &by_sentence, set.id)
    }

    /// Deletes the rows of an annotation set from where it was kept.
    ///
    /// # Errors
    /// When the engine fails.
    pub fn delete_annotation_set(
        &mut self,
        set: AnnotationSetId,
        location: SetLocation,
    ) -> Result<()> {
        let release = self.release;
        let SetLocation { frame, lu, sentence } = location;
        self.delete(Family::Annotation, &AnnotationKey { release, frame, lu, sentence, set })?;
        self.delete(Family::BySentence, &SentenceSetKey { release, sentence, set })?;
        self.delete(Family::SetLocation, &SetKey { release, set })
    }

    /// Writes a set of sentence layers.
    ///
    /// # Errors
    /// When the engine fails.
    pub fn put_sentence_layers(&mut self, set: &SentenceLayers) -> Result<()> {
        let key = SentenceSetKey { release: self.release, sentence: set.sentence, set: set.id };
        self.put(Family::SentenceLayers, &key, set.id, set.to_value())
    }

    /// Writes how the top files of the release list what lies below them.
    ///
    /// # Errors
    /// When the engine fails.
    pub fn put_release_layout(&mut self, layout: &ReleaseLayout) -> Result<()> {
        self.put(
            Family::Layout,
            &LayoutKey::of_release(self.release),
            self.release,
            layout.to_value(),
        )
    }

    /// Writes how the file of a frame lists what it holds.
    ///
    /// # Errors
    /// When the engine fails.
    pub fn put_frame_layout(&mut self, frame: FrameId, layout: &FrameLayout) -> Result<()> {
        let key = LayoutKey::of_frame(self.release, frame);
        self.put(Family::Layout, &key, frame, layout.to_value())
    }

    /// Writes how the file of an LU lists what it holds.
    ///
    /// # Errors
    /// When the engine fails.
    pub fn put_lexunit_layout(
        &mut self,
        frame: FrameId,
        lu: LuId,
        layout: &LexUnitLayout,
    ) -> Result<()> {
        let key = LayoutKey::of_lexunit(self.release, frame, lu);
        self.put(Family::Layout, &key, lu, layout.to_value())
    }

    /// Writes how the file of a document lists what it holds.
    ///
    /// # Errors
    /// When the engine fails.
    pub fn put_document_layout(
        &mut self,
        corpus: CorpusId,
        document: DocumentId,
        layout: &DocumentLayout,
    ) -> Result<()> {
        let key = LayoutKey::of_document(self.release, corpus, document);
        self.put(Family::Layout, &key, document, layout.to_value())
    }

    /// Forgets how the file of a frame listed what it held.
    ///
    /// # Errors
    /// When the engine fails.
    pub fn delete_frame_layout(&mut self, frame: FrameId) -> Result<()> {
        self.delete(
            Family::Layout,
            &LayoutKey::of_foreign(self.release, ForeignFile::Frame(frame)),
        )?;
        self.delete(Family::Layout, &LayoutKey::of_frame(self.release, frame))
    }

    /// Forgets how the file of an LU listed what it held.
    ///
    /// # Errors
    /// When the engine fails.
    pub fn delete_lexunit_layout(&mut self, frame: FrameId, lu: LuId) -> Result<()> {
        self.delete(
            Family::Layout,
            &LayoutKey::of_foreign(self.release, ForeignFile::LexUnit(frame, lu)),
        )?;
        self.delete(Family::Layout, &LayoutKey::of_lexunit(self.release, frame, lu))
    }

    /// Forgets how the file of a document listed what it held.
    ///
    /// # Errors
    /// When the engine fails.
    pub fn delete_document_layout(&mut self, corpus: CorpusId, document: DocumentId) -> Result<()> {
        self.delete(
            Family::Layout,
            &LayoutKey::of_foreign(self.release, ForeignFile::Document(corpus, document)),
        )?;
        self.delete(Family::Layout, &LayoutKey::of_document(self.release, corpus, document))
    }

    /// Deletes a set of sentence layers.
    pub fn delete_sentence_layers(
        &mut self,
        sentence: SentenceId,
        set: AnnotationSetId,
    ) -> Result<()> {
        let key = SentenceSetKey { release: self.release, sentence, set };
        self.delete(Family::SentenceLayers, &key)
    }

    /// Writes a reviewer's judgement of a set.
    ///
    /// # Errors
    /// When the engine fails.
    pub fn put_judgement(&mut self, set: AnnotationSetId, judgement: &Judgement) -> Result<()> {
        let Judgement { reviewer, question, .. } = judgement;
        require_text(Family::Judgement, reviewer)?;
        let key = JudgementKey::new(self.release, set, reviewer, question);
        self.put(Family::Judgement, &key, set, judgement.to_value())
    }

    /// Deletes a reviewer's judgement of a set: the answer to the same question.
    pub fn delete_judgement(&mut self, set: AnnotationSetId, judgement: &Judgement) -> Result<()> {
        let Judgement { reviewer, question, .. } = judgement;
        let key = JudgementKey::new(self.release, set, reviewer, question);
        self.delete(Family::Judgement, &key)
    }

    /// Writes what a verifier says of a set.
    ///
    /// # Errors
    /// When the engine fails.
    pub fn put_verification(&mut self, verification: &Verification) -> Result<()> {
        let set = verification.set;
        let key = SetKey { release: self.release, set };
        self.put(Family::Verification, &key, set, verification.to_value())
    }

    /// Deletes what a verifier says of a set, if anything, and lists that as a change.
    ///
    /// # Errors
    /// When the engine fails.
    pub fn forget_verification(&mut self, set: AnnotationSetId) -> Result<()> {
        if self.store.has_verification(self.release, set)? {
            self.delete(Family::Verification, &SetKey { release: self.release, set })?;
            self.record(Action::Removed, &Subject::Verification(set));
        }
        Ok(())
    }

    /// Writes the decisions on a proposed LU.
    ///
    /// # Errors
    /// When the engine fails.
    pub fn put_decisions(&mut self, decided: &Decided) -> Result<()> {
        let Decided { frame, name, .. } = decided;
        let key = DecisionKey { release: self.release, frame: *frame, name: name.clone() };
        self.put(Family::Decision, &key, name, decided.to_value())
    }

    /// Deletes the decisions on a proposed LU.
    pub fn delete_decisions(&mut self, decided: &Decided) -> Result<()> {
        let (release, frame, name) = (self.release, decided.frame, decided.name.clone());
        self.delete(Family::Decision, &DecisionKey { release, frame, name })
    }

    /// Writes an edition.
    ///
    /// # Errors
    /// When the engine fails, or the edition holds more than about four million sets.
    pub fn put_edition(&mut self, edition: &Edition) -> Result<()> {
        let key = EditionKey { release: self.release, name: edition.name.clone() };
        self.put(Family::Edition, &key, &edition.name, edition.to_value())
    }

    /// Deletes an edition.
    pub fn delete_edition(&mut self, name: &str) -> Result<()> {
        let key = EditionKey { release: self.release, name: name.to_owned() };
        self.delete(Family::Edition, &key)
    }

    /// Writes down how far the chain of a seed's target has come.
    ///
    /// # Errors
    /// When the engine fails.
    pub fn put_journal(
        &mut self,
        seed: AnnotationSetId,
        target: u16,
        recipe: RecipeId,
        entry: &JournalEntry,
    ) -> Result<()> {
        let key = JournalKey { release: self.release, seed, target, recipe };
        self.put(Family::Journal, &key, seed, entry.to_value())
    }

    /// Forgets how far the chain of a seed's target has come.
    pub fn delete_journal(
        &mut self,
        seed: AnnotationSetId,
        target: u16,
        recipe: RecipeId,
    ) -> Result<()> {
        let key = JournalKey { release: self.release, seed, target, recipe };
        self.delete(Family::Journal, &key)
    }

    /// Writes down a recipe, which belongs to no release, under a number that no recipe has.
    ///
    /// # Errors
    /// When the engine fails.
    pub fn put_recipe(
        &mut self,
        id: RecipeId,
        fingerprint: [u8; 16],
        description: &str,
    ) -> Result<()> {
        let recipe = RecipeRecord { fingerprint, description: description.to_owned() };
        self.put(Family::Recipe, &RecipeKey { recipe: id }, id, record::encode(&recipe))
    }
}

/// Fails for a text that ends early in a key: a zero character stands behind it there.
fn require_text(family: Family, text: &str) -> Result<()> {
    if text.contains('\0') {
        let reason = "a zero character in a name";
        return Err(StoreError::invalid(family.name(), text.escape_debug(), reason));
    }
    Ok(())
}

/// The keys of a name: as it is spelled, and folded.
fn name_keys(release: ReleaseId, kind: NameKind, name: &str, id: u64) -> [NameKey; 2] {
    [(name.to_owned(), false), (fold(name), true)].map(|(name, folded)| NameKey {
        release,
        kind,
        folded,
        name,
        id,
    })
}
