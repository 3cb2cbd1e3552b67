//! How likely a proposal is to be accepted: a logistic model over what speaks for it.
//!
//! `score = 1 / (1 + e^-(bias + sum of weight * input))`. Inputs are on scales of about one, so
//! weights compare. `fnstore train proposals` fits weights on decisions ([`super::train`]).

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::learn::{FileError, sigmoid};
use crate::model::{Evidence, named};

/// What `model_type` in a ranker's file says.
const MODEL_TYPE: &str = "proposal-ranker";
/// The format that this build writes; earlier ones are read, too.
const FORMAT: u32 = 3;
/// Inputs that rankers of the first format do not look at, and those of the second.
const LATER: [&[Input]; 2] =
    [&[Input::FrameFit, Input::Unknown, Input::Words, Input::Evokes], &[Input::Evokes]];
/// What a proposal without filter scores counts as.
const NO_SCORE: f32 = 0.5;
/// The likeness of a lemma without a vector: between those that speak for and against.
const NO_LIKENESS: f32 = 0.45;
/// Log-odds of a frame's probability that count as certain.
const CERTAIN: f32 = 7.0;
/// Log-odds of the frame of a proposal that no frame model has judged.
const NO_FIT: f32 = -2.0;
/// An answer of a verifier that counts beside those about a proposal's sets, so that one of them
/// says less than ten. It says neither yes nor no, as the mean answer about proposals does.
const UNDECIDED: f32 = 0.5;

named! {
    /// What the ranker looks at, in the order of its weights.
    pub enum Input {
        /// Natural logarithm of the number of seeds. One round of another sentence says more than
        /// another round of the same one.
        Seeds => "seeds",
        /// Natural logarithm of the first round. Culkin et al. 2021 accept 90, 77 and 63 % of
        /// outputs in rounds 1, 2 to 3 and 4 to 10: about 0.9 less log-odds for each e-fold.
        FirstRound => "first_round",
        /// Mean aligner score.
        Aligner => "aligner",
        /// Mean paraphrase score; lower is better.
        Paraphrase => "paraphrase",
        /// Mean score of the precision filter; 0.5 where there is none.
        P => "p",
        /// Mean score of the recall filter; 0.5 where there is none.
        R => "r",
        /// Natural logarithm of 1 and the number of other frames that have the lemma.
        OtherFrames => "other_frames",
        /// Likeness to the frame's LUs by word vectors; 0.45 where there is none. Of judged outputs
        /// 25 of 63 with a likeness from 0.5 on evoked the frame, 11 of 125 below 0.45: about 8
        /// log-odds for each 1.
        Likeness => "likeness",
        /// Log-odds of the mean frame fit, between -7 and 7; -2 where there is none.
        FrameFit => "frame_fit",
        /// Share of the sets whose target has a word that nobody is known to use.
        Unknown => "unknown",
        /// Natural logarithm of the number of words of its name: most phrases are no units.
        Words => "words",
        /// Log-odds of the mean answer of a verifier, where one undecided answer counts beside
        /// those about its sets; 0 where there are none.
        Evokes => "evokes",
    }
}

/// Number of inputs.
pub(super) const INPUTS: usize = Input::ALL.len();

/// The default weights, rounded from a logistic regression over 781 proposals for 60 frames of
/// FrameNet 1.5 (`docs/results/2026-11-25-hidden-lus.md`). Right were LUs that had been hidden, and
/// what the author accepted of the first 160. All were of round 1, so the weight of the first round
/// is still that of the paper's figures. The recall filter said nothing more. The answers of a
/// verifier are probabilities already, so their log-odds are added as they are: that is as good as
/// a fitted weight (`docs/results/2026-11-28-proposals-by-the-verifier.md`).
const DEFAULT_WEIGHTS: [f32; INPUTS] =
    [1.2, -0.9, 1.8, -2.0, 2.0, 0.0, 0.5, 4.0, 0.27, -0.5, -1.6, 1.0];

/// Their bias.
const DEFAULT_BIAS: f32 = -5.1;

