//! `fnstore train aligner`: the span aligner's head, on data of one's own.

use std::path::PathBuf;

use crate::cli::options::named::named;
use fnstore::align::train::{self, Options};
use fnstore::align::{AlignmentReport, Features, Labels};
use fnstore::named;

use super::settings::SettingsArgs;
use super::tell_progress;
use crate::cli::measure::eval;
use crate::cli::print::output::counted;
use crate::cli::print::progress;
use crate::cli::print::render::ONE_ROW;
use crate::cli::{Context, Outcome};

/// Train the span aligner's head on the states of an encoder
///
/// Data is JSON lines: id, source and target (lists of words), source_span and target_span ([start,
/// end) in words, or null), changed (whether the spans differ in wording). With `--checkpoint`, a
/// stopped run resumes after its last epoch and yields the same head. An item that is too long for
/// the encoder is reported and skipped.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
#[command(mut_arg("epochs", |option| option.help("Epochs at most [default: 16]")))]
#[command(mut_arg("hidden", |option| option.help("Hidden units [default: half the number of inputs]")))]
#[command(mut_arg("learning_rate", |option| option.help("Learning rate [default: 0.002]")))]
pub(crate) struct Args {
    /// Training data
    #[arg(long, value_name = "FILE")]
    data: PathBuf,

    /// Development data, which chooses the epoch and the threshold
    #[arg(long, value_name = "FILE")]
    dev: PathBuf,

    /// Features of a span pair [default: all]
    #[arg(long, value_name = "NAME,...", value_parser = named::<FeatureName>(), value_delimiter = ',')]
    features: Vec<FeatureName>,

    /// Training label of candidates near the gold span
    #[arg(long, value_parser = named::<Labels>(), default_value_t = Labels::default())]
    labels: Labels,

    /// Directory of a linker (`fnstore train words`) of the same encoder and layer; its link scores
    /// become features, and it is stored with the head
    #[arg(long, value_name = "DIR")]
    linker: Option<PathBuf>,

    /// Save the training state to FILE after each epoch, and resume from it. A checkpoint of the
    /// CPU does not resume on a GPU, nor the reverse: their sums differ
    #[arg(long, value_name = "FILE")]
    checkpoint: Option<PathBuf>,

    #[command(flatten)]
    settings: SettingsArgs,
}

const EXAMPLES: &str = "\
Examples:
  fnstore train aligner --data train.jsonl --dev dev.jsonl --out head --checkpoint head.state
  fnstore train aligner --data train.jsonl --dev dev.jsonl --out df-only --features df --labels hard
  fnstore train aligner --data train.jsonl --dev dev.jsonl --out head --layer 3 --linker linker";

named! {
    /// A feature, by the name that Table 2 of Culkin et al. 2021 gives it.
    enum FeatureName {
        /// The difference of the two spans' mean states
        Df => "df",
        /// The maximum of the two, element by element
        Mx => "mx",
        /// Start and length of both spans
        Cue => "cue",
    }
}

pub(crate) fn run(args: Args, context: &mut Context) -> anyhow::Result<Outcome> {
    let device = args.settings.device()?;
    let options = options(args)?;
    let out = options.out.display().to_string();
    let mut bar = progress::bar("encoding", "sentence pairs");
    let config = train::run(&options, &device, &mut |at| tell_progress(&mut bar, at, f1_of));
    bar.finish_and_clear();
    let config = config?;
    context.output.report(&config, ONE_ROW, |output| {
        output.heading(&format!("the head is in {out}"))?;
        output.line(&format!(
            "  {}, weights of epoch {}, threshold {:.3}",
            counted(config.training.items as u64, "item"),
            config.training.epoch,
            config.threshold
        ))?;
        eval::write_report(&config.dev, output)?;
        Ok(())
    })?;
    Ok(Outcome::Done)
}

/// How an epoch went.
fn f1_of(dev: &AlignmentReport) -> String {
    let (soft, exact) = (dev.all.soft.f1(), dev.all.exact.f1());
    format!("F1 on the development data: soft {soft:.4}, exact {exact:.4}")
}

fn options(args: Args) -> anyhow::Result<Options> {
    let [encoder, out] = args.settings.places()?;
    let mut options = Options::new(args.data, args.dev, encoder, out);
    options.layer = args.settings.layer;
    options.hidden = args.settings.hidden().or(options.hidden);
    args.settings.lay_over(&mut options.training);
    let on = |name| args.features.is_empty() || args.features.contains(&name);
    options.features = Features {
        difference: on(FeatureName::Df),
        maximum: on(FeatureName::Mx),
        cue: on(FeatureName::Cue),
    };
    options.labels = args.labels;
    options.linker = args.linker;
    options.checkpoint = args.checkpoint;
    Ok(options)
}
