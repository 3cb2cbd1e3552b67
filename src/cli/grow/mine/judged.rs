//! `fnstore mine sample` and `fnstore mine tally`: what raters say of mined pairs.

use std::path::{Path, PathBuf};

use anyhow::ensure;
use fnstore::mine::{
    COUNTS, LABELS, RatedPair, RaterAgreement, RatingRow, draw, rater_agreement, ratings,
};

use crate::cli::Outcome;
use crate::cli::input::line_reader::LineError;
use crate::cli::input::table_lines::{Fields, TableLines};
use crate::cli::print::output::{Format, Output, tell};
use crate::cli::print::render::Row;

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

fn pair(fields: &Fields) -> Result<RatedPair, LineError> {
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
    Ok(RatedPair { id, source, target, label, counts })
}

fn read(file: Option<&Path>) -> anyhow::Result<(Vec<RatedPair>, TableLines)> {
    let mut lines = TableLines::open(file, &["id", "source", "target"])?;
    let mut items = Vec::new();
    while let Some((_, item)) = lines.next(pair)? {
        items.push(item);
    }
    Ok((items, lines))
}

pub(super) fn sample(args: &SampleArgs, output: &mut Output) -> anyhow::Result<Outcome> {
    let (items, lines) = read(args.file.as_deref())?;
    let items = draw(items, args.count, args.seed);
    let mut records = output.json_records()?;
    items.iter().try_for_each(|item| records.record(item))?;
    records.end_records()?;
    lines.finish("drawn from")?;
    Ok(Outcome::of(!items.is_empty()))
}

impl Row for RatingRow {
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
    output.rows(Format::Table, ratings(&first, &second))?;
    if let Some(RaterAgreement { pairs, agreed, kappa }) = rater_agreement(&first, &second) {
        tell(&format!(
            "the raters agree on {:.1} % of {pairs} pairs that both labelled; Cohen's kappa {kappa:.3}",
            100.0 * agreed
        ));
    }
    first_lines.finish("tallied")?;
    second_lines.map_or(Ok(()), |lines| lines.finish("tallied"))?;
    Ok(Outcome::of(!first.is_empty()))
}
