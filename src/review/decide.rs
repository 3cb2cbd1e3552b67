//! Decisions, and how they are taken back: the store is open for writing only here.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use super::elements::{MovedElement, move_element};
use super::{Result, ReviewError};
use crate::database::{Database, DatabaseError};
use crate::edit::Transaction;
use crate::model::{AnnotationSet, AnnotationSetId, Judgement, ReleaseId, Span};
use crate::store::StoreError;

/// A reviewer's answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// Number of the item.
    pub item: usize,
    /// The score, 0 to 100.
    pub score: u8,
    /// Milliseconds from showing to answering.
    pub millis: u64,
    /// What the reviewer adds; may be empty.
    pub note: String,
}

/// A target that was moved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Retargeted {
    /// Its pieces before.
    pub before: Vec<Span>,
    /// Its pieces now.
    pub after: Vec<Span>,
}

/// Reviewer and question.
pub(super) type Answerer = (String, String);

/// What is to be written of one set.
#[derive(Debug, Clone)]
pub(super) enum Act {
    /// A reviewer's judgement on a question; none takes it back.
    Judge { of: Answerer, judgement: Option<Judgement> },
    /// Another target.
    Retarget(Retargeted),
    /// Another span of an FE.
    MoveElement(MovedElement),
}

/// What was done to a set, and what stood there before.
#[derive(Debug, Clone)]
pub(super) struct Done {
    pub(super) item: usize,
    pub(super) release: ReleaseId,
    pub(super) set: AnnotationSetId,
    pub(super) change: Change,
}

#[derive(Debug, Clone)]
pub(super) enum Change {
    /// What stood there before, and what stands there now.
    Judged { of: Answerer, judgements: Box<[Option<Judgement>; 2]> },
    /// The set before and now.
    Rewritten(Box<[AnnotationSet; 2]>),
}

/// An act, and what it is done to.
pub(super) type Request = (usize, ReleaseId, AnnotationSetId, Act);

/// How long a writer is waited for that is done soon, as another reviewer's decision.
const PATIENCE: Duration = Duration::from_millis(500);

const PAUSE: Duration = Duration::from_millis(20);

/// Opens the store for writing. The index does not hold judgements, so that it stays closed for
/// them.
pub(super) fn open_writer(dir: &Path, judges_only: bool) -> Result<Database> {
    let begun = Instant::now();
    loop {
        let opened = match judges_only {
            true => Database::open_editor(dir),
            false => Database::open_existing_writer(dir),
        };
        match opened {
            Err(DatabaseError::Store(StoreError::Locked { .. })) if begun.elapsed() < PATIENCE => {
                std::thread::sleep(PAUSE);
            }
            opened => return Ok(opened?),
        }
    }
}

/// Does all that is asked in one commit. Sets that were deleted meanwhile are left out, and named.
pub(super) fn write(
    database: &Database,
    asked: Vec<Request>,
) -> Result<(Vec<Done>, Vec<AnnotationSetId>)> {
    let (mut done, mut gone) = (Vec::new(), Vec::new());
    if asked.is_empty() {
        return Ok((done, gone));
    }
    let mut by_release: BTreeMap<ReleaseId, Vec<Request>> = BTreeMap::new();
    for act in asked {
        if let Act::Judge { of: (reviewer, _), .. } = &act.3 {
            database.set_author(reviewer);
        }
        by_release.entry(act.1).or_default().push(act);
    }
    let mut checked = Vec::new();
    for (release, acts) in by_release {
        let mut edits = database.transaction(release)?;
        for (item, release, set, act) in acts {
            match carry_out(&mut edits, set, act)? {
                Some(change) => done.push(Done { item, release, set, change }),
                None => gone.push(set),
            }
        }
        checked.push(edits);
    }
    database.commit_together(&checked)?;
    Ok((done, gone))
}

/// Does one act; none when the set is no more.
fn carry_out(
    edits: &mut Transaction<'_>,
    set: AnnotationSetId,
    act: Act,
) -> Result<Option<Change>> {
    let Some(mut record) = edits.annotation_set(set)? else { return Ok(None) };
    Ok(Some(match act {
        Act::Judge { of, judgement } => {
            let before = judgement_of(edits, set, &of)?;
            match &judgement {
                Some(judgement) => edits.set_judgement(set, judgement.clone())?,
                None if before.is_some() => edits.remove_judgement(set, &of.0, &of.1)?,
                None => {}
            }
            Change::Judged { of, judgements: Box::new([before, judgement]) }
        }
        Act::Retarget(moved) => {
            if record.targets != moved.before {
                return Err(ReviewError::ChangedMeanwhile(set));
            }
            let before = record.clone();
            record.targets = moved.after;
            changed(edits, before, record)?
        }
        Act::MoveElement(moved) => {
            let before = record.clone();
            if !move_element(&mut record, moved) {
                return Err(ReviewError::ChangedMeanwhile(set));
            }
            changed(edits, before, record)?
        }
    }))
}

/// Writes a set in the place of what stood there.
fn changed(
    edits: &mut Transaction<'_>,
    before: AnnotationSet,
    record: AnnotationSet,
) -> Result<Change> {
    let set = before.id;
    edits.set_annotation_set(record)?;
    let after = edits.annotation_set(set)?.ok_or(ReviewError::Gone(set))?;
    Ok(Change::Rewritten(Box::new([before, after])))
}

fn judgement_of(
    edits: &Transaction<'_>,
    set: AnnotationSetId,
    (reviewer, question): &Answerer,
) -> std::result::Result<Option<Judgement>, DatabaseError> {
    let is_meant = |it: &Judgement| (&it.reviewer, &it.question) == (reviewer, question);
    Ok(edits.judgements(set)?.into_iter().find(is_meant))
}

/// Takes back in one commit what was done together, unless someone has changed it since: then all
/// of it stays.
pub(super) fn take_back(dir: &Path, done: &[Done]) -> Result<()> {
    let judges_only = done.iter().all(|done| matches!(done.change, Change::Judged { .. }));
    let database = open_writer(dir, judges_only)?;
    let mut by_release: BTreeMap<ReleaseId, Vec<&Done>> = BTreeMap::new();
    for done in done {
        by_release.entry(done.release).or_default().push(done);
    }
    let mut checked = Vec::new();
    for (release, done) in by_release {
        let mut edits = database.transaction(release)?;
        done.into_iter().try_for_each(|done| take_one_back(&mut edits, done))?;
        checked.push(edits);
    }
    database.commit_together(&checked)?;
    Ok(())
}

fn take_one_back(edits: &mut Transaction<'_>, done: &Done) -> Result<()> {
    match done.change.clone() {
        Change::Judged { of, judgements } => {
            let [before, after] = *judgements;
            if judgement_of(edits, done.set, &of)? != after {
                return Err(ReviewError::ChangedMeanwhile(done.set));
            }
            let act = Act::Judge { of, judgement: before };
            carry_out(edits, done.set, act)?.ok_or(ReviewError::Gone(done.set))?;
        }
        Change::Rewritten(sets) => {
            let [before, after] = *sets;
            let now = edits.annotation_set(done.set)?.ok_or(ReviewError::Gone(done.set))?;
            if now != after {
                return Err(ReviewError::ChangedMeanwhile(done.set));
            }
            edits.restore_annotation_set(before)?;
        }
    }
    Ok(())
}
