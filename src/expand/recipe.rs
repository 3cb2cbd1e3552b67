//! What an expansion does, and what makes two expansions the same.

use std::path::Path;

use serde_json::{Value, json};

use super::elements::KeepElements;
use super::partners::Targets;
use super::{
    BlindTo, Carry, ExpandError, FromSisters, Models, RecipeError, RewriterSource, VerifierModels,
};
use crate::engine::{
    BeamSettings, Device, Fingerprint, Numbers, SampleSettings, declared_languages,
};
use crate::filter::CHOICE;
use crate::model::{Method, RecipeId, Rules, named, numbered};
use crate::paraphrase::Settings;

named! {
    /// What outputs are asked to hold, and by what they are chosen beside the models' scores.
    #[derive(Default)]
    pub enum Guidance {
        /// Nothing, as in Culkin et al. 2021.
        #[default]
        None => "none",
        /// Words that are like the LUs of the frame.
        ///
        /// They are LUs or not. Many triggers are then of LUs
        /// that FrameNet lacks; most of these do not evoke the frame.
        Alike => "alike",
        /// What a language model would say in the trigger's place.
        ///
        /// The likeliest phrase of the rewriter that is left. The lexicon has no say.
        Context => "context",
        /// Other LUs of the frame, then words that are like them.
        ///
        /// First an LU that agrees with the seed's FEs; if none is left, a word that is like them.
        /// A chain ends if outputs have neither, or the latter with a failed check.
        Lexicon => "lexicon",
    }
}

named! {
    /// Which pair of output and span a round keeps.
    pub enum Choice {
        /// The pair that the aligner scores best, as in Culkin et al. 2021 (section 6.1; of the
        /// large run footnote 21).
        Aligner => "aligner",
        /// Of the pairs with the fewest failed checks the likeliest.
        FewestFailedChecks => "fewest-failed-checks",
        /// Of the first few of these, the one that a verifier prefers.
        Judged => "judged",
    }
}

impl Choice {
    /// What gives most right outputs an hour. Judges choose where the rewriter adapts the language
    /// model of a verifier that has weights for it, and both are made for the same languages. They
    /// do not where the lexicon guides: its words evoke their frame as often without them, in half
    /// the time (`docs/results/2026-11-28-doubted-rounds.md`).
    #[must_use]
    pub fn best_with(models: &Models, guidance: Guidance) -> Self {
        let RewriterSource::Model { directory, base: Some(base) } = &models.rewriter else {
            return Self::FewestFailedChecks;
        };
        let chooses = |verifier: &VerifierModels| {
            let languages = |place: &Path| declared_languages(place).languages;
            verifier.base == *base
                && verifier.adapter.join(CHOICE).is_file()
                && languages(&verifier.adapter) == languages(directory)
        };
        match guidance != Guidance::Lexicon && models.verifier.as_ref().is_some_and(chooses) {
            true => Self::Judged,
            false => Self::FewestFailedChecks,
        }
    }

    /// What [`Recipe::least_evokes`] is by default. Under 0.7 a chain without a guide seldom comes
    /// back to its frame: its time is better spent on others. Words of the lexicon that the
    /// verifier doubts mostly evoke it (`docs/results/2026-11-28-doubted-rounds.md`).
    pub(super) fn least_evokes(self, guidance: Guidance) -> f32 {
        if self == Self::Judged && guidance != Guidance::Lexicon { 0.7 } else { 0.0 }
    }
}

named! {
    /// How the outputs of a round are found.
    #[derive(Default)]
    pub enum Search {
        /// The likeliest are searched for.
        #[default]
        Beam => "beam",
        /// They are drawn at random, as many as [`Recipe::candidates`].
        Samples => "samples",
    }
}

/// Temperature and share of draws: they keep to likely words.
const DRAWS: (f32, f32) = (0.7, 0.95);

