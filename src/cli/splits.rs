//! `--split-list`: which part of the data something belongs to, by a list of one's own.

use std::path::PathBuf;

use fnstore::database::{Database, DatabaseError};
use fnstore::exchange::open_split_list;
use fnstore::model::SplitList;
use fnstore::search::UnknownListed;

use super::output::{grouped, tell};

/// The option of commands that ask for `split`.
#[derive(Debug, Clone, Default, clap::Args)]
pub(super) struct SplitArgs {
    /// Take parts of the data from a list. Lines have `document`, `lu`, `sentence` or `exemplars`,
    /// its name (`*` for exemplars) and `train`, `dev` or `test`, parted by tabs [default: the
    /// built-in list of full-text documents alone]
    #[arg(long, value_name = "FILE")]
    split_list: Option<PathBuf>,
}

/// Names of a list that are told one by one.
const TOLD: usize = 5;

/// Warns of names that give nothing a part.
fn tell_unknown(list: &SplitList, unknown: &[UnknownListed]) {
    let list = &list.id.name;
    for UnknownListed { kind, name, nearest } in &unknown[..unknown.len().min(TOLD)] {
        let hint = nearest.as_ref().map(|near| format!("; did you mean `{near}`?"));
        let hint = hint.unwrap_or_default();
        tell(&format!(
            "warning: no release has the {kind} `{name}` of the split list `{list}`{hint}"
        ));
    }
    if unknown.len() > TOLD {
        let more = grouped((unknown.len() - TOLD) as u64);
        tell(&format!("warning: nor {more} more of its names"));
    }
}

impl SplitArgs {
    /// The list, where one is named.
    pub(super) fn list(&self) -> anyhow::Result<Option<SplitList>> {
        let list = self.split_list.as_deref().map(open_split_list).transpose();
        Ok(list.map_err(DatabaseError::from)?)
    }

    /// A database under the list; `open` is called once the list has been read.
    pub(super) fn over(
        &self,
        open: impl FnOnce() -> Result<Database, DatabaseError>,
    ) -> anyhow::Result<Database> {
        let list = self.list()?;
        let database = open()?;
        let Some(list) = list else { return Ok(database) };
        tell_unknown(&list, &database.unknown_in(&list)?);
        Ok(database.with_split_list(list))
    }
}
