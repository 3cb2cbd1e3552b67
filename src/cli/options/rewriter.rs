//! Which rewriter rewrites, and where: what `paraphrase`, `expand` and `augment` are told alike.

use std::path::PathBuf;

use super::named::named;
use fnstore::engine::Numbers;
use fnstore::paraphrase::{Crew, Paraphraser, base_of};

use super::device::DeviceArgs;
use super::locate;

#[derive(Debug, clap::Args)]
pub(crate) struct RewriterArgs {
    /// Directory of the rewriter, or its name among the models [default: chosen by `fnstore model
    /// use`, else the shipped one]
    #[arg(long, value_name = "DIR|NAME")]
    pub(crate) model: Option<PathBuf>,

    /// Directory that holds the models
    #[arg(long, value_name = "DIR")]
    pub(crate) models: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) device: DeviceArgs,

    /// Number format of the rewriter; f32 is the slowest and the most exact [default: blocks]
    #[arg(long, value_parser = named::<Numbers>())]
    pub(crate) numbers: Option<Numbers>,
}

impl RewriterArgs {
    /// The number format that is asked for, else the default.
    pub(crate) fn numbers(&self) -> Numbers {
        self.numbers.unwrap_or_default()
    }

    pub(crate) fn open(&self) -> anyhow::Result<Paraphraser> {
        let (model, base) = self.find()?;
        Ok(Paraphraser::open_with(&model, base.as_deref(), &self.device.open()?, self.numbers())?)
    }

    /// Opens it for sentences that do not wait for each other.
    pub(crate) fn open_crew(&self) -> anyhow::Result<Crew> {
        let (model, base) = self.find()?;
        Ok(Crew::open_with(&model, base.as_deref(), &self.device.open()?, self.numbers())?)
    }

    /// The rewriter's directory, and that of the model which it adapts.
    fn find(&self) -> anyhow::Result<(PathBuf, Option<PathBuf>)> {
        let dirs = locate::model_dirs(self.models.clone());
        let model = locate::rewriter(self.model.as_deref(), &dirs)?;
        let base = base_of(&model, &dirs)?;
        Ok((model, base))
    }
}