/// How seeds are expanded.
///
/// The defaults follow Culkin et al. 2021 (sections 5 and 6.1; 6.2 for the 80 pieces): beam 30, the
/// top 20 outputs aligned, sentences of at most 80 pieces, nothing dropped. Not the paper's are
/// known words, guidance, the choice of the pair, and that the rewriter is told what is banned;
/// [`RecipeSettings`](super::RecipeSettings) names the paper's own recipes.
#[derive(Debug, Clone, PartialEq)]
pub struct Recipe {
    /// The models.
    pub models: Models,
    /// Hypotheses kept in the search.
    pub beam_size: usize,
    /// Best outputs of the search that are aligned, at most `beam_size`. A server is asked so
    /// often: once for what is likeliest, several times for draws.
    pub candidates: usize,
    /// Longer sentences are left out, in pieces of the rewriter; in words for a server.
    pub max_source_pieces: usize,
    /// Outputs hold no words but those of the rewriter's list and of the seed's sentence; see
    /// [`Settings::known_words`].
    pub known_words: bool,
    /// What outputs are asked to hold; all but [`Guidance::None`] need [`Models::guide`].
    pub guidance: Guidance,
    /// How outputs are found; a server has a way of its own.
    pub search: Search,
    /// Which pair of output and span a round keeps.
    pub choice: Choice,
    /// Under [`Choice::Judged`], pairs of a round that the judges are asked about: the best by the
    /// cheap scores, all of them where there are fewer.
    pub asked: usize,
    /// The rewriter is told what is banned; see [`Settings::tell_bans`].
    pub tell_bans: bool,
    /// Bans the frame's LUs from the first round on, so that only new ones come out.
    pub ban_lexicon: bool,
    /// The share of a seed's content words beside its trigger that a round bans, too, so that
    /// outputs reword more: one word at least, other ones in the next round as far as there are
    /// enough; 0 for none. Needs [`Models::guide`], which has the tagger, and a model.
    pub reword: f32,
    /// What is done so that outputs have the seed's FEs.
    pub keep_fe: KeepElements,
    /// Which annotation sets of the seed's sentence outputs get.
    pub carry: Carry,
    /// Which targets of the seed's sentence a round changes; all of them needs [`Carry::All`].
    pub targets: Targets,
    /// The lexicon has few LUs and sentences. The guide knows no words that its vectors have of a
    /// lexicon alone, as what is hidden from the store may be among them; no word of the vectors is
    /// flagged as unknown; and words need be less like the frame's LUs.
    pub few_lus: bool,
    /// LUs without sentences, of which outputs must hold one; the lexicon must guide.
    pub from_sisters: Option<FromSisters>,
    /// Annotation that the guide takes no FEs and no words from.
    pub blind_to: Option<BlindTo>,
    /// Each set is written with the probability of its frame by the frame model
    /// ([`Models::frames`]). It decides nothing but what follows.
    pub frame_fit: bool,
    /// A chain ends after a set whose frame is less likely than this; 0 ends none. Needs
    /// [`frame_fit`](Self::frame_fit).
    pub least_frame_fit: f32,
    /// A round whose best output evokes its frame less likely than this, by the verifier, is not
    /// written and ends the chain; 0 ends none. Needs [`Choice::Judged`]. By default it is 0.7
    /// where the lexicon does not guide.
    pub least_evokes: f32,
    /// In which numbers the rewriter computes; the aligner's are f32.
    pub numbers: Numbers,
}

/// How far a run follows a recipe, and where. Runs with other options are of the same recipe.
#[derive(Debug, Clone, PartialEq)]
pub struct RunOptions {
    /// Rounds per seed. More rounds go on where fewer ended.
    pub rounds: u16,
    /// Most seeds to work on in this run; those that are done do not count.
    pub seed_limit: Option<usize>,
    /// Where the networks run. A processor may have a number format of its own, which the recipe
    /// names.
    pub device: Device,
    /// Whether the models' verifier is asked about what is kept, where it does not choose.
    /// It changes no output.
    pub verify: bool,
}

impl Default for RunOptions {
    /// Three rounds of all seeds on the CPU.
    fn default() -> Self {
        Self { rounds: 3, seed_limit: None, device: Device::cpu(), verify: false }
    }
}

impl RunOptions {
    /// So many rounds of all seeds on the CPU.
    #[must_use]
    pub fn rounds(rounds: u16) -> Self {
        Self { rounds, ..Self::default() }
    }

    /// Checks that the numbers are in range; `run` does so, too.
    ///
    /// # Errors
    /// When one is not.
    pub fn check(&self) -> Result<(), ExpandError> {
        let name = match self {
            Self { rounds: 0, .. } => "number of rounds",
            Self { seed_limit: Some(0), .. } => "limit",
            _ => return Ok(()),
        };
        let expected = "1 or more".to_owned();
        Err(ExpandError::Recipe(RecipeError::Number { name, found: 0, expected }))
    }
}

/// A recipe with its number in the store, and how far a run follows it.
#[derive(Clone, Copy)]
pub(super) struct Followed<'a> {
    pub(super) id: RecipeId,
    pub(super) recipe: &'a Recipe,
    pub(super) options: &'a RunOptions,
}

impl Recipe {
    /// The defaults, guided where there are the models for it.
    #[must_use]
    pub fn new(models: Models) -> Self {
        let search = BeamSettings::default();
        let guidance = if models.guide.is_some() { Guidance::Lexicon } else { Guidance::None };
        let choice = Choice::best_with(&models, guidance);
        Self {
            guidance,
            beam_size: search.beam_size,
            candidates: match models.rewriter {
                RewriterSource::Model { .. } => search.n_best,
                RewriterSource::Server(_) => 1,
            },
            choice,
            least_evokes: choice.least_evokes(guidance),
            models,
            max_source_pieces: 80,
            known_words: true,
            search: Search::Beam,
            asked: 3,
            tell_bans: true,
            ban_lexicon: false,
            reword: 0.0,
            keep_fe: KeepElements::Align,
            carry: Carry::All,
            targets: Targets::One,
            few_lus: false,
            from_sisters: None,
            blind_to: None,
            frame_fit: false,
            least_frame_fit: 0.0,
            numbers: Numbers::default(),
        }
    }

