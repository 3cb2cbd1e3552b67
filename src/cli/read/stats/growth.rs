//! `fnstore stats growth`: sentences, triggers and (Frame, Trigger) pairs, round by round.

use std::io::Write as _;
use std::path::PathBuf;

use anyhow::bail;
use fnstore::lexicon::{RoundGrowth, growth_figure};
use serde::Serialize;

use crate::cli::options::listing::Rows;
use crate::cli::options::query;
use crate::cli::print::notices::tell_of_index;
use crate::cli::print::output::{Format, Output, counted};
use crate::cli::print::render::Row;
use crate::cli::process::whole_file::WholeFile;
use crate::cli::{Context, Outcome};

/// Count sentences, triggers and (Frame, Trigger) pairs round by round
///
/// Round 0 is annotation by people, later rounds are expansion's. A trigger counts as new in the
/// first round that has it. Triggers are compared without regard to case. Lemma pairs are (Frame,
/// LU) pairs: triggers after lemmatisation, as in `confirm.v`. A table ends with how many generated
/// sets each lemma pair has, beside the figures of Culkin et al. 2021.
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
  fnstore stats growth 'origin=exemplar or p>=0.78' --format csv";

/// A round as JSON; see `schema/growth.schema.json`.
#[derive(Debug, Serialize)]
struct GrowthRow<'a> {
    release: &'a str,
    #[serde(flatten)]
    growth: &'a RoundGrowth,
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
        "lemma_pairs",
        "new_lemma_pairs",
        "total_lemma_pairs",
        "generated_pairs",
        "generated_lemma_pairs",
    ];
}

/// What expansion wrote, beside the large run of Culkin et al. 2021 (section 6.2); nothing without
/// generated sets.
fn beside_the_paper(growth: &[RoundGrowth], output: &mut Output) -> anyhow::Result<()> {
    let sets: u64 = growth.iter().filter(|of| of.round > 0).map(|of| of.sets).sum();
    let Some(last) = growth.last().filter(|of| of.generated_lemma_pairs > 0) else {
        return Ok(());
    };
    let RoundGrowth { generated_pairs: pairs, generated_lemma_pairs: lemmas, .. } = *last;
    output.line("")?;
    Ok(output.line(&format!(
        "generated: {}, {}, {} of {:.2} sets each; the paper: 1,983,680, \
         495,300, 428,416 and 4.63",
        counted(sets, "set"),
        counted(pairs, "(Frame, Trigger) pair"),
        counted(lemmas, "(Frame, LU) pair"),
        sets as f64 / lemmas as f64
    ))?)
}

pub(super) fn run(args: Args, context: &mut Context) -> anyhow::Result<Outcome> {
    let text = args.expression.join(" ");
    let expression = query::expression(&text)?;
    let database = context.open_for(&expression)?;
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
        file.write_all(growth_figure(&text, growth).as_bytes())?;
        file.finish()?;
    }
    'rows: for (release, growth) in &releases {
        for growth in growth {
            if !listing.row(&GrowthRow { release, growth })? {
                break 'rows;
            }
        }
    }
    let outcome = listing.end::<GrowthRow<'_>>()?;
    if context.output.format_or(Format::Jsonl) == Format::Table {
        for (_, growth) in &releases {
            beside_the_paper(growth, &mut context.output)?;
        }
    }
    tell_of_index(&database);
    Ok(outcome)
}