/// The inputs of a proposal.
pub(super) fn inputs_of(evidence: &Evidence) -> [f32; INPUTS] {
    let first_round = (evidence.rounds.trailing_zeros() + 1).min(u32::BITS);
    Input::ALL.map(|input| match input {
        Input::Seeds => (evidence.seeds.max(1) as f32).ln(),
        Input::FirstRound => (first_round as f32).ln(),
        Input::Aligner => evidence.aligner,
        Input::Paraphrase => evidence.paraphrase,
        Input::P => evidence.p.unwrap_or(NO_SCORE),
        Input::R => evidence.r.unwrap_or(NO_SCORE),
        Input::OtherFrames => (evidence.frames as f32).ln_1p(),
        Input::Likeness => evidence.likeness.unwrap_or(NO_LIKENESS),
        Input::FrameFit => evidence.frame_fit.map_or(NO_FIT, log_odds),
        Input::Unknown => evidence.unknown,
        Input::Words => (evidence.words.max(1) as f32).ln(),
        Input::Evokes => log_odds(shrunk_evokes(evidence)),
    })
}

/// The mean answer of a verifier and an undecided one.
fn shrunk_evokes(evidence: &Evidence) -> f32 {
    let sets = evidence.verified as f32;
    (evidence.evokes.unwrap_or_default() * sets + UNDECIDED) / (sets + 1.0)
}

fn log_odds(probability: f32) -> f32 {
    (probability / (1.0 - probability)).ln().clamp(-CERTAIN, CERTAIN)
}

/// The weights of the logistic model.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranker {
    pub(super) bias: f32,
    pub(super) weights: [f32; INPUTS],
    /// Decisions that the weights were fitted on; 0 of the default ones.
    pub(super) decisions: usize,
}

impl Default for Ranker {
    fn default() -> Self {
        Self { bias: DEFAULT_BIAS, weights: DEFAULT_WEIGHTS, decisions: 0 }
    }
}

/// A ranker as a file of JSON.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RankerFile {
    model_type: String,
    format: u32,
    decisions: usize,
    bias: f32,
    weights: std::collections::BTreeMap<String, f32>,
}

impl Ranker {
    /// Reads a ranker's file.
    ///
    /// # Errors
    /// When it cannot be read, or is none of this build's.
    pub fn open(path: &Path) -> Result<Self, FileError> {
        let action = "read ranker";
        let text = std::fs::read(path).map_err(FileError::io(action, path))?;
        let expected = "the weights of a proposal ranker";
        let wrong = |line, found: String, expected| FileError::content(path, line, found, expected);
        let mut file: RankerFile = serde_json::from_slice(&text)
            .map_err(|error| wrong(error.line(), error.to_string(), expected))?;
        if file.model_type != MODEL_TYPE || !(1..=FORMAT).contains(&file.format) {
            let found = format!("`{}` of format {}", file.model_type, file.format);
            return Err(wrong(1, found, "`proposal-ranker` of format 1, 2 or 3"));
        }
        for input in LATER.get(file.format as usize - 1).copied().unwrap_or_default() {
            file.weights.entry(input.as_str().to_owned()).or_insert(0.0);
        }
        let mut weights = [0.0; INPUTS];
        for (weight, input) in weights.iter_mut().zip(Input::ALL) {
            let found = file.weights.get(input.as_str()).copied();
            let absent = || wrong(1, format!("no weight `{}`", input.as_str()), expected);
            *weight = found.filter(|weight| weight.is_finite()).ok_or_else(absent)?;
        }
        if file.weights.len() != INPUTS || !file.bias.is_finite() {
            return Err(wrong(1, format!("{} weights", file.weights.len()), expected));
        }
        Ok(Self { bias: file.bias, weights, decisions: file.decisions })
    }

    /// The ranker as the text of a file.
    #[must_use]
    pub fn to_json(&self) -> String {
        let weights = self.weights().map(|(input, weight)| (input.as_str().to_owned(), weight));
        let file = RankerFile {
            model_type: MODEL_TYPE.to_owned(),
            format: FORMAT,
            decisions: self.decisions,
            bias: self.bias,
            weights: weights.collect(),
        };
        let text = serde_json::to_string_pretty(&file);
        text.expect("a table of finite numbers can be written") + "\n"
    }

    /// The weight of each input.
    pub fn weights(&self) -> impl Iterator<Item = (Input, f32)> {
        Input::ALL.into_iter().zip(self.weights)
    }

    /// What is added to the weighted inputs.
    #[must_use]
    pub fn bias(&self) -> f32 {
        self.bias
    }

    /// How likely a proposal is to be accepted, 0 to 1.
    #[must_use]
    pub fn score(&self, evidence: &Evidence) -> f32 {
        sigmoid(self.logit(&inputs_of(evidence)))
    }

