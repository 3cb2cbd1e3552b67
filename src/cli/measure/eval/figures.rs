//! Figures 4 and 5 of Culkin et al. 2021 for an aligner of one's own.

use std::io::Write;
use std::path::Path;

use anyhow::Context as _;
use fnstore::align::{Breakdown, Counts, DISTANCE_BINS, LONGEST, Lengths};
use fnstore::text::chart::{Bar, BarChart, Group};

use super::aligner::{distance_name, length_name};
use crate::cli::process::whole_file::WholeFile;

/// Makes the directory, so that a place that cannot be written is known before the long part.
pub(super) fn prepare(dir: &Path) -> anyhow::Result<()> {
    std::fs::create_dir_all(dir)
        .with_context(|| format!("cannot make the directory `{}` for figures", dir.display()))
}

/// Draws both figures.
pub(super) fn draw(dir: &Path, breakdown: &Breakdown) -> anyhow::Result<()> {
    let figures = [("length.svg", lengths(breakdown)), ("distance.svg", distances(breakdown))];
    for (name, chart) in figures {
        let mut file = WholeFile::create(&dir.join(name), "figure")?;
        file.write_all(chart.svg().as_bytes())?;
        file.finish()?;
    }
    Ok(())
}

/// A bar as high as a share of items, with their exact F1 above it.
fn bar(items: u64, all: u64, exact: &Counts) -> Bar {
    let note = if items == 0 { String::new() } else { format!("{:.2}", exact.f1()) };
    Bar { value: 100.0 * items as f64 / all.max(1) as f64, note }
}

fn lengths(breakdown: &Breakdown) -> BarChart {
    let kinds = [&breakdown.source, &breakdown.gold, &breakdown.found];
    let group = |bin: usize| {
        let bar = |lengths: &&Lengths| {
            let of_bin = &lengths.bins[bin];
            bar(of_bin.items, lengths.spans, &of_bin.agreement.exact)
        };
        Group { label: length_name(bin), bars: kinds.iter().map(bar).collect() }
    };
    BarChart {
        title: "Length of spans, with exact F1 above each bar".to_owned(),
        x: "length in words".to_owned(),
        y: "share of spans, %".to_owned(),
        series: ["source", "gold", "found"].map(str::to_owned).into(),
        groups: (0..LONGEST as usize).map(group).collect(),
        curves: Vec::new(),
    }
}

fn distances(breakdown: &Breakdown) -> BarChart {
    let all = breakdown.distances.iter().map(|bin| bin.items).sum();
    let group = |at: usize| {
        let bin = &breakdown.distances[at];
        let bar = bar(bin.items, all, &bin.agreement.exact);
        Group { label: distance_name(at), bars: vec![bar] }
    };
    BarChart {
        title: "Difference in position of source and gold span, with exact F1".to_owned(),
        x: "difference of both ends in words, bins of five".to_owned(),
        y: "share of items, %".to_owned(),
        series: Vec::new(),
        groups: (0..DISTANCE_BINS).map(group).collect(),
        curves: Vec::new(),
    }
}
