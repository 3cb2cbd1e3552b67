//! Which of several outputs is kept: weights of what is known of each.
//!
//! `choice.toml` beside a verifier has two lines of weights, fitted on judged outputs: how likely
//! an output evokes the frame, and how likely it also says what its source says. The output whose
//! two probabilities have the larger sum is kept.

use std::path::Path;

use serde::Deserialize;
use toml::Spanned;

use super::error::FilterError;
use super::evidence::FilterEvidence;
use crate::engine::Fingerprint;
use crate::learn::sigmoid;
use crate::prompt::{PromptError, PromptFile};

/// Name of the file.
pub const CHOICE: &str = "choice.toml";

/// The least score of an aligner and the least probability that count: logarithms stay finite.
const LEAST: f32 = 1e-4;

/// Number of inputs.
pub(super) const INPUTS: usize = 5;

/// A number for each input.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Inputs {
    /// The paraphrase score.
    paraphrase: f32,
    /// The logarithm of the aligner's score.
    aligner: f32,
    /// The negative log-likelihood of the whole source, given the output.
    reverse: f32,
    /// The log-odds of the verifier's probabilities.
    evokes: f32,
    same_meaning: f32,
}

impl Inputs {
    fn of([paraphrase, aligner, reverse, evokes, same_meaning]: [f32; INPUTS]) -> Self {
        Self { paraphrase, aligner, reverse, evokes, same_meaning }
    }

    fn values(&self) -> [f32; INPUTS] {
        let Self { paraphrase, aligner, reverse, evokes, same_meaning } = *self;
        [paraphrase, aligner, reverse, evokes, same_meaning]
    }
}

/// A logistic function of the inputs.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    bias: f32,
    weights: Inputs,
}

impl Line {
    fn probability(&self, inputs: [f32; INPUTS]) -> f32 {
        let of = self.weights.values();
        sigmoid(
            self.bias + of.iter().zip(inputs).map(|(weight, input)| weight * input).sum::<f32>(),
        )
    }

    fn is_finite(&self) -> bool {
        self.bias.is_finite() && self.weights.values().iter().all(|weight| weight.is_finite())
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    format: Spanned<u32>,
    typical: Spanned<Inputs>,
    evokes: Spanned<Line>,
    same_meaning: Spanned<Line>,
}

/// What the file says.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Tables {
    typical: Inputs,
    evokes: Line,
    same_meaning: Line,
}

/// Both lines of weights.
#[derive(Debug, Clone, PartialEq)]
pub struct ChoiceWeights {
    tables: Tables,
    fingerprint: Fingerprint,
}

/// What is known of an output, in the order of the weights.
pub(super) fn inputs_of(evidence: &FilterEvidence) -> [Option<f32>; INPUTS] {
    let log_odds = |share: f32| {
        let share = share.clamp(LEAST, 1.0 - LEAST);
        (share / (1.0 - share)).ln()
    };
    let whole = |(score, tokens): (f32, u32)| score * tokens as f32;
    [
        Some(evidence.paraphrase),
        Some(evidence.aligner.max(LEAST).ln()),
        evidence.reverse.zip(evidence.reverse_tokens).map(whole),
        evidence.evokes.map(log_odds),
        evidence.same_meaning.map(log_odds),
    ]
}

impl ChoiceWeights {
    /// Weights of the first question and of the second, each after its bias, and what an input
    /// counts that is not known.
    pub(super) fn new(
        [evokes, same_meaning]: [(f32, [f32; INPUTS]); 2],
        typical: [f32; INPUTS],
    ) -> Self {
        let line = |(bias, weights)| Line { bias, weights: Inputs::of(weights) };
        let (evokes, same_meaning) = (line(evokes), line(same_meaning));
        let tables = Tables { typical: Inputs::of(typical), evokes, same_meaning };
        let fingerprint = PromptFile::of(Path::new(CHOICE), text_of(&tables)).fingerprint();
        Self { tables, fingerprint }
    }

    /// Reads the file of a verifier's directory.
    ///
    /// # Errors
    /// When it is not there, is no TOML, or has a field that is unknown, missing or not finite,
    /// with its line.
    pub fn read(directory: &Path) -> Result<Self, FilterError> {
        Ok(Self::parse(&PromptFile::read(&directory.join(CHOICE))?)?)
    }

    fn parse(of: &PromptFile) -> Result<Self, PromptError> {
        let File { format, typical, evokes, same_meaning } = of.fields()?;
        of.check_format(&format)?;
        let line = |name, line: Spanned<Line>| match line.get_ref() {
            right if right.is_finite() => Ok(*right),
            wrong => Err(of.wrong(name, format!("{wrong:?}"), line.span(), "finite numbers")),
        };
        let known = Line { bias: 0.0, weights: *typical.get_ref() };
        line("typical", Spanned::new(typical.span(), known))?;
        let (evokes, same_meaning) = (line("evokes", evokes)?, line("same_meaning", same_meaning)?);
        let tables = Tables { typical: known.weights, evokes, same_meaning };
        Ok(Self { tables, fingerprint: of.fingerprint() })
    }

