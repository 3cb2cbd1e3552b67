//! `fnstore train filter`: which generated sets to keep, from judgements.

use std::path::PathBuf;

use crate::cli::options::named::named;
use fnstore::filter::train::{self, Options, Trained};
use fnstore::filter::{Input, Judged, RuleFigures, seeds_of};

use crate::cli::measure::eval::filter::{editions, write_document};
use crate::cli::options::number;
use crate::cli::print::output::{Format, counted, grouped, tell};
use crate::cli::{Context, Outcome};

/// Train a filter of generated sets on judgements
///
/// Two classifiers learn which outputs people accept, one in favour of precision, one of recall. An
/// output is accepted if the mean of its judgements is 50 or more. Training takes some hundred
/// outputs, dozens of refused ones among them. They are cut into ten parts by the sentences of
/// their seeds. What is printed (Table 4 of Culkin et al. 2021) is of networks that saw nothing of
/// an output's sentence. The two cuts were chosen on such scores, too: measure with `fnstore eval
/// filter` on outputs of other sentences. The filter that is written learned from all.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Judged outputs: JSON lines, as `fnstore export 'judgement>=0' --to filter-data` writes them;
    /// several times for several files
    #[arg(long, value_name = "FILE", required = true)]
    data: Vec<PathBuf>,

    /// Directory to write the filter to
    #[arg(long, value_name = "DIR")]
    out: PathBuf,

    /// Features of the classifiers [default: all]
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = named::<Input>())]
    inputs: Option<Vec<Input>>,

    /// Average N networks in each classifier [default: 5]
    #[arg(long, value_name = "N")]
    members: Option<usize>,

    /// Weights to try for the label that counts less: accepted outputs for the precision filter,
    /// refused ones for the recall filter [default: 0.1,0.3]
    #[arg(long, value_name = "WEIGHTS", value_delimiter = ',')]
    weights: Option<Vec<f32>>,

    /// Target precision of the precision filter [default: 0.95]
    #[arg(long, value_name = "SHARE", value_parser = number::share::<f64>)]
    precision: Option<f64>,

    /// Target recall of the recall filter [default: 0.97]
    #[arg(long, value_name = "SHARE", value_parser = number::share::<f64>)]
    recall: Option<f64>,

    /// Training steps, each over all data [default: 300]
    #[arg(long, value_name = "N")]
    steps: Option<usize>,

    /// Learning rate [default: 0.01]
    #[arg(long, value_name = "RATE", value_parser = number::learning_rate)]
    learning_rate: Option<f32>,

    /// Seed of the initial weights [default: 1]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
}

const EXAMPLES: &str = "\
Examples:
  fnstore judge --from judged.jsonl --reviewer kim
  fnstore export 'judgement>=0' --to filter-data judged-outputs.jsonl
  fnstore train filter --data judged-outputs.jsonl --out filter";

pub(crate) fn run(args: Args, context: &mut Context) -> anyhow::Result<Outcome> {
    let data = Judged::read_all(&args.data)?;
    let options = options(args);
    let Trained { config, held_out } = train::run(&options, &data)?;
    let output = &mut context.output;
    let rows: Vec<RuleFigures> = editions(&config, &held_out);
    if output.format_or(Format::Table) == Format::Table {
        output.heading(&format!("the filter is in {}", options.out.display()))?;
        let training = &config.training;
        output.line(&format!(
            "  {} accepted and {} of {}",
            grouped(training.accepted),
            counted(training.refused, "refused output"),
            counted(training.sentences as u64, "sentence")
        ))?;
        if !config.precision.reached {
            output.line(&format!(
                "  a precision of {} was out of reach; the most precise cut was taken",
                options.precision
            ))?;
        }
    }
    let [all, .., precision, recall] = &rows[..] else {
        unreachable!("the table has a dozen rows")
    };
    let idle = [("precision", precision), ("recall", recall)].map(|(name, row)| {
        (name, row.precision.share() <= all.precision.share() || row.kept == all.kept)
    });
    write_document(rows, (held_out.len() as u64, seeds_of(&held_out) as u64), output)?;
    output.flush()?;
    for (name, _) in idle.into_iter().filter(|(_, is_idle)| *is_idle) {
        tell(&format!("the {name} filter does no better than keeping all: judge more outputs"));
    }
    Ok(Outcome::Done)
}

fn options(args: Args) -> Options {
    let mut options = Options::new(args.out);
    options.inputs = args.inputs.unwrap_or(options.inputs);
    options.members = args.members.unwrap_or(options.members);
    options.weights = args.weights.unwrap_or(options.weights);
    options.precision = args.precision.unwrap_or(options.precision);
    options.recall = args.recall.unwrap_or(options.recall);
    let training = &mut options.training;
    training.epochs = args.steps.unwrap_or(training.epochs);
    training.learning_rate = args.learning_rate.unwrap_or(training.learning_rate);
    training.seed = args.seed.unwrap_or(training.seed);
    options
}
