//! What commands say of the store beside their data: that it is empty, how many releases a query
//! spans, that the index is behind.

use fnstore::database::Database;
use fnstore::index::IndexError;
use fnstore::internals::WithStore as _;
use fnstore::query::{Expression, Field};

use super::output::tell;

/// Says that there is nothing to be found in, as after a first import that was cut short.
pub(crate) fn tell_if_empty(database: &Database) -> anyhow::Result<bool> {
    let is_empty = database.releases()?.is_empty();
    if is_empty {
        let what = if database.resources()?.is_empty() { "is empty" } else { "has no release" };
        tell(&format!("the store {what}; `fnstore import PATH` brings in a release"));
    }
    Ok(is_empty)
}

/// Says which releases `what` may span when its expression does not say so itself.
pub(crate) fn tell_of_releases(
    database: &Database,
    what: &str,
    expression: &Expression,
) -> anyhow::Result<()> {
    let says_so = expression.terms().any(|term| term.field() == Field::Release);
    let releases = database.releases_of(expression)?;
    if says_so || releases.len() < 2 {
        return Ok(());
    }
    let names: Vec<String> = releases.iter().map(|release| format!("`{}`", release.name)).collect();
    tell(&format!(
        "the {what} may span {} releases, {}; `release=NAME` asks one of them",
        names.len(),
        names.join(", ")
    ));
    Ok(())
}

/// Says that a query had to do without the index, or that a writer has built it anew.
pub(crate) fn tell_of_index(database: &Database) {
    let Some(fault) = database.index_fault() else { return };
    match (&*fault, database.store().is_writer()) {
        (IndexError::Damaged { action, reason, .. }, true) => tell(&format!(
            "the index was damaged (C-index-damaged: {reason}, while {action}); it was built anew"
        )),
        (IndexError::Damaged { .. }, false) => tell(&format!(
            "warning: {fault} with `fnstore reindex`; a scan of the store answered meanwhile"
        )),
        _ => tell(&format!("warning: {fault}; a scan of the store answered meanwhile")),
    }
}

/// Says which recipes of a store are of earlier rules: what is written now is of another recipe,
/// and none of their sets is continued.
pub(crate) fn tell_earlier_rules(database: &Database) -> anyhow::Result<()> {
    let earlier = database.recipes_by_earlier_rules()?;
    if !earlier.is_empty() {
        let numbers: Vec<String> = earlier.iter().map(ToString::to_string).collect();
        tell(&format!(
            "recipes by earlier rules are in the store ({}): their sets stay, and seeds begin anew",
            numbers.join(", ")
        ));
    }
    Ok(())
}

/// Says that the index could not follow what a command wrote, where that is so.
pub(crate) fn tell_index_lag(database: &Database) {
    if let Some(error) = database.take_index_lag() {
        tell_index_behind(&error);
    }
}

/// Says that what was written is in the store and not in the index.
pub(crate) fn tell_index_behind(error: &dyn std::error::Error) {
    tell(&format!(
        "warning: what was written is in the store, and its index could not follow: {error}; queries \
         make up for it, and the next writer or `fnstore reindex` brings it up to date"
    ));
}
