//! LU files: `lu/lu*.xml`.

use crate::model::{
    AnnotationSetId, CorpusId, Creation, DocumentId, FeRealization, FrameId, Governor, IdSpace,
    LexUnit, Lexeme, Listing, LuId, Pos, SemTypeId, SentenceCount, ValencePattern, ValenceUnit,
    Valences,
};

use super::sentences::{ReadSentence, read_sentence};
use super::xml::{Element, XmlFile};
use super::{FramenetError, Warning};

type Result<T> = std::result::Result<T, FramenetError>;

/// An LU file.
#[derive(Debug)]
pub struct LuFile {
    /// Name of the file, inside the release.
    pub file: String,
    /// What it says of the LU; its place in the frame's file is not part of it.
    pub lexunit: LexUnit,
    /// Name of the frame.
    pub frame_name: String,
    /// The corpora that the header lists: number, name, documents with their descriptions.
    pub corpora: Corpora,
    /// The exemplars, in file order.
    pub sentences: Vec<ReadSentence>,
    /// What was odd.
    pub warnings: Vec<Warning>,
}

/// Reads an LU file.
///
/// # Errors
/// When it is not well-formed, or a number is none.
pub fn read_lu_file(file: &str, content: &[u8]) -> Result<LuFile> {
    let mut xml = XmlFile::new(file, content)?;
    let root = xml.root("lexUnit")?;
    let mut lexunit = LexUnit {
        id: LuId(root.number("ID")?),
        frame: FrameId(root.number("frameID")?),
        name: root.required("name")?,
        pos: Pos::parse(&root.text_or_empty("POS")?),
        status: root.text_or_empty("status")?,
        definition: String::new(),
        lexemes: Vec::new(),
        incorporated_fe: root.attribute("incorporatedFE")?,
        sem_types: Vec::new(),
        lemma_id: None,
        created: Creation::default(),
        sentence_count: SentenceCount::default(),
        total_annotated: root.optional_number("totalAnnotated")?.unwrap_or(0),
        subcorpora: Vec::new(),
        valences: Valences::default(),
        listing: Listing { frame_file: false, lu_file: true },
    };
    let frame_name = root.required("frame")?;
    let mut sentences = Vec::new();
    let mut corpora = Vec::new();
    xml.children(|xml, child| {
        match child.name() {
            "header" => corpora = read_header(xml)?,
            "definition" => lexunit.definition = xml.text()?,
            "lexeme" => lexunit.lexemes.push(read_lexeme(xml, &child)?),
            "semType" => {
                lexunit.sem_types.push(SemTypeId(child.number("ID")?));
                xml.skip()?;
            }
            "valences" => lexunit.valences = read_valences(xml)?,
            "subCorpus" => {
                let name = child.text_or_empty("name")?;
                read_subcorpus(xml, lexunit.id, &name, &mut sentences)?;
                lexunit.subcorpora.push(name);
            }
            _ => xml.unknown(&child)?,
        }
        Ok(())
    })?;
    locate_sets(&mut lexunit.valences, &sentences);
    let warnings = xml.warnings;
    Ok(LuFile { file: file.to_owned(), lexunit, frame_name, corpora, sentences, warnings })
}

/// Corpora with their documents.
pub type Corpora = Vec<(CorpusId, String, Vec<(DocumentId, String)>)>;

fn read_header(xml: &mut XmlFile<'_>) -> Result<Corpora> {
    let mut corpora = Vec::new();
    xml.children(|xml, child| match child.name() {
        "corpus" => {
            let (id, name) = (CorpusId(child.number("ID")?), child.text_or_empty("name")?);
            let mut documents = Vec::new();
            xml.children(|xml, child| match child.name() {
                "document" => {
                    let description = child.text_or_empty("description")?;
                    documents.push((DocumentId(child.number("ID")?), description));
                    xml.skip()
                }
                _ => xml.unknown(&child),
            })?;
            corpora.push((id, name, documents));
            Ok(())
        }
        // The frame's FEs over again.
        "frame" => xml.skip(),
        _ => xml.unknown(&child),
    })?;
    Ok(corpora)
}

