//! What a generation does, and what writes.

use std::error::Error;
use std::fmt;
use std::path::PathBuf;

use serde_json::json;

use super::{GenerateError, LanguageFiller, Mode, RemoteFiller, Result, SisterRule, TrainedFiller};
use crate::durable::Stamp;
use crate::model::{FeId, Frame, Method, Origin, Span, named};
use crate::score::Scorer;

named! {
    /// What an LU lacks that gets a sentence.
    #[derive(Default)]
    pub enum Lacking {
        /// Any annotation by people, also in full text.
        #[default]
        Annotation => "annotation",
        /// Exemplars; an LU may have annotation in full text.
        Exemplars => "exemplars",
    }
}

impl Lacking {
    /// Whether an LU with a set of this origin lacks nothing.
    pub(super) fn is_met_by(self, origin: Origin) -> bool {
        match self {
            Self::Annotation => origin != Origin::Generated,
            Self::Exemplars => !matches!(origin, Origin::Generated | Origin::FullText),
        }
    }
}

/// How LUs get sentences.
#[derive(Debug, Clone, PartialEq)]
pub struct Recipe {
    /// [`Method::SisterLu`] or [`Method::Infill`].
    pub method: Method,
    /// Whose sentence is taken.
    pub sisters: SisterRule,
    /// What a generator is told.
    pub mode: Mode,
    /// Candidates for each LU: fillings of one sentence, or sentences of sisters where nothing is
    /// filled.
    pub candidates: usize,
    /// The best of them that are stored, at most `candidates`.
    pub keep: usize,
    /// Decides every draw.
    pub seed: u64,
    /// Which LUs lack sentences.
    pub lacking: Lacking,
    /// Most LUs of this run; those that are done do not count.
    pub limit: Option<usize>,
}

impl Default for Recipe {
    /// A sentence for each LU, as it is.
    fn default() -> Self {
        Self {
            method: Method::SisterLu,
            sisters: SisterRule::default(),
            mode: Mode::default(),
            candidates: 1,
            keep: 1,
            seed: 1,
            lacking: Lacking::default(),
            limit: None,
        }
    }
}

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
pub type ReadsAs = dyn FnMut(&[Reading<'_>]) -> ReadAs;

/// What writes the words of blanks.
#[derive(Debug)]
pub(super) enum Filler {
    Nothing,
    Language(LanguageFiller),
    Trained(Box<TrainedFiller>),
    Remote(Box<RemoteFiller>),
}

/// The models of a run: what writes, ranks and filters.
pub struct Generator {
    pub(super) filler: Filler,
    /// Ranks candidates, and writes where a language model does.
    pub(super) scorer: Option<Scorer>,
    /// Filters them, with its name in recipes.
    pub(super) reads_as: Option<(String, Box<ReadsAs>)>,
    /// The files that were opened, as they were then.
    files: Vec<(PathBuf, Stamp)>,
}

impl fmt::Debug for Generator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Generator").field("filler", &self.filler).finish_non_exhaustive()
    }
}

impl Generator {
    /// What takes sentences as they are, for [`Method::SisterLu`].
    #[must_use]
    pub fn copying() -> Self {
        Self { filler: Filler::Nothing, scorer: None, reads_as: None, files: Vec::new() }
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

    /// The same, with an endpoint that fills blanks.
    #[must_use]
    pub fn asking(self, filler: RemoteFiller) -> Self {
        Self { filler: Filler::Remote(Box::new(filler)), ..self }
    }

    /// The same, with a language model that ranks candidates, read from some files.
    #[must_use]
    pub fn ranking(self, scorer: Scorer, files: Vec<(PathBuf, Stamp)>) -> Self {
        Self { scorer: Some(scorer), files, ..self }
    }

    /// The same, with a classifier that filters candidates; `name` stands in recipes.
    #[must_use]
    pub fn reading(self, name: &str, reads_as: Box<ReadsAs>) -> Self {
        Self { reads_as: Some((name.to_owned(), reads_as)), ..self }
    }

    /// Checks that nobody wrote one of the files.
    pub(super) fn check_files(&self) -> Result<()> {
        let changed = |(path, before): &&(PathBuf, Stamp)| Stamp::of(path).ok() != Some(*before);
        match self.files.iter().find(changed) {
            None => Ok(()),
            Some((path, _)) => Err(GenerateError::ModelChanged { path: path.clone() }),
        }
    }
}

impl Recipe {
    /// Checks that it can be followed.
    pub(super) fn check(&self, generator: &Generator) -> Result<()> {
        let wrong = |name, found, expected: &str| {
            Err(GenerateError::Range { name, found: found as u64, expected: expected.to_owned() })
        };
        if self.candidates == 0 || self.candidates > 100 {
            return wrong("number of candidates", self.candidates, "1 to 100");
        }
        if self.keep == 0 || self.keep > self.candidates {
            let most = format!("1 to the number of candidates, {}", self.candidates);
            return wrong("number of candidates kept", self.keep, &most);
        }
        if self.limit == Some(0) {
            return wrong("limit", 0, "1 or more");
        }
        let lacks_model = match generator.filler {
            Filler::Nothing => self.method == Method::Infill,
            Filler::Language(_) => generator.scorer.is_none(),
            Filler::Trained(_) | Filler::Remote(_) => false,
        };
        if lacks_model { Err(GenerateError::NoGenerator) } else { Ok(()) }
    }

    /// All that outputs depend on, as JSON.
    pub(super) fn description(&self, generator: &Generator) -> String {
        let filler = match &generator.filler {
            Filler::Nothing => json!(null),
            Filler::Language(filler) => filler.description(),
            Filler::Trained(filler) => filler.description(),
            Filler::Remote(filler) => filler.description(),
        };
        let ranks = generator.scorer.as_ref().map(|scorer| scorer.fingerprint().to_string());
        let mut description = json!({
            "method": self.method,
            "sisters": self.sisters.description(),
            "candidates": self.candidates,
            "kept": self.keep,
            "language_model": ranks,
            "classifier": generator.reads_as.as_ref().map(|(name, _)| name),
            "random_seed": self.seed,
            "rules": RULES,
        });
        if self.method == Method::Infill {
            description["mode"] = json!(self.mode);
            description["generator"] = filler;
            description["blanks"] = json!(BLANKS);
        }
        description.to_string()
    }
}

/// The rules of this crate that outputs depend on, with a version.
const RULES: &str = "the LU in the form of the sister's target, by the sentence's tags; a or an by the next letter; \
                     GF and PT with words that stay; v1";

/// Which FEs are blanks, with a version.
const BLANKS: &str = "core, no Agent or Self_mover by ancestry over FE relations of all types or a PP; no overlap; v1";
