//! Which frame model identifies frames, and where.

use std::path::{Path, PathBuf};

use fnstore::compute::Device;
use fnstore::identify::FrameIdentifier;
use fnstore::label::Labeller;
use fnstore::lexicon::Lexicon;
use fnstore::tag::Tagger;

use super::device::DeviceArgs;
use super::locate;
use super::tagger::TAGGER;
use crate::cli::print::output::tell;

/// Name of the shipped frame model.
pub(crate) const IDENTIFIER: &str = "frames";

/// The frame model that ships, where it is at hand, for few sentences.
pub(crate) fn at_hand() -> anyhow::Result<Option<FrameIdentifier>> {
    let dirs = locate::model_dirs(None);
    let mut places = dirs.iter().map(|dir| dir.join(IDENTIFIER));
    let Some(model) = places.find(|place| place.join("config.json").is_file()) else {
        return Ok(None);
    };
    let encoder = locate::encoder(None, &model, &dirs)?;
    Ok(Some(FrameIdentifier::open(&model, &encoder, &Device::cpu())?))
}

/// Which frame model identifies frames, and where.
#[derive(Debug, clap::Args)]
pub(crate) struct IdentifierArgs {
    /// Directory of the frame model, or its name among the models
    #[arg(long, value_name = "DIR|NAME", default_value = IDENTIFIER)]
    identifier: PathBuf,

    /// Directory of the encoder, or its name among the models [default: the one that the model
    /// names]
    #[arg(long, value_name = "DIR|NAME")]
    encoder: Option<PathBuf>,

    /// Directory that holds the models
    #[arg(long, value_name = "DIR")]
    models: Option<PathBuf>,

    #[command(flatten)]
    device: DeviceArgs,
}

impl IdentifierArgs {
    /// Opens a labeller of FEs beside it, on the same device; its encoder is the one that it names.
    pub(crate) fn open_labeller(&self, labeller: &Path) -> anyhow::Result<Labeller> {
        let dirs = locate::model_dirs(self.models.clone());
        let model = locate::model(labeller, &dirs)?;
        let encoder = locate::encoder(self.encoder.as_deref(), &model, &dirs)?;
        Ok(Labeller::open(&model, &encoder, &self.device.open()?)?)
    }

    /// Opens a tagger beside it, on the same device; its encoder is the one that it names. There is
    /// none where the shipped one is not at hand, and where it is made for another language than
    /// the release.
    pub(crate) fn open_tagger(
        &self,
        tagger: &Path,
        lexicon: &Lexicon<'_>,
    ) -> anyhow::Result<Option<Tagger>> {
        let dirs = locate::model_dirs(self.models.clone());
        let is_asked_for = tagger.as_os_str() != TAGGER;
        let model = match locate::model(tagger, &dirs) {
            Ok(model) => model,
            Err(error) if is_asked_for => return Err(error),
            Err(error) => {
                tell(&format!("targets are found without parts of speech: {error:#}"));
                return Ok(None);
            }
        };
        let encoder = locate::encoder(None, &model, &dirs)?;
        let tagger = Tagger::open(&model, &encoder, &self.device.open()?)?;
        match lexicon.check_language(tagger.declared()) {
            Err(error) if is_asked_for => Err(error.into()),
            checked => Ok(checked.is_ok().then_some(tagger)),
        }
    }

    /// Opens the frame model with its encoder.
    pub(crate) fn open(&self) -> anyhow::Result<FrameIdentifier> {
        let dirs = locate::model_dirs(self.models.clone());
        let model = locate::model(&self.identifier, &dirs)?;
        let encoder = locate::encoder(self.encoder.as_deref(), &model, &dirs)?;
        Ok(FrameIdentifier::open(&model, &encoder, &self.device.open()?)?)
    }
}
