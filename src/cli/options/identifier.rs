//! Which frame model identifies frames, and where.

use std::path::{Path, PathBuf};

use fnstore::engine::Device;
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

    /// Opens a tagger beside it, on the same device; its encoder is the one that it names.
    ///
    /// # Errors
    /// When it is not at hand, or is made for another language than the release.
    pub(crate) fn open_tagger(
        &self,
        tagger: &Path,
        lexicon: &Lexicon<'_>,
    ) -> anyhow::Result<Tagger> {
        let dirs = locate::model_dirs(self.models.clone());
        let tagger = self.tagger_in(&locate::model(tagger, &dirs)?, &dirs)?;
        lexicon.check_language(tagger.declared())?;
        Ok(tagger)
    }

    /// As [`open_tagger`](Self::open_tagger). Where the shipped one is not at hand, or is made for
    /// another language, there is none, and a line says so.
    pub(crate) fn open_tagger_or_none(
        &self,
        tagger: &Path,
        lexicon: &Lexicon<'_>,
    ) -> anyhow::Result<Option<Tagger>> {
        if tagger.as_os_str() != TAGGER {
            return self.open_tagger(tagger, lexicon).map(Some);
        }
        let none = |error: anyhow::Error| {
            tell(&format!("targets are found without parts of speech: {error:#}"));
            Ok(None)
        };
        let dirs = locate::model_dirs(self.models.clone());
        let model = match locate::model(tagger, &dirs) {
            Ok(model) => model,
            Err(error) => return none(error),
        };
        let tagger = self.tagger_in(&model, &dirs)?;
        match lexicon.check_language(tagger.declared()) {
            Ok(()) => Ok(Some(tagger)),
            Err(error) => none(error.into()),
        }
    }

    fn tagger_in(&self, model: &Path, dirs: &[PathBuf]) -> anyhow::Result<Tagger> {
        let encoder = locate::encoder(None, model, dirs)?;
        Ok(Tagger::open(model, &encoder, &self.device.open()?)?)
    }

    /// Opens the frame model with its encoder.
    pub(crate) fn open(&self) -> anyhow::Result<FrameIdentifier> {
        let dirs = locate::model_dirs(self.models.clone());
        let model = locate::model(&self.identifier, &dirs)?;
        let encoder = locate::encoder(self.encoder.as_deref(), &model, &dirs)?;
        Ok(FrameIdentifier::open(&model, &encoder, &self.device.open()?)?)
    }
}
