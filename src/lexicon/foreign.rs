//! What the files of a release hold beside FrameNet, by what it stands at.

use super::Lexicon;
use crate::database::Result;
use crate::model::{AnnotationSet, Foreign, ForeignFile, ForeignPlace, Sentence, named};
use crate::search::ForeignContent;

named! {
    /// What a file of a release is about.
    pub enum FileSubject {
        /// A frame
        Frame => "frame",
        /// A lexical unit
        Lu => "lu",
        /// A full-text document
        Document => "document",
        /// Indexes, relations, semantic types
        Top => "top",
    }
}

impl FileSubject {
    /// Of a file.
    #[must_use]
    pub fn of(file: ForeignFile) -> Self {
        match file {
            ForeignFile::Top(_) => Self::Top,
            ForeignFile::Frame(_) => Self::Frame,
            ForeignFile::LexUnit(..) => Self::Lu,
            ForeignFile::Document(..) => Self::Document,
        }
    }
}

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

    /// What the frame, LU or document of a file is called; of a file at the top its own name.
    pub fn subject_name(&self, file: ForeignFile) -> Result<String> {
        let name = match file {
            ForeignFile::Top(top) => Some(top.as_str().to_owned()),
            ForeignFile::Frame(frame) => self.frame(frame)?.map(|frame| frame.name),
            ForeignFile::LexUnit(frame, lu) => self.lu_of_frame(frame, lu)?.map(|lu| lu.name),
            ForeignFile::Document(corpus, id) => self.document(corpus, id)?.map(|of| of.name),
        };
        Ok(name.unwrap_or_default())
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
