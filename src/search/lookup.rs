//! Questions that the index answers by itself.

use crate::database::{Database, Result};
use crate::index::Filter;
use crate::model::{AnnotationSetId, IdSpace, ReleaseId};

impl Database {
    /// Whether any annotation set of the index's last commit has this trigger, letter case folded.
    ///
    /// # Errors
    /// When the index is damaged.
    pub fn has_trigger(&self, trigger: &str) -> Result<bool> {
        let Some((index, _)) = self.index_reader()? else { return Ok(false) };
        let found = index.search(&Filter::Trigger(trigger.to_owned()))?;
        Ok(found.is_some_and(|found| !found.is_empty()))
    }

    /// Whether a word stands in a human sentence of the index's last commit, letter case folded.
    /// What holds no letter or digit is no word and counts as attested.
    ///
    /// # Errors
    /// When the index is damaged.
    pub fn is_attested(&self, word: &str) -> Result<bool> {
        self.is_attested_beside(word, |_, _| false)
    }

    /// As [`is_attested`](Self::is_attested), some sets left out.
    ///
    /// # Errors
    /// When the index is damaged.
    pub fn is_attested_beside(
        &self,
        word: &str,
        is_left_out: impl Fn(ReleaseId, AnnotationSetId) -> bool,
    ) -> Result<bool> {
        if !word.chars().any(char::is_alphanumeric) {
            return Ok(true);
        }
        let Some((index, _)) = self.index_reader()? else { return Ok(false) };
        let Some(found) = index.search(&Filter::Phrase(word.to_owned()))? else { return Ok(false) };
        Ok(found
            .hits()?
            .iter()
            .any(|hit| hit.set.space() != IdSpace::Generated && !is_left_out(hit.release, hit.set)))
    }
}
