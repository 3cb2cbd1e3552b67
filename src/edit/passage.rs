//! The FEs of an annotation set that moves to another frame, and back.
//!
//! An FE becomes the one that a relation between the two frames maps it to, else the one of its
//! name. Where the new frame has neither, the label is dropped. A layer that has lost or renamed
//! labels stands beside the new one as it was, under a name that says whose FEs they are. So a set
//! that comes back has its FEs again, and what people have added meanwhile.

use std::collections::HashMap;

use super::{EditError, Result, Transaction};
use crate::model::{
    AnnotationSet, FeStatus, Frame, FrameElement, FrameId, FrameRelation, Label, Layer, LayerName,
};

/// What became of the FE labels of sets that moved to another frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CarriedElements {
    /// Labels of an FE whose name the new frame has.
    pub kept: u64,
    /// Labels that have another FE's name now, by a relation between the frames.
    pub mapped: u64,
    /// Labels that no FE of the new frame can have.
    pub dropped: u64,
}

impl CarriedElements {
    pub(super) fn add(&mut self, other: Self) {
        self.kept += other.kept;
        self.mapped += other.mapped;
        self.dropped += other.dropped;
    }
}

/// The way from one frame to another.
pub(super) struct Passage {
    from: Frame,
    to: Frame,
    /// Names of FEs of `from` with those of `to` that relations map them to, and the other way.
    forth: HashMap<String, String>,
    back: HashMap<String, String>,
}

impl Transaction<'_> {
    /// The way from a frame to another one; none from a frame to itself.
    pub(super) fn passage(&self, from: FrameId, to: FrameId) -> Result<Option<Passage>> {
        if from == to {
            return Ok(None);
        }
        let frame = |id| -> Result<Frame> {
            Ok(self.frame(id)?.ok_or_else(|| EditError::absent("frame", id))?)
        };
        Ok(Some(Passage::new(frame(from)?, frame(to)?, &self.all_relations()?)))
    }
}

impl Passage {
    fn new(from: Frame, to: Frame, relations: &[FrameRelation]) -> Self {
        let (mut forth, mut back) = (HashMap::new(), HashMap::new());
        for relation in relations {
            let is_up = (relation.child, relation.parent) == (from.id, to.id);
            if !is_up && (relation.parent, relation.child) != (from.id, to.id) {
                continue;
            }
            for pair in &relation.elements {
                let (own, other) =
                    if is_up { (pair.child, pair.parent) } else { (pair.parent, pair.child) };
                let Some((own, other)) = from.fe(own).zip(to.fe(other)) else { continue };
                // Of several the first, in order of the relations' numbers.
                forth.entry(own.name.clone()).or_insert_with(|| other.name.clone());
                back.entry(other.name.clone()).or_insert_with(|| own.name.clone());
            }
        }
        Self { from, to, forth, back }
    }

    /// The FE of the new frame that one of the old frame becomes.
    fn element(&self, name: &str) -> Option<&FrameElement> {
        self.to.fe_by_name(self.forth.get(name).map_or(name, String::as_str))
    }

    /// The name that an FE of the new frame has in the old one; none where that lacks it.
    fn before(&self, name: &str) -> Option<&str> {
        let name = self.back.get(name).map_or(name, String::as_str);
        self.from.fe_by_name(name).map(|fe| fe.name.as_str())
    }

    /// A label as the new frame has it.
    fn carried(&self, label: &Label) -> Option<Label> {
        let fe = self.element(&label.name)?;
        Some(Label { name: fe.name.clone(), fe: Some(fe.id), ..label.clone() })
    }

