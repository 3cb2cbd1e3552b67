//! What a model directory holds.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::ModelError;
use crate::engine::{
    Fingerprint, Gguf, GgufError, LANGUAGES, LanguageAdapter, LanguageLayout, Layout, Weights,
    declared_languages,
};
use crate::model::{Languages, named};
use crate::paraphrase::{PROMPT, gguf_in, is_adapter};
use crate::text::input::read_text;
use crate::verify::has_questions;
use crate::{filter, vectors};

const CONFIG: &str = "config.json";

named! {
    /// What a model is for.
    #[non_exhaustive]
    pub enum ModelKind {
        /// An encoder-decoder that rewrites sentences.
        Paraphraser => "paraphraser",
        /// An encoder of the BERT family, whose states the aligner reads.
        Encoder => "encoder",
        /// The aligner's head, trained on the states of one encoder.
        Aligner => "aligner",
        /// A part-of-speech tagger, trained on the states of one encoder.
        Tagger => "tagger",
        /// Finds targets and their frames, trained on the states of one encoder.
        Identifier => "identifier",
        /// A labeller of frame elements, trained on the states of one encoder.
        Labeller => "labeller",
        /// Word vectors, which know what words mean alike.
        WordVectors => "word-vectors",
        /// Two classifiers that say which generated sets to keep.
        Filter => "filter",
        /// A decoder-only network; it rewrites where a prompt lies beside it.
        LanguageModel => "language-model",
        /// An adapter with which a language model rewrites.
        Adapter => "adapter",
        /// An adapter with which a language model writes the words of blanks.
        Infiller => "infiller",
        /// An adapter with which a language model answers whether words evoke frames.
        Verifier => "verifier",
    }
}

/// What a model directory holds, from its configuration and the headers of its weights.
#[derive(Debug, Clone, PartialEq)]
pub struct Description {
    /// The directory.
    pub path: PathBuf,
    /// What it is for.
    pub kind: ModelKind,
    /// `marian`, `bart`, `t5`, `bert`, `head`, `table` or `classifier`; `llama`, `qwen2`, `qwen3`
    /// or `gemma3`; `lora`.
    pub layout: &'static str,
    /// Bytes of its files.
    pub bytes: u64,
    /// How many numbers its weights are, by their format: `F32`, `F16`, `BF16`, `I8`, `Q4_0`.
    pub formats: BTreeMap<String, u64>,
    /// Of weights, configuration and tokenizer.
    pub fingerprint: Fingerprint,
    /// The licence that the weights' file names.
    pub licence: Option<String>,
    /// The languages that it is made for, where it declares them.
    pub languages: Option<Languages>,
}

impl Description {
    /// How many numbers its weights are.
    pub fn weights(&self) -> u64 {
        self.formats.values().sum()
    }
}

/// The fields by which kinds are told apart.
#[derive(Deserialize)]
struct Config {
    model_type: Option<String>,
    /// Networks over an encoder's states name it.
    encoder_fingerprint: Option<String>,
    /// What a tagger's network can answer.
    tags: Option<Vec<String>>,
    /// What is added to the score of no frame by a frame model.
    null_bias: Option<f32>,
    /// Words of the longest FE that a labeller finds.
    longest: Option<usize>,
}

impl Config {
    fn read(directory: &Path) -> Result<Self, ModelError> {
        let path = directory.join("config.json");
        let json = std::fs::read(&path).map_err(|source| ModelError::File {
            action: "read",
            path: path.clone(),
            source,
        })?;
        serde_json::from_slice(&json).map_err(|error| ModelError::Content {
            path,
            found: error.to_string(),
            expected: "the configuration of a model".to_owned(),
        })
    }

