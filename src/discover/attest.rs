//! Sentences of a corpus for LUs that have none.
//!
//! A sentence that holds a form of an LU may show it. A frame model leaves out those in which it
//! finds the frame unlikely. A verifier, which is much slower, is asked about the others: whether
//! the word evokes the frame there, and about other frames that have the word. What is likely
//! enough, and nearer to no other frame, is written into the LU's release, with the FEs that a
//! labeller finds: a set of the origin `predicted`, with the verifier's answer.

use std::collections::{BTreeMap, HashMap};
use std::ops::ControlFlow;
use std::time::Instant;

use super::asking::{MOST_OTHERS, NEARER, TOGETHER};
use super::attest_report::{AttestOptions, AttestReport};
use super::units::Key;
use super::{Corpus, DiscoverError, Result};
use crate::database::{Database, Write};
use crate::engine::GoesOn;
use crate::expand::{
    ExpandError, FitJudge, FrameGap, FrameQuestions, Judges, SetQuestion, Unit,
    lexunits_without_sentences, word_fits,
};
use crate::generate::Lacking;
use crate::identify::FrameIdentifier;
use crate::label::{FoundElement, LabelRequest, Labeller};
use crate::model::{
    AnnotationSetId, Declared, Frame, FrameFit, FrameId, IdSpace, LexUnit, LuId, Pos, Prediction,
    Release, ReleaseId, Sentence, SentenceId, Span, Verification,
};
use crate::proposals::KnownLemmas;
use crate::query::Expression;
use crate::tag::Tagger;
use crate::text::{Morphology, is_in_name};
use crate::transfer::{content_number, predicted_set};
use crate::verify::{EvokesItem, Verifier};

/// Sentences with a word that are read for each that is asked about.
const READ: usize = 4;

/// Gives sentences of a corpus to LUs that have none.
pub struct Attester<'a> {
    database: &'a Database,
    corpus: &'a Corpus,
    judges: Judges,
    labeller: Option<Labeller>,
    tagger: Option<Tagger>,
    judge: Option<FitJudge<'a>>,
    options: AttestOptions,
    questions: FrameQuestions,
    lexicons: HashMap<ReleaseId, ReleaseWords<'a>>,
}

/// What is known of the words of a release.
struct ReleaseWords<'a> {
    lemmas: KnownLemmas<'a>,
    morphology: Morphology,
}

/// The FEs of a sentence by name; `None` where nobody looked for them.
type Labels = Option<Vec<(String, Span)>>;

/// An LU with the sentences that it is asked about.
struct Waiting {
    lu: LexUnit,
    key: Key,
    found: Vec<Found>,
}

/// A sentence that may show an LU.
struct Found {
    text: String,
    target: Span,
    place: String,
    /// What the frame model says, where it was asked and knows the frame.
    fit: Option<FrameFit>,
    said: Option<Verification>,
    /// What other frames answer.
    others: Vec<(String, f32)>,
}

impl Found {
    fn evokes(&self) -> Option<f32> {
        self.said.and_then(|said| said.evokes)
    }

    fn item(&self, lu: &LexUnit) -> EvokesItem {
        let (text, targets) = (self.text.clone(), vec![self.target]);
        EvokesItem { text, targets, lexunit: Some(lu.name.clone()) }
    }

    /// Whether another frame answers better.
    fn is_nearer_to_another(&self) -> bool {
        let own = self.evokes().unwrap_or_default();
        self.others.iter().any(|(_, other)| *other > own + NEARER)
    }
}

impl<'a> Attester<'a> {
    /// Looks into a corpus for LUs of a database. Without a labeller no FEs are found.
    #[must_use]
    pub fn new(
        database: &'a Database,
        corpus: &'a Corpus,
        (verifier, labeller): (Verifier, Option<Labeller>),
        options: AttestOptions,
    ) -> Self {
        Self {
            database,
            corpus,
            judges: Judges { verifier, rewriter: None },
            labeller,
            tagger: None,
            judge: None,
            options,
            questions: FrameQuestions::default(),
            lexicons: HashMap::new(),
        }
    }

