//! LU files: `lu/lu*.xml`.

use crate::model::{
    AnnotationSetId, Colors, CorpusId, DocumentId, FeRealization, Foreign, FrameId, Governor,
    IdSpace, LexUnit, Lexeme, ListedElement, Listing, LuId, NumberKind, Pos, SemTypeId, Title,
    ValencePattern, ValenceUnit, Valences, WrittenNumbers,
};

use super::element::Element;
use super::names::Names;
use super::place::start_of;
use super::rewritten::{Rewritten, names_of};
use super::sentences::{ReadSentence, read_sentence};
use super::write::write_lu_file;
use super::xml::{Once, TITLED, XmlFile};
use super::{Result, WarningCode, WarningLog};

/// An LU file.
#[derive(Debug)]
pub struct LuFile {
    /// Name of the file, inside the release.
    pub file: String,
    /// What it says of the LU; its place in the frame's file is not part of it.
    pub lexunit: LexUnit,
    /// Name of the frame.
    pub frame_name: String,
    /// The corpora that the header lists, with their documents.
    pub corpora: Corpora,
    /// The FEs that the header lists.
    pub elements: Vec<ListedElement>,
    /// The subcorpora with their exemplars, in file order.
    pub subcorpora: Vec<ReadSubcorpus>,
    /// Numbers and names of the semantic types that it names.
    pub sem_type_names: Vec<(SemTypeId, String)>,
    /// What was odd.
    pub warnings: WarningLog,
    /// What the fresh numbers that it brings stand for.
    pub numbers: WrittenNumbers,
    /// What it holds beside FrameNet.
    pub foreign: Foreign,
}

/// A subcorpus of an LU file.
#[derive(Debug, Clone, PartialEq)]
pub struct ReadSubcorpus {
    /// Name; empty when it has none.
    pub name: String,
    /// The sentences, in file order.
    pub sentences: Vec<ReadSentence>,
}

/// Reads an LU file; `numbers` are those that earlier files of the release gave.
///
/// # Errors
/// When it is not well-formed, or no LU file.
pub fn read_lu_file(file: &str, content: &[u8], numbers: &WrittenNumbers) -> Result<LuFile> {
    let mut xml = XmlFile::new(file, content, numbers)?;
    let root = xml.root("lexUnit")?;
    let (mut lexunit, frame_name) = read_root(&mut xml, &root)?;
    let (mut corpora, mut elements, mut subcorpora) = (Vec::new(), Vec::new(), Vec::new());
    let mut names = Names::default();
    let (mut header, mut definition, mut valences) = Default::default();
    let once: [&mut Once; 3] = [&mut header, &mut definition, &mut valences];
    let [header, definition, valences] = once;
    xml.children(|xml, child| {
        match child.name() {
            "header" if header.is_first() => {
                xml.know(&child, &[])?;
                read_header(xml, &mut corpora, &mut elements)?;
            }
            "definition" if definition.is_first() => lexunit.definition = xml.text_of(&child)?,
            "lexeme" => lexunit.lexemes.push(read_lexeme(xml, &child)?),
            "semType" => lexunit.sem_types.push(names.sem_type(xml, &child)?),
            "valences" if valences.is_first() => {
                xml.know(&child, &[])?;
                lexunit.valences = read_valences(xml)?;
            }
            "subCorpus" => subcorpora.push(read_subcorpus(xml, &child, lexunit.id)?),
            _ => xml.unknown(&child)?,
        }
        Ok(())
    })?;
    lexunit.subcorpora = subcorpora.iter().map(|subcorpus| subcorpus.name.clone()).collect();
    locate_sets(&mut lexunit.valences, &subcorpora);
    let (warnings, own, foreign) = xml.finish()?;
    let mut read = LuFile {
        file: file.to_owned(),
        lexunit,
        frame_name,
        corpora,
        elements,
        subcorpora,
        sem_type_names: names.sem_types,
        warnings,
        numbers: own,
        foreign,
    };
    let tables = [numbers, &read.numbers];
    let written = write_lu_file(&read, &names_of(&read.sem_type_names), tables);
    let id = root.attribute("ID")?.filter(|id| !id.is_empty());
    let stem = format!("lu{}", id.unwrap_or_else(|| read.lexunit.id.to_string()));
    Rewritten::of(file, content, Some(&stem)).compare(&written, &mut read.warnings);
    Ok(read)
}

