//! Frame files: `frame/*.xml`.

use crate::model::{
    Colors, CoreType, Creation, FeId, Frame, FrameElement, FrameId, LexUnit, Listing, LuId, Pos,
    SemTypeId, SentenceCount, Valences,
};

use super::lexunits::read_lexeme;
use super::xml::{Element, XmlFile};
use super::{FramenetError, Warning};

type Result<T> = std::result::Result<T, FramenetError>;

/// A frame file.
#[derive(Debug)]
pub struct FrameFile {
    /// Name of the file, inside the release.
    pub file: String,
    /// The frame.
    pub frame: Frame,
    /// What it says of its LUs, in file order.
    pub lexunits: Vec<LexUnit>,
    /// What was odd.
    pub warnings: Vec<Warning>,
}

/// Reads a frame file.
///
/// # Errors
/// When it is not well-formed, or a number or core type is none.
pub fn read_frame_file(file: &str, content: &[u8]) -> Result<FrameFile> {
    let mut xml = XmlFile::new(file, content)?;
    let root = xml.root("frame")?;
    let mut frame = Frame {
        id: FrameId(root.number("ID")?),
        name: root.required("name")?,
        definition: String::new(),
        elements: Vec::new(),
        core_sets: Vec::new(),
        sem_types: Vec::new(),
        created: read_creation(&root)?,
        modified: String::new(),
        has_file: true,
    };
    let mut lexunits = Vec::new();
    xml.children(|xml, child| {
        match child.name() {
            "definition" => frame.definition = xml.text()?,
            "semType" => {
                frame.sem_types.push(SemTypeId(child.number("ID")?));
                xml.skip()?;
            }
            "FE" => frame.elements.push(read_element(xml, &child)?),
            "FEcoreSet" => frame.core_sets.push(read_core_set(xml)?),
            // The relations over again, by name and without FEs.
            "frameRelation" => xml.skip()?,
            "lexUnit" => lexunits.push(read_lexunit(xml, &child, frame.id)?),
            _ => xml.unknown(&child)?,
        }
        Ok(())
    })?;
    Ok(FrameFile { file: file.to_owned(), frame, lexunits, warnings: xml.warnings })
}

fn read_creation(element: &Element<'_>) -> Result<Creation> {
    Ok(Creation { by: element.text_or_empty("cBy")?, date: element.text_or_empty("cDate")? })
}

fn read_element<'a>(xml: &mut XmlFile<'a>, element: &Element<'a>) -> Result<FrameElement> {
    let core_type = element.required("coreType")?;
    let mut fe = FrameElement {
        id: FeId(element.number("ID")?),
        name: element.required("name")?,
        abbreviation: element.text_or_empty("abbrev")?,
        core_type: CoreType::parse(&core_type).ok_or_else(|| {
            let expected = "Core, Core-Unexpressed, Peripheral or Extra-Thematic";
            element.wrong("coreType", &core_type, expected)
        })?,
        definition: String::new(),
        sem_types: Vec::new(),
        requires: Vec::new(),
        excludes: Vec::new(),
        colors: Colors {
            fg: element.text_or_empty("fgColor")?,
            bg: element.text_or_empty("bgColor")?,
        },
        created: read_creation(element)?,
    };
    xml.children(|xml, child| {
        match child.name() {
            "definition" => {
                fe.definition = xml.text()?;
                return Ok(());
            }
            "semType" => fe.sem_types.push(SemTypeId(child.number("ID")?)),
            "requiresFE" => fe.requires.push(FeId(child.number("ID")?)),
            "excludesFE" => fe.excludes.push(FeId(child.number("ID")?)),
            _ => return xml.unknown(&child),
        }
        xml.skip()
    })?;
    Ok(fe)
}

fn read_core_set(xml: &mut XmlFile<'_>) -> Result<Vec<FeId>> {
    let mut members = Vec::new();
    xml.children(|xml, child| match child.name() {
        "memberFE" => {
            members.push(FeId(child.number("ID")?));
            xml.skip()
        }
        _ => xml.unknown(&child),
    })?;
    Ok(members)
}

fn read_lexunit<'a>(
    xml: &mut XmlFile<'a>,
    element: &Element<'a>,
    frame: FrameId,
) -> Result<LexUnit> {
    let mut lexunit = LexUnit {
        id: LuId(element.number("ID")?),
        frame,
        name: element.required("name")?,
        pos: Pos::parse(&element.text_or_empty("POS")?),
        status: element.text_or_empty("status")?,
        definition: String::new(),
        lexemes: Vec::new(),
        incorporated_fe: element.attribute("incorporatedFE")?,
        sem_types: Vec::new(),
        lemma_id: element.optional_number("lemmaID")?,
        created: read_creation(element)?,
        sentence_count: SentenceCount::default(),
        total_annotated: 0,
        subcorpora: Vec::new(),
        valences: Valences::default(),
        listing: Listing { frame_file: true, lu_file: false },
    };
    xml.children(|xml, child| {
        match child.name() {
            "definition" => {
                lexunit.definition = xml.text()?;
                return Ok(());
            }
            "sentenceCount" => {
                lexunit.sentence_count = SentenceCount {
                    annotated: child.optional_number("annotated")?.unwrap_or(0),
                    total: child.optional_number("total")?.unwrap_or(0),
                };
            }
            "lexeme" => {
                lexunit.lexemes.push(read_lexeme(xml, &child)?);
                return Ok(());
            }
            "semType" => lexunit.sem_types.push(SemTypeId(child.number("ID")?)),
            _ => return xml.unknown(&child),
        }
        xml.skip()
    })?;
    Ok(lexunit)
}
