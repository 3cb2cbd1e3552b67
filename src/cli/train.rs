//! `fnstore train`: a model of one's own.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use fnstore::align::train::{self, Options, Progress};
use fnstore::compute::Device;

use super::output::{Format, tell};
use super::{Context, Outcome, eval, locate, progress};

/// Train a model
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    model: Model,
}

#[derive(Debug, clap::Subcommand)]
enum Model {
    Aligner(AlignerArgs),
}

/// Train the span aligner's head on the states of an encoder
///
/// Data is JSON lines: id, source and target (lists of words), source_span and target_span ([start,
/// end) in words, or null where nothing answers), changed (whether the two spans differ in wording).
#[derive(Debug, clap::Args)]
struct AlignerArgs {
    /// Training data
    #[arg(long, value_name = "FILE")]
    data: PathBuf,

    /// Development data, which chooses the epoch and the threshold
    #[arg(long, value_name = "FILE")]
    dev: PathBuf,

    /// Directory of the encoder, or its name among the models
    #[arg(long, value_name = "DIR|NAME", default_value = eval::ENCODER)]
    encoder: PathBuf,

    /// Directory to write the head to
    #[arg(long, value_name = "DIR")]
    out: PathBuf,

    /// Directory that holds the models
    #[arg(long, value_name = "DIR")]
    models: Option<PathBuf>,

    /// Most passes over the data [default: 16]
    #[arg(long, value_name = "N")]
    epochs: Option<usize>,

    /// Passes without gain on the development data before training stops [default: 3]
    #[arg(long, value_name = "N")]
    patience: Option<usize>,

    /// Hidden units [default: half the number of inputs]
    #[arg(long, value_name = "N")]
    hidden: Option<NonZeroUsize>,

    /// Learning rate [default: 0.002]
    #[arg(long, value_name = "RATE")]
    learning_rate: Option<f32>,

    /// Seed of weights, order and samples [default: 1]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
}

pub(super) fn run(args: Args, context: &mut Context) -> anyhow::Result<Outcome> {
    let Model::Aligner(args) = args.model;
    let options = options(args)?;
    let out = options.out.display().to_string();
    let bar = progress::bar("encoding", "sentence pairs");
    let config = train::run(&options, &Device::cpu(), &mut |at| match at {
        Progress::Encoded { done, total } => {
            bar.set_length(total as u64);
            bar.set_position(done as u64);
            if done == total {
                bar.finish_and_clear();
            }
        }
        Progress::Epoch { epoch, loss, dev } => {
            let f1 = dev.all.soft.f1();
            tell(&format!(
                "epoch {epoch}: loss {loss:.4}, soft F1 on the development data {f1:.4}"
            ));
        }
        _ => {}
    });
    bar.finish_and_clear();
    let config = config?;
    let output = &mut context.output;
    if output.format_or(Format::Table) != Format::Table {
        output.json(&config)?;
        return Ok(Outcome::Done);
    }
    output.line(&output.heading(&format!("the head is in {out}")))?;
    output.line(&format!(
        "  {} items, weights of epoch {}, threshold {:.3}",
        config.training.items, config.training.epoch, config.threshold
    ))?;
    eval::write_report(&config.dev, output)?;
    Ok(Outcome::Done)
}

fn options(args: AlignerArgs) -> anyhow::Result<Options> {
    let encoder = locate::model(&args.encoder, &locate::model_dirs(args.models))?;
    let mut options = Options::new(args.data, args.dev, encoder, args.out);
    options.epochs = args.epochs.unwrap_or(options.epochs);
    options.patience = args.patience.unwrap_or(options.patience);
    options.hidden = args.hidden.map(NonZeroUsize::get).or(options.hidden);
    options.learning_rate = args.learning_rate.unwrap_or(options.learning_rate);
    options.seed = args.seed.unwrap_or(options.seed);
    Ok(options)
}
