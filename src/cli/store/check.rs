//! `fnstore check`: whether the store is whole.

use std::collections::BTreeMap;

use fnstore::database::Database;
use fnstore::edit::RepairReport;
use fnstore::model::{AnnotationSetId, Hex16, Hex32, Positive, SentenceId, Split};
use fnstore::upkeep::{CheckOptions, CheckReport, Finding, Leak, LeakKind};
use serde::Serialize;

use crate::cli::options::confirm::is_confirmed;
use crate::cli::options::splits::SplitArgs;
use crate::cli::print::output::{Format, Output, counted, grouped, tell};
use crate::cli::print::progress;
use crate::cli::print::render::{Row, under};
use crate::cli::{Context, Outcome};

/// Check that the store is whole
///
/// Reads every row with its checksum, decodes it, looks up its references, and counts the index's
/// entries. Works beside a writer and changes nothing, unless `--repair` is given. The exit code is
/// 1 if something is wrong. schema/check.md explains the codes.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Also check references in both directions, and compare the index term by term
    #[arg(long)]
    deep: bool,

    /// List instead what stands in two parts of the data: texts, letter case, accents, punctuation
    /// and spacing aside, and generated sets whose seed's sentence is in another part
    #[arg(long, conflicts_with = "deep")]
    leaks: bool,

    /// First remove the records that cannot be read, with what would be left dangling, and make
    /// counts anew that are wrong
    #[arg(long, conflicts_with = "leaks")]
    repair: bool,

    /// Remove without asking
    #[arg(long, requires = "repair")]
    yes: bool,

    #[command(flatten)]
    splits: SplitArgs,
}

/// Records that a question names before it.
const NAMED: usize = 5;

/// A leak as JSON; see `schema/leak.schema.json`.
#[derive(Debug, Serialize)]
struct LeakRecord {
    code: LeakKind,
    part: Split,
    release: String,
    set: AnnotationSetId,
    sentence: SentenceId,
    sets: Positive,
    other_part: Split,
    other_release: String,
    other_set: AnnotationSetId,
    other_sentence: SentenceId,
    other_sets: Positive,
    text: String,
}

impl Row for LeakRecord {
    const COLUMNS: &'static [&'static str] = &[
        "code",
        "part",
        "release",
        "set",
        "sentence",
        "sets",
        "other_part",
        "other_release",
        "other_set",
        "other_sentence",
        "other_sets",
        "text",
    ];
}

/// A check as JSON; see `schema/check.schema.json`.
#[derive(Debug, Serialize)]
struct CheckRecord {
    store: String,
    id: Option<Hex32>,
    generation: Option<Hex16>,
    deep: bool,
    revision: u64,
    rows: BTreeMap<&'static str, u64>,
    unlisted_rows: u64,
    index_entries: Option<u64>,
    index_behind: u64,
    removed: Vec<RemovedRecord>,
    gone: BTreeMap<&'static str, Positive>,
    recounted: Vec<String>,
    findings: Vec<FindingRecord>,
}

/// A record that could not be read and was removed.
#[derive(Debug, Serialize)]
struct RemovedRecord {
    family: &'static str,
    detail: String,
}

