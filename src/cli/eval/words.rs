//! `fnstore eval words`: how well a word aligner does.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use fnstore::align::words::{ErrorRate, LinkCounts, Links, SentencePair};
use fnstore::align::{AlignedSpan, Dataset, Report};
use serde::Serialize;

use super::{ScoreRecord, rows};
use crate::cli::align::tell_refused;
use crate::cli::align::words::Training;
use crate::cli::output::Format;
use crate::cli::render::Row;
use crate::cli::{Context, Outcome};

/// Measure a word aligner: alignment error rate on all, identical and different words
///
/// A statistical aligner is trained on the pairs of `--data`, without their links, and on those of
/// `--train`. A pair that is too long for an encoder is reported and counts as one without links.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// JSON lines: source and target (texts or lists of words), sure and possible ([source word, target
    /// word], counted from 0)
    /// May be repeated: what is trained is trained once, and each file is measured by itself
    #[arg(long, value_name = "FILE", required_unless_present = "spans", conflicts_with = "spans")]
    data: Vec<PathBuf>,

    /// Measure the spans that links cover, on data as for `fnstore train aligner`
    #[arg(long, value_name = "FILE")]
    spans: Option<PathBuf>,

    #[command(flatten)]
    training: Training,
}

pub(super) fn run(args: &Args, context: &mut Context) -> anyhow::Result<Outcome> {
    args.training.refuse_unread()?;
    let output = &mut context.output;
    if let Some(file) = &args.spans {
        let report = evaluate_cover(args, &Dataset::<AlignedSpan>::read(file)?)?;
        let unanswered = report.unanswered;
        let rows = rows(&report).into_iter().map(|score| SpanRow { score, unanswered });
        output.rows(Format::Table, rows)?;
        return Ok(Outcome::Done);
    }
    let (mut pairs, mut ends) = (Dataset::default(), Vec::new());
    for file in &args.data {
        pairs.append(Dataset::<SentencePair>::read(file)?);
        ends.push((name(file), pairs.len()));
    }
    let links = args.training.links(&pairs, &args.training.train)?;
    tell_refused(&pairs, &links);
    let (mut rows, mut start) = (Vec::new(), 0);
    for (data, end) in ends {
        let (mut rate, mut unanswered) = (ErrorRate::default(), 0);
        for (pair, links) in pairs.items()[start..end].iter().zip(&links[start..end]) {
            unanswered += u64::from(links.is_err());
            rate.add(pair, links.as_ref().unwrap_or(&Links::default()));
        }
        start = end;
        let kinds =
            [("all", rate.all), ("identical", rate.identical), ("different", rate.different)];
        rows.extend(
            kinds.map(|(words, counts)| LinkRow::new(data.clone(), words, counts, unanswered)),
        );
    }
    output.rows(Format::Table, rows)?;
    Ok(if pairs.is_empty() { Outcome::NothingFound } else { Outcome::Done })
}

/// Name of a file without its last ending.
fn name(file: &Path) -> String {
    file.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// How well the spans do that links cover (Culkin et al. 2021, section 4.3).
fn evaluate_cover(args: &Args, data: &Dataset<AlignedSpan>) -> anyhow::Result<Report> {
    let mut pairs: Dataset<SentencePair> = Dataset::default();
    let mut pair_of = HashMap::new();
    for (item, place) in data.items().iter().zip(data.lines()) {
        pair_of.entry((&item.source, &item.target)).or_insert_with(|| {
            let (source, target) = (item.source.clone(), item.target.clone());
            pairs.push(SentencePair { source, target, ..SentencePair::default() }, place.clone());
            pairs.len() - 1
        });
    }
    let links = args.training.links(&pairs, &args.training.train)?;
    let cover = |item: &AlignedSpan| match &links[pair_of[&(&item.source, &item.target)]] {
        Ok(links) => Ok(links.cover(item.source_span)),
        Err(why) => Err(*why),
    };
    let found: Vec<_> = data.items().iter().map(cover).collect();
    tell_refused(data, &found);
    let mut report = Report::default();
    for (item, found) in data.items().iter().zip(found) {
        report.add_answer(found, item.target_span, item.changed, true);
    }
    Ok(report)
}

/// Spans of one kind as JSON; see `schema/span-cover.schema.json`.
#[derive(Debug, Serialize)]
struct SpanRow {
    #[serde(flatten)]
    score: ScoreRecord,
    /// Items of the file that could not be read.
    unanswered: u64,
}

impl Row for SpanRow {
    const COLUMNS: &'static [&'static str] =
        &["items", "unit", "precision", "recall", "f1", "gold", "unanswered"];

    fn fields(&self) -> Vec<String> {
        let mut cells = self.score.fields();
        cells.push(self.unanswered.to_string());
        cells
    }
}

/// Links of one kind of words as JSON; see `schema/link-error-rate.schema.json`.
#[derive(Debug, Serialize)]
struct LinkRow {
    data: String,
    words: &'static str,
    precision: f64,
    recall: f64,
    error_rate: f64,
    #[serde(flatten)]
    counts: LinkCounts,
    /// Pairs of the file that could not be read.
    unanswered: u64,
}

impl LinkRow {
    fn new(data: String, words: &'static str, counts: LinkCounts, unanswered: u64) -> Self {
        let (precision, recall) = (counts.precision(), counts.recall());
        let error_rate = counts.error_rate();
        Self { data, words, precision, recall, error_rate, counts, unanswered }
    }
}

impl Row for LinkRow {
    const COLUMNS: &'static [&'static str] =
        &["data", "words", "precision", "recall", "error rate", "found", "sure", "unanswered"];

    fn fields(&self) -> Vec<String> {
        let share = |share: f64| format!("{share:.4}");
        vec![
            self.data.clone(),
            self.words.to_owned(),
            share(self.precision),
            share(self.recall),
            share(self.error_rate),
            self.counts.found.to_string(),
            self.counts.sure.to_string(),
            self.unanswered.to_string(),
        ]
    }
}