    /// Has sentences passed over in which a word is of another part of speech, where the tagger is
    /// made for the language.
    #[must_use]
    pub fn with_tagger(self, tagger: Option<Tagger>) -> Self {
        Self { tagger, ..self }
    }

    /// Has sentences left out in which a frame model finds the frame less likely than is wanted,
    /// before the verifier is asked. Of frames that it does not know, and of releases in other
    /// languages, the verifier alone decides.
    #[must_use]
    pub fn with_frame_model(self, identifier: Option<&'a FrameIdentifier>) -> Self {
        let judge = identifier.map(|identifier| FitJudge::new(self.database, identifier));
        Self { judge, ..self }
    }

    /// The languages that the verifier and the labeller declare.
    #[must_use]
    pub fn declared(&self) -> Vec<&Declared> {
        let labeller = self.labeller.as_ref().map(Labeller::declared);
        std::iter::once(self.judges.verifier.declared()).chain(labeller).collect()
    }

    /// Gives sentences to the LUs without any for which an expression over LUs holds. What is found
    /// is written some LUs at a time. `progress` is told what was done so far, also while some are
    /// asked about; after a `Break` what was written stays. LUs that have a sentence then are not
    /// looked for again; those for which nothing was good enough are.
    ///
    /// # Errors
    /// When the expression names what there is not, asks for annotation, or finds LUs with
    /// sentences only; when LUs are to lack nothing; when a model is made for another language;
    /// when database or model fail.
    pub fn run(
        &mut self,
        expression: &Expression,
        progress: &mut dyn FnMut(&AttestReport) -> ControlFlow<()>,
    ) -> Result<AttestReport> {
        let begun = Instant::now();
        let lacking = self.options.lacking;
        if lacking == Lacking::Nothing {
            return Err(DiscoverError::LackingNothing);
        }
        let lacks = |origin| lacking.is_met_by(origin);
        let gaps = lexunits_without_sentences(self.database, expression, &lacks)?;
        let releases = gaps.iter().map(|gap| gap.release.id);
        self.database.check_languages(self.declared(), releases)?;
        let lexunits = gaps.iter().map(|gap| gap.lexunits.len() as u64).sum();
        let mut report = AttestReport { lexunits, ..AttestReport::default() };
        for gap in gaps {
            self.fill(gap, &mut report, progress)?;
            if report.interrupted || self.wanted(&report) == 0 {
                break;
            }
        }
        report.left = report.lexunits - report.looked_at;
        report.elapsed = begun.elapsed();
        Ok(report)
    }

    /// How many more LUs are to get sentences.
    fn wanted(&self, report: &AttestReport) -> usize {
        self.options.limit.map_or(usize::MAX, |limit| limit.saturating_sub(report.given as usize))
    }