/// Reads the `lexeme` whose start was read.
pub(super) fn read_lexeme<'a>(xml: &mut XmlFile<'a>, element: &Element<'a>) -> Result<Lexeme> {
    let flag = |name| -> Result<Option<bool>> {
        Ok(element.attribute(name)?.map(|value| value == "true"))
    };
    let lexeme = Lexeme {
        name: element.required("name")?,
        pos: Pos::parse(&element.text_or_empty("POS")?),
        order: element.optional_number("order")?,
        headword: flag("headword")?,
        break_before: flag("breakBefore")?,
    };
    xml.skip()?;
    Ok(lexeme)
}

fn read_subcorpus(
    xml: &mut XmlFile<'_>,
    lu: LuId,
    name: &str,
    sentences: &mut Vec<ReadSentence>,
) -> Result<()> {
    xml.children(|xml, child| {
        if child.name() != "sentence" {
            return xml.unknown(&child);
        }
        let mut sentence = read_sentence(xml, &child)?;
        sentence.occurrence.lu = Some(lu);
        sentence.occurrence.subcorpus = Some(name.to_owned());
        sentences.push(sentence);
        Ok(())
    })
}

fn read_valences(xml: &mut XmlFile<'_>) -> Result<Valences> {
    let mut valences = Valences::default();
    xml.children(|xml, child| {
        match child.name() {
            "governor" => valences.governors.push(read_governor(xml, &child)?),
            "FERealization" => valences.realizations.push(read_realization(xml, &child)?),
            "FEGroupRealization" => valences.groups.push(read_realization(xml, &child)?),
            _ => xml.unknown(&child)?,
        }
        Ok(())
    })?;
    Ok(valences)
}

fn read_governor<'a>(xml: &mut XmlFile<'a>, element: &Element<'a>) -> Result<Governor> {
    let mut governor = Governor {
        kind: element.text_or_empty("type")?,
        lemma: element.text_or_empty("lemma")?,
        sets: Vec::new(),
    };
    xml.children(|xml, child| match child.name() {
        "annoSet" => {
            governor.sets.push(read_set_number(&child)?);
            xml.skip()
        }
        _ => xml.unknown(&child),
    })?;
    Ok(governor)
}

fn read_realization<'a>(xml: &mut XmlFile<'a>, element: &Element<'a>) -> Result<FeRealization> {
    let mut realization = FeRealization {
        elements: Vec::new(),
        total: element.optional_number("total")?.unwrap_or(0),
        patterns: Vec::new(),
    };
    xml.children(|xml, child| match child.name() {
        "FE" => {
            realization.elements.push(child.required("name")?);
            xml.skip()
        }
        "pattern" => {
            realization.patterns.push(read_pattern(xml, &child)?);
            Ok(())
        }
        _ => xml.unknown(&child),
    })?;
    Ok(realization)
}

fn read_pattern<'a>(xml: &mut XmlFile<'a>, element: &Element<'a>) -> Result<ValencePattern> {
    let mut pattern = ValencePattern {
        total: element.optional_number("total")?.unwrap_or(0),
        units: Vec::new(),
        sets: Vec::new(),
    };
    xml.children(|xml, child| {
        match child.name() {
            "valenceUnit" => pattern.units.push(ValenceUnit {
                fe: child.text_or_empty("FE")?,
                pt: child.text_or_empty("PT")?,
                gf: child.text_or_empty("GF")?,
            }),
            "annoSet" => pattern.sets.push(read_set_number(&child)?),
            _ => return xml.unknown(&child),
        }
        xml.skip()
    })?;
    Ok(pattern)
}

fn read_set_number(element: &Element<'_>) -> Result<AnnotationSetId> {
    Ok(AnnotationSetId::new(IdSpace::Exemplar, element.number("ID")?))
}

/// Valence tables name sets by bare numbers: those that the file itself holds are exemplars, the
/// others lie under `fulltext/`.
fn locate_sets(valences: &mut Valences, sentences: &[ReadSentence]) {
    let mut own: Vec<u64> =
        sentences.iter().flat_map(|sentence| &sentence.sets).map(|set| set.xml_id).collect();
    own.sort_unstable();
    let patterns = valences.realizations.iter_mut().chain(&mut valences.groups);
    let of_patterns = patterns.flat_map(|item| &mut item.patterns).map(|pattern| &mut pattern.sets);
    let of_governors = valences.governors.iter_mut().map(|governor| &mut governor.sets);
    for set in of_patterns.chain(of_governors).flatten() {
        if own.binary_search(&set.number()).is_err() {
            *set = AnnotationSetId::new(IdSpace::FullText, set.number());
        }
    }
}
