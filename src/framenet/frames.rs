//! Frame files: `frame/*.xml`.

use crate::model::{
    Colors, CoreType, Creation, FeId, Frame, FrameElement, FrameId, FrameLayout, LexUnit,
    ListedRelation, Listing, LuId, SemTypeId, SentenceCount, Valences,
};

use super::lexunits::{read_lexeme, read_pos};
use super::xml::{Element, XmlFile};
use super::{Result, Warning, WarningCode};

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
    xml.know(&root, &["ID", "name", "cBy", "cDate"])?;
    let mut lexunits: Vec<LexUnit> = Vec::new();
    let mut layout = FrameLayout::default();
    let mut names = Names::default();
    xml.children(|xml, child| {
        match child.name() {
            "definition" => frame.definition = xml.text_of(&child)?,
            "semType" => frame.sem_types.push(names.sem_type(xml, &child)?),
            "FE" => frame.elements.push(read_element(xml, &child, &mut names)?),
            "FEcoreSet" => frame.core_sets.push(read_core_set(xml, &child, &mut names)?),
            // The relations over again, by name and without FEs.
            "frameRelation" => layout.relations.push(read_relation(xml, &child)?),
            "lexUnit" => lexunits.push(read_lexunit(xml, &child, frame.id, &mut names)?),
            _ => xml.unknown(&child)?,
        }
        Ok(())
    })?;
    names.check_elements(&mut xml, &root, &frame);
    layout.lexunits = lexunits.iter().map(|lu| lu.id).collect();
    let (sem_type_names, warnings) = (names.sem_types, xml.warnings);
    Ok(FrameFile { file: file.to_owned(), frame, lexunits, layout, sem_type_names, warnings })
}

/// Names that stand beside the numbers of FEs and semantic types, to be checked.
#[derive(Default)]
pub(super) struct Names {
    pub(super) sem_types: Vec<(SemTypeId, String)>,
    elements: Vec<(FeId, String)>,
}

impl Names {
    /// Reads the `semType` whose start was read.
    pub(super) fn sem_type<'a>(
        &mut self,
        xml: &mut XmlFile<'a>,
        element: &Element<'a>,
    ) -> Result<SemTypeId> {
        let id = SemTypeId(element.number("ID")?);
        self.sem_types.push((id, element.text_or_empty("name")?));
        xml.leaf(element, &["ID", "name"])?;
        Ok(id)
    }

    fn element<'a>(&mut self, xml: &mut XmlFile<'a>, element: &Element<'a>) -> Result<FeId> {
        let id = FeId(element.number("ID")?);
        self.elements.push((id, element.text_or_empty("name")?));
        xml.leaf(element, &["ID", "name"])?;
        Ok(id)
    }

    /// Warns of FEs that are called otherwise where another FE or a core set names them.
    fn check_elements<'a>(&self, xml: &mut XmlFile<'a>, root: &Element<'a>, frame: &Frame) {
        for (id, name) in &self.elements {
            if frame.fe(*id).is_none_or(|fe| fe.name != *name) {
                let detail = format!("FE {id} is called `{name}` here; the number counts");
                xml.warn(root, WarningCode::NameMismatch, detail);
            }
        }
    }
}

fn read_relation<'a>(xml: &mut XmlFile<'a>, element: &Element<'a>) -> Result<ListedRelation> {
    xml.know(element, &["type", "ID"])?;
    let mut listed = ListedRelation {
        kind: element.text_or_empty("type")?,
        id: element.optional_number("ID")?,
        frames: Vec::new(),
    };
    xml.children(|xml, child| {
        if child.name() != "relatedFrame" {
            return xml.unknown(&child);
        }
        xml.know(&child, &["ID"])?;
        let id = child.optional_number("ID")?.map(FrameId);
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
            "definition" => fe.definition = xml.text_of(&child)?,
            "semType" => fe.sem_types.push(names.sem_type(xml, &child)?),
            "requiresFE" => fe.requires.push(names.element(xml, &child)?),
            "excludesFE" => fe.excludes.push(names.element(xml, &child)?),
            _ => xml.unknown(&child)?,
        }
        Ok(())
    })?;
    Ok(fe)
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
    let mut lexunit = LexUnit {
        id: LuId(element.number("ID")?),
        frame,
        name: element.required("name")?,
        pos: read_pos(xml, element)?,
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
            "definition" => lexunit.definition = xml.text_of(&child)?,
            "sentenceCount" => {
                lexunit.sentence_count = SentenceCount {
                    annotated: child.optional_number("annotated")?.unwrap_or(0),
                    total: child.optional_number("total")?.unwrap_or(0),
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
