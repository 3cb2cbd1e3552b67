//! `fnstore eval`: how well a model does on data with known answers.

mod aligner;
mod diversity;
mod fes;
mod figures;
pub(crate) mod filter;
mod frames;
mod generation;
mod lexicon;
mod nli;
mod parser;
mod scratch;
mod tagger;
mod words;

use fnstore::align::{AlignmentReport, Counts};
use fnstore::model::Fraction;
use serde::Serialize;

use crate::cli::print::output::{Output, counted, counted_are};
use crate::cli::print::render::Row;
use crate::cli::{Context, Outcome};

/// Measure a model on data with known answers
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    model: Command,
}

commands! {
    Aligner in aligner,
    Words in words,
    Tagger in tagger,
    Frames in frames,
    Fes in fes,
    Parser in parser,
    Generation in generation,
    Filter in filter,
    Nli in nli,
    Scratch in scratch,
    Lexicon in lexicon,
}

pub(crate) fn run(args: Args, context: &mut Context) -> anyhow::Result<Outcome> {
    args.model.run(context)
}

/// How one kind of items was found, as JSON.
#[derive(Debug, Serialize)]
struct ScoreRecord {
    /// JSON `{"enum": ["all", "changed", "identical", "unaligned", "seen", "unseen"]}`.
    items: &'static str,
    /// JSON `{"enum": ["span", "word", "item"]}`.
    unit: &'static str,
    precision: Fraction,
    recall: Fraction,
    f1: Fraction,
    right: u64,
    predicted: u64,
    gold: u64,
}

impl ScoreRecord {
    fn new(items: &'static str, unit: &'static str, counts: &Counts) -> Self {
        let Counts { right, predicted, gold } = *counts;
        let (precision, recall, f1) = (counts.precision(), counts.recall(), counts.f1());
        Self { items, unit, precision, recall, f1, right, predicted, gold }
    }
}

impl Row for ScoreRecord {
    const COLUMNS: &'static [&'static str] =
        &["items", "unit", "precision", "recall", "f1", "gold"];

    fn cells(&self) -> Vec<String> {
        let share = |share: f64| format!("{share:.4}");
        vec![
            self.items.to_owned(),
            self.unit.to_owned(),
            share(self.precision),
            share(self.recall),
            share(self.f1),
            self.gold.to_string(),
        ]
    }
}

fn rows(report: &AlignmentReport) -> Vec<ScoreRecord> {
    let parts =
        [("all", &report.all), ("changed", &report.changed), ("identical", &report.identical)];
    let rows = parts.into_iter().flat_map(|(items, agreement)| {
        [
            ScoreRecord::new(items, "span", &agreement.exact),
            ScoreRecord::new(items, "word", &agreement.soft),
        ]
    });
    rows.chain([ScoreRecord::new("unaligned", "item", &report.unaligned)]).collect()
}

/// Writes precision, recall and F1 as a table.
pub(crate) fn write_report(report: &AlignmentReport, output: &mut Output) -> anyhow::Result<()> {
    output.table_of(&rows(report))?;
    output.line(&format!(
        "the gold span is among the candidates of {} of {} with one",
        report.covered,
        counted(report.all.exact.gold, "item")
    ))?;
    if report.unanswered > 0 {
        output.line(&format!(
            "{} too long for the encoder, not found by this count",
            counted_are(report.unanswered, "item")
        ))?;
    }
    Ok(())
}
