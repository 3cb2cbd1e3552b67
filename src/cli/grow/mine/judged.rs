//! `fnstore mine sample` and `fnstore mine tally`: what raters say of mined pairs.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::ensure;
use fnstore::mine::{Estimate, estimate};
use fnstore::model::Amount;
use serde::Serialize;

use crate::cli::Outcome;
use crate::cli::input::line_reader::LineError;
use crate::cli::input::table_lines::{Fields, TableLines};
use crate::cli::print::output::{Format, Output, tell};
use crate::cli::print::render::Row;

/// What a pair is to a rater.
const LABELS: [&str; 3] = ["paraphrase", "partial", "unrelated"];

/// What a rater counts in a pair (Dolan et al. 2004, Table 2).
const COUNTS: [&str; 6] =
    ["elaboration", "phrasal", "spelling", "synonym", "anaphora", "reordering"];

/// Draw pairs for raters
///
/// Writes JSON lines with an empty `label`, in which a rater puts paraphrase, partial or unrelated,
/// and fields for the number of instances of each kind of difference. Each rater fills a copy;
/// `fnstore mine tally` reads them. The draw is that of the seed, whatever the order of the pairs.
#[derive(Debug, clap::Args)]
pub(super) struct SampleArgs {
    /// Pairs, as `fnstore mine` writes them in JSON lines [default: standard input]
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,

    /// Draw N pairs
    #[arg(long, value_name = "N", default_value_t = 100)]
    count: usize,

    /// Seed of the draw
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
}

/// Count what raters said, and how far they agree
///
/// Beside the raters' counts of spelling, synonym and reordering stand those that the program
/// estimates.
#[derive(Debug, clap::Args)]
pub(super) struct TallyArgs {
    /// File that a rater filled in
    #[arg(value_name = "FILE")]
    first: PathBuf,

    /// File of a second rater
    #[arg(value_name = "FILE")]
    second: Option<PathBuf>,
}

/// A pair to be judged.
#[derive(Debug, Clone, Serialize)]
struct Item {
    id: String,
    source: String,
    target: String,
    label: String,
    #[serde(flatten)]
    counts: BTreeMap<&'static str, Option<u32>>,
}

impl Item {
    fn read(fields: &Fields) -> Result<Self, LineError> {
        let own = |name: &str| fields.required(name).map(str::to_owned);
        let label = fields.optional("label").to_owned();
        if !label.is_empty() && !LABELS.contains(&label.as_str()) {
            let message = format!("`{label}` is no label: expected {}", LABELS.join(", "));
            return Err(LineError::new("E-label", message));
        }
        let count = |name: &'static str| match fields.optional(name) {
            "" => Ok((name, None)),
            count => count.parse().map(|count| (name, Some(count))).map_err(|_| {
                LineError::new("E-type", format!("`{name}` is `{count}`: expected a count"))
            }),
        };
        let counts = COUNTS.into_iter().map(count).collect::<Result<_, _>>()?;
        let (id, source, target) = (own("id")?, own("source")?, own("target")?);
        Ok(Self { id, source, target, label, counts })
    }
}

fn read(file: Option<&Path>) -> anyhow::Result<(Vec<Item>, TableLines)> {
    let mut lines = TableLines::open(file, &["id", "source", "target"])?;
    let mut items = Vec::new();
    while let Some((_, item)) = lines.next(Item::read)? {
        items.push(item);
    }
    Ok((items, lines))
}

pub(super) fn sample(args: &SampleArgs, output: &mut Output) -> anyhow::Result<Outcome> {
    let (mut items, lines) = read(args.file.as_deref())?;
    let draw = |item: &Item| {
        let drawn = format!("{}\t{}\t{}", args.seed, item.source, item.target);
        *blake3::hash(drawn.as_bytes()).as_bytes()
    };
    items.sort_by_cached_key(draw);
    items.truncate(args.count);
    let mut records = output.json_records()?;
    items.iter().try_for_each(|item| records.record(item))?;
    records.end_records()?;
    lines.finish("drawn from")?;
    Ok(Outcome::of(!items.is_empty()))
}

