//! A verifier: a language model whose adapter answers two questions about a sentence.
//!
//! The first is whether a word evokes a frame. It reads the frame's name, the beginning of its
//! definition and lemmas of its LUs, but never of the LU in question: so it judges words that the
//! lexicon lacks. The second is whether a rewriting says what its source says. Both prompts are
//! data beside the adapter (`questions.rs`); what is put into them is made as in training
//! (`passage.rs`). What answers are worth was measured on judged outputs (`calibration.rs`).

mod calibration;
mod error;
mod passage;
mod questions;

use std::path::Path;

pub use calibration::CALIBRATION;
use calibration::Calibration;
pub use error::VerifyError;
use questions::Questions;
pub use questions::{QUESTIONS, has_questions};

use crate::engine::{Device, Fingerprint, GoesOn, LanguageAdapter, LanguageModel, Numbers, always};
use crate::model::{Declared, Span};
use crate::score::{Answer, FieldTexts, Question, ScoreError, ScoreRefusal, Scorer};

/// Most lemmas of a frame that are listed. Training listed 2 to 10, drawn by annotation; with the
/// ten most annotated, answers are nearest to those that were stored (`docs/results/`).
const MOST_LEMMAS: usize = 10;

/// A frame that words may evoke.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FrameQuestion {
    /// Its name.
    pub name: String,
    /// Its definition, as the store has it; may be empty.
    pub definition: String,
    /// Its LUs; may be none.
    pub lexunits: Vec<ListedUnit>,
}

/// An LU of a frame.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ListedUnit {
    /// Its name, as in `tear up.v`.
    pub name: String,
    /// Its annotated sentences: what has many is listed first.
    pub annotated: u64,
}

/// A word in a sentence that may evoke a frame.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EvokesItem {
    /// The sentence.
    pub text: String,
    /// Where the word is, in bytes, in order of text; several spans for one in parts.
    pub targets: Vec<Span>,
    /// The name of the LU that the word itself is or would be, whose lemma is not shown to the
    /// verifier; of a rewriting that is not its source's LU.
    pub lexunit: Option<String>,
}

/// A sentence and what may say the same.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MeaningItem {
    /// The sentence.
    pub sentence: String,
    /// Its rewriting.
    pub rewriting: String,
}

/// A language model that answers the two questions.
///
/// ```no_run
/// use fnstore::engine::{Device, Numbers};
/// use fnstore::verify::{MeaningItem, Verifier};
///
/// let base = "SmolLM2-135M-Instruct.Q4_1.gguf".as_ref();
/// let mut verifier =
///     Verifier::open("models/verifier".as_ref(), base, &Device::cpu(), Numbers::Blocks)?;
/// let pair = MeaningItem {
///     sentence: "They tore it open .".to_owned(),
///     rewriting: "They ripped it open.".to_owned(),
/// };
/// for answer in verifier.same_meaning(&[pair])? {
///     println!("{:.2}", verifier.same_meaning_probability(&answer?));
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Verifier {
    scorer: Scorer,
    questions: Questions,
    calibration: Calibration,
}

impl Verifier {
    /// Opens the adapter and the questions of a directory over the language model that it was
    /// trained on.
    ///
    /// # Errors
    /// When a file is missing or damaged, or the adapter was trained on another model.
    pub fn open(
        directory: &Path,
        base: &Path,
        device: &Device,
        numbers: Numbers,
    ) -> Result<Self, VerifyError> {
        Self::with_parts(directory, |adapter| Scorer::open_with(base, adapter, device, numbers))
    }

    /// As [`open`](Self::open), over a language model that is open already, whatever its own
    /// adapter. Weights that both compute with lie in memory once
    /// ([`LanguageModel::with_adapter`]).
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn over(directory: &Path, base: &LanguageModel) -> Result<Self, VerifyError> {
        Self::with_parts(directory, |adapter| Scorer::over(base, adapter))
    }

