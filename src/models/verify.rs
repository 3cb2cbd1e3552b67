//! Whether a model can be used: loaded as its users load it, its files compared with their hashes.

use std::error::Error;
use std::fmt;
use std::path::{Path, PathBuf};

use super::{ModelError, ModelKind, describe, sums};
use crate::align::{AlignError, Aligner, encoder_of};
use crate::engine::{AdapterError, Device, Encoder, LanguageAdapter, NnError, Numbers, Tokenizer};
use crate::filter::{Filter, FilterError};
use crate::identify::FrameIdentifier;
use crate::label::Labeller;
use crate::learn::NetworkError;
use crate::model::named;
use crate::paraphrase::{PROMPT, ParaphraseError, Paraphraser, base_of, gguf_in};
use crate::score::{ScoreError, Scorer};
use crate::tag::Tagger;
use crate::vectors::{VectorsError, WordVectors};
use crate::verify::{Verifier, VerifyError};

named! {
    /// What may be wrong with a model.
    #[non_exhaustive]
    pub enum FindingCode {
        /// `config.json` is absent, incomplete, or asks for what is not computed.
        Config => "M-config",
        /// A weight is absent, of another shape or not finite, or a file of weights is damaged.
        Weights => "M-weights",
        /// `tokenizer.json` is absent, damaged, or another model's.
        Tokenizer => "M-tokenizer",
        /// The encoder that an aligner's head was trained on is not there.
        Encoder => "M-encoder",
        /// A file is not the one whose hash was recorded.
        Sum => "M-sum",
        /// The language model that an adapter was trained on is not there, or is another one.
        Base => "M-base",
        /// `prompt.toml` is absent, damaged, or another model's.
        Prompt => "M-prompt",
    }
}

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Finding {
    /// `M-config`: config.json is absent, incomplete or unsupported. `M-weights`: a weight is
    /// absent, misshapen or not finite, or a file is damaged. `M-tokenizer`: tokenizer.json is
    /// absent, damaged or another model's. `M-encoder`: an aligner's encoder is absent. `M-sum`: a
    /// file's hash differs. `M-base`: an adapter's language model is absent or another one.
    /// `M-prompt`: prompt.toml is absent, damaged or another model's.
    pub code: FindingCode,
    /// What it is, with file and place.
    pub detail: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code.as_str(), self.detail)
    }
}

/// What became of a check.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ModelCheck {
    /// Whether hashes of its files were recorded.
    pub has_sums: bool,
    /// Everything that is wrong.
    pub findings: Vec<Finding>,
}

/// Checks that a model loads on the CPU, with all weights, of the right shapes and finite, and a
/// tokenizer that belongs to it. Its files must be those of its `BLAKE3SUMS`. A network over an
/// encoder (aligner, tagger, frame model, labeller) is checked with the encoder that it names, from
/// the first directory of `models` that has it ([`encoder_of`]).
///
/// Takes the time and memory of loading it.
pub fn verify(directory: &Path, models: &[PathBuf]) -> ModelCheck {
    let mut check = ModelCheck::default();
    match sums::check(directory) {
        Ok(None) => {}
        Ok(Some(findings)) => {
            check = ModelCheck { has_sums: true, findings };
        }
        Err(error) => check.findings.push(finding(FindingCode::Sum, &error)),
    }
    if let Err(found) = load(directory, models) {
        check.findings.push(found);
    }
    check
}

fn load(directory: &Path, models: &[PathBuf]) -> Result<(), Finding> {
    // Says what is wrong with a checkpoint in another format before asking for its weights.
    other_format(directory)?;
    let description = describe(directory).map_err(|error| {
        let code = match &error {
            ModelError::Weights { .. } => FindingCode::Weights,
            ModelError::Adapter { source, .. } => code_of_network(source),
            _ => FindingCode::Config,
        };
        finding(code, &error)
    })?;
    let device = &Device::cpu();
    let numbers = Numbers::F32;
    let base = || base_of(directory, models).map_err(found_by(code_of_rewriter));
    let encoder = || encoder_of(directory, models).map_err(found_by(code_of_aligner));
    match description.kind {
        ModelKind::Paraphraser => {
            loaded(Paraphraser::open_in(directory, device, numbers), code_of_rewriter)
        }
        ModelKind::Adapter => {
            let opened = Paraphraser::open_with(directory, base()?.as_deref(), device, numbers);
            loaded(opened, code_of_rewriter)
        }
        ModelKind::Infiller => {
            let base = base()?;
            let adapter = LanguageAdapter::read(directory).map_err(found_by(code_of_network))?;
            let file = base.as_deref().unwrap_or(directory);
            loaded(Scorer::open_with(file, Some(adapter), device, numbers), code_of_scorer)
        }
        ModelKind::Verifier => {
            let base = base()?;
            let base = base.as_deref().unwrap_or(directory);
            loaded(Verifier::open(directory, base, device, numbers), code_of_verifier)
        }
        ModelKind::LanguageModel => load_language_model(directory, device),
        ModelKind::Encoder => load_encoder(directory, device),
        ModelKind::Aligner => {
            loaded(Aligner::open(directory, &encoder()?, device), code_of_aligner)
        }
        ModelKind::Tagger => {
            loaded(Tagger::open(directory, &encoder()?, device), code_of_small_network)
        }
        ModelKind::Identifier => {
            loaded(FrameIdentifier::open(directory, &encoder()?, device), code_of_small_network)
        }
        ModelKind::Labeller => {
            loaded(Labeller::open(directory, &encoder()?, device), code_of_small_network)
        }
        ModelKind::WordVectors => loaded(WordVectors::open(directory), code_of_vectors),
        ModelKind::Filter => loaded(Filter::open(directory), code_of_filter),
    }
}

