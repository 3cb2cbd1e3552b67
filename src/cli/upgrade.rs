//! `fnstore upgrade`: the store in this build's format.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use fnstore::database::Database;
use fnstore::upkeep::UpgradeReport;
use serde::Serialize;

use super::output::{Format, grouped};
use super::{Context, Outcome};

/// Bring the store to this program's format, after a backup
///
/// A store of an older format is read as it is; what an upgrade rewrites is smaller or says more. It
/// can be stopped at any time and run again: the backup of the first run is then used as it is.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Say what would be done, and do nothing
    #[arg(long)]
    dry_run: bool,

    /// Where the backup goes [default: the store's directory with `.before-upgrade` added]
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
    match output.format_or(Format::Table) {
        Format::Table => {
            if report.is_current() {
                output.line(&format!("format {} is current: nothing to do", record.to))?;
                return Ok(Outcome::Done);
            }
            let from_to = if record.from == record.to {
                format!("format {}", record.to)
            } else {
                format!("format {} to {}", record.from, record.to)
            };
            let rows: u64 = record.rows.values().sum();
            let what = if record.done { "rewritten" } else { "to rewrite" };
            output.line(&format!("{from_to}: {} rows {what}", grouped(rows)))?;
            for (family, rows) in &record.rows {
                output.line(&format!("  {family:<16} {:>9}", grouped(*rows)))?;
            }
            if let Some(backup) = &record.backup {
                output.line(&format!("backup in {backup}"))?;
            }
        }
        Format::Json | Format::Jsonl => output.json(&record)?,
        format => {
            for (family, rows) in &record.rows {
                output.fields(format, [*family, &rows.to_string()])?;
            }
        }
    }
    Ok(Outcome::Done)
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
