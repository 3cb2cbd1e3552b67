//! Which verifier is asked about sets, and where; and which rewriter, backwards.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use fnstore::engine::Numbers;
use fnstore::expand::{Judges, VerifierModels};
use fnstore::models::{ADAPTER, VERIFIER};
use fnstore::paraphrase::{ParaphraseError, Paraphraser, base_of};

use super::device::DeviceArgs;
use super::locate;
use super::named::named;
use crate::cli::print::output::tell;

/// Which verifier answers.
#[derive(Debug, clap::Args)]
pub(crate) struct VerifierArgs {
    /// Directory of the verifier, or its name among the models
    #[arg(long, value_name = "DIR|NAME", default_value = VERIFIER)]
    verifier: PathBuf,

    /// Directory of the rewriter that is asked how likely sources are, or its name among the
    /// models [default: `rewriter`, where it is at hand]
    #[arg(long, value_name = "DIR|NAME")]
    rewriter: Option<PathBuf>,

    /// Directory that holds the models
    #[arg(long, value_name = "DIR")]
    models: Option<PathBuf>,

    #[command(flatten)]
    device: DeviceArgs,

    /// Number format of both; f32 is the slowest and the most exact
    #[arg(long, value_parser = named::<Numbers>(), default_value_t = Numbers::default())]
    numbers: Numbers,
}

impl VerifierArgs {
    /// Opens both.
    pub(crate) fn open(&self) -> anyhow::Result<Judges> {
        let dirs = locate::model_dirs(self.models.clone());
        let device = self.device.open()?;
        let of_adapter = |directory: PathBuf| -> anyhow::Result<Paraphraser> {
            let base = base_of(&directory, &dirs)?;
            Ok(Paraphraser::open_with(&directory, base.as_deref(), &device, self.numbers)?)
        };
        let rewriter = match &self.rewriter {
            Some(rewriter) => {
                let rewriter = of_adapter(locate::model(rewriter, &dirs)?)?;
                rewriter.language_model().ok_or(ParaphraseError::NoPrompt)?;
                Some(rewriter)
            }
            None => match locate::model(ADAPTER.as_ref(), &dirs).and_then(of_adapter) {
                Ok(rewriter) => Some(rewriter),
                Err(why) => {
                    tell(&format!("nothing is said of `reverse`: {why:#}"));
                    None
                }
            },
        };
        let VerifierModels { adapter, base } = models(&self.verifier, &dirs)?;
        Ok(Judges::open((&adapter, &base), rewriter, (&device, self.numbers))?)
    }
}

/// Where a verifier of a name is, and the language model that it was trained on.
pub(crate) fn models(name: &Path, dirs: &[PathBuf]) -> anyhow::Result<VerifierModels> {
    let adapter = locate::model(name, dirs)?;
    let base = base_of(&adapter, dirs)?.with_context(|| {
        format!("`{}` is no adapter, which every verifier is", adapter.display())
    })?;
    Ok(VerifierModels { adapter, base })
}
