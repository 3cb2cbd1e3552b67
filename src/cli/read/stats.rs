//! `fnstore stats`: how far annotation covers the lexicon, and `fnstore stats growth`.

mod agreement;
mod diversity;
mod growth;

use std::cell::Cell;

use fnstore::database::Database;
use fnstore::lexicon::{Coverage, CoverageCounts, SetCounts};
use serde::Serialize;

use crate::cli::options::listing::{Listing, Rows, Statuses};
use crate::cli::print::render::Row;
use crate::cli::{Context, Outcome};

/// Count lexical units and their annotation sets: the coverage
///
/// Rows of the groups `all`, `pos` and `lu-status` count LUs: all, without an exemplar, without a
/// human set, with generated sets alone. LUs that an expansion proposed stand in a column of their
/// own. Then they count the annotation sets of all of them by origin. Rows of the group
/// `set-status` count the same annotation sets by their own status.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, args_conflicts_with_subcommands = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Option<Command>,

    #[command(flatten)]
    rows: Rows,

    #[command(flatten)]
    statuses: Statuses,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Growth(growth::Args),
    Diversity(diversity::Args),
    Agreement(agreement::Args),
}

const EXAMPLES: &str = "\
Examples:
  fnstore stats
  fnstore stats growth frame=Verification
  fnstore stats diversity frame=Verification
  fnstore stats agreement
  fnstore stats --release bfn-1.5 --format csv
  fnstore stats --include-status Problem";

/// A row of counts as JSON; see `schema/stats.schema.json`.
#[derive(Debug, Default, Serialize)]
struct StatsRow<'a> {
    release: &'a str,
    /// JSON `{"enum": ["all", "pos", "lu-status", "set-status"]}`.
    group: &'static str,
    value: &'a str,
    /// Lexical units, proposed ones aside; null in the group set-status.
    lus: Option<u64>,
    proposed: Option<u64>,
    without_exemplars: Option<u64>,
    without_human_sets: Option<u64>,
    generated_only: Option<u64>,
    #[serde(flatten)]
    sets: SetCounts,
}

impl Row for StatsRow<'_> {
    const COLUMNS: &'static [&'static str] = &[
        "release",
        "group",
        "value",
        "lus",
        "proposed",
        "without_exemplars",
        "without_human_sets",
        "generated_only",
        "exemplar",
        "fulltext",
        "imported",
        "user",
        "generated",
        "predicted",
        "carried",
    ];
}

impl<'a> StatsRow<'a> {
    fn of_lus(group: &'static str, value: &'a str, counts: &CoverageCounts) -> Self {
        Self {
            lus: Some(counts.lus),
            proposed: Some(counts.proposed),
            without_exemplars: Some(counts.without_exemplars),
            without_human_sets: Some(counts.without_human_sets),
            generated_only: Some(counts.generated_only),
            ..Self { group, value, sets: counts.sets, ..Self::default() }
        }
    }
}

pub(crate) fn run(args: Args, context: &mut Context) -> anyhow::Result<Outcome> {
    match args.command {
        Some(Command::Growth(args)) => return growth::run(args, context),
        Some(Command::Diversity(args)) => return diversity::run(args, context),
        Some(Command::Agreement(args)) => return agreement::run(&args, context),
        None => {}
    }
    let database = Database::open(&context.store)?;
    let (lexicons, mut listing) = args.rows.of(&database, &mut context.output)?;
    let hidden = Cell::new(0);
    for lexicon in &lexicons {
        let coverage = lexicon.coverage(|lu| {
            let counts = args.statuses.include(lu);
            hidden.set(hidden.get() + usize::from(!counts));
            counts
        })?;
        if !list(&lexicon.release().name, &coverage, &mut listing)? {
            break;
        }
    }
    let outcome = listing.end::<StatsRow<'_>>()?;
    Statuses::tell_hidden(hidden.get());
    Ok(outcome)
}

fn list(release: &str, coverage: &Coverage, listing: &mut Listing<'_>) -> anyhow::Result<bool> {
    let total = StatsRow::of_lus("all", "all", &coverage.total);
    let by_pos = coverage.by_pos.iter();
    let by_pos = by_pos.map(|(pos, counts)| StatsRow::of_lus("pos", pos, counts));
    let by_status = coverage.by_status.iter();
    let by_status = by_status.map(|(status, counts)| StatsRow::of_lus("lu-status", status, counts));
    let of_sets = coverage.set_statuses.iter().map(|(value, sets)| StatsRow {
        group: "set-status",
        value,
        sets: *sets,
        ..StatsRow::default()
    });
    for row in std::iter::once(total).chain(by_pos).chain(by_status).chain(of_sets) {
        if !listing.row(&StatsRow { release, ..row })? {
            return Ok(false);
        }
    }
    Ok(true)
}
