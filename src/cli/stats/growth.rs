//! `fnstore stats growth`: sentences, triggers and (Frame, Trigger) pairs, round by round.

use std::io::Write as _;
use std::path::PathBuf;

use anyhow::bail;
use fnstore::database::{Database, DatabaseError};
use fnstore::lexicon::RoundGrowth;
use fnstore::query::Expression;
use serde::Serialize;

use super::figure;
use crate::cli::listing::Rows;
use crate::cli::render::Row;
use crate::cli::whole_file::WholeFile;
use crate::cli::{Context, Outcome, tell_of_index};

/// Count sentences, triggers and (Frame, Trigger) pairs round by round
///
/// Round 0 is annotation by people, later rounds are expansion's. A trigger counts as new in the
/// first round that has it. Triggers are compared without regard to case.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// Count the annotation sets that this query finds; none means everything
    #[arg(value_name = "EXPR")]
    expression: Vec<String>,

    /// Also draw the growth of triggers, with the new ones of each round by name
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,

    #[command(flatten)]
    rows: Rows,
}

const EXAMPLES: &str = "\
Examples:
  fnstore stats growth frame=Verification
  fnstore stats growth frame=Verification --svg growth.svg
  fnstore stats growth 'origin=exemplar or p>=0.94' --format csv";

/// A round as JSON; see `schema/growth.schema.json`.
#[derive(Debug, Serialize)]
struct GrowthRow<'a> {
    release: &'a str,
    round: u16,
    sets: u64,
    sentences: u64,
    triggers: u64,
    pairs: u64,
    new_triggers: u64,
    new_proposed: u64,
    new_pairs: u64,
    total_sentences: u64,
    total_triggers: u64,
    total_pairs: u64,
}

impl Row for GrowthRow<'_> {
    const COLUMNS: &'static [&'static str] = &[
        "release",
        "round",
        "sets",
        "sentences",
        "triggers",
        "pairs",
        "new_triggers",
        "new_proposed",
        "new_pairs",
        "total_sentences",
        "total_triggers",
        "total_pairs",
    ];
}

impl<'a> GrowthRow<'a> {
    fn new(release: &'a str, growth: &RoundGrowth) -> Self {
        let proposed = growth.new_triggers.iter().filter(|trigger| trigger.is_proposed);
        Self {
            release,
            round: growth.round,
            sets: growth.sets,
            sentences: growth.sentences,
            triggers: growth.triggers,
            pairs: growth.pairs,
            new_triggers: growth.new_triggers.len() as u64,
            new_proposed: proposed.count() as u64,
            new_pairs: growth.new_pairs,
            total_sentences: growth.total_sentences,
            total_triggers: growth.total_triggers,
            total_pairs: growth.total_pairs,
        }
    }
}

pub(super) fn run(args: Args, context: &mut Context) -> anyhow::Result<Outcome> {
    let text = args.expression.join(" ");
    let expression = Expression::parse(&text).map_err(DatabaseError::from)?;
    let database = Database::open(&context.store)?;
    let (lexicons, mut listing) = args.rows.of(&database, &mut context.output)?;
    let mut releases = Vec::new();
    for lexicon in &lexicons {
        let growth = lexicon.growth(&expression)?;
        if !growth.is_empty() {
            releases.push((lexicon.release().name.as_str(), growth));
        }
    }
    if let Some(path) = &args.svg {
        let growth = match releases.as_slice() {
            [] => &[][..],
            [(_, growth)] => growth,
            several => {
                let names: Vec<_> = several.iter().map(|(name, _)| format!("`{name}`")).collect();
                bail!(
                    "a picture shows one release, and {} have such sets; name one with \
                     `--release NAME`",
                    names.join(", ")
                );
            }
        };
        let mut file = WholeFile::create(path, "figure")?;
        file.write_all(figure::svg(&text, growth).as_bytes())?;
        file.finish()?;
    }
    'rows: for (release, growth) in &releases {
        for round in growth {
            if !listing.row(&GrowthRow::new(release, round))? {
                break 'rows;
            }
        }
    }
    let outcome = listing.end::<GrowthRow<'_>>()?;
    tell_of_index(&database);
    Ok(outcome)
}