    pub(super) fn logit(&self, inputs: &[f32; INPUTS]) -> f32 {
        let products = self.weights.iter().zip(inputs).map(|(weight, input)| weight * input);
        self.bias + products.sum::<f32>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn evidence() -> Evidence {
        Evidence {
            sets: 1,
            seeds: 1,
            rounds: 1,
            paraphrase: 0.5,
            aligner: 0.95,
            p: Some(0.5),
            r: Some(0.5),
            frames: 0,
            likeness: Some(0.5),
            frame_fit: None,
            words: 1,
            ..Evidence::default()
        }
    }

    #[test]
    fn what_speaks_for_a_proposal_raises_its_score_and_what_speaks_against_lowers_it() {
        let score = |evidence: Evidence| Ranker::default().score(&evidence);
        let plain = score(evidence());
        assert!(plain > 0.1 && plain < 0.25, "{plain}");
        for better in [
            Evidence { seeds: 4, ..evidence() },
            Evidence { likeness: Some(0.6), ..evidence() },
            Evidence { p: Some(0.9), ..evidence() },
            Evidence { frames: 2, ..evidence() },
            Evidence { aligner: 0.99, ..evidence() },
            Evidence { frame_fit: Some(0.5), ..evidence() },
            Evidence { frame_fit: Some(1.0), ..evidence() },
            Evidence { evokes: Some(0.9), verified: 1, ..evidence() },
        ] {
            assert!(score(better) > plain, "{better:?}");
        }
        for worse in [
            Evidence { rounds: 0b1000, ..evidence() },
            Evidence { paraphrase: 1.5, ..evidence() },
            Evidence { likeness: None, ..evidence() },
            Evidence { frame_fit: Some(0.01), ..evidence() },
            Evidence { frame_fit: Some(0.0), ..evidence() },
            Evidence { unknown: 0.5, ..evidence() },
            Evidence { words: 2, ..evidence() },
            Evidence { evokes: Some(0.1), verified: 1, ..evidence() },
        ] {
            assert!(score(worse) < plain, "{worse:?}");
        }
        let late = Evidence { rounds: 0b1001, ..evidence() };
        assert_eq!(score(late), plain, "the first round counts");
    }

    #[test]
    fn many_answers_say_more_than_one_and_none_says_nothing() {
        let score = |evokes, verified| {
            Ranker::default().score(&Evidence { evokes, verified, ..evidence() })
        };
        let plain = Ranker::default().score(&evidence());
        assert!(score(Some(0.9), 9) > score(Some(0.9), 1) && score(Some(0.9), 1) > plain);
        assert!(score(Some(0.1), 9) < score(Some(0.1), 1) && score(Some(0.1), 1) < plain);
        assert_eq!(score(Some(UNDECIDED), 1), plain);
        assert!(score(Some(0.0), 9) < plain && score(Some(1.0), u32::MAX) < 1.0);
    }

    #[test]
    fn a_ranker_comes_back_from_its_file_and_a_wrong_one_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("ranker.json");
        let ranker = Ranker { decisions: 7, ..Ranker::default() };
        std::fs::write(&path, ranker.to_json()).unwrap();
        assert_eq!(Ranker::open(&path).unwrap(), ranker);
        for (old, new, said) in [
            ("proposal-ranker", "filter", "found `filter` of format 3"),
            ("\"format\": 3", "\"format\": 4", "of format 4"),
            ("\"likeness\"", "\"likenes\"", "no weight `likeness`"),
            ("\"bias\"", "\"bais\"", "unknown field `bais`"),
            ("{", "[", "line 2"),
        ] {
            std::fs::write(&path, ranker.to_json().replacen(old, new, 1)).unwrap();
            let error = Ranker::open(&path).unwrap_err().to_string();
            assert!(error.contains(said), "{new}: {error}");
        }
        for (format, later) in (1..).zip(LATER) {
            let said = format!("\"format\": {format}");
            let earlier = ranker.to_json().replacen("\"format\": 3", &said, 1);
            let is_later =
                |line: &&str| later.iter().any(|of| line.contains(&format!("\"{}\"", of.as_str())));
            let earlier: Vec<&str> = earlier.lines().filter(|line| !is_later(line)).collect();
            std::fs::write(&path, earlier.join("\n").replace(",\n  }", "\n  }")).unwrap();
            let read = Ranker::open(&path).unwrap();
            let weight = |of: Input| read.weights().find(|(input, _)| *input == of).unwrap().1;
            assert_eq!((weight(later[0]), weight(Input::Likeness)), (0.0, 4.0));
            assert_eq!(weight(Input::Evokes), 0.0);
        }
        let absent = Ranker::open(&dir.path().join("none.json")).unwrap_err().to_string();
        assert!(absent.contains("cannot read ranker"), "{absent}");
    }
}
