//! `fnstore eval filter`: Table 4 of Culkin et al. 2021.

use std::path::PathBuf;

use anyhow::bail;
use fnstore::filter::{
    Filter, FilterConfig, Judged, Rule, RuleFigures, Scored, Share, figures_of, heuristics,
    seeds_of,
};
use fnstore::model::{Amount, Fraction};
use serde::Serialize;

use crate::cli::grow::filter::FilterArgs;
use crate::cli::print::output::{Output, counted, tell};
use crate::cli::print::render::{Row, rows_of};
use crate::cli::{Context, Outcome};

/// Measure a filter: precision, recall and size of what it keeps, beside simple rules
///
/// On judged outputs, as JSON lines that `fnstore export --to filter-data` writes; an output is
/// acceptable from a mean judgement of 50 on. Rules on scores stand there with the paper's
/// thresholds, which belong to its own models, and with those at which they keep the paper's share
/// of acceptable outputs. Outputs that nobody has judged count in `kept` and in the multiple, how
/// many times as large as the seeds the data becomes. Use outputs of sentences that the filter did
/// not learn from. Intervals are as if outputs were independent, which those of one sentence are
/// not.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Outputs as JSON lines, judged ones among them
    #[arg(long, value_name = "FILE")]
    data: PathBuf,

    #[command(flatten)]
    filter: FilterArgs,

    /// Another filter beside it, as the paper's own: `fnstore train filter --inputs
    /// round,paraphrase,aligner --members 1`
    #[arg(long, value_name = "DIR|NAME")]
    beside: Option<PathBuf>,

    /// Sets that were expanded, also those without any output: the multiple is over all of them
    /// [default: those with an output]
    #[arg(long, value_name = "N")]
    seeds: Option<u64>,
}

const EXAMPLES: &str = "\
Examples:
  fnstore export origin=generated --to filter-data outputs.jsonl
  fnstore eval filter --data outputs.jsonl";

pub(crate) fn run(args: Args, context: &mut Context) -> anyhow::Result<Outcome> {
    let data = Judged::read(&args.data)?;
    let beside = match &args.beside {
        Some(name) => Some((name.display().to_string(), args.filter.named(name).open()?)),
        None => None,
    };
    let filter = args.filter.open()?;
    let scored = scored(&filter, data);
    let seeds = seeds_of(&scored) as u64;
    if let Some(given) = args.seeds.filter(|given| *given < seeds) {
        bail!("`seeds` is {given}; expected {seeds} or more, as many as have an output");
    }
    let seeds = args.seeds.unwrap_or(seeds);
    let mut rows = editions(filter.config(), &scored);
    if let Some((name, filter)) = beside {
        let scored = self::scored(&filter, scored.iter().map(|of| of.output.clone()));
        rows.extend(classifiers(&format!("{name}: "), filter.config(), &scored));
    }
    let rows: Vec<RuleFigures> = rows.into_iter().map(|row| row.over(seeds)).collect();
    let found = rows[0].precision.of > 0;
    write_document(rows, (scored.len() as u64, seeds), &mut context.output)?;
    if !found {
        context.output.flush()?;
        tell("nobody has judged any of these outputs");
    }
    Ok(Outcome::of(found))
}

fn scored(filter: &Filter, outputs: impl IntoIterator<Item = Judged>) -> Vec<Scored> {
    let scored = outputs.into_iter().map(|output| {
        let scores = filter.scores(&output.evidence);
        Scored { output, p: scores.precision, r: scores.recall }
    });
    scored.collect()
}

/// All rows of the table: heuristics, then both editions of a filter.
pub(crate) fn editions(config: &FilterConfig, outputs: &[Scored]) -> Vec<RuleFigures> {
    let mut rows = heuristics(outputs);
    rows.extend(classifiers("", config, outputs));
    rows
}

/// The rows of a filter's two editions, whose name stands before them.
fn classifiers(name: &str, config: &FilterConfig, outputs: &[Scored]) -> [RuleFigures; 2] {
    let editions = [
        ("P-classifier: ", Rule::P(config.precision.cut), [95.00, 15.61, 2.28]),
        ("R-classifier: ", Rule::R(config.recall.cut), [81.19, 96.99, 10.27]),
    ];
    editions.map(|(edition, rule, paper)| {
        let rule_name = format!("{name}{edition}{}", rule.expression());
        figures_of(rule, &rule_name, Some(paper), outputs)
    })
}

/// The evaluation as JSON; see `schema/eval-filter.schema.json`.
#[derive(Debug, Serialize)]
struct Document {
    outputs: u64,
    judged: u64,
    seeds: u64,
    rows: Vec<RuleRecord>,
}

#[derive(Debug, Serialize)]
struct RuleRecord {
    rule: String,
    kept: u64,
    precision: Fraction,
    precision_interval: (Fraction, Fraction),
    recall: Fraction,
    multiple: Amount,
    judged: u64,
    accepted: u64,
    paper: Option<[f64; 3]>,
}

impl RuleRecord {
    fn new(row: RuleFigures) -> Self {
        let RuleFigures { rule, kept, precision, recall, multiple, paper } = row;
        Self {
            rule,
            kept,
            precision: precision.share(),
            precision_interval: precision.interval(),
            recall: recall.share(),
            multiple,
            judged: precision.of,
            accepted: precision.hits,
            paper,
        }
    }
}

impl Row for RuleRecord {
    const COLUMNS: &'static [&'static str] =
        &["rule", "kept", "precision", "precision_interval", "recall", "multiple", "paper"];

    fn cells(&self) -> Vec<String> {
        let percent = |share: f64| format!("{:.2}", 100.0 * share);
        let (low, high) = self.precision_interval;
        let paper = |[p, r, multiple]: [f64; 3]| format!("{p:.2} {r:.2} {multiple:.2}");
        vec![
            self.rule.clone(),
            self.kept.to_string(),
            if self.judged == 0 { String::new() } else { percent(self.precision) },
            if self.judged == 0 {
                String::new()
            } else {
                format!("{} to {}", percent(low), percent(high))
            },
            percent(self.recall),
            format!("{:.2}", self.multiple),
            self.paper.map_or(String::new(), paper),
        ]
    }
}

/// Writes rows over so many outputs of so many seeds in the format that was asked for.
pub(crate) fn write_document(
    rows: Vec<RuleFigures>,
    (outputs, seeds): (u64, u64),
    output: &mut Output,
) -> anyhow::Result<()> {
    let Share { of: judged, .. } = rows[0].precision;
    let document =
        Document { outputs, judged, seeds, rows: rows.into_iter().map(RuleRecord::new).collect() };
    output.report(&document, rows_of(&document.rows), |output| {
        output.table_of(&document.rows)?;
        Ok(output.line(&format!(
            "{} of {}, {} of them judged; precision, its 95 % interval and recall in percent; \
             `paper` has precision, recall and multiple",
            counted(document.outputs, "output"),
            counted(document.seeds, "seed"),
            document.judged
        ))?)
    })
}
