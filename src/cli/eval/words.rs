//! `fnstore eval words`: how well a word aligner does.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use fnstore::align::words::{ErrorRate, LinkCounts, SentencePair, read_pairs};
use fnstore::align::{AlignedSpan, Report};
use serde::Serialize;

use super::{Row, rows, write_rows};
use crate::cli::align::words::Training;
use crate::cli::output::Format;
use crate::cli::{Context, Outcome};

/// Alignment error rate of a word aligner, also of equal and of different words apart
///
/// A statistical aligner is trained on the pairs of `--data`, without a look at their links, and on those of
/// `--train`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// JSON lines: source and target (texts or lists of words), sure and possible ([source word, target
    /// word], counted from 0)
    /// May be repeated: what is trained is trained once, and each file is measured by itself
    #[arg(long, value_name = "FILE", required_unless_present = "spans", conflicts_with = "spans")]
    data: Vec<PathBuf>,

    /// Data as for `fnstore train aligner` instead: how well the spans do that the links cover
    #[arg(long, value_name = "FILE")]
    spans: Option<PathBuf>,

    #[command(flatten)]
    training: Training,
}

pub(super) fn run(args: &Args, context: &mut Context) -> anyhow::Result<Outcome> {
    let output = &mut context.output;
    let format = output.format_or(Format::Table);
    if let Some(file) = &args.spans {
        let report = evaluate_cover(args, &AlignedSpan::read(file)?)?;
        write_rows(format, &Row::COLUMNS, &rows(&report), Row::cells, output)?;
        return Ok(Outcome::Done);
    }
    let (mut pairs, mut ends) = (Vec::new(), Vec::new());
    for file in &args.data {
        pairs.append(&mut read_pairs(file)?);
        ends.push((name(file), pairs.len()));
    }
    let links = args.training.links(&pairs, &args.training.train)?;
    let (mut rows, mut start) = (Vec::new(), 0);
    for (data, end) in ends {
        let mut rate = ErrorRate::default();
        for (pair, links) in pairs[start..end].iter().zip(&links[start..end]) {
            rate.add(pair, links);
        }
        start = end;
        let kinds =
            [("all", rate.all), ("identical", rate.identical), ("different", rate.different)];
        rows.extend(kinds.map(|(words, counts)| LinkRow::new(data.clone(), words, counts)));
    }
    write_rows(format, &LinkRow::COLUMNS, &rows, LinkRow::cells, output)?;
    Ok(if pairs.is_empty() { Outcome::NothingFound } else { Outcome::Done })
}

/// Name of a file without its last ending.
fn name(file: &Path) -> String {
    file.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// How well the spans do that links cover (Culkin et al. 2021, section 4.3).
fn evaluate_cover(args: &Args, items: &[AlignedSpan]) -> anyhow::Result<Report> {
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

/// Links of one kind of words as JSON.
#[derive(Debug, Serialize)]
struct LinkRow {
    data: String,
    words: &'static str,
    precision: f64,
    recall: f64,
    error_rate: f64,
    #[serde(flatten)]
    counts: LinkCounts,
}

impl LinkRow {
    const COLUMNS: [&'static str; 7] =
        ["data", "words", "precision", "recall", "error rate", "found", "sure"];

    fn new(data: String, words: &'static str, counts: LinkCounts) -> Self {
        let (precision, recall) = (counts.precision(), counts.recall());
        Self { data, words, precision, recall, error_rate: counts.error_rate(), counts }
    }

    fn cells(&self) -> Vec<String> {
        let share = |share: f64| format!("{share:.4}");
        vec![
            self.data.clone(),
            self.words.to_owned(),
            share(self.precision),
            share(self.recall),
            share(self.error_rate),
            self.counts.found.to_string(),
            self.counts.sure.to_string(),
        ]
    }
}
