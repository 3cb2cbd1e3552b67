//! Sentences and documents as JSON.

use serde::{Deserialize, Serialize};

use super::annotation::NamedId;
use super::{Checked, Kind, sentence_id, written};
use crate::model::{CorpusId, Document, DocumentId, LuId, Occurrence, Sentence};

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SentenceRecord {
    kind: Kind,
    id: String,
    xml_id: Option<u64>,
    text: String,
    occurrences: Vec<OccurrenceRecord>,
}

/// A place that lists a sentence; what is not given is left out.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct OccurrenceRecord {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    lu: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    subcorpus: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    corpus: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    document: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    paragraph: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    number: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    position: Option<u64>,
}

impl From<Sentence> for SentenceRecord {
    fn from(Sentence { id, xml_id, text, occurrences }: Sentence) -> Self {
        let occurrences = occurrences.into_iter().map(OccurrenceRecord::from).collect();
        Self { kind: Kind::Sentence, id: id.to_string(), xml_id, text, occurrences }
    }
}

impl SentenceRecord {
    pub(super) fn into_model(self) -> Checked<Sentence> {
        let Self { kind: _, id, xml_id, text, occurrences } = self;
        let occurrences = occurrences.into_iter().map(Occurrence::from).collect();
        Ok(Sentence { id: sentence_id("id", &id)?, xml_id, text, occurrences })
    }
}

impl From<Occurrence> for OccurrenceRecord {
    fn from(occurrence: Occurrence) -> Self {
        let Occurrence { lu, subcorpus, corpus, document, paragraph, number, position } =
            occurrence;
        Self {
            lu: lu.map(|lu| lu.0),
            subcorpus,
            corpus: corpus.map(|corpus| corpus.0),
            document: document.map(|document| document.0),
            paragraph,
            number,
            position,
        }
    }
}

impl From<OccurrenceRecord> for Occurrence {
    fn from(record: OccurrenceRecord) -> Self {
        let OccurrenceRecord { lu, subcorpus, corpus, document, paragraph, number, position } =
            record;
        Self {
            lu: lu.map(LuId),
            subcorpus,
            corpus: corpus.map(CorpusId),
            document: document.map(DocumentId),
            paragraph,
            number,
            position,
        }
    }
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DocumentRecord {
    kind: Kind,
    corpus: NamedId,
    id: u32,
    name: String,
    file: String,
    sentences: Vec<String>,
}

impl From<Document> for DocumentRecord {
    fn from(document: Document) -> Self {
        let Document { id, corpus, corpus_name, name, file, sentences } = document;
        Self {
            kind: Kind::Document,
            corpus: NamedId { id: corpus.0, name: corpus_name },
            id: id.0,
            name,
            file,
            sentences: written(&sentences),
        }
    }
}

impl DocumentRecord {
    pub(super) fn into_model(self) -> Checked<Document> {
        let sentences = self.sentences.iter().map(|id| sentence_id("sentences", id));
        Ok(Document {
            id: DocumentId(self.id),
            corpus: CorpusId(self.corpus.id),
            corpus_name: self.corpus.name,
            sentences: sentences.collect::<Checked<_>>()?,
            name: self.name,
            file: self.file,
        })
    }
}
