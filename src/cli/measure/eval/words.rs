//! `fnstore eval words`: how well a word aligner does.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use anyhow::ensure;
use fnstore::align::words::{ErrorRate, LinkCounts, Links, SentencePair, between, combined};
use fnstore::align::{AlignedSpan, AlignmentReport, Dataset};
use fnstore::model::Fraction;
use serde::Serialize;

use super::{ScoreRecord, rows};
use crate::cli::grow::align::tell_refused;
use crate::cli::grow::align::words::Training;
use crate::cli::print::output::{Format, Output};
use crate::cli::print::render::Row;
use crate::cli::{Context, Outcome};

/// Measure a word aligner: alignment error rate on all, identical and different words
///
/// A statistical aligner is trained on the pairs of `--data`, without their links, and on those of
/// `--train`. A pair that is too long for an encoder is reported and counts as one without links.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// JSON lines: source and target (texts or lists of words), sure and possible ([source word,
    /// target word], counted from 0) May be repeated: what is trained is trained once, and each
    /// file is measured by itself
    #[arg(long, value_name = "FILE", required_unless_present = "spans", conflicts_with = "spans")]
    data: Vec<PathBuf>,

    /// Measure the spans that links cover, on data as for `fnstore train aligner`
    #[arg(long, value_name = "FILE")]
    spans: Option<PathBuf>,

    /// Train an aligner on each FILE by itself, and print Table 1 of Dolan et al. (2004): a column
    /// for each FILE and each file of `--data`; may be repeated
    #[arg(long, value_name = "FILE", conflicts_with_all = ["spans", "train"])]
    trained_on: Vec<PathBuf>,

    /// Another annotator's links of the same pairs, a FILE for each `--data` in their order: links
    /// are sure where both say so, and the annotators are measured against each other
    #[arg(long, value_name = "FILE", conflicts_with = "spans")]
    second: Vec<PathBuf>,

    #[command(flatten)]
    training: Training,
}

pub(crate) fn run(args: Args, context: &mut Context) -> anyhow::Result<Outcome> {
    args.training.refuse_unread()?;
    let output = &mut context.output;
    if let Some(file) = &args.spans {
        let report = evaluate_cover(&args, &Dataset::<AlignedSpan>::read(file)?)?;
        let unanswered = report.unanswered;
        let rows = rows(&report).into_iter().map(|score| SpanRow { score, unanswered });
        output.rows(Format::Table, rows)?;
        return Ok(Outcome::Done);
    }
    let Gold { pairs, ends, mut rows } = Gold::read(&args)?;
    let is_compared = !args.trained_on.is_empty() || !rows.is_empty();
    let one_file = |file: &PathBuf| (Some(name(file)), vec![file.clone()]);
    let mut sets: Vec<(Option<String>, Vec<PathBuf>)> =
        args.trained_on.iter().map(one_file).collect();
    if sets.is_empty() {
        sets.push((None, args.training.train.clone()));
    }
    let mut measured = Vec::new();
    for (trained_on, files) in sets {
        let links = args.training.links(&pairs, &files)?;
        tell_refused(&pairs, &links);
        let mut start = 0;
        for (data, end) in &ends {
            let (mut rate, mut unanswered) = (ErrorRate::default(), 0);
            for (pair, links) in pairs.items()[start..*end].iter().zip(&links[start..*end]) {
                unanswered += u64::from(links.is_err());
                rate.add(pair, links.as_ref().unwrap_or(&Links::default()));
            }
            start = *end;
            measured.extend(kinds(&rate).map(|(words, counts)| LinkRow {
                by: is_compared.then_some("aligner"),
                trained_on: trained_on.clone(),
                ..LinkRow::new(data.clone(), words, counts, unanswered)
            }));
        }
    }
    rows.splice(..0, measured);
    match is_compared {
        false => output.rows(Format::Table, rows)?,
        true if output.format_or(Format::Table) == Format::Table => lay_out(&rows, output)?,
        true => output.rows(Format::Table, rows.into_iter().map(Compared::from))?,
    }
    Ok(Outcome::of(!pairs.is_empty()))
}

