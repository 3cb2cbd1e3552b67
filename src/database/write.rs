//! Writing records into a release that is there: one commit of the store, then one of the index.

use super::write_check::{WriteCheck, is_looked_up};
use super::{Database, Result};
use crate::index::IndexWriter;
use crate::model::{
    AnnotationSet, AnnotationSetId, Discovery, LexUnit, LinkSubject, Links, RecipeId, ReleaseId,
    Sentence, Verification,
};
use crate::store::{Action, Batch, JournalEntry, SetLocation, Store, Subject};

/// Rows to be written together, all of them or none.
#[derive(Debug, Clone, Default)]
pub struct Write {
    /// Sentences. One of an id that is there must have the same text: spans count on it, and the
    /// index reads it with its sets.
    pub sentences: Vec<Sentence>,
    /// LUs, in place of earlier ones of the same id.
    pub lexunits: Vec<LexUnit>,
    /// Annotation sets that evoke frames, in place of earlier ones of the same id.
    pub sets: Vec<AnnotationSet>,
    /// What verifiers say of sets, in place of what others said.
    pub verifications: Vec<Verification>,
    /// How far chains have come.
    pub journal: Vec<JournalWrite>,
    /// What searches for new LUs found, in place of what is there under the same name.
    pub discoveries: Vec<Discovery>,
    /// Proposed LUs that no search finds any more.
    pub withdrawn: Vec<LexUnit>,
    /// Links of LUs and FEs, in place of what is there. Those of one that is gone are not written.
    pub links: Vec<Links>,
    /// Whether a person decided it, and can take it back.
    pub is_of_person: bool,
}

/// How far the chain of a seed's target has come under a recipe.
#[derive(Debug, Clone)]
pub struct JournalWrite {
    /// The seed.
    pub seed: AnnotationSetId,
    /// Which of the seed's targets.
    pub target: u16,
    /// The recipe.
    pub recipe: RecipeId,
    /// What to write down.
    pub entry: JournalEntry,
}

impl Write {
    /// Whether there is nothing to write.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.sentences.is_empty()
            && self.lexunits.is_empty()
            && self.sets.is_empty()
            && self.verifications.is_empty()
            && self.journal.is_empty()
            && self.discoveries.is_empty()
            && self.withdrawn.is_empty()
            && self.links.is_empty()
    }

    /// Takes another write's rows behind its own.
    pub fn append(&mut self, other: Self) {
        self.sentences.extend(other.sentences);
        self.lexunits.extend(other.lexunits);
        self.sets.extend(other.sets);
        self.verifications.extend(other.verifications);
        self.journal.extend(other.journal);
        self.discoveries.extend(other.discoveries);
        self.withdrawn.extend(other.withdrawn);
        self.links.extend(other.links);
        self.is_of_person |= other.is_of_person;
    }
}

impl Database {
    /// Writes rows into a release; they are safe and found by queries once this returns. Gives the
    /// new revision.
    ///
    /// This is how programs add many rows. What is checked is what every reader counts on: frames,
    /// LUs and sentences of sets are there, spans lie in their texts, numbers in their ranges, and
    /// each record can be read again. In the list of changes a set stands for its sentence, too.
    /// People's edits, which are checked further, go through [`transaction`](Self::transaction).
    ///
    /// # Errors
    /// When a record is not right ([`EditError`](super::EditError),
    /// [`StoreError::Invalid`](crate::store::StoreError::Invalid)), with nothing written; when the
    /// handle is a reader's, or the store fails. An index that could not follow is no
    /// failure: see [`take_index_lag`](Self::take_index_lag).
    #[doc(hidden)]
    pub fn write(&self, release: ReleaseId, write: &Write) -> Result<u64> {
        let mut index = self.lock_writer()?;
        self.commit_write(&mut index, release, write)
    }

    /// As [`write`](Self::write), of what is made while no other thread commits; nothing is
    /// committed where that is empty.
    #[cfg(feature = "neural")]
    pub(crate) fn write_made(
        &self,
        release: ReleaseId,
        make: impl FnOnce(&Store) -> Result<Write>,
    ) -> Result<()> {
        let mut index = self.lock_writer()?;
        let write = make(&self.store)?;
        if !write.is_empty() {
            self.commit_write(&mut index, release, &write)?;
        }
        Ok(())
    }

    fn commit_write(
        &self,
        index: &mut IndexWriter,
        release: ReleaseId,
        write: &Write,
    ) -> Result<u64> {
        self.require_release(release)?;
        let mut batch = self.store.batch(release);
        // What a search proposes is little, and can be taken back.
        if write.is_of_person || !(write.discoveries.is_empty() && write.withdrawn.is_empty()) {
            batch.keep_images();
        }
        fill(&self.store, &mut batch, release, write)?;
        let revision = self.store.commit(batch)?;
        // Through the list of changes, which also holds what an earlier write left out of the
        // index.
        self.follow(index);
        Ok(revision)
    }
}

