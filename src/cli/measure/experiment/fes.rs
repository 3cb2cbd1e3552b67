//! `fnstore experiment fes`: whether generated sets help the labelling of frame elements.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use fnstore::experiment::{self, FeOptions, Source};
use fnstore::label::train::Options;

use super::{SourceArgs, report};
use crate::cli::print::progress;
use crate::cli::{Context, Outcome};

/// Compare FE labelling with and without generated sets (Cui and Swayamdipta 2024, section 4.1)
///
/// Draws a base share of the training documents by sentence. Trains on it alone (`plain`), with
/// generated sets of exactly those sentences that carry FEs (`generated`), and with further human
/// sentences (`human`). `generated` adds as many sets as `human`, or all that there are. Measures
/// exact FE spans with gold targets and frames. A paired t-test over the draws compares each arm
/// with `plain`. With `--checkpoint`, a stopped run resumes after its last training.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    source: SourceArgs,

    /// Percent of the full text's sentences that every arm learns from
    #[arg(long, value_name = "PERCENT", default_value_t = 25.0)]
    base: f64,

    /// Percent that is added to it
    #[arg(long, value_name = "PERCENT", default_value_t = 6.25)]
    more: f64,

    /// Hidden units [default: 192]
    #[arg(long, value_name = "N")]
    hidden: Option<NonZeroUsize>,

    /// Epochs at most [default: 3]
    #[arg(long, value_name = "N")]
    epochs: Option<NonZeroUsize>,
}

const EXAMPLES: &str = "\
Examples:
  fnstore experiment fes --checkpoint fes.state
  fnstore experiment fes --base 25 --more 6.25 --resamples 3 --generated 'p>=0.78'";

pub(crate) fn run(args: Args, context: &mut Context) -> anyhow::Result<Outcome> {
    let svg = report::prepare(args.source.svg.as_deref())?;
    let (within, generated) = (args.source.within()?, args.source.generated()?);
    let (database, release) = args.source.open([&within, &generated], context)?;
    let mut training = Options::new(args.source.encoder()?, PathBuf::new());
    training.hidden = args.hidden.map_or(training.hidden, NonZeroUsize::get);
    training.training.epochs = args.epochs.map_or(training.training.epochs, NonZeroUsize::get);
    training.checkpoint = args.source.checkpoint.clone();
    let options = FeOptions {
        training,
        base: args.base,
        more: args.more,
        resamples: args.source.resamples,
        seed: args.source.seed,
        part: args.source.part,
        device: args.source.device.open()?,
    };
    let source =
        Source { database: &database, release: &release, within: &within, generated: &generated };
    let mut bar = progress::bar("training", "trainings");
    let rows = experiment::fes(source, &options, &mut |at| report::tell_progress(&mut bar, at));
    bar.finish_and_clear();
    let picture = (svg, "FE F1", "FE labelling with generated sets");
    report::write(("fes", options.part), &rows?, picture, context)?;
    Ok(Outcome::Done)
}
