//! `fnstore backup`: a copy of the store that knows whether it is still whole.

use std::path::{Path, PathBuf};

use fnstore::database::Database;
use fnstore::upkeep::BackupManifest;

use crate::cli::print::output::{Output, counted, size};
use crate::cli::print::render::under;
use crate::cli::{Context, Outcome};

/// Back the store up to a directory, with the hash of every file
///
/// Works beside a writer: the copy is the store at one moment. Every row's checksum is verified,
/// and damage ends the backup. The index is not copied; a restore builds it.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Directory of the backup; must not exist or be empty
    #[arg(value_name = "DIR")]
    dir: PathBuf,
}

pub(crate) fn run(args: Args, context: &mut Context) -> anyhow::Result<Outcome> {
    let manifest = Database::open(&context.store)?.backup(&args.dir)?;
    print(&manifest, &args.dir, &mut context.output)?;
    Ok(Outcome::Done)
}

/// Names of releases and other lexicons, and a revision.
pub(crate) fn state(releases: &[String], resources: &[String], revision: u64) -> String {
    let mut releases = match releases {
        [] => "no release".to_owned(),
        names => names.join(", "),
    };
    for name in resources {
        releases += &format!(", the lexicon {name}");
    }
    format!("{releases} at revision {revision}")
}

/// Prints what a backup holds, and where the store now is.
pub(crate) fn print(
    manifest: &BackupManifest,
    place: &Path,
    output: &mut Output,
) -> anyhow::Result<()> {
    let files = manifest.files.iter().map(|(file, hash)| vec![file.clone(), hash.clone()]);
    output.report(manifest, under(&["file", "blake3"], files), |output| {
        Ok(output.line(&format!(
            "{}: {}, {} in {}",
            state(&manifest.releases, &manifest.resources, manifest.revision),
            counted(manifest.rows, "row"),
            size(manifest.bytes),
            place.display()
        ))?)
    })
}
