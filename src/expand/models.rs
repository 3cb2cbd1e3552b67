//! Where the models of an expansion lie.

use std::path::{Path, PathBuf};

use super::ExpandError;
use crate::align::encoder_of;
use crate::endpoint::EndpointSettings;
use crate::paraphrase::{base_of, is_adapter};
use crate::verify::has_questions;

/// Directory name of the rewriter.
const PARAPHRASER: &str = "paraphrase";
/// Directory name of the aligner's head.
const ALIGNER: &str = "aligner";
/// Directory name of the word vectors.
pub const WORD_VECTORS: &str = "word-vectors";
/// Directory name of the tagger.
const TAGGER: &str = "tagger";
/// Directory name of the frame model.
const FRAMES: &str = "frames";
/// Directory name of the verifier.
const VERIFIER: &str = "verifier";
/// Directory name of the filter.
pub const FILTER: &str = "filter";

/// Where the rewriter is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RewriterSource {
    /// In a directory.
    Model {
        /// An encoder-decoder with its tokenizer, a language model with its prompt, or an adapter.
        directory: PathBuf,
        /// The language model that an adapter was trained on.
        base: Option<PathBuf>,
    },
    /// Behind a server. Its address, model and question are part of the recipe, its key is not.
    Server(EndpointSettings),
}

impl RewriterSource {
    /// The model in a directory; that which an adapter needs is in the first of several directories
    /// that has it.
    ///
    /// # Errors
    /// When none has it.
    pub fn in_directory(directory: PathBuf, dirs: &[PathBuf]) -> Result<Self, ExpandError> {
        let base = base_of(&directory, dirs)?;
        Ok(Self::Model { directory, base })
    }
}

/// The models, by their directories.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Models {
    /// What rewrites.
    pub rewriter: RewriterSource,
    /// The aligner's head.
    pub aligner: PathBuf,
    /// The encoder that the head was trained on.
    pub encoder: PathBuf,
    /// Those by which the lexicon guides an expansion, which can do without.
    pub guide: Option<GuideModels>,
    /// The filter that scores what is written; it decides nothing.
    pub filter: Option<PathBuf>,
    /// The frame model, of which a recipe can ask how likely the seed's frame is.
    pub frames: Option<FrameModels>,
    /// The verifier, by which a recipe can choose among outputs.
    pub verifier: Option<VerifierModels>,
}

/// Where the verifier is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerifierModels {
    /// Its directory.
    pub adapter: PathBuf,
    /// The language model that it was trained on.
    pub base: PathBuf,
}

impl VerifierModels {
    /// The verifier in the first of several directories that has one; none where it or its language
    /// model is absent, which hinders only a recipe that asks.
    #[must_use]
    pub fn search(dirs: &[PathBuf]) -> Option<Self> {
        let mut places = dirs.iter().map(|dir| dir.join(VERIFIER));
        let adapter = places.find(|place| is_adapter(place) && has_questions(place))?;
        let base = base_of(&adapter, dirs).ok()??;
        Some(Self { adapter, base })
    }
}

/// The directories of the frame model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FrameModels {
    /// The network.
    pub identifier: PathBuf,
    /// The encoder that it was trained on.
    pub encoder: PathBuf,
}

impl FrameModels {
    /// Each model in the first of several directories that has it; none where one of them is
    /// absent, which hinders only a recipe that asks.
    #[must_use]
    pub fn search(dirs: &[PathBuf]) -> Option<Self> {
        let identifier = find(dirs, FRAMES).ok()?;
        let encoder = encoder(&identifier, dirs).ok()?;
        Some(Self { identifier, encoder })
    }
}

/// The directories of the models by which the lexicon guides an expansion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GuideModels {
    /// Word vectors, which know words that may evoke a frame.
    pub word_vectors: PathBuf,
    /// A part-of-speech tagger.
    pub tagger: PathBuf,
    /// The encoder that the tagger was trained on.
    pub encoder: PathBuf,
}

impl GuideModels {
    /// Each model in the first of several directories that has it.
    ///
    /// # Errors
    /// When none has one of them.
    pub fn search(dirs: &[PathBuf]) -> Result<Self, ExpandError> {
        let tagger = find(dirs, TAGGER)?;
        let encoder = encoder(&tagger, dirs)?;
        Ok(Self { word_vectors: find(dirs, WORD_VECTORS)?, tagger, encoder })
    }
}

