//! The release's top files: relations, semantic types, and the indexes.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use crate::model::{
    CorpusId, DocumentId, FeId, FeRelation, Foreign, FrameId, FrameIndexEntry, FrameRelation,
    IndexCorpus, LuId, LuIndex, LuIndexEntry, NumberKind, RelationId, RelationKind, RelationList,
    SemType, SemTypeId, SemTypeList, WrittenNumbers,
};

use super::element::Element;
use super::rewritten::Rewritten;
use super::write::{
    write_frame_index, write_fulltext_index, write_lu_index, write_relations, write_sem_types,
};
use super::xml::{Once, TITLED, XmlFile};
use super::{Result, WarningCode, WarningLog};

/// What a top file holds.
#[derive(Debug)]
pub struct TopFile<T> {
    /// Its content, in file order.
    pub content: T,
    /// What was odd.
    pub warnings: WarningLog,
    /// What the fresh numbers that it brings stand for.
    pub numbers: WrittenNumbers,
    /// What it holds beside FrameNet.
    pub foreign: Foreign,
}

impl<T> TopFile<T> {
    /// The file that was read, once it is held against what an export writes.
    fn compared(
        xml: XmlFile<'_>,
        (file, bytes, numbers): (&str, &[u8], &WrittenNumbers),
        content: T,
        write: impl FnOnce(&Self, [&WrittenNumbers; 2]) -> String,
    ) -> Result<Self> {
        let (mut warnings, own, foreign) = xml.finish()?;
        let mut read = Self { content, warnings: WarningLog::default(), numbers: own, foreign };
        let written = write(&read, [numbers, &read.numbers]);
        Rewritten::of(file, bytes, None).compare(&written, &mut warnings);
        read.warnings = warnings;
        Ok(read)
    }
}

/// Reads `frRelation.xml`: every relation once with the FEs it maps, and their order.
///
/// # Errors
/// When it is not well-formed, or another kind of file.
pub fn read_relations(
    file: &str,
    content: &[u8],
    numbers: &WrittenNumbers,
) -> Result<TopFile<(Vec<FrameRelation>, RelationList)>> {
    let mut xml = XmlFile::new(file, content, numbers)?;
    let root = xml.root("frameRelations")?;
    xml.know(&root, &["XMLCreated"])?;
    let (mut relations, mut taken) = (Vec::new(), HashSet::new());
    let mut list = RelationList { created: root.text_or_empty("XMLCreated")?, kinds: Vec::new() };
    xml.children(|xml, child| {
        if child.name() != "frameRelationType" {
            return xml.unknown(&child);
        }
        xml.know(&child, &["ID", "name", "superFrameName", "subFrameName"])?;
        let mut kind = RelationKind {
            id: xml.optional_id(&child, NumberKind::RelationType, "ID")?,
            name: xml.name(&child, "name")?,
            super_role: child.text_or_empty("superFrameName")?,
            sub_role: child.text_or_empty("subFrameName")?,
            relations: Vec::new(),
        };
        xml.children(|xml, child| match child.name() {
            "frameRelation" => {
                let relation = read_relation(xml, &kind, &child, &mut taken)?;
                kind.relations.push(relation.id);
                relations.push(relation);
                Ok(())
            }
            _ => xml.unknown(&child),
        })?;
        list.kinds.push(kind);
        Ok(())
    })?;
    TopFile::compared(xml, (file, content, numbers), (relations, list), |file, numbers| {
        write_relations(&file.content.0, &file.content.1, numbers, &file.foreign)
    })
}

fn read_relation<'a>(
    xml: &mut XmlFile<'a>,
    kind: &RelationKind,
    element: &Element<'a>,
    taken: &mut HashSet<u32>,
) -> Result<FrameRelation> {
    xml.know(element, &["ID", "supID", "subID", "superFrameName", "subFrameName"])?;
    let parent_name = xml.name(element, "superFrameName")?;
    let child_name = xml.name(element, "subFrameName")?;
    let name = format!("{} {parent_name} {child_name}", kind.name);
    let number = xml.short_id(element, NumberKind::Relation, "ID", &name)?;
    let number = xml.own_id(element, NumberKind::Relation, (number, &name), taken);
    let mut relation = FrameRelation {
        id: RelationId(number),
        kind: kind.name.clone(),
        super_role: kind.super_role.clone(),
        sub_role: kind.sub_role.clone(),
        parent: FrameId(xml.short_id(element, NumberKind::Frame, "supID", &parent_name)?),
        parent_name,
        child: FrameId(xml.short_id(element, NumberKind::Frame, "subID", &child_name)?),
        child_name,
        elements: Vec::new(),
    };
    xml.children(|xml, child| {
        if child.name() != "FERelation" {
            return xml.unknown(&child);
        }
        let parent_name = xml.name(&child, "superFEName")?;
        let child_name = xml.name(&child, "subFEName")?;
        let kind = NumberKind::FrameElement;
        relation.elements.push(FeRelation {
            id: xml.short_id(&child, NumberKind::FeRelation, "ID", "")?,
            parent: FeId(xml.short_id(&child, kind, "supID", &parent_name)?),
            parent_name,
            child: FeId(xml.short_id(&child, kind, "subID", &child_name)?),
            child_name,
        });
        xml.leaf(&child, &["ID", "supID", "subID", "superFEName", "subFEName"])
    })?;
    Ok(relation)
}

