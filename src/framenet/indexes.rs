//! The release's top files: relations, semantic types, and the indexes.

use std::collections::BTreeMap;

use crate::model::{
    CorpusId, DocumentId, FeId, FeRelation, FrameId, FrameRelation, LuId, RelationId, SemType,
    SemTypeId,
};

use super::FramenetError;
use super::xml::{Element, XmlFile};

type Result<T> = std::result::Result<T, FramenetError>;

/// Reads `frRelation.xml`: every relation once, with the FEs it maps.
///
/// # Errors
/// When it is not well-formed, or a number is none.
pub fn read_relations(file: &str, content: &[u8]) -> Result<Vec<FrameRelation>> {
    let mut xml = XmlFile::new(file, content)?;
    xml.root("frameRelations")?;
    let mut relations = Vec::new();
    xml.children(|xml, kind| {
        if kind.name() != "frameRelationType" {
            return xml.unknown(&kind);
        }
        xml.children(|xml, child| match child.name() {
            "frameRelation" => {
                relations.push(read_relation(xml, &kind, &child)?);
                Ok(())
            }
            _ => xml.unknown(&child),
        })
    })?;
    Ok(relations)
}

fn read_relation<'a>(
    xml: &mut XmlFile<'a>,
    kind: &Element<'a>,
    element: &Element<'a>,
) -> Result<FrameRelation> {
    let mut relation = FrameRelation {
        id: RelationId(element.number("ID")?),
        kind: kind.required("name")?,
        super_role: kind.text_or_empty("superFrameName")?,
        sub_role: kind.text_or_empty("subFrameName")?,
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
        xml.skip()
    })?;
    Ok(relation)
}

/// Reads `semTypes.xml`.
///
/// # Errors
/// When it is not well-formed, or a number is none.
pub fn read_sem_types(file: &str, content: &[u8]) -> Result<Vec<SemType>> {
    let mut xml = XmlFile::new(file, content)?;
    xml.root("semTypes")?;
    let mut types = Vec::new();
    xml.children(|xml, child| {
        if child.name() != "semType" {
            return xml.unknown(&child);
        }
        let mut sem_type = SemType {
            id: SemTypeId(child.number("ID")?),
            name: child.required("name")?,
            abbreviation: child.text_or_empty("abbrev")?,
            definition: String::new(),
            parents: Vec::new(),
        };
        xml.children(|xml, part| match part.name() {
            "definition" => {
                sem_type.definition = xml.text()?;
                Ok(())
            }
            "superType" => {
                sem_type.parents.push(SemTypeId(part.number("supID")?));
                xml.skip()
            }
            _ => xml.unknown(&part),
        })?;
        types.push(sem_type);
        Ok(())
    })?;
    Ok(types)
}

/// Reads `frameIndex.xml`: the frames' names with the date of their last change.
///
/// # Errors
/// When it is not well-formed, or a number is none.
pub fn read_frame_index(file: &str, content: &[u8]) -> Result<BTreeMap<FrameId, (String, String)>> {
    let mut xml = XmlFile::new(file, content)?;
    xml.root("frameIndex")?;
    let mut frames = BTreeMap::new();
    xml.children(|xml, child| {
        if child.name() != "frame" {
            return xml.unknown(&child);
        }
        let id = FrameId(child.number("ID")?);
        frames.insert(id, (child.required("name")?, child.text_or_empty("mDate")?));
        xml.skip()
    })?;
    Ok(frames)
}

/// Reads `luIndex.xml`: the LUs that have a file, with their names.
///
/// # Errors
/// When it is not well-formed, or a number is none.
pub fn read_lu_index(file: &str, content: &[u8]) -> Result<BTreeMap<LuId, String>> {
    let mut xml = XmlFile::new(file, content)?;
    xml.root("luIndex")?;
    let mut lus = BTreeMap::new();
    xml.children(|xml, child| match child.name() {
        "legend" => xml.skip(),
        "lu" => {
            lus.insert(LuId(child.number("ID")?), child.required("name")?);
            xml.skip()
        }
        _ => xml.unknown(&child),
    })?;
    Ok(lus)
}

/// Documents with their names, by the numbers of corpus and document.
pub type DocumentIndex = BTreeMap<(CorpusId, DocumentId), String>;

/// Reads `fulltextIndex.xml`: the documents that have a file, with their names.
///
/// # Errors
/// When it is not well-formed, or a number is none.
pub fn read_fulltext_index(file: &str, content: &[u8]) -> Result<DocumentIndex> {
    let mut xml = XmlFile::new(file, content)?;
    xml.root("fulltextIndex")?;
    let mut documents = BTreeMap::new();
    xml.children(|xml, corpus| {
        if corpus.name() != "corpus" {
            return xml.unknown(&corpus);
        }
        let corpus = CorpusId(corpus.number("ID")?);
        xml.children(|xml, child| {
            if child.name() != "document" {
                return xml.unknown(&child);
            }
            let id = DocumentId(child.number("ID")?);
            documents.insert((corpus, id), child.text_or_empty("description")?);
            xml.skip()
        })
    })?;
    Ok(documents)
}