    /// Checks that the numbers are in range; `run` does so, too.
    ///
    /// # Errors
    /// When one is not.
    pub fn check(&self) -> Result<(), ExpandError> {
        let wrong = |name, found, expected: &str| {
            Err(ExpandError::Recipe(RecipeError::Number {
                name,
                found,
                expected: expected.to_owned(),
            }))
        };
        if self.beam_size == 0 || self.beam_size > 1000 {
            return wrong("beam size", self.beam_size, "1 to 1000");
        }
        let has_beam = self.search == Search::Beam && !self.asks_server();
        if self.candidates == 0 || (self.candidates > self.beam_size && has_beam) {
            let expected = format!("1 to the beam size, {}", self.beam_size);
            return wrong("number of candidates", self.candidates, &expected);
        }
        if self.asked == 0 {
            return wrong("number of outputs asked about", 0, "1 or more");
        }
        if self.from_sisters.is_some() && self.guidance != Guidance::Lexicon {
            return Err(ExpandError::Recipe(RecipeError::GuideMissing));
        }
        if self.choice == Choice::Judged && (self.models.verifier.is_none() || self.asks_server()) {
            return Err(ExpandError::Recipe(RecipeError::VerifierMissing));
        }
        if self.frame_fit && self.models.frames.is_none() {
            return Err(ExpandError::Recipe(RecipeError::FrameModelMissing));
        }
        let (is_asked, least) = (self.choice == Choice::Judged, self.least_evokes);
        if !(0.0..=1.0).contains(&least) || (least > 0.0 && !is_asked) {
            return Err(ExpandError::Recipe(RecipeError::LeastEvokes { found: least }));
        }
        let is_share = (0.0..=1.0).contains(&self.least_frame_fit);
        if !is_share || (self.least_frame_fit > 0.0 && !self.frame_fit) {
            let found = self.least_frame_fit;
            return Err(ExpandError::Recipe(RecipeError::LeastFrameFit { found }));
        }
        if !(0.0..=1.0).contains(&self.reword) {
            return Err(ExpandError::Recipe(RecipeError::Reword { found: self.reword }));
        }
        if self.reword > 0.0 && self.guidance == Guidance::None {
            return Err(ExpandError::Recipe(RecipeError::RewordUnguided));
        }
        if self.reword > 0.0 && self.asks_server() {
            return Err(ExpandError::Recipe(RecipeError::RewordServer));
        }
        if self.targets == Targets::All && self.carry != Carry::All {
            return Err(ExpandError::Recipe(RecipeError::TargetsAlone));
        }
        if self.max_source_pieces == 0 {
            return wrong("number of pieces", 0, "1 or more");
        }
        Ok(())
    }

    /// How the rewriter works on a device.
    pub(super) fn settings(&self, device: &Device) -> Settings {
        let draws = SampleSettings { samples: self.candidates, ..SampleSettings::default() };
        let (temperature, top_p) = DRAWS;
        let sample = match self.search {
            _ if self.asks_server() => (self.candidates > 1).then_some(draws),
            Search::Samples => Some(SampleSettings { temperature, top_p, ..draws }),
            Search::Beam => None,
        };
        Settings {
            sample,
            beam: BeamSettings {
                beam_size: self.beam_size,
                n_best: self.candidates.min(self.beam_size),
                ..BeamSettings::default()
            },
            max_source_pieces: self.max_source_pieces,
            known_words: self.known_words,
            tell_bans: self.tell_bans,
            row_limit: device.rows_at_once(),
            // Every round bans what the round before banned, and more; but a guide asks for other
            // words.
            keep_steps: self.guidance == Guidance::None,
            ..Settings::default()
        }
    }

    fn asks_server(&self) -> bool {
        matches!(self.models.rewriter, RewriterSource::Server(_))
    }

