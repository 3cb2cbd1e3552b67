//! Names that stand beside numbers in frame and LU files, and whether the two agree.

use std::collections::{HashMap, HashSet};

use super::element::Element;
use super::xml::XmlFile;
use super::{Result, WarningCode};
use crate::model::{FeId, Frame, NumberKind, SemTypeId};

/// Names that stand beside the numbers of FEs and semantic types, to be checked.
#[derive(Default)]
pub(super) struct Names {
    pub(super) sem_types: Vec<(SemTypeId, String)>,
    elements: Vec<(FeId, String)>,
    /// Numbers that FEs and LUs of the file have.
    pub(super) taken_elements: HashSet<u32>,
    pub(super) taken_lexunits: HashSet<u32>,
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
    pub(super) fn element<'a>(
        &mut self,
        xml: &mut XmlFile<'a>,
        element: &Element<'a>,
    ) -> Result<FeId> {
        let name = element.text_or_empty("name")?;
        let id = FeId(xml.short_id(element, NumberKind::FrameElement, "ID", &name)?);
        let place = u32::try_from(self.elements.len()).unwrap_or(u32::MAX);
        self.elements.push((id, name));
        xml.leaf(element, &["ID", "name"])?;
        Ok(FeId(place))
    }

    /// Puts the FEs that other FEs and core sets name in their places, now that all are read.
    pub(super) fn settle_elements<'a>(
        &mut self,
        xml: &mut XmlFile<'a>,
        root: &Element<'a>,
        frame: &mut Frame,
    ) {
        let named = std::mem::take(&mut self.elements);
        let elements = Elements::of(frame);
        let found = named.iter().map(|(id, name)| elements.find(xml, root, *id, name));
        let found: Vec<Option<FeId>> = found.collect();
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

/// A frame's FEs, by number and by name.
struct Elements {
    names: HashMap<FeId, String>,
    ids: HashMap<String, FeId>,
}

impl Elements {
    fn of(frame: &Frame) -> Self {
        let names = frame.elements.iter().map(|fe| (fe.id, fe.name.clone())).collect();
        // The first of a name.
        let ids = frame.elements.iter().rev().map(|fe| (fe.name.clone(), fe.id)).collect();
        Self { names, ids }
    }

    /// The FE that a number and a name stand for. Of several with the number it is the one of that
    /// name. If the frame has none of that number, it is the one of that name or none. Warns of
    /// what does not agree.
    fn find<'a>(
        &self,
        xml: &mut XmlFile<'a>,
        root: &Element<'a>,
        id: FeId,
        name: &str,
    ) -> Option<FeId> {
        let is_called = |id: &FeId| self.names.get(id).is_some_and(|known| known == name);
        let own = || xml.called(NumberKind::FrameElement, id.0, name).map(FeId);
        if let Some(right) = Some(id).filter(is_called).or_else(|| own().filter(is_called)) {
            return Some(right);
        }
        if self.names.contains_key(&id) {
            let detail = format!("FE {id} is called `{name}` here; the number counts");
            xml.warn(root, WarningCode::NameMismatch, detail);
            return Some(id);
        }
        let called = self.ids.get(name).copied();
        let done = if called.is_some() { "the name counts" } else { "not kept" };
        let detail = format!("FE `{name}` ({id}) is named and the frame does not have it; {done}");
        xml.warn(root, WarningCode::ElementMissing, detail);
        called
    }
}
