//! Recipes by name, and recipes of a user's own: TOML files with the settings that decide outputs.
//!
//! `recipes/` has those with a name. A user's file has the same fields, as many of them as it
//! likes:
//!
//! ```toml
//! rounds = 5
//! beam = 40
//! guide = "none"
//! ```

use std::path::{Path, PathBuf};

use serde::{Deserialize, Deserializer};

use super::recipe::{Choice, Search};
use super::{Carry, Guidance, KeepElements, Recipe, RunOptions, Targets};
use crate::engine::Numbers;
use crate::model::{coded, named};
use crate::text::input::read_text;

/// The recipes that have a name, in alphabetic order, with their files.
const NAMED: [(&str, &str); 5] = [
    ("culkin-large", include_str!("recipes/culkin-large.toml")),
    ("culkin-scratch", include_str!("recipes/culkin-scratch.toml")),
    ("discover", include_str!("recipes/discover.toml")),
    ("lexicon", include_str!("recipes/lexicon.toml")),
    ("scratch", include_str!("recipes/scratch.toml")),
];

/// Why a recipe cannot be had.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecipeFileError {
    /// No recipe has the name, and no file is there.
    #[error(
        "there is no recipe `{name}`, expected {} or a TOML file (R-name)", RecipeSettings::NAMES.join(", ")
    )]
    Name {
        /// What was asked for.
        name: String,
    },
    /// The file cannot be read.
    #[error("cannot read the recipe `{}` (R-read)", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// It is no TOML, or a field is unknown or has a value that it cannot have.
    #[error("cannot use the recipe `{}`, line {line}: {problem} (R-toml)", path.display())]
    Toml {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What the parser says.
        problem: String,
    },
}

coded!(RecipeFileError {
    Self::Toml { .. } => BadInput.coded("R-toml"),
});

named! {
    /// Which words a rewriting may hold.
    pub enum Words {
        /// Those of the rewriter's `words.txt`, where it has one, and those of the sentence.
        Known => "known",
        /// Whatever the rewriter can spell.
        Any => "any",
    }
}

/// Settings of a [`Recipe`] and its rounds, as a file has them. What is absent stays as it is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct RecipeSettings {
    /// [`RunOptions::rounds`].
    pub rounds: Option<u16>,
    /// [`Recipe::beam_size`].
    pub beam: Option<usize>,
    /// [`Recipe::candidates`].
    pub candidates: Option<usize>,
    /// [`Recipe::max_source_pieces`].
    pub max_pieces: Option<usize>,
    /// [`Recipe::known_words`].
    pub words: Option<Words>,
    /// [`Recipe::guidance`].
    pub guide: Option<Guidance>,
    /// [`Recipe::search`].
    pub search: Option<Search>,
    /// [`Recipe::choice`].
    pub choice: Option<Choice>,
    /// [`Recipe::asked`].
    pub asked: Option<usize>,
    /// [`Recipe::tell_bans`].
    pub tell_bans: Option<bool>,
    /// [`Recipe::ban_lexicon`].
    pub ban_lexicon: Option<bool>,
    /// [`Recipe::few_lus`].
    pub few_lus: Option<bool>,
    /// [`Recipe::reword`].
    pub reword: Option<f32>,
    /// [`Recipe::keep_fe`].
    pub keep_fe: Option<KeepElements>,
    /// [`Recipe::carry`].
    pub carry: Option<Carry>,
    /// [`Recipe::targets`].
    pub targets: Option<Targets>,
    /// [`Recipe::frame_fit`].
    pub frame_fit: Option<bool>,
    /// [`Recipe::least_frame_fit`].
    pub least_frame_fit: Option<f32>,
    /// [`Recipe::least_evokes`].
    pub least_evokes: Option<f32>,
    /// [`Recipe::numbers`].
    #[serde(default, deserialize_with = "numbers")]
    pub numbers: Option<Numbers>,
}

impl RecipeSettings {
    /// Names of the recipes that have one.
    pub const NAMES: [&str; 5] = [NAMED[0].0, NAMED[1].0, NAMED[2].0, NAMED[3].0, NAMED[4].0];

    /// The recipe of a name, or of a file.
    ///
    /// # Errors
    /// When there is neither, or the file is no recipe.
    pub fn open(name: &str) -> Result<Self, RecipeFileError> {
        Self::parse(Path::new(name), &Self::text(name)?)
    }