/// What the root element says: the LU, and the name of its frame.
fn read_root<'a>(xml: &mut XmlFile<'a>, root: &Element<'a>) -> Result<(LexUnit, String)> {
    let (name, frame_name) = (xml.name(root, "name")?, xml.name(root, "frame")?);
    let id = LuId(xml.short_id(root, NumberKind::LexUnit, "ID", &name)?);
    let frame = FrameId(xml.short_id(root, NumberKind::Frame, "frameID", &frame_name)?);
    let lexunit = LexUnit {
        pos: read_pos(xml, root)?,
        status: root.text_or_empty("status")?,
        incorporated_fe: root.attribute("incorporatedFE")?,
        total_annotated: xml.count(root, "totalAnnotated")?.unwrap_or(0),
        listing: Listing { frame_file: false, lu_file: true },
        ..LexUnit::named(frame, id, &name)
    };
    let known =
        ["ID", "name", "POS", "status", "frame", "frameID", "totalAnnotated", "incorporatedFE"];
    xml.know(root, &known)?;
    Ok((lexunit, frame_name))
}

/// Numbers and titles of corpora with those of their documents.
pub type Corpora = Vec<(CorpusId, Title, Vec<(DocumentId, Title)>)>;

fn read_header(
    xml: &mut XmlFile<'_>,
    corpora: &mut Corpora,
    elements: &mut Vec<ListedElement>,
) -> Result<()> {
    let mut frame = Once::default();
    xml.children(|xml, child| match child.name() {
        "corpus" => {
            xml.know(&child, &TITLED)?;
            let title = child.corpus_title()?;
            let id = CorpusId(xml.short_id(&child, NumberKind::Corpus, "ID", &title.name)?);
            let mut documents = Vec::new();
            xml.children(|xml, child| match child.name() {
                "document" => {
                    let title = child.document_title()?;
                    let id = xml.short_id(&child, NumberKind::Document, "ID", &title.name)?;
                    documents.push((DocumentId(id), title));
                    xml.leaf(&child, &TITLED)
                }
                _ => xml.unknown(&child),
            })?;
            if documents.is_empty() {
                keep_title(xml, &child, &title);
            }
            corpora.push((id, title, documents));
            Ok(())
        }
        // The frame's FEs over again.
        "frame" if frame.is_first() => {
            xml.know(&child, &[])?;
            xml.children(|xml, child| match child.name() {
                "FE" => {
                    elements.push(read_listed_element(&child)?);
                    xml.leaf(&child, &["name", "type", "abbrev", "fgColor", "bgColor"])
                }
                _ => xml.unknown(&child),
            })
        }
        _ => xml.unknown(&child),
    })
}

/// Keeps what a corpus is called that lists no document: records have titles of documents only.
fn keep_title<'a>(xml: &mut XmlFile<'a>, element: &Element<'a>, title: &Title) {
    for (name, value) in [("name", Some(&title.name)), ("description", title.description.as_ref())]
    {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            xml.keep_attribute(element, name, value.clone(), "");
        }
    }
    xml.warn_with(element, WarningCode::WrittenOtherwise, || {
        let name = start_of(&title.name);
        format!("corpus `{name}` lists no document; an export writes its description last")
    });
}

fn read_listed_element(element: &Element<'_>) -> Result<ListedElement> {
    Ok(ListedElement {
        name: element.text_or_empty("name")?,
        core_type: element.text_or_empty("type")?,
        abbreviation: element.text_or_empty("abbrev")?,
        colors: Colors {
            fg: element.text_or_empty("fgColor")?,
            bg: element.text_or_empty("bgColor")?,
        },
    })
}

/// The part of speech in the attribute `POS`.
pub(super) fn read_pos<'a>(xml: &mut XmlFile<'a>, element: &Element<'a>) -> Result<Pos> {
    let text = element.text_or_empty("POS")?;
    let pos = Pos::parse(&text);
    if pos.as_str() != text {
        let detail = format!("part of speech `{text}` is read as `{pos}`");
        xml.warn(element, WarningCode::UnreadableValue, detail);
        if element.has("POS") {
            xml.keep_attribute(element, "POS", text, pos.as_str());
        }
    }
    Ok(pos)
}

