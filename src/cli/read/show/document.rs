//! A full-text document with its sentences, for reading and as JSON
//! (`schema/document.schema.json`).

use fnstore::database::Database;
use fnstore::lexicon::Lexicon;
use fnstore::model::{AnnotationSetId, Document, ForeignFile, NamedBy, Sentence};
use fnstore::query::Pattern;
use fnstore::store::NameKind;
use serde::Serialize;

use super::foreign_content::{ForeignRecord, foreign_records, write_foreign};
use crate::cli::Outcome;
use crate::cli::print::output::{Output, counted};

/// A document as JSON; see `schema/document.schema.json`.
#[derive(Debug, Serialize)]
struct DocumentRecord<'a> {
    release: &'a str,
    id: u32,
    name: &'a str,
    description: Option<&'a str>,
    /// Which of its texts the command named it by.
    /// JSON `{"enum": ["name", "description", "file"]}`.
    named_by: &'static str,
    corpus: &'a str,
    corpus_description: Option<&'a str>,
    corpus_id: u32,
    file: &'a str,
    sentences: Vec<SentenceRecord>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    foreign: Vec<ForeignRecord>,
}

#[derive(Debug, Serialize)]
struct SentenceRecord {
    id: String,
    paragraph: Option<u32>,
    number: Option<u32>,
    text: String,
    /// Ids of the sets that evoke frames.
    sets: Vec<String>,
}

/// Shows the documents of a name.
pub(crate) fn show(
    database: &Database,
    lexicons: &[Lexicon<'_>],
    names: &Pattern,
    output: &mut Output,
) -> anyhow::Result<Outcome> {
    let mut found = Vec::new();
    for lexicon in lexicons {
        for document in lexicon.find_documents(names)? {
            let document = document?;
            if let Some(by) = document.named_by(|text| names.matches(text)) {
                found.push((lexicon, document, by));
            }
        }
    }
    if found.is_empty() {
        // The name may be that of a document whose text the release does not hold.
        database.require_name(NameKind::Document, names)?;
        return Outcome::nothing("nothing found");
    }
    let records = found.iter().map(|(lexicon, document, by)| record(lexicon, document, *by));
    let records = records.collect::<anyhow::Result<Vec<_>>>()?;
    output.shown(&records, Ok, write_document)?;
    Ok(Outcome::Done)
}

fn record<'a>(
    lexicon: &'a Lexicon<'_>,
    document: &'a Document,
    named_by: NamedBy,
) -> anyhow::Result<DocumentRecord<'a>> {
    let mut sentences = Vec::with_capacity(document.sentences.len());
    for sentence in lexicon.sentences_of(document) {
        let sentence = sentence?;
        let sets = lexicon.annotation_sets_of(sentence.id)?.map(|set| Ok(set?.id));
        let sets = sets.collect::<anyhow::Result<Vec<AnnotationSetId>>>()?;
        sentences.push(sentence_record(document, sentence, &sets));
    }
    Ok(DocumentRecord {
        release: &lexicon.release().name,
        id: document.id.0,
        name: &document.name,
        description: document.description.as_deref(),
        named_by: named_by.as_str(),
        corpus: &document.corpus_name,
        corpus_description: document.corpus_description.as_deref(),
        corpus_id: document.corpus.0,
        file: &document.file,
        sentences,
        foreign: foreign_records(
            lexicon.foreign(ForeignFile::Document(document.corpus, document.id))?.places,
        ),
    })
}

fn sentence_record(
    document: &Document,
    sentence: Sentence,
    sets: &[AnnotationSetId],
) -> SentenceRecord {
    let mut places = sentence.occurrences.iter();
    let here = (Some(document.corpus), Some(document.id));
    let place = places.find(|place| (place.corpus, place.document) == here);
    SentenceRecord {
        id: sentence.id.to_string(),
        paragraph: place.and_then(|place| place.paragraph),
        number: place.and_then(|place| place.number),
        text: sentence.text,
        sets: sets.iter().map(ToString::to_string).collect(),
    }
}

fn write_document(record: &DocumentRecord<'_>, output: &mut Output) -> anyhow::Result<()> {
    let DocumentRecord { id, corpus, file, release, .. } = record;
    output.headed(record.name, &format!("document {id}  {corpus} ({file})  {release}"))?;
    if let Some(description) = record.description {
        let by = if record.named_by == "description" { "  (named by it)" } else { "" };
        output.line(&format!("  {description}{by}"))?;
    }
    let mut paragraph = None;
    for sentence in &record.sentences {
        if sentence.paragraph != paragraph {
            paragraph = sentence.paragraph;
            output.line("")?;
        }
        let sets = counted(sentence.sets.len() as u64, "set");
        output.part("  ")?;
        output.headed(&sentence.id, &sets)?;
        output.paragraph(6, &sentence.text)?;
    }
    write_foreign(&record.foreign, output)
}
