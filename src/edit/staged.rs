//! What a transaction has done so far: for each record that it touched, how it was and how it will
//! be. Reads go through here to the store.

use std::collections::{BTreeMap, HashSet};

use super::{EditError, Result};
use crate::model::{
    AnnotationSet, AnnotationSetId, CorpusId, Counted, Decided, Discovery, Document, DocumentId,
    Edition, Frame, FrameId, FrameRelation, Judgement, LexUnit, LinkSubject, LuId, RecipeId,
    RelationId, ReleaseCounts, ReleaseId, SemType, SemTypeId, Sentence, SentenceId, SentenceLayers,
};
use crate::store::{Action, Batch, JournalEntry, SetLocation, Store, StoreError, Subject};

type StoreResult<T> = std::result::Result<T, StoreError>;

/// A record that was touched.
#[derive(Debug, Clone)]
pub(super) struct Slot<R> {
    /// As the store has it.
    before: Option<R>,
    /// As it will be.
    after: Option<R>,
}

/// Records of one kind that were touched.
pub(super) type Table<R> = BTreeMap<<R as StagedRow>::Key, Slot<R>>;

/// A reviewer's judgement with the set that it is of.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Judged {
    pub(super) set: AnnotationSetId,
    pub(super) judgement: Judgement,
}

/// What no count of a release counts.
macro_rules! uncounted {
    ($($row:ty),*) => {$(
        impl Counted for $row {
            fn counts(&self) -> ReleaseCounts {
                ReleaseCounts::default()
            }
        }
    )*};
}

uncounted!(Judged, Decided, Edition);

/// Which chain a journal row is about: seed, target, recipe.
pub(super) type JournalOf = (AnnotationSetId, u16, RecipeId);

/// All that was touched.
#[derive(Debug, Clone, Default)]
pub(super) struct Staged {
    sem_types: Table<SemType>,
    frames: Table<Frame>,
    relations: Table<FrameRelation>,
    lexunits: Table<LexUnit>,
    documents: Table<Document>,
    sentences: Table<Sentence>,
    layers: Table<SentenceLayers>,
    sets: Table<AnnotationSet>,
    judgements: Table<Judged>,
    decisions: Table<Decided>,
    editions: Table<Edition>,
    /// Journal rows to write, or to delete.
    pub(super) journal: BTreeMap<JournalOf, Option<JournalEntry>>,
    /// Whether scans pass over records that cannot be read.
    passes_over: bool,
}