impl Models {
    /// The models in one directory: `paraphrase/`, `aligner/`, the encoder that the aligner's head
    /// names, and, where they are there, `word-vectors/`, `tagger/` and its encoder, `filter/`,
    /// `frames/` and its encoder.
    ///
    /// # Errors
    /// When one of the others is not there.
    pub fn open(dir: &Path) -> Result<Self, ExpandError> {
        Self::search(&[dir.to_owned()])
    }

    /// Each model in the first of several directories that has it.
    ///
    /// # Errors
    /// When none has one of them.
    pub fn search(dirs: &[PathBuf]) -> Result<Self, ExpandError> {
        let directory = find(dirs, PARAPHRASER)?;
        Self::search_with(RewriterSource::in_directory(directory, dirs)?, dirs)
    }

    /// A rewriter of another name or from elsewhere, and the others as in [`search`](Self::search).
    /// A server's answers get no scores of a filter, which wants to know how likely they are.
    ///
    /// # Errors
    /// When no directory has one of these, or the head or the tagger does not say which encoder it
    /// stands on.
    pub fn search_with(rewriter: RewriterSource, dirs: &[PathBuf]) -> Result<Self, ExpandError> {
        let aligner = find(dirs, ALIGNER)?;
        let encoder = encoder(&aligner, dirs)?;
        let guide = match GuideModels::search(dirs) {
            Err(ExpandError::ModelMissing { .. }) => None,
            found => Some(found?),
        };
        let is_scored = matches!(rewriter, RewriterSource::Model { .. });
        let filter = find(dirs, FILTER).ok().filter(|_| is_scored);
        let (frames, verifier) = (FrameModels::search(dirs), VerifierModels::search(dirs));
        Ok(Self { rewriter, aligner, encoder, guide, filter, frames, verifier })
    }
}

/// The encoder that a head or a tagger names.
fn encoder(model: &Path, dirs: &[PathBuf]) -> Result<PathBuf, ExpandError> {
    encoder_of(model, dirs).map_err(|source| ExpandError::Align { seed: None, source })
}

fn find(dirs: &[PathBuf], name: &str) -> Result<PathBuf, ExpandError> {
    let here =
        |dir: &PathBuf| Some(dir.join(name)).filter(|path| path.join("config.json").is_file());
    dirs.iter()
        .find_map(here)
        .ok_or_else(|| ExpandError::ModelMissing { name: name.to_owned(), searched: dirs.to_vec() })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHIPPED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/models/aligner/config.json");

    fn put(dir: &Path, name: &str, config: &str) {
        std::fs::create_dir(dir.join(name)).unwrap();
        std::fs::write(dir.join(name).join("config.json"), config).unwrap();
    }

    #[test]
    fn each_model_comes_from_the_first_directory_that_has_it() {
        let (a, b) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        put(a.path(), PARAPHRASER, "{}");
        put(b.path(), PARAPHRASER, "{}");
        let head = std::fs::read_to_string(SHIPPED).unwrap();
        let head = head.replacen("\"encoder\": \"", "\"encoder\": \"another-", 1);
        put(b.path(), ALIGNER, &head);
        let dirs = [a.path().to_owned(), b.path().to_owned()];
        let error = Models::search(&dirs).unwrap_err();
        let source = std::error::Error::source(&error).map(ToString::to_string);
        assert!(source.is_some_and(|why| why.contains("another-")), "{error}");
        let named =
            head.split("\"another-").nth(1).and_then(|rest| rest.split('"').next()).unwrap();
        let encoder = format!("another-{named}");
        put(b.path(), &encoder, "{}");
        let models = Models::search(&dirs).unwrap();
        let directory = a.path().join(PARAPHRASER);
        assert_eq!(models.rewriter, RewriterSource::Model { directory, base: None });
        assert_eq!(models.encoder, b.path().join(encoder));
        let message = Models::open(a.path()).unwrap_err().to_string();
        assert!(message.contains("no model `aligner`"), "{message}");
    }
}
