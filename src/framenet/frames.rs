//! Frame files: `frame/*.xml`.

use crate::model::{
    Colors, CoreType, Creation, FeId, Foreign, Frame, FrameElement, FrameId, FrameLayout, LexUnit,
    ListedRelation, Listing, LuId, NumberKind, SemTypeId, SentenceCount, Valences, WrittenNumbers,
};

use super::element::Element;
use super::lexunits::{read_lexeme, read_pos};
use super::names::Names;
use super::rewritten::{Rewritten, names_of};
use super::write::write_frame_file;
use super::xml::{Once, XmlFile};
use super::{Result, WarningCode, WarningLog};

/// A frame file.
#[derive(Debug)]
pub struct FrameFile {
    /// Name of the file, inside the release.
    pub file: String,
    /// The frame.
    pub frame: Frame,
    /// What it says of its LUs, in file order.
    pub lexunits: Vec<LexUnit>,
    /// How it lists relations and LUs.
    pub layout: FrameLayout,
    /// Numbers and names of the semantic types that it names.
    pub sem_type_names: Vec<(SemTypeId, String)>,
    /// What was odd.
    pub warnings: WarningLog,
    /// What the fresh numbers that it brings stand for.
    pub numbers: WrittenNumbers,
    /// What it holds beside FrameNet.
    pub foreign: Foreign,
}

/// Reads a frame file; `numbers` are those that earlier files of the release gave.
///
/// # Errors
/// When it is not well-formed, or no frame file.
pub fn read_frame_file(file: &str, content: &[u8], numbers: &WrittenNumbers) -> Result<FrameFile> {
    let mut xml = XmlFile::new(file, content, numbers)?;
    let root = xml.root("frame")?;
    let name = xml.name(&root, "name")?;
    let id = FrameId(xml.short_id(&root, NumberKind::Frame, "ID", &name)?);
    let created = read_creation(&root)?;
    let mut frame = Frame { created, has_file: true, ..Frame::named(id, &name) };
    xml.know(&root, &["ID", "name", "cBy", "cDate"])?;
    let mut lexunits = Vec::new();
    let mut layout = FrameLayout::default();
    let (mut names, mut definition) = (Names::default(), Once::default());
    xml.children(|xml, child| {
        match child.name() {
            "definition" if definition.is_first() => frame.definition = xml.text_of(&child)?,
            "semType" => frame.sem_types.push(names.sem_type(xml, &child)?),
            "FE" => {
                let fe = read_element(xml, &child, &mut names)?;
                frame.elements.push(fe);
            }
            "FEcoreSet" => frame.core_sets.push(read_core_set(xml, &child, &mut names)?),
            // The relations over again, by name and without FEs.
            "frameRelation" => layout.relations.push(read_relation(xml, &child)?),
            "lexUnit" => {
                let lexunit = read_lexunit(xml, &child, frame.id, &mut names)?;
                lexunits.push(lexunit);
            }
            _ => xml.unknown(&child)?,
        }
        Ok(())
    })?;
    names.settle_elements(&mut xml, &root, &mut frame);
    layout.lexunits = lexunits.iter().map(|lu| lu.id).collect();
    let (warnings, own, foreign) = xml.finish()?;
    let mut read = FrameFile {
        file: file.to_owned(),
        frame,
        lexunits,
        layout,
        sem_type_names: names.sem_types,
        warnings,
        numbers: own,
        foreign,
    };
    let written =
        write_frame_file(&read, &names_of(&read.sem_type_names), [numbers, &read.numbers]);
    Rewritten::of(file, content, Some(&read.frame.name)).compare(&written, &mut read.warnings);
    Ok(read)
}

fn read_relation<'a>(xml: &mut XmlFile<'a>, element: &Element<'a>) -> Result<ListedRelation> {
    xml.know(element, &["type", "ID"])?;
    let mut listed = ListedRelation {
        kind: element.text_or_empty("type")?,
        id: xml.optional_id(element, NumberKind::Relation, "ID")?,
        frames: Vec::new(),
    };
    xml.children(|xml, child| {
        if child.name() != "relatedFrame" {
            return xml.unknown(&child);
        }
        xml.know(&child, &["ID"])?;
        let id = xml.optional_id(&child, NumberKind::Frame, "ID")?.map(FrameId);
        listed.frames.push((id, xml.text()?));
        Ok(())
    })?;
    Ok(listed)
}

fn read_creation(element: &Element<'_>) -> Result<Creation> {
    Ok(Creation { by: element.text_or_empty("cBy")?, date: element.text_or_empty("cDate")? })
}