/// A kind of record that people edit.
pub(super) trait StagedRow: Clone + PartialEq + Counted + 'static {
    type Key: Ord + Clone + 'static;
    /// As messages call it.
    const KIND: &'static str;
    fn key(&self) -> Self::Key;
    fn subject(&self) -> Subject;
    fn read(store: &Store, release: ReleaseId, key: &Self::Key) -> StoreResult<Option<Self>>;
    fn put(&self, batch: &mut Batch<'_>) -> StoreResult<()>;
    fn delete(&self, batch: &mut Batch<'_>) -> StoreResult<()>;
    fn table(staged: &Staged) -> &Table<Self>;
    fn table_mut(staged: &mut Staged) -> &mut Table<Self>;
}

macro_rules! rows {
    ($($row:ty as $kind:literal in $table:ident, by $key:ty {
        key: $key_of:expr,
        subject: $subject:expr,
        read: $read:expr,
        put: $put:expr,
        delete: $delete:expr,
    })*) => {$(
        impl StagedRow for $row {
            type Key = $key;
            const KIND: &'static str = $kind;

            fn key(&self) -> $key {
                let key_of: fn(&$row) -> $key = $key_of;
                key_of(self)
            }

            fn subject(&self) -> Subject {
                let subject: fn(&$row) -> Subject = $subject;
                subject(self)
            }

            fn read(store: &Store, release: ReleaseId, key: &$key) -> StoreResult<Option<Self>> {
                let read: fn(&Store, ReleaseId, $key) -> StoreResult<Option<$row>> = $read;
                read(store, release, key.clone())
            }

            fn put(&self, batch: &mut Batch<'_>) -> StoreResult<()> {
                let put: fn(&mut Batch<'_>, &$row) -> StoreResult<()> = $put;
                put(batch, self)
            }

            fn delete(&self, batch: &mut Batch<'_>) -> StoreResult<()> {
                let delete: fn(&mut Batch<'_>, &$row) -> StoreResult<()> = $delete;
                delete(batch, self)
            }

            fn table(staged: &Staged) -> &Table<Self> {
                &staged.$table
            }

            fn table_mut(staged: &mut Staged) -> &mut Table<Self> {
                &mut staged.$table
            }
        }
    )*};
}

rows! {
    SemType as "semantic type" in sem_types, by SemTypeId {
        key: |row| row.id,
        subject: |row| Subject::SemType(row.id),
        read: |store, release, id| store.sem_type(release, id),
        put: |batch, row| batch.put_sem_type(row),
        delete: |batch, row| batch.delete_sem_type(row),
    }
    Frame as "frame" in frames, by FrameId {
        key: |row| row.id,
        subject: |row| Subject::Frame(row.id),
        read: |store, release, id| store.frame(release, id),
        put: |batch, row| batch.put_frame(row),
        delete: |batch, row| batch.delete_frame(row),
    }
    FrameRelation as "frame relation" in relations, by RelationId {
        key: |row| row.id,
        subject: |row| Subject::Relation(row.id),
        read: |store, release, id| store.relation(release, id),
        put: |batch, row| batch.put_relation(row),
        delete: |batch, row| batch.delete_relation(row.id),
    }
    LexUnit as "LU" in lexunits, by (FrameId, LuId) {
        key: |row| (row.frame, row.id),
        subject: |row| Subject::LexUnit(row.frame, row.id),
        read: |store, release, (frame, lu)| store.lexunit(release, frame, lu),
        put: |batch, row| batch.put_lexunit(row),
        delete: |batch, row| batch.delete_lexunit(row),
    }
    Document as "document" in documents, by (CorpusId, DocumentId) {
        key: |row| (row.corpus, row.id),
        subject: |row| Subject::Document(row.corpus, row.id),
        read: |store, release, (corpus, document)| store.document(release, corpus, document),
        put: |batch, row| batch.put_document(row),
        delete: |batch, row| batch.delete_document(row),
    }
    Sentence as "sentence" in sentences, by SentenceId {
        key: |row| row.id,
        subject: |row| Subject::Sentence(row.id),
        read: |store, release, id| store.sentence(release, id),
        put: |batch, row| batch.put_sentence(row),
        delete: |batch, row| batch.delete_sentence(row.id),
    }
    SentenceLayers as "set of sentence layers" in layers, by (SentenceId, AnnotationSetId) {
        key: |row| (row.sentence, row.id),
        subject: |row| Subject::SentenceLayers(row.sentence, row.id),
        read: |store, release, (sentence, set)| store.sentence_layers_set(release, sentence, set),
        put: |batch, row| batch.put_sentence_layers(row),
        delete: |batch, row| batch.delete_sentence_layers(row.sentence, row.id),
    }
    AnnotationSet as "annotation set" in sets, by AnnotationSetId {
        key: |row| row.id,
        subject: |row| Subject::Set(row.id, SetLocation::of(row)),
        read: |store, release, id| store.annotation_set(release, id),
        put: |batch, row| batch.put_annotation_set(row),
        delete: |batch, row| batch.delete_annotation_set(row.id, SetLocation::of(row)),
    }
    Judged as "judgement" in judgements, by (AnnotationSetId, String, String) {
        key: |row| {
            (row.set, row.judgement.reviewer.clone(), row.judgement.question.clone())
        },
        subject: |row| judged(row.set, &row.judgement),
        read: |store, release, (set, reviewer, question)| {
            let mut all = store.judgements(release, set)?;
            let is_meant =
                |row: &Judgement| (&row.reviewer, &row.question) == (&reviewer, &question);
            let found = all.find(|row| row.as_ref().map_or(true, is_meant));
            Ok(found.transpose()?.map(|judgement| Judged { set, judgement }))
        },
        put: |batch, row| batch.put_judgement(row.set, &row.judgement),
        delete: |batch, row| batch.delete_judgement(row.set, &row.judgement),
    }
    Decided as "decision" in decisions, by (FrameId, String) {
        key: |row| (row.frame, row.name.clone()),
        subject: |row| Subject::Decision(row.frame, row.name.clone()),
        read: |store, release, (frame, name)| store.decisions(release, frame, &name),
        put: |batch, row| batch.put_decisions(row),
        delete: |batch, row| batch.delete_decisions(row),
    }
    Edition as "edition" in editions, by String {
        key: |row| row.name.clone(),
        subject: |row| Subject::Edition(row.name.clone()),
        read: |store, release, name| store.edition(release, &name),
        put: |batch, row| batch.put_edition(row),
        delete: |batch, row| batch.delete_edition(&row.name),
    }
}

impl Staged {
    /// The record as it will be.
    pub(super) fn get<R: StagedRow>(
        &self,
        store: &Store,
        release: ReleaseId,
        key: &R::Key,
    ) -> Result<Option<R>> {
        match R::table(self).get(key) {
            Some(slot) => Ok(slot.after.clone()),
            None => Ok(R::read(store, release, key)?),
        }
    }

    /// Says what a record will be; `None` when it is to go.
    pub(super) fn set<R: StagedRow>(
        &mut self,
        store: &Store,
        release: ReleaseId,
        key: R::Key,
        after: Option<R>,
    ) -> Result<()> {
        if let Some(slot) = R::table_mut(self).get_mut(&key) {
            slot.after = after;
            return Ok(());
        }
        let before = R::read(store, release, &key)?;
        R::table_mut(self).insert(key, Slot { before, after });
        Ok(())
    }

    /// From now on scans pass over records that cannot be read.
    pub(super) fn pass_over_unreadable(&mut self) {
        self.passes_over = true;
    }

    /// Puts a record in the place of one that the store has and nobody can read.
    pub(super) fn stand_in<R: StagedRow>(&mut self, row: R) {
        let slot = Slot { before: Some(row.clone()), after: Some(row.clone()) };
        R::table_mut(self).insert(row.key(), slot);
    }

    /// A scan of the store as it will be: its rows in order, touched ones as they will be, and then
    /// those that are new to it and belong there.
    pub(super) fn over<R: StagedRow>(
        &self,
        scan: impl Iterator<Item = StoreResult<R>>,
        belongs: impl Fn(&R) -> bool,
    ) -> Result<Vec<R>> {
        let table = R::table(self);
        let mut rows = Vec::new();
        for row in scan {
            let row = match row {
                Err(StoreError::Damaged { .. }) if self.passes_over => continue,
                row => row?,
            };
            if !table.contains_key(&row.key()) {
                rows.push(row);
            }
        }
        let touched = table.values().filter_map(|slot| slot.after.as_ref());
        rows.extend(touched.filter(|row| belongs(row)).cloned());
        Ok(rows)
    }

    /// Whether nothing was touched.
    pub(super) fn is_empty(&self) -> bool {
        fn untouched<R: StagedRow>(staged: &Staged) -> bool {
            R::table(staged).is_empty()
        }
        let all = [
            untouched::<SemType>,
            untouched::<Frame>,
            untouched::<FrameRelation>,
            untouched::<LexUnit>,
            untouched::<Document>,
            untouched::<Sentence>,
            untouched::<SentenceLayers>,
            untouched::<AnnotationSet>,
            untouched::<Judged>,
            untouched::<Decided>,
            untouched::<Edition>,
        ];
        self.journal.is_empty() && all.iter().all(|of| of(self))
    }

    /// Records that were touched and will be there.
    pub(super) fn rows<R: StagedRow>(&self) -> impl Iterator<Item = &R> {
        R::table(self).values().filter_map(|slot| slot.after.as_ref())
    }

    /// Records that will not be as they are: before and after, `None` where there is none.
    pub(super) fn changed<R: StagedRow>(&self) -> impl Iterator<Item = (Option<&R>, Option<&R>)> {
        let slots = R::table(self).values().filter(|slot| slot.before != slot.after);
        slots.map(|slot| (slot.before.as_ref(), slot.after.as_ref()))
    }

    /// How many records that the store has are to go, by kind; kinds without any are left out.
    pub(super) fn removed(&self) -> Vec<(&'static str, u64)> {
        let mut removed = vec![
            self.removed_of::<Frame>(),
            self.removed_of::<FrameRelation>(),
            self.removed_of::<LexUnit>(),
            self.removed_of::<AnnotationSet>(),
            self.removed_of::<Sentence>(),
            self.removed_of::<SentenceLayers>(),
            self.removed_of::<Document>(),
            self.removed_of::<SemType>(),
            self.removed_of::<Judged>(),
            self.removed_of::<Decided>(),
            self.removed_of::<Edition>(),
        ];
        removed.retain(|(_, count)| *count > 0);
        removed
    }

    fn removed_of<R: StagedRow>(&self) -> (&'static str, u64) {
        let gone = self.changed::<R>().filter(|(_, after)| after.is_none());
        (R::KIND, gone.count() as u64)
    }

    /// Whether a record that the store has is to go.
    pub(super) fn is_removed<R: StagedRow>(&self, key: &R::Key) -> bool {
        R::table(self).get(key).is_some_and(|slot| slot.after.is_none())
    }

    /// Puts all that differs from the store into a batch; says whether anything does.
    pub(super) fn write(&self, batch: &mut Batch<'_>) -> StoreResult<bool> {
        write_table::<SemType>(self, batch)?;
        write_table::<Frame>(self, batch)?;
        write_table::<FrameRelation>(self, batch)?;
        write_table::<LexUnit>(self, batch)?;
        write_table::<Document>(self, batch)?;
        write_table::<Sentence>(self, batch)?;
        write_table::<SentenceLayers>(self, batch)?;
        write_table::<AnnotationSet>(self, batch)?;
        write_table::<Judged>(self, batch)?;
        write_table::<Decided>(self, batch)?;
        write_table::<Edition>(self, batch)?;
        for (&(seed, target, recipe), entry) in &self.journal {
            match entry {
                Some(entry) => batch.put_journal(seed, target, recipe, entry)?,
                None => batch.delete_journal(seed, target, recipe)?,
            }
        }
        self.forget_answers(batch)?;
        self.carry_discoveries(batch)?;
        self.forget_links(batch)?;
        Ok(!batch.is_empty())
    }

    /// Deletes what a verifier says of sets that are no longer what it was asked of.
    fn forget_answers(&self, batch: &mut Batch<'_>) -> StoreResult<()> {
        for (before, after) in self.changed::<AnnotationSet>() {
            let is_other = |set: &&AnnotationSet| !after.is_some_and(|after| after.stands_as(set));
            if let Some(set) = before.filter(is_other) {
                batch.forget_verification(set.id)?;
            }
        }
        Ok(())
    }

    /// Deletes the links of LUs and FEs that go, and of LUs that go to another frame.
    fn forget_links(&self, batch: &mut Batch<'_>) -> StoreResult<()> {
        for (before, after) in self.changed::<LexUnit>() {
            let goes = |before: &&LexUnit| after.is_none_or(|after| after.frame != before.frame);
            if let Some(before) = before.filter(goes) {
                batch.forget_links(before.frame, LinkSubject::LexUnit(before.id))?;
            }
        }
        for (before, after) in self.changed::<Frame>() {
            let kept = |fe| after.is_some_and(|it| it.elements.iter().any(|of| of.id == fe));
            let Some(before) = before else { continue };
            for element in before.elements.iter().filter(|element| !kept(element.id)) {
                batch.forget_links(before.id, LinkSubject::Element(element.id))?;
            }
        }
        Ok(())
    }

    /// Has what searches found follow its LU: to its new name, or away. What is of a frame that
    /// goes, goes with it.
    fn carry_discoveries(&self, batch: &mut Batch<'_>) -> StoreResult<()> {
        // All old rows go before the new ones come: two LUs may have changed names.
        let (mut renamed, mut free) = (Vec::new(), HashSet::new());
        for (before, after) in self.changed::<LexUnit>() {
            let Some(before) = before else { continue };
            let name = after.map(|after| &after.name);
            if name != Some(&before.name) {
                let found = batch.take_discovery((before.frame, before.id), &before.name)?;
                if found.is_some() {
                    free.insert((before.frame, &before.name));
                }
                renamed.extend(found.zip(name));
            }
        }
        for (found, name) in renamed {
            // What was found of a word is one row: that of an LU which has the name already stays.
            if free.contains(&(found.frame, name)) || !batch.has_discovery(found.frame, name)? {
                batch.put_discovery(&Discovery { name: name.clone(), ..found })?;
            }
        }
        for (before, after) in self.changed::<Frame>() {
            if let Some(frame) = before.filter(|_| after.is_none()) {
                batch.forget_discoveries(frame.id)?;
            }
        }
        Ok(())
    }
}

fn write_table<R: StagedRow>(staged: &Staged, batch: &mut Batch<'_>) -> StoreResult<()> {
    for (before, after) in staged.changed::<R>() {
        // The old rows go first: a name or a place that is no more leaves nothing behind.
        if let Some(before) = before {
            before.delete(batch)?;
        }
        if let Some(after) = after {
            after.put(batch)?;
        }
        batch.recount(before, after);
        match (before, after) {
            (Some(_), Some(after)) => batch.record(Action::Edited, &after.subject()),
            (None, Some(after)) => batch.record(Action::Added, &after.subject()),
            (Some(before), None) => batch.record(Action::Removed, &before.subject()),
            (None, None) => {}
        }
    }
    Ok(())
}

/// The error for a record that is not there.
pub(super) fn absent<R: StagedRow>(id: impl std::fmt::Display) -> EditError {
    EditError::absent(R::KIND, id)
}

/// A reviewer's judgement of a set.
pub(super) fn judged(set: AnnotationSetId, judgement: &Judgement) -> Subject {
    let Judgement { reviewer, question, .. } = judgement;
    Subject::Judgement(set, reviewer.clone(), question.clone())
}

/// Kind and id of a record, as messages name it.
pub(super) fn named(subject: &Subject) -> (&'static str, String) {
    match subject {
        Subject::SemType(id) => (SemType::KIND, id.to_string()),
        Subject::Frame(id) => (Frame::KIND, id.to_string()),
        Subject::Relation(id) => (FrameRelation::KIND, id.to_string()),
        Subject::LexUnit(_, id) => (LexUnit::KIND, id.to_string()),
        Subject::Document(_, id) => (Document::KIND, id.to_string()),
        Subject::Sentence(id) => (Sentence::KIND, id.to_string()),
        Subject::SentenceLayers(_, id) => (SentenceLayers::KIND, id.to_string()),
        Subject::Set(id, _) => (AnnotationSet::KIND, id.to_string()),
        Subject::Judgement(set, reviewer, _) => (Judged::KIND, format!("of {set} by {reviewer}")),
        Subject::Verification(set) => ("verification", format!("of {set}")),
        Subject::Decision(_, name) => (Decided::KIND, format!("on {name}")),
        Subject::Edition(name) => (Edition::KIND, name.clone()),
        _ => ("release", String::new()),
    }
}