    /// The file of a recipe as it stands: one that has a name, or a path.
    ///
    /// # Errors
    /// When there is neither.
    pub fn text(name: &str) -> Result<String, RecipeFileError> {
        if let Some((_, text)) = NAMED.iter().find(|(named, _)| *named == name) {
            return Ok((*text).to_owned());
        }
        let path = Path::new(name);
        if !path.is_file() {
            return Err(RecipeFileError::Name { name: name.to_owned() });
        }
        read_text(path).map_err(|source| RecipeFileError::Read { path: path.to_owned(), source })
    }

    fn parse(path: &Path, text: &str) -> Result<Self, RecipeFileError> {
        toml::from_str(text).map_err(|error| RecipeFileError::Toml {
            path: path.to_owned(),
            line: error.span().map_or(1, |at| 1 + text[..at.start].matches('\n').count()),
            problem: error.message().to_owned(),
        })
    }

    /// Settings of both; where both have one, these.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            rounds: self.rounds.or(other.rounds),
            beam: self.beam.or(other.beam),
            candidates: self.candidates.or(other.candidates),
            max_pieces: self.max_pieces.or(other.max_pieces),
            words: self.words.or(other.words),
            guide: self.guide.or(other.guide),
            search: self.search.or(other.search),
            choice: self.choice.or(other.choice),
            asked: self.asked.or(other.asked),
            tell_bans: self.tell_bans.or(other.tell_bans),
            ban_lexicon: self.ban_lexicon.or(other.ban_lexicon),
            few_lus: self.few_lus.or(other.few_lus),
            reword: self.reword.or(other.reword),
            keep_fe: self.keep_fe.or(other.keep_fe),
            carry: self.carry.or(other.carry),
            targets: self.targets.or(other.targets),
            frame_fit: self.frame_fit.or(other.frame_fit),
            least_frame_fit: self.least_frame_fit.or(other.least_frame_fit),
            least_evokes: self.least_evokes.or(other.least_evokes),
            numbers: self.numbers.or(other.numbers),
        }
    }

    /// Puts the settings into a recipe, and the rounds into the options of a run.
    pub fn apply(self, recipe: &mut Recipe, options: &mut RunOptions) {
        options.rounds = self.rounds.unwrap_or(options.rounds);
        recipe.beam_size = self.beam.unwrap_or(recipe.beam_size);
        // A smaller beam has fewer outputs to look at; asking for more of them stays an error.
        recipe.candidates = self.candidates.unwrap_or(recipe.candidates.min(recipe.beam_size));
        recipe.max_source_pieces = self.max_pieces.unwrap_or(recipe.max_source_pieces);
        recipe.known_words = self.words.map_or(recipe.known_words, |words| words == Words::Known);
        recipe.guidance = self.guide.unwrap_or(recipe.guidance);
        recipe.search = self.search.unwrap_or(recipe.search);
        recipe.choice = self.choice.unwrap_or(match self.guide {
            Some(guide) => Choice::best_with(&recipe.models, guide),
            None => recipe.choice,
        });
        recipe.asked = self.asked.unwrap_or(recipe.asked);
        recipe.tell_bans = self.tell_bans.unwrap_or(recipe.tell_bans);
        recipe.ban_lexicon = self.ban_lexicon.unwrap_or(recipe.ban_lexicon);
        recipe.few_lus = self.few_lus.unwrap_or(recipe.few_lus);
        recipe.reword = self.reword.unwrap_or(recipe.reword);
        recipe.keep_fe = self.keep_fe.unwrap_or(recipe.keep_fe);
        recipe.carry = self.carry.unwrap_or(recipe.carry);
        recipe.targets = self.targets.unwrap_or(recipe.targets);
        recipe.frame_fit = self.frame_fit.unwrap_or(recipe.frame_fit);
        recipe.least_frame_fit = self.least_frame_fit.unwrap_or(recipe.least_frame_fit);
        recipe.least_evokes = self.least_evokes.unwrap_or(match (self.choice, self.guide) {
            (None, None) => recipe.least_evokes,
            _ => recipe.choice.least_evokes(recipe.guidance),
        });
        recipe.numbers = self.numbers.unwrap_or(recipe.numbers);
    }
}

