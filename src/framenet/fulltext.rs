//! Full-text files: `fulltext/*.xml`.

use crate::model::{CorpusId, DocumentId, Foreign, NumberKind, Title, WrittenNumbers};

use super::element::Element;
use super::place::start_of;
use super::rewritten::Rewritten;
use super::sentences::{ReadSentence, read_sentence};
use super::write::write_fulltext_file;
use super::xml::{Once, TITLED, XmlFile};
use super::{Result, WarningCode, WarningLog};

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
/// When it is not well-formed, or another kind of file.
pub fn read_fulltext_file(
    file: &str,
    content: &[u8],
    numbers: &WrittenNumbers,
) -> Result<FullTextFile> {
    let mut xml = XmlFile::new(file, content, numbers)?;
    let root = xml.root("fullTextAnnotation")?;
    let (mut corpus, mut document) = (None, None);
    let mut sentences = Vec::new();
    let mut header = Once::default();
    xml.know(&root, &[])?;
    xml.children(|xml, child| match child.name() {
        "header" if header.is_first() => xml.know(&child, &[]).and_then(|()| {
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
    let (corpus, document) = match (corpus, document) {
        (Some(corpus), Some(document)) => (corpus, document),
        (corpus, document) => named_by_file(&mut xml, &root, corpus, document),
    };
    let (warnings, own, foreign) = xml.finish()?;
    let mut read = FullTextFile {
        file: file.to_owned(),
        corpus,
        document,
        sentences,
        warnings,
        numbers: own,
        foreign,
    };
    let mut warnings = std::mem::take(&mut read.warnings);
    let written = write_fulltext_file(&read, [numbers, &read.numbers]);
    Rewritten::of(file, content, None).compare(&written, &mut warnings);
    read.warnings = warnings;
    Ok(read)
}

impl FullTextFile {
    /// The name of a file of full text in its folder, without `.xml` in whatever case.
    #[must_use]
    pub fn stem_of(file: &str) -> &str {
        let name = file.trim_start_matches("fulltext/");
        match name.len().checked_sub(4).and_then(|at| name.split_at_checked(at)) {
            Some((stem, extension)) if extension.eq_ignore_ascii_case(".xml") => stem,
            _ => name,
        }
    }
}

/// A corpus without a number and a name, and a document that is called after its file, where the
/// header has none.
fn named_by_file<'a>(
    xml: &mut XmlFile<'a>,
    root: &Element<'a>,
    corpus: Option<(CorpusId, Title)>,
    document: Option<(DocumentId, Title)>,
) -> ((CorpusId, Title), (DocumentId, Title)) {
    let name = FullTextFile::stem_of(xml.at.file).to_owned();
    xml.warn_with(root, WarningCode::HeaderMissing, || {
        let what = if corpus.is_some() { "document" } else { "corpus" };
        let name = start_of(&name);
        format!("the header has no {what}; the document is called `{name}`, after the file")
    });
    let mut number = |kind, name: &str| {
        let number = xml.id_in(root, kind, ("ID", ""), name);
        u32::try_from(number).unwrap_or(u32::MAX)
    };
    let corpus = corpus.unwrap_or_else(|| {
        (CorpusId(number(NumberKind::Corpus, "")), Title { name: String::new(), description: None })
    });
    let document = document.unwrap_or_else(|| {
        let id = DocumentId(number(NumberKind::Document, &name));
        (id, Title { name, description: None })
    });
    (corpus, document)
}
