//! `fnstore mine cluster`: clusters of articles that come without.

use std::io::Write as _;
use std::path::PathBuf;

use fnstore::mine::{Grouping, day_of};
use serde::Serialize;

use super::date;
use crate::cli::Outcome;
use crate::cli::input::line_reader::LineError;
use crate::cli::input::table_lines::TableLines;
use crate::cli::options::number;
use crate::cli::print::output::{Format, Output, counted, tell};

/// Group articles by their words and dates
///
/// Reads `article`, `date` and `text`, and writes them with a `cluster`, the articles of each
/// together, as `fnstore mine` reads them. An article joins the one that it is most like among
/// those of the days before. All texts are held in memory.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Articles to read [default: standard input]
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,

    /// Least cosine of the weighted words of two articles of one event, 0 to 1
    #[arg(long, value_name = "COSINE", default_value_t = 0.3, value_parser = number::share::<f64>)]
    threshold: f64,

    /// Most days between them
    #[arg(long, value_name = "N", default_value_t = 3)]
    days: u32,
}

/// An article with its cluster as JSON.
#[derive(Debug, Serialize)]
struct Record {
    cluster: String,
    article: String,
    date: String,
    text: String,
}

pub(super) fn run(args: &Args, output: &mut Output) -> anyhow::Result<Outcome> {
    let mut lines = TableLines::open(args.file.as_deref(), &["article", "date", "text"])?;
    let (mut articles, mut days) = (Vec::new(), Vec::new());
    while let Some((_, (record, day))) = lines.next(|fields| {
        let date = date(fields)?.to_owned();
        let Some(day) = day_of(&date) else {
            return Err(LineError::new(
                "E-date",
                "the line has no `date`: expected one as 2004-08-23",
            ));
        };
        let (article, text) = (fields.required("article")?, fields.required("text")?);
        let (article, text) = (article.to_owned(), text.to_owned());
        Ok((Record { cluster: String::new(), article, date, text }, day))
    })? {
        articles.push(record);
        days.push(day);
    }
    let texts: Vec<(u32, &str)> =
        articles.iter().zip(&days).map(|(article, day)| (*day, article.text.as_str())).collect();
    let order = Grouping { threshold: args.threshold, days: args.days }.in_order(&texts);
    let count = order.last().map_or(0, |(_, last)| last + 1);
    for (at, cluster) in &order {
        articles[*at].cluster = format!("c{}", cluster + 1);
    }
    let format = output.format_or(Format::Jsonl);
    let columns = ["cluster", "article", "date", "text"];
    match format {
        Format::Json | Format::Jsonl => {}
        Format::Csv => output.fields(format, columns)?,
        // `mine` reads lines as they are: nothing is quoted.
        Format::Table | Format::Tsv => writeln!(output.data(), "{}", columns.join("\t"))?,
    }
    for (at, _) in order {
        let Record { cluster, article, date, text } = &articles[at];
        match format {
            Format::Json | Format::Jsonl => output.record(&articles[at], format)?,
            Format::Csv => output.fields(format, [cluster, article, date, text])?,
            Format::Table | Format::Tsv => {
                let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
                writeln!(output.data(), "{cluster}\t{article}\t{date}\t{text}")?;
            }
        }
    }
    output.end_records(format)?;
    output.flush()?;
    tell(&format!(
        "{} in {}",
        counted(articles.len() as u64, "article"),
        counted(count as u64, "cluster")
    ));
    lines.finish("grouped")?;
    Ok(Outcome::of(!articles.is_empty()))
}
