//! `fnstore check`: whether the store is whole.

use std::collections::BTreeMap;

use fnstore::database::Database;
use fnstore::upkeep::{CheckOptions, CheckReport, Finding, Leak};
use serde::Serialize;

use super::output::{Format, Output, grouped, tell};
use super::render::{Row, under};
use super::splits::SplitArgs;
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

    /// List instead what stands in two parts of the data: texts, letter case, accents, punctuation
    /// and spacing aside, and generated sets whose seed's sentence is in another part
    #[arg(long, conflicts_with = "deep")]
    leaks: bool,

    #[command(flatten)]
    splits: SplitArgs,
}

/// A leak as JSON; see `schema/leak.schema.json`.
#[derive(Debug, Serialize)]
struct LeakRecord {
    code: &'static str,
    part: &'static str,
    release: String,
    set: String,
    sets: u64,
    other_part: &'static str,
    other_release: String,
    other_set: String,
    other_sets: u64,
    text: String,
}

impl Row for LeakRecord {
    const COLUMNS: &'static [&'static str] = &[
        "code",
        "part",
        "release",
        "set",
        "sets",
        "other_part",
        "other_release",
        "other_set",
        "other_sets",
        "text",
    ];
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

/// Lists leaks; the exit code says whether there are any.
fn leaks(args: &Args, context: &mut Context) -> anyhow::Result<Outcome> {
    let database = args.splits.over(|| Database::open(&context.store))?;
    let leaks = database.leaks()?;
    let releases = database.releases()?;
    let name = |id| {
        let release = releases.iter().find(|release| release.id == id);
        release.map_or_else(String::new, |release| release.name.clone())
    };
    let found = leaks.len() as u64;
    let records = leaks.into_iter().map(|Leak { kind, first, second, sets, text }| LeakRecord {
        code: kind.as_str(),
        part: first.0.as_str(),
        release: name(first.1),
        set: first.2.to_string(),
        sets: sets.0,
        other_part: second.0.as_str(),
        other_release: name(second.1),
        other_set: second.2.to_string(),
        other_sets: sets.1,
        text,
    });
    context.output.rows(Format::Jsonl, records)?;
    context.output.flush()?;
    tell(&match found {
        0 => {
            "no text stands in two parts, and no generated set in another than its seed".to_owned()
        }
        found => format!("leaks: {}", grouped(found)),
    });
    Ok(if found == 0 { Outcome::Done } else { Outcome::CheckFailed })
}

pub(super) fn run(args: Args, context: &mut Context) -> anyhow::Result<Outcome> {
    if args.leaks {
        return leaks(&args, context);
    }
    anyhow::ensure!(
        args.splits.list()?.is_none(),
        "`--split-list` says which part of the data something is in; expected it with `--leaks`"
    );
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
                vec![(*code).to_owned(), count.to_string(), of.family.to_owned(), of.detail.clone()]
            };
            examples.iter().map(row)
        });
    let rows = under(&["code", "count", "family", "detail"], rows);
    output.report(&record, rows, |output| summary(&record, output))?;
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
