//! `fnstore train tagger`: parts of speech, on the states of an encoder.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use fnstore::model::Split;
use fnstore::tag::DevAccuracy;
use fnstore::tag::train::{self, Options};

use super::tell_progress;
use crate::cli::device::DeviceArgs;
use crate::cli::render::NO_ROWS;
use crate::cli::{Context, Outcome, eval, locate, number, progress, tagged};

/// Train a part-of-speech tagger on the states of an encoder
///
/// Learns from the full text of the store: the documents of the part `train` that have FrameNet's
/// layer PENN, with the tags of the Penn Treebank, and chooses the epoch on those of the part `dev`
/// (`split=` in queries; the part `test` is left alone). Files of JSON lines can replace either:
/// words (a list) and tags (as many, of any tag set; null if unknown). Every sentence is also
/// trained on in lower case.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// Training data [default: the store's full text]
    #[arg(long, value_name = "FILE")]
    data: Option<PathBuf>,

    /// Development data, which chooses the epoch [default: the store's full text]
    #[arg(long, value_name = "FILE")]
    dev: Option<PathBuf>,

    /// Directory of the encoder, or its name among the models
    #[arg(long, value_name = "DIR|NAME", default_value = eval::ENCODER)]
    encoder: PathBuf,

    /// Encoder layer to read, from 1; 0 is the input embeddings [default: 2]
    #[arg(long, value_name = "N")]
    layer: Option<usize>,

    /// Directory to write the tagger to
    #[arg(long, value_name = "DIR")]
    out: PathBuf,

    /// Directory that holds the models
    #[arg(long, value_name = "DIR")]
    models: Option<PathBuf>,

    /// Epochs at most [default: 8]
    #[arg(long, value_name = "N")]
    epochs: Option<NonZeroUsize>,

    /// Stop after N epochs without gain on the development data [default: 3]
    #[arg(long, value_name = "N")]
    patience: Option<usize>,

    /// Hidden units [default: 48]
    #[arg(long, value_name = "N")]
    hidden: Option<NonZeroUsize>,

    /// Learning rate [default: 0.002]
    #[arg(long, value_name = "RATE", value_parser = number::learning_rate)]
    learning_rate: Option<f32>,

    /// Seed of weights and order [default: 1]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,

    #[command(flatten)]
    device: DeviceArgs,
}

const EXAMPLES: &str = "\
Examples:
  fnstore train tagger --out tagger
  fnstore train tagger --data train.jsonl --dev dev.jsonl --encoder bert --layer 4 --out tagger";

pub(super) fn run(args: Args, context: &mut Context) -> anyhow::Result<Outcome> {
    let data = tagged::read(args.data.as_deref(), &context.store, Split::Train)?;
    let dev = tagged::read(args.dev.as_deref(), &context.store, Split::Dev)?;
    let device = args.device.open()?;
    let options = options(args)?;
    let mut bar = progress::bar("encoding", "sentences");
    let mut tell = |at| tell_progress(&mut bar, at, accuracy_of);
    let config = train::run(&options, &data, &dev, &device, &mut tell);
    bar.finish_and_clear();
    let config = config?;
    context.output.report(&config, NO_ROWS, |output| {
        let training = &config.training;
        output.heading(&format!("the tagger is in {}", options.out.display()))?;
        output.line(&format!(
            "  {} tags, {} words of {} sentences, weights of epoch {}",
            config.tags.len(),
            training.words,
            training.sentences,
            training.epoch
        ))?;
        if training.left_out > 0 {
            output.line(&format!(
                "  {} sentences were too long for the encoder and left out",
                training.left_out
            ))?;
        }
        output.line(&format!("  {}", accuracy_of(&config.dev)))?;
        Ok(())
    })?;
    Ok(Outcome::Done)
}

/// How an epoch went.
fn accuracy_of(dev: &DevAccuracy) -> String {
    let (written, lowercase) = (dev.written.share(), dev.lowercase.share());
    format!("accuracy on the development data {written:.4}, in small letters {lowercase:.4}")
}

fn options(args: Args) -> anyhow::Result<Options> {
    let encoder = locate::model(&args.encoder, &locate::model_dirs(args.models))?;
    let mut options = Options::new(encoder, args.out);
    options.layer = args.layer.or(options.layer);
    options.hidden = args.hidden.map_or(options.hidden, NonZeroUsize::get);
    let training = &mut options.training;
    training.epochs = args.epochs.map_or(training.epochs, NonZeroUsize::get);
    training.patience = args.patience.unwrap_or(training.patience);
    training.learning_rate = args.learning_rate.unwrap_or(training.learning_rate);
    training.seed = args.seed.unwrap_or(training.seed);
    Ok(options)
}
