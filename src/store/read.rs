//! Reads: one record by its id, or many in key order.

use std::collections::HashSet;

use crate::model::{
    AnnotationSet, AnnotationSetId, CorpusId, Decided, Document, DocumentId, DocumentLayout,
    Edition, Frame, FrameId, FrameLayout, FrameRelation, IdSpace, Judgement, LexUnit,
    LexUnitLayout, LuId, Origin, RecipeId, RelationId, Release, ReleaseId, ReleaseLayout, SemType,
    SemTypeId, Sentence, SentenceId, SentenceLayers, Verdict, Verification,
};

use super::added::of_space;
use super::family::Family;
use super::key::{
    AnnotationKey, ChangeKey, DecisionKey, DocumentKey, EditionKey, FrameKey, JournalKey, Key,
    LayoutKey, LexUnitKey, Prefix, RecipeKey, RelationKey, SemTypeKey, SentenceKey, SentenceSetKey,
    SetKey,
};
use super::record::{self, RecipeRecord, Stored};
use super::{Change, JournalEntry, Result, SetLocation, Store, StoreError};

/// What a row says.
pub(super) fn record_of<T>(family: Family, bytes: &[u8], value: &[u8]) -> Result<(T::Key, T)>
where
    T: Stored,
    T::Key: Key,
{
    let damaged = |reason| StoreError::damaged(family.name(), bytes, reason);
    let key = T::Key::decode(bytes).ok_or_else(|| damaged("no key".to_owned()))?;
    let record = T::from_value(&key, value).map_err(damaged)?;
    Ok((key, record))
}

impl Store {
    pub(super) fn record<T>(&self, family: Family, key: T::Key) -> Result<Option<T>>
    where
        T: Stored,
        T::Key: Key,
    {
        let bytes = key.encode();
        let record = self.engine.read(family, &bytes, |value| T::from_value(&key, value))?;
        record.transpose().map_err(|reason| StoreError::damaged(family.name(), &bytes, reason))
    }

    pub(super) fn records<T>(
        &self,
        family: Family,
        prefix: Vec<u8>,
    ) -> Result<impl Iterator<Item = Result<T>> + '_>
    where
        T: Stored + 'static,
        T::Key: Key,
    {
        Ok(self.keyed(family, prefix)?.map(|row| row.map(|(_, record)| record)))
    }

    fn keyed<T>(
        &self,
        family: Family,
        prefix: Vec<u8>,
    ) -> Result<impl Iterator<Item = Result<(T::Key, T)>> + '_>
    where
        T: Stored + 'static,
        T::Key: Key,
    {
        let rows = self.engine.scan(family, prefix)?;
        Ok(rows.each(move |key, value| record_of(family, key, value)))
    }

    /// The frame of that number.
    ///
    /// # Errors
    /// When the engine fails or the record is damaged; so for every function here.
    pub fn frame(&self, release: ReleaseId, frame: FrameId) -> Result<Option<Frame>> {
        self.record(Family::Frame, FrameKey { release, frame })
    }

