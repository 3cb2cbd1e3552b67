//! What the files of a release hold beside FrameNet, by what it stands at.

use super::Lexicon;
use crate::database::Result;
use crate::model::{AnnotationSet, Foreign, ForeignFile, ForeignPlace, Sentence};
use crate::search::ForeignContent;

impl Lexicon<'_> {
    /// What a file of the release holds beside FrameNet.
    ///
    /// # Errors
    /// When the store fails; so for every function here.
    pub fn foreign(&self, file: ForeignFile) -> Result<Foreign> {
        Ok(self.store().foreign(self.release.id, file)?)
    }

    /// Every file of the release that holds something beside FrameNet, with that.
    pub fn all_foreign(
        &self,
    ) -> Result<impl Iterator<Item = Result<(ForeignFile, Foreign)>> + use<'_>> {
        Ok(self.store().all_foreign(self.release.id)?.map(|row| Ok(row?)))
    }

    /// What stands at a sentence beside FrameNet, and at everything in it.
    pub fn foreign_at_sentence(&self, sentence: &Sentence) -> Result<Vec<ForeignPlace>> {
        let foreign = ForeignContent::read(self.store(), [self.release.id])?;
        Ok(foreign.at_sentence(self.release.id, sentence).cloned().collect())
    }

    /// What stands at an annotation set beside FrameNet, at everything in it, and at its sentence.
    pub fn foreign_at_set(
        &self,
        set: &AnnotationSet,
        sentence: &Sentence,
    ) -> Result<Vec<ForeignPlace>> {
        let foreign = ForeignContent::read(self.store(), [self.release.id])?;
        Ok(foreign.at_set(self.release.id, set, sentence).cloned().collect())
    }
}
