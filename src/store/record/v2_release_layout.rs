//! Version 2 of the record of the layout of a release's top files: those of FrameNet 1.7, and of a
//! release without a frame index.
//!
//! It is version 1 and what that has no room for, in the order of its lists. A layout that says no
//! more, as FrameNet 1.5's, is still written in version 1, so that programs of format 1.2 read it.

use crate::model::ReleaseLayout;

fields! {
    DescribedLayoutRecord { record, has_frame_index, instances, descriptions }
}

pub(super) struct DescribedLayoutRecord {
    record: ReleaseLayout,
    has_frame_index: bool,
    /// Of each LU of the LU index, its annotated instances.
    instances: Vec<Option<u32>>,
    /// Of each corpus of the full-text index, its description and those of its documents.
    descriptions: Vec<(Option<String>, Vec<Option<String>>)>,
}

impl DescribedLayoutRecord {
    /// `None` for a layout that version 1 can hold.
    pub(super) fn of(layout: &ReleaseLayout) -> Option<Self> {
        let entries = layout.lu_index.iter().flat_map(|index| &index.entries);
        let instances: Vec<Option<u32>> = entries.map(|entry| entry.instances).collect();
        let corpora = layout.fulltext_index.iter().flatten().map(|corpus| {
            let documents = corpus.documents.iter().map(|(_, title)| title.description.clone());
            (corpus.title.description.clone(), documents.collect::<Vec<_>>())
        });
        let descriptions: Vec<_> = corpora.collect();
        let has_frame_index = layout.frame_index.is_some();
        let is_plain = has_frame_index
            && instances.iter().all(Option::is_none)
            && descriptions
                .iter()
                .all(|(own, documents)| own.is_none() && documents.iter().all(Option::is_none));
        (!is_plain).then(|| Self {
            record: layout.clone(),
            has_frame_index,
            instances,
            descriptions,
        })
    }

    pub(super) fn into_model(self) -> Result<ReleaseLayout, String> {
        let Self { record: mut layout, has_frame_index, instances, descriptions } = self;
        if !has_frame_index {
            layout.frame_index = None;
        }
        let entries = layout.lu_index.iter_mut().flat_map(|index| &mut index.entries);
        pair(entries, instances, |entry, instances| {
            entry.instances = instances;
            Ok(())
        })?;
        let corpora = layout.fulltext_index.iter_mut().flatten();
        pair(corpora, descriptions, |corpus, (own, documents)| {
            corpus.title.description = own;
            pair(corpus.documents.iter_mut(), documents, |(_, title), description| {
                title.description = description;
                Ok(())
            })
        })?;
        Ok(layout)
    }
}

/// Gives every item its own of a list, which must be as long.
fn pair<'m, T: 'm, V>(
    items: impl Iterator<Item = &'m mut T>,
    values: Vec<V>,
    mut give: impl FnMut(&'m mut T, V) -> Result<(), String>,
) -> Result<(), String> {
    let items: Vec<_> = items.collect();
    if items.len() != values.len() {
        return Err(format!("{} values for {} entries of an index", values.len(), items.len()));
    }
    items.into_iter().zip(values).try_for_each(|(item, value)| give(item, value))
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::{SECOND_VERSION, Stored, encode_as, golden};
    use super::*;

    /// The top files as FrameNet 1.7 has them.
    pub(in super::super) fn described() -> ReleaseLayout {
        let mut layout = golden::release_layout();
        layout.lu_index.as_mut().unwrap().entries[0].instances = Some(17);
        let corpus = &mut layout.fulltext_index.as_mut().unwrap()[0];
        corpus.title.description = Some("Texts of our own".to_owned());
        corpus.documents[0].1.description = Some("The harbour's log".to_owned());
        layout
    }

    #[test]
    fn a_layout_without_a_frame_index_comes_back_without_one() {
        let key = golden::release_layout_key();
        for frame_index in [None, Some(Vec::new())] {
            let layout = ReleaseLayout { frame_index, ..described() };
            assert_eq!(ReleaseLayout::from_value(&key, &layout.to_value().unwrap()), Ok(layout));
        }
        assert_eq!(golden::release_layout().to_value().unwrap()[0], 1);
    }

    #[test]
    fn lists_of_other_lengths_than_the_indexes_are_an_error() {
        let key = golden::release_layout_key();
        let mut record = DescribedLayoutRecord::of(&described()).unwrap();
        record.instances.push(None);
        let error = ReleaseLayout::from_value(&key, &encode_as(SECOND_VERSION, &record).unwrap());
        assert_eq!(error, Err("2 values for 1 entries of an index".to_owned()));
    }
}