    /// Kind and layout.
    fn kind(&self, directory: &Path) -> Result<(ModelKind, &'static str), ModelError> {
        let layouts = Layout::ALL.map(|(name, _)| name);
        let found = match self.model_type.as_deref() {
            Some("bert") => return Ok((ModelKind::Encoder, "bert")),
            Some(vectors::MODEL_TYPE) => return Ok((ModelKind::WordVectors, "table")),
            Some(filter::MODEL_TYPE) => return Ok((ModelKind::Filter, "classifier")),
            Some(family) if let Some(layout) = language_layout(family) => {
                return Ok((ModelKind::LanguageModel, layout));
            }
            Some(family) => match layouts.iter().find(|name| **name == family) {
                Some(layout) => return Ok((ModelKind::Paraphraser, layout)),
                None => format!("`model_type` `{family}`"),
            },
            None if self.encoder_fingerprint.is_some() && self.tags.is_some() => {
                return Ok((ModelKind::Tagger, "head"));
            }
            None if self.encoder_fingerprint.is_some() && self.null_bias.is_some() => {
                return Ok((ModelKind::Identifier, "head"));
            }
            None if self.encoder_fingerprint.is_some() && self.longest.is_some() => {
                return Ok((ModelKind::Labeller, "head"));
            }
            None if self.encoder_fingerprint.is_some() => return Ok((ModelKind::Aligner, "head")),
            None => "no `model_type`".to_owned(),
        };
        let known: Vec<String> = layouts.iter().map(|name| format!("`{name}`")).collect();
        Err(ModelError::Content {
            path: directory.join("config.json"),
            found,
            expected: format!(
                "{}, `bert`, `word-vectors`, `filter`, or the head of an aligner, a tagger, a frame model or a labeller",
                known.join(", ")
            ),
        })
    }
}

/// Describes the model in a directory, or a GGUF file. Hashes every byte of its weights: about a
/// second a gigabyte.
///
/// # Errors
/// When it is no model of a known kind, or its weights are absent or no safetensors.
pub fn describe(directory: &Path) -> Result<Description, ModelError> {
    if !directory.join(CONFIG).is_file() {
        if is_adapter(directory) {
            return describe_adapter(directory);
        }
        let inside = if directory.is_dir() { gguf_in(directory) } else { None };
        if let Some(file) = inside.or_else(|| directory.is_file().then(|| directory.to_owned())) {
            return describe_gguf(directory, &file);
        }
    }
    let (kind, layout) = Config::read(directory)?.kind(directory)?;
    let of_weights = |source| ModelError::Weights { path: directory.to_owned(), source };
    let weights = Weights::open(directory).map_err(of_weights)?;
    Ok(Description {
        path: directory.to_owned(),
        kind,
        layout,
        bytes: files_of(directory)?.iter().map(|(_, bytes)| bytes).sum(),
        formats: weights.formats(),
        fingerprint: weights.fingerprint().map_err(of_weights)?,
        licence: None,
        languages: languages_of(directory)?,
    })
}

/// The languages that a model declares.
fn languages_of(path: &Path) -> Result<Option<Languages>, ModelError> {
    let wrong = |found| ModelError::Content {
        path: path.join(LANGUAGES),
        found,
        expected: "a list of tags".to_owned(),
    };
    declared_languages(path).languages.map_err(wrong)
}

/// The layout of a family of language models, by its name in a configuration or in a GGUF file.
fn language_layout(family: &str) -> Option<&'static str> {
    let layouts = LanguageLayout::ALL.into_iter();
    let mut found = layouts.filter(|(json, gguf, _)| [json, gguf].contains(&&family));
    found.next().map(|(_, gguf, _)| gguf)
}

