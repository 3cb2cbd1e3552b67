//! `fnstore filter`: scores of a filter for generated sets that are there.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use fnstore::database::{Database, DatabaseError};
use fnstore::expand::{self, FILTER, Kept, Rescored};
use fnstore::filter::Filter;
use fnstore::query::Expression;
use serde::Serialize;

use super::output::{Output, grouped, tell, tell_index_lag};
use super::render::NO_ROWS;
use super::{Context, Outcome, locate, progress, stop, tell_of_index};

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
pub(super) struct Args {
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
pub(super) struct FilterArgs {
    /// Directory of the filter, or its name among the models
    #[arg(long, value_name = "DIR|NAME", default_value = FILTER)]
    filter: PathBuf,

    /// Directory that holds the models
    #[arg(long, value_name = "DIR")]
    models: Option<PathBuf>,
}

impl FilterArgs {
    /// Another filter of the same places.
    pub(super) fn named(&self, filter: &Path) -> Self {
        Self { filter: filter.to_owned(), models: self.models.clone() }
    }

    pub(super) fn open(self) -> anyhow::Result<Filter> {
        let dirs = locate::model_dirs(self.models);
        Ok(Filter::open(&locate::model(&self.filter, &dirs)?)?)
    }
}

pub(super) fn run(args: Args, context: &mut Context) -> anyhow::Result<Outcome> {
    let text = args.expression.join(" ");
    let expression = Expression::parse(&text).map_err(DatabaseError::from)?;
    let filter = args.filter.open()?;
    let stopped = stop::on_interrupt("writing what was scored")?;
    let database = Database::open_existing_writer(&context.store)?;
    tell_of_index(&database);
    let bar = progress::bar("scoring", "sets");
    let done = expand::rescore(&database, &expression, &filter, &mut |sets| {
        bar.set_position(sets);
        if stopped() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    bar.finish_and_clear();
    tell_index_lag(&database);
    let done = done?;
    let record = FilteredRecord::new(&done);
    context.output.report(&record, NO_ROWS, |output| summary(&done, &text, output))?;
    if done.interrupted {
        context.output.flush()?;
        tell("interrupted; what was scored is in the store, and the same command resumes there");
        return Ok(Outcome::Interrupted);
    }
    if done.kept.scored == 0 {
        context.output.flush()?;
        tell("no generated annotation set with a paraphrase score matches");
        return Ok(Outcome::NothingFound);
    }
    Ok(Outcome::Done)
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
    output.line(format!("  {:<20} {:>9}  {note}", "scored", grouped(done.written)).trim_end())?;
    write_kept(&done.kept, output)
}

/// How many sets either classifier keeps, with the query that finds them.
pub(super) fn write_kept(kept: &Kept, output: &mut Output) -> anyhow::Result<()> {
    let editions = [
        ("kept for precision", kept.by_precision, format!("p>={}", kept.precision_cut)),
        ("kept for recall", kept.by_recall, format!("r>={}", kept.recall_cut)),
    ];
    for (name, count, query) in editions {
        output.line(&format!("  {name:<20} {:>9}  {query}", grouped(count)))?;
    }
    Ok(())
}

/// A run as JSON; see `schema/filter.schema.json`.
#[derive(Debug, Serialize)]
struct FilteredRecord {
    sets: u64,
    written: u64,
    kept: Kept,
    interrupted: bool,
}

impl FilteredRecord {
    fn new(done: &Rescored) -> Self {
        let Rescored { kept, written, interrupted } = done;
        Self { sets: kept.scored, written: *written, kept: *kept, interrupted: *interrupted }
    }
}
