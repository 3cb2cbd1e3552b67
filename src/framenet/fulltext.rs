//! Full-text files: `fulltext/*.xml`.

use crate::model::{CorpusId, DocumentId};

use super::sentences::{ReadSentence, read_sentence};
use super::xml::XmlFile;
use super::{Result, Warning};

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
    pub warnings: Vec<Warning>,
}

/// Reads a full-text file.
///
/// # Errors
/// When it is not well-formed, has no document in its header, or a number is none.
pub fn read_fulltext_file(file: &str, content: &[u8]) -> Result<FullTextFile> {
    let mut xml = XmlFile::new(file, content)?;
    let root = xml.root("fullTextAnnotation")?;
    let mut corpus = None;
    let mut document = None;
    let mut sentences = Vec::new();
    xml.know(&root, &[])?;
    xml.children(|xml, child| match child.name() {
        "header" => xml.children(|xml, child| match child.name() {
            "corpus" if corpus.is_none() => {
                xml.know(&child, &["ID", "name"])?;
                corpus = Some((CorpusId(child.number("ID")?), child.text_or_empty("name")?));
                xml.children(|xml, child| match child.name() {
                    "document" if document.is_none() => {
                        let name = child.text_or_empty("description")?;
                        document = Some((DocumentId(child.number("ID")?), name));
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
    })
}
