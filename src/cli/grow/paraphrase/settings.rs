//! The options of `fnstore paraphrase`, resolved into the library's settings.

use std::path::Path;

use crate::cli::options::named::named;
use anyhow::Context as _;
use fnstore::engine::{BeamSettings, LengthLimit, LengthPenalty, SampleSettings, Stopping};
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
    length_penalty: LengthPenalty,

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

impl SearchArgs {
    pub(super) fn settings(&self, avoid: Vec<String>) -> Settings {
        let length_penalty = self.length_penalty;
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
