//! The models of a run: what writes, ranks, filters, judges and is asked.

use std::error::Error;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::json;

use super::job::{Filled, Job};
use super::recipe::GenerationRecipe;
use super::{
    Draft, GenerateError, LanguageFiller, RemoteFiller, Result, Seq2SeqFiller, TrainedFiller,
};
use crate::durable::Stamp;
use crate::endpoint::EndpointError;
use crate::engine::{Device, GoesOn, Numbers};
use crate::expand::{Judges, VerifierModels};
use crate::grow::ModelFiles;
use crate::identify::FrameIdentifier;
use crate::model::{Declared, FeId, Frame, Method, Rules, Span, numbered};
use crate::score::{ScoreRequest, Scorer, TextScore};
use crate::text::natural_spacing;
use crate::verify::{Verifier, VerifyError};

/// Words of a sentence to be read as an FE.
#[derive(Debug, Clone, Copy)]
pub struct Reading<'a> {
    /// The sentence.
    pub text: &'a str,
    /// The frame; its FEs are the answers.
    pub frame: &'a Frame,
    /// Name of the LU.
    pub lexunit: &'a str,
    /// Where the LU stands.
    pub target: Span,
    /// The words.
    pub span: Span,
}

/// What was read: for each reading the FE, with its probability, or none.
pub type ReadAs = std::result::Result<Vec<Option<(FeId, f32)>>, Box<dyn Error + Send + Sync>>;

/// A classifier of FEs.
pub type ReadsAs = dyn FnMut(&[Reading<'_>]) -> ReadAs + Send;

/// What writes the words of blanks.
#[derive(Debug)]
pub(super) enum Filler {
    Nothing,
    Language(LanguageFiller),
    Trained(Box<TrainedFiller>),
    Seq2Seq(Box<Seq2SeqFiller>),
    Remote(Box<RemoteFiller>),
}

/// The models of a run: what writes, ranks, filters, judges and is asked.
pub struct Generator {
    pub(super) filler: Filler,
    /// Ranks candidates, and writes where a language model does.
    pub(super) scorer: Option<Scorer>,
    /// Filters them, with its name in recipes.
    pub(super) reads_as: Option<(String, Box<ReadsAs>)>,
    /// Says how likely the frame is at the LU, by which candidates are ranked, too.
    pub(super) identifier: Option<Arc<FrameIdentifier>>,
    /// Asked about what is kept; that decides nothing, so no recipe names it.
    pub(super) judges: Option<Judges>,
    /// The files that were opened, as they were then.
    pub(super) files: Vec<(PathBuf, Stamp)>,
    /// What models behind functions declare.
    declared: Vec<Declared>,
}

impl fmt::Debug for Generator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Generator").field("filler", &self.filler).finish_non_exhaustive()
    }
}

impl Generator {
    /// What takes sentences as they are, for [`Method::SisterLu`](crate::model::Method::SisterLu).
    #[must_use]
    pub fn copying() -> Self {
        Self {
            filler: Filler::Nothing,
            scorer: None,
            reads_as: None,
            identifier: None,
            judges: None,
            files: Vec::new(),
            declared: Vec::new(),
        }
    }

    /// The same, with a language model that fills blanks and ranks.
    #[must_use]
    pub fn filling(self, filler: LanguageFiller) -> Self {
        Self { filler: Filler::Language(filler), ..self }
    }

    /// The same, with a language model that was trained to fill blanks.
    #[must_use]
    pub fn filling_as_trained(self, filler: TrainedFiller) -> Self {
        Self { filler: Filler::Trained(Box::new(filler)), ..self }
    }

    /// The same, with an encoder-decoder that fills blanks, read from some files.
    #[must_use]
    pub fn filling_by_sentinels(
        mut self,
        filler: Seq2SeqFiller,
        files: Vec<(PathBuf, Stamp)>,
    ) -> Self {
        self.files.extend(files);
        Self { filler: Filler::Seq2Seq(Box::new(filler)), ..self }
    }

    /// The same, with an endpoint that fills blanks.
    #[must_use]
    pub fn asking(self, filler: RemoteFiller) -> Self {
        Self { filler: Filler::Remote(Box::new(filler)), ..self }
    }