    /// As [`over`](Self::over) a model that is open, where it is of the file that the verifier was
    /// trained on; else as [`open`](Self::open).
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_beside(
        model: Option<&LanguageModel>,
        (directory, base): (&Path, &Path),
        (device, numbers): (&Device, Numbers),
    ) -> Result<Self, VerifyError> {
        match model.filter(|model| model.path() == base) {
            Some(model) => Self::over(directory, model),
            None => Self::open(directory, base, device, numbers),
        }
    }

    /// The verifier of a directory, with a language model that has its adapter.
    fn with_parts(
        directory: &Path,
        open: impl FnOnce(Option<LanguageAdapter>) -> Result<Scorer, ScoreError>,
    ) -> Result<Self, VerifyError> {
        let questions = Questions::read(directory)?;
        let calibration = Calibration::read(directory)?;
        let adapter = LanguageAdapter::read(directory)
            .map_err(|source| VerifyError::Adapter { path: directory.to_owned(), source })?;
        Ok(Self { scorer: open(Some(adapter))?, questions, calibration })
    }

    /// The languages that the adapter, or else the model, declares.
    #[must_use]
    pub fn declared(&self) -> &Declared {
        self.scorer.declared()
    }

    /// BLAKE3 of the fingerprints of all that decides an answer: the language model with the
    /// adapter, the questions and the calibration.
    #[must_use]
    pub fn fingerprint(&self) -> Fingerprint {
        let adapter = self.scorer.adapter().expect("a verifier has an adapter");
        let parts = [self.scorer.fingerprint(), adapter, self.questions.evokes.fingerprint()];
        Fingerprint::of_all(parts.into_iter().chain(self.calibration.fingerprint))
    }

    /// The calibrated probability in `[0, 1]` of an answer to [`evokes`](Self::evokes).
    #[must_use]
    pub fn evokes_probability(&self, answer: &Answer) -> f32 {
        self.calibration.evokes(answer)
    }

    /// The calibrated probability in `[0, 1]` of an answer to
    /// [`same_meaning`](Self::same_meaning).
    #[must_use]
    pub fn same_meaning_probability(&self, answer: &Answer) -> f32 {
        self.calibration.same_meaning(answer)
    }

    /// The language model with the verifier's adapter.
    #[must_use]
    pub fn model(&self) -> &LanguageModel {
        self.scorer.model()
    }

    /// Whether words evoke a frame. What is asked of the frame is computed once.
    ///
    /// # Errors
    /// When the model's weights give numbers that are not finite, or a device failed.
    pub fn evokes(
        &mut self,
        frame: &FrameQuestion,
        items: &[EvokesItem],
    ) -> Result<Vec<Result<Answer, ScoreRefusal>>, VerifyError> {
        self.evokes_while(frame, items, &mut always())
    }

    /// As [`evokes`](Self::evokes), asking between batches whether to go on.
    ///
    /// # Errors
    /// As there, and [`DecodeError::Stopped`](crate::engine::DecodeError::Stopped) after `Break`.
    pub fn evokes_while(
        &mut self,
        frame: &FrameQuestion,
        items: &[EvokesItem],
        goes_on: &mut GoesOn<'_>,
    ) -> Result<Vec<Result<Answer, ScoreRefusal>>, VerifyError> {
        let definition = passage::definition(&frame.definition);
        let lemmas = frame.lemmas();
        let texts = items.iter().map(|item| {
            let (sentence, word) = passage::marked(&item.text, &item.targets)?;
            let words = without(&lemmas, item.lexunit.as_deref());
            Some(FieldTexts::from([
                ("frame".to_owned(), vec![frame.name.replace('_', " ")]),
                ("definition".to_owned(), vec![definition.clone()]),
                ("words".to_owned(), words),
                ("sentence".to_owned(), vec![sentence]),
                ("word".to_owned(), vec![word]),
            ]))
        });
        let question = &self.questions.evokes;
        ask(&mut self.scorer, question, texts.collect(), goes_on)
    }

    /// Whether rewritings say what their sentences say.
    ///
    /// # Errors
    /// As [`evokes`](Self::evokes).
    pub fn same_meaning(
        &mut self,
        pairs: &[MeaningItem],
    ) -> Result<Vec<Result<Answer, ScoreRefusal>>, VerifyError> {
        self.same_meaning_while(pairs, &mut always())
    }

