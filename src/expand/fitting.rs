//! How likely the seed's frame is in generated sentences, as a frame model sees it.
//!
//! The model is asked of the new trigger alone. The shipped one learned from no generated sentence,
//! but from sentences by people, among them seeds of what it judges
//! (`models/frames/MODEL_CARD.md`). So it is no independent judge of their rewritings. LUs that
//! expansions proposed do not tell it which frames are possible: they would confirm themselves.
//! What it says removes no stored set: queries choose (`frame_fit>=0.5`), and a recipe may end
//! chains. Generation ranks its candidates by it, among other things.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::ops::ControlFlow;

use super::ExpandError;
use super::filtering::{commit, generated_sets};
use super::reading::{read_in_order, rewrite};
use crate::database::{Database, Write};
use crate::identify::{Candidates, FrameIdentifier, Question, released_lexunits};
use crate::model::{
    AnnotationSet, AnnotationSetId, FrameFit, FrameId, Provenance, Release, ReleaseId, Span,
};
use crate::query::Expression;
use crate::search::Answer;

/// Sets that are asked of and written together.
const BATCH: usize = 512;

/// What became of sets of which a frame model was to say how likely their frames are; as JSON, see
/// `schema/fit.schema.json`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
pub struct Refitted {
    /// Sets that were looked at.
    pub sets: u64,
    /// Sets whose probability was written; the others had it already, or have none.
    pub written: u64,
    /// Sets without one: the sentence is too long for the encoder, or the trigger has too many
    /// words.
    pub without: u64,
    /// Whether the run was stopped; the same command resumes here.
    pub interrupted: bool,
}

/// A frame model and the LUs of the releases that it is asked of.
pub(crate) struct FitJudge<'a> {
    database: &'a Database,
    identifier: &'a FrameIdentifier,
    candidates: HashMap<ReleaseId, Candidates>,
}

/// Gives the generated sets for which an expression holds the probability of their frame by a frame
/// model, in place of earlier ones. Writes, progress and interruption are those of
/// [`rescore`](super::rescore).
///
/// # Errors
/// When the expression names what the database does not hold, or database or model fail. A record
/// that cannot be read is told of when the others have their probability.
pub fn refit(
    database: &Database,
    expression: &Expression,
    identifier: &FrameIdentifier,
    progress: &mut dyn FnMut(u64) -> ControlFlow<()>,
) -> Result<Refitted, ExpandError> {
    let mut judge = FitJudge::new(database, identifier);
    let mut done = Refitted::default();
    let mut waiting = Vec::with_capacity(BATCH);
    let all = generated_sets(expression);
    let ended = read_in_order(
        database,
        &all,
        |answer| Ok(Some(answer)),
        |answer| {
            waiting.push(answer);
            if waiting.len() < BATCH {
                return Ok(ControlFlow::Continue(()));
            }
            judge.write(std::mem::take(&mut waiting), &mut done)?;
            Ok(progress(done.sets))
        },
    );
    judge.write(waiting, &mut done)?;
    done.interrupted = ended?.is_break();
    Ok(done)
}

/// As [`refit`], of some sets of a release by their ids, in one write; those that are no generated
/// ones are passed over.
///
/// # Errors
/// As [`refit`].
pub fn refit_sets(
    database: &Database,
    release: ReleaseId,
    sets: &[AnnotationSetId],
    identifier: &FrameIdentifier,
) -> Result<Refitted, ExpandError> {
    let store = database.store();
    let mut by_frame: BTreeMap<FrameId, Vec<(AnnotationSet, String)>> = BTreeMap::new();
    for id in sets {
        let Some(set) = store.annotation_set(release, *id)? else { continue };
        let Some(sentence) = store.sentence(release, set.sentence)? else { continue };
        if matches!(set.provenance, Provenance::Generated(_)) {
            by_frame.entry(set.frame).or_default().push((set, sentence.text));
        }
    }
    let mut judge = FitJudge::new(database, identifier);
    let (mut done, mut write) = (Refitted::default(), Write::default());
    for (frame, sets) in by_frame {
        let questions = sets.iter().map(|(set, text)| (text.as_str(), set.targets.as_slice()));
        let fits = judge.fits_of((release, frame), &questions.collect::<Vec<_>>())?;
        for ((mut set, _), fit) in sets.into_iter().zip(fits) {
            let Provenance::Generated(made) = &mut set.provenance else { continue };
            (done.sets, done.without) = (done.sets + 1, done.without + u64::from(fit.is_none()));
            if made.fit != fit {
                made.fit = fit;
                write.sets.push(set);
                done.written += 1;
            }
        }
    }
    if done.written > 0 {
        commit(database, &mut BTreeMap::from([(release, write)]))?;
    }
    Ok(done)
}

