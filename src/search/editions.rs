//! The editions that a query names, and the split list that it is answered under.

use std::sync::Arc;

use super::catalog::Catalog;
use crate::database::{Database, Held, Result, SplitListError};
use crate::exchange::kept_split_list;
use crate::model::{Edition, Release, SplitList, SplitListId};
use crate::query::{Expression, Field, Test};

impl Database {
    /// The editions that an expression names by `edition=`, where that is not denied.
    ///
    /// # Errors
    /// When the store fails.
    pub fn editions_named(&self, expression: &Expression) -> Result<Vec<(Release, Edition)>> {
        let mut named = Vec::new();
        if !expression.terms().any(|term| term.field == Field::Edition) {
            return Ok(named);
        }
        for release in self.releases_of(expression)? {
            for edition in self.store().editions(release.id)? {
                let edition = edition?;
                if names(expression, &edition.name, true) {
                    named.push((release.clone(), edition));
                }
            }
        }
        Ok(named)
    }

    /// The split list of the editions that an expression names; `None` where they were made under
    /// none.
    ///
    /// # Errors
    /// When they were made under different lists, one keeps the name of its list alone, or the
    /// store fails.
    pub fn split_list_of_editions(&self, expression: &Expression) -> Result<Option<SplitList>> {
        let named = self.editions_named(expression)?;
        let Some((_, first)) = named.first() else { return Ok(None) };
        let id = |edition: &Edition| edition.split_list.as_ref().map(|list| list.id.clone());
        let is_same = |(_, edition): &(Release, Edition)| {
            SplitListId::same(id(edition).as_ref(), id(first).as_ref())
        };
        if !named.iter().all(is_same) {
            let said = |(_, edition): &(Release, Edition)| {
                let list = id(edition).map_or_else(|| "none".to_owned(), |list| list.name);
                format!("`{}` ({list})", edition.name)
            };
            return Err(
                SplitListError::Editions { editions: named.iter().map(said).collect() }.into()
            );
        }
        let Some(kept) = &first.split_list else { return Ok(None) };
        let mut lists = named.iter().filter_map(|(_, edition)| edition.split_list.as_ref());
        match lists.find(|list| list.lines.is_some()) {
            Some(whole) => Ok(kept_split_list(whole)?),
            None => Err(SplitListError::NameAlone {
                edition: first.name.clone(),
                list: kept.id.name.clone(),
            }
            .into()),
        }
    }

    /// The split list that a query is answered under: the handle's, or else that of the editions
    /// which the query names.
    ///
    /// # Errors
    /// As [`split_list_of_editions`](Self::split_list_of_editions), and as
    /// [`with_split_list`](Self::with_split_list).
    pub fn split_list_for(&self, expression: &Expression) -> Result<Option<Arc<SplitList>>> {
        if let Some(list) = self.split_list() {
            return Ok(Some(Arc::clone(list)));
        }
        let Some(list) = self.split_list_of_editions(expression)? else { return Ok(None) };
        self.require_one_part(&list)?;
        Ok(Some(Arc::new(list)))
    }

    /// Fails where a query is answered under another list than what is read beside it, which is
    /// read under the handle's.
    ///
    /// # Errors
    /// Where the lists differ, and as [`split_list_for`](Self::split_list_for).
    pub fn require_list_of(&self, expression: &Expression) -> Result<()> {
        match (self.split_list(), self.split_list_for(expression)?) {
            (None, Some(list)) => {
                Err(SplitListError::NotUnder { list: list.id.name.clone() }.into())
            }
            _ => Ok(()),
        }
    }

    /// The names behind the numbers, for the answers of a query.
    pub(super) fn catalog_for(&self, expression: &Expression) -> Result<Catalog<'_>> {
        Self::catalog_over(Held::Borrowed(self), expression)
    }

    /// As [`catalog_for`](Self::catalog_for), for those who hold the database themselves.
    pub(super) fn catalog_over<'a>(
        database: Held<'a>,
        expression: &Expression,
    ) -> Result<Catalog<'a>> {
        let splits = database.split_list_for(expression)?;
        Catalog::new(database, splits)
    }
}

/// Whether an expression has a term that finds the sets of an edition; `is_asked` says whether the
/// expression is to hold.
fn names(expression: &Expression, edition: &str, is_asked: bool) -> bool {
    match expression {
        Expression::Everything => false,
        Expression::And(parts) | Expression::Or(parts) => {
            parts.iter().any(|part| names(part, edition, is_asked))
        }
        Expression::Not(inner) => names(inner, edition, !is_asked),
        Expression::Term(term) => {
            let pattern = match &term.test {
                Test::Pattern(pattern) if term.field == Field::Edition => pattern,
                _ => return false,
            };
            is_asked && pattern.matches(edition)
        }
    }
}