    /// As [`same_meaning`](Self::same_meaning), asking between batches whether to go on.
    ///
    /// # Errors
    /// As [`evokes_while`](Self::evokes_while).
    pub fn same_meaning_while(
        &mut self,
        pairs: &[MeaningItem],
        goes_on: &mut GoesOn<'_>,
    ) -> Result<Vec<Result<Answer, ScoreRefusal>>, VerifyError> {
        let texts = pairs.iter().map(|pair| {
            let filled = |text: &str| !text.trim().is_empty();
            if !filled(&pair.sentence) || !filled(&pair.rewriting) {
                return None;
            }
            Some(FieldTexts::from([
                ("sentence".to_owned(), vec![pair.sentence.clone()]),
                ("rewriting".to_owned(), vec![pair.rewriting.clone()]),
            ]))
        });
        let question = &self.questions.same_meaning;
        ask(&mut self.scorer, question, texts.collect(), goes_on)
    }
}

impl FrameQuestion {
    /// Lemmas of its LUs, each once: those of most annotated sentences first, then by name.
    fn lemmas(&self) -> Vec<String> {
        let mut units: Vec<&ListedUnit> = self.lexunits.iter().collect();
        units.sort_by(|a, b| b.annotated.cmp(&a.annotated).then_with(|| a.name.cmp(&b.name)));
        let mut lemmas: Vec<String> = Vec::new();
        for unit in units {
            let lemma = passage::lemma(&unit.name);
            if !lemma.trim().is_empty() && !lemmas.contains(&lemma) {
                lemmas.push(lemma);
            }
        }
        lemmas
    }
}

/// The first lemmas but that of an LU, in whatever case.
fn without(lemmas: &[String], lexunit: Option<&str>) -> Vec<String> {
    let own = lexunit.map(|lexunit| passage::lemma(lexunit).to_lowercase());
    let others = lemmas.iter().filter(|lemma| Some(lemma.to_lowercase()) != own);
    others.take(MOST_LEMMAS).cloned().collect()
}

/// Asks about the texts that are there; the others are refused as empty.
fn ask(
    scorer: &mut Scorer,
    question: &Question,
    texts: Vec<Option<FieldTexts>>,
    goes_on: &mut GoesOn<'_>,
) -> Result<Vec<Result<Answer, ScoreRefusal>>, VerifyError> {
    let there: Vec<FieldTexts> =
        texts.iter().flatten().map(|texts| of_question(question, texts)).collect();
    let mut answers = scorer.ask_while(question, &there, goes_on)?.into_iter();
    let answer = |texts: Option<FieldTexts>| match texts {
        Some(_) => answers.next().expect("every item that was asked about has an answer"),
        None => Err(ScoreRefusal::Empty),
    };
    Ok(texts.into_iter().map(answer).collect())
}

/// The texts of the fields that a question has.
fn of_question(question: &Question, texts: &FieldTexts) -> FieldTexts {
    let fields = question.fields().filter_map(|field| texts.get_key_value(field));
    fields.map(|(field, texts)| (field.clone(), texts.clone())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lemmas_are_listed_by_annotation_without_the_lus_own() {
        let unit = |name: &str, annotated| ListedUnit { name: name.to_owned(), annotated };
        let mut frame = FrameQuestion {
            lexunits: vec![
                unit("rip.v", 3),
                unit("Tear.v", 9),
                unit("tear (up).v", 1),
                unit("cut.v", 3),
                unit("cut.n", 0),
            ],
            ..FrameQuestion::default()
        };
        assert_eq!(without(&frame.lemmas(), Some("tear.n")), ["cut", "rip"]);
        assert_eq!(without(&frame.lemmas(), None), ["Tear", "cut", "rip", "tear"]);
        frame.lexunits = (0..30).map(|number| unit(&format!("a{number}.v"), 0)).collect();
        assert_eq!(without(&frame.lemmas(), Some("a0.v")).len(), MOST_LEMMAS);
    }
}
