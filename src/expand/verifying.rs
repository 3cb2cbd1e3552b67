//! What a verifier says of annotation sets: whether their targets evoke their frames and, where
//! they were rewritten, whether they say what their sources say.
//!
//! The question holds the frame's definition and LUs as the store has them now, so a frame that
//! somebody added a minute ago can be asked about. LUs that expansions proposed are not listed:
//! they would confirm themselves. Each answer is kept with a hash of all that was asked, so only
//! what is new or was asked about something else is asked again. No set is removed: queries choose
//! (`evokes>=0.5`).

use std::ops::ControlFlow;
use std::sync::Arc;

use super::ExpandError;
use super::judges::{FrameQuestions, Judges, SetQuestion};
use super::reading::read_in_order;
use crate::database::{Database, Write};
use crate::model::{AnnotationSet, FrameId, Method, Provenance, Release, ReleaseId, Verification};
use crate::query::Expression;
use crate::search::Answer;
use crate::verify::EvokesItem;

/// Sets that are asked of and written together: what sets of one frame share is computed once.
const BATCH: usize = 64;

/// What became of sets of which a verifier was to be asked; as JSON, see
/// `schema/verify.schema.json`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
pub struct Verified {
    /// Sets that were looked at: all that match, unless the run was interrupted.
    pub sets: u64,
    /// Sets whose answers were written; the others had them already.
    pub written: u64,
    /// Sets whose target could not be asked about: it is empty, or the sentence too long.
    pub without: u64,
    /// Whether the run was stopped; the same command resumes here.
    pub interrupted: bool,
}

/// Asks of the sets for which an expression holds, and writes the answers in place of earlier ones.
/// A set that was asked the same by the same judges is not asked again. Answers are written some at
/// a time. `progress` is told how many sets were looked at, also while some are asked about. A
/// `Break` ends the run after those that were written. A set that another thread edits or removes
/// while it is asked about gets no answer. In the list of changes each answer is a
/// verification.
///
/// # Errors
/// When the expression names what the database does not hold, a release has another language than
/// the judges, or database or model fail. A record that cannot be read is told of when the others
/// have their answers.
pub fn verify(
    database: &Database,
    expression: &Expression,
    judges: &mut Judges,
    progress: &mut dyn FnMut(u64) -> ControlFlow<()>,
) -> Result<Verified, ExpandError> {
    let mut asking = Asking { database, judges, frames: FrameQuestions::default() };
    let mut done = Verified::default();
    let mut waiting: Vec<Subject> = Vec::with_capacity(BATCH);
    let read = |answer| Subject::read(database, answer).map(Some);
    let ended = read_in_order(database, expression, read, |subject| {
        let is_other = waiting.first().is_some_and(|first| first.place() != subject.place());
        if is_other || waiting.len() == BATCH {
            asking.write(std::mem::take(&mut waiting), &mut done, progress)?;
        }
        waiting.push(subject);
        Ok(if done.interrupted { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    });
    if !done.interrupted {
        asking.write(waiting, &mut done, progress)?;
    }
    ended.map(|_| done)
}

/// Judges, and what the lexicons of their releases say.
struct Asking<'a> {
    database: &'a Database,
    judges: &'a mut Judges,
    frames: FrameQuestions,
}

impl Asking<'_> {
    /// Asks of some sets of one frame and writes what is new.
    fn write(
        &mut self,
        found: Vec<Subject>,
        done: &mut Verified,
        progress: &mut dyn FnMut(u64) -> ControlFlow<()>,
    ) -> Result<(), ExpandError> {
        let Some(first) = found.first() else { return Ok(()) };
        let place @ (release, _) = first.place();
        self.database.check_language(self.judges.verifier.declared(), &first.release)?;
        if let Some(rewriter) = &self.judges.rewriter {
            self.database.check_language(rewriter.declared(), &first.release)?;
        }
        let frame = self.frames.of(self.database, place)?;
        let (looked_at, mut without, mut new) = (found.len() as u64, 0, Vec::new());
        let mut sets = Vec::new();
        for Subject { set, question, stored, .. } in found {
            match stored.filter(|stored| self.judges.have_said((frame, &question), stored)) {
                Some(stored) => without += u64::from(stored.evokes.is_none()),
                None => {
                    sets.push(set);
                    new.push(question);
                }
            }
        }
        let said = match self.judges.ask(frame, &new, &mut || progress(done.sets)) {
            Err(error) if error.is_stopped() => {
                done.interrupted = true;
                return Ok(());
            }
            said => said?,
        };
        without += said.iter().filter(|said| said.evokes.is_none()).count() as u64;
        done.sets += looked_at;
        done.without += without;
        let asked = sets.into_iter().zip(new.iter().zip(&said));
        let (judges, mut written) = (&*self.judges, 0);
        self.database.write_made(release, |store| {
            let mut write = Write::default();
            for (set, (question, said)) in asked {
                // Another thread may have edited or removed it while it was asked about.
                let now = store.annotation_set(release, set.id)?;
                if now.is_some_and(|now| now.stands_as(&set)) {
                    let verification = judges.verification(set.id, (frame, question), said);
                    write.verifications.push(verification);
                }
            }
            written = write.verifications.len() as u64;
            Ok(write)
        })?;
        done.written += written;
        done.interrupted = progress(done.sets).is_break();
        Ok(())
    }
}

/// A set that is to be asked about.
struct Subject {
    release: Arc<Release>,
    set: AnnotationSet,
    question: SetQuestion,
    /// What was answered before.
    stored: Option<Verification>,
}

impl Subject {
    fn read(database: &Database, answer: Answer) -> Result<Self, ExpandError> {
        let (set, release) = (answer.set.clone(), Arc::clone(&answer.release));
        let stored = database.store().verification(release.id, set.id)?;
        Ok(Self { question: set_question(database, answer)?, release, set, stored })
    }

    fn place(&self) -> (ReleaseId, FrameId) {
        (self.release.id, self.set.frame)
    }
}

/// What is asked about a set; one that was rewritten has its source beside it.
fn set_question(database: &Database, answer: Answer) -> Result<SetQuestion, ExpandError> {
    let (store, release) = (database.store(), answer.release.id);
    let source = match &answer.set.provenance {
        Provenance::Generated(made) if made.method == Method::Paraphrase => {
            match store.set_location(release, made.source)? {
                Some(source) => store.sentence(release, source.sentence)?,
                None => None,
            }
        }
        _ => None,
    };
    let item = EvokesItem {
        text: answer.sentence.text,
        targets: answer.set.targets,
        lexunit: Some(answer.lexunit.to_string()),
    };
    Ok(SetQuestion { item, source: source.map(|sentence| sentence.text) })
}