fn read_element<'a>(
    xml: &mut XmlFile<'a>,
    element: &Element<'a>,
    names: &mut Names,
) -> Result<FrameElement> {
    let known = ["ID", "name", "abbrev", "coreType", "fgColor", "bgColor", "cBy", "cDate"];
    xml.know(element, &known)?;
    let name = xml.name(element, "name")?;
    let number = xml.short_id(element, NumberKind::FrameElement, "ID", &name)?;
    let taken = &mut names.taken_elements;
    let id = FeId(xml.own_id(element, NumberKind::FrameElement, (number, &name), taken));
    let mut fe = FrameElement {
        abbreviation: element.text_or_empty("abbrev")?,
        colors: Colors {
            fg: element.text_or_empty("fgColor")?,
            bg: element.text_or_empty("bgColor")?,
        },
        created: read_creation(element)?,
        ..FrameElement::named(id, &name, read_core_type(xml, element)?)
    };
    let mut definition = Once::default();
    xml.children(|xml, child| {
        match child.name() {
            "definition" if definition.is_first() => fe.definition = xml.text_of(&child)?,
            "semType" => fe.sem_types.push(names.sem_type(xml, &child)?),
            "requiresFE" => fe.requires.push(names.element(xml, &child)?),
            "excludesFE" => fe.excludes.push(names.element(xml, &child)?),
            _ => xml.unknown(&child)?,
        }
        Ok(())
    })?;
    Ok(fe)
}

/// The core type, which a release may leave out or call otherwise.
fn read_core_type<'a>(xml: &mut XmlFile<'a>, element: &Element<'a>) -> Result<CoreType> {
    let text = element.text_or_empty("coreType")?;
    Ok(CoreType::parse(&text).unwrap_or_else(|| {
        let kept = CoreType::Peripheral;
        xml.warn_with(element, WarningCode::UnreadableValue, || {
            format!("`coreType` is `{text}`, no core type; read as `{}`", kept.as_str())
        });
        if element.has("coreType") {
            xml.keep_attribute(element, "coreType", text.clone(), kept.as_str());
        }
        kept
    }))
}

fn read_core_set<'a>(
    xml: &mut XmlFile<'a>,
    element: &Element<'a>,
    names: &mut Names,
) -> Result<Vec<FeId>> {
    xml.know(element, &[])?;
    let mut members = Vec::new();
    xml.children(|xml, child| match child.name() {
        "memberFE" => {
            members.push(names.element(xml, &child)?);
            Ok(())
        }
        _ => xml.unknown(&child),
    })?;
    Ok(members)
}

fn read_lexunit<'a>(
    xml: &mut XmlFile<'a>,
    element: &Element<'a>,
    frame: FrameId,
    names: &mut Names,
) -> Result<LexUnit> {
    let known = ["ID", "name", "POS", "status", "incorporatedFE", "lemmaID", "cBy", "cDate"];
    xml.know(element, &known)?;
    let name = xml.name(element, "name")?;
    let number = xml.short_id(element, NumberKind::LexUnit, "ID", &name)?;
    let taken = &mut names.taken_lexunits;
    let mut lexunit = LexUnit {
        id: LuId(xml.own_id(element, NumberKind::LexUnit, (number, &name), taken)),
        frame,
        name,
        pos: read_pos(xml, element)?,
        status: element.text_or_empty("status")?,
        definition: String::new(),
        lexemes: Vec::new(),
        incorporated_fe: element.attribute("incorporatedFE")?,
        sem_types: Vec::new(),
        lemma_id: xml.optional_id(element, NumberKind::Lemma, "lemmaID")?,
        created: read_creation(element)?,
        sentence_count: SentenceCount::default(),
        total_annotated: 0,
        subcorpora: Vec::new(),
        valences: Valences::default(),
        listing: Listing { frame_file: true, lu_file: false },
    };
    let (mut definition, mut count) = (Once::default(), Once::default());
    xml.children(|xml, child| {
        match child.name() {
            "definition" if definition.is_first() => lexunit.definition = xml.text_of(&child)?,
            "sentenceCount" if count.is_first() => {
                lexunit.sentence_count = SentenceCount {
                    annotated: xml.count(&child, "annotated")?.unwrap_or(0),
                    total: xml.count(&child, "total")?.unwrap_or(0),
                };
                xml.leaf(&child, &["annotated", "total"])?;
            }
            "lexeme" => lexunit.lexemes.push(read_lexeme(xml, &child)?),
            "semType" => lexunit.sem_types.push(names.sem_type(xml, &child)?),
            _ => xml.unknown(&child)?,
        }
        Ok(())
    })?;
    Ok(lexunit)
}
