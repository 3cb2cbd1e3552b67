//! The adapter with which a language model fills blanks.

use std::path::{Path, PathBuf};

use fnstore::durable::Stamp;
use fnstore::engine::LanguageAdapter;
use fnstore::generate::{GenerationPrompt, TrainedFiller, stamped};
use fnstore::models::find;
use fnstore::paraphrase::{base_of, is_adapter};
use fnstore::score::Scorer;

use super::GeneratorArgs;
use crate::cli::options::locate;

/// Name of the adapter that comes with the program.
pub(crate) const INFILLER: &str = "infill";
/// The prompt that an adapter learnt, beside it.
const PROMPT: &str = "prompt.toml";

/// An adapter that was trained for infilling, and the language model that it was trained on.
pub(super) struct Trained {
    adapter: PathBuf,
    pub(super) base: PathBuf,
}

impl Trained {
    /// The adapter that `--model` names; without a name the usual one, where its language model is
    /// at hand. None where another kind of model is named.
    pub(super) fn find(args: &GeneratorArgs) -> anyhow::Result<Option<Self>> {
        let dirs = locate::model_dirs(args.models.clone());
        let name = args.model.as_deref().unwrap_or(INFILLER);
        let Some(adapter) = find(Path::new(name), &dirs).filter(|place| is_adapter(place)) else {
            return Ok(None);
        };
        match base_of(&adapter, &dirs) {
            Ok(base) => Ok(base.map(|base| Self { adapter, base })),
            Err(error) if args.model.is_some() => Err(error.into()),
            Err(_) => Ok(None),
        }
    }

    pub(super) fn prompt(&self) -> PathBuf {
        self.adapter.join(PROMPT)
    }

    /// The files of the adapter.
    pub(super) fn files(&self) -> std::io::Result<Vec<(PathBuf, Stamp)>> {
        stamped(&self.adapter)
    }

    /// Opens both; `prompt` is what the model is asked by.
    pub(super) fn open(
        &self,
        args: &GeneratorArgs,
        prompt: GenerationPrompt,
    ) -> anyhow::Result<TrainedFiller> {
        let adapter = LanguageAdapter::read(&self.adapter)?;
        let device = args.device.open()?;
        let writer = Scorer::open_with(&self.base, Some(adapter), &device, args.numbers)?;
        Ok(TrainedFiller::new(writer, prompt))
    }
}
