//! `fnstore restore`: a backup in the place of the store.

use std::path::{Path, PathBuf};

use fnstore::database::{Database, DatabaseError};
use fnstore::internals::WithStore as _;
use fnstore::store::Store;
use fnstore::upkeep::{BackupManifest, restore};

use super::backup;
use crate::cli::options::confirm::is_confirmed;
use crate::cli::{Context, Outcome};

/// Replace the store by a backup
///
/// Verifies the hashes of the backup's files, copies, opens and indexes them, and then replaces the
/// store. If anything is wrong, the store stays as it was. A store that is there is replaced only
/// when you say so.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Directory that `fnstore backup` wrote
    #[arg(value_name = "DIR")]
    dir: PathBuf,

    /// Replace a store that is there without asking
    #[arg(long)]
    yes: bool,
}

pub(crate) fn run(args: Args, context: &mut Context) -> anyhow::Result<Outcome> {
    let store = context.store.as_path();
    if !args.yes && Store::exists(store) && !is_confirmed(&replacement(&args.dir, store)?)? {
        return Outcome::nothing("nothing was restored");
    }
    let manifest = restore(&args.dir, &context.store)?;
    backup::print(&manifest, &context.store, &mut context.output)?;
    Ok(Outcome::Done)
}

/// What would be replaced, and by what.
fn replacement(dir: &Path, store: &Path) -> anyhow::Result<String> {
    let manifest = BackupManifest::read(dir)?;
    Ok(format!(
        "replace the store `{}` ({}) by the backup `{}` ({})",
        store.display(),
        state_of(store).unwrap_or_else(|_| "it does not open".to_owned()),
        dir.display(),
        backup::state(&manifest.releases, &manifest.resources, manifest.revision)
    ))
}

fn state_of(store: &Path) -> Result<String, DatabaseError> {
    let database = Database::open(store)?;
    let names: Vec<String> = database.releases()?.into_iter().map(|release| release.name).collect();
    let resources: Vec<String> = database.resources()?.into_iter().map(|it| it.name).collect();
    Ok(backup::state(&names, &resources, database.store().revision()?))
}
