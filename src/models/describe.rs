//! What a model directory holds.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::ModelError;
use crate::nn::{Fingerprint, Layout, Weights};
use crate::{filter, vectors};

/// What a model is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Kind {
    /// An encoder-decoder that rewrites sentences.
    Paraphraser,
    /// An encoder of the BERT family, whose states the aligner reads.
    Encoder,
    /// The aligner's head, trained on the states of one encoder.
    Aligner,
    /// A part-of-speech tagger, trained on the states of one encoder.
    Tagger,
    /// Word vectors, which know what words mean alike.
    WordVectors,
    /// Two classifiers that say which generated sets to keep.
    Filter,
}

impl Kind {
    /// Its name in output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Paraphraser => "paraphraser",
            Self::Encoder => "encoder",
            Self::Aligner => "aligner",
            Self::Tagger => "tagger",
            Self::WordVectors => "word-vectors",
            Self::Filter => "filter",
        }
    }
}

/// What a model directory holds, from its configuration and the headers of its weights.
#[derive(Debug, Clone, PartialEq)]
pub struct Description {
    /// The directory.
    pub path: PathBuf,
    /// What it is for.
    pub kind: Kind,
    /// `marian`, `bart`, `t5`, `bert`, `head`, `table` or `classifier`.
    pub layout: &'static str,
    /// Bytes of its files.
    pub bytes: u64,
    /// How many numbers its weights are, by their format: `F32`, `F16`, `BF16`, `I8`.
    pub formats: BTreeMap<String, u64>,
    /// Of weights, configuration and tokenizer.
    pub fingerprint: Fingerprint,
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
    /// A head and a tagger know their encoder.
    encoder_fingerprint: Option<String>,
    /// What a tagger's network can answer.
    tags: Option<Vec<String>>,
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
    fn kind(&self, directory: &Path) -> Result<(Kind, &'static str), ModelError> {
        let layouts = Layout::ALL.map(|(name, _)| name);
        let found = match self.model_type.as_deref() {
            Some("bert") => return Ok((Kind::Encoder, "bert")),
            Some(vectors::MODEL_TYPE) => return Ok((Kind::WordVectors, "table")),
            Some(filter::MODEL_TYPE) => return Ok((Kind::Filter, "classifier")),
            Some(family) => match layouts.iter().find(|name| **name == family) {
                Some(layout) => return Ok((Kind::Paraphraser, layout)),
                None => format!("`model_type` `{family}`"),
            },
            None if self.encoder_fingerprint.is_some() && self.tags.is_some() => {
                return Ok((Kind::Tagger, "head"));
            }
            None if self.encoder_fingerprint.is_some() => return Ok((Kind::Aligner, "head")),
            None => "no `model_type`".to_owned(),
        };
        let known: Vec<String> = layouts.iter().map(|name| format!("`{name}`")).collect();
        Err(ModelError::Content {
            path: directory.join("config.json"),
            found,
            expected: format!(
                "{}, `bert`, `word-vectors`, `filter`, or the head of an aligner or a tagger",
                known.join(", ")
            ),
        })
    }
}

/// Describes the model in a directory. Hashes every byte of its weights: about a second a gigabyte.
///
/// # Errors
/// When it is no model of a known kind, or its weights are absent or no safetensors.
pub fn describe(directory: &Path) -> Result<Description, ModelError> {
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
    })
}

/// The models in a directory of models, by name, with what is wrong where one cannot be described. A
/// directory that is not there has none; folders without a `config.json` are no models.
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
        if path.join("config.json").is_file() {
            models.insert(name, describe(&path));
        }
    }
    Ok(models)
}

/// The plain files of a directory with their sizes, by name; hidden ones are left out.
pub(super) fn files_of(directory: &Path) -> Result<Vec<(String, u64)>, ModelError> {
    let read = |source| ModelError::File { action: "list", path: directory.to_owned(), source };
    let mut files = Vec::new();
    for entry in std::fs::read_dir(directory).map_err(read)? {
        let path = entry.map_err(read)?.path();
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
        let Some(name) = name.filter(|name| !name.starts_with('.')) else { continue };
        match path.metadata() {
            Ok(metadata) if metadata.is_file() => files.push((name, metadata.len())),
            Ok(_) => {}
            // A link that leads nowhere, or a file that went meanwhile: whoever needs it will say so.
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
        // Language models stand beside them, which this list does not describe.
        let kinds: Vec<(&str, Kind, &str)> = models
            .iter()
            .filter(|(_, model)| model.is_ok())
            .map(|(name, model)| {
                let model = model.as_ref().unwrap();
                (name.as_str(), model.kind, model.layout)
            })
            .collect();
        let (encoder, rewriter) = (Kind::Encoder, Kind::Paraphraser);
        assert_eq!(
            kinds,
            [
                ("bart", rewriter, "bart"),
                ("bert", encoder, "bert"),
                ("flan-t5", rewriter, "t5"),
                ("marian", rewriter, "marian"),
                ("t5", rewriter, "t5")
            ]
        );
        let marian = models["marian"].as_ref().unwrap();
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
