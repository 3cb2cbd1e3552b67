//! What a verifier says of annotation sets: whether their targets evoke their frames and, where
//! they were rewritten, whether they say what their sources say.
//!
//! The question holds the frame's definition and LUs as the store has them now, so a frame that
//! somebody added a minute ago can be asked about. LUs that expansions proposed are not listed:
//! they would confirm themselves. Each answer is kept with a hash of all that was asked, so only
//! what is new or was asked about something else is asked again. No set is removed: queries choose
//! (`evokes>=0.5`).

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::ops::ControlFlow;

use super::ExpandError;
use super::filtering::commit;
use crate::database::{Database, Write};
use crate::decode::GoesOn;
use crate::model::{
    AnnotationSetId, FrameId, Method, PROPOSED, Provenance, ReleaseId, Reverse, Verification,
};
use crate::nn::Fingerprint;
use crate::paraphrase::{Likelihood, Paraphraser};
use crate::query::Expression;
use crate::search::Answer;
use crate::text::natural_spacing;
use crate::verify::{EvokesItem, FrameQuestion, ListedUnit, MeaningItem, Verifier};

/// Sets that are asked of and written together: what sets of one frame share is computed once.
const BATCH: usize = 64;

/// What became of sets of which a verifier was to be asked; as JSON, see
/// `schema/verify.schema.json`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
pub struct Verified {
    /// Sets that were looked at.
    pub sets: u64,
    /// Sets whose answers were written; the others had them already.
    pub written: u64,
    /// Sets whose target could not be asked about: it is empty, or the sentence too long.
    pub without: u64,
    /// Whether the run was stopped; the same command resumes here.
    pub interrupted: bool,
}

/// A verifier, and a rewriter that is asked how likely sources are given what was made of them.
#[derive(Debug)]
pub struct Judges {
    /// Answers both questions.
    pub verifier: Verifier,
    /// Gives [`Reverse`] likelihoods; without one there are none.
    pub rewriter: Option<Paraphraser>,
}

/// What is asked about a set.
struct SetQuestion {
    set: AnnotationSetId,
    item: EvokesItem,
    /// The text that its own was made of, where it was rewritten.
    source: Option<String>,
}

impl Judges {
    /// The hash of all that is asked about a set of a frame, and of whom.
    fn hash(&self, frame: &FrameQuestion, question: &SetQuestion) -> [u8; 16] {
        let mut hash = blake3::Hasher::new();
        let rewriter = self.rewriter.as_ref().map(Paraphraser::fingerprint);
        for of in [Some(self.verifier.fingerprint()), rewriter].into_iter().flatten() {
            hash.update(&of.0);
        }
        let mut put = |bytes: &[u8]| {
            hash.update(&(bytes.len() as u64).to_be_bytes()).update(bytes);
        };
        put(frame.name.as_bytes());
        put(frame.definition.as_bytes());
        for lu in &frame.lexunits {
            put(lu.name.as_bytes());
            put(&lu.annotated.to_be_bytes());
        }
        put(question.item.text.as_bytes());
        for target in &question.item.targets {
            put(&target.start.to_be_bytes());
            put(&target.end.to_be_bytes());
        }
        put(question.item.lexunit.as_deref().unwrap_or_default().as_bytes());
        put(question.source.as_deref().unwrap_or_default().as_bytes());
        short(Fingerprint(hash.finalize().into()))
    }

    /// What is said of sets of a frame.
    fn ask(
        &mut self,
        frame: &FrameQuestion,
        questions: &[SetQuestion],
        goes_on: &mut GoesOn<'_>,
    ) -> Result<Vec<Verification>, ExpandError> {
        if questions.is_empty() {
            return Ok(Vec::new());
        }
        let items: Vec<EvokesItem> = questions.iter().map(|of| of.item.clone()).collect();
        let evoked = self.verifier.evokes_while(frame, &items, goes_on)?;
        let rewritten = |of: &SetQuestion| {
            let (sentence, rewriting) = (of.source.clone()?, of.item.text.clone());
            Some(MeaningItem { sentence, rewriting })
        };
        let pairs: Vec<MeaningItem> = questions.iter().filter_map(rewritten).collect();
        let same = self.verifier.same_meaning_while(&pairs, goes_on)?;
        let mut of_pairs = same.into_iter().zip(self.reversed(&pairs)?);
        let verifier = short(self.verifier.fingerprint());
        let verification = |(question, evoked): (&SetQuestion, Result<_, _>)| {
            let of_pair = question.source.as_ref().and_then(|_| of_pairs.next());
            let (same, reverse) = of_pair.unzip();
            let same = same.and_then(Result::ok);
            Verification {
                set: question.set,
                evokes: evoked.ok().map(|answer| self.verifier.is_evoked(&answer)),
                same_meaning: same.map(|answer| self.verifier.says_the_same(&answer)),
                reverse: reverse.flatten(),
                verifier,
                asked: self.hash(frame, question),
            }
        };
        Ok(questions.iter().zip(evoked).map(verification).collect())
    }

