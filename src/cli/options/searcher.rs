//! Which models look for new LUs, and where they are.

use std::path::{Path, PathBuf};

use fnstore::engine::{Device, Numbers};
use fnstore::expand::VerifierModels;
use fnstore::models::{ADAPTER, VERIFIER};
use fnstore::paraphrase::{Paraphraser, base_of};
use fnstore::vectors::WordVectors;
use fnstore::verify::Verifier;

use super::device::DeviceArgs;
use super::named::named;
use super::{locate, verifier};
use crate::cli::error::is_absence;

/// Which models are asked for words, and about them.
#[derive(Debug, clap::Args)]
pub(crate) struct SearcherArgs {
    /// Directory of the verifier, or its name among the models
    #[arg(long, value_name = "DIR|NAME", default_value = VERIFIER)]
    verifier: PathBuf,

    /// Directory of the rewriter that is asked for words, or its name among the models [default:
    /// `rewriter`, where it is at hand]
    #[arg(long, value_name = "DIR|NAME")]
    rewriter: Option<PathBuf>,

    /// Take no words of a rewriter
    #[arg(long, conflicts_with = "rewriter")]
    no_rewriter: bool,

    /// Directory that holds the models
    #[arg(long, value_name = "DIR")]
    models: Option<PathBuf>,

    #[command(flatten)]
    device: DeviceArgs,

    /// Number format of the verifier; f32 is the slowest and the most exact
    #[arg(long, value_parser = named::<Numbers>(), default_value_t = Numbers::default())]
    numbers: Numbers,
}

/// The models that a search asks.
pub(crate) struct SearchModels {
    pub(crate) verifier: Option<Verifier>,
    /// Why there is no verifier.
    pub(crate) unasked: Option<String>,
    pub(crate) rewriter: Option<Paraphraser>,
    pub(crate) vectors: Option<WordVectors>,
    /// Where models are looked for.
    pub(crate) dirs: Vec<PathBuf>,
    pub(crate) device: Device,
    pub(crate) numbers: Numbers,
}

impl SearcherArgs {
    /// Opens all models that are at hand.
    pub(crate) fn open(&self) -> anyhow::Result<SearchModels> {
        let mut models = self.open_vectors()?;
        models.device = self.device.open()?;
        let on = (&models.device, self.numbers);
        models.rewriter = match &self.rewriter {
            Some(named) => Some(rewriter(named, &models.dirs, on)?),
            None if self.no_rewriter => None,
            None => at_hand(rewriter(ADAPTER.as_ref(), &models.dirs, on))?,
        };
        match verifier::models(&self.verifier, &models.dirs) {
            Err(why) if self.verifier.as_os_str() == VERIFIER && is_absence(&why) => {
                models.unasked = Some(format!("{why:#}"));
            }
            found => {
                let VerifierModels { adapter, base } = found?;
                let beside = models.rewriter.as_ref().and_then(Paraphraser::language_model);
                models.verifier = Some(Verifier::open_beside(beside, (&adapter, &base), on)?);
            }
        }
        Ok(models)
    }

    /// Opens the word vectors alone, which need no device.
    pub(crate) fn open_vectors(&self) -> anyhow::Result<SearchModels> {
        let dirs = locate::model_dirs(self.models.clone());
        let vectors = locate::word_vectors(&dirs)?;
        Ok(SearchModels {
            verifier: None,
            unasked: None,
            rewriter: None,
            vectors,
            dirs,
            device: Device::cpu(),
            numbers: self.numbers,
        })
    }
}

/// What was opened, if it is there; what is damaged is an error.
pub(crate) fn at_hand<T>(opened: anyhow::Result<T>) -> anyhow::Result<Option<T>> {
    match opened {
        Err(why) if is_absence(&why) => Ok(None),
        opened => opened.map(Some),
    }
}

fn rewriter(
    named: &Path,
    dirs: &[PathBuf],
    (device, numbers): (&Device, Numbers),
) -> anyhow::Result<Paraphraser> {
    let directory = locate::model(named, dirs)?;
    let base = base_of(&directory, dirs)?;
    Ok(Paraphraser::open_with(&directory, base.as_deref(), device, numbers)?)
}
