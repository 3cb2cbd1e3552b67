//! `fnstore train words`: a word aligner from gold links, on the states of an encoder.

use std::path::PathBuf;

use fnstore::align::train::linker::{self, Options};
use fnstore::align::words::LinkCounts;

use super::settings::SettingsArgs;
use super::tell_progress;
use crate::cli::print::output::counted;
use crate::cli::print::progress;
use crate::cli::print::render::ONE_ROW;
use crate::cli::{Context, Outcome};

/// Train a word aligner on gold links, over the states of an encoder
///
/// Data is JSON lines as for `fnstore eval words`: source, target, sure, possible. `fnstore align
/// words --model linker --linker DIR` uses the result; `fnstore eval words` with the same options
/// measures it. A pair that is too long for the encoder is reported and skipped.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
#[command(mut_arg("epochs", |option| option.help("Epochs at most [default: 6]")))]
#[command(mut_arg("hidden", |option| option.help("Hidden units [default: 96]")))]
#[command(mut_arg("learning_rate", |option| option.help("Learning rate [default: 0.001]")))]
pub(crate) struct Args {
    /// Training data; may be repeated
    #[arg(long, value_name = "FILE", required = true)]
    data: Vec<PathBuf>,

    /// Development data, which chooses the epoch and the thresholds; may be repeated
    #[arg(long, value_name = "FILE", required = true)]
    dev: Vec<PathBuf>,

    #[command(flatten)]
    settings: SettingsArgs,
}

const EXAMPLES: &str = "\
Examples:
  fnstore train words --data train.jsonl --dev dev.jsonl --out linker
  fnstore eval words --data test.jsonl --model linker --linker linker";

pub(crate) fn run(args: Args, context: &mut Context) -> anyhow::Result<Outcome> {
    let device = args.settings.device()?;
    let options = options(args)?;
    let out = options.out.display().to_string();
    let mut bar = progress::bar("encoding", "sentence pairs");
    let config =
        linker::run(&options, &device, &mut |at| tell_progress(&mut bar, at, error_rate_of));
    bar.finish_and_clear();
    let config = config?;
    context.output.report(&config, ONE_ROW, |output| {
        output.heading(&format!("the linker is in {out}"))?;
        output.line(&format!(
            "  {}, weights of epoch {}, thresholds {:.2} and {:.2}",
            counted(config.training.pairs as u64, "pair"),
            config.training.epoch,
            config.part.threshold,
            config.part.mutual_threshold
        ))?;
        output.line(&format!(
            "  development data: precision {:.4}, recall {:.4}, error rate {:.4}",
            config.dev.precision(),
            config.dev.recall(),
            config.dev.error_rate()
        ))?;
        Ok(())
    })?;
    Ok(Outcome::Done)
}

/// How an epoch went.
fn error_rate_of(dev: &LinkCounts) -> String {
    format!("error rate on the development data {:.4}", dev.error_rate())
}

fn options(args: Args) -> anyhow::Result<Options> {
    let [encoder, out] = args.settings.places()?;
    let mut options = Options::new(args.data, args.dev, encoder, out);
    options.layer = args.settings.layer;
    options.hidden = args.settings.hidden().unwrap_or(options.hidden);
    args.settings.lay_over(&mut options.training);
    Ok(options)
}