    /// All frames of a release, by number.
    pub fn frames(&self, release: ReleaseId) -> Result<impl Iterator<Item = Result<Frame>> + '_> {
        self.records(Family::Frame, Prefix::of(release).bytes())
    }

    /// The LU of that number in that frame.
    pub fn lexunit(&self, release: ReleaseId, frame: FrameId, lu: LuId) -> Result<Option<LexUnit>> {
        self.record(Family::LexUnit, LexUnitKey { release, frame, lu })
    }

    /// The LUs of a frame, by number.
    pub fn lexunits_of(
        &self,
        release: ReleaseId,
        frame: FrameId,
    ) -> Result<impl Iterator<Item = Result<LexUnit>> + '_> {
        self.records(Family::LexUnit, Prefix::of(release).then(frame).bytes())
    }

    /// All LUs of a release, by frame and number.
    pub fn lexunits(
        &self,
        release: ReleaseId,
    ) -> Result<impl Iterator<Item = Result<LexUnit>> + '_> {
        self.records(Family::LexUnit, Prefix::of(release).bytes())
    }

    /// The frame relation of that number.
    pub fn relation(
        &self,
        release: ReleaseId,
        relation: RelationId,
    ) -> Result<Option<FrameRelation>> {
        self.record(Family::Relation, RelationKey { release, relation })
    }

    /// All frame relations of a release, by number.
    pub fn relations(
        &self,
        release: ReleaseId,
    ) -> Result<impl Iterator<Item = Result<FrameRelation>> + '_> {
        self.records(Family::Relation, Prefix::of(release).bytes())
    }

    /// The semantic type of that number.
    pub fn sem_type(&self, release: ReleaseId, sem_type: SemTypeId) -> Result<Option<SemType>> {
        self.record(Family::SemType, SemTypeKey { release, sem_type })
    }

    /// All semantic types of a release, by number.
    pub fn sem_types(
        &self,
        release: ReleaseId,
    ) -> Result<impl Iterator<Item = Result<SemType>> + '_> {
        self.records(Family::SemType, Prefix::of(release).bytes())
    }

    /// The document of that number in that corpus.
    pub fn document(
        &self,
        release: ReleaseId,
        corpus: CorpusId,
        document: DocumentId,
    ) -> Result<Option<Document>> {
        self.record(Family::Document, DocumentKey { release, corpus, document })
    }

    /// All documents of a release, by corpus and number.
    pub fn documents(
        &self,
        release: ReleaseId,
    ) -> Result<impl Iterator<Item = Result<Document>> + '_> {
        self.records(Family::Document, Prefix::of(release).bytes())
    }

    /// The sentence of that id.
    pub fn sentence(&self, release: ReleaseId, sentence: SentenceId) -> Result<Option<Sentence>> {
        self.record(Family::Sentence, SentenceKey { release, sentence })
    }

    /// The sentences of these ids, in their order; faster than one by one where many of them lie
    /// together. An id may stand there twice.
    pub fn sentences_of(&self, ids: &[(ReleaseId, SentenceId)]) -> Result<Vec<Option<Sentence>>> {
        let key = |at: usize| {
            let (release, sentence) = ids[at];
            SentenceKey { release, sentence }
        };
        let keys = (0..ids.len()).map(|at| key(at).encode()).collect();
        let read = |at: usize, value: &[u8]| Sentence::from_value(&key(at), value);
        self.values_of(Family::Sentence, keys, read)
    }

    /// All sentences of a release, by id.
    pub fn sentences(
        &self,
        release: ReleaseId,
    ) -> Result<impl Iterator<Item = Result<Sentence>> + '_> {
        self.records(Family::Sentence, Prefix::of(release).bytes())
    }

    /// The sentences of a release that come from one place, by id.
    pub fn sentences_from(
        &self,
        release: ReleaseId,
        space: IdSpace,
    ) -> Result<impl Iterator<Item = Result<Sentence>> + '_> {
        self.records(Family::Sentence, of_space(release, space))
    }

    /// The annotation set of that id.
    pub fn annotation_set(
        &self,
        release: ReleaseId,
        set: AnnotationSetId,
    ) -> Result<Option<AnnotationSet>> {
        match self.set_location(release, set)? {
            Some(location) => self.annotation_set_at(release, set, location),
            None => Ok(None),
        }
    }

    /// The annotation set of that id at a known place.
    pub fn annotation_set_at(
        &self,
        release: ReleaseId,
        set: AnnotationSetId,
        location: SetLocation,
    ) -> Result<Option<AnnotationSet>> {
        let SetLocation { frame, lu, sentence } = location;
        self.record(Family::Annotation, AnnotationKey { release, frame, lu, sentence, set })
    }

    /// Where the annotation set of that id is kept.
    pub fn set_location(
        &self,
        release: ReleaseId,
        set: AnnotationSetId,
    ) -> Result<Option<SetLocation>> {
        let key = SetKey { release, set }.encode();
        let family = Family::SetLocation;
        let Some(value) = self.engine.get(family, &key)? else { return Ok(None) };
        let damaged = |reason: String| StoreError::damaged(family.name(), &key, reason);
        record::decode_location(set, &value).map(Some).map_err(damaged)
    }

    /// All annotation sets of a release, by frame, LU, sentence and id.
    pub fn annotation_sets(
        &self,
        release: ReleaseId,
    ) -> Result<impl Iterator<Item = Result<AnnotationSet>> + '_> {
        self.records(Family::Annotation, Prefix::of(release).bytes())
    }

    /// The annotation sets of a frame, by LU, sentence and id.
    pub fn annotation_sets_of_frame(
        &self,
        release: ReleaseId,
        frame: FrameId,
    ) -> Result<impl Iterator<Item = Result<AnnotationSet>> + '_> {
        self.records(Family::Annotation, Prefix::of(release).then(frame).bytes())
    }

    /// The annotation sets of an LU, by sentence and id.
    pub fn annotation_sets_of_lexunit(
        &self,
        release: ReleaseId,
        frame: FrameId,
        lu: LuId,
    ) -> Result<impl Iterator<Item = Result<AnnotationSet>> + '_> {
        self.records(Family::Annotation, Prefix::of(release).then(frame).then(lu).bytes())
    }

    /// The annotation sets of a frame, or of one of its LUs, by LU, sentence and id. Generated
    /// ones, which may be many, are not decoded: `None` stands in the place of each.
    pub fn annotation_sets_but_generated(
        &self,
        release: ReleaseId,
        frame: FrameId,
        lu: Option<LuId>,
    ) -> Result<impl Iterator<Item = Result<Option<AnnotationSet>>> + '_> {
        let of_frame = Prefix::of(release).then(frame);
        let prefix = match lu {
            Some(lu) => of_frame.then(lu),
            None => of_frame,
        };
        self.annotation_sets_of(prefix.bytes(), |space| space != IdSpace::Generated)
    }

    /// Where the annotation sets of an LU come from. A generated one, which stands in the sentence
    /// of its own number, is not decoded.
    pub fn origins_of_lexunit(
        &self,
        release: ReleaseId,
        frame: FrameId,
        lu: LuId,
    ) -> Result<impl Iterator<Item = Result<Origin>> + '_> {
        let family = Family::Annotation;
        let prefix = Prefix::of(release).then(frame).then(lu).bytes();
        Ok(self.engine.scan(family, prefix)?.each(move |bytes, value| {
            let damaged = |reason| StoreError::damaged(family.name(), bytes, reason);
            let key = AnnotationKey::decode(bytes).ok_or_else(|| damaged("no key".to_owned()))?;
            let is_generated = key.set.space() == IdSpace::Generated;
            if is_generated && key.sentence.bits() == key.set.bits() {
                return Ok(Origin::Generated);
            }
            match AnnotationSet::from_value(&key, value) {
                Ok(set) => Ok(set.provenance.origin()),
                // It counts as what its id says.
                Err(_) if is_generated => Ok(Origin::Generated),
                Err(reason) => Err(damaged(reason)),
            }
        }))
    }

    /// The annotation sets under a prefix; `None` for one of a space that is not wanted, which is
    /// not decoded.
    pub(super) fn annotation_sets_of(
        &self,
        prefix: Vec<u8>,
        is_wanted: fn(IdSpace) -> bool,
    ) -> Result<impl Iterator<Item = Result<Option<AnnotationSet>>> + '_> {
        let family = Family::Annotation;
        Ok(self.engine.scan(family, prefix)?.each(move |bytes, value| {
            let damaged = |reason| StoreError::damaged(family.name(), bytes, reason);
            let key = AnnotationKey::decode(bytes).ok_or_else(|| damaged("no key".to_owned()))?;
            if !is_wanted(key.set.space()) {
                return Ok(None);
            }
            AnnotationSet::from_value(&key, value).map(Some).map_err(damaged)
        }))
    }

    /// Ids of the sets that evoke frames in a sentence, by id.
    pub fn sets_of_sentence(
        &self,
        release: ReleaseId,
        sentence: SentenceId,
    ) -> Result<impl Iterator<Item = Result<AnnotationSetId>> + '_> {
        let prefix = Prefix::of(release).then(sentence).bytes();
        Ok(self.engine.scan(Family::BySentence, prefix)?.each(|key, _| {
            SentenceSetKey::decode(key)
                .map(|key| key.set)
                .ok_or_else(|| StoreError::damaged(Family::BySentence.name(), key, "no key"))
        }))
    }

    /// Whether a sentence lists a set among those that evoke frames in it.
    pub fn is_in_sentence(
        &self,
        release: ReleaseId,
        sentence: SentenceId,
        set: AnnotationSetId,
    ) -> Result<bool> {
        let key = SentenceSetKey { release, sentence, set }.encode();
        Ok(self.engine.get(Family::BySentence, &key)?.is_some())
    }

    /// The set of sentence layers of that id.
    pub fn sentence_layers_set(
        &self,
        release: ReleaseId,
        sentence: SentenceId,
        set: AnnotationSetId,
    ) -> Result<Option<SentenceLayers>> {
        self.record(Family::SentenceLayers, SentenceSetKey { release, sentence, set })
    }

    /// The sets of sentence layers of a sentence, by id.
    pub fn sentence_layers(
        &self,
        release: ReleaseId,
        sentence: SentenceId,
    ) -> Result<impl Iterator<Item = Result<SentenceLayers>> + '_> {
        self.records(Family::SentenceLayers, Prefix::of(release).then(sentence).bytes())
    }

    /// Whether there are sentence layers over sentences that come from one place.
    pub(crate) fn has_layers_from(&self, release: ReleaseId, space: IdSpace) -> Result<bool> {
        let prefix = of_space(release, space);
        let mut rows = self.records::<SentenceLayers>(Family::SentenceLayers, prefix)?;
        Ok(rows.next().is_some())
    }

    /// All sets of sentence layers of a release, by sentence and id.
    pub fn all_sentence_layers(
        &self,
        release: ReleaseId,
    ) -> Result<impl Iterator<Item = Result<SentenceLayers>> + '_> {
        self.records(Family::SentenceLayers, Prefix::of(release).bytes())
    }

    /// How the top files of a release list what lies below them; `None` for a release that format
    /// 1.0 wrote, or that is no import of FrameNet's files. So for the other layouts.
    pub fn release_layout(&self, release: ReleaseId) -> Result<Option<ReleaseLayout>> {
        self.record(Family::Layout, LayoutKey::of_release(release))
    }

    /// How the file of a frame lists what it holds.
    pub fn frame_layout(&self, release: ReleaseId, frame: FrameId) -> Result<Option<FrameLayout>> {
        self.record(Family::Layout, LayoutKey::of_frame(release, frame))
    }

    /// How the file of an LU lists what it holds.
    pub fn lexunit_layout(
        &self,
        release: ReleaseId,
        frame: FrameId,
        lu: LuId,
    ) -> Result<Option<LexUnitLayout>> {
        self.record(Family::Layout, LayoutKey::of_lexunit(release, frame, lu))
    }

    /// How the file of a document lists what it holds.
    pub fn document_layout(
        &self,
        release: ReleaseId,
        corpus: CorpusId,
        document: DocumentId,
    ) -> Result<Option<DocumentLayout>> {
        self.record(Family::Layout, LayoutKey::of_document(release, corpus, document))
    }

    /// How far the chain of a seed's target has come under a recipe.
    pub fn journal(
        &self,
        release: ReleaseId,
        seed: AnnotationSetId,
        target: u16,
        recipe: RecipeId,
    ) -> Result<Option<JournalEntry>> {
        self.record(Family::Journal, JournalKey { release, seed, target, recipe })
    }

    /// How far every chain of a release has come: seed, target, recipe and entry, in that order.
    pub fn journal_rows(
        &self,
        release: ReleaseId,
    ) -> Result<impl Iterator<Item = Result<(AnnotationSetId, u16, RecipeId, JournalEntry)>> + '_>
    {
        let rows = self.keyed::<JournalEntry>(Family::Journal, Prefix::of(release).bytes())?;
        Ok(rows.map(|row| row.map(|(key, entry)| (key.seed, key.target, key.recipe, entry))))
    }

    /// All recipes: number, fingerprint and description (JSON).
    pub fn recipes(&self) -> Result<Vec<(RecipeId, [u8; 16], String)>> {
        let family = Family::Recipe;
        let rows = self.engine.scan(family, Vec::new())?;
        let recipes = rows.map(|row| {
            let (key, value) = row?;
            let damaged = |reason: String| StoreError::damaged(family.name(), &key, reason);
            let id = RecipeKey::decode(&key).ok_or_else(|| damaged("no key".to_owned()))?.recipe;
            let record: RecipeRecord = record::decode(&value).map_err(damaged)?;
            Ok((id, record.fingerprint, record.description))
        });
        recipes.collect()
    }

    /// How far the chains of a seed have come: target, recipe and entry, in this order.
    pub fn journals_of(
        &self,
        release: ReleaseId,
        seed: AnnotationSetId,
    ) -> Result<impl Iterator<Item = Result<(u16, RecipeId, JournalEntry)>> + '_> {
        let prefix = Prefix::of(release).then(seed).bytes();
        let rows = self.keyed::<JournalEntry>(Family::Journal, prefix)?;
        Ok(rows.map(|row| row.map(|(key, entry)| (key.target, key.recipe, entry))))
    }

    /// What reviewers say of a set, by reviewer.
    pub fn judgements(
        &self,
        release: ReleaseId,
        set: AnnotationSetId,
    ) -> Result<impl Iterator<Item = Result<Judgement>> + '_> {
        self.records(Family::Judgement, Prefix::of(release).then(set).bytes())
    }

    /// All judgements of a release, by set, reviewer and question.
    pub fn all_judgements(
        &self,
        release: ReleaseId,
    ) -> Result<impl Iterator<Item = Result<(AnnotationSetId, Judgement)>> + '_> {
        let rows = self.keyed::<Judgement>(Family::Judgement, Prefix::of(release).bytes())?;
        Ok(rows.map(|row| row.map(|(key, judgement)| (key.set, judgement))))
    }

    /// What a verifier says of a set.
    pub fn verification(
        &self,
        release: ReleaseId,
        set: AnnotationSetId,
    ) -> Result<Option<Verification>> {
        self.record(Family::Verification, SetKey { release, set })
    }

    /// Whether a verifier said something of a set, which may not be readable any more.
    pub fn has_verification(&self, release: ReleaseId, set: AnnotationSetId) -> Result<bool> {
        let key = SetKey { release, set }.encode();
        Ok(self.engine.get(Family::Verification, &key)?.is_some())
    }

    /// All that verifiers say of a release's sets, by set.
    pub fn all_verifications(
        &self,
        release: ReleaseId,
    ) -> Result<impl Iterator<Item = Result<Verification>> + '_> {
        self.records(Family::Verification, Prefix::of(release).bytes())
    }

    /// The decisions on an LU of that name that was proposed for a frame.
    pub fn decisions(
        &self,
        release: ReleaseId,
        frame: FrameId,
        name: &str,
    ) -> Result<Option<Decided>> {
        self.record(Family::Decision, DecisionKey { release, frame, name: name.to_owned() })
    }

    /// All decisions of a release, by frame and name.
    pub fn all_decisions(
        &self,
        release: ReleaseId,
    ) -> Result<impl Iterator<Item = Result<Decided>> + '_> {
        self.records(Family::Decision, Prefix::of(release).bytes())
    }

    /// The proposed LUs of a release that people rejected; they stand there as they were.
    pub fn rejected_lexunits(&self, release: ReleaseId) -> Result<HashSet<(FrameId, LuId)>> {
        let mut rejected = HashSet::new();
        for decided in self.all_decisions(release)? {
            let decided = decided?;
            let standing = decided.standing().filter(|of| of.verdict == Verdict::Reject);
            rejected.extend(standing.map(|standing| (decided.frame, standing.lu)));
        }
        Ok(rejected)
    }

    /// The edition of that name.
    pub fn edition(&self, release: ReleaseId, name: &str) -> Result<Option<Edition>> {
        self.record(Family::Edition, EditionKey { release, name: name.to_owned() })
    }

    /// All editions of a release, by name.
    pub fn editions(
        &self,
        release: ReleaseId,
    ) -> Result<impl Iterator<Item = Result<Edition>> + '_> {
        self.records(Family::Edition, Prefix::of(release).bytes())
    }

    /// What was written after a revision, in order of commit; the last one of each is marked.
    pub fn changes_since(
        &self,
        revision: u64,
    ) -> Result<impl Iterator<Item = Result<Change>> + '_> {
        let family = Family::Change;
        let start = ChangeKey { revision: revision.saturating_add(1), ordinal: 0 }.encode();
        let mut rows = self.engine.scan_from(family, start)?.peekable();
        let revision = |key: &[u8]| ChangeKey::decode(key).map(|key| key.revision);
        Ok(std::iter::from_fn(move || {
            let row = rows.next()?;
            Some(row.and_then(|(key, value)| {
                let damaged = |reason: String| StoreError::damaged(family.name(), &key, reason);
                let at = revision(&key).ok_or_else(|| damaged("no key".to_owned()))?;
                // A commit is one batch: whoever sees one of its rows sees all of them.
                let is_last = match rows.peek() {
                    None => true,
                    Some(Ok((next, _))) => revision(next) != Some(at),
                    Some(Err(_)) => false,
                };
                Ok(Change { is_last, ..Change::decode(at, &value).map_err(damaged)? })
            }))
        }))
    }

    /// The visible releases, in order of import.
    pub fn releases(&self) -> Result<Vec<Release>> {
        Ok(self.book()?.releases)
    }
}
