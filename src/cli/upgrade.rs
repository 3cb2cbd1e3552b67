//! `fnstore upgrade`: the store in this build's format.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use fnstore::database::Database;
use fnstore::upkeep::UpgradeReport;
use serde::Serialize;

use super::output::{Output, grouped};
use super::render::counts_of;
use super::{Context, Outcome};

/// Back the store up, and convert it to this program's format
///
/// Stores of older formats are read without an upgrade; upgraded records are smaller or say more.
/// An upgrade can be stopped at any time and run again; it keeps the first run's backup.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Print what would be done, and change nothing
    #[arg(long)]
    dry_run: bool,

    /// Directory of the backup [default: the store's directory with `.before-upgrade` added]
    #[arg(long, value_name = "DIR", conflicts_with = "dry_run")]
    backup: Option<PathBuf>,
}

/// An upgrade as JSON; see `schema/upgrade.schema.json`.
#[derive(Debug, Serialize)]
struct UpgradeRecord {
    store: String,
    from: String,
    to: String,
    rows: BTreeMap<&'static str, u64>,
    done: bool,
    backup: Option<String>,
}

pub(super) fn run(args: Args, context: &mut Context) -> anyhow::Result<Outcome> {
    let report = if args.dry_run {
        Database::upgrade_needed(&context.store)?
    } else {
        let backup = args.backup.unwrap_or_else(|| beside(&context.store));
        Database::upgrade(&context.store, &backup)?
    };
    let record = record(&report, &context.store);
    let output = &mut context.output;
    let rows = counts_of(record.rows.iter().map(|(family, rows)| (*family, *rows)));
    output.report(&record, rows, |output| summary(&record, report.is_current(), output))?;
    Ok(Outcome::Done)
}

fn summary(record: &UpgradeRecord, is_current: bool, output: &mut Output) -> anyhow::Result<()> {
    let UpgradeRecord { from, to, rows, done, backup, .. } = record;
    if is_current {
        return Ok(output.line(&format!("format {to} is current: nothing to do"))?);
    }
    let from_to =
        if from == to { format!("format {to}") } else { format!("format {from} to {to}") };
    let what = if *done { "rewritten" } else { "to rewrite" };
    output.line(&format!("{from_to}: {} rows {what}", grouped(rows.values().sum())))?;
    for (family, rows) in rows {
        output.line(&format!("  {family:<16} {:>9}", grouped(*rows)))?;
    }
    if let Some(backup) = backup {
        output.line(&format!("backup in {backup}"))?;
    }
    Ok(())
}

fn record(report: &UpgradeReport, store: &Path) -> UpgradeRecord {
    let version = |(major, minor): (u16, u16)| format!("{major}.{minor}");
    UpgradeRecord {
        store: store.display().to_string(),
        from: version(report.from),
        to: version(report.to),
        rows: report.outdated.clone(),
        done: report.backup.is_some(),
        backup: report.backup.as_ref().map(|backup| backup.display().to_string()),
    }
}

/// The store's directory with `.before-upgrade` added to its name.
fn beside(store: &Path) -> PathBuf {
    let absolute = std::path::absolute(store).unwrap_or_else(|_| store.to_owned());
    let mut name = absolute.into_os_string();
    name.push(".before-upgrade");
    name.into()
}
