//! `fnstore restore`: a backup in the place of the store.

use std::path::PathBuf;

use fnstore::upkeep::restore;

use super::{Context, Outcome, backup};

/// Replace the store by a backup
///
/// Verifies the hashes of the backup's files, copies, opens and indexes them, and then replaces the
/// store. If anything is wrong, the store stays as it was.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Directory that `fnstore backup` wrote
    #[arg(value_name = "DIR")]
    dir: PathBuf,
}

pub(super) fn run(args: Args, context: &mut Context) -> anyhow::Result<Outcome> {
    let manifest = restore(&args.dir, &context.store)?;
    backup::print(&manifest, &context.store, &mut context.output)?;
    Ok(Outcome::Done)
}
