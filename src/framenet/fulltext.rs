//! Full-text files: `fulltext/*.xml`.

use crate::model::{CorpusId, DocumentId, NumberKind, WrittenNumbers};

use super::sentences::{ReadSentence, read_sentence};
use super::xml::XmlFile;
use super::{FramenetError, WarningLog};

type Result<T> = std::result::Result<T, FramenetError>;

/// A full-text file.
#[derive(Debug)]
pub struct FullTextFile {
    /// Name of the file, inside the release.
    pub file: String,
    /// Number and name of the corpus.
    pub corpus: (CorpusId, String),
    /// Number and description of the document.
    pub document: (DocumentId, String),
    /// The sentences, in reading order.
    pub sentences: Vec<ReadSentence>,
    /// What was odd.
    pub warnings: WarningLog,
    /// What the fresh numbers that it brings stand for.
    pub numbers: WrittenNumbers,
}

/// Reads a full-text file; `numbers` are those that earlier files of the release gave.
///
/// # Errors
/// When it is not well-formed, or has no document in its header.
pub fn read_fulltext_file(
    file: &str,
    content: &[u8],
    numbers: &WrittenNumbers,
) -> Result<FullTextFile> {
    let mut xml = XmlFile::new(file, content, numbers)?;
    let root = xml.root("fullTextAnnotation")?;
    let mut corpus = None;
    let mut document = None;
    let mut sentences = Vec::new();
    xml.know(&root, &[])?;
    xml.children(|xml, child| match child.name() {
        "header" => xml.children(|xml, child| match child.name() {
            "corpus" if corpus.is_none() => {
                xml.know(&child, &["ID", "name"])?;
                let name = child.text_or_empty("name")?;
                let id = xml.short_id(&child, NumberKind::Corpus, "ID", &name)?;
                corpus = Some((CorpusId(id), name));
                xml.children(|xml, child| match child.name() {
                    "document" if document.is_none() => {
                        let name = child.text_or_empty("description")?;
                        let id = xml.short_id(&child, NumberKind::Document, "ID", &name)?;
                        document = Some((DocumentId(id), name));
                        xml.leaf(&child, &["ID", "description"])
                    }
                    _ => xml.unknown(&child),
                })
            }
            _ => xml.unknown(&child),
        }),
        "sentence" => {
            sentences.push(read_sentence(xml, &child)?);
            Ok(())
        }
        _ => xml.unknown(&child),
    })?;
    let missing = || root.wrong("header", "", "a corpus with a document");
    Ok(FullTextFile {
        file: file.to_owned(),
        corpus: corpus.ok_or_else(missing)?,
        document: document.ok_or_else(missing)?,
        sentences,
        warnings: xml.warnings,
        numbers: xml.numbers.own,
    })
}
