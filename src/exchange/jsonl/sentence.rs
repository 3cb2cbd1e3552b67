//! Sentences and documents as JSON.

use serde::{Deserialize, Serialize};

use super::annotation::NamedId;
use super::{Checked, Kind, sentence_id, written};
use crate::model::{
    CorpusId, Document, DocumentId, HeaderTitles, LuId, Occurrence, Sentence, Title,
};

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
    #[serde(default, skip_serializing_if = "Option::is_none")]
    corpus_description: Option<String>,
    id: u32,
    name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    in_headers: Option<HeaderTitlesRecord>,
    file: String,
    sentences: Vec<String>,
}

/// What LU files call a document and its corpus, where that is not what the document's file says.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct HeaderTitlesRecord {
    corpus: TitleRecord,
    document: TitleRecord,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct TitleRecord {
    name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    description: Option<String>,
}

impl From<Title> for TitleRecord {
    fn from(Title { name, description }: Title) -> Self {
        Self { name, description }
    }
}

impl From<TitleRecord> for Title {
    fn from(TitleRecord { name, description }: TitleRecord) -> Self {
        Self { name, description }
    }
}

impl From<Document> for DocumentRecord {
    fn from(document: Document) -> Self {
        let Document { id, corpus, corpus_name, corpus_description, .. } = document;
        let Document { name, description, in_headers, file, sentences, .. } = document;
        let titles = |HeaderTitles { corpus, document }| HeaderTitlesRecord {
            corpus: TitleRecord::from(corpus),
            document: TitleRecord::from(document),
        };
        Self {
            kind: Kind::Document,
            corpus: NamedId { id: corpus.0, name: corpus_name },
            corpus_description,
            id: id.0,
            name,
            description,
            in_headers: in_headers.map(titles),
            file,
            sentences: written(&sentences),
        }
    }
}

impl DocumentRecord {
    pub(super) fn into_model(self) -> Checked<Document> {
        let sentences = self.sentences.iter().map(|id| sentence_id("sentences", id));
        let titles = |HeaderTitlesRecord { corpus, document }| HeaderTitles {
            corpus: Title::from(corpus),
            document: Title::from(document),
        };
        Ok(Document {
            id: DocumentId(self.id),
            corpus: CorpusId(self.corpus.id),
            corpus_name: self.corpus.name,
            corpus_description: self.corpus_description,
            sentences: sentences.collect::<Checked<_>>()?,
            name: self.name,
            description: self.description,
            in_headers: self.in_headers.map(titles),
            file: self.file,
        })
    }
}