impl<'a> FitJudge<'a> {
    pub(crate) fn new(database: &'a Database, identifier: &'a FrameIdentifier) -> Self {
        Self { database, identifier, candidates: HashMap::new() }
    }

    /// Whether the model is made for the language of a release.
    pub(crate) fn is_made_for(&self, release: &Release) -> bool {
        self.database.check_language(self.identifier.declared(), release).is_ok()
    }

    /// The probability of a frame at the targets of sentences that are not in the store yet; none
    /// where a sentence is too long or its target has too many words.
    pub(crate) fn fits_of(
        &mut self,
        (release, frame): (ReleaseId, FrameId),
        sentences: &[(&str, &[Span])],
    ) -> Result<Vec<Option<FrameFit>>, ExpandError> {
        let frame = self.database.store().frame(release, frame)?;
        let frame = frame.map_or_else(String::new, |frame| frame.name);
        let question = |&(text, targets)| Question { text, target: whole(targets), frame: &frame };
        let questions: Vec<Question<'_>> = sentences.iter().map(question).collect();
        let identifier = self.identifier;
        let probabilities = identifier.judge(&questions, self.candidates(release)?)?;
        let fit = |probability: Option<f32>| Some(identifier.fit(probability?));
        Ok(probabilities.into_iter().map(fit).collect())
    }

    /// The LUs of a release.
    fn candidates(&mut self, release: ReleaseId) -> Result<&Candidates, ExpandError> {
        match self.candidates.entry(release) {
            Entry::Occupied(known) => Ok(known.into_mut()),
            Entry::Vacant(place) => {
                let releases = self.database.releases()?.into_iter();
                let name = releases.filter(|of| of.id == release).map(|of| of.name).next();
                let lexicon = self.database.lexicon(&name.unwrap_or_default())?;
                self.database.check_language(self.identifier.declared(), lexicon.release())?;
                let (lexunits, forms) = (released_lexunits(&lexicon)?, lexicon.morphology()?);
                Ok(place.insert(self.identifier.candidates_by(lexunits, &forms)))
            }
        }
    }

    /// Asks of some sets and writes what is new.
    fn write(&mut self, answers: Vec<Answer>, done: &mut Refitted) -> Result<(), ExpandError> {
        let mut by_release: BTreeMap<ReleaseId, Vec<Answer>> = BTreeMap::new();
        for answer in answers {
            by_release.entry(answer.release.id).or_default().push(answer);
        }
        let mut new = Vec::new();
        for (release, answers) in by_release {
            done.sets += answers.len() as u64;
            let probabilities = self.probabilities(release, &answers)?;
            for (Answer { set: read, .. }, probability) in answers.into_iter().zip(probabilities) {
                let mut set = read.clone();
                let Provenance::Generated(made) = &mut set.provenance else { continue };
                let fit = probability.map(|probability| self.identifier.fit(probability));
                done.without += u64::from(fit.is_none());
                if std::mem::replace(&mut made.fit, fit) != fit {
                    new.push((release, read, set));
                }
            }
        }
        done.written += rewrite(self.database, new)?;
        Ok(())
    }

    /// The probability of the frame of each set of a release.
    fn probabilities(
        &mut self,
        release: ReleaseId,
        answers: &[Answer],
    ) -> Result<Vec<Option<f32>>, ExpandError> {
        let questions = answers.iter().map(|answer| Question {
            text: &answer.sentence.text,
            target: whole(&answer.set.targets),
            frame: &answer.frame,
        });
        let identifier = self.identifier;
        Ok(identifier.judge(&questions.collect::<Vec<_>>(), self.candidates(release)?)?)
    }
}

/// From the first to the last character of a target.
fn whole(targets: &[Span]) -> Span {
    let start = targets.first().map_or(0, |span| span.start);
    Span::new(start, targets.last().map_or(start, |span| span.end))
}