    /// The file.
    #[must_use]
    pub fn text(&self) -> String {
        text_of(&self.tables)
    }

    /// BLAKE3 of the file.
    #[must_use]
    pub fn fingerprint(&self) -> Fingerprint {
        self.fingerprint
    }

    /// What an output is worth: the sum of both probabilities, 0 to 2.
    #[must_use]
    pub fn worth(&self, evidence: &FilterEvidence) -> f32 {
        self.probabilities(evidence).iter().sum()
    }

    /// How likely an output evokes the frame, and how likely it also says what its source says.
    pub(super) fn probabilities(&self, evidence: &FilterEvidence) -> [f32; 2] {
        let Tables { typical, evokes, same_meaning } = &self.tables;
        let (known, typical) = (inputs_of(evidence), typical.values());
        let inputs = std::array::from_fn(|at| known[at].unwrap_or(typical[at]));
        [evokes.probability(inputs), same_meaning.probability(inputs)]
    }
}

fn text_of(tables: &Tables) -> String {
    let Tables { typical, evokes, same_meaning } = tables;
    let line = |name, line: &Line| {
        let weights = table(&format!("{name}.weights"), &line.weights);
        format!("\n[{name}]\nbias = {:?}\n{weights}", line.bias)
    };
    let (evokes, same_meaning) = (line("evokes", evokes), line("same_meaning", same_meaning));
    let tables = format!("{}{evokes}{same_meaning}", table("typical", typical));
    format!(
        "# Which of some outputs is kept (`choice = \"judged\"`): the one for which the sum of two probabilities is\n\
         # largest, that it evokes the frame and that it also says what its source says. Each is a logistic function of\n\
         # its paraphrase score, the logarithm of its aligner score, the negative log-likelihood of the whole source,\n\
         # given it, and the log-odds of both probabilities of the verifier. An input that is not known is `typical`.\n\
         format = 1\n{tables}"
    )
}

/// Numbers as a TOML table.
fn table(name: &str, inputs: &Inputs) -> String {
    let Inputs { paraphrase, aligner, reverse, evokes, same_meaning } = inputs;
    format!(
        "\n[{name}]\nparaphrase = {paraphrase:?}\naligner = {aligner:?}\nreverse = {reverse:?}\nevokes = {evokes:?}\n\
         same_meaning = {same_meaning:?}\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHIPPED: &str = include_str!("../../models/verifier/choice.toml");

    fn parse(text: &str) -> Result<ChoiceWeights, PromptError> {
        ChoiceWeights::parse(&PromptFile::of(Path::new("choice.toml"), text))
    }

    fn verified(evokes: Option<f32>, same_meaning: Option<f32>) -> FilterEvidence {
        let plain = FilterEvidence::new(1, (0.3, 0.9), (false, 1));
        FilterEvidence { evokes, same_meaning, ..plain }
    }

    #[test]
    fn the_shipped_weights_like_what_the_verifier_likes() {
        let weights = parse(SHIPPED).unwrap();
        let worth = |evokes, same| weights.worth(&verified(Some(evokes), Some(same)));
        assert!(worth(0.9, 0.5) > worth(0.1, 0.5) && worth(0.5, 0.9) > worth(0.5, 0.1));
    }

    #[test]
    fn a_file_reads_back_as_it_was_written() {
        let weights = ChoiceWeights::new([(0.5, [0.1; INPUTS]), (-1.0, [0.2; INPUTS])], [0.25; 5]);
        assert_eq!(parse(&weights.text()).unwrap(), weights);
    }

    #[test]
    fn what_is_not_known_counts_as_typical() {
        let typical = [0.3, 0.9_f32.ln(), 40.0, 0.0, 0.0];
        let weights = ChoiceWeights::new([(0.5, [0.1; INPUTS]), (-1.0, [0.2; INPUTS])], typical);
        let known = FilterEvidence {
            reverse: Some(2.0),
            reverse_tokens: Some(20),
            ..verified(Some(0.5), Some(0.5))
        };
        assert_eq!(weights.worth(&known), weights.worth(&verified(None, None)));
    }

    #[test]
    fn what_is_wrong_with_the_file_has_a_code_and_a_place() {
        for (from, to, said) in [
            ("format = 1", "format = 2", "`format` is `2`, expected 1 (P-field)"),
            ("bias = ", "bias = nan #", "`evokes` is `Line"),
            ("paraphrase = ", "paraphrase = inf #", "`typical` is `Line"),
            ("aligner = ", "alinger = ", "(P-toml)"),
        ] {
            let text = SHIPPED.replacen(from, to, 1);
            assert_ne!(text, SHIPPED, "{from}");
            let message = parse(&text).unwrap_err().to_string();
            assert!(message.contains(said), "{to}: {message}");
        }
    }
}
