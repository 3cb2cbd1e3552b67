//! Writes: rows gathered in a batch, committed together.

use rocksdb::WriteBatch;

use crate::model::{
    AnnotationSet, AnnotationSetId, Document, Frame, FrameRelation, LexUnit, LuId, RecipeId,
    ReleaseId, SemType, Sentence, SentenceLayers,
};
use crate::text::fold;

use super::engine::Family;
use super::key::{
    AnnotationKey, DocumentKey, FrameKey, JournalKey, Key, LexUnitKey, NameKey, NameKind,
    RecipeKey, RelationKey, SemTypeKey, SentenceKey, SentenceSetKey, SetKey,
};
use super::record::{self, ChangeRecord, JournalRecord, RecipeRecord, SetLocationRecord, Stored};
use super::{JournalEntry, SetLocation, Store, StoreError};

type Result<T> = std::result::Result<T, StoreError>;

/// Rows of one release to be written together.
pub struct Batch<'a> {
    pub(super) store: &'a Store,
    pub(super) release: ReleaseId,
    pub(super) rows: WriteBatch,
    pub(super) changes: Vec<ChangeRecord>,
}

impl<'a> Batch<'a> {
    pub(super) fn new(store: &'a Store, release: ReleaseId) -> Self {
        Self { store, release, rows: WriteBatch::default(), changes: Vec::new() }
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

    fn put(&mut self, family: Family, key: &impl Key, value: &[u8]) -> Result<()> {
        self.store.engine.put(&mut self.rows, family, &key.encode(), value)
    }

    fn put_name(&mut self, kind: NameKind, name: &str, id: u64) -> Result<()> {
        let mut row = |name: String, folded| {
            let key = NameKey { release: self.release, kind, folded, name, id };
            self.store.engine.put(&mut self.rows, Family::Name, &key.encode(), &[])
        };
        row(name.to_owned(), false)?;
        row(fold(name), true)
    }

    /// Writes a frame with its names and its FEs' names.
    ///
    /// # Errors
    /// When the engine fails.
    pub fn put_frame(&mut self, frame: &Frame) -> Result<()> {
        let key = FrameKey { release: self.release, frame: frame.id };
        self.put(Family::Frame, &key, &frame.to_value())?;
        self.put_name(NameKind::Frame, &frame.name, u64::from(frame.id.0))?;
        for fe in &frame.elements {
            self.put_name(NameKind::FrameElement, &fe.name, pair(frame.id.0, fe.id.0))?;
        }
        Ok(())
    }

    /// Writes a frame relation.
    ///
    /// # Errors
    /// When the engine fails.
    pub fn put_relation(&mut self, relation: &FrameRelation) -> Result<()> {
        let key = RelationKey { release: self.release, relation: relation.id };
        self.put(Family::Relation, &key, &relation.to_value())
    }

    /// Writes a semantic type with its name.
    ///
    /// # Errors
    /// When the engine fails.
    pub fn put_sem_type(&mut self, sem_type: &SemType) -> Result<()> {
        let key = SemTypeKey { release: self.release, sem_type: sem_type.id };
        self.put(Family::SemType, &key, &sem_type.to_value())?;
        self.put_name(NameKind::SemType, &sem_type.name, u64::from(sem_type.id.0))
    }

    /// Writes an LU with its name.
    ///
    /// # Errors
    /// When the engine fails.
    pub fn put_lexunit(&mut self, lu: &LexUnit) -> Result<()> {
        let key = LexUnitKey { release: self.release, frame: lu.frame, lu: lu.id };
        self.put(Family::LexUnit, &key, &lu.to_value())?;
        self.put_name(NameKind::LexUnit, &lu.name, pair(lu.frame.0, lu.id.0))?;
        self.changes.push(ChangeRecord::LexUnitWritten(self.release.0, lu.frame.0, lu.id.0));
        Ok(())
    }

    /// Writes a document with its name.
    ///
    /// # Errors
    /// When the engine fails.
    pub fn put_document(&mut self, document: &Document) -> Result<()> {
        let key =
            DocumentKey { release: self.release, corpus: document.corpus, document: document.id };
        self.put(Family::Document, &key, &document.to_value())?;
        let id = pair(document.corpus.0, document.id.0);
        self.put_name(NameKind::Document, &document.name, id)
    }

    /// Writes a sentence.
    ///
    /// # Errors
    /// When the engine fails.
    pub fn put_sentence(&mut self, sentence: &Sentence) -> Result<()> {
        let key = SentenceKey { release: self.release, sentence: sentence.id };
        self.put(Family::Sentence, &key, &sentence.to_value())
    }

    /// Writes an annotation set that evokes a frame, with the rows that locate it.
    ///
    /// # Errors
    /// When the engine fails.
    pub fn put_annotation_set(&mut self, set: &AnnotationSet) -> Result<()> {
        let release = self.release;
        let key = AnnotationKey {
            release,
            frame: set.frame,
            lu: set.lu,
            sentence: set.sentence,
            set: set.id,
        };
        self.put(Family::Annotation, &key, &set.to_value())?;
        let location =
            SetLocationRecord { frame: set.frame.0, lu: set.lu.0, sentence: set.sentence.bits() };
        let value = record::encode(&location);
        self.put(Family::SetLocation, &SetKey { release, set: set.id }, &value)?;
        let by_sentence = SentenceSetKey { release, sentence: set.sentence, set: set.id };
        self.put(Family::BySentence, &by_sentence, &[])?;
        self.changes.push(ChangeRecord::SetWritten(
            release.0,
            set.frame.0,
            set.lu.0,
            set.sentence.bits(),
            set.id.bits(),
        ));
        Ok(())
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
        let key = AnnotationKey { release, frame, lu, sentence, set }.encode();
        let by_sentence = SentenceSetKey { release, sentence, set }.encode();
        let engine = &self.store.engine;
        engine.delete(&mut self.rows, Family::Annotation, &key)?;
        engine.delete(&mut self.rows, Family::BySentence, &by_sentence)?;
        engine.delete(&mut self.rows, Family::SetLocation, &SetKey { release, set }.encode())
    }

    /// Writes a set of sentence layers.
    ///
    /// # Errors
    /// When the engine fails.
    pub fn put_sentence_layers(&mut self, set: &SentenceLayers) -> Result<()> {
        let key = SentenceSetKey { release: self.release, sentence: set.sentence, set: set.id };
        self.put(Family::SentenceLayers, &key, &set.to_value())
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
        let value = record::encode(&JournalRecord::from(entry));
        self.put(Family::Journal, &key, &value)
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
        self.put(Family::Recipe, &RecipeKey { recipe: id }, &record::encode(&recipe))
    }
}

fn pair(high: u32, low: u32) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

/// Takes apart what [`pair`] put together.
pub(super) fn unpair(id: u64) -> (u32, u32) {
    ((id >> 32) as u32, (id & u64::from(u32::MAX)) as u32)
}

/// An LU's frame and number from a `name` row's id.
pub(super) fn lexunit_ids(id: u64) -> (crate::model::FrameId, LuId) {
    let (frame, lu) = unpair(id);
    (crate::model::FrameId(frame), LuId(lu))
}
