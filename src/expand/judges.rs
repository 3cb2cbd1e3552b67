//! Who is asked about sets, and how: a verifier, and a rewriter backwards.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::path::Path;

use super::ExpandError;
use crate::database::Database;
use crate::engine::{Device, Fingerprint, GoesOn, Numbers};
use crate::model::{AnnotationSetId, FrameId, PROPOSED, ReleaseId, Reverse, Rules, Verification};
use crate::paraphrase::{Likelihood, Paraphraser, Prompt};
use crate::score;
use crate::text::natural_spacing;
use crate::verify::{EvokesItem, FrameQuestion, ListedUnit, MeaningItem, Verifier, VerifyError};

/// A verifier, and a rewriter that is asked how likely sources are given what was made of them.
#[derive(Debug)]
pub struct Judges {
    /// Answers both questions.
    pub verifier: Verifier,
    /// Gives [`Reverse`] likelihoods; without one there are none.
    pub rewriter: Option<Paraphraser>,
}

/// What is asked about a set.
#[derive(Debug, Clone)]
pub(crate) struct SetQuestion {
    pub(crate) item: EvokesItem,
    /// The text that its own was made of, where it was rewritten.
    pub(crate) source: Option<String>,
}

/// What is answered about a set; nothing where it could not be asked.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Said {
    pub(super) evokes: Option<score::Answer>,
    pub(super) same_meaning: Option<score::Answer>,
    pub(super) reverse: Option<Likelihood>,
}

impl Judges {
    /// Opens a verifier beside a rewriter. They share one language model in memory where they were
    /// trained on the same.
    ///
    /// # Errors
    /// As [`Verifier::open`].
    pub fn open(
        (adapter, base): (&Path, &Path),
        rewriter: Option<Paraphraser>,
        (device, numbers): (&Device, Numbers),
    ) -> Result<Self, VerifyError> {
        let shared = rewriter.as_ref().and_then(Paraphraser::language_model);
        let verifier = Verifier::open_beside(shared, (adapter, base), (device, numbers))?;
        Ok(Self { verifier, rewriter })
    }

    /// What is kept of the answers about sentences of a frame that are not stored yet: the writer
    /// knows their sets' ids. `made_of` stands in for them.
    pub(crate) fn verifications(
        &mut self,
        frame: &FrameQuestion,
        (questions, made_of): (&[SetQuestion], AnnotationSetId),
        goes_on: &mut GoesOn<'_>,
    ) -> Result<Vec<Verification>, ExpandError> {
        let said = self.ask(frame, questions, goes_on)?;
        let asked = questions.iter().zip(&said);
        let kept =
            asked.map(|(question, said)| self.verification(made_of, (frame, question), said));
        Ok(kept.collect())
    }

    /// What is said of sets of a frame.
    pub(super) fn ask(
        &mut self,
        frame: &FrameQuestion,
        questions: &[SetQuestion],
        goes_on: &mut GoesOn<'_>,
    ) -> Result<Vec<Said>, ExpandError> {
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
        let mut of_pairs = same.into_iter().zip(self.reversed(&pairs, goes_on)?);
        let said = questions.iter().zip(evoked).map(|(question, evoked)| {
            let of_pair = question.source.as_ref().and_then(|_| of_pairs.next());
            let (same, reverse) = of_pair.unzip();
            Said {
                evokes: evoked.ok(),
                same_meaning: same.and_then(Result::ok),
                reverse: reverse.flatten(),
            }
        });
        Ok(said.collect())
    }

    /// How likely the sentences of pairs are as rewritings of their rewritings.
    fn reversed(
        &mut self,
        pairs: &[MeaningItem],
        goes_on: &mut GoesOn<'_>,
    ) -> Result<Vec<Option<Likelihood>>, ExpandError> {
        let Some(rewriter) = &mut self.rewriter else { return Ok(vec![None; pairs.len()]) };
        let spaced: Vec<String> =
            pairs.iter().map(|pair| natural_spacing(pair.sentence.trim())).collect();
        let asked = pairs.iter().zip(&spaced);
        let asked: Vec<(&str, &str)> =
            asked.map(|(pair, source)| (pair.rewriting.as_str(), source.as_str())).collect();
        Ok(rewriter.likelihoods_while(&asked, goes_on)?)
    }

