//! What trainers are told on the command line.

use std::io::Write as _;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use fnstore::TrainerOptions;
use fnstore::engine::{Device, declare_languages, declared_languages};
use fnstore::lexicon::Lexicon;
use fnstore::model::Languages;

use crate::cli::options::device::DeviceArgs;
use crate::cli::options::{locate, number};
use crate::cli::process::whole_file::WholeFile;

/// The one file of a trainer whose weights are a few numbers.
#[derive(Debug, clap::Args)]
pub(super) struct WeightsFileArgs {
    /// Write the weights to FILE
    #[arg(long, value_name = "FILE")]
    pub(super) out: PathBuf,

    /// Overwrite an existing file
    #[arg(long)]
    force: bool,
}

impl WeightsFileArgs {
    /// Writes the file, called `what` where it cannot be.
    pub(super) fn write(&self, what: &'static str, weights: &str) -> anyhow::Result<()> {
        let mut file = WholeFile::create_new(&self.out, what, self.force)?;
        file.write_all(weights.as_bytes())?;
        file.finish()
    }
}

/// Options of every trainer. Where defaults differ, a trainer's own `Args` say them.
#[derive(Debug, clap::Args)]
pub(super) struct SettingsArgs {
    /// Directory of the encoder, or its name among the models
    #[arg(long, value_name = "DIR|NAME", default_value = locate::ENCODER)]
    encoder: PathBuf,

    /// Encoder layer to read, from 1; 0 is the input embeddings [default: the last]
    #[arg(long, value_name = "N")]
    pub(super) layer: Option<usize>,

    /// Write the model to DIR: a new or empty directory, or an earlier head or linker to replace
    #[arg(long, value_name = "DIR")]
    out: PathBuf,

    /// Directory that holds the models
    #[arg(long, value_name = "DIR")]
    models: Option<PathBuf>,

    /// Epochs at most
    #[arg(long, value_name = "N")]
    epochs: Option<NonZeroUsize>,

    /// Stop after N epochs without gain on the development data [default: 3]
    #[arg(long, value_name = "N")]
    patience: Option<usize>,

    /// Hidden units
    #[arg(long, value_name = "N")]
    hidden: Option<NonZeroUsize>,

    /// Learning rate
    #[arg(long, value_name = "RATE", value_parser = number::learning_rate)]
    learning_rate: Option<f32>,

    /// Seed of weights, order and samples [default: 1]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,

    #[command(flatten)]
    device: DeviceArgs,
}

/// Declares that a model was trained on a release, in whose language it can be used.
pub(super) fn declare(out: &Path, lexicon: &Lexicon<'_>) -> anyhow::Result<()> {
    if let Some(languages) = Languages::of([&lexicon.release().language]) {
        declare_languages(out, &languages)
            .with_context(|| format!("cannot write into `{}`", out.display()))?;
    }
    Ok(())
}

impl SettingsArgs {
    /// Opens the device to train on.
    pub(super) fn device(&self) -> anyhow::Result<Device> {
        self.device.open()
    }

    /// Checks that the encoder was made for the language of a release.
    pub(super) fn check_language(&self, lexicon: &Lexicon<'_>) -> anyhow::Result<()> {
        let [encoder, _] = self.places()?;
        Ok(lexicon.check_language(&declared_languages(&encoder))?)
    }

    /// The directories of the encoder and of what is trained.
    pub(super) fn places(&self) -> anyhow::Result<[PathBuf; 2]> {
        let encoder = locate::model(&self.encoder, &locate::model_dirs(self.models.clone()))?;
        Ok([encoder, self.out.clone()])
    }

    /// Lays what was given over a trainer's defaults.
    pub(super) fn lay_over(&self, training: &mut TrainerOptions) {
        training.epochs = self.epochs.map_or(training.epochs, NonZeroUsize::get);
        training.patience = self.patience.unwrap_or(training.patience);
        training.learning_rate = self.learning_rate.unwrap_or(training.learning_rate);
        training.seed = self.seed.unwrap_or(training.seed);
    }

    /// Number of hidden units, where it was given.
    pub(super) fn hidden(&self) -> Option<usize> {
        self.hidden.map(NonZeroUsize::get)
    }
}

#[cfg(test)]
mod tests {
    use clap::{Args, Command};
    use fnstore::align::train::{self, linker};

    use super::*;

    #[test]
    fn help_states_the_defaults_that_are_taken() {
        let [a, b] = [PathBuf::new, PathBuf::new];
        let head = train::Options::new(a(), b(), a(), b());
        let linker = linker::Options::new(vec![], vec![], a(), b());
        let tagger = fnstore::tag::train::Options::new(a(), b());
        let frames = fnstore::identify::train::Options::new(a(), b()).fit;
        let labeller = fnstore::label::train::Options::new(a(), b());
        let commands = [
            (
                super::super::aligner::Args::augment_args(Command::new("aligner")),
                head.hidden,
                head.training,
            ),
            (
                super::super::words::Args::augment_args(Command::new("words")),
                Some(linker.hidden),
                linker.training,
            ),
            (
                super::super::tagger::Args::augment_args(Command::new("tagger")),
                Some(tagger.hidden),
                tagger.training,
            ),
            (
                super::super::frames::Args::augment_args(Command::new("frames")),
                Some(frames.hidden),
                frames.training,
            ),
            (
                super::super::fes::Args::augment_args(Command::new("fes")),
                Some(labeller.hidden),
                labeller.training,
            ),
        ];
        for (command, hidden, settings) in commands {
            let hidden = hidden.map_or("half the number of".to_owned(), |n| n.to_string());
            for (id, default) in [
                ("epochs", settings.epochs.to_string()),
                ("patience", settings.patience.to_string()),
                ("hidden", hidden),
                ("learning_rate", settings.learning_rate.to_string()),
                ("seed", settings.seed.to_string()),
            ] {
                let option = command.get_arguments().find(|option| option.get_id() == id).unwrap();
                let help = option.get_help().unwrap().to_string();
                assert!(help.contains(&format!("[default: {default}")), "{id}: {help}");
            }
        }
    }
}