/// Pairs with gold links.
struct Gold {
    pairs: Dataset<SentencePair>,
    /// Name of each file, and where its pairs end.
    ends: Vec<(String, usize)>,
    /// How annotators agree, where there are two.
    rows: Vec<LinkRow>,
}

impl Gold {
    fn read(args: &Args) -> anyhow::Result<Self> {
        ensure!(
            args.second.is_empty() || args.second.len() == args.data.len(),
            "`--second` is given {} times and `--data` {} times; expected one for each, in the same order",
            args.second.len(),
            args.data.len()
        );
        let mut gold = Self { pairs: Dataset::default(), ends: Vec::new(), rows: Vec::new() };
        for (at, file) in args.data.iter().enumerate() {
            let mut pairs = Dataset::<SentencePair>::read(file)?;
            if let Some(second) = args.second.get(at) {
                let others = Dataset::<SentencePair>::read(second)?;
                expect_same(&pairs, &others, file, second)?;
                gold.rows.extend(annotators(&name(file), pairs.items(), others.items()));
                let mut both = Dataset::default();
                for (at, line) in pairs.lines().iter().enumerate() {
                    both.push(combined(&pairs.items()[at], &others.items()[at]), line.clone());
                }
                pairs = both;
            }
            gold.pairs.append(pairs);
            gold.ends.push((name(file), gold.pairs.len()));
        }
        Ok(gold)
    }
}

/// Whether two annotators marked the same pairs.
fn expect_same(
    first: &Dataset<SentencePair>,
    second: &Dataset<SentencePair>,
    file: &Path,
    other: &Path,
) -> anyhow::Result<()> {
    let words = |pair: &SentencePair| (pair.source.clone(), pair.target.clone());
    let mut both = first.items().iter().zip(second.items());
    let differs = both.position(|(a, b)| words(a) != words(b));
    let place = differs.or((first.len() != second.len()).then(|| first.len().min(second.len())));
    ensure!(
        place.is_none(),
        "pair {} of `{}` is not that of `{}`; expected the same pairs in the same order",
        place.map_or(0, |place| place + 1),
        other.display(),
        file.display()
    );
    Ok(())
}

/// How two annotators agree: the means of both directions.
fn annotators(data: &str, first: &[SentencePair], second: &[SentencePair]) -> Vec<LinkRow> {
    let [forth, back] = between(first, second);
    let rows = kinds(&forth).into_iter().zip(kinds(&back)).map(|((words, a), (_, b))| {
        let mean = |figure: fn(&LinkCounts) -> f64| f64::midpoint(figure(&a), figure(&b));
        let mut counts = a;
        counts += b;
        LinkRow {
            by: Some("annotator"),
            precision: mean(LinkCounts::precision),
            recall: mean(LinkCounts::recall),
            error_rate: mean(LinkCounts::error_rate),
            ..LinkRow::new(data.to_owned(), words, counts, 0)
        }
    });
    rows.collect()
}

