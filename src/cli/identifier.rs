//! Which frame model identifies frames, and where.

use std::path::{Path, PathBuf};

use fnstore::compute::Device;
use fnstore::identify::FrameIdentifier;
use fnstore::label::Labeller;

use super::device::DeviceArgs;
use super::locate;

/// Name of the shipped frame model.
pub(super) const IDENTIFIER: &str = "frames";

/// The frame model that ships, where it is at hand, for few sentences.
pub(super) fn at_hand() -> anyhow::Result<Option<FrameIdentifier>> {
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
pub(super) struct IdentifierArgs {
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
    pub(super) fn open_labeller(&self, labeller: &Path) -> anyhow::Result<Labeller> {
        let dirs = locate::model_dirs(self.models.clone());
        let model = locate::model(labeller, &dirs)?;
        let encoder = locate::encoder(self.encoder.as_deref(), &model, &dirs)?;
        Ok(Labeller::open(&model, &encoder, &self.device.open()?)?)
    }

    /// Opens the frame model with its encoder.
    pub(super) fn open(&self) -> anyhow::Result<FrameIdentifier> {
        let dirs = locate::model_dirs(self.models.clone());
        let model = locate::model(&self.identifier, &dirs)?;
        let encoder = locate::encoder(self.encoder.as_deref(), &model, &dirs)?;
        Ok(FrameIdentifier::open(&model, &encoder, &self.device.open()?)?)
    }
}