/// What was found, as JSON; see `schema/mine-tally.schema.json`.
#[derive(Debug, Serialize)]
struct TallyRow {
    what: String,
    first: Option<Amount>,
    second: Option<Amount>,
    estimate: Option<Amount>,
}

impl Row for TallyRow {
    const COLUMNS: &'static [&'static str] = &["what", "first", "second", "estimate"];

    fn cells(&self) -> Vec<String> {
        let number =
            |value: Option<f64>| value.map_or(String::new(), |value| format!("{value:.3}"));
        vec![self.what.clone(), number(self.first), number(self.second), number(self.estimate)]
    }
}

pub(super) fn tally(args: &TallyArgs, output: &mut Output) -> anyhow::Result<Outcome> {
    let (first, first_lines) = read(Some(&args.first))?;
    let (second, second_lines) = match &args.second {
        Some(file) => {
            let (items, lines) = read(Some(file))?;
            (items, Some(lines))
        }
        None => (Vec::new(), None),
    };
    ensure!(
        second.is_empty()
            || second.iter().map(|item| &item.id).eq(first.iter().map(|item| &item.id)),
        "the two files have different pairs; expected the same sample filled in twice"
    );
    let found: Vec<Estimate> =
        first.iter().map(|item| estimate(&item.source, &item.target)).collect();
    let mut rows: Vec<TallyRow> = Vec::new();
    for label in LABELS {
        let share = |items: &[Item]| {
            let labelled = items.iter().filter(|item| !item.label.is_empty()).count();
            let so = items.iter().filter(|item| item.label == label).count();
            (labelled > 0).then(|| so as f64 / labelled as f64)
        };
        let what = format!("{label}, share");
        rows.push(TallyRow { what, first: share(&first), second: share(&second), estimate: None });
    }
    for name in COUNTS {
        let mean = |items: &[Item]| {
            let counts: Vec<u32> = items.iter().filter_map(|item| item.counts[name]).collect();
            let sum: u32 = counts.iter().sum();
            (!counts.is_empty()).then(|| f64::from(sum) / counts.len() as f64)
        };
        let estimated: Option<fn(&Estimate) -> usize> = match name {
            "spelling" => Some(|of| of.spelling),
            "synonym" => Some(|of| of.synonym),
            "reordering" => Some(|of| of.reordering),
            _ => None,
        };
        let estimate = estimated
            .map(|of| found.iter().map(of).sum::<usize>() as f64 / found.len().max(1) as f64);
        let what = format!("{name}, a pair");
        rows.push(TallyRow { what, first: mean(&first), second: mean(&second), estimate });
    }
    output.rows(Format::Table, rows)?;
    if let Some((agreed, kappa, both)) = agreement(&first, &second) {
        tell(&format!(
            "the raters agree on {:.1} % of {both} pairs that both labelled; Cohen's kappa {kappa:.3}",
            100.0 * agreed
        ));
    }
    first_lines.finish("tallied")?;
    second_lines.map_or(Ok(()), |lines| lines.finish("tallied"))?;
    Ok(Outcome::of(!first.is_empty()))
}

/// Share of the pairs labelled twice that have one label, the same beyond chance (Cohen 1960), and
/// their number.
fn agreement(first: &[Item], second: &[Item]) -> Option<(f64, f64, usize)> {
    let labelled = |pair: &(&Item, &Item)| !pair.0.label.is_empty() && !pair.1.label.is_empty();
    let both: Vec<(&Item, &Item)> = first.iter().zip(second).filter(labelled).collect();
    let count = both.len() as f64;
    let agreed = both.iter().filter(|(a, b)| a.label == b.label).count() as f64 / count;
    let chance: f64 = LABELS
        .iter()
        .map(|label| {
            let a = both.iter().filter(|(a, _)| a.label == *label).count() as f64;
            let b = both.iter().filter(|(_, b)| b.label == *label).count() as f64;
            a * b / (count * count)
        })
        .sum();
    let kappa = if chance < 1.0 { (agreed - chance) / (1.0 - chance) } else { 1.0 };
    (!both.is_empty()).then_some((agreed, kappa, both.len()))
}
