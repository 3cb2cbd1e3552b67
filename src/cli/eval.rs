//! `fnstore eval`: how well a model does on data with known answers.

use std::path::PathBuf;

use fnstore::align::{AlignedSpan, Aligner, Counts, Report};
use serde::Serialize;

use super::device::DeviceArgs;
use super::output::{Format, Output};
use super::{Context, Outcome, locate};

/// Name of the encoder that the shipped head was trained on.
pub(super) const ENCODER: &str = "all-MiniLM-L6-v2";

/// Name of the shipped head.
const HEAD: &str = "aligner";

/// Measure a model on data with known answers
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    model: Model,
}

#[derive(Debug, clap::Subcommand)]
enum Model {
    Aligner(AlignerArgs),
}

/// Precision, recall and F1 of the span aligner, of whole spans and of words
#[derive(Debug, clap::Args)]
struct AlignerArgs {
    /// Data as for `fnstore train aligner`
    #[arg(long, value_name = "FILE")]
    data: PathBuf,

    /// Directory of the head, or its name among the models
    #[arg(long, value_name = "DIR|NAME", default_value = HEAD)]
    head: PathBuf,

    /// Directory of the encoder, or its name among the models
    #[arg(long, value_name = "DIR|NAME", default_value = ENCODER)]
    encoder: PathBuf,

    /// Score below which a span counts as not aligned, 0 to 1 [default: the head's own]
    #[arg(long, value_name = "SCORE")]
    threshold: Option<f32>,

    /// Directory that holds the models
    #[arg(long, value_name = "DIR")]
    models: Option<PathBuf>,

    #[command(flatten)]
    device: DeviceArgs,
}

pub(super) fn run(args: Args, context: &mut Context) -> anyhow::Result<Outcome> {
    let Model::Aligner(args) = args.model;
    let dirs = locate::model_dirs(args.models);
    let items = AlignedSpan::read(&args.data)?;
    let head = locate::model(&args.head, &dirs)?;
    let encoder = locate::model(&args.encoder, &dirs)?;
    let aligner = Aligner::open(&head, &encoder, &args.device.open()?)?;
    let threshold = args.threshold.unwrap_or(aligner.config().threshold);
    let report = aligner.evaluate(&items, threshold)?;
    let output = &mut context.output;
    let format = output.format_or(Format::Table);
    if format == Format::Table {
        write_report(&report, output)?;
        return Ok(Outcome::Done);
    }
    if matches!(format, Format::Csv | Format::Tsv) {
        output.fields(format, Row::COLUMNS)?;
    }
    for row in rows(&report) {
        match format {
            Format::Csv | Format::Tsv => output.fields(format, row.cells())?,
            _ => output.record(&row, format)?,
        }
    }
    output.end_records(format)?;
    Ok(Outcome::Done)
}

/// One row of an evaluation as JSON.
#[derive(Debug, Serialize)]
struct Row {
    items: &'static str,
    unit: &'static str,
    precision: f64,
    recall: f64,
    f1: f64,
    right: u64,
    predicted: u64,
    gold: u64,
}

impl Row {
    const COLUMNS: [&'static str; 6] = ["items", "unit", "precision", "recall", "f1", "gold"];

    fn new(items: &'static str, unit: &'static str, counts: &Counts) -> Self {
        let Counts { right, predicted, gold } = *counts;
        let (precision, recall, f1) = (counts.precision(), counts.recall(), counts.f1());
        Self { items, unit, precision, recall, f1, right, predicted, gold }
    }

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

fn rows(report: &Report) -> Vec<Row> {
    let parts =
        [("all", &report.all), ("changed", &report.changed), ("identical", &report.identical)];
    let rows = parts.into_iter().flat_map(|(items, agreement)| {
        [Row::new(items, "span", &agreement.exact), Row::new(items, "word", &agreement.soft)]
    });
    rows.collect()
}

/// Writes precision, recall and F1 as a table.
pub(super) fn write_report(report: &Report, output: &mut Output) -> anyhow::Result<()> {
    let rows = rows(report).iter().map(Row::cells).collect();
    output.table(&Row::COLUMNS, rows)?;
    output.line(&format!(
        "the gold span is among the candidates of {} of {} items",
        report.covered, report.all.exact.gold
    ))?;
    Ok(())
}
