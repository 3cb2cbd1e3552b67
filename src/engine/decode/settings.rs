//! How a beam search is run: its width, when it ends, and what ranks its outputs.

use std::str::FromStr;

use super::DecodeError;
use crate::model::named;

/// Settings of a beam search. The defaults are those of `generate(num_beams=8,
/// num_return_sequences=8)` in Hugging Face transformers, but for the length limit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BeamSettings {
    /// Hypotheses kept at every step, and the most outputs there can be.
    pub beam_size: usize,
    /// Outputs wanted, at most `beam_size`.
    pub n_best: usize,
    /// What ranks outputs of different lengths.
    pub length_penalty: LengthPenalty,
    /// How long an output may become.
    pub length_limit: LengthLimit,
    /// When the search is over.
    pub stopping: Stopping,
    /// Finished outputs that end a search, as a share of `beam_size`: below 1 it ends earlier,
    /// above it goes on for more. (`patience` in CTranslate2; Kasai et al. 2022, A call for clarity
    /// in beam search.) There is always one.
    pub patience: f32,
    /// How far the score of an open hypothesis may fall behind the normalised score of the best
    /// finished output before it is dropped; 0 keeps all. (`--beam-prune` in Sockeye; Hu et al.
    /// 2019 use 30 where something is required.)
    pub prune_threshold: f32,
    /// Whether scores are renormalised among the tokens that are not banned, as in CTranslate2, and
    /// not those of the unmasked network.
    pub renormalize: bool,
    /// Strength of the coverage penalty; 0 for none. To what ranks an output, `strength * sum_i
    /// ln(min(c_i, 1))` is added. `c_i` is the attention that source token `i` had from all steps
    /// of the output. So outputs that leave a part of the source unread fall behind. (Wu et al.
    /// 2016, equation 14; `coverage_penalty` in CTranslate2.)
    pub coverage_penalty: f32,
}

impl Default for BeamSettings {
    fn default() -> Self {
        Self {
            beam_size: 8,
            n_best: 8,
            length_penalty: LengthPenalty::default(),
            length_limit: LengthLimit::default(),
            stopping: Stopping::default(),
            patience: 1.0,
            prune_threshold: 0.0,
            renormalize: false,
            coverage_penalty: 0.0,
        }
    }
}

/// Rows that one search may have: buffers are as large as what is asked for, and no
/// search of the papers has more than a hundred.
const MOST_ROWS: usize = 4096;

impl BeamSettings {
    /// Checks the settings.
    ///
    /// # Errors
    /// When the beam is empty or too wide, more outputs are wanted than it holds, or a number is
    /// out of its range.
    pub fn check(&self) -> Result<(), DecodeError> {
        let refuse = |setting, value: String, expected| {
            Err(DecodeError::Settings { setting, value, expected })
        };
        if !(1..=MOST_ROWS).contains(&self.beam_size) {
            return refuse("beam_size", self.beam_size.to_string(), "1 to 4096");
        }
        // Patience may keep more outputs than the beam is wide.
        if self.n_best == 0 || self.n_best > self.beam_size.max(self.outputs_wanted()) {
            return refuse("n_best", self.n_best.to_string(), "1 to beam_size");
        }
        if !(self.patience > 0.0 && self.patience <= 100.0) {
            return refuse("patience", self.patience.to_string(), "more than 0, at most 100");
        }
        if !self.prune_threshold.is_finite() || self.prune_threshold < 0.0 {
            return refuse("prune_threshold", self.prune_threshold.to_string(), "0 or more");
        }
        if !self.coverage_penalty.is_finite() || self.coverage_penalty < 0.0 {
            return refuse("coverage_penalty", self.coverage_penalty.to_string(), "0 or more");
        }
        check_lengths(self.length_penalty, self.length_limit)
    }

    /// Finished outputs that are kept, and that end a search when they stand.
    #[must_use]
    pub fn outputs_wanted(&self) -> usize {
        ((self.beam_size as f32 * self.patience).round() as usize).max(1)
    }
}