/// Reads the `lexeme` whose start was read.
pub(super) fn read_lexeme<'a>(xml: &mut XmlFile<'a>, element: &Element<'a>) -> Result<Lexeme> {
    let mut flag = |name| -> Result<Option<bool>> {
        let Some(value) = element.attribute(name)? else { return Ok(None) };
        xml.flag(element, name, value).map(Some)
    };
    let (headword, break_before) = (flag("headword")?, flag("breakBefore")?);
    let lexeme = Lexeme {
        name: xml.name(element, "name")?,
        pos: read_pos(xml, element)?,
        order: xml.count(element, "order")?,
        headword,
        break_before,
    };
    xml.leaf(element, &["name", "POS", "order", "headword", "breakBefore"])?;
    Ok(lexeme)
}

fn read_subcorpus<'a>(
    xml: &mut XmlFile<'a>,
    element: &Element<'a>,
    lu: LuId,
) -> Result<ReadSubcorpus> {
    let name = element.text_or_empty("name")?;
    let mut sentences = Vec::new();
    xml.know(element, &["name"])?;
    xml.children(|xml, child| {
        if child.name() != "sentence" {
            return xml.unknown(&child);
        }
        let mut sentence = read_sentence(xml, &child)?;
        sentence.occurrence.lu = Some(lu);
        sentence.occurrence.subcorpus = Some(name.clone());
        sentences.push(sentence);
        Ok(())
    })?;
    Ok(ReadSubcorpus { name, sentences })
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
    xml.know(element, &["type", "lemma"])?;
    let mut governor = Governor {
        kind: element.text_or_empty("type")?,
        lemma: element.text_or_empty("lemma")?,
        sets: Vec::new(),
    };
    xml.children(|xml, child| match child.name() {
        "annoSet" => {
            governor.sets.push(read_set_number(xml, &child)?);
            xml.leaf(&child, &["ID"])
        }
        _ => xml.unknown(&child),
    })?;
    Ok(governor)
}

fn read_realization<'a>(xml: &mut XmlFile<'a>, element: &Element<'a>) -> Result<FeRealization> {
    xml.know(element, &["total"])?;
    let mut realization = FeRealization {
        elements: Vec::new(),
        total: xml.count(element, "total")?.unwrap_or(0),
        patterns: Vec::new(),
    };
    xml.children(|xml, child| match child.name() {
        "FE" => {
            realization.elements.push(xml.name(&child, "name")?);
            xml.leaf(&child, &["name"])
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
    xml.know(element, &["total"])?;
    let mut pattern = ValencePattern {
        total: xml.count(element, "total")?.unwrap_or(0),
        units: Vec::new(),
        sets: Vec::new(),
    };
    xml.children(|xml, child| match child.name() {
        "valenceUnit" => {
            pattern.units.push(ValenceUnit {
                fe: child.text_or_empty("FE")?,
                pt: child.text_or_empty("PT")?,
                gf: child.text_or_empty("GF")?,
            });
            xml.leaf(&child, &["FE", "PT", "GF"])
        }
        "annoSet" => {
            pattern.sets.push(read_set_number(xml, &child)?);
            xml.leaf(&child, &["ID"])
        }
        _ => xml.unknown(&child),
    })?;
    Ok(pattern)
}

fn read_set_number<'a>(xml: &mut XmlFile<'a>, element: &Element<'a>) -> Result<AnnotationSetId> {
    let number = xml.id(element, NumberKind::AnnotationSet, "ID", "")?;
    Ok(AnnotationSetId::of_xml(IdSpace::Exemplar, number))
}

/// Valence tables name sets by bare numbers: those of frame sets that the file itself holds are
/// exemplars, the others lie under `fulltext/`.
fn locate_sets(valences: &mut Valences, subcorpora: &[ReadSubcorpus]) {
    let sentences = subcorpora.iter().flat_map(|subcorpus| &subcorpus.sentences);
    let sets = sentences.flat_map(|sentence| &sentence.sets).filter(|set| set.evokes_in_lu_file());
    let mut own: Vec<u64> = sets.map(|set| set.xml_id).collect();
    own.sort_unstable();
    let patterns = valences.realizations.iter_mut().chain(&mut valences.groups);
    let of_patterns = patterns.flat_map(|item| &mut item.patterns).map(|pattern| &mut pattern.sets);
    let of_governors = valences.governors.iter_mut().map(|governor| &mut governor.sets);
    for set in of_patterns.chain(of_governors).flatten() {
        if set.space() == IdSpace::Exemplar && own.binary_search(&set.number()).is_err() {
            *set = AnnotationSetId::new(IdSpace::FullText, set.number());
        }
    }
}
