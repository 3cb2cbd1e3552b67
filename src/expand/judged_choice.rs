//! The choice of the output that people would take: weights of what the models say of it.
//!
//! `choice.toml` beside a verifier has two lines of weights, fitted on outputs with verdicts of LLM
//! judges: how likely an output evokes the frame, and how likely it also says what its source says.
//! The output whose two probabilities have the larger sum is kept. The cheap scores leave a few to
//! be asked about.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::path::Path;

use serde::Deserialize;
use toml::Spanned;

use super::Result;
use super::chain::Chain;
use super::judges::{Judges, Said, SetQuestion, frame_question, identity};
use super::ranking::Pair;
use super::trigger_lexicon::TriggerLexicon;
use crate::decode::GoesOn;
use crate::model::{FrameId, ReleaseId, Verification};
use crate::nn::Fingerprint;
use crate::prompt::{PromptError, PromptFile};
use crate::verify::{CHOICE, EvokesItem, FrameQuestion, VerifyError};

/// Pairs of a round that are asked about. Of 60 judged sentences the best of three evoked the frame
/// in 71 %, the best of eight in 73 %, and the likeliest in 63 %
/// (`docs/results/2026-11-28-judged-choice.md`).
const MOST_ASKED: usize = 3;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    format: Spanned<u32>,
    evokes: Spanned<Weights>,
    same_meaning: Spanned<Weights>,
}

/// Weights of a logistic function.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Weights {
    bias: f64,
    /// Of the output's log-probability per token, given its source.
    log_prob: f64,
    /// Of the logarithm of the aligner's score.
    aligner: f64,
    /// Of the source's log-probability, given the output.
    reverse: f64,
    /// Of that per token.
    reverse_token: f64,
    /// Of the log-odds of the verifier's answers.
    evokes: f64,
    same_meaning: f64,
}

impl Weights {
    fn probability(&self, pair: &Pair, said: &Said) -> f64 {
        let (reverse, reverse_token) = said.reverse.map_or((0.0, 0.0), |reverse| {
            (reverse.log_prob, reverse.log_prob / f64::from(reverse.tokens))
        });
        let log_odds =
            |answer: Option<crate::score::Answer>| answer.map_or(0.0, |answer| answer.log_odds());
        let sum = self.bias - self.log_prob * f64::from(pair.output.score)
            + self.aligner * f64::from(pair.alignment.score.max(1e-4)).ln()
            + self.reverse * reverse
            + self.reverse_token * reverse_token
            + self.evokes * log_odds(said.evokes)
            + self.same_meaning * log_odds(said.same_meaning);
        1.0 / (1.0 + (-sum).exp())
    }

    fn is_finite(&self) -> bool {
        let Self { bias, log_prob, aligner, reverse, reverse_token, evokes, same_meaning } = self;
        let all = [bias, log_prob, aligner, reverse, reverse_token, evokes, same_meaning];
        all.into_iter().all(|weight| weight.is_finite())
    }
}

/// Both lines of weights.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ChoiceWeights {
    evokes: Weights,
    same_meaning: Weights,
    fingerprint: Fingerprint,
}

impl ChoiceWeights {
    /// Reads the file of a verifier's directory.
    pub(super) fn read(directory: &Path) -> std::result::Result<Self, VerifyError> {
        Ok(Self::parse(&PromptFile::read(&directory.join(CHOICE))?)?)
    }

    fn parse(of: &PromptFile) -> std::result::Result<Self, PromptError> {
        let File { format, evokes, same_meaning } = of.fields()?;
        of.check_format(&format)?;
        let weights = |name, weights: Spanned<Weights>| match weights.get_ref() {
            right if right.is_finite() => Ok(*right),
            wrong => Err(of.wrong(name, format!("{wrong:?}"), weights.span(), "finite numbers")),
        };
        Ok(Self {
            evokes: weights("evokes", evokes)?,
            same_meaning: weights("same_meaning", same_meaning)?,
            fingerprint: of.fingerprint(),
        })
    }
}