    /// How likely the sentences of pairs are as rewritings of their rewritings.
    fn reversed(&mut self, pairs: &[MeaningItem]) -> Result<Vec<Option<Reverse>>, ExpandError> {
        let Some(rewriter) = &mut self.rewriter else { return Ok(vec![None; pairs.len()]) };
        let print = short(rewriter.fingerprint());
        let spaced: Vec<String> =
            pairs.iter().map(|pair| natural_spacing(pair.sentence.trim())).collect();
        let asked = pairs.iter().zip(&spaced);
        let asked: Vec<(&str, &str)> =
            asked.map(|(pair, source)| (pair.rewriting.as_str(), source.as_str())).collect();
        let reverse = |of: Likelihood| Reverse {
            score: (-of.log_prob / f64::from(of.tokens)) as f32,
            tokens: of.tokens,
            rewriter: print,
        };
        let likelihoods = rewriter.likelihoods(&asked)?.into_iter();
        Ok(likelihoods.map(|likelihood| likelihood.map(reverse)).collect())
    }
}

/// Asks of the sets for which an expression holds, and writes the answers in place of earlier ones.
/// A set that was asked the same by the same judges is not asked again. Answers are written some at
/// a time. `progress` is told how many sets were looked at, also while some are asked about. A
/// `Break` ends the run after those that were written. In the list of changes each answer is a
/// verification.
///
/// # Errors
/// When the expression names what the database does not hold, a release has another language than
/// the judges, or database or model fail.
pub fn verify(
    database: &Database,
    expression: &Expression,
    judges: &mut Judges,
    progress: &mut dyn FnMut(u64) -> ControlFlow<()>,
) -> Result<Verified, ExpandError> {
    let mut asking = Asking { database, judges, frames: HashMap::new() };
    let mut done = Verified::default();
    let mut waiting: Vec<Answer> = Vec::with_capacity(BATCH);
    for answer in database.query(expression)? {
        let answer = answer?;
        let place = |of: &Answer| (of.release.id, of.set.frame);
        let is_other = waiting.first().is_some_and(|first| place(first) != place(&answer));
        if is_other || waiting.len() == BATCH {
            asking.write(std::mem::take(&mut waiting), &mut done, progress)?;
            if done.interrupted {
                return Ok(done);
            }
        }
        waiting.push(answer);
    }
    asking.write(waiting, &mut done, progress)?;
    Ok(done)
}

/// Judges, and what the lexicons of their releases say.
struct Asking<'a> {
    database: &'a Database,
    judges: &'a mut Judges,
    frames: HashMap<(ReleaseId, FrameId), FrameQuestion>,
}

impl Asking<'_> {
    /// Asks of some sets of one frame and writes what is new.
    fn write(
        &mut self,
        answers: Vec<Answer>,
        done: &mut Verified,
        progress: &mut dyn FnMut(u64) -> ControlFlow<()>,
    ) -> Result<(), ExpandError> {
        let Some(first) = answers.first() else { return Ok(()) };
        let place @ (release, _) = (first.release.id, first.set.frame);
        if let Entry::Vacant(vacant) = self.frames.entry(place) {
            self.database.check_language(self.judges.verifier.declared(), &first.release)?;
            if let Some(rewriter) = &self.judges.rewriter {
                self.database.check_language(rewriter.declared(), &first.release)?;
            }
            vacant.insert(frame_question(self.database, place, &first.frame)?);
        }
        let frame = &self.frames[&place];
        let (looked_at, mut without, mut new) = (answers.len() as u64, 0, Vec::new());
        for answer in answers {
            let question = set_question(self.database, answer)?;
            let stored = self.database.store().verification(release, question.set)?;
            match stored.filter(|stored| stored.asked == self.judges.hash(frame, &question)) {
                Some(stored) => without += u64::from(stored.evokes.is_none()),
                None => new.push(question),
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
        done.written += said.len() as u64;
        done.without += without;
        if !said.is_empty() {
            let write = Write { verifications: said, ..Write::default() };
            commit(self.database, &mut BTreeMap::from([(release, write)]))?;
        }
        done.interrupted = progress(done.sets).is_break();
        Ok(())
    }
}

/// What is asked about a frame.
fn frame_question(
    database: &Database,
    (release, frame): (ReleaseId, FrameId),
    name: &str,
) -> Result<FrameQuestion, ExpandError> {
    let store = database.store();
    let mut lexunits = Vec::new();
    for lu in store.lexunits_of(release, frame)? {
        let lu = lu?;
        if lu.status != PROPOSED {
            lexunits.push(ListedUnit { name: lu.name, annotated: lu.total_annotated.into() });
        }
    }
    let definition = store.frame(release, frame)?.map(|frame| frame.definition);
    let definition = definition.unwrap_or_default();
    Ok(FrameQuestion { name: name.to_owned(), definition, lexunits })
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
    Ok(SetQuestion { set: answer.set.id, item, source: source.map(|sentence| sentence.text) })
}

/// The first half of a fingerprint, which records hold.
fn short(fingerprint: Fingerprint) -> [u8; 16] {
    let (half, _) = fingerprint.0.split_first_chunk().expect("32 bytes");
    *half
}
