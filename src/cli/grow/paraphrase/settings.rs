//! The options of `fnstore paraphrase`, resolved into the library's settings.

use std::path::Path;
use std::str::FromStr;

use crate::cli::options::named::named;
use anyhow::Context as _;
use fnstore::decode::{BeamSettings, LengthLimit, LengthPenalty, SampleSettings, Stopping};
use fnstore::paraphrase::Settings;
use fnstore::text::input::read_text;

use fnstore::expand::Words;

/// How paraphrases are found.
#[derive(Debug, clap::Args)]
pub(super) struct SearchArgs {
    /// Beam size
    #[arg(long, value_name = "N", default_value_t = BeamSettings::default().beam_size)]
    beam: usize,

    /// Return N paraphrases per sentence, at most the beam size
    #[arg(long, value_name = "N", default_value_t = BeamSettings::default().n_best)]
    n_best: usize,

    /// Length penalty: huggingface=P, ctranslate2=P, sockeye=ALPHA,BETA or
    /// marian=ALPHA,WORD_PENALTY
    #[arg(long, value_name = "FORMULA", default_value = "huggingface=1")]
    length_penalty: Penalty,

    /// Longest output, in subword tokens per token of the sentence
    #[arg(long, value_name = "F", default_value_t = LengthLimit::default().factor)]
    max_length_factor: f32,

    /// Subword tokens to add to that limit
    #[arg(long, value_name = "N", default_value_t = LengthLimit::default().constant)]
    max_length_more: usize,

    /// Stopping rule of the search
    #[arg(long, value_parser = named::<Stopping>(), default_value_t = Stopping::default())]
    stop: Stopping,

    /// Finished outputs that end a search, as a share of the beam
    #[arg(long, value_name = "F", default_value_t = 1.0)]
    patience: f32,

    /// Prune hypotheses whose score is this far below the best output; 0 keeps all
    #[arg(long, value_name = "SCORE", default_value_t = 0.0)]
    prune: f32,

    /// Coverage penalty for parts of the sentence without attention; 0 for none
    #[arg(long, value_name = "STRENGTH", default_value_t = 0.0)]
    coverage_penalty: f32,

    /// Renormalize over the tokens that are not banned, as CTranslate2 does
    #[arg(long)]
    renormalize: bool,

    /// Sample N outputs instead of searching
    #[arg(long, value_name = "N")]
    sample: Option<usize>,

    /// Seed of the sampling
    #[arg(long, value_name = "N", default_value_t = 1, requires = "sample")]
    seed: u64,

    /// Sampling temperature
    #[arg(long, value_name = "T", default_value_t = 1.0, requires = "sample")]
    temperature: f32,

    /// Sample from the N most likely tokens; 0 for all
    #[arg(long, value_name = "N", default_value_t = 0, requires = "sample")]
    top_k: usize,

    /// Sample from the most likely tokens with this total probability
    #[arg(long, value_name = "P", default_value_t = 1.0, requires = "sample")]
    top_p: f32,

    /// Vocabulary of paraphrases: the rewriter's list and the sentence's own words, or any word
    #[arg(long, value_name = "WHICH", value_parser = named::<Words>(), default_value_t = Words::Known)]
    words: Words,

    /// Refuse sentences of more than N subword tokens
    #[arg(long, value_name = "N", default_value_t = Settings::default().max_source_pieces)]
    max_pieces: usize,
}

/// A formula of length normalisation.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Penalty(LengthPenalty);

impl FromStr for Penalty {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> anyhow::Result<Self> {
        let (name, numbers) = text.split_once('=').unwrap_or((text, ""));
        let numbers: Vec<f32> = numbers
            .split(',')
            .filter(|number| !number.is_empty())
            .map(|number| number.parse().with_context(|| format!("`{number}` is no number")))
            .collect::<anyhow::Result<_>>()?;
        let penalty = match (name, numbers.as_slice()) {
            ("huggingface" | "ctranslate2", &[power]) => LengthPenalty::Power(power),
            ("huggingface" | "ctranslate2", []) => LengthPenalty::Power(1.0),
            ("sockeye", &[alpha, beta]) => LengthPenalty::Sockeye { alpha, beta },
            ("sockeye", []) => LengthPenalty::Sockeye { alpha: 1.0, beta: 0.0 },
            ("marian", &[alpha, word_penalty]) => LengthPenalty::Marian { alpha, word_penalty },
            ("marian", []) => LengthPenalty::Marian { alpha: 0.0, word_penalty: 0.0 },
            _ => anyhow::bail!(
                "expected huggingface=P, ctranslate2=P, sockeye=ALPHA,BETA or \
                 marian=ALPHA,WORD_PENALTY"
            ),
        };
        Ok(Self(penalty))
    }
}

impl SearchArgs {
    pub(super) fn settings(&self, avoid: Vec<String>) -> Settings {
        let Penalty(length_penalty) = self.length_penalty;
        let length_limit =
            LengthLimit { factor: self.max_length_factor, constant: self.max_length_more };
        let beam = BeamSettings {
            beam_size: self.beam,
            n_best: self.n_best.min(self.beam),
            length_penalty,
            length_limit,
            stopping: self.stop,
            patience: self.patience,
            prune_threshold: self.prune,
            renormalize: self.renormalize,
            coverage_penalty: self.coverage_penalty,
        };
        let sample = self.sample.map(|samples| SampleSettings {
            samples,
            seed: self.seed,
            temperature: self.temperature,
            top_k: self.top_k,
            top_p: self.top_p,
            length_penalty,
            length_limit,
            renormalize: self.renormalize,
        });
        let max_source_pieces = self.max_pieces;
        let known_words = self.words == Words::Known;
        Settings { beam, sample, avoid, known_words, max_source_pieces, ..Settings::default() }
    }
}

/// The phrases of a file, one a line; empty lines are left out.
pub(super) fn phrases_of(file: &Path) -> anyhow::Result<Vec<String>> {
    let text = read_text(file)
        .with_context(|| format!("cannot read phrases from `{}`", file.display()))?;
    Ok(text.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_formula_is_a_name_and_its_numbers() {
        let parsed = |text: &str| text.parse::<Penalty>().map(|penalty| penalty.0);
        assert_eq!(parsed("huggingface=0.5").unwrap(), LengthPenalty::Power(0.5));
        assert_eq!(parsed("ctranslate2").unwrap(), LengthPenalty::Power(1.0));
        let sockeye = LengthPenalty::Sockeye { alpha: 0.6, beta: 5.0 };
        assert_eq!(parsed("sockeye=0.6,5").unwrap(), sockeye);
        let marian = LengthPenalty::Marian { alpha: 1.0, word_penalty: 0.0 };
        assert_eq!(parsed("marian=1,0").unwrap(), marian);
        for wrong in ["", "fairseq=1", "sockeye=1", "huggingface=1,2"] {
            let error = parsed(wrong).unwrap_err().to_string();
            assert!(error.starts_with("expected huggingface=P, "), "{wrong}: {error}");
        }
        assert_eq!(parsed("huggingface=x").unwrap_err().to_string(), "`x` is no number");
    }
}
