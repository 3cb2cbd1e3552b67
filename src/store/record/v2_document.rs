//! Version 2 of the record of a document: one with a description beside its name.
//!
//! Version 1 has room for one text of a document and one of its corpus. A document that says no
//! more, as all of FrameNet 1.5's, is still written in it, so that programs of format 1.2 read it.

use crate::model::{Document, HeaderTitles, Title};

/// Name, description.
pub(super) type TitleRecord = (String, Option<String>);

fields! {
    DescribedRecord { record, corpus_description, description, in_headers }
}

pub(super) struct DescribedRecord {
    record: Document,
    corpus_description: Option<String>,
    description: Option<String>,
    /// Corpus, document.
    in_headers: Option<(TitleRecord, TitleRecord)>,
}

impl DescribedRecord {
    /// `None` for a document that version 1 can hold.
    pub(super) fn of(document: &Document) -> Option<Self> {
        let Document { corpus_description, description, in_headers, .. } = document;
        if corpus_description.is_none() && description.is_none() && in_headers.is_none() {
            return None;
        }
        let titles =
            |HeaderTitles { corpus, document }: &HeaderTitles| (code(corpus), code(document));
        Some(Self {
            record: document.clone(),
            corpus_description: corpus_description.clone(),
            description: description.clone(),
            in_headers: in_headers.as_ref().map(titles),
        })
    }

    pub(super) fn into_model(self) -> Result<Document, String> {
        let Self { record, corpus_description, description, in_headers } = self;
        let titles =
            |(corpus, document)| HeaderTitles { corpus: title(corpus), document: title(document) };
        let in_headers = in_headers.map(titles);
        Ok(Document { corpus_description, description, in_headers, ..record })
    }
}

fn code(title: &Title) -> TitleRecord {
    (title.name.clone(), title.description.clone())
}

fn title((name, description): TitleRecord) -> Title {
    Title { name, description }
}

#[cfg(test)]
pub(super) mod tests {
    use proptest::prelude::*;

    use super::super::{Stored, golden};
    use super::*;

    /// A document as FrameNet 1.7 describes it.
    pub(in super::super) fn described() -> Document {
        let text = |text: &str| Some(text.to_owned());
        let in_header = |name: &str| Title { name: name.to_owned(), description: None };
        Document {
            corpus_description: text("Texts of our own"),
            description: text("The harbour's log"),
            in_headers: Some(HeaderTitles {
                corpus: in_header("MINI"),
                document: in_header("The harbour's log"),
            }),
            ..golden::document()
        }
    }

    #[test]
    fn a_record_of_another_version_or_cut_short_is_an_error() {
        let key = golden::document_key();
        let error = Document::from_value(&key, &[3]);
        assert_eq!(error, Err("record version 3, expected 1".to_owned()));
        let value = described().to_value().unwrap();
        for end in 0..value.len() {
            super::super::tests::is_cut_short(Document::from_value(&key, &value[..end]), end);
        }
    }

    proptest! {
        #[test]
        fn documents_come_back_with_and_without_descriptions(
            corpus in prop::option::of(".{0,9}"),
            own in prop::option::of(".{0,9}"),
            has_header in any::<bool>(),
        ) {
            let mut document = described();
            document.corpus_description = corpus;
            document.description = own;
            if !has_header {
                document.in_headers = None;
            }
            let value = document.to_value().unwrap();
            let is_plain = document.corpus_title().description.is_none()
                && document.title().description.is_none() && !has_header;
            prop_assert_eq!(value[0], if is_plain { 1 } else { 2 });
            prop_assert_eq!(Document::from_value(&golden::document_key(), &value), Ok(document));
        }
    }
}
