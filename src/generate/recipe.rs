//! What a generation does.

use super::{GenerateError, Mode, Result, SisterRule};
use crate::model::{Method, Origin, named};

named! {
    /// What an LU lacks that gets a sentence.
    #[derive(Default)]
    pub enum Lacking {
        /// Any annotation by people, also in full text.
        #[default]
        Annotation => "annotation",
        /// Exemplars; an LU may have annotation in full text.
        Exemplars => "exemplars",
        /// Nothing: LUs that people annotated get sentences, too.
        Nothing => "nothing",
    }
}

impl Lacking {
    /// Whether an LU with a set of this origin lacks nothing.
    pub(crate) fn is_met_by(self, origin: Origin) -> bool {
        match self {
            Self::Annotation => !origin.is_of_written_text(),
            Self::Exemplars => !origin.is_of_written_text() && origin != Origin::FullText,
            Self::Nothing => false,
        }
    }
}

/// Most sisters' sentences of an LU.
pub(super) const MOST_SOURCES: usize = 100;

/// How LUs get sentences.
#[derive(Debug, Clone, PartialEq)]
pub struct GenerationRecipe {
    /// [`Method::SisterLu`] or [`Method::Infill`].
    pub method: Method,
    /// Whose sentence is taken.
    pub sisters: SisterRule,
    /// What a generator is told.
    pub mode: Mode,
    /// Sisters' sentences that are filled for each LU under [`Method::Infill`].
    pub sources: usize,
    /// Candidates: fillings of each sentence, or sentences of sisters where nothing is filled.
    pub candidates: usize,
    /// The best of an LU's candidates that are stored.
    pub keep: usize,
    /// Least probability, as far as the models tell it, that a judge accepts what is stored.
    pub least: f32,
    /// Decides every draw.
    pub seed: u64,
    /// Which LUs lack sentences.
    pub lacking: Lacking,
}

impl Default for GenerationRecipe {
    /// A sentence for each LU, as it is.
    fn default() -> Self {
        Self {
            method: Method::SisterLu,
            sisters: SisterRule::default(),
            mode: Mode::default(),
            sources: 1,
            candidates: 1,
            keep: 1,
            least: 0.0,
            seed: 1,
            lacking: Lacking::default(),
        }
    }
}

impl GenerationRecipe {
    /// Checks that its numbers can be followed.
    pub(super) fn check(&self) -> Result<()> {
        let wrong = |name, found: usize, expected: &str| {
            Err(GenerateError::Range {
                name,
                found: found.to_string(),
                expected: expected.to_owned(),
            })
        };
        if self.candidates == 0 || self.candidates > 100 {
            return wrong("number of candidates", self.candidates, "1 to 100");
        }
        if self.sources == 0 || self.sources > MOST_SOURCES {
            return wrong("number of sources", self.sources, "1 to 100");
        }
        let most = self.candidates * self.sources();
        if self.keep == 0 || self.keep > most {
            let expected = format!("1 to the number of candidates, {most}");
            return wrong("number of candidates kept", self.keep, &expected);
        }
        if self.sisters == SisterRule::Own && self.method != Method::Infill {
            return Err(GenerateError::OwnUnfilled);
        }
        if !(0.0..=1.0).contains(&self.least) {
            let (name, expected) = ("least worth", "0 to 1".to_owned());
            return Err(GenerateError::Range { name, found: self.least.to_string(), expected });
        }
        Ok(())
    }

    /// Sisters' sentences that are filled for each LU.
    fn sources(&self) -> usize {
        if self.method == Method::Infill { self.sources } else { 1 }
    }

    /// Sisters' sentences that are wanted for each LU.
    pub(super) fn drafts(&self) -> usize {
        if self.method == Method::Infill { self.sources } else { self.candidates }
    }
}
