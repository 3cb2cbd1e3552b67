//! Frames, relations between them, and semantic types as JSON.

use serde::{Deserialize, Serialize};

use super::annotation::NamedId;
use super::{Checked, ColorsRecord, CreationRecord, Kind};
use crate::exchange::error::Fault;
use crate::model::{
    CoreType, FeId, FeRelation, Frame, FrameElement, FrameId, FrameRelation, RelationId, SemType,
    SemTypeId,
};

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FrameRecord {
    kind: Kind,
    id: u32,
    name: String,
    definition: String,
    elements: Vec<ElementRecord>,
    core_sets: Vec<Vec<u32>>,
    sem_types: Vec<u32>,
    created: CreationRecord,
    modified: String,
    has_file: bool,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ElementRecord {
    id: u32,
    name: String,
    abbreviation: String,
    core_type: String,
    definition: String,
    sem_types: Vec<u32>,
    requires: Vec<u32>,
    excludes: Vec<u32>,
    colors: ColorsRecord,
    created: CreationRecord,
}

fn fe_numbers(ids: Vec<FeId>) -> Vec<u32> {
    ids.into_iter().map(|id| id.0).collect()
}

fn fe_ids(numbers: Vec<u32>) -> Vec<FeId> {
    numbers.into_iter().map(FeId).collect()
}

pub(super) fn sem_type_numbers(ids: Vec<SemTypeId>) -> Vec<u32> {
    ids.into_iter().map(|id| id.0).collect()
}

pub(super) fn sem_type_ids(numbers: Vec<u32>) -> Vec<SemTypeId> {
    numbers.into_iter().map(SemTypeId).collect()
}

impl From<Frame> for FrameRecord {
    fn from(frame: Frame) -> Self {
        let Frame {
            id,
            name,
            definition,
            elements,
            core_sets,
            sem_types,
            created,
            modified,
            has_file,
        } = frame;
        Self {
            kind: Kind::Frame,
            id: id.0,
            name,
            definition,
            elements: elements.into_iter().map(ElementRecord::from).collect(),
            core_sets: core_sets.into_iter().map(fe_numbers).collect(),
            sem_types: sem_type_numbers(sem_types),
            created: created.into(),
            modified,
            has_file,
        }
    }
}

impl FrameRecord {
    pub(super) fn into_model(self) -> Checked<Frame> {
        let element = |(number, element): (usize, ElementRecord)| {
            element.into_model().map_err(|fault| fault.inside(&format!("elements[{number}]")))
        };
        Ok(Frame {
            id: FrameId(self.id),
            name: self.name,
            definition: self.definition,
            elements: self.elements.into_iter().enumerate().map(element).collect::<Checked<_>>()?,
            core_sets: self.core_sets.into_iter().map(fe_ids).collect(),
            sem_types: sem_type_ids(self.sem_types),
            created: self.created.into(),
            modified: self.modified,
            has_file: self.has_file,
        })
    }
}

impl From<FrameElement> for ElementRecord {
    fn from(element: FrameElement) -> Self {
        let FrameElement {
            id,
            name,
            abbreviation,
            core_type,
            definition,
            sem_types,
            requires,
            excludes,
            colors,
            created,
        } = element;
        Self {
            id: id.0,
            name,
            abbreviation,
            core_type: core_type.as_str().to_owned(),
            definition,
            sem_types: sem_type_numbers(sem_types),
            requires: fe_numbers(requires),
            excludes: fe_numbers(excludes),
            colors: colors.into(),
            created: created.into(),
        }
    }
}

impl ElementRecord {
    fn into_model(self) -> Checked<FrameElement> {
        let core_type = CoreType::parse(&self.core_type).ok_or_else(|| {
            let expected = "`Core`, `Core-Unexpressed`, `Peripheral` or `Extra-Thematic`";
            Fault::value("core_type", &self.core_type, expected)
        })?;
        Ok(FrameElement {
            id: FeId(self.id),
            name: self.name,
            abbreviation: self.abbreviation,
            core_type,
            definition: self.definition,
            sem_types: sem_type_ids(self.sem_types),
            requires: fe_ids(self.requires),
            excludes: fe_ids(self.excludes),
            colors: self.colors.into(),
            created: self.created.into(),
        })
    }
}

/// An FE that a frame of the release gets.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AddedElementRecord {
    kind: Kind,
    frame: NamedId,
    element: ElementRecord,
}

