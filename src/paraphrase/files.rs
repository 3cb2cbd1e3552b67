//! Where the parts of a rewriter lie: an encoder-decoder's directory, or a language model, perhaps
//! an adapter, and the prompt beside one of them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::prompt::PROMPT;
use super::{Network, ParaphraseError, Paraphraser, Prompt};
use crate::engine::{
    ADAPTER_CONFIG, Device, LanguageAdapter, LanguageModel, NnError, Numbers, WORDS, tokenizer_of,
};
use crate::text::input::read_text;

/// Whether a directory holds a language model's adapter.
#[must_use]
pub fn is_adapter(directory: &Path) -> bool {
    directory.join(ADAPTER_CONFIG).is_file()
}

/// The one GGUF file of a directory; of several nobody can say which.
#[must_use]
pub fn gguf_in(directory: &Path) -> Option<PathBuf> {
    let files = std::fs::read_dir(directory).ok()?.filter_map(|entry| Some(entry.ok()?.path()));
    let mut files = files.filter(|file| file.extension().is_some_and(|end| end == "gguf"));
    files.next().filter(|_| files.next().is_none())
}

/// The language model that a rewriter's adapter was trained on, in the first of several directories
/// of models that has it; none for a rewriter that needs none.
///
/// # Errors
/// When the adapter cannot be read, or no directory has the model.
pub fn base_of(rewriter: &Path, models: &[PathBuf]) -> Result<Option<PathBuf>, ParaphraseError> {
    if !is_adapter(rewriter) {
        return Ok(None);
    }
    let open = |source| ParaphraseError::Open { path: rewriter.display().to_string(), source };
    let adapter = LanguageAdapter::read(rewriter).map_err(open)?;
    let mut other = None;
    for file in models.iter().flat_map(|models| files_named(models, adapter.base_name())) {
        match adapter.check_base(&file) {
            Ok(()) => return Ok(Some(file)),
            Err(error) => other = other.or(Some(error)),
        }
    }
    Err(match other {
        Some(error) => open(error),
        None => ParaphraseError::BaseMissing {
            adapter: rewriter.to_owned(),
            base: adapter.base_name().to_owned(),
            searched: models.to_vec(),
        },
    })
}

/// The files of a name in the folders of a directory, in the order of the folders' names.
fn files_named(models: &Path, name: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(models).into_iter().flatten().flatten();
    let files = entries.map(|entry| entry.path().join(name)).filter(|file| file.is_file());
    let mut files: Vec<PathBuf> = files.collect();
    files.sort_unstable();
    files
}

impl Paraphraser<Network> {
    /// Joins a language model, perhaps with an adapter, and the prompt and the words that lie
    /// beside the adapter or else beside the model.
    pub(super) fn of_language_model(
        model: &Path,
        adapter: Option<&Path>,
        device: &Device,
        numbers: Numbers,
    ) -> Result<Self, ParaphraseError> {
        let of = adapter.unwrap_or(model);
        let open =
            |source: NnError| ParaphraseError::Open { path: of.display().to_string(), source };
        let own = if model.is_dir() { Some(model) } else { model.parent() };
        let beside = adapter.or(own).unwrap_or(Path::new(""));
        let (prompt, words) = (Prompt::read(beside)?, read_words(&beside.join(WORDS))?);
        let adapter = adapter.map(LanguageAdapter::read).transpose().map_err(open)?;
        let (tokenizer, begins_with_start) = tokenizer_of::<ParaphraseError>(model)?;
        let stop = prompt.stop_token(&tokenizer)?;
        let opened = LanguageModel::open_with(model, adapter.map(Arc::new), device, numbers);
        let network = opened.map_err(open)?.ending_at(stop);
        let start = network.config().start_token.filter(|_| begins_with_start);
        let network = Network::LanguageModel(Box::new(network));
        let rewriter = Self::new(network, tokenizer)?.with_prompt(prompt, start)?;
        Ok(match words {
            Some(words) => rewriter.with_words(words.lines()),
            None => rewriter,
        })
    }
}

/// A list of words, a line each; `None` where there is none.
pub(super) fn read_words(path: &Path) -> Result<Option<String>, ParaphraseError> {
    match read_text(path) {
        Ok(words) => Ok(Some(words)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(ParaphraseError::Words { path: path.display().to_string(), source }),
    }
}

/// Whether a directory or file is a language model with a prompt of its own.
pub(super) fn language_model_of(path: &Path) -> Option<PathBuf> {
    if path.is_file() {
        return Some(path.to_owned());
    }
    gguf_in(path).or_else(|| path.join(PROMPT).is_file().then(|| path.to_owned()))
}