/// Settings of sampling: outputs are drawn and not searched for. The defaults draw from the
/// network's own distribution.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SampleSettings {
    /// Outputs to draw; several may be the same.
    pub samples: usize,
    /// Decides every draw: the same seed gives the same outputs for a source, whatever else is
    /// decoded beside it. More samples leave the first ones as they are.
    pub seed: u64,
    /// Divides the logits: below 1 the likely becomes likelier, above 1 less so.
    pub temperature: f32,
    /// Draw among so many of the likeliest tokens; 0 for all.
    pub top_k: usize,
    /// Draw among the fewest likeliest tokens that hold this share of probability; 1 for all.
    pub top_p: f32,
    /// What ranks outputs of different lengths.
    pub length_penalty: LengthPenalty,
    /// How long an output may become.
    pub length_limit: LengthLimit,
    /// Whether scores are renormalised among the tokens that are not banned.
    pub renormalize: bool,
}

impl Default for SampleSettings {
    fn default() -> Self {
        Self {
            samples: 10,
            seed: 1,
            temperature: 1.0,
            top_k: 0,
            top_p: 1.0,
            length_penalty: LengthPenalty::default(),
            length_limit: LengthLimit::default(),
            renormalize: false,
        }
    }
}

impl SampleSettings {
    /// Checks the settings.
    ///
    /// # Errors
    /// When no output is wanted, or a number is out of its range.
    pub fn check(&self) -> Result<(), DecodeError> {
        let refuse = |setting, value: String, expected| {
            Err(DecodeError::Settings { setting, value, expected })
        };
        if !(1..=MOST_ROWS).contains(&self.samples) {
            return refuse("samples", self.samples.to_string(), "1 to 4096");
        }
        if !self.temperature.is_finite() || self.temperature <= 0.0 {
            return refuse("temperature", self.temperature.to_string(), "more than 0");
        }
        if !(self.top_p > 0.0 && self.top_p <= 1.0) {
            return refuse("top_p", self.top_p.to_string(), "more than 0, at most 1");
        }
        check_lengths(self.length_penalty, self.length_limit)
    }
}

/// How outputs are found.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum SearchSettings {
    /// The best are searched for.
    Beam(BeamSettings),
    /// They are drawn.
    Sample(SampleSettings),
}

impl From<BeamSettings> for SearchSettings {
    fn from(settings: BeamSettings) -> Self {
        Self::Beam(settings)
    }
}

impl From<SampleSettings> for SearchSettings {
    fn from(settings: SampleSettings) -> Self {
        Self::Sample(settings)
    }
}

impl SearchSettings {
    /// Checks the settings.
    ///
    /// # Errors
    /// As [`BeamSettings::check`] and [`SampleSettings::check`].
    pub fn check(&self) -> Result<(), DecodeError> {
        match self {
            Self::Beam(settings) => settings.check(),
            Self::Sample(settings) => settings.check(),
        }
    }

    /// Hypotheses at every step, at most.
    #[must_use]
    pub fn rows(&self) -> usize {
        match self {
            Self::Beam(settings) => settings.beam_size,
            Self::Sample(settings) => settings.samples,
        }
    }

    /// How long an output may become.
    #[must_use]
    pub fn length_limit(&self) -> LengthLimit {
        match self {
            Self::Beam(settings) => settings.length_limit,
            Self::Sample(settings) => settings.length_limit,
        }
    }
}

fn check_lengths(penalty: LengthPenalty, limit: LengthLimit) -> Result<(), DecodeError> {
    let refuse =
        |setting, value: String, expected| Err(DecodeError::Settings { setting, value, expected });
    if !penalty.is_finite() {
        let value = format!("{penalty:?}");
        return refuse("length_penalty", value, "finite numbers, beta > -1");
    }
    let factor = limit.factor;
    if !factor.is_finite() || factor < 0.0 {
        return refuse("length_limit.factor", factor.to_string(), "0 or more");
    }
    Ok(())
}

/// Normalisation of a score `s` (sum of log-probabilities) by the length `L` of the output in
/// tokens. `L` counts the end of the sentence and not the start token, as all these systems do.
///
/// ```
/// use fnstore::engine::LengthPenalty;
///
/// assert_eq!(LengthPenalty::default().normalize(-6.0, 4), -1.5);
/// assert_eq!(LengthPenalty::Power(0.5).normalize(-6.0, 4), -3.0);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum LengthPenalty {
    /// `s / L^power`: Hugging Face transformers (`length_penalty`), fairseq (`--lenpen`) and
    /// CTranslate2 (`length_penalty`, without its coverage term).
    Power(f32),
    /// `s / ((beta + L)^alpha / (beta + 1)^alpha)`: Sockeye; with `beta` = 5 Wu et al. (2016),
    /// equation 14.
    Sockeye {
        /// Strength; 0 turns normalisation off.
        alpha: f32,
        /// Offset of the length.
        beta: f32,
    },
    /// `(s - word_penalty * L) / L^alpha`: Marian (`--normalize`, `--word-penalty`).
    Marian {
        /// Strength; 0 turns normalisation off.
        alpha: f32,
        /// Cost of each token.
        word_penalty: f32,
    },
}

