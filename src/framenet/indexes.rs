//! The release's top files: relations, semantic types, and the indexes.

use std::collections::HashMap;

use crate::model::{
    CorpusId, DocumentId, FeId, FeRelation, FrameId, FrameIndexEntry, FrameRelation, IndexCorpus,
    LuId, LuIndex, LuIndexEntry, RelationId, RelationKind, RelationList, SemType, SemTypeId,
    SemTypeList,
};

use super::xml::{Element, XmlFile};
use super::{Result, Warning, WarningCode};

/// What a top file holds.
#[derive(Debug)]
pub struct TopFile<T> {
    /// Its content, in file order.
    pub content: T,
    /// What was odd.
    pub warnings: Vec<Warning>,
}

/// Reads `frRelation.xml`: every relation once with the FEs it maps, and their order.
///
/// # Errors
/// When it is not well-formed, or a number is none.
pub fn read_relations(
    file: &str,
    content: &[u8],
) -> Result<TopFile<(Vec<FrameRelation>, RelationList)>> {
    let mut xml = XmlFile::new(file, content)?;
    let root = xml.root("frameRelations")?;
    xml.know(&root, &["XMLCreated"])?;
    let mut relations = Vec::new();
    let mut list = RelationList { created: root.text_or_empty("XMLCreated")?, kinds: Vec::new() };
    xml.children(|xml, child| {
        if child.name() != "frameRelationType" {
            return xml.unknown(&child);
        }
        xml.know(&child, &["ID", "name", "superFrameName", "subFrameName"])?;
        let mut kind = RelationKind {
            id: child.optional_number("ID")?,
            name: child.required("name")?,
            super_role: child.text_or_empty("superFrameName")?,
            sub_role: child.text_or_empty("subFrameName")?,
            relations: Vec::new(),
        };
        xml.children(|xml, child| match child.name() {
            "frameRelation" => {
                let relation = read_relation(xml, &kind, &child)?;
                kind.relations.push(relation.id);
                relations.push(relation);
                Ok(())
            }
            _ => xml.unknown(&child),
        })?;
        list.kinds.push(kind);
        Ok(())
    })?;
    Ok(TopFile { content: (relations, list), warnings: xml.warnings })
}

fn read_relation<'a>(
    xml: &mut XmlFile<'a>,
    kind: &RelationKind,
    element: &Element<'a>,
) -> Result<FrameRelation> {
    xml.know(element, &["ID", "supID", "subID", "superFrameName", "subFrameName"])?;
    let mut relation = FrameRelation {
        id: RelationId(element.number("ID")?),
        kind: kind.name.clone(),
        super_role: kind.super_role.clone(),
        sub_role: kind.sub_role.clone(),
        parent: FrameId(element.number("supID")?),
        parent_name: element.required("superFrameName")?,
        child: FrameId(element.number("subID")?),
        child_name: element.required("subFrameName")?,
        elements: Vec::new(),
    };
    xml.children(|xml, child| {
        if child.name() != "FERelation" {
            return xml.unknown(&child);
        }
        relation.elements.push(FeRelation {
            id: child.number("ID")?,
            parent: FeId(child.number("supID")?),
            parent_name: child.required("superFEName")?,
            child: FeId(child.number("subID")?),
            child_name: child.required("subFEName")?,
        });
        xml.leaf(&child, &["ID", "supID", "subID", "superFEName", "subFEName"])
    })?;
    Ok(relation)
}

/// Reads `semTypes.xml`: the types, and their order.
///
/// # Errors
/// When it is not well-formed, or a number is none.
pub fn read_sem_types(file: &str, content: &[u8]) -> Result<TopFile<(Vec<SemType>, SemTypeList)>> {
    let mut xml = XmlFile::new(file, content)?;
    let root = xml.root("semTypes")?;
    xml.know(&root, &["XMLCreated"])?;
    let mut types: Vec<SemType> = Vec::new();
    let mut super_names = Vec::new();
    xml.children(|xml, child| {
        if child.name() != "semType" {
            return xml.unknown(&child);
        }
        xml.know(&child, &["ID", "name", "abbrev"])?;
        let mut sem_type = SemType {
            id: SemTypeId(child.number("ID")?),
            name: child.required("name")?,
            abbreviation: child.text_or_empty("abbrev")?,
            definition: String::new(),
            parents: Vec::new(),
        };
        xml.children(|xml, part| match part.name() {
            "definition" => {
                sem_type.definition = xml.text_of(&part)?;
                Ok(())
            }
            "superType" => {
                let id = SemTypeId(part.number("supID")?);
                super_names.push((id, part.text_or_empty("superTypeName")?));
                sem_type.parents.push(id);
                xml.leaf(&part, &["supID", "superTypeName"])
            }
            _ => xml.unknown(&part),
        })?;
        types.push(sem_type);
        Ok(())
    })?;
    let names: HashMap<SemTypeId, &str> =
        types.iter().map(|sem_type| (sem_type.id, sem_type.name.as_str())).collect();
    for (id, name) in &super_names {
        if names.get(id).is_none_or(|known| known != name) {
            let detail = format!("super type {id} is called `{name}` here; the number counts");
            xml.warn(&root, WarningCode::NameMismatch, detail);
        }
    }
    let list = SemTypeList {
        created: root.text_or_empty("XMLCreated")?,
        sem_types: types.iter().map(|sem_type| sem_type.id).collect(),
    };
    Ok(TopFile { content: (types, list), warnings: xml.warnings })
}