fn describe_gguf(path: &Path, file: &Path) -> Result<Description, ModelError> {
    let of_weights = |source| ModelError::Weights { path: path.to_owned(), source };
    let of_file = |source: GgufError| of_weights(source.into());
    let gguf = Gguf::open(file).map_err(of_file)?;
    let architecture = gguf.text("general.architecture").map_err(of_file)?.unwrap_or("none");
    let layout = language_layout(architecture).ok_or_else(|| ModelError::Content {
        path: file.to_owned(),
        found: format!("`general.architecture` `{architecture}`"),
        expected: LanguageLayout::ALL.map(|(_, gguf, _)| format!("`{gguf}`")).join(", "),
    })?;
    let weights = Weights::open_gguf(&gguf).map_err(of_weights)?;
    Ok(Description {
        path: path.to_owned(),
        kind: ModelKind::LanguageModel,
        layout,
        bytes: files_of(path)?.iter().map(|(_, bytes)| bytes).sum(),
        formats: weights.formats(),
        fingerprint: weights.fingerprint().map_err(of_weights)?,
        licence: gguf.text("general.license").map_err(of_file)?.map(str::to_owned),
        languages: languages_of(path)?,
    })
}

fn describe_adapter(directory: &Path) -> Result<Description, ModelError> {
    let adapter = LanguageAdapter::read(directory)
        .map_err(|source| ModelError::Adapter { path: directory.to_owned(), source })?;
    Ok(Description {
        path: directory.to_owned(),
        kind: kind_of_adapter(directory),
        layout: "lora",
        bytes: files_of(directory)?.iter().map(|(_, bytes)| bytes).sum(),
        formats: adapter.formats(),
        fingerprint: adapter.fingerprint(),
        licence: None,
        languages: languages_of(directory)?,
    })
}

/// What an adapter is for, as its prompt says.
fn kind_of_adapter(directory: &Path) -> ModelKind {
    match fills_blanks(directory) {
        true => ModelKind::Infiller,
        false if has_questions(directory) => ModelKind::Verifier,
        false => ModelKind::Adapter,
    }
}

/// Whether an adapter's prompt is one of parts, by which the words of blanks are asked for; a
/// rewriter's has lines.
fn fills_blanks(directory: &Path) -> bool {
    let prompt = read_text(&directory.join(PROMPT)).unwrap_or_default();
    toml::from_str::<toml::Table>(&prompt).is_ok_and(|prompt| prompt.contains_key("part"))
}

/// Whether a path is a model: a GGUF file, or a directory with a configuration, an adapter or one
/// such file.
#[must_use]
pub fn is_model(path: &Path) -> bool {
    match path.is_dir() {
        true => path.join(CONFIG).is_file() || is_adapter(path) || gguf_in(path).is_some(),
        false => path.is_file() && path.extension().is_some_and(|end| end == "gguf"),
    }
}

/// The models in a directory of models, by name, with what is wrong where one cannot be described.
/// A directory that is not there has none; other folders are no models.
///
/// # Errors
/// When the directory cannot be read.
pub fn models_in(
    directory: &Path,
) -> Result<BTreeMap<String, Result<Description, ModelError>>, ModelError> {
    let read = |source| ModelError::File { action: "list", path: directory.to_owned(), source };
    let entries = match std::fs::read_dir(directory) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(BTreeMap::new()),
        entries => entries.map_err(read)?,
    };
    let mut models = BTreeMap::new();
    for entry in entries {
        let path = entry.map_err(read)?.path();
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
        // A hidden folder is a model that is being added, or none.
        let Some(name) = name.filter(|name| !name.starts_with('.')) else { continue };
        if path.is_dir() && is_model(&path) {
            models.insert(name, describe(&path));
        }
    }
    Ok(models)
}