/// Reads `semTypes.xml`: the types, and their order.
///
/// # Errors
/// When it is not well-formed, or another kind of file.
pub fn read_sem_types(
    file: &str,
    content: &[u8],
    numbers: &WrittenNumbers,
) -> Result<TopFile<(Vec<SemType>, SemTypeList)>> {
    let mut xml = XmlFile::new(file, content, numbers)?;
    let root = xml.root("semTypes")?;
    xml.know(&root, &["XMLCreated"])?;
    let (mut types, mut taken): (Vec<SemType>, HashSet<u32>) = Default::default();
    let mut supers: Vec<(SemTypeId, String)> = Vec::new();
    xml.children(|xml, child| {
        if child.name() != "semType" {
            return xml.unknown(&child);
        }
        xml.know(&child, &["ID", "name", "abbrev"])?;
        let name = xml.name(&child, "name")?;
        let number = xml.short_id(&child, NumberKind::SemType, "ID", &name)?;
        let number = xml.own_id(&child, NumberKind::SemType, (number, &name), &mut taken);
        let mut sem_type = SemType {
            id: SemTypeId(number),
            name,
            abbreviation: child.text_or_empty("abbrev")?,
            definition: String::new(),
            parents: Vec::new(),
        };
        let mut definition = Once::default();
        xml.children(|xml, part| match part.name() {
            "definition" if definition.is_first() => {
                sem_type.definition = xml.text_of(&part)?;
                Ok(())
            }
            "superType" => {
                let name = part.text_or_empty("superTypeName")?;
                let id = SemTypeId(xml.short_id(&part, NumberKind::SemType, "supID", &name)?);
                // Its place among them, until all types are known.
                let place = u32::try_from(supers.len()).unwrap_or(u32::MAX);
                supers.push((id, name));
                sem_type.parents.push(SemTypeId(place));
                xml.leaf(&part, &["supID", "superTypeName"])
            }
            _ => xml.unknown(&part),
        })?;
        types.push(sem_type);
        Ok(())
    })?;
    let list = SemTypeList {
        created: root.text_or_empty("XMLCreated")?,
        sem_types: types.iter().map(|sem_type| sem_type.id).collect(),
    };
    settle_supers(&mut xml, &root, &mut types, supers);
    TopFile::compared(xml, (file, content, numbers), (types, list), |file, numbers| {
        write_sem_types(&file.content.0, &file.content.1, numbers, &file.foreign)
    })
}

/// Puts super types in their places: of several with a number the one of that name. One that the
/// file does not have is added by name.
fn settle_supers<'a>(
    xml: &mut XmlFile<'a>,
    root: &Element<'a>,
    types: &mut Vec<SemType>,
    supers: Vec<(SemTypeId, String)>,
) {
    let mut names: HashMap<SemTypeId, String> =
        types.iter().map(|sem_type| (sem_type.id, sem_type.name.clone())).collect();
    let mut found = Vec::with_capacity(supers.len());
    for (id, name) in supers {
        let own = xml.called(NumberKind::SemType, id.0, &name).map(SemTypeId);
        let is_right = |id: &SemTypeId| names.get(id) == Some(&name);
        if let Some(right) = [Some(id), own].into_iter().flatten().find(is_right) {
            found.push(right);
            continue;
        }
        found.push(id);
        match names.entry(id) {
            Entry::Occupied(_) => {
                let detail = format!("super type {id} is called `{name}` here; the number counts");
                xml.warn(root, WarningCode::NameMismatch, detail);
            }
            Entry::Vacant(unknown) => {
                let detail = format!("super type `{name}` ({id}) is not in the file; kept by name");
                xml.warn(root, WarningCode::SemTypeMissing, detail);
                types.push(SemType::named(id, &name));
                unknown.insert(name);
            }
        }
    }
    for parent in types.iter_mut().flat_map(|sem_type| &mut sem_type.parents) {
        *parent = found[parent.0 as usize];
    }
}