    /// The same, with a language model that ranks candidates, read from some files.
    #[must_use]
    pub fn ranking(mut self, scorer: Scorer, files: Vec<(PathBuf, Stamp)>) -> Self {
        self.files.extend(files);
        Self { scorer: Some(scorer), ..self }
    }

    /// The same, with a classifier that filters candidates; `name` stands in recipes.
    #[must_use]
    pub fn reading(self, name: &str, reads_as: Box<ReadsAs>) -> Self {
        Self { reads_as: Some((name.to_owned(), reads_as)), ..self }
    }

    /// The same, with what a model declares that works behind a function of
    /// [`reading`](Self::reading).
    #[must_use]
    pub fn declaring(mut self, model: Declared) -> Self {
        self.declared.push(model);
        self
    }

    /// The languages that its models declare; a server's are not known.
    #[must_use]
    pub fn declared(&self) -> Vec<&Declared> {
        let filler = match &self.filler {
            Filler::Trained(filler) => Some(filler.declared()),
            Filler::Seq2Seq(filler) => Some(filler.declared()),
            Filler::Nothing | Filler::Language(_) | Filler::Remote(_) => None,
        };
        let scorer = self.scorer.as_ref().map(Scorer::declared);
        let judge = self.identifier.as_deref().map(FrameIdentifier::declared);
        let verifier = self.judges.as_ref().map(|judges| judges.verifier.declared());
        let judges = judge.into_iter().chain(verifier);
        filler.into_iter().chain(scorer).chain(judges).chain(&self.declared).collect()
    }

    /// The same, with a frame model that says how likely the frame of each sentence is.
    #[must_use]
    pub fn judging(self, identifier: FrameIdentifier) -> Self {
        Self { identifier: Some(Arc::new(identifier)), ..self }
    }

    /// The same, with a verifier, read from some files, that is asked whether the targets of the
    /// sentences that are kept evoke their frames. Its answers are stored with the sentences and
    /// change nothing else. It computes with the weights of the language model that ranks, where
    /// that is its own.
    ///
    /// # Errors
    /// As [`Verifier::open`].
    pub fn verifying(
        mut self,
        VerifierModels { adapter, base }: &VerifierModels,
        at: (&Device, Numbers),
        files: Vec<(PathBuf, Stamp)>,
    ) -> std::result::Result<Self, VerifyError> {
        let shared = self.scorer.as_ref().map(Scorer::model);
        let verifier = Verifier::open_beside(shared, (adapter, base), at)?;
        self.files.extend(files);
        Ok(Self { judges: Some(Judges { verifier, rewriter: None }), ..self })
    }

    /// The files that were opened, as they were then.
    pub(super) fn files(&self) -> ModelFiles {
        ModelFiles::new(self.files.clone())
    }

    /// Checks that it can follow a recipe.
    pub(super) fn check(&self, recipe: &GenerationRecipe) -> Result<()> {
        recipe.check()?;
        if recipe.least > 0.0 && self.scorer.is_none() {
            return Err(GenerateError::NoRanker { least: recipe.least });
        }
        let lacks_model = match self.filler {
            Filler::Nothing => recipe.method == Method::Infill,
            Filler::Language(_) => self.scorer.is_none(),
            Filler::Trained(_) | Filler::Seq2Seq(_) | Filler::Remote(_) => false,
        };
        if lacks_model { Err(GenerateError::NoGenerator) } else { Ok(()) }
    }