/// The name of some numbers.
fn numbers<'de, D: Deserializer<'de>>(name: D) -> Result<Option<Numbers>, D::Error> {
    let name = String::deserialize(name)?;
    name.parse().map(Some).map_err(serde::de::Error::custom)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expand::{Models, RewriterSource};

    fn recipe() -> Recipe {
        let place = || "m".into();
        let models = Models {
            rewriter: RewriterSource::Model { directory: place(), base: None },
            aligner: place(),
            encoder: place(),
            guide: None,
            filter: None,
            frames: None,
            verifier: None,
        };
        Recipe { guidance: Guidance::Lexicon, ..Recipe::new(models) }
    }

    fn named(name: &str) -> (Recipe, RunOptions) {
        let (mut recipe, mut options) = (recipe(), RunOptions::default());
        RecipeSettings::open(name).unwrap().apply(&mut recipe, &mut options);
        recipe.check().unwrap();
        (recipe, options)
    }

    #[test]
    fn the_recipe_lexicon_is_the_default() {
        assert_eq!(named("lexicon"), (recipe(), RunOptions::default()));
    }

    #[test]
    fn the_papers_recipes_are_its_plain_loop() {
        let (large, options) = named("culkin-large");
        let plain = Recipe {
            beam_size: 20,
            candidates: 3,
            known_words: false,
            guidance: Guidance::None,
            choice: Choice::Aligner,
            tell_bans: false,
            numbers: Numbers::F32,
            keep_fe: KeepElements::None,
            carry: Carry::Target,
            ..recipe()
        };
        assert_eq!((large, options.rounds), (plain.clone(), 10));
        let scratch = Recipe { beam_size: 30, candidates: 20, ..plain };
        assert_eq!(named("culkin-scratch"), (scratch, options));
    }

    #[test]
    fn what_discovers_bans_the_lexicon() {
        let (discover, _) = named("discover");
        assert!(discover.ban_lexicon && discover.guidance == Guidance::Alike);
        assert!(NAMED.is_sorted());
        let (scratch, options) = named("scratch");
        let (_, plain) = named("culkin-scratch");
        assert!(scratch.few_lus && scratch.ban_lexicon && scratch.guidance == Guidance::Context);
        let search = (scratch.beam_size, scratch.candidates);
        assert_eq!((options.rounds, search), (plain.rounds, (8, 8)));
    }

    #[test]
    fn a_file_that_is_no_recipe_is_refused_with_its_line() {
        for (text, line, problem) in [
            ("rounds = 5\nbeams = 3\n", 2, "unknown field `beams`"),
            ("guide = \"some\"", 1, "unknown variant `some`"),
            ("carry = \"most\"", 1, "unknown variant `most`"),
            ("targets = \"two\"", 1, "unknown variant `two`"),
            ("rounds = -1", 1, "expected u16"),
            ("numbers = \"fp16\"", 1, "expected `f32`, `int8` or `blocks`"),
            ("\n\nrounds =", 3, ""),
        ] {
            let error = RecipeSettings::parse(Path::new("mine.toml"), text).unwrap_err();
            let RecipeFileError::Toml { line: found, problem: said, .. } = &error else {
                panic!("{error}")
            };
            assert_eq!(*found, line, "{error}");
            assert!(said.contains(problem), "{error}");
        }
        let error = RecipeSettings::open("culkin").unwrap_err().to_string();
        assert!(error.contains("`culkin`") && error.contains("culkin-large, "), "{error}");
    }

    #[test]
    fn what_is_asked_for_comes_before_what_a_recipe_says() {
        let asked = RecipeSettings { rounds: Some(2), ..RecipeSettings::default() };
        let both = asked.or(RecipeSettings::open("culkin-large").unwrap());
        assert_eq!((both.rounds, both.beam), (Some(2), Some(20)));
    }

    #[test]
    fn a_file_may_say_in_which_numbers() {
        let mut recipe = recipe();
        assert_eq!(recipe.numbers, Numbers::Blocks);
        let file = RecipeSettings::parse(Path::new("mine.toml"), "numbers = \"f32\"").unwrap();
        file.apply(&mut recipe, &mut RunOptions::default());
        assert_eq!(recipe.numbers, Numbers::F32);
    }
}