/// Puts rows into a batch that are right, and lists them as changes. Says of each set whether the
/// release had one of its id.
pub(super) fn fill(
    store: &Store,
    batch: &mut Batch<'_>,
    release: ReleaseId,
    write: &Write,
) -> Result<Vec<bool>> {
    let mut check = WriteCheck::new(store, release, write);
    for lexunit in &write.lexunits {
        check.lexunit(lexunit)?;
        let there = store.lexunit(release, lexunit.frame, lexunit.id)?;
        if let Some(there) = &there {
            batch.delete_lexunit(there)?;
        }
        batch.put_lexunit(lexunit)?;
        batch.recount(there.as_ref(), Some(lexunit));
        let subject = Subject::LexUnit(lexunit.frame, lexunit.id);
        batch.record(added_or_edited(there.is_some()), &subject);
    }
    for sentence in &write.sentences {
        batch.put_sentence(sentence)?;
        // Generated ones are many, and not counted by commits.
        if is_looked_up(sentence.id) {
            let there = store.sentence(release, sentence.id)?;
            check.sentence(sentence, there.as_ref())?;
            batch.recount(there.as_ref(), Some(sentence));
        }
    }
    let mut known = Vec::with_capacity(write.sets.len());
    for set in &write.sets {
        check.set(set)?;
        // The frame and the LU stand in the key: a set that moves leaves its old row.
        let there = store.set_location(release, set.id)?;
        if let Some(location) = there {
            batch.delete_annotation_set(set.id, location)?;
        }
        // A verifier was asked about the frame, the sentence and the target that the set had.
        if there.is_some()
            && store.has_verification(release, set.id)?
            && !store.annotation_set(release, set.id)?.is_some_and(|it| it.stands_as(set))
        {
            batch.forget_verification(set.id)?;
        }
        if there.is_none() {
            batch.put_new_annotation_set(set)?;
            batch.recount(None, Some(set));
        } else {
            batch.put_annotation_set(set)?;
        }
        let subject = Subject::Set(set.id, SetLocation::of(set));
        batch.record(added_or_edited(there.is_some()), &subject);
        known.push(there.is_some());
    }
    fill_verifications(store, batch, (release, write), &check)?;
    fill_discoveries(store, batch, (release, write))?;
    fill_links(store, batch, (release, write))?;
    for row in &write.journal {
        batch.put_journal(row.seed, row.target, row.recipe, &row.entry)?;
    }
    Ok(known)
}

/// Puts links of what is there into a batch.
fn fill_links(
    store: &Store,
    batch: &mut Batch<'_>,
    (release, write): (ReleaseId, &Write),
) -> Result<()> {
    for links in &write.links {
        let is_there = match links.of {
            LinkSubject::LexUnit(lu) => store.lexunit(release, links.frame, lu)?.is_some(),
            LinkSubject::Element(fe) => store
                .frame(release, links.frame)?
                .is_some_and(|frame| frame.elements.iter().any(|of| of.id == fe)),
        };
        if is_there {
            batch.put_links(links)?;
        }
    }
    Ok(())
}

/// Puts what a search found into a batch. A proposed LU that is withdrawn goes with what was found
/// of it, unless it has changed or was decided on; where sets stand under it, it stays alone.
fn fill_discoveries(
    store: &Store,
    batch: &mut Batch<'_>,
    (release, write): (ReleaseId, &Write),
) -> Result<()> {
    for lu in &write.withdrawn {
        let there = store.lexunit(release, lu.frame, lu.id)?;
        // A decision that is taken back makes it a proposal again.
        let is_decided = store.decisions(release, lu.frame, &lu.name)?.is_some();
        if is_decided || there.as_ref() != Some(lu) {
            continue;
        }
        batch.delete_discovery(lu.frame, &lu.name)?;
        if store.annotation_sets_of_lexunit(release, lu.frame, lu.id)?.next().is_none() {
            batch.forget_links(lu.frame, LinkSubject::LexUnit(lu.id))?;
            batch.delete_lexunit(lu)?;
            batch.recount(Some(lu), None);
            batch.record(Action::Removed, &Subject::LexUnit(lu.frame, lu.id));
        }
    }
    for found in &write.discoveries {
        batch.put_discovery(found)?;
    }
    Ok(())
}

/// Puts answers of a verifier into a batch, about sets that are there or among those written.
fn fill_verifications(
    store: &Store,
    batch: &mut Batch<'_>,
    (release, write): (ReleaseId, &Write),
    check: &WriteCheck<'_>,
) -> Result<()> {
    for verification in &write.verifications {
        check.verification(verification, write)?;
        let was_there = store.has_verification(release, verification.set)?;
        batch.put_verification(verification)?;
        let subject = Subject::Verification(verification.set);
        batch.record(added_or_edited(was_there), &subject);
    }
    Ok(())
}

fn added_or_edited(was_there: bool) -> Action {
    if was_there { Action::Edited } else { Action::Added }
}
