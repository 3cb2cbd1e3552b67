//! What is in the way of taking back a commit.

use std::collections::{BTreeMap, BTreeSet};

use super::super::staged::{Judged, StagedRow, named};
use super::super::{EditError, Result, Transaction};
use super::subject;
use crate::model::{Decided, Reference, Refers, SentenceLayers};
use crate::store::{Action, RowContent, Subject};
use crate::text::fold;

/// Conflicts that a message names.
const NAMED: usize = 5;

impl Transaction<'_> {
    /// What was written since, and names what goes; what comes back, and names what went since.
    pub(super) fn find_conflicts(
        &self,
        revision: u64,
        staged: &[(RowContent, bool)],
        conflicts: &mut Vec<Subject>,
    ) -> Result<()> {
        let mut gone = BTreeSet::new();
        let mut back: BTreeMap<Reference, Subject> = BTreeMap::new();
        for (record, _) in staged {
            let Some(subject) = subject(record) else { continue };
            match self.references_of(&subject)? {
                None => gone.extend(references_to(&subject)),
                Some(named) => back.extend(named.into_iter().map(|of| (of, subject.clone()))),
            }
        }
        for change in self.database.store.changes_since(revision)? {
            let change = change?;
            if change.release != self.release {
                continue;
            }
            let named = self.references_of(&change.subject)?;
            let conflict = match (change.action, named) {
                (Action::Removed, None) => {
                    references_to(&change.subject).iter().find_map(|it| back.get(it)).cloned()
                }
                (Action::Removed, Some(_)) | (_, None) => None,
                (_, Some(named)) => {
                    named.iter().any(|it| gone.contains(it)).then_some(change.subject)
                }
            };
            conflicts.extend(conflict);
        }
        Ok(())
    }

    /// Frames and LUs that have taken the name of one that comes back. FrameNet has some of one
    /// name: those that had it before stay beside each other.
    pub(super) fn find_taken_names(
        &mut self,
        revision: u64,
        staged: &[(RowContent, bool)],
        conflicts: &mut Vec<Subject>,
    ) -> Result<()> {
        for (record, _) in staged.iter().filter(|(_, stays)| *stays) {
            let (itself, name, others): (_, _, Vec<Subject>) = match record {
                RowContent::Frame(frame) => {
                    let others = self.frames_folded(&frame.name)?.into_iter();
                    (frame.subject(), &frame.name, others.map(Subject::Frame).collect())
                }
                RowContent::LexUnit(lu) => {
                    let others = self.lexunits_called(lu.frame, &lu.name)?;
                    (lu.subject(), &lu.name, others.iter().map(StagedRow::subject).collect())
                }
                _ => continue,
            };
            for other in others.into_iter().filter(|other| *other != itself) {
                if self.has_taken(revision, &other, name)? {
                    conflicts.push(other);
                }
            }
            self.others.allow(itself);
        }
        Ok(())
    }

    /// Whether a frame or an LU got its name after a commit.
    fn has_taken(&self, revision: u64, taker: &Subject, name: &str) -> Result<bool> {
        for change in self.database.store.changes_since(revision)? {
            let change = change?;
            if change.release != self.release || change.subject != *taker {
                continue;
            }
            let images = self.database.store.images(change.revision)?;
            let before = images.iter().find_map(|image| {
                let value = image.before.as_deref()?;
                match image.row.content(value).ok()? {
                    RowContent::Frame(frame) if frame.subject() == *taker => Some(frame.name),
                    RowContent::LexUnit(lu) if lu.subject() == *taker => Some(lu.name),
                    _ => None,
                }
            });
            if before.is_none_or(|before| fold(&before) != fold(name)) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// What a record names, as it will be; `None` where it will not be there.
    fn references_of(&self, subject: &Subject) -> Result<Option<Vec<Reference>>> {
        fn of(record: Option<impl Refers>) -> Option<Vec<Reference>> {
            Some(record?.references().into_iter().map(|(_, reference)| reference).collect())
        }
        Ok(match subject {
            Subject::SemType(id) => of(self.sem_type(*id)?),
            Subject::Frame(id) => of(self.frame(*id)?),
            Subject::Relation(id) => of(self.relation(*id)?),
            Subject::LexUnit(frame, lu) => of(self.lexunit(*frame, *lu)?),
            Subject::Document(corpus, id) => of(self.document(*corpus, *id)?),
            Subject::Sentence(id) => of(self.sentence(*id)?),
            Subject::SentenceLayers(sentence, set) => {
                of(self.read::<SentenceLayers>(&(*sentence, *set))?)
            }
            Subject::Set(id, _) => of(self.annotation_set(*id)?),
            Subject::Judgement(set, by, question) => {
                let key = (*set, by.clone(), question.clone());
                self.read::<Judged>(&key)?.map(|judged| vec![Reference::Set(judged.set)])
            }
            Subject::Decision(frame, name) => {
                let decided = self.read::<Decided>(&(*frame, name.clone()))?;
                decided.map(|decided| vec![Reference::Frame(decided.frame)])
            }
            // An edition outlives its sets, and what a verifier says goes with its set.
            _ => None,
        })
    }

    /// The error for records that are in the way, each with the last commit that changed it.
    pub(super) fn changed_since(&self, revision: u64, conflicts: &[Subject]) -> Result<EditError> {
        let mut later: BTreeMap<Subject, u64> = BTreeMap::new();
        for change in self.database.store.changes_since(revision)? {
            let change = change?;
            if change.release == self.release {
                later.insert(place_free(change.subject), change.revision);
            }
        }
        let mut told = Vec::new();
        for subject in conflicts {
            let (kind, id) = named(subject);
            let by = later.get(&place_free(subject.clone()));
            told.push((kind, id, by.copied()));
        }
        told.sort();
        told.dedup();
        let more = told.len().saturating_sub(NAMED) as u64;
        told.truncate(NAMED);
        Ok(EditError::ChangedSince { revision, records: told, more })
    }
}

/// A subject that is the same wherever its set is kept.
fn place_free(subject: Subject) -> Subject {
    match subject {
        Subject::Set(set, _) => Subject::Verification(set),
        other => other,
    }
}

/// How others name a record.
fn references_to(subject: &Subject) -> Vec<Reference> {
    match subject {
        Subject::SemType(id) => vec![Reference::SemType(*id)],
        Subject::Frame(id) => vec![Reference::Frame(*id)],
        Subject::LexUnit(frame, lu) => {
            vec![Reference::LexUnit(*frame, *lu), Reference::Listed(*lu)]
        }
        Subject::Document(corpus, id) => vec![Reference::Document(*corpus, *id)],
        Subject::Sentence(id) => vec![Reference::Sentence(*id)],
        Subject::Set(id, _) => vec![Reference::Set(*id)],
        _ => Vec::new(),
    }
}
