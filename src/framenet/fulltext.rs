//! Full-text files: `fulltext/*.xml`.

use crate::model::{CorpusId, DocumentId, Foreign, NumberKind, Title, WrittenNumbers};

use super::sentences::{ReadSentence, read_sentence};
use super::xml::{TITLED, XmlFile};
use super::{Result, WarningLog};

/// A full-text file.
#[derive(Debug)]
pub struct FullTextFile {
    /// Name of the file, inside the release.
    pub file: String,
    /// Number and title of the corpus.
    pub corpus: (CorpusId, Title),
    /// Number and title of the document.
    pub document: (DocumentId, Title),
    /// The sentences, in reading order.
    pub sentences: Vec<ReadSentence>,
    /// What was odd.
    pub warnings: WarningLog,
    /// What the fresh numbers that it brings stand for.
    pub numbers: WrittenNumbers,
    /// What it holds beside FrameNet.
    pub foreign: Foreign,
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
        "header" => xml.know(&child, &[]).and_then(|()| {
            xml.children(|xml, child| match child.name() {
                "corpus" if corpus.is_none() => {
                    xml.know(&child, &TITLED)?;
                    let title = child.corpus_title()?;
                    let id = xml.short_id(&child, NumberKind::Corpus, "ID", &title.name)?;
                    corpus = Some((CorpusId(id), title));
                    xml.children(|xml, child| match child.name() {
                        "document" if document.is_none() => {
                            let title = child.document_title()?;
                            let id =
                                xml.short_id(&child, NumberKind::Document, "ID", &title.name)?;
                            document = Some((DocumentId(id), title));
                            xml.leaf(&child, &TITLED)
                        }
                        _ => xml.unknown(&child),
                    })
                }
                _ => xml.unknown(&child),
            })
        }),
        "sentence" => {
            sentences.push(read_sentence(xml, &child)?);
            Ok(())
        }
        _ => xml.unknown(&child),
    })?;
    let missing = || root.wrong("header", "", "a corpus with a document");
    let (warnings, numbers, foreign) = xml.finish()?;
    Ok(FullTextFile {
        file: file.to_owned(),
        corpus: corpus.ok_or_else(missing)?,
        document: document.ok_or_else(missing)?,
        sentences,
        warnings,
        numbers,
        foreign,
    })
}
