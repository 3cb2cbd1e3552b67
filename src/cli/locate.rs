//! Where the store lies when the command line does not say it.

use std::path::PathBuf;

use anyhow::Context as _;
use etcetera::BaseStrategy as _;

/// The store's directory: the one given by `--store` or `FNSTORE_DIR`, else `fnstore` in the platform's
/// data directory.
pub(super) fn store(given: Option<PathBuf>) -> anyhow::Result<PathBuf> {
    match given {
        Some(dir) => Ok(dir),
        None => data_dir(),
    }
}

/// This program's own folder in the platform's data directory.
fn data_dir() -> anyhow::Result<PathBuf> {
    let base = etcetera::choose_base_strategy().context(
        "cannot find the platform's data directory; name the store with `--store DIR` or \
         `FNSTORE_DIR`",
    )?;
    Ok(base.data_dir().join("fnstore"))
}