    /// Makes the FE labels of a set those of the new frame.
    pub(super) fn carry(&self, set: &mut AnnotationSet) -> CarriedElements {
        let mut tally = CarriedElements::default();
        let (away, home) = (elements_of(&self.from), elements_of(&self.to));
        let aside: Vec<Layer> =
            set.layers.iter().filter(|layer| layer.name == home).cloned().collect();
        let fe_layers = set.layers.iter().filter(|layer| layer.name == LayerName::Fe);
        let ranks: Vec<u8> = fe_layers.map(|layer| layer.rank).collect();
        let mut layers = Vec::with_capacity(set.layers.len() + 1);
        for layer in std::mem::take(&mut set.layers) {
            let left_here = aside.iter().find(|other| other.rank == layer.rank);
            if layer.name == home {
                // Taken with the FE layer of its rank, where there is one.
                if !ranks.contains(&layer.rank) {
                    let none = Layer { labels: Vec::new(), ..layer.clone() };
                    layers.push(self.returned(&none, &layer).0);
                }
            } else if layer.name != LayerName::Fe {
                layers.push(layer);
            } else if let Some(left_here) = left_here {
                let (returned, dropped) = self.returned(&layer, left_here);
                tally.dropped += dropped.len() as u64;
                layers.push(returned);
                if !dropped.is_empty() {
                    layers.push(Layer { name: away.clone(), labels: dropped, ..layer });
                }
            } else {
                self.leave(layer, &away, &mut layers, &mut tally);
            }
        }
        set.layers = layers;
        set.fe_status = self.status(set, !aside.is_empty(), &away);
        tally
    }

    /// Carries a layer to a frame where the set was not before.
    fn leave(
        &self,
        layer: Layer,
        away: &LayerName,
        layers: &mut Vec<Layer>,
        tally: &mut CarriedElements,
    ) {
        let mut labels = Vec::with_capacity(layer.labels.len());
        let mut is_changed = false;
        for label in &layer.labels {
            let carried = self.carried(label);
            match &carried {
                Some(carried) if carried.name == label.name => tally.kept += 1,
                Some(_) => tally.mapped += 1,
                None => tally.dropped += 1,
            }
            let comes_back = |carried: &Label| self.before(&carried.name) == Some(&label.name);
            is_changed |= !carried
                .as_ref()
                .is_some_and(|carried| carried.name == label.name && comes_back(carried));
            labels.extend(carried);
        }
        if !labels.is_empty() || layer.labels.is_empty() {
            layers.push(Layer { labels, ..layer.clone() });
        }
        if is_changed {
            let unnumbered = |label: Label| Label { fe: None, ..label };
            let labels = layer.labels.into_iter().map(unnumbered).collect();
            layers.push(Layer { name: away.clone(), labels, ..layer });
        }
    }

    /// The FE layer of a set that comes back, by what it has now and what was left aside: labels
    /// that were dropped, and those whose FEs are still there. Then come those that people have
    /// added, and beside the layer those of them that the frame has no FE for.
    fn returned(&self, now: &Layer, left_here: &Layer) -> (Layer, Vec<Label>) {
        let mut added = now.labels.clone();
        let mut labels = Vec::with_capacity(left_here.labels.len());
        for label in &left_here.labels {
            let other_name = self.before(&label.name);
            let there = added
                .iter()
                .position(|of| Some(of.name.as_str()) == other_name && of.extent == label.extent);
            if let Some(at) = there {
                added.remove(at);
            }
            if there.is_some() || other_name.is_none() {
                let fe = self.to.fe_by_name(&label.name).map(|fe| fe.id);
                labels.push(Label { fe, ..label.clone() });
            }
        }
        let mut dropped = Vec::new();
        for label in added {
            match self.carried(&label) {
                Some(carried) => labels.push(carried),
                None => dropped.push(Label { fe: None, ..label }),
            }
        }
        (Layer { name: LayerName::Fe, labels, ..left_here.clone() }, dropped)
    }

    fn status(&self, set: &AnnotationSet, came_back: bool, away: &LayerName) -> FeStatus {
        let has_some = set.layers.iter().any(|layer| layer.name == LayerName::Fe);
        let has_lost = set.layers.iter().any(|layer| layer.name == *away);
        let is_generated = set.provenance.origin().is_of_written_text();
        match set.fe_status {
            // Of labels that were left, the set had been told to be one or the other.
            FeStatus::Unknown if came_back && is_generated => FeStatus::Carried,
            FeStatus::Unknown if came_back => FeStatus::Annotated,
            // What is left of carried FEs was carried; other sets said that all are labelled.
            FeStatus::Carried if has_lost && !has_some => FeStatus::Unknown,
            FeStatus::Annotated if has_lost => FeStatus::Unknown,
            other => other,
        }
    }
}

/// The layer for FEs of a frame in a set of another one.
fn elements_of(frame: &Frame) -> LayerName {
    LayerName::Named(format!("FE of {}", frame.name))
}
