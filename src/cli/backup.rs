//! `fnstore backup`: a copy of the store that knows whether it is still whole.

use std::path::{Path, PathBuf};

use fnstore::database::Database;
use fnstore::upkeep::BackupManifest;

use super::output::{Format, Output, grouped, size};
use super::{Context, Outcome};

/// Copy the store to a directory, with the hash of every file
///
/// Works beside a writer: the copy is the store at one moment. Every row is read with its checksum, so
/// damage ends the backup instead of getting into it. The index is left out; restoring builds it.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Directory of the backup; must not exist or be empty
    #[arg(value_name = "DIR")]
    dir: PathBuf,
}

pub(super) fn run(args: Args, context: &mut Context) -> anyhow::Result<Outcome> {
    let manifest = Database::open(&context.store)?.backup(&args.dir)?;
    print(&manifest, &args.dir, &mut context.output)?;
    Ok(Outcome::Done)
}

/// Prints what a backup holds, and where the store now is.
pub(super) fn print(
    manifest: &BackupManifest,
    place: &Path,
    output: &mut Output,
) -> anyhow::Result<()> {
    match output.format_or(Format::Table) {
        Format::Table => {
            let releases = if manifest.releases.is_empty() {
                "no release".to_owned()
            } else {
                manifest.releases.join(", ")
            };
            output.line(&format!(
                "{releases} at revision {}: {} rows, {} in {}",
                manifest.revision,
                grouped(manifest.rows),
                size(manifest.bytes),
                place.display()
            ))?;
        }
        Format::Json | Format::Jsonl => output.json(manifest)?,
        format => {
            for (file, hash) in &manifest.files {
                output.fields(format, [file, hash])?;
            }
        }
    }
    Ok(())
}
