//! `fnstore check`: whether the store is whole.

use std::collections::BTreeMap;

use fnstore::database::Database;
use fnstore::upkeep::{CheckOptions, CheckReport, Finding};
use serde::Serialize;

use super::output::{Output, grouped};
use super::{Context, Outcome, progress};

/// Check that the store is whole
///
/// Reads every row with its checksum, decodes it, looks up its references, and counts the index's
/// entries. Works beside a writer and changes nothing. The exit code is 1 if something is wrong.
/// schema/check.md explains the codes.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Also check references in both directions, and compare the index term by term
    #[arg(long)]
    deep: bool,
}

/// A check as JSON; see `schema/check.schema.json`.
#[derive(Debug, Serialize)]
struct CheckRecord {
    store: String,
    deep: bool,
    revision: u64,
    rows: BTreeMap<&'static str, u64>,
    unlisted_rows: u64,
    index_entries: Option<u64>,
    index_behind: u64,
    findings: Vec<FindingRecord>,
}

#[derive(Debug, Serialize)]
struct FindingRecord {
    code: &'static str,
    count: u64,
    meaning: &'static str,
    examples: Vec<Finding>,
}

pub(super) fn run(args: Args, context: &mut Context) -> anyhow::Result<Outcome> {
    let bar = progress::bar("checking", "rows");
    let options = CheckOptions { deep: args.deep };
    let report = Database::check_at(&context.store, options, &mut |rows| {
        // How many there are is only known at the end.
        bar.set_length(rows);
        bar.set_position(rows);
    });
    bar.finish_and_clear();
    let report = report?;
    let output = &mut context.output;
    let record = record(&report, args.deep, context.store.display().to_string());
    let rows =
        record.findings.iter().flat_map(|FindingRecord { code, count, examples, .. }| {
            let row = |of: &Finding| {
                [(*code).to_owned(), count.to_string(), of.family.to_owned(), of.detail.clone()]
            };
            examples.iter().map(row)
        });
    output.report(&record, Some(rows), |output| summary(&record, output))?;
    Ok(if report.findings.is_empty() { Outcome::Done } else { Outcome::CheckFailed })
}

fn record(report: &CheckReport, deep: bool, store: String) -> CheckRecord {
    let findings = report.findings.iter().map(|(code, count, examples)| FindingRecord {
        code: code.as_str(),
        count,
        meaning: code.meaning(),
        examples: examples.to_vec(),
    });
    CheckRecord {
        store,
        deep,
        revision: report.revision,
        rows: report.rows.clone(),
        unlisted_rows: report.unlisted_rows,
        index_entries: report.index_entries,
        index_behind: report.index_behind,
        findings: findings.collect(),
    }
}

fn summary(report: &CheckRecord, output: &mut Output) -> anyhow::Result<()> {
    let rows: u64 = report.rows.values().sum();
    let entries = report.index_entries.map_or("no index".to_owned(), |entries| {
        format!("{} entries of the index", grouped(entries))
    });
    output.line(&format!("revision {}: {} rows, {entries}", report.revision, grouped(rows)))?;
    if report.unlisted_rows > 0 {
        let rows = grouped(report.unlisted_rows);
        output
            .line(&format!("{rows} rows of an unfinished import; the next import removes them"))?;
    }
    if report.index_behind > 0 {
        let commits = grouped(report.index_behind);
        output.line(&format!(
            "the index is {commits} commits behind; queries make up for it, the next writer catches up"
        ))?;
    }
    if report.findings.is_empty() {
        return Ok(output.line("nothing is wrong")?);
    }
    for FindingRecord { code, count, meaning, examples } in &report.findings {
        output.line("")?;
        output.heading(&format!("{code}  {}  {meaning}", grouped(*count)))?;
        for finding in examples {
            output.line(&format!("  {}: {}", finding.family, finding.detail))?;
        }
        let more = count - examples.len() as u64;
        if more > 0 {
            output.line(&format!("  and {} more", grouped(more)))?;
        }
    }
    Ok(())
}
