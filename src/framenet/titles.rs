//! What an element calls a corpus or a document: FrameNet 1.5 gives one text, 1.7 two.

use super::Result;
use super::element::Element;
use crate::model::Title;

impl Element<'_> {
    /// Name and description, where they are given.
    fn titles(&self) -> Result<(Option<String>, Option<String>)> {
        let (mut name, mut description) = (None, None);
        self.attributes(|key, value| {
            match key {
                "name" if name.is_none() => name = Some(value.into_owned()),
                "description" if description.is_none() => description = Some(value.into_owned()),
                _ => {}
            }
            Ok(())
        })?;
        Ok((name, description))
    }

    /// What the element calls a corpus.
    pub(super) fn corpus_title(&self) -> Result<Title> {
        let (name, description) = self.titles()?;
        Ok(Title { name: name.unwrap_or_default(), description })
    }

    /// What the element calls a document, whose description stands alone in FrameNet 1.5.
    pub(super) fn document_title(&self) -> Result<Title> {
        let (name, description) = self.titles()?;
        let description = description.unwrap_or_default();
        Ok(match name {
            Some(name) => Title { name, description: Some(description) },
            None => Title { name: description, description: None },
        })
    }
}