    /// Gives sentences to LUs of a frame.
    fn fill(
        &mut self,
        FrameGap { release, frame, lexunits }: FrameGap,
        report: &mut AttestReport,
        progress: &mut dyn FnMut(&AttestReport) -> ControlFlow<()>,
    ) -> Result<()> {
        self.require_words(&release)?;
        let place = (release.id, &frame);
        let (mut waiting, mut questions) = (Vec::new(), 0);
        let mut lexunits = lexunits.into_iter().peekable();
        while let Some(lu) = lexunits.next() {
            let of = self.waiting(&release, lu, report)?;
            report.looked_at += 1;
            if !of.found.is_empty() {
                report.in_corpus += 1;
                questions += of.found.len();
                waiting.push(of);
            }
            let is_last = lexunits.peek().is_none();
            // No more are asked about together than may get sentences.
            if questions >= TOGETHER || waiting.len() >= self.wanted(report) || is_last {
                let together = std::mem::take(&mut waiting);
                let count = together.len() as u64;
                let written = self.give(place, together, report, progress);
                if written.as_ref().is_err_and(DiscoverError::is_stopped) {
                    (report.looked_at, report.in_corpus) =
                        (report.looked_at - count, report.in_corpus - count);
                    report.interrupted = true;
                    return Ok(());
                }
                written?;
                questions = 0;
                report.interrupted = progress(report).is_break();
            }
            if report.interrupted || self.wanted(report) == 0 {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Reads the lemmas of a release.
    fn require_words(&mut self, release: &Release) -> Result<()> {
        if !self.lexicons.contains_key(&release.id) {
            let words = ReleaseWords {
                lemmas: KnownLemmas::read(self.database, release.id)?,
                morphology: self.database.lexicon(release.id)?.morphology()?,
            };
            self.lexicons.insert(release.id, words);
        }
        Ok(())
    }

    /// The sentences of the corpus that an LU is asked about.
    fn waiting(
        &mut self,
        release: &Release,
        lu: LexUnit,
        report: &mut AttestReport,
    ) -> Result<Waiting> {
        let unit = Unit::of(&lu);
        let key = unit.key();
        let words = &self.lexicons[&release.id];
        let most = self.options.candidates;
        let all = match unit.is_pattern {
            true => Vec::new(),
            false => self.corpus.sentences_with(&key, &words.morphology, most.saturating_mul(READ)),
        };
        let is_told =
            |tagger: &&Tagger| self.database.check_language(tagger.declared(), release).is_ok();
        let tagger = self.tagger.as_ref().filter(is_told);
        let is_judged = self.judge.as_ref().is_some_and(|judge| judge.is_made_for(release));
        // Others take the place of what the frame model leaves out.
        let enough = if is_judged { usize::MAX } else { most };
        let known = self.known(release.id, &lu)?;
        let mut found: Vec<Found> = Vec::new();
        for (text, target, place) in all {
            if found.len() == enough {
                break;
            }
            if known.iter().any(|(of, targets)| *of == text && *targets == [target]) {
                continue;
            }
            if key.1 != Pos::Adjective && is_in_name(&text, &[target]) {
                report.in_names += 1;
                continue;
            }
            let fits = |tagger| word_fits(tagger, &text, &[target], key.1);
            if !tagger.map_or(Ok(true), fits)? {
                report.of_other_pos += 1;
                continue;
            }
            if found.iter().all(|of| of.text != text) {
                let (fit, said, others) = (None, None, Vec::new());
                found.push(Found { text, target, place, fit, said, others });
            }
        }
        if is_judged {
            found = self.fitting((release.id, lu.frame), found, report)?;
        }
        Ok(Waiting { lu, key, found })
    }

    /// Texts and targets of an LU's sets in sentences that no model wrote.
    fn known(&self, release: ReleaseId, lu: &LexUnit) -> Result<Vec<(String, Vec<Span>)>> {
        let store = self.database.store();
        let mut known = Vec::new();
        for set in store.annotation_sets_of_lexunit(release, lu.frame, lu.id)? {
            let set = set?;
            if set.provenance.origin().is_of_written_text() {
                continue;
            }
            if let Some(sentence) = store.sentence(release, set.sentence)? {
                known.push((sentence.text, set.targets));
            }
        }
        Ok(known)
    }

    /// The first of some sentences that the frame model does not find too unlikely, as many as are
    /// asked about.
    fn fitting(
        &mut self,
        place: (ReleaseId, FrameId),
        found: Vec<Found>,
        report: &mut AttestReport,
    ) -> Result<Vec<Found>> {
        let Some(judge) = &mut self.judge else { return Ok(found) };
        let asked = found.iter().map(|of| (of.text.as_str(), std::slice::from_ref(&of.target)));
        let fits = judge.fits_of(place, &asked.collect::<Vec<_>>())?;
        let mut kept = Vec::new();
        for (of, fit) in found.into_iter().zip(fits) {
            if kept.len() == self.options.candidates {
                break;
            }
            match fit {
                Some(fit) if fit.probability < self.options.least => report.unfit += 1,
                fit => {
                    report.without_fit += u64::from(fit.is_none());
                    kept.push(Found { fit, ..of });
                }
            }
        }
        Ok(kept)
    }

    /// Asks about sentences of some LUs of a frame, and writes those that show them.
    fn give(
        &mut self,
        (release, frame): (ReleaseId, &Frame),
        mut waiting: Vec<Waiting>,
        report: &mut AttestReport,
        progress: &mut dyn FnMut(&AttestReport) -> ControlFlow<()>,
    ) -> Result<()> {
        let so_far = report.clone();
        let goes_on = &mut || progress(&so_far);
        self.ask((release, frame.id), &mut waiting, goes_on)?;
        let asked: usize = waiting.iter().map(|of| of.found.len()).sum();
        let unread = waiting.iter().flat_map(|of| &of.found).filter(|of| of.evokes().is_none());
        let unread = unread.count() as u64;
        let least = self.options.least;
        for of in &mut waiting {
            of.found.retain(|of| of.evokes().is_some_and(|evokes| evokes >= least));
        }
        let likely: usize = waiting.iter().map(|of| of.found.len()).sum();
        self.ask_others((release, frame.id), &mut waiting, goes_on)?;
        for of in &mut waiting {
            of.found.retain(|of| !of.is_nearer_to_another());
        }
        let own: usize = waiting.iter().map(|of| of.found.len()).sum();
        for of in &mut waiting {
            of.found
                .sort_by(|a, b| b.evokes().unwrap_or(0.0).total_cmp(&a.evokes().unwrap_or(0.0)));
            of.found.truncate(self.options.keep);
        }
        waiting.retain(|of| !of.found.is_empty());
        let write = self.written((release, frame), &waiting)?;
        if !write.is_empty() {
            self.database.write(release, &write)?;
        }
        report.asked += asked as u64;
        report.unread += unread;
        report.unlikely += (asked - likely) as u64 - unread;
        report.nearer += (likely - own) as u64;
        report.given += waiting.len() as u64;
        report.sentences += write.sets.len() as u64;
        Ok(())
    }

    /// Asks whether the words evoke the frame.
    fn ask(
        &mut self,
        place: (ReleaseId, FrameId),
        waiting: &mut [Waiting],
        goes_on: &mut GoesOn<'_>,
    ) -> Result<()> {
        let question = self.questions.of(self.database, place)?.clone();
        let of_lu = |of: &Waiting| {
            let question = |found: &Found| SetQuestion { item: found.item(&of.lu), source: None };
            of.found.iter().map(question).collect::<Vec<_>>()
        };
        let asked: Vec<SetQuestion> = waiting.iter().flat_map(of_lu).collect();
        let nobody = AnnotationSetId::new(IdSpace::Imported, 0);
        let said = self.judges.verifications(&question, (&asked, nobody), goes_on)?;
        let found = waiting.iter_mut().flat_map(|of| &mut of.found);
        for (found, said) in found.zip(said) {
            found.said = Some(said);
        }
        Ok(())
    }

    /// Asks whether the words evoke other frames that have them.
    fn ask_others(
        &mut self,
        (release, frame): (ReleaseId, FrameId),
        waiting: &mut [Waiting],
        goes_on: &mut GoesOn<'_>,
    ) -> Result<()> {
        let lemmas = &self.lexicons[&release].lemmas;
        let mut of_frames: BTreeMap<FrameId, Vec<usize>> = BTreeMap::new();
        for (at, of) in waiting.iter().enumerate().filter(|(_, of)| !of.found.is_empty()) {
            for other in lemmas.likest_frames_of(&of.key, frame).into_iter().take(MOST_OTHERS) {
                of_frames.entry(other).or_default().push(at);
            }
        }
        for (other, places) in of_frames {
            let question = self.questions.of(self.database, (release, other))?.clone();
            let items = places.iter().map(|at| &waiting[*at]);
            let items = items.flat_map(|of| of.found.iter().map(|found| found.item(&of.lu)));
            let items: Vec<EvokesItem> = items.collect();
            let verifier = &mut self.judges.verifier;
            let answers = verifier.evokes_while(&question, &items, goes_on)?;
            let mut answers = answers.into_iter();
            for at in places {
                for (found, answer) in waiting[at].found.iter_mut().zip(answers.by_ref()) {
                    if let Ok(answer) = answer {
                        let share = self.judges.verifier.evokes_probability(&answer);
                        found.others.push((question.name.clone(), share));
                    }
                }
            }
        }
        for found in waiting.iter_mut().flat_map(|of| &mut of.found) {
            found.others.sort_by(|(_, a), (_, b)| b.total_cmp(a));
        }
        Ok(())
    }

    /// The rows of sentences that show LUs of a frame.
    fn written(&self, (release, frame): (ReleaseId, &Frame), waiting: &[Waiting]) -> Result<Write> {
        let mut elements = self.elements(frame, waiting)?.into_iter();
        let mut write = Write { is_of_person: true, ..Write::default() };
        let mut texts: BTreeMap<SentenceId, String> = BTreeMap::new();
        let mut sets = Vec::new();
        for Waiting { lu, found, .. } in waiting {
            for of in found {
                let sentence = self.sentence(release, &of.text, &texts)?;
                if self.database.store().sentence(release, sentence)?.is_none()
                    && texts.insert(sentence, of.text.clone()).is_none()
                {
                    let new = Sentence::new(of.text.clone());
                    write.sentences.push(Sentence { id: sentence, ..new });
                }
                let id = self.set(release, (sentence, of.target), lu.id, &sets)?;
                sets.push(id);
                let Some(said) = of.said else { continue };
                let prediction = prediction(of, &said);
                let labels = (vec![of.target], elements.next().flatten());
                write.sets.push(predicted_set((id, sentence), (frame, lu.id), labels, prediction));
                write.verifications.push(Verification { set: id, ..said });
            }
        }
        Ok(write)
    }

    /// The FEs of each sentence; `None` where nobody looked for them or the sentence is too long.
    fn elements(&self, frame: &Frame, waiting: &[Waiting]) -> Result<Vec<Labels>> {
        let asked = waiting.iter().flat_map(|of| {
            of.found.iter().map(|found| LabelRequest {
                text: &found.text,
                target: std::slice::from_ref(&found.target),
                lu: &of.lu.name,
                frame,
            })
        });
        let asked: Vec<LabelRequest<'_>> = asked.collect();
        let Some(labeller) = &self.labeller else { return Ok(vec![None; asked.len()]) };
        let labelled = labeller.label_each(&asked).map_err(ExpandError::from)?;
        let named =
            |found: Vec<FoundElement>| found.into_iter().map(|of| (of.name, of.span)).collect();
        Ok(labelled.into_iter().map(|of| of.ok().map(named)).collect())
    }

    /// The id of a sentence: that of its text, or the next one that no other text has.
    fn sentence(
        &self,
        release: ReleaseId,
        text: &str,
        new: &BTreeMap<SentenceId, String>,
    ) -> Result<SentenceId> {
        let mut id = SentenceId::new(IdSpace::Imported, content_number(text));
        loop {
            let there = self.database.store().sentence(release, id)?;
            let known = new.get(&id).cloned().or(there.map(|there| there.text));
            if known.is_none_or(|known| known == text) {
                return Ok(id);
            }
            id = id.next();
        }
    }

    /// A free id of a set, by its place and its LU.
    fn set(
        &self,
        release: ReleaseId,
        (sentence, target): (SentenceId, Span),
        lu: LuId,
        new: &[AnnotationSetId],
    ) -> Result<AnnotationSetId> {
        let key = format!("{sentence} {} {} {lu}", target.start, target.end);
        let mut id = AnnotationSetId::new(IdSpace::Imported, content_number(&key));
        while new.contains(&id) || self.database.store().set_location(release, id)?.is_some() {
            id = id.next();
        }
        Ok(id)
    }
}

/// Where a sentence stands, and how likely its frame is by the frame model; else what the verifier
/// says of it, and of other frames.
fn prediction(of: &Found, said: &Verification) -> Prediction {
    let probability = said.evokes.unwrap_or_default();
    let verifier = FrameFit { probability, model: said.verifier };
    let (fit, others) = match of.fit {
        Some(fit) => (fit, &[][..]),
        None => (verifier, &*of.others),
    };
    let runners_up = others.iter().take(2).cloned().collect();
    Prediction { file: of.place.clone(), fit, runners_up }
}
