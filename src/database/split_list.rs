//! A handle under a split list.

use std::sync::Arc;

use super::{Database, Result, SplitListError};
use crate::model::SplitList;
use crate::text::composed;

impl Database {
    /// The same handle, for which a list says which part of the data something belongs to (`split`
    /// in queries). Where the list says nothing, the built-in one holds. Nothing is written.
    ///
    /// # Errors
    /// When the list names one document by two of its names, in two parts, or the store fails.
    pub fn with_split_list(self, list: SplitList) -> Result<Self> {
        self.require_one_part(&list)?;
        Ok(Self { splits: Some(Arc::new(list)), ..self })
    }

    /// The list of [`with_split_list`](Self::with_split_list). Queries that name editions are else
    /// answered under theirs.
    #[must_use]
    pub fn split_list(&self) -> Option<&Arc<SplitList>> {
        self.splits.as_ref()
    }

    pub(crate) fn require_one_part(&self, list: &SplitList) -> Result<()> {
        if list.documents.is_empty() {
            return Ok(());
        }
        for release in self.releases()? {
            for document in self.store.documents(release.id)? {
                let document = document?;
                let mut listed = list.of_document(&document, composed);
                let Some((name, part)) = listed.next() else { continue };
                if let Some((other_name, other_part)) = listed.find(|(_, other)| *other != part) {
                    return Err(SplitListError::TwoParts {
                        list: list.id.name.clone(),
                        release: release.name,
                        name: name.to_owned(),
                        part,
                        other_name: other_name.to_owned(),
                        other_part,
                    }
                    .into());
                }
            }
        }
        Ok(())
    }
}
