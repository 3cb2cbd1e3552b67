//! `fnstore train words`: a word aligner from gold links, on the states of an encoder.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use fnstore::align::linker::train::{self, Options};
use fnstore::align::words::LinkCounts;

use super::tell_progress;
use crate::cli::device::DeviceArgs;
use crate::cli::output::Format;
use crate::cli::{Context, Outcome, eval, locate, number, progress};

/// Train a word aligner on gold links, over the states of an encoder
///
/// Data is JSON lines as for `fnstore eval words`: source, target, sure, possible. What is trained is used by
/// `fnstore align words --model linker --linker DIR`, and measured by `fnstore eval words` with the same.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// Training data; may be repeated
    #[arg(long, value_name = "FILE", required = true)]
    data: Vec<PathBuf>,

    /// Development data, which chooses the epoch and the thresholds; may be repeated
    #[arg(long, value_name = "FILE", required = true)]
    dev: Vec<PathBuf>,

    /// Directory of the encoder, or its name among the models
    #[arg(long, value_name = "DIR|NAME", default_value = eval::ENCODER)]
    encoder: PathBuf,

    /// Layer of the encoder whose states are read, from 1; 0 is the embeddings of words
    /// [default: the last]
    #[arg(long, value_name = "N")]
    layer: Option<usize>,

    /// Directory to write the linker to
    #[arg(long, value_name = "DIR")]
    out: PathBuf,

    /// Directory that holds the models
    #[arg(long, value_name = "DIR")]
    models: Option<PathBuf>,

    /// Most passes over the data [default: 6]
    #[arg(long, value_name = "N")]
    epochs: Option<NonZeroUsize>,

    /// Passes without gain on the development data before training stops [default: 3]
    #[arg(long, value_name = "N")]
    patience: Option<usize>,

    /// Hidden units [default: 96]
    #[arg(long, value_name = "N")]
    hidden: Option<NonZeroUsize>,

    /// Learning rate [default: 0.001]
    #[arg(long, value_name = "RATE", value_parser = number::learning_rate)]
    learning_rate: Option<f32>,

    /// Seed of weights, order and samples [default: 1]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,

    #[command(flatten)]
    device: DeviceArgs,
}

const EXAMPLES: &str = "\
Examples:
  fnstore train words --data train.jsonl --dev dev.jsonl --out linker
  fnstore eval words --data test.jsonl --model linker --linker linker";

pub(super) fn run(args: Args, context: &mut Context) -> anyhow::Result<Outcome> {
    let device = args.device.open()?;
    let options = options(args)?;
    let out = options.out.display().to_string();
    let mut bar = progress::bar("encoding", "sentence pairs");
    let config =
        train::run(&options, &device, &mut |at| tell_progress(&mut bar, at, error_rate_of));
    bar.finish_and_clear();
    let config = config?;
    let output = &mut context.output;
    if output.format_or(Format::Table) != Format::Table {
        output.json(&config)?;
        return Ok(Outcome::Done);
    }
    output.line(&output.heading(&format!("the linker is in {out}")))?;
    output.line(&format!(
        "  {} pairs, weights of epoch {}, thresholds {:.2} and {:.2}",
        config.training.pairs, config.training.epoch, config.threshold, config.mutual_threshold
    ))?;
    output.line(&format!(
        "  development data: precision {:.4}, recall {:.4}, error rate {:.4}",
        config.dev.precision(),
        config.dev.recall(),
        config.dev.error_rate()
    ))?;
    Ok(Outcome::Done)
}

/// How an epoch went.
fn error_rate_of(dev: &LinkCounts) -> String {
    format!("error rate on the development data {:.4}", dev.error_rate())
}

fn options(args: Args) -> anyhow::Result<Options> {
    let encoder = locate::model(&args.encoder, &locate::model_dirs(args.models))?;
    let mut options = Options::new(args.data, args.dev, encoder, args.out);
    options.layer = args.layer;
    options.epochs = args.epochs.map_or(options.epochs, NonZeroUsize::get);
    options.patience = args.patience.unwrap_or(options.patience);
    options.hidden = args.hidden.map_or(options.hidden, NonZeroUsize::get);
    options.learning_rate = args.learning_rate.unwrap_or(options.learning_rate);
    options.seed = args.seed.unwrap_or(options.seed);
    Ok(options)
}
