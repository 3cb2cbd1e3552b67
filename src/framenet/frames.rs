//! Frame files: `frame/*.xml`.

use crate::model::{
    Colors, CoreType, Creation, FeId, Foreign, Frame, FrameElement, FrameId, FrameLayout, LexUnit,
    ListedRelation, Listing, LuId, NumberKind, SemTypeId, SentenceCount, Valences, WrittenNumbers,
};

use super::lexunits::{read_lexeme, read_pos};
use super::xml::{Element, XmlFile};
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
    let mut frame = Frame {
        id: FrameId(xml.short_id(&root, NumberKind::Frame, "ID", &name)?),
        name,
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
            "definition" if frame.definition.is_empty() => {
                frame.definition = xml.text_of(&child)?
            }
            "semType" => frame.sem_types.push(names.sem_type(xml, &child)?),
            "FE" => {
                let fe = read_element(xml, &child, &frame, &mut names)?;
                frame.elements.push(fe);
            }
            "FEcoreSet" => frame.core_sets.push(read_core_set(xml, &child, &mut names)?),
            // The relations over again, by name and without FEs.
            "frameRelation" => layout.relations.push(read_relation(xml, &child)?),
            "lexUnit" => {
                let lexunit = read_lexunit(xml, &child, (frame.id, &lexunits), &mut names)?;
                lexunits.push(lexunit);
            }
            _ => xml.unknown(&child)?,
        }
        Ok(())
    })?;
    names.settle_elements(&mut xml, &root, &mut frame);
    layout.lexunits = lexunits.iter().map(|lu| lu.id).collect();
    let (warnings, numbers, foreign) = xml.finish()?;
    Ok(FrameFile {
        file: file.to_owned(),
        frame,
        lexunits,
        layout,
        sem_type_names: names.sem_types,
        warnings,
        numbers,
        foreign,
    })
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
        let name = element.text_or_empty("name")?;
        let id = xml.short_id(element, NumberKind::SemType, "ID", &name)?;
        let id = SemTypeId(xml.called(NumberKind::SemType, id, &name).unwrap_or(id));
        self.sem_types.push((id, name));
        xml.leaf(element, &["ID", "name"])?;
        Ok(id)
    }

    /// Reads an element that names an FE; gives its place among those that do, until
    /// [`settle_elements`](Self::settle_elements) knows which FEs the frame has.
    fn element<'a>(&mut self, xml: &mut XmlFile<'a>, element: &Element<'a>) -> Result<FeId> {
        let name = element.text_or_empty("name")?;
        let id = FeId(xml.short_id(element, NumberKind::FrameElement, "ID", &name)?);
        let place = u32::try_from(self.elements.len()).unwrap_or(u32::MAX);
        self.elements.push((id, name));
        xml.leaf(element, &["ID", "name"])?;
        Ok(FeId(place))
    }

    /// Puts the FEs that other FEs and core sets name in their places, now that all are read.
    fn settle_elements<'a>(
        &mut self,
        xml: &mut XmlFile<'a>,
        root: &Element<'a>,
        frame: &mut Frame,
    ) {
        let named = std::mem::take(&mut self.elements);
        let found: Vec<Option<FeId>> =
            named.iter().map(|(id, name)| named_element(xml, root, frame, *id, name)).collect();
        let settle = |ids: &mut Vec<FeId>| {
            *ids = ids.iter().filter_map(|place| found[place.0 as usize]).collect();
        };
        for fe in &mut frame.elements {
            settle(&mut fe.requires);
            settle(&mut fe.excludes);
        }
        frame.core_sets.iter_mut().for_each(settle);
    }
}

/// The FE that a number and a name stand for: of several with the number the one of that name; where the
/// frame has none of that number, the one of that name or none. Warns of what does not agree.
fn named_element<'a>(
    xml: &mut XmlFile<'a>,
    root: &Element<'a>,
    frame: &Frame,
    id: FeId,
    name: &str,
) -> Option<FeId> {
    let numbered = frame.fe(id);
    if numbered.is_some_and(|fe| fe.name == name) {
        return Some(id);
    }
    let own = xml.called(NumberKind::FrameElement, id.0, name).map(FeId);
    if let Some(own) = own.filter(|own| frame.fe(*own).is_some_and(|fe| fe.name == name)) {
        return Some(own);
    }
    if numbered.is_some() {
        let detail = format!("FE {id} is called `{name}` here; the number counts");
        xml.warn(root, WarningCode::NameMismatch, detail);
        return Some(id);
    }
    let called = frame.fe_by_name(name).map(|fe| fe.id);
    let done = if called.is_some() { "the name counts" } else { "not kept" };
    let detail = format!("FE `{name}` ({id}) is named and the frame does not have it; {done}");
    xml.warn(root, WarningCode::ElementMissing, detail);
    called
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
    frame: &Frame,
    names: &mut Names,
) -> Result<FrameElement> {
    let known = ["ID", "name", "abbrev", "coreType", "fgColor", "bgColor", "cBy", "cDate"];
    xml.know(element, &known)?;
    let name = xml.name(element, "name")?;
    let number = xml.short_id(element, NumberKind::FrameElement, "ID", &name)?;
    let taken = |number| frame.fe(FeId(number)).is_some();
    let mut fe = FrameElement {
        id: FeId(xml.own_id(element, NumberKind::FrameElement, (number, &name), taken)),
        name,
        abbreviation: element.text_or_empty("abbrev")?,
        core_type: read_core_type(xml, element)?,
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
            "definition" if fe.definition.is_empty() => fe.definition = xml.text_of(&child)?,
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
    (frame, earlier): (FrameId, &[LexUnit]),
    names: &mut Names,
) -> Result<LexUnit> {
    let known = ["ID", "name", "POS", "status", "incorporatedFE", "lemmaID", "cBy", "cDate"];
    xml.know(element, &known)?;
    let name = xml.name(element, "name")?;
    let number = xml.short_id(element, NumberKind::LexUnit, "ID", &name)?;
    let taken = |number| earlier.iter().any(|lu| lu.id.0 == number);
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
    xml.children(|xml, child| {
        match child.name() {
            "definition" if lexunit.definition.is_empty() => {
                lexunit.definition = xml.text_of(&child)?
            }
            "sentenceCount" => {
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
