//! `fnstore train tagger`: parts of speech, on the states of an encoder.

use std::path::PathBuf;

use fnstore::model::Split;
use fnstore::tag::DevAccuracy;
use fnstore::tag::train::{self, Options};

use super::settings::SettingsArgs;
use super::{tell_end, tell_progress};
use crate::cli::input::tagged;
use crate::cli::print::output::counted;
use crate::cli::print::progress;
use crate::cli::print::render::ONE_ROW;
use crate::cli::{Context, Outcome};

/// Train a part-of-speech tagger on the states of an encoder
///
/// Learns from the full text of the store: the documents of the part `train` that have FrameNet's
/// layer PENN, with the tags of the Penn Treebank. Chooses the epoch on those of the part `dev`
/// (`split=` in queries). The part `test` is not read. Files of JSON lines can replace either:
/// words (a list) and tags (as many, of any tag set; null if unknown). Every sentence is also
/// trained on in lower case.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
#[command(mut_arg("layer", |option| {
    option.help("Encoder layer to read, from 1; 0 is the input embeddings [default: 2]")
}))]
#[command(mut_arg("out", |option| option.help("Directory to write the tagger to")))]
#[command(mut_arg("epochs", |option| option.help("Epochs at most [default: 8]")))]
#[command(mut_arg("hidden", |option| option.help("Hidden units [default: 48]")))]
#[command(mut_arg("learning_rate", |option| option.help("Learning rate [default: 0.002]")))]
#[command(mut_arg("seed", |option| option.help("Seed of weights and order [default: 1]")))]
pub(crate) struct Args {
    /// Training data [default: the store's full text]
    #[arg(long, value_name = "FILE")]
    data: Option<PathBuf>,

    /// Development data, which chooses the epoch [default: the store's full text]
    #[arg(long, value_name = "FILE")]
    dev: Option<PathBuf>,

    #[command(flatten)]
    settings: SettingsArgs,
}

const EXAMPLES: &str = "\
Examples:
  fnstore train tagger --out tagger
  fnstore train tagger --data train.jsonl --dev dev.jsonl --encoder bert --layer 4 --out tagger";

pub(crate) fn run(args: Args, context: &mut Context) -> anyhow::Result<Outcome> {
    let data = tagged::read(args.data.as_deref(), &context.store, Split::Train)?;
    let dev = tagged::read(args.dev.as_deref(), &context.store, Split::Dev)?;
    let device = args.settings.device()?;
    let options = options(args)?;
    let mut bar = progress::bar("encoding", "sentences");
    let mut tell = |at| tell_progress(&mut bar, at, accuracy_of);
    let config = train::run(&options, &data, &dev, &device, &mut tell);
    bar.finish_and_clear();
    let config = config?;
    context.output.report(&config, ONE_ROW, |output| {
        let training = &config.training;
        output.heading(&format!("the tagger is in {}", options.out.display()))?;
        output.line(&format!(
            "  {}, {} of {}, weights of epoch {}",
            counted(config.tags.len() as u64, "tag"),
            counted(training.words as u64, "word"),
            counted(training.sentences as u64, "sentence"),
            training.epoch
        ))?;
        tell_end(output, training.left_out, &accuracy_of(&config.dev))
    })?;
    Ok(Outcome::Done)
}

/// How an epoch went.
fn accuracy_of(dev: &DevAccuracy) -> String {
    let (written, lowercase) = (dev.written.share(), dev.lowercase.share());
    format!("accuracy on the development data {written:.4}, in small letters {lowercase:.4}")
}

fn options(args: Args) -> anyhow::Result<Options> {
    let [encoder, out] = args.settings.places()?;
    let mut options = Options::new(encoder, out);
    options.layer = args.settings.layer.or(options.layer);
    options.hidden = args.settings.hidden().unwrap_or(options.hidden);
    args.settings.lay_over(&mut options.training);
    Ok(options)
}
