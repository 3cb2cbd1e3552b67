//! `fnstore train fes`: frame elements of targets, on the states of an encoder.

use std::path::PathBuf;

use fnstore::label::train::{self, Data, Options};
use fnstore::label::{ElementCounts, Goal, Inventory, LabelledSentence};
use fnstore::model::Split;
use fnstore::query::Expression;

use super::settings::{SettingsArgs, declare};
use super::{tell_end, tell_progress};
use crate::cli::options::labeller::{ReleaseArgs, part};
use crate::cli::options::query::expression;
use crate::cli::print::output::{counted, grouped};
use crate::cli::print::progress;
use crate::cli::print::render::ONE_ROW;
use crate::cli::{Context, Outcome};

/// Train the labelling of frame elements on the states of an encoder
///
/// Learns from the full text of a release: the annotation sets of the documents of the part `train`
/// whose FEs are annotated (`split=` in queries). The part `dev` chooses the epoch; the part `test`
/// is left alone. Exemplars are learned from in the first epochs. Generated sets can be added:
/// those to which an expansion carried FEs and whose seeds stand in training documents. Sentences
/// that also stand in the parts `dev` or `test` are never learned from. With `--checkpoint`, a
/// stopped run resumes after its last epoch and yields the same model.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
#[command(mut_arg("layer", |option| {
    option.help("Read layer N of the encoder alone [default: the last two, side by side]")
}))]
#[command(mut_arg("out", |option| option.help("Directory to write the model to")))]
#[command(mut_arg("epochs", |option| option.help("Epochs at most [default: 3]")))]
#[command(mut_arg("hidden", |option| option.help("Hidden units [default: 192]")))]
#[command(mut_arg("learning_rate", |option| option.help("Learning rate [default: 0.001]")))]
#[command(mut_arg("seed", |option| option.help("Seed of weights, order and dropout [default: 1]")))]
pub(crate) struct Args {
    #[command(flatten)]
    release: ReleaseArgs,

    /// Learn which FE a given span is, or none, instead of where FEs are: a classifier for
    /// `generate`
    #[arg(long)]
    given_spans: bool,

    /// Learn from at most N exemplars of each LU, too, in the first epochs
    #[arg(long, value_name = "N", default_value_t = 0)]
    exemplars: usize,

    /// Epochs in which exemplars are learned from [default: 2]
    #[arg(long, value_name = "N")]
    exemplar_epochs: Option<usize>,

    /// Add the generated sets that QUERY finds whose seeds stand in training documents
    #[arg(long, value_name = "QUERY")]
    generated: Option<String>,

    /// Save the training state to FILE after each epoch, and resume from it. A checkpoint of
    /// different data or settings is refused
    #[arg(long, value_name = "FILE")]
    checkpoint: Option<PathBuf>,

    #[command(flatten)]
    settings: SettingsArgs,
}

const EXAMPLES: &str = "\
Examples:
  fnstore train fes --out fes
  fnstore train fes --exemplars 5 --out fes --checkpoint fes.state";

pub(crate) fn run(args: Args, context: &mut Context) -> anyhow::Result<Outcome> {
    let generated = args.generated.as_deref().map(expression).transpose()?;
    let (database, release) = args.release.open(context)?;
    let read = |query: &Expression| LabelledSentence::read(&database, &release, query);
    let of_part = |split| -> anyhow::Result<Vec<LabelledSentence>> { Ok(read(&part(split)?)?) };
    let [mut full_text, dev, test] =
        [of_part(Split::Train)?, of_part(Split::Dev)?, of_part(Split::Test)?];
    if let Some(query) = generated {
        let trained = Expression::parse("origin=generated split=train")?;
        full_text.extend(read(&Expression::all_of([trained, query])?)?);
    }
    let mut exemplars = Vec::new();
    if args.exemplars > 0 {
        let all = read(&Expression::parse("origin=exemplar not split=dev not split=test")?)?;
        exemplars = LabelledSentence::sampled(all, args.exemplars);
    }
    for data in [&mut full_text, &mut exemplars] {
        for others in [&dev, &test] {
            *data = LabelledSentence::apart_from(std::mem::take(data), others);
        }
    }
    let lexicon = database.lexicon(&release)?;
    let inventory = Inventory::read(&lexicon)?;
    args.settings.check_language(&lexicon)?;
    let device = args.settings.device()?;
    let options = options(args)?;
    let data = Data { full_text, exemplars, dev };
    let mut bar = progress::bar("training", "steps");
    let mut tell = |at| tell_progress(&mut bar, at, went);
    let config = train::run(&options, &inventory, &data, &device, &mut tell);
    bar.finish_and_clear();
    let config = config?;
    declare(&options.out, &lexicon)?;
    context.output.report(&config, ONE_ROW, |output| {
        let training = &config.training;
        output.heading(&format!("the labeller is in {}", options.out.display()))?;
        output.line(&format!(
            "  {}, {} of full text and {} of exemplars, weights of epoch {}",
            counted(config.frames.len() as u64, "frame"),
            counted(training.full_text[1] as u64, "target"),
            grouped(training.exemplars[1] as u64),
            training.epoch
        ))?;
        tell_end(output, training.left_out, &went(&config.dev))
    })?;
    Ok(Outcome::Done)
}

/// How an epoch went.
fn went(dev: &ElementCounts) -> String {
    let (precision, recall, f1) = (dev.precision(), dev.recall(), dev.f1());
    format!("FEs of the development data: precision {precision:.4}, recall {recall:.4}, F1 {f1:.4}")
}

fn options(args: Args) -> anyhow::Result<Options> {
    let [encoder, out] = args.settings.places()?;
    let mut options = Options::new(encoder, out);
    options.goal = if args.given_spans { Goal::GivenSpans } else { Goal::Segmentation };
    options.layer = args.settings.layer;
    options.hidden = args.settings.hidden().unwrap_or(options.hidden);
    options.exemplar_epochs = args.exemplar_epochs.unwrap_or(options.exemplar_epochs);
    options.checkpoint = args.checkpoint;
    args.settings.lay_over(&mut options.training);
    Ok(options)
}