    /// The parts of the program that the outputs go through.
    fn rules(&self, identity: PromptIdentity<'_>) -> impl Iterator<Item = Rules> {
        let is_guided = self.guidance != Guidance::None;
        let is_in_context = self.guidance == Guidance::Context;
        [
            (Rules::Rewriting, true),
            (Rules::Choice, true),
            (Rules::Prompt, identity.prompt.is_some()),
            (Rules::Elements, self.keep_fe != KeepElements::None),
            (Rules::Carrying, self.carry == Carry::All),
            (Rules::Targets, self.targets == Targets::All),
            (Rules::Guide, is_guided && !is_in_context),
            (Rules::InContext, is_in_context),
            (Rules::FewLus, is_guided && self.few_lus),
            (Rules::Rewording, self.reword > 0.0),
            (Rules::FromSisters, self.from_sisters.is_some()),
            // A fit that ends no chain decides nothing.
            (Rules::FrameFit, identity.frames.is_some() && self.least_frame_fit > 0.0),
            (Rules::Verification, self.choice == Choice::Judged),
        ]
        .into_iter()
        .filter_map(|(rules, is_used)| is_used.then_some(rules))
    }

    /// How outputs are found and chosen, in a recipe's description.
    fn describe_search(&self, description: &mut Value, device: &Device) {
        if self.asks_server() {
            // There is no search to describe.
            description["random_seed"] =
                json!(self.settings(device).sample.map(|sample| sample.seed));
        } else {
            description["beam_size"] = json!(self.beam_size);
            description["numbers"] = json!(device.format(self.numbers));
            if self.search == Search::Samples {
                description["search"] = json!(self.search);
            }
            description["known_words"] = json!(self.known_words);
            description["tell_bans"] = json!(self.tell_bans);
        }
        if self.choice == Choice::Judged {
            description["asked"] = json!(self.asked.min(self.candidates));
        }
        if self.least_evokes > 0.0 {
            description["least_evokes"] = json!(self.least_evokes.to_string());
        }
    }

    /// The recipe's settings as JSON: all that its outputs depend on. [`RunOptions`], threads and
    /// batch sizes do not enter, so a second run with other ones is the same recipe. The format of
    /// the weights does, and as a device has it.
    pub(super) fn description(
        &self,
        rewriter: Value,
        identity: PromptIdentity<'_>,
        aligner: Fingerprint,
        guide: Option<[Fingerprint; 2]>,
        device: &Device,
    ) -> String {
        let mut description = json!({
            "method": Method::Paraphrase,
            "rules": numbered(self.rules(identity)),
            "paraphraser": rewriter,
            "aligner": aligner.to_string(),
            "candidates": self.candidates,
            "max_source_pieces": self.max_source_pieces,
            "choice": self.choice,
            "elements": self.keep_fe,
            "guidance": self.guidance,
            "ban_lexicon": self.ban_lexicon,
        });
        self.describe_search(&mut description, device);
        if self.carry == Carry::All {
            description["carry"] = json!(self.carry);
        }
        if self.targets == Targets::All {
            description["targets"] = json!(self.targets);
        }
        if self.reword > 0.0 {
            description["reword"] = json!(self.reword.to_string());
        }
        // Outputs depend on the frame model only where it ends chains.
        if let Some(frames) = identity.frames.filter(|_| self.least_frame_fit > 0.0) {
            let (model, least) = (frames.to_string(), self.least_frame_fit.to_string());
            description["frame_fit"] = json!({ "model": model, "least": least });
        }
        if let Some(from_sisters) = &self.from_sisters {
            description["from_sisters"] = json!(from_sisters.expression());
        }
        if let Some(blind_to) = &self.blind_to {
            description["blind_to"] = blind_to.description();
        }
        if let Some([vectors, tagger]) = guide {
            description["word_vectors"] = json!(vectors.to_string());
            description["tagger"] = json!(tagger.to_string());
            description["few_lus"] = json!(self.few_lus);
        }
        for (name, value) in identity.described(self.tell_bans) {
            description[name] = json!(value);
        }
        description.to_string()
    }
}

/// What a rewriter is told beside the sentence, and which model judges what it writes.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct PromptIdentity<'a> {
    /// The mark before banned words.
    pub(super) mark: Option<&'a str>,
    /// A language model's adapter.
    pub(super) adapter: Option<Fingerprint>,
    /// Who chooses among outputs.
    pub(super) judges: Option<Fingerprint>,
    /// A language model's prompt.
    pub(super) prompt: Option<Fingerprint>,
    /// The frame model, where one is asked.
    pub(super) frames: Option<Fingerprint>,
}

impl PromptIdentity<'_> {
    /// What a recipe says of it, with names.
    fn described(self, tells_bans: bool) -> impl Iterator<Item = (&'static str, String)> {
        // A mark is used only where the model is told of bans.
        let mark = self.mark.filter(|_| tells_bans).map(str::to_owned);
        let of = [("adapter", self.adapter), ("prompt", self.prompt), ("judges", self.judges)];
        let of = of.map(|(name, print)| (name, print.map(|print| print.to_string())));
        let all = [("mark", mark)].into_iter().chain(of);
        all.filter_map(|(name, value)| Some((name, value?)))
    }
}

#[cfg(test)]
mod tests;
