//! Which tagger tags words, and where.

use std::cell::{Cell, OnceCell};
use std::path::{Path, PathBuf};

use fnstore::engine::{Device, GpuOptions, declared_languages};
use fnstore::exchange::WordTagger;
use fnstore::tag::Tagger;

use super::device::{self, DeviceArgs};
use super::language::tell_undeclared;
use super::locate;
use crate::cli::print::output::tell;

/// Name of the shipped tagger.
pub(crate) const TAGGER: &str = "tagger";

/// Which tagger tags, and where.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct TaggerArgs {
    /// Directory of the tagger, or its name among the models
    #[arg(long, value_name = "DIR|NAME", default_value = TAGGER)]
    pub(crate) tagger: PathBuf,

    /// Directory of the encoder, or its name among the models [default: the one that the tagger
    /// names]
    #[arg(long, value_name = "DIR|NAME")]
    pub(crate) encoder: Option<PathBuf>,

    /// Directory that holds the models
    #[arg(long, value_name = "DIR")]
    pub(crate) models: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) device: DeviceArgs,
}

impl TaggerArgs {
    pub(crate) fn open(self) -> anyhow::Result<Tagger> {
        let dirs = locate::model_dirs(self.models);
        open(&self.tagger, self.encoder.as_deref(), &dirs, &self.device.open()?)
    }
}

/// A tagger that is opened when the first sentence needs it. If the shipped one is not at hand,
/// there is none, and the user is told.
pub(crate) struct TaggerOnDemand {
    args: TaggerArgs,
    /// Whether it tags every sentence, and not those alone that no layer tags.
    tags_all: bool,
    opened: OnceCell<Option<Tagger>>,
    /// How often it was asked.
    asked: Cell<u64>,
}

impl TaggerOnDemand {
    pub(crate) fn new(args: TaggerArgs, tags_all: bool) -> Self {
        Self { args, tags_all, opened: OnceCell::new(), asked: Cell::new(0) }
    }

    /// What becomes of the sentences that it does not tag.
    fn untagged(&self) -> &'static str {
        match self.tags_all {
            true => "words are written without parts of speech",
            false => "sentences without parts of speech stay so",
        }
    }

    fn tagger(&self) -> anyhow::Result<Option<&Tagger>> {
        if self.opened.get().is_none() {
            let _ = self.opened.set(self.open()?);
        }
        Ok(self.opened.get().and_then(Option::as_ref))
    }

    /// The directories of tagger and encoder.
    fn places(&self) -> anyhow::Result<(PathBuf, PathBuf)> {
        let TaggerArgs { tagger, encoder, models, .. } = &self.args;
        let dirs = locate::model_dirs(models.clone());
        let tagger = locate::model(tagger, &dirs)?;
        let encoder = locate::encoder(encoder.as_deref(), &tagger, &dirs)?;
        Ok((tagger, encoder))
    }

    fn open(&self) -> anyhow::Result<Option<Tagger>> {
        let TaggerArgs { tagger, encoder, device, .. } = &self.args;
        let is_asked_for = tagger.as_os_str() != TAGGER || encoder.is_some();
        let (tagger, encoder) = match self.places() {
            Ok(places) => places,
            Err(error) if is_asked_for => return Err(error),
            Err(error) => {
                tell(&format!("{}: {error:#}", self.untagged()));
                return Ok(None);
            }
        };
        let quiet = GpuOptions { notice: None, ..device::options() };
        let device = Device::open(&device.device, &quiet)?;
        Ok(Some(Tagger::open(&tagger, &encoder, &device)?))
    }
}

impl WordTagger for TaggerOnDemand {
    fn knows(&self, language: &str) -> Result<bool, Box<dyn std::error::Error + Send + Sync>> {
        // What is not at hand is told when words are to be tagged.
        let Ok((tagger, encoder)) = self.places() else { return Ok(true) };
        let declared = declared_languages(&tagger).or(&declared_languages(&encoder));
        tell_undeclared(&[&declared], [language]);
        let knows = declared.knows(language)?;
        if let (false, Some(languages)) = (knows, declared.languages()) {
            tell(&format!(
                "{}: the model `{}` is made for `{languages}`, and the language of the release is \
                 `{language}`; `--any-language` has them tagged all the same",
                self.untagged(),
                declared.model
            ));
        }
        Ok(knows)
    }

    fn tag_words(
        &self,
        sentences: &[Vec<&str>],
    ) -> Result<Vec<Option<Vec<String>>>, Box<dyn std::error::Error + Send + Sync>> {
        match self.tagger().map_err(Box::<dyn std::error::Error + Send + Sync>::from)? {
            Some(tagger) => {
                // A small export is done before anybody wonders.
                if self.asked.replace(self.asked.get() + 1) == 1 {
                    tell(
                        "the tagger reads some hundreds of sentences a second; `--no-tagger` asks none",
                    );
                }
                tagger.tag_words(sentences)
            }
            None => Ok(vec![None; sentences.len()]),
        }
    }
}

/// Opens a tagger with an encoder, the one that it names for none.
pub(crate) fn open(
    tagger: &Path,
    encoder: Option<&Path>,
    dirs: &[PathBuf],
    device: &Device,
) -> anyhow::Result<Tagger> {
    let tagger = locate::model(tagger, dirs)?;
    let encoder = locate::encoder(encoder, &tagger, dirs)?;
    Ok(Tagger::open(&tagger, &encoder, device)?)
}
