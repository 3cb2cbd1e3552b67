//! `fnstore filter`: scores of a filter for generated sets that are there.

use std::path::{Path, PathBuf};

use fnstore::expand::{self, FILTER, FilterTally, Rescored};
use fnstore::filter::Filter;
use serde::Serialize;

use super::pass::Pass;
use crate::cli::options::locate;
use crate::cli::print::output::{Output, grouped};
use crate::cli::print::render::ONE_ROW;
use crate::cli::{Context, Outcome};

/// Score generated sets with a filter
///
/// `fnstore expand` gives each set it writes the scores of the shipped filter. This command gives
/// them to sets that have none, or replaces those of another filter. No set is removed. What is
/// printed are the scores from which on this filter keeps a set; `fnstore query 'p>=CUT'` finds
/// those. Scores are no probabilities, and those of different filters do not compare. `fnstore
/// expand --filter` says which one new sentences get. In `fnstore changes` a set that gets scores
/// is edited. `fnstore train filter` learns a filter from judgements of one's own.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Score the annotation sets that this query finds; generated sets only
    #[arg(value_name = "EXPR", required = true)]
    expression: Vec<String>,

    #[command(flatten)]
    filter: FilterArgs,
}

const EXAMPLES: &str = "\
Examples:
  fnstore filter origin=generated
  fnstore filter frame=Verification --filter mine && fnstore query 'frame=Verification' --sort=-p";

/// Which filter.
#[derive(Debug, clap::Args)]
pub(crate) struct FilterArgs {
    /// Directory of the filter, or its name among the models
    #[arg(long, value_name = "DIR|NAME", default_value = FILTER)]
    filter: PathBuf,

    /// Directory that holds the models
    #[arg(long, value_name = "DIR")]
    models: Option<PathBuf>,
}

impl FilterArgs {
    /// Another filter of the same places.
    pub(crate) fn named(&self, filter: &Path) -> Self {
        Self { filter: filter.to_owned(), models: self.models.clone() }
    }

    pub(crate) fn open(self) -> anyhow::Result<Filter> {
        let dirs = locate::model_dirs(self.models);
        Ok(Filter::open(&locate::model(&self.filter, &dirs)?)?)
    }
}

const PASS: Pass = Pass {
    doing: "scoring",
    finishing: "writing what was scored",
    done: "what was scored",
    nothing: "no generated annotation set with a paraphrase score matches",
};

pub(crate) fn run(args: Args, context: &mut Context) -> anyhow::Result<Outcome> {
    let text = args.expression.join(" ");
    let filter = args.filter.open()?;
    let done = PASS.over(context, &text, |database, expression, progress| {
        Ok(expand::rescore(database, expression, &filter, progress)?)
    })?;
    let record = FilteredRecord::new(&done);
    context.output.report(&record, ONE_ROW, |output| summary(&done, &text, output))?;
    PASS.outcome(context, done.kept.scored, done.interrupted)
}

fn summary(done: &Rescored, expression: &str, output: &mut Output) -> anyhow::Result<()> {
    let title = format!(
        "generated annotation sets looked at for {expression}: {}",
        grouped(done.kept.scored)
    );
    output.heading(&title)?;
    if done.kept.scored == 0 {
        return Ok(());
    }
    let note = match done.kept.scored - done.written {
        0 => String::new(),
        had => format!("{} had these scores before", grouped(had)),
    };
    output.count("scored", done.written, &note)?;
    write_kept(&done.kept, output)
}

/// How many sets either classifier keeps, with the query that finds them.
pub(crate) fn write_kept(kept: &FilterTally, output: &mut Output) -> anyhow::Result<()> {
    let editions = [
        ("kept for precision", kept.by_precision, format!("p>={}", kept.precision_cut)),
        ("kept for recall", kept.by_recall, format!("r>={}", kept.recall_cut)),
    ];
    for (name, count, query) in editions {
        output.count(name, count, &query)?;
    }
    Ok(())
}

/// A run as JSON; see `schema/filter.schema.json`.
#[derive(Debug, Serialize)]
struct FilteredRecord {
    sets: u64,
    written: u64,
    kept: FilterTally,
    interrupted: bool,
}

impl FilteredRecord {
    fn new(done: &Rescored) -> Self {
        let Rescored { kept, written, interrupted } = done;
        Self { sets: kept.scored, written: *written, kept: *kept, interrupted: *interrupted }
    }
}