/// The plain files of a directory with their sizes, by name; hidden ones are left out.
pub(super) fn files_of(directory: &Path) -> Result<Vec<(String, u64)>, ModelError> {
    let read = |source| ModelError::File { action: "list", path: directory.to_owned(), source };
    if directory.is_file() {
        let beside = directory.with_file_name(PROMPT);
        let of = |path: &Path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            Some((name, path.metadata().ok()?.len()))
        };
        return Ok([directory, &beside].into_iter().filter_map(of).collect());
    }
    let mut files = Vec::new();
    for entry in std::fs::read_dir(directory).map_err(read)? {
        let path = entry.map_err(read)?.path();
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
        let Some(name) = name.filter(|name| !name.starts_with('.')) else { continue };
        match path.metadata() {
            Ok(metadata) if metadata.is_file() => files.push((name, metadata.len())),
            Ok(_) => {}
            // A link that leads nowhere, or a file that is gone: whoever needs it will say so.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(read(error)),
        }
    }
    files.sort_unstable();
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parity(name: &str) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/parity").join(name)
    }

    #[test]
    fn models_are_told_apart_by_their_configuration() {
        let models = models_in(&parity("")).unwrap();
        let kinds: Vec<(&str, ModelKind, &str)> = models
            .iter()
            .filter(|(_, model)| model.is_ok())
            .map(|(name, model)| {
                let model = model.as_ref().unwrap();
                (name.as_str(), model.kind, model.layout)
            })
            .collect();
        let (encoder, rewriter) = (ModelKind::Encoder, ModelKind::Paraphraser);
        let language = ModelKind::LanguageModel;
        assert_eq!(
            kinds,
            [
                ("bart", rewriter, "bart"),
                ("bert", encoder, "bert"),
                ("flan-t5", rewriter, "t5"),
                ("gemma3", language, "gemma3"),
                ("llama", language, "llama"),
                ("llama3", language, "llama"),
                ("lora", ModelKind::Adapter, "lora"),
                ("marian", rewriter, "marian"),
                ("qwen2", language, "qwen2"),
                ("qwen3", language, "qwen3"),
                ("t5", rewriter, "t5")
            ]
        );
        let marian = models["marian"].as_ref().unwrap();
        assert_eq!(marian.languages, None, "nothing declares them");
        assert_eq!(marian.formats.keys().collect::<Vec<_>>(), ["F16"]);
        // Two bytes a weight, and the header.
        let weights = parity("marian").join("model.safetensors").metadata().unwrap().len();
        assert!((weights - 2 * marian.weights()) < 20_000 && marian.bytes > weights);
    }

    #[test]
    fn what_is_no_model_is_said() {
        assert!(models_in(Path::new("/nowhere")).unwrap().is_empty());
        let directory = tempfile::tempdir().unwrap();
        let write =
            |text: &str| std::fs::write(directory.path().join("config.json"), text).unwrap();
        let error = || describe(directory.path()).unwrap_err().to_string();
        assert!(error().contains("cannot read"), "{}", error());
        write("{}");
        assert!(error().contains("found no `model_type`"), "{}", error());
        write("{\"model_type\": \"gpt2\"}");
        assert!(error().contains("`gpt2`") && error().contains("`marian`, `bart`, `t5`"));
        write("[");
        assert!(error().contains("expected the configuration of a model"), "{}", error());
        write("{\"model_type\": \"t5\"}");
        assert!(error().contains("cannot read the weights"), "{}", error());
    }

    #[test]
    fn every_shipped_model_is_declared_to_be_english() {
        let shipped = Path::new(env!("CARGO_MANIFEST_DIR")).join("models");
        let models = models_in(&shipped).unwrap();
        assert_eq!(models.len(), 12);
        for (name, model) in models {
            let languages = model.unwrap().languages;
            assert_eq!(
                languages.and_then(|of| of.only().map(str::to_owned)).as_deref(),
                Some("en"),
                "{name}"
            );
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_link_that_leads_nowhere_and_hidden_files_are_left_out() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        std::fs::write(at("config.json"), "{}").unwrap();
        std::fs::write(at(".hidden"), "").unwrap();
        std::fs::create_dir(at("folder")).unwrap();
        for name in ["nowhere", ".loop"] {
            std::os::unix::fs::symlink(at("absent"), at(name)).unwrap();
        }
        assert_eq!(files_of(directory.path()).unwrap(), [("config.json".to_owned(), 2)]);
    }
}