impl FromStr for LengthPenalty {
    type Err = DecodeError;

    /// Reads `huggingface=P`, `ctranslate2=P`, `sockeye=ALPHA,BETA` or `marian=ALPHA,WORD_PENALTY`.
    fn from_str(text: &str) -> Result<Self, DecodeError> {
        let (name, numbers) = text.split_once('=').unwrap_or((text, ""));
        let numbers = numbers.split(',').filter(|number| !number.is_empty()).map(str::parse);
        let numbers: Result<Vec<f32>, _> = numbers.collect();
        Ok(match (name, numbers.as_deref()) {
            ("huggingface" | "ctranslate2", Ok(&[power])) => Self::Power(power),
            ("huggingface" | "ctranslate2", Ok([])) => Self::Power(1.0),
            ("sockeye", Ok(&[alpha, beta])) => Self::Sockeye { alpha, beta },
            ("sockeye", Ok([])) => Self::Sockeye { alpha: 1.0, beta: 0.0 },
            ("marian", Ok(&[alpha, word_penalty])) => Self::Marian { alpha, word_penalty },
            ("marian", Ok([])) => Self::Marian { alpha: 0.0, word_penalty: 0.0 },
            _ => {
                return Err(DecodeError::Settings {
                    setting: "length-penalty",
                    value: text.to_owned(),
                    expected: "huggingface=P, ctranslate2=P, sockeye=ALPHA,BETA or \
                               marian=ALPHA,WORD_PENALTY",
                });
            }
        })
    }
}

impl Default for LengthPenalty {
    /// `s / L`, the default of Sockeye, fairseq and Hugging Face transformers alike.
    fn default() -> Self {
        Self::Power(1.0)
    }
}

impl LengthPenalty {
    /// The score that ranks an output: higher is better.
    #[must_use]
    pub fn normalize(self, score: f32, length: usize) -> f32 {
        let length = length as f32;
        match self {
            Self::Power(power) => score / length.powf(power),
            Self::Sockeye { alpha, beta } => {
                score / ((beta + length).powf(alpha) / (beta + 1.0).powf(alpha))
            }
            Self::Marian { alpha, word_penalty } => {
                (score - word_penalty * length) / length.powf(alpha)
            }
        }
    }

    fn is_finite(self) -> bool {
        match self {
            Self::Power(power) => power.is_finite(),
            Self::Sockeye { alpha, beta } => alpha.is_finite() && beta.is_finite() && beta > -1.0,
            Self::Marian { alpha, word_penalty } => alpha.is_finite() && word_penalty.is_finite(),
        }
    }
}

/// The longest output for a source: `factor * (tokens of the source) + constant` tokens, ends
/// counted, rounded down, at least 1; never more than the network can hold.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LengthLimit {
    /// Output tokens per source token.
    pub factor: f32,
    /// Output tokens on top.
    pub constant: usize,
}

impl Default for LengthLimit {
    /// Twice the source and ten more.
    fn default() -> Self {
        Self { factor: 2.0, constant: 10 }
    }
}

impl LengthLimit {
    /// A limit that does not depend on the source.
    #[must_use]
    pub fn tokens(limit: usize) -> Self {
        Self { factor: 0.0, constant: limit }
    }

    /// The limit for a source of `source_length` tokens in a network that holds `network_limit`.
    #[must_use]
    pub fn for_source(self, source_length: usize, network_limit: usize) -> usize {
        let scaled = (self.factor * source_length as f32) as usize;
        scaled.saturating_add(self.constant).min(network_limit).max(1)
    }
}