/// Reads `frameIndex.xml`: the frames' names with the date of their last change.
///
/// # Errors
/// When it is not well-formed, or another kind of file.
pub fn read_frame_index(
    file: &str,
    content: &[u8],
    numbers: &WrittenNumbers,
) -> Result<TopFile<Vec<FrameIndexEntry>>> {
    let mut xml = XmlFile::new(file, content, numbers)?;
    let root = xml.root("frameIndex")?;
    xml.know(&root, &[])?;
    let mut entries = Vec::new();
    xml.children(|xml, child| {
        if child.name() != "frame" {
            return xml.unknown(&child);
        }
        let name = xml.name(&child, "name")?;
        entries.push(FrameIndexEntry {
            id: FrameId(xml.short_id(&child, NumberKind::Frame, "ID", &name)?),
            name,
            modified: child.text_or_empty("mDate")?,
        });
        xml.leaf(&child, &["ID", "name", "mDate"])
    })?;
    TopFile::compared(xml, (file, content, numbers), entries, |file, numbers| {
        write_frame_index(&file.content, numbers, &file.foreign)
    })
}

/// Attributes of an LU in `luIndex.xml`.
const LU_ENTRY: [&str; 7] =
    ["ID", "name", "frameID", "frameName", "status", "hasAnnotation", "numAnnotInstances"];

/// Reads `luIndex.xml`: what the statuses mean, and the LUs that have a file.
///
/// # Errors
/// When it is not well-formed, or another kind of file.
pub fn read_lu_index(
    file: &str,
    content: &[u8],
    numbers: &WrittenNumbers,
) -> Result<TopFile<LuIndex>> {
    let mut xml = XmlFile::new(file, content, numbers)?;
    let root = xml.root("luIndex")?;
    xml.know(&root, &[])?;
    let (mut index, mut legend) = (LuIndex::default(), Once::default());
    xml.children(|xml, child| match child.name() {
        "legend" if legend.is_first() => xml.know(&child, &[]).and_then(|()| {
            xml.children(|xml, child| {
                if child.name() != "statusType" {
                    return xml.unknown(&child);
                }
                let name = child.text_or_empty("name")?;
                index.legend.push((name, child.text_or_empty("description")?));
                xml.leaf(&child, &["name", "description"])
            })
        }),
        "lu" => {
            let (name, frame_name) = (xml.name(&child, "name")?, child.text_or_empty("frameName")?);
            index.entries.push(LuIndexEntry {
                id: LuId(xml.short_id(&child, NumberKind::LexUnit, "ID", &name)?),
                name,
                frame: FrameId(xml.short_id(&child, NumberKind::Frame, "frameID", &frame_name)?),
                frame_name,
                status: child.text_or_empty("status")?,
                annotated: match child.attribute("hasAnnotation")? {
                    Some(text) => xml.flag(&child, "hasAnnotation", text)?,
                    None => false,
                },
                instances: xml.count(&child, "numAnnotInstances")?,
            });
            xml.leaf(&child, &LU_ENTRY)
        }
        _ => xml.unknown(&child),
    })?;
    TopFile::compared(xml, (file, content, numbers), index, |file, numbers| {
        write_lu_index(&file.content, numbers, &file.foreign)
    })
}

/// Reads `fulltextIndex.xml`: the documents that have a file, with their names, by corpus.
///
/// # Errors
/// When it is not well-formed, or another kind of file.
pub fn read_fulltext_index(
    file: &str,
    content: &[u8],
    numbers: &WrittenNumbers,
) -> Result<TopFile<Vec<IndexCorpus>>> {
    let mut xml = XmlFile::new(file, content, numbers)?;
    let root = xml.root("fulltextIndex")?;
    xml.know(&root, &[])?;
    let mut corpora = Vec::new();
    xml.children(|xml, child| {
        if child.name() != "corpus" {
            return xml.unknown(&child);
        }
        xml.know(&child, &TITLED)?;
        let title = child.corpus_title()?;
        let mut corpus = IndexCorpus {
            id: CorpusId(xml.short_id(&child, NumberKind::Corpus, "ID", &title.name)?),
            title,
            documents: Vec::new(),
        };
        xml.children(|xml, child| {
            if child.name() != "document" {
                return xml.unknown(&child);
            }
            let title = child.document_title()?;
            let id = xml.short_id(&child, NumberKind::Document, "ID", &title.name)?;
            corpus.documents.push((DocumentId(id), title));
            xml.leaf(&child, &TITLED)
        })?;
        corpora.push(corpus);
        Ok(())
    })?;
    TopFile::compared(xml, (file, content, numbers), corpora, |file, numbers| {
        write_fulltext_index(&file.content, numbers, &file.foreign)
    })
}
