//! Which release a command is about: the one that it names, or the only one.

use anyhow::bail;
use fnstore::database::Database;
use fnstore::model::Release;

/// The release of a name, or the only one.
pub(crate) fn release(database: &Database, name: Option<&str>) -> anyhow::Result<Release> {
    if let Some(name) = name {
        return Ok(database.release(name)?);
    }
    let mut releases = database.releases()?;
    match (releases.pop(), releases.is_empty()) {
        (Some(only), true) => Ok(only),
        (Some(last), false) => {
            let others: Vec<&str> = releases.iter().map(|release| release.name.as_str()).collect();
            bail!(
                "the store holds the releases `{}` and `{}`; say which with `--release NAME`",
                others.join("`, `"),
                last.name
            )
        }
        _ => bail!("the store holds no release to write into; `fnstore import PATH` brings one in"),
    }
}
