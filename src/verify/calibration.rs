//! What a verifier's answers are worth: `calibration.toml` beside its questions.
//!
//! A language model is overconfident. So each question may have a curve from the log-odds of its
//! two answers to the share of right ones, fitted on outputs with verdicts of strict LLM judges: a
//! logistic function that need not reach 0 and 1 (Platt 1999, with a lapse rate at either end).

use std::path::Path;

use serde::Deserialize;
use toml::Spanned;

use crate::engine::Fingerprint;
use crate::prompt::{PromptError, PromptFile};
use crate::score::Answer;

/// Name of the file.
pub const CALIBRATION: &str = "calibration.toml";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    format: Spanned<u32>,
    evokes: Spanned<Curve>,
    same_meaning: Spanned<Curve>,
}

/// `floor + (ceiling - floor) / (1 + exp(-(slope * log_odds + intercept)))`.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Curve {
    floor: f64,
    ceiling: f64,
    slope: f64,
    intercept: f64,
}

impl Curve {
    /// That of a verifier without calibration: the model's own probability.
    const PLAIN: Self = Self { floor: 0.0, ceiling: 1.0, slope: 1.0, intercept: 0.0 };

    fn probability(&self, answer: &Answer) -> f32 {
        let Self { floor, ceiling, slope, intercept } = self;
        let share = 1.0 / (1.0 + (-(slope * answer.log_odds() + intercept)).exp());
        (floor + (ceiling - floor) * share) as f32
    }

    /// Whether it maps every answer into `[0, 1]`, and surer answers to higher shares.
    fn is_right(&self) -> bool {
        let Self { floor, ceiling, slope, intercept } = *self;
        floor >= 0.0
            && floor < ceiling
            && ceiling <= 1.0
            && slope > 0.0
            && slope.is_finite()
            && intercept.is_finite()
    }
}

/// The curves of both questions.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Calibration {
    evokes: Curve,
    same_meaning: Curve,
    /// Of the file; none where the answers are taken as they are.
    pub(super) fingerprint: Option<Fingerprint>,
}

impl Calibration {
    /// Reads the file of a directory; without one answers are taken as they are.
    pub(super) fn read(directory: &Path) -> Result<Self, PromptError> {
        let path = directory.join(CALIBRATION);
        if !path.exists() {
            let (evokes, same_meaning) = (Curve::PLAIN, Curve::PLAIN);
            return Ok(Self { evokes, same_meaning, fingerprint: None });
        }
        Self::parse(&PromptFile::read(&path)?)
    }

    fn parse(of: &PromptFile) -> Result<Self, PromptError> {
        let File { format, evokes, same_meaning } = of.fields()?;
        of.check_format(&format)?;
        let curve = |name, curve: Spanned<Curve>| {
            let expected = "0 <= floor < ceiling <= 1, a slope above 0 and a finite intercept";
            match curve.get_ref() {
                right if right.is_right() => Ok(*right),
                wrong => Err(of.wrong(name, format!("{wrong:?}"), curve.span(), expected)),
            }
        };
        Ok(Self {
            evokes: curve("evokes", evokes)?,
            same_meaning: curve("same_meaning", same_meaning)?,
            fingerprint: Some(of.fingerprint()),
        })
    }

    /// The probability in `[0, 1]` that a word evokes the frame.
    pub(super) fn evokes(&self, answer: &Answer) -> f32 {
        self.evokes.probability(answer)
    }

    /// The probability in `[0, 1]` that a rewriting says the same.
    pub(super) fn same_meaning(&self, answer: &Answer) -> f32 {
        self.same_meaning.probability(answer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "format = 1\n\
        [evokes]\nfloor = 0.1\nceiling = 0.9\nslope = 2.0\nintercept = 1.0\n\
        [same_meaning]\nfloor = 0.0\nceiling = 1.0\nslope = 1.0\nintercept = 0.0\n";

    fn parse(text: &str) -> Result<Calibration, PromptError> {
        Calibration::parse(&PromptFile::of(Path::new("calibration.toml"), text))
    }

    fn answer(log_odds: f64) -> Answer {
        Answer { log_probs: [log_odds, 0.0], tokens: 1 }
    }

    #[test]
    fn a_curve_rises_from_its_floor_to_its_ceiling() {
        let curves = parse(FILE).unwrap();
        assert!((curves.evokes(&answer(-0.5)) - 0.5).abs() < 1e-6);
        assert!((curves.evokes(&answer(-99.0)) - 0.1).abs() < 1e-6);
        assert!((curves.evokes(&answer(99.0)) - 0.9).abs() < 1e-6);
        let likely = answer(3.0);
        assert!((f64::from(curves.same_meaning(&likely)) - likely.yes()).abs() < 1e-6);
    }

    #[test]
    fn without_a_file_an_answer_is_its_own_probability() {
        let directory = tempfile::tempdir().unwrap();
        let plain = Calibration::read(directory.path()).unwrap();
        assert!(plain.fingerprint.is_none());
        assert!((f64::from(plain.evokes(&answer(-1.5))) - answer(-1.5).yes()).abs() < 1e-6);
    }

    #[test]
    fn the_shipped_file_is_read() {
        let shipped = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/verifier");
        let curves = Calibration::read(&shipped).unwrap();
        assert!(curves.fingerprint.is_some());
        assert!(curves.evokes(&answer(-4.0)) < 0.2 && curves.evokes(&answer(4.0)) > 0.8);
    }

    #[test]
    fn what_is_wrong_has_a_code_and_a_place() {
        for (from, to, said) in [
            ("format = 1", "format = 2", "`format` is `2`, expected 1 (P-field)"),
            ("ceiling = 0.9", "ceiling = 0.1", "`evokes` is `Curve"),
            ("slope = 2.0", "slope = -2.0", "a slope above 0"),
            ("floor = 0.1", "flor = 0.1", "(P-toml)"),
            ("[same_meaning]", "[other]", "(P-toml)"),
        ] {
            let text = FILE.replacen(from, to, 1);
            assert_ne!(text, FILE, "{from}");
            let message = parse(&text).unwrap_err().to_string();
            assert!(message.contains(said), "{to}: {message}");
        }
    }
}
