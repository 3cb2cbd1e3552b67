//! `fnstore train frames`: which frames targets evoke, on the states of an encoder.

use std::path::PathBuf;

use fnstore::database::Database;
use fnstore::identify::train::{self, Data, Options};
use fnstore::identify::{Figures, FullText};

use super::settings::{SettingsArgs, declare};
use super::{tell_end, tell_progress};
use crate::cli::options::number;
use crate::cli::options::query::expression;
use crate::cli::options::release::release;
use crate::cli::options::splits::SplitArgs;
use crate::cli::print::output::counted;
use crate::cli::print::progress;
use crate::cli::print::render::ONE_ROW;
use crate::cli::{Context, Outcome};

/// Train the identification of frames on the states of an encoder
///
/// Learns from the full text of a release: targets and other spans of the documents of the part
/// `train` (`split=` in queries). The part `dev` chooses the epoch; the part `test` is left alone.
/// Exemplars, and generated sentences whose seeds stand in training documents, can be added: only
/// their own targets count. Sentences that also stand in the parts `dev` or `test` are never
/// learned from. With `--checkpoint`, a stopped run resumes after its last epoch and yields the
/// same model.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
#[command(mut_arg("layer", |option| {
    option.help("Read the layers 0 (the input embeddings) to N of the encoder [default: 3]")
}))]
#[command(mut_arg("out", |option| option.help("Directory to write the model to")))]
#[command(mut_arg("epochs", |option| option.help("Epochs at most [default: 5]")))]
#[command(mut_arg("hidden", |option| option.help("Hidden units [default: 512]")))]
#[command(mut_arg("learning_rate", |option| option.help("Learning rate [default: 0.001]")))]
#[command(mut_arg("seed", |option| option.help("Seed of weights, order and samples [default: 1]")))]
pub(crate) struct Args {
    /// Release to learn from [default: the only one]
    #[arg(long, value_name = "NAME")]
    release: Option<String>,

    #[command(flatten)]
    splits: SplitArgs,

    /// Add at most N exemplars of each LU
    #[arg(long, value_name = "N", default_value_t = 6)]
    exemplars: usize,

    /// Add the generated sets that QUERY finds whose seeds stand in training documents
    #[arg(long, value_name = "QUERY")]
    generated: Option<String>,

    /// Label smoothing of spans that evoke nothing [default: 0.2]
    #[arg(long, value_name = "SHARE", value_parser = number::share::<f32>)]
    smoothing: Option<f32>,

    /// Share of the hidden values that each step goes without [default: 0.3]
    #[arg(long, value_name = "SHARE", value_parser = number::dropout)]
    dropout: Option<f32>,

    /// Weight of a target of an exemplar or a generated sentence [default: 1]
    #[arg(long, value_name = "SHARE", value_parser = number::share::<f32>)]
    partial: Option<f32>,

    /// Save the training state to FILE after each epoch, and resume from it. A checkpoint of
    /// different data or settings is refused
    #[arg(long, value_name = "FILE")]
    checkpoint: Option<PathBuf>,

    #[command(flatten)]
    settings: SettingsArgs,
}

const EXAMPLES: &str = "\
Examples:
  fnstore train frames --out frames
  fnstore train frames --exemplars 0 --generated 'p>=0.78' --out frames --checkpoint frames.state";

pub(crate) fn run(args: Args, context: &mut Context) -> anyhow::Result<Outcome> {
    let generated = args.generated.as_deref().map(expression).transpose()?;
    let database = context.joined(args.splits.over(|| Database::open(&context.store))?);
    let release = release(&database, args.release.as_deref())?.name;
    let lexicon = database.lexicon(&release)?;
    args.settings.check_language(&lexicon)?;
    let texts = FullText::read(&database, &release)?;
    let mut more = texts.exemplars(&database, &release, args.exemplars)?;
    if let Some(query) = &generated {
        more.extend(texts.generated(&database, &release, query)?);
    }
    let FullText { mut train, dev, lexunits, morphology, .. } = texts;
    train.append(&mut more);
    let device = args.settings.device()?;
    let options = options(args)?;
    let data = Data { train: &train, dev: &dev, lexunits: &lexunits, morphology: &morphology };
    let mut bar = progress::bar("encoding", "sentences");
    let mut tell = |at| tell_progress(&mut bar, at, went);
    let config = train::run(&options, data, &device, &mut tell);
    bar.finish_and_clear();
    let config = config?;
    declare(&options.out, &lexicon)?;
    context.output.report(&config, ONE_ROW, |output| {
        let training = &config.training;
        output.heading(&format!("the frame model is in {}", options.out.display()))?;
        output.line(&format!(
            "  {}, {} of {} of full text and {}, weights of epoch {}",
            counted(config.frames.len() as u64, "frame"),
            counted(training.targets as u64, "target"),
            counted(training.whole as u64, "sentence"),
            counted(training.partial as u64, "other"),
            training.epoch
        ))?;
        tell_end(output, training.left_out, &went(&config.dev))
    })?;
    Ok(Outcome::Done)
}

/// How an epoch went.
fn went(dev: &Figures) -> String {
    format!(
        "on the development data accuracy {:.4} at gold targets, F1 {:.4} of spans with frames",
        dev.targets.recall(),
        dev.spans.f1()
    )
}

fn options(args: Args) -> anyhow::Result<Options> {
    let [encoder, out] = args.settings.places()?;
    let mut options = Options::new(encoder, out);
    if let Some(last) = args.settings.layer {
        options.layers = (0..=last).collect();
    }
    options.checkpoint = args.checkpoint;
    let fit = &mut options.fit;
    fit.hidden = args.settings.hidden().unwrap_or(fit.hidden);
    fit.smoothing = args.smoothing.unwrap_or(fit.smoothing);
    fit.dropout = args.dropout.unwrap_or(fit.dropout);
    fit.partial = args.partial.unwrap_or(fit.partial);
    args.settings.lay_over(&mut fit.training);
    Ok(options)
}