#[derive(Debug, Serialize)]
struct FindingRecord {
    /// JSON `{"type": "string", "pattern": "^C-[a-z-]+$"}`.
    code: &'static str,
    count: Positive,
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
    let records =
        leaks.into_iter().map(|Leak { kind, first, second, sentences, sets, text }| LeakRecord {
            code: kind,
            part: first.0,
            release: name(first.1),
            set: first.2,
            sentence: sentences.0,
            sets: sets.0,
            other_part: second.0,
            other_release: name(second.1),
            other_set: second.2,
            other_sentence: sentences.1,
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

pub(crate) fn run(args: Args, context: &mut Context) -> anyhow::Result<Outcome> {
    if args.leaks {
        return leaks(&args, context);
    }
    anyhow::ensure!(
        args.splits.list()?.is_none(),
        "`--split-list` says which part of the data something is in; expected it with `--leaks`"
    );
    let mut repaired = RepairReport::default();
    if args.repair {
        match repair(args.yes, context)? {
            Some(report) => repaired = report,
            None => {
                return Outcome::nothing("nothing was removed");
            }
        }
    }
    let bar = progress::bar("checking", "rows");
    let options = CheckOptions { deep: args.deep };
    let report = Database::check_at(&context.store, options, &mut |rows| {
        // How many there are is only known at the end.
        bar.set_position(rows);
    });
    bar.finish_and_clear();
    let report = report?;
    let output = &mut context.output;
    let record = record(&report, &repaired, args.deep, context.store.display().to_string());
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

/// Removes what cannot be read, once that is confirmed; `None` when it is not.
fn repair(is_confirmed_already: bool, context: &Context) -> anyhow::Result<Option<RepairReport>> {
    let database = Database::open(&context.store)?;
    let faults = database.unreadable_rows()?;
    let are_counts_right = database.miscounted()?.is_empty();
    drop(database);
    if faults.is_empty() {
        // Counts can be made again at any time: there is nothing to confirm.
        let repaired = (!are_counts_right).then(|| Database::repair(&context.store));
        return Ok(Some(repaired.transpose()?.unwrap_or_default()));
    }
    let first: Vec<String> =
        faults.iter().take(NAMED).map(|fault| format!("{} {}", fault.family, fault.name)).collect();
    let more = match faults.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {} more", grouped(more as u64)),
    };
    let what = format!(
        "remove records that cannot be read, with what would be left dangling: {}{more}",
        first.join(", ")
    );
    if !is_confirmed_already && !is_confirmed(&what)? {
        return Ok(None);
    }
    Ok(Some(Database::repair(&context.store)?))
}

fn record(report: &CheckReport, repaired: &RepairReport, deep: bool, store: String) -> CheckRecord {
    let findings = report.findings.iter().map(|(code, count, examples)| FindingRecord {
        code: code.as_str(),
        count,
        meaning: code.meaning(),
        examples: examples.to_vec(),
    });
    let (id, generation) = report.identity.clone().map(|of| (of.id, of.generation)).unzip();
    CheckRecord {
        store,
        id,
        generation,
        deep,
        revision: report.revision,
        rows: report.rows.clone(),
        unlisted_rows: report.unlisted_rows,
        index_entries: report.index_entries,
        index_behind: report.index_behind,
        removed: repaired
            .removed
            .iter()
            .map(|fault| RemovedRecord {
                family: fault.family,
                detail: format!("{}: {}", fault.place(), fault.reason),
            })
            .collect(),
        gone: repaired.gone.clone(),
        recounted: repaired.recounted.clone(),
        findings: findings.collect(),
    }
}

fn summary(report: &CheckRecord, output: &mut Output) -> anyhow::Result<()> {
    for RemovedRecord { family, detail } in &report.removed {
        output.line(&format!("removed {family}: {detail}"))?;
    }
    if !report.gone.is_empty() {
        let gone = report.gone.iter().map(|(kind, count)| format!("{} {kind}", grouped(*count)));
        output.line(&format!("removed in all: {}", gone.collect::<Vec<_>>().join(", ")))?;
    }
    for release in &report.recounted {
        output.line(&format!("counted anew: release {release}"))?;
    }
    let rows: u64 = report.rows.values().sum();
    let entries = report.index_entries.map_or("no index".to_owned(), |entries| {
        format!("{} of the index", counted(entries, "entry"))
    });
    let rows = counted(rows, "row");
    output.line(&format!("revision {}: {rows}, {entries}", report.revision))?;
    if report.unlisted_rows > 0 {
        let rows = counted(report.unlisted_rows, "row");
        output.line(&format!("{rows} of an unfinished import; the next import removes them"))?;
    }
    if report.index_behind > 0 {
        let commits = counted(report.index_behind, "commit");
        output.line(&format!(
            "the index is {commits} behind; queries make up for it, the next writer catches up"
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