named! {
    /// When a search is over. It is always over when no hypothesis is left or the length limit is
    /// reached. The names in parentheses are values of `early_stopping` in Hugging Face
    /// transformers.
    #[derive(Default)]
    #[non_exhaustive]
    pub enum Stopping {
        /// When the best open hypothesis is not expected to beat the outputs.
        ///
        /// When `beam_size` outputs are finished and the best open hypothesis, normalised by its
        /// present length, does not beat the worst of them (`False`). With a length penalty a
        /// longer output could still do better: a heuristic.
        #[default]
        Heuristic => "heuristic",
        /// As soon as the outputs are there.
        ///
        /// As soon as `beam_size` outputs are finished (`True`).
        FirstFull => "first-full",
        /// When no open hypothesis can beat the outputs.
        ///
        /// When `beam_size` outputs are finished and no open hypothesis can beat the worst of them
        /// at any length up to the limit (`"never"`).
        Exhaustive => "exhaustive",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(got: f32, expected: f32) {
        assert!((got - expected).abs() < 1e-6, "{got} is not {expected}");
    }

    #[test]
    fn each_formula_gives_its_worked_value() {
        close(LengthPenalty::default().normalize(-6.0, 4), -1.5);
        close(LengthPenalty::Power(0.5).normalize(-6.0, 4), -3.0);
        close(LengthPenalty::Power(0.0).normalize(-6.0, 4), -6.0);
        close(LengthPenalty::Sockeye { alpha: 1.0, beta: 0.0 }.normalize(-6.0, 4), -1.5);
        close(LengthPenalty::Sockeye { alpha: 1.0, beta: 5.0 }.normalize(-6.0, 7), -3.0);
        close(LengthPenalty::Marian { alpha: 0.0, word_penalty: 0.5 }.normalize(-6.0, 4), -8.0);
        close(LengthPenalty::Marian { alpha: 1.0, word_penalty: 0.5 }.normalize(-6.0, 4), -2.0);
    }

    #[test]
    fn the_length_limit_follows_source_and_network() {
        let limit = LengthLimit { factor: 1.5, constant: 3 };
        assert_eq!(limit.for_source(5, 100), 10);
        assert_eq!(limit.for_source(50, 60), 60);
        assert_eq!(LengthLimit::tokens(0).for_source(5, 100), 1);
    }

    #[test]
    fn settings_that_no_search_can_follow_are_named() {
        let refused = |settings: BeamSettings| settings.check().unwrap_err().to_string();
        let settings = BeamSettings::default();
        for beam_size in [0, MOST_ROWS + 1, usize::MAX] {
            let message = refused(BeamSettings { beam_size, ..settings });
            assert!(message.contains("beam_size") && message.contains("1 to 4096"), "{message}");
        }
        for samples in [0, MOST_ROWS + 1, usize::MAX] {
            let refused = SampleSettings { samples, ..SampleSettings::default() }.check();
            assert!(refused.unwrap_err().to_string().contains("1 to 4096"));
        }
        assert!(refused(BeamSettings { patience: 1e30, ..settings }).contains("patience"));
        assert!(refused(BeamSettings { n_best: 11, ..settings }).contains("`11`"));
        assert!(refused(BeamSettings { n_best: 0, ..settings }).contains("n_best"));
        let length_penalty = LengthPenalty::Power(f32::NAN);
        assert!(refused(BeamSettings { length_penalty, ..settings }).contains("length_penalty"));
        for coverage_penalty in [-0.1, f32::NAN] {
            let message = refused(BeamSettings { coverage_penalty, ..settings });
            assert!(message.contains("coverage_penalty"), "{message}");
        }
        let length_limit = LengthLimit { factor: -1.0, constant: 0 };
        assert!(refused(BeamSettings { length_limit, ..settings }).contains("factor"));
    }

    #[test]
    fn a_formula_is_a_name_and_its_numbers() {
        let parsed = |text: &str| text.parse::<LengthPenalty>();
        assert_eq!(parsed("huggingface=0.5").unwrap(), LengthPenalty::Power(0.5));
        assert_eq!(parsed("ctranslate2").unwrap(), LengthPenalty::Power(1.0));
        let sockeye = LengthPenalty::Sockeye { alpha: 0.6, beta: 5.0 };
        assert_eq!(parsed("sockeye=0.6,5").unwrap(), sockeye);
        let marian = LengthPenalty::Marian { alpha: 1.0, word_penalty: 0.0 };
        assert_eq!(parsed("marian=1,0").unwrap(), marian);
        for wrong in ["", "fairseq=1", "sockeye=1", "huggingface=1,2", "huggingface=x"] {
            let error = parsed(wrong).unwrap_err().to_string();
            assert!(error.contains("expected huggingface=P, "), "{wrong}: {error}");
        }
    }
}
