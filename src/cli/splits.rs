//! `--split-list`: which part of the data something belongs to, by a list of one's own.

use std::path::PathBuf;

use fnstore::database::{Database, DatabaseError};
use fnstore::exchange::open_split_list;
use fnstore::model::SplitList;

/// The option of commands that ask for `split`.
#[derive(Debug, Clone, Default, clap::Args)]
pub(super) struct SplitArgs {
    /// Parts of the data by a list: lines of `document`, `lu`, `sentence` or `exemplars`, its name (`*`
    /// for exemplars) and `train`, `dev` or `test`, parted by tabs [default: the built-in list of
    /// full-text documents alone]
    #[arg(long, value_name = "FILE")]
    split_list: Option<PathBuf>,
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
        Ok(match list {
            Some(list) => database.with_split_list(list),
            None => database,
        })
    }
}