    /// What is kept of the answers about a set.
    pub(super) fn verification(
        &self,
        set: AnnotationSetId,
        (frame, question): (&FrameQuestion, &SetQuestion),
        said: &Said,
    ) -> Verification {
        let rewriter = self.rewriter.as_ref().map(|rewriter| short(identity(rewriter)));
        let reverse = |(of, rewriter): (Likelihood, [u8; 16])| Reverse {
            score: (-of.log_prob / f64::from(of.tokens)) as f32,
            tokens: of.tokens,
            rewriter,
        };
        Verification {
            set,
            evokes: said.evokes.map(|answer| self.verifier.evokes_probability(&answer)),
            same_meaning: said
                .same_meaning
                .map(|answer| self.verifier.same_meaning_probability(&answer)),
            reverse: said.reverse.zip(rewriter).map(reverse),
            verifier: short(self.verifier.fingerprint()),
            asked: self.hash((frame, question), rewriter),
        }
    }

    /// Whether a set has the answers that these judges would give. A rewriter that is not at hand
    /// takes nothing back of what it said before.
    pub(super) fn have_said(
        &self,
        (frame, question): (&FrameQuestion, &SetQuestion),
        stored: &Verification,
    ) -> bool {
        let before = stored.reverse.map(|reverse| reverse.rewriter);
        let rewriter = self.rewriter.as_ref().map(|rewriter| short(identity(rewriter)));
        stored.asked == self.hash((frame, question), rewriter.or(before))
    }

    /// The hash of all that is asked about a set of a frame, and of whom.
    fn hash(
        &self,
        (frame, question): (&FrameQuestion, &SetQuestion),
        rewriter: Option<[u8; 16]>,
    ) -> [u8; 16] {
        let mut hash = blake3::Hasher::new();
        let mut put = |bytes: &[u8]| {
            hash.update(&(bytes.len() as u64).to_be_bytes()).update(bytes);
        };
        put(&Rules::Verification.number().to_be_bytes());
        put(&self.verifier.fingerprint().0);
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
        // The rewriter is asked where there is a source.
        if let Some(source) = &question.source {
            put(source.as_bytes());
            put(&rewriter.unwrap_or_default());
        }
        short(Fingerprint(hash.finalize().into()))
    }
}

/// What is asked about frames, each of which is read once.
#[derive(Debug, Default)]
pub(crate) struct FrameQuestions(HashMap<(ReleaseId, FrameId), FrameQuestion>);

impl FrameQuestions {
    /// What is asked about a frame.
    pub(crate) fn of(
        &mut self,
        database: &Database,
        place: (ReleaseId, FrameId),
    ) -> Result<&FrameQuestion, ExpandError> {
        Ok(match self.0.entry(place) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(vacant) => vacant.insert(frame_question(database, place)?),
        })
    }
}

/// What is asked about a frame.
fn frame_question(
    database: &Database,
    (release, frame): (ReleaseId, FrameId),
) -> Result<FrameQuestion, ExpandError> {
    let store = database.store();
    let mut lexunits = Vec::new();
    for lu in store.lexunits_of(release, frame)? {
        let lu = lu?;
        if lu.status != PROPOSED {
            lexunits.push(ListedUnit { name: lu.name, annotated: lu.total_annotated.into() });
        }
    }
    let frame = store.frame(release, frame)?.map(|frame| (frame.name, frame.definition));
    let (name, definition) = frame.unwrap_or_default();
    Ok(FrameQuestion { name, definition, lexunits })
}

/// BLAKE3 of the fingerprints of all that decides how likely a rewriter finds a text.
pub(super) fn identity(rewriter: &Paraphraser) -> Fingerprint {
    let prompt = rewriter.prompt().map(Prompt::fingerprint);
    let parts = [Some(rewriter.fingerprint()), rewriter.adapter_fingerprint(), prompt];
    Fingerprint::of_all(parts.into_iter().flatten())
}

/// The first half of a fingerprint, which records hold.
fn short(fingerprint: Fingerprint) -> [u8; 16] {
    let (half, _) = fingerprint.0.split_first_chunk().expect("32 bytes");
    *half
}