/// Reads `frameIndex.xml`: the frames' names with the date of their last change.
///
/// # Errors
/// When it is not well-formed, or a number is none.
pub fn read_frame_index(file: &str, content: &[u8]) -> Result<TopFile<Vec<FrameIndexEntry>>> {
    let mut xml = XmlFile::new(file, content)?;
    let root = xml.root("frameIndex")?;
    xml.know(&root, &[])?;
    let mut content = Vec::new();
    xml.children(|xml, child| {
        if child.name() != "frame" {
            return xml.unknown(&child);
        }
        content.push(FrameIndexEntry {
            id: FrameId(child.number("ID")?),
            name: child.required("name")?,
            modified: child.text_or_empty("mDate")?,
        });
        xml.leaf(&child, &["ID", "name", "mDate"])
    })?;
    Ok(TopFile { content, warnings: xml.warnings })
}

/// Reads `luIndex.xml`: what the statuses mean, and the LUs that have a file.
///
/// # Errors
/// When it is not well-formed, or a number is none.
pub fn read_lu_index(file: &str, content: &[u8]) -> Result<TopFile<LuIndex>> {
    let mut xml = XmlFile::new(file, content)?;
    let root = xml.root("luIndex")?;
    xml.know(&root, &[])?;
    let mut index = LuIndex::default();
    xml.children(|xml, child| match child.name() {
        "legend" => xml.children(|xml, child| {
            if child.name() != "statusType" {
                return xml.unknown(&child);
            }
            let name = child.text_or_empty("name")?;
            index.legend.push((name, child.text_or_empty("description")?));
            xml.leaf(&child, &["name", "description"])
        }),
        "lu" => {
            index.entries.push(LuIndexEntry {
                id: LuId(child.number("ID")?),
                name: child.required("name")?,
                frame: FrameId(child.number("frameID")?),
                frame_name: child.text_or_empty("frameName")?,
                status: child.text_or_empty("status")?,
                annotated: child.text_or_empty("hasAnnotation")? == "true",
            });
            let known = ["ID", "name", "frameID", "frameName", "status", "hasAnnotation"];
            xml.leaf(&child, &known)
        }
        _ => xml.unknown(&child),
    })?;
    Ok(TopFile { content: index, warnings: xml.warnings })
}

/// Reads `fulltextIndex.xml`: the documents that have a file, with their names, by corpus.
///
/// # Errors
/// When it is not well-formed, or a number is none.
pub fn read_fulltext_index(file: &str, content: &[u8]) -> Result<TopFile<Vec<IndexCorpus>>> {
    let mut xml = XmlFile::new(file, content)?;
    let root = xml.root("fulltextIndex")?;
    xml.know(&root, &[])?;
    let mut corpora = Vec::new();
    xml.children(|xml, child| {
        if child.name() != "corpus" {
            return xml.unknown(&child);
        }
        xml.know(&child, &["ID", "name"])?;
        let mut corpus = IndexCorpus {
            id: CorpusId(child.number("ID")?),
            name: child.text_or_empty("name")?,
            documents: Vec::new(),
        };
        xml.children(|xml, child| {
            if child.name() != "document" {
                return xml.unknown(&child);
            }
            let id = DocumentId(child.number("ID")?);
            corpus.documents.push((id, child.text_or_empty("description")?));
            xml.leaf(&child, &["ID", "description"])
        })?;
        corpora.push(corpus);
        Ok(())
    })?;
    Ok(TopFile { content: corpora, warnings: xml.warnings })
}