/// What is wrong with a model that does not open, by the code of its error.
fn loaded<T, E: Error + 'static>(
    opened: Result<T, E>,
    code: fn(&E) -> FindingCode,
) -> Result<(), Finding> {
    opened.map(drop).map_err(found_by(code))
}

fn found_by<E: Error + 'static>(code: fn(&E) -> FindingCode) -> impl Fn(E) -> Finding {
    move |error| finding(code(&error), &error)
}

/// An encoder, and a tokenizer that belongs to it.
fn load_encoder(directory: &Path, device: &Device) -> Result<(), Finding> {
    let encoder = Encoder::open(directory, device).map_err(found_by(code_of_network))?;
    let tokenizer =
        Tokenizer::open(directory).map_err(|error| finding(FindingCode::Tokenizer, &error))?;
    let network_size = encoder.config().vocab_size;
    let tokenizer_size = tokenizer.vocab_size();
    if tokenizer_size > network_size {
        let error = ParaphraseError::Vocabulary { tokenizer_size, network_size };
        return Err(finding(FindingCode::Tokenizer, &error));
    }
    Ok(())
}

/// A language model by itself, and as a rewriter where a prompt lies beside it.
fn load_language_model(path: &Path, device: &Device) -> Result<(), Finding> {
    let is_file = !path.join("config.json").is_file();
    let file = if is_file && path.is_dir() { gguf_in(path) } else { None };
    let file = file.as_deref().unwrap_or(path);
    loaded(Scorer::open_with(file, None, device, Numbers::F32), code_of_scorer)?;
    let folder = if path.is_dir() { path } else { path.parent().unwrap_or(Path::new("")) };
    match folder.join(PROMPT).is_file() {
        true => loaded(Paraphraser::open_in(path, device, Numbers::F32), code_of_rewriter),
        false => Ok(()),
    }
}

/// A checkpoint whose weights or tokenizer are in a format that is not read.
fn other_format(directory: &Path) -> Result<(), Finding> {
    let has = |name: &str| directory.join(name).exists();
    let safetensors = has("model.safetensors") || has("model.safetensors.index.json");
    let pickled = ["pytorch_model.bin", "pytorch_model.bin.index.json", "tf_model.h5"];
    if let Some(name) = pickled.into_iter().find(|name| !safetensors && has(name)) {
        let detail = format!(
            "its weights are in `{name}`, expected `model.safetensors`; load it with transformers and \
             write it with `save_pretrained`"
        );
        return Err(Finding { code: FindingCode::Weights, detail });
    }
    let parts = ["spiece.model", "source.spm", "vocab.json", "vocab.txt"];
    if let Some(name) = parts.into_iter().find(|name| !has("tokenizer.json") && has(name)) {
        let detail = format!(
            "it has `{name}` and no `tokenizer.json`; load the tokenizer with transformers' \
             `AutoTokenizer` and write it with `save_pretrained`"
        );
        return Err(Finding { code: FindingCode::Tokenizer, detail });
    }
    Ok(())
}

fn code_of_rewriter(error: &ParaphraseError) -> FindingCode {
    match error {
        ParaphraseError::Open { source, .. } => code_of_network(source),
        ParaphraseError::Mark { .. } => FindingCode::Config,
        ParaphraseError::Prompt(_) => FindingCode::Prompt,
        ParaphraseError::BaseMissing { .. } => FindingCode::Base,
        ParaphraseError::File(_) => FindingCode::Weights,
        _ => FindingCode::Tokenizer,
    }
}

fn code_of_network(error: &NnError) -> FindingCode {
    match error {
        NnError::Config(_) => FindingCode::Config,
        NnError::Adapter(error) if matches!(**error, AdapterError::Base { .. }) => {
            FindingCode::Base
        }
        NnError::Adapter(_) => FindingCode::Config,
        _ => FindingCode::Weights,
    }
}

fn code_of_aligner(error: &AlignError) -> FindingCode {
    match error {
        AlignError::EncoderMissing { .. } => FindingCode::Encoder,
        AlignError::Network(error) => code_of_small_network(error),
        _ => FindingCode::Tokenizer,
    }
}

fn code_of_scorer(error: &ScoreError) -> FindingCode {
    match error {
        ScoreError::Network(source) => code_of_network(source),
        ScoreError::File(_) => FindingCode::Weights,
        ScoreError::Prompt(_) => FindingCode::Prompt,
        _ => FindingCode::Tokenizer,
    }
}

fn code_of_verifier(error: &VerifyError) -> FindingCode {
    match error {
        VerifyError::Adapter { source, .. } => code_of_network(source),
        VerifyError::Prompt(_) => FindingCode::Prompt,
        VerifyError::Score(error) => code_of_scorer(error),
    }
}

fn code_of_vectors(error: &VectorsError) -> FindingCode {
    match error {
        VectorsError::Weights { .. } => FindingCode::Weights,
        _ => FindingCode::Config,
    }
}

fn code_of_filter(error: &FilterError) -> FindingCode {
    match error {
        FilterError::Weights { .. } => FindingCode::Weights,
        _ => FindingCode::Config,
    }
}

fn code_of_small_network(error: &NetworkError) -> FindingCode {
    match error {
        NetworkError::Encoder { .. } => FindingCode::Encoder,
        NetworkError::Network { source } => code_of_network(source),
        NetworkError::File(_) => FindingCode::Config,
        _ => FindingCode::Tokenizer,
    }
}

/// A finding that says what an error says, with its causes.
fn finding(code: FindingCode, error: &dyn Error) -> Finding {
    let mut detail = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        detail.push_str(": ");
        detail.push_str(&error.to_string());
        cause = error.source();
    }
    Finding { code, detail }
}
