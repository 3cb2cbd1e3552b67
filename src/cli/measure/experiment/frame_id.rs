//! `fnstore experiment frame-id`: whether generated sets help the identification of frames.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use crate::cli::options::named::named;
use fnstore::expand::FILTER;
use fnstore::experiment::{self, Arm, FrameIdOptions, Share, Source};
use fnstore::filter::Filter;
use fnstore::identify::train::{FitOptions, Options};
use fnstore::tag::Tagger;

use super::{SourceArgs, report};
use crate::cli::options::tagger::TAGGER;
use crate::cli::options::{locate, number};
use crate::cli::print::progress;
use crate::cli::{Context, Outcome};

/// Compare frame identification with and without generated sets (Culkin et al. 2021, section 6.3)
///
/// Draws shares of the training documents by sentence. Trains on each alone (`plain`) and with the
/// generated sets of exactly those sentences. `N+` adds the first three exemplars of the first
/// three LUs of each frame, by date. Arms: `augmented` has all generated sets; `p` and `r` those
/// that the filters keep; `agreement` those to which the plain model gives their frame. The arm
/// `substitution` has the seed's sentence with the new trigger, if that has the parts of speech of
/// the old one. Measures exact F1 of spans with frames, and accuracy at gold targets. A paired
/// t-test over the draws compares each arm with `plain`. With `--checkpoint`, a stopped run resumes
/// after its last training.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    source: SourceArgs,

    /// Shares of the full text in percent, `+` for exemplars [default:
    /// 10,20,30,40,50,60,70,80,90,100,10+,100+]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    shares: Vec<Share>,

    /// Arms beside `plain` [default: all]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = named::<Arm>())]
    arms: Vec<Arm>,

    /// Go without the lexicon, as the paper does: any span of at most three words may evoke any
    /// frame
    #[arg(long)]
    without_lexicon: bool,

    /// Score from which on the arm `p` keeps a set [default: the filter's own]
    #[arg(long, value_name = "SCORE", value_parser = number::share::<f32>)]
    p: Option<f32>,

    /// Score from which on the arm `r` keeps a set [default: the filter's own]
    #[arg(long, value_name = "SCORE", value_parser = number::share::<f32>)]
    r: Option<f32>,

    /// Directory of the filter that names those scores, or its name among the models
    #[arg(long, value_name = "DIR|NAME", default_value = FILTER)]
    filter: PathBuf,

    /// Directory of the tagger of the arm `substitution`, or its name among the models
    #[arg(long, value_name = "DIR|NAME", default_value = TAGGER)]
    tagger: PathBuf,

    /// Read the layers 0 (the input embeddings) to N of the encoder [default: 3]
    #[arg(long, value_name = "N")]
    layer: Option<usize>,

    /// Hidden units [default: 512]
    #[arg(long, value_name = "N")]
    hidden: Option<NonZeroUsize>,

    /// Epochs at most [default: 5]
    #[arg(long, value_name = "N")]
    epochs: Option<NonZeroUsize>,

    /// Weight of a target of an exemplar or a generated sentence [default: 1]
    #[arg(long, value_name = "SHARE", value_parser = number::share::<f32>)]
    partial: Option<f32>,

    /// Share of the negatives to learn from that are no forms of LUs: of all negatives, without the
    /// lexicon [default: 0.1]
    #[arg(long, value_name = "SHARE", value_parser = number::share::<f32>)]
    others: Option<f32>,
}

const EXAMPLES: &str = "\
Examples:
  fnstore experiment frame-id --checkpoint frame-id.state --svg frame-id.svg
  fnstore experiment frame-id --shares 10,100,100+ --arms augmented,p --resamples 3
  fnstore experiment frame-id --generated 'recipe=1 round=1' --part test --format table
  fnstore experiment frame-id --shares 20 --arms augmented,p --without-lexicon --others 1";

pub(crate) fn run(args: Args, context: &mut Context) -> anyhow::Result<Outcome> {
    let svg = report::prepare(args.source.svg.as_deref())?;
    let (within, generated) = (args.source.within()?, args.source.generated()?);
    let (database, release) = args.source.open([&within, &generated], context)?;
    let options = options(&args)?;
    let tagger = tagger(&args, &options)?;
    let source =
        Source { database: &database, release: &release, within: &within, generated: &generated };
    let mut bar = progress::bar("encoding", "sentences");
    let mut tell = |at| report::tell_progress(&mut bar, at);
    let rows = experiment::frame_id(source, &options, tagger.as_ref(), &mut tell);
    bar.finish_and_clear();
    let picture = (svg, "span and frame F1", "Frame identification with generated sets");
    report::write(("frame-id", options.part), &rows?, picture, context)?;
    Ok(Outcome::Done)
}

fn options(args: &Args) -> anyhow::Result<FrameIdOptions> {
    let source = &args.source;
    let mut fit = FitOptions::default();
    fit.hidden = args.hidden.map_or(fit.hidden, NonZeroUsize::get);
    fit.training.epochs = args.epochs.map_or(fit.training.epochs, NonZeroUsize::get);
    fit.partial = args.partial.unwrap_or(fit.partial);
    fit.others = args.others.unwrap_or(fit.others);
    let shares = if args.shares.is_empty() { Share::all() } else { args.shares.clone() };
    let arms = if args.arms.is_empty() { Arm::ALL.to_vec() } else { args.arms.clone() };
    let encoder = source.encoder()?;
    let Options { layers, .. } = Options::new(encoder.clone(), PathBuf::new());
    Ok(FrameIdOptions {
        encoder,
        layers: args.layer.map_or(layers, |last| (0..=last).collect()),
        fit,
        shares,
        without_lexicon: args.without_lexicon,
        cuts: cuts(args, &arms)?,
        arms,
        resamples: source.resamples,
        seed: source.seed,
        part: source.part,
        checkpoint: source.checkpoint.clone(),
        device: source.device.open()?,
    })
}

/// The scores of the arms `p` and `r`: given ones, else the filter's own.
fn cuts(args: &Args, arms: &[Arm]) -> anyhow::Result<[f32; 2]> {
    let is_open = |arm, given: Option<f32>| arms.contains(&arm) && given.is_none();
    if !is_open(Arm::Precision, args.p) && !is_open(Arm::Recall, args.r) {
        return Ok([args.p.unwrap_or(1.0), args.r.unwrap_or(1.0)]);
    }
    let filter = Filter::open(&locate::model(&args.filter, &args.source.dirs())?)?;
    let config = filter.config();
    Ok([args.p.unwrap_or(config.precision.cut), args.r.unwrap_or(config.recall.cut)])
}

fn tagger(args: &Args, options: &FrameIdOptions) -> anyhow::Result<Option<Tagger>> {
    if !options.arms.contains(&Arm::Substitution) {
        return Ok(None);
    }
    let dirs = args.source.dirs();
    let tagger = locate::model(&args.tagger, &dirs)?;
    let encoder = locate::encoder(None, &tagger, &dirs)?;
    Ok(Some(Tagger::open(&tagger, &encoder, &options.device)?))
}
