//! `--split-list`: which part of the data something belongs to, by a list of one's own.

use std::path::PathBuf;

use fnstore::database::{Database, DatabaseError, SplitListError};
use fnstore::exchange::open_split_list;
use fnstore::model::{SplitList, SplitListId};
use fnstore::query::Expression;
use fnstore::search::UnknownListed;

use crate::cli::Context;
use crate::cli::print::output::{counted, grouped, tell};

/// The option of commands that ask for `split`.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct SplitArgs {
    /// Take parts of the data from a list. Lines have `document`, `lu`, `sentence` or `exemplars`,
    /// its name (`*` for exemplars) and `train`, `dev`, `test` or `none`, parted by tabs [default:
    /// the built-in list of full-text documents alone]
    #[arg(long, value_name = "FILE")]
    split_list: Option<PathBuf>,

    /// Refuse a list that names what no release has, instead of a warning
    #[arg(long, requires = "split_list")]
    strict_split_list: bool,
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

/// The error for names that give nothing a part.
fn unknown_names(list: &SplitList, unknown: &[UnknownListed]) -> SplitListError {
    let name = |UnknownListed { kind, name, .. }: &UnknownListed| format!("the {kind} `{name}`");
    let mut names: Vec<String> = unknown.iter().take(TOLD).map(name).collect();
    if unknown.len() > TOLD {
        names.push(counted((unknown.len() - TOLD) as u64, "more name"));
    }
    SplitListError::Unknown { list: list.id.name.clone(), names }
}

/// Warns where editions that are asked for were made under another list than the one that holds.
fn tell_of_other_lists(database: &Database, expression: &Expression) -> anyhow::Result<()> {
    let under = database.split_list().map(|list| &list.id);
    for (_, edition) in database.editions_named(expression)? {
        let made = edition.split_list.as_ref().map(|list| &list.id);
        if !SplitListId::same(under, made) {
            let made = made.map_or_else(|| "none".to_owned(), |list| format!("`{}`", list.name));
            tell(&format!(
                "warning: edition `{}` was made under another split list: {made}",
                edition.name
            ));
        }
    }
    Ok(())
}

impl SplitArgs {
    /// The list, where one is named.
    pub(crate) fn list(&self) -> anyhow::Result<Option<SplitList>> {
        let list = self.split_list.as_deref().map(open_split_list).transpose();
        Ok(list.map_err(DatabaseError::from)?)
    }

    /// A database under the list; `open` is called once the list has been read.
    pub(crate) fn over(
        &self,
        open: impl FnOnce() -> Result<Database, DatabaseError>,
    ) -> anyhow::Result<Database> {
        let list = self.list()?;
        let database = open()?;
        let Some(list) = list else { return Ok(database) };
        let unknown = database.unknown_in(&list)?;
        if self.strict_split_list && !unknown.is_empty() {
            return Err(DatabaseError::from(unknown_names(&list, &unknown)).into());
        }
        tell_unknown(&list, &unknown);
        Ok(database.with_split_list(list)?)
    }

    /// Whether a list is named.
    pub(crate) fn is_named(&self) -> bool {
        self.split_list.is_some()
    }

    /// As [`over`](Self::over); where no list is named, under that of the editions that an
    /// expression asks for.
    pub(crate) fn over_query(
        &self,
        expression: &Expression,
        open: impl FnOnce() -> Result<Database, DatabaseError>,
    ) -> anyhow::Result<Database> {
        let database = self.over(open)?;
        if self.is_named() {
            tell_of_other_lists(&database, expression)?;
            return Ok(database);
        }
        let Some(list) = database.split_list_of_editions(expression)? else { return Ok(database) };
        tell_of_list(&list);
        Ok(database.with_split_list(list)?)
    }
}

/// Says which list holds where none was named.
fn tell_of_list(list: &SplitList) {
    tell(&format!("parts are those of the edition's split list `{}`", list.id.name));
}

/// Says under which list a query is answered whose answers the library reads.
pub(crate) fn tell_list_for(database: &Database, expression: &Expression) -> anyhow::Result<()> {
    if let Some(list) = database.split_list_for(expression)? {
        tell_of_list(&list);
    }
    Ok(())
}

impl Context {
    /// The store for reading, under the split list of the editions that an expression asks for.
    pub(crate) fn open_for(&self, expression: &Expression) -> anyhow::Result<Database> {
        SplitArgs::default().over_query(expression, || Database::open(&self.store))
    }

    /// As [`open_for`](Self::open_for), for writing.
    pub(crate) fn open_writer_for(&self, expression: &Expression) -> anyhow::Result<Database> {
        SplitArgs::default().over_query(expression, || Database::open_existing_writer(&self.store))
    }
}
