//! `fnstore eval`: how well a model does on data with known answers.

use std::collections::HashMap;
use std::path::PathBuf;

use fnstore::align::words::{ErrorRate, LinkCounts, SentencePair, read_pairs};
use fnstore::align::{AlignedSpan, Aligner, Counts, Report};
use serde::Serialize;

use super::align::words::Training;
use super::device::DeviceArgs;
use super::output::{Format, Output};
use super::{Context, Outcome, locate};

/// Name of the encoder that the shipped head was trained on.
pub(super) const ENCODER: &str = "all-MiniLM-L6-v2";

/// Name of the shipped head.
pub(super) const HEAD: &str = "aligner";

/// Measure a model on data with known answers
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    model: Model,
}

#[derive(Debug, clap::Subcommand)]
enum Model {
    Aligner(AlignerArgs),
    Words(WordsArgs),
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

/// Alignment error rate of a word aligner, also of equal and of different words apart
///
/// A statistical aligner is trained on the pairs of `--data`, without a look at their links, and on those of
/// `--train`.
#[derive(Debug, clap::Args)]
struct WordsArgs {
    /// JSON lines: source and target (texts or lists of words), sure and possible ([source word, target
    /// word], counted from 0)
    #[arg(long, value_name = "FILE", required_unless_present = "spans", conflicts_with = "spans")]
    data: Option<PathBuf>,

    /// Data as for `fnstore train aligner` instead: how well the spans do that the links cover
    #[arg(long, value_name = "FILE")]
    spans: Option<PathBuf>,

    #[command(flatten)]
    training: Training,
}

pub(super) fn run(args: Args, context: &mut Context) -> anyhow::Result<Outcome> {
    match args.model {
        Model::Aligner(args) => evaluate_aligner(args, context),
        Model::Words(args) => evaluate_words(&args, context),
    }
}

fn evaluate_words(args: &WordsArgs, context: &mut Context) -> anyhow::Result<Outcome> {
    let output = &mut context.output;
    let format = output.format_or(Format::Table);
    if let Some(file) = &args.spans {
        let report = evaluate_cover(args, &AlignedSpan::read(file)?)?;
        write_rows(format, &Row::COLUMNS, &rows(&report), Row::cells, output)?;
        return Ok(Outcome::Done);
    }
    let pairs = match &args.data {
        Some(file) => read_pairs(file)?,
        None => Vec::new(),
    };
    let mut rate = ErrorRate::default();
    for (pair, links) in pairs.iter().zip(args.training.links(&pairs, &args.training.train)?) {
        rate.add(pair, &links);
    }
    let rows = [("all", rate.all), ("identical", rate.identical), ("different", rate.different)];
    let rows = rows.map(|(words, counts)| LinkRow::new(words, counts));
    write_rows(format, &LinkRow::COLUMNS, &rows, LinkRow::cells, output)?;
    Ok(if pairs.is_empty() { Outcome::NothingFound } else { Outcome::Done })
}

/// How well the spans do that links cover (Culkin et al. 2021, section 4.3).
fn evaluate_cover(args: &WordsArgs, items: &[AlignedSpan]) -> anyhow::Result<Report> {
    let mut pairs: Vec<SentencePair> = Vec::new();
    let mut pair_of = HashMap::new();
    for item in items {
        pair_of.entry((&item.source, &item.target)).or_insert_with(|| {
            let (source, target) = (item.source.clone(), item.target.clone());
            pairs.push(SentencePair { source, target, ..SentencePair::default() });
            pairs.len() - 1
        });
    }
    let links = args.training.links(&pairs, &args.training.train)?;
    let mut report = Report::default();
    for item in items {
        let found = links[pair_of[&(&item.source, &item.target)]].cover(item.source_span);
        report.add(found, item.target_span, item.changed, true);
    }
    Ok(report)
}

fn write_rows<R: Serialize>(
    format: Format,
    columns: &[&str],
    rows: &[R],
    cells: impl Fn(&R) -> Vec<String>,
    output: &mut Output,
) -> anyhow::Result<()> {
    match format {
        Format::Table => output.table(columns, rows.iter().map(cells).collect())?,
        Format::Csv | Format::Tsv => {
            output.fields(format, columns)?;
            rows.iter().try_for_each(|row| output.fields(format, cells(row)))?;
        }
        Format::Json | Format::Jsonl => {
            rows.iter().try_for_each(|row| output.record(row, format))?;
            output.end_records(format)?;
        }
    }
    Ok(())
}

/// Links of one kind of words as JSON.
#[derive(Debug, Serialize)]
struct LinkRow {
    words: &'static str,
    precision: f64,
    recall: f64,
    error_rate: f64,
    #[serde(flatten)]
    counts: LinkCounts,
}

impl LinkRow {
    const COLUMNS: [&'static str; 6] =
        ["words", "precision", "recall", "error rate", "found", "sure"];

    fn new(words: &'static str, counts: LinkCounts) -> Self {
        let (precision, recall) = (counts.precision(), counts.recall());
        Self { words, precision, recall, error_rate: counts.error_rate(), counts }
    }

    fn cells(&self) -> Vec<String> {
        let share = |share: f64| format!("{share:.4}");
        vec![
            self.words.to_owned(),
            share(self.precision),
            share(self.recall),
            share(self.error_rate),
            self.counts.found.to_string(),
            self.counts.sure.to_string(),
        ]
    }
}

fn evaluate_aligner(args: AlignerArgs, context: &mut Context) -> anyhow::Result<Outcome> {
    let dirs = locate::model_dirs(args.models);
    let items = AlignedSpan::read(&args.data)?;
    let head = locate::model(&args.head, &dirs)?;
    let encoder = locate::model(&args.encoder, &dirs)?;
    let aligner = Aligner::open(&head, &encoder, &args.device.open()?)?;
    let threshold = args.threshold.unwrap_or(aligner.config().threshold);
    let report = aligner.evaluate(&items, threshold)?;
    let output = &mut context.output;
    match output.format_or(Format::Table) {
        Format::Table => write_report(&report, output)?,
        format => write_rows(format, &Row::COLUMNS, &rows(&report), Row::cells, output)?,
    }
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
    rows.chain([Row::new("unaligned", "item", &report.unaligned)]).collect()
}

/// Writes precision, recall and F1 as a table.
pub(super) fn write_report(report: &Report, output: &mut Output) -> anyhow::Result<()> {
    let rows = rows(report).iter().map(Row::cells).collect();
    output.table(&Row::COLUMNS, rows)?;
    output.line(&format!(
        "the gold span is among the candidates of {} of {} items that have one",
        report.covered, report.all.exact.gold
    ))?;
    Ok(())
}
