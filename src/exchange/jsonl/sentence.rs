//! Sentences and documents as JSON.

use crate::model::{
    CorpusId, Document, DocumentId, HeaderTitles, LuId, Occurrence, Sentence, SentenceId, Title,
};

record! {
    Sentence as SentenceRecord of Sentence {
        id: SentenceId,
        xml_id: Option<u64>,
        text: String,
        occurrences: Vec<Occurrence>,
    }
}

record! {
    /// A place that lists a sentence; what is not given is left out.
    Occurrence as OccurrenceRecord {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        lu: Option<LuId>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        subcorpus: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        corpus: Option<CorpusId>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        document: Option<DocumentId>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        paragraph: Option<u32>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        number: Option<u32>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        position: Option<u64>,
    }
}

record! {
    Document [Document {
        id, corpus, corpus_name, corpus_description, name, description, in_headers, file, sentences
    }] as DocumentRecord of Document {
        corpus: (CorpusId, String) = (corpus, corpus_name),
        #[serde(default, skip_serializing_if = "Option::is_none")]
        corpus_description: Option<String> = corpus_description,
        id: DocumentId = id,
        name: String = name,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        description: Option<String> = description,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        in_headers: Option<HeaderTitles> = in_headers,
        file: String = file,
        sentences: Vec<SentenceId> = sentences,
    }
}

record! {
    /// What LU files call a document and its corpus, where the document's file says otherwise.
    HeaderTitles as HeaderTitlesRecord { corpus: Title, document: Title }
}

record! {
    Title as TitleRecord {
        name: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        description: Option<String>,
    }
}