impl AddedElementRecord {
    pub(super) fn new(frame: FrameId, frame_name: &str, element: FrameElement) -> Self {
        let frame = NamedId { id: frame.0, name: frame_name.to_owned() };
        Self { kind: Kind::Element, frame, element: element.into() }
    }

    /// The frame with its name, and the FE.
    pub(super) fn into_model(self) -> Checked<(FrameId, String, FrameElement)> {
        let element = self.element.into_model().map_err(|fault| fault.inside("element"))?;
        Ok((FrameId(self.frame.id), self.frame.name, element))
    }
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RelationRecord {
    kind: Kind,
    id: u32,
    #[serde(rename = "type")]
    relation_type: String,
    super_role: String,
    sub_role: String,
    parent: NamedId,
    child: NamedId,
    elements: Vec<FePairRecord>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FePairRecord {
    id: u32,
    parent: NamedId,
    child: NamedId,
}

impl From<FrameRelation> for RelationRecord {
    fn from(relation: FrameRelation) -> Self {
        let FrameRelation {
            id,
            kind,
            super_role,
            sub_role,
            parent,
            parent_name,
            child,
            child_name,
            elements,
        } = relation;
        Self {
            kind: Kind::Relation,
            id: id.0,
            relation_type: kind,
            super_role,
            sub_role,
            parent: NamedId { id: parent.0, name: parent_name },
            child: NamedId { id: child.0, name: child_name },
            elements: elements.into_iter().map(FePairRecord::from).collect(),
        }
    }
}

impl From<FeRelation> for FePairRecord {
    fn from(pair: FeRelation) -> Self {
        let FeRelation { id, parent, parent_name, child, child_name } = pair;
        let parent = NamedId { id: parent.0, name: parent_name };
        Self { id, parent, child: NamedId { id: child.0, name: child_name } }
    }
}

impl From<RelationRecord> for FrameRelation {
    fn from(record: RelationRecord) -> Self {
        let pair = |pair: FePairRecord| FeRelation {
            id: pair.id,
            parent: FeId(pair.parent.id),
            parent_name: pair.parent.name,
            child: FeId(pair.child.id),
            child_name: pair.child.name,
        };
        Self {
            id: RelationId(record.id),
            kind: record.relation_type,
            super_role: record.super_role,
            sub_role: record.sub_role,
            parent: FrameId(record.parent.id),
            parent_name: record.parent.name,
            child: FrameId(record.child.id),
            child_name: record.child.name,
            elements: record.elements.into_iter().map(pair).collect(),
        }
    }
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SemTypeRecord {
    kind: Kind,
    id: u32,
    name: String,
    abbreviation: String,
    definition: String,
    parents: Vec<u32>,
}

impl From<SemType> for SemTypeRecord {
    fn from(sem_type: SemType) -> Self {
        let SemType { id, name, abbreviation, definition, parents } = sem_type;
        let parents = sem_type_numbers(parents);
        Self { kind: Kind::SemType, id: id.0, name, abbreviation, definition, parents }
    }
}

impl From<SemTypeRecord> for SemType {
    fn from(record: SemTypeRecord) -> Self {
        let SemTypeRecord { kind: _, id, name, abbreviation, definition, parents } = record;
        let parents = sem_type_ids(parents);
        Self { id: SemTypeId(id), name, abbreviation, definition, parents }
    }
}