/// Judges of outputs, and how they choose.
#[derive(Debug)]
pub(super) struct JudgedChoice {
    pub(super) judges: Judges,
    pub(super) weights: ChoiceWeights,
    frames: HashMap<(ReleaseId, FrameId), FrameQuestion>,
}

impl JudgedChoice {
    pub(super) fn new(judges: Judges, weights: ChoiceWeights) -> Self {
        Self { judges, weights, frames: HashMap::new() }
    }

    /// Of all that decides which output is kept.
    pub(super) fn fingerprint(&self) -> Fingerprint {
        let rewriter = self.judges.rewriter.as_ref().map(identity);
        let parts = [self.judges.verifier.fingerprint(), self.weights.fingerprint];
        Fingerprint::of_all(parts.into_iter().chain(rewriter))
    }

    /// Asks about the first of a round's pairs, which are sorted by cheap scores; their score is
    /// what they are worth by the answers from now on. The others go.
    pub(super) fn judge(
        &mut self,
        (lexicon, chain): (&mut TriggerLexicon<'_>, &Chain),
        pairs: &mut Vec<Pair>,
        goes_on: &mut GoesOn<'_>,
    ) -> Result<()> {
        pairs.truncate(MOST_ASKED);
        let mut questions = Vec::with_capacity(pairs.len());
        for pair in &*pairs {
            let unit = lexicon.unit_name(chain.seed.frame, &pair.trigger, chain.seed.pos)?;
            questions.push(question(chain, pair, &unit));
        }
        let place = (chain.seed.release, chain.seed.frame);
        if let Entry::Vacant(vacant) = self.frames.entry(place) {
            vacant.insert(frame_question(lexicon.database(), place)?);
        }
        let said = self.judges.ask(&self.frames[&place], &questions, goes_on)?;
        let ChoiceWeights { evokes, same_meaning, .. } = &self.weights;
        for (pair, said) in pairs.iter_mut().zip(said) {
            let worth = evokes.probability(pair, &said) + same_meaning.probability(pair, &said);
            pair.take_answers(worth, said);
        }
        Ok(())
    }

    /// What is kept of the answers about a pair that is written under an LU of that name.
    pub(super) fn verification(
        &self,
        chain: &Chain,
        pair: &Pair,
        lexunit: &str,
    ) -> Option<Verification> {
        let (said, frame) = (pair.said?, &self.frames[&(chain.seed.release, chain.seed.frame)]);
        let question = question(chain, pair, lexunit);
        // The writer knows the set's id.
        Some(self.judges.verification(chain.seed.set, (frame, &question), &said))
    }
}

/// What is asked about a pair whose trigger is or would be of that LU.
fn question(chain: &Chain, pair: &Pair, lexunit: &str) -> SetQuestion {
    let item = EvokesItem {
        text: pair.output.text.clone(),
        targets: pair.targets.clone(),
        lexunit: Some(lexunit.to_owned()),
    };
    SetQuestion { item, source: Some(chain.seed.text.clone()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHIPPED: &str = include_str!("../../models/verifier/choice.toml");

    fn parse(text: &str) -> std::result::Result<ChoiceWeights, PromptError> {
        ChoiceWeights::parse(&PromptFile::of(Path::new("choice.toml"), text))
    }

    #[test]
    fn the_shipped_weights_like_what_the_verifier_likes() {
        let weights = parse(SHIPPED).unwrap();
        assert!(weights.evokes.evokes > 0.0 && weights.same_meaning.same_meaning > 0.0);
    }

    #[test]
    fn what_is_wrong_with_the_file_has_a_code_and_a_place() {
        for (from, to, said) in [
            ("format = 1", "format = 2", "`format` is `2`, expected 1 (P-field)"),
            ("bias = ", "bias = nan #", "`evokes` is `Weights"),
            ("aligner = ", "alinger = ", "(P-toml)"),
        ] {
            let text = SHIPPED.replacen(from, to, 1);
            assert_ne!(text, SHIPPED, "{from}");
            let message = parse(&text).unwrap_err().to_string();
            assert!(message.contains(said), "{to}: {message}");
        }
    }
}