    /// All that outputs depend on, as JSON.
    pub(super) fn description(&self, recipe: &GenerationRecipe) -> String {
        let filler = match &self.filler {
            Filler::Nothing => json!(null),
            Filler::Language(filler) => filler.description(),
            Filler::Trained(filler) => filler.description(),
            Filler::Seq2Seq(filler) => filler.description(),
            Filler::Remote(filler) => filler.description(),
        };
        let ranks = self.scorer.as_ref().map(|scorer| scorer.fingerprint().to_string());
        let ranks_by = self.identifier.as_ref().filter(|_| self.scorer.is_some());
        let frames = ranks_by.map(|model| model.fingerprint().to_string());
        let is_filled = recipe.method == Method::Infill;
        let of_filler: &[Rules] = match &self.filler {
            Filler::Language(_) => &[Rules::Agreement],
            Filler::Seq2Seq(_) => &[Rules::Sentinels],
            Filler::Nothing | Filler::Trained(_) | Filler::Remote(_) => &[],
        };
        let of_blanks = [Rules::Blanks].into_iter().chain(of_filler.iter().copied());
        let always = [Rules::Takeover, Rules::Sisters, Rules::Ranking];
        let of_frames = frames.iter().map(|_| Rules::FrameFit);
        let rules = always.into_iter().chain(of_blanks.filter(|_| is_filled)).chain(of_frames);
        let mut description = json!({
            "method": recipe.method,
            "rules": numbered(rules),
            "sisters": recipe.sisters,
            "candidates": recipe.candidates,
            "kept": recipe.keep,
            "least": recipe.least.to_string(),
            "language_model": ranks,
            "classifier": self.reads_as.as_ref().map(|(name, _)| name),
            "frame_model": frames,
            "random_seed": recipe.seed,
        });
        if is_filled {
            description["mode"] = json!(recipe.mode);
            description["sources"] = json!(recipe.sources);
            description["generator"] = filler;
        }
        description.to_string()
    }

    /// Words for the blanks of some sentences, in their order; fewer where a budget ended. Stops
    /// after the step that runs when `goes_on` says so.
    pub(super) fn fill(
        &mut self,
        jobs: &[Job<'_>],
        recipe: &GenerationRecipe,
        goes_on: &mut GoesOn<'_>,
    ) -> Result<Vec<Filled>> {
        match (&mut self.filler, &mut self.scorer) {
            (Filler::Language(filler), Some(scorer)) => filler.fill(scorer, jobs, recipe, goes_on),
            (Filler::Trained(filler), _) => filler.fill(jobs, recipe, goes_on),
            (Filler::Seq2Seq(filler), _) => filler.fill(jobs, recipe, goes_on),
            (Filler::Remote(filler), _) => {
                let mut answers = Vec::with_capacity(jobs.len());
                for job in jobs {
                    match filler.fill(job, recipe, goes_on) {
                        Ok(filled) => answers.push(filled),
                        Err(GenerateError::Endpoint(EndpointError::Budget { .. })) => break,
                        Err(error) => return Err(error),
                    }
                }
                Ok(answers)
            }
            _ => Err(GenerateError::NoGenerator),
        }
    }

    /// For each blank of a sentence the probability of its FE, where the classifier reads it as
    /// that; nothing without a classifier.
    pub(super) fn read(
        &mut self,
        frame: &Frame,
        lexunit: &str,
        draft: &Draft,
    ) -> Result<Option<Vec<Option<f32>>>> {
        let Some((_, reads_as)) = &mut self.reads_as else { return Ok(None) };
        let Draft { text, target, blanks, .. } = draft;
        let target = *target;
        let readings =
            blanks.iter().map(|blank| Reading { text, frame, lexunit, target, span: blank.span });
        let read = reads_as(&readings.collect::<Vec<_>>()).map_err(GenerateError::Reading)?;
        let same = |(read, fe): (&Option<(FeId, f32)>, FeId)| {
            read.filter(|(found, _)| *found == fe).map(|(_, probability)| probability)
        };
        Ok(Some(read.iter().zip(blanks.iter().map(|blank| blank.fe)).map(same).collect()))
    }

    /// How likely the language model finds some texts, `None` for one that it cannot score; nothing
    /// without a model.
    pub(super) fn score<'t>(
        &mut self,
        texts: impl Iterator<Item = &'t str>,
        goes_on: &mut GoesOn<'_>,
    ) -> Result<Option<Vec<Option<TextScore>>>> {
        let Some(scorer) = &mut self.scorer else { return Ok(None) };
        let requests = texts.map(|text| ScoreRequest::of(natural_spacing(text)));
        let scores = scorer.score_while(&requests.collect::<Vec<_>>(), goes_on)?;
        Ok(Some(scores.into_iter().map(std::result::Result::ok).collect()))
    }
}