fn kinds(rate: &ErrorRate) -> [(&'static str, LinkCounts); 3] {
    [("all", rate.all), ("identical", rate.identical), ("different", rate.different)]
}

/// A number of a row.
type Figure = fn(&LinkRow) -> f64;

/// The paper's Table 1: a column for each aligner on each file, then one for the annotators of each
/// file.
fn lay_out(rows: &[LinkRow], output: &mut Output) -> anyhow::Result<()> {
    // The three rows of a column follow each other: all words, identical and different ones.
    let columns: Vec<&[LinkRow]> = rows.chunks_exact(3).collect();
    let heads = columns.iter().map(|column| match (column[0].by, &column[0].trained_on) {
        (Some("annotator"), _) => format!("annotators on {}", column[0].data),
        (_, Some(trained_on)) => format!("{trained_on} on {}", column[0].data),
        (_, None) => column[0].data.clone(),
    });
    let heads: Vec<String> = [String::new()].into_iter().chain(heads).collect();
    let figures: [(&str, Figure); 3] = [
        ("precision", |row| row.precision),
        ("recall", |row| row.recall),
        ("error rate", |row| row.error_rate),
    ];
    let lines = ["", "identical words, ", "different words, "].iter().enumerate();
    let lines = lines.flat_map(|(kind, words)| {
        let columns = &columns;
        figures.iter().map(move |(name, figure)| {
            let cells = columns.iter().map(|column| format!("{:.4}", figure(&column[kind])));
            [format!("{words}{name}")].into_iter().chain(cells).collect::<Vec<String>>()
        })
    });
    let heads: Vec<&str> = heads.iter().map(String::as_str).collect();
    Ok(output.table(&heads, lines.collect())?)
}

/// Name of a file without its last ending.
fn name(file: &Path) -> String {
    file.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// How well the spans do that links cover (Culkin et al. 2021, section 4.3).
fn evaluate_cover(args: &Args, data: &Dataset<AlignedSpan>) -> anyhow::Result<AlignmentReport> {
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
    let mut report = AlignmentReport::default();
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
    /// Items of the file that are too long for the encoder; their spans count as not found.
    unanswered: u64,
}

impl Row for SpanRow {
    const COLUMNS: &'static [&'static str] =
        &["items", "unit", "precision", "recall", "f1", "gold", "unanswered"];

    fn cells(&self) -> Vec<String> {
        let mut cells = self.score.cells();
        cells.push(self.unanswered.to_string());
        cells
    }
}

/// Links of one kind of words as JSON; see `schema/link-error-rate.schema.json`.
#[derive(Debug, Serialize)]
struct LinkRow {
    /// Whose links they are, where aligners or annotators are compared.
    #[serde(skip)]
    by: Option<&'static str>,
    #[serde(skip)]
    trained_on: Option<String>,
    data: String,
    /// JSON `{"enum": ["all", "identical", "different"]}`.
    words: &'static str,
    precision: Fraction,
    recall: Fraction,
    error_rate: Fraction,
    #[serde(flatten)]
    counts: LinkCounts,
    /// Pairs of the file that are too long for the encoder; none of their links is found.
    unanswered: u64,
}

impl LinkRow {
    fn new(data: String, words: &'static str, counts: LinkCounts, unanswered: u64) -> Self {
        let (precision, recall) = (counts.precision(), counts.recall());
        let error_rate = counts.error_rate();
        let (by, trained_on) = (None, None);
        Self { by, trained_on, data, words, precision, recall, error_rate, counts, unanswered }
    }
}

impl Row for LinkRow {
    const COLUMNS: &'static [&'static str] =
        &["data", "words", "precision", "recall", "error_rate", "found", "sure", "unanswered"];

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
            self.unanswered.to_string(),
        ]
    }
}

/// The same, with whose links they are.
#[derive(Debug, Serialize)]
struct Compared {
    by: Option<&'static str>,
    trained_on: Option<String>,
    #[serde(flatten)]
    links: LinkRow,
}

impl From<LinkRow> for Compared {
    fn from(links: LinkRow) -> Self {
        Self { by: links.by, trained_on: links.trained_on.clone(), links }
    }
}

impl Row for Compared {
    const COLUMNS: &'static [&'static str] = &[
        "by",
        "trained_on",
        "data",
        "words",
        "precision",
        "recall",
        "error_rate",
        "found",
        "sure",
        "unanswered",
    ];

    fn cells(&self) -> Vec<String> {
        let Self { by, trained_on, links } = self;
        let whose = [by.unwrap_or_default().to_owned(), trained_on.clone().unwrap_or_default()];
        whose.into_iter().chain(links.cells()).collect()
    }
}
