//! The record of a document with the order of its sentences.

use crate::model::{CorpusId, Document, DocumentId, HeaderTitles, Title};

fields! {
    Document {
        corpus_name, corpus_description, name, description, in_headers, file, sentences;
        absent id: DocumentId(0), corpus: CorpusId(0)
    }
    HeaderTitles { corpus, document }
    Title { name, description }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::{Stored, samples, tests::is_cut_short};
    use super::*;

    #[test]
    fn a_record_of_another_version_or_cut_short_is_an_error() {
        let key = samples::document_key();
        let error = Document::from_value(&key, &[3]);
        assert_eq!(error, Err("record version 3, expected 1".to_owned()));
        let value = samples::described_document().to_value().unwrap();
        for end in 0..value.len() {
            is_cut_short(Document::from_value(&key, &value[..end]), end);
        }
    }

    proptest! {
        #[test]
        fn documents_come_back_with_and_without_descriptions(
            corpus in prop::option::of(".{0,9}"),
            own in prop::option::of(".{0,9}"),
            has_header in any::<bool>(),
        ) {
            let mut document = samples::described_document();
            document.corpus_description = corpus;
            document.description = own;
            if !has_header {
                document.in_headers = None;
            }
            let value = document.to_value().unwrap();
            prop_assert_eq!(Document::from_value(&samples::document_key(), &value), Ok(document));
        }
    }
}
