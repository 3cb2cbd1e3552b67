//! What an experiment prints and draws.

use std::io::Write as _;
use std::path::Path;

use fnstore::experiment::{Comparison, ExperimentProgress};
use fnstore::model::Split;
use fnstore::text::chart::{Bar, BarChart, Group};
use serde::Serialize;

use crate::cli::Context;
use crate::cli::print::output::{Format, tell};
use crate::cli::print::progress;
use crate::cli::print::render::Row;
use crate::cli::process::whole_file::WholeFile;

/// An arm of a share by one measure, as JSON; see `schema/experiment.schema.json`.
#[derive(Debug, Serialize)]
struct ComparisonRow<'a> {
    /// JSON `{"enum": ["frame-id", "fes"]}`.
    experiment: &'static str,
    /// JSON `{"enum": ["dev", "test"]}`.
    part: Split,
    #[serde(flatten)]
    comparison: &'a Comparison,
}

impl Row for ComparisonRow<'_> {
    const COLUMNS: &'static [&'static str] = &[
        "share",
        "arm",
        "measure",
        "sentences",
        "exemplars",
        "added",
        "resamples",
        "mean",
        "deviation",
        "gain",
        "t",
        "p_value",
        "runs",
    ];

    const TABLE_COLUMNS: &'static [&'static str] =
        &["share", "arm", "measure", "sentences", "exemplars", "added", "mean", "gain", "p_value"];

    fn cells(&self) -> Vec<String> {
        let percent = |share: f64| format!("{:.2}", 100.0 * share);
        let of = self.comparison;
        let deviation = of.deviation.map(|of| format!(" +- {}", percent(of)));
        vec![
            of.share.clone(),
            of.arm.clone(),
            of.measure.to_owned(),
            of.sentences.to_string(),
            of.exemplars.to_string(),
            format!("{:.0}", of.added),
            percent(of.mean) + &deviation.unwrap_or_default(),
            of.gain.map_or_else(String::new, |gain| format!("{:+.2}", 100.0 * gain)),
            of.p_value.map_or_else(String::new, |p| format!("{p:.3}")),
        ]
    }
}

/// Prints the rows, and draws those of a measure.
pub(super) fn write(
    (experiment, part): (&'static str, Split),
    comparisons: &[Comparison],
    (svg, measure, title): (Option<WholeFile>, &str, &str),
    context: &mut Context,
) -> anyhow::Result<()> {
    if let Some(mut file) = svg {
        file.write_all(chart(comparisons, measure, title).svg().as_bytes())?;
        file.finish()?;
    }
    let rows = comparisons.iter().map(|of| ComparisonRow { experiment, part, comparison: of });
    context.output.rows(Format::Jsonl, rows)?;
    if context.output.format_or(Format::Jsonl) == Format::Table {
        context.output.line(
            "percent, mean +- standard deviation over the draws; gain over the plain arm; p of a \
             paired t-test, two-sided",
        )?;
    }
    Ok(())
}

/// A place for the picture, before the work.
pub(super) fn prepare(svg: Option<&Path>) -> anyhow::Result<Option<WholeFile>> {
    svg.map(|path| WholeFile::create(path, "figure")).transpose()
}

/// The means of a measure: a group for each share, a bar for each arm.
fn chart(comparisons: &[Comparison], measure: &str, title: &str) -> BarChart {
    let rows: Vec<&Comparison> = comparisons.iter().filter(|of| of.measure == measure).collect();
    let distinct = |name: fn(&Comparison) -> &str| {
        let mut names: Vec<String> = Vec::new();
        for row in &rows {
            if !names.iter().any(|known| known == name(row)) {
                names.push(name(row).to_owned());
            }
        }
        names
    };
    let (shares, series) = (distinct(|row| &row.share), distinct(|row| &row.arm));
    let bar = |share: &str, arm: &str| {
        let row = rows.iter().find(|row| row.share == share && row.arm == arm);
        let value = row.map_or(0.0, |row| 100.0 * row.mean);
        Bar { value, note: row.map_or_else(String::new, |_| format!("{value:.1}")) }
    };
    let groups = shares.iter().map(|share| Group {
        label: share.clone(),
        bars: series.iter().map(|arm| bar(share, arm)).collect(),
    });
    BarChart {
        title: title.to_owned(),
        x: "share of the full text, % (+: with exemplars)".to_owned(),
        y: format!("{measure}, %"),
        groups: groups.collect(),
        series,
        curves: Vec::new(),
    }
}

/// Draws how far an experiment is, and says what each training gave.
pub(super) fn tell_progress(bar: &mut progress::Bar, at: ExperimentProgress) {
    match at {
        ExperimentProgress::Encoded { done, total } => {
            bar.set_length(total as u64);
            bar.set_position(done as u64);
        }
        ExperimentProgress::Resumed { done, total } => {
            tell(&format!("resuming after {done} of {total} trainings"));
        }
        ExperimentProgress::Trained { done, total, what, f1 } => {
            if !bar.is_finished() && bar.message() != "training" {
                bar.finish_and_clear();
                *bar = progress::bar("training", "trainings");
            }
            bar.set_length(total as u64);
            bar.set_position(done as u64);
            bar.suspend(|| tell(&format!("{done} of {total}: {what}: F1 {:.2} %", 100.0 * f1)));
        }
        _ => {}
    }
}
