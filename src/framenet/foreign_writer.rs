//! What a file that is written holds beside FrameNet.

use std::collections::HashMap;

use super::foreign_notes::Path;
use crate::model::{Foreign, ForeignAttribute, ForeignContent, ForeignPlace};

/// What an [`XmlWriter`](super::xml_writer::XmlWriter) writes beside FrameNet.
pub(super) struct ForeignWriter<'a> {
    places: HashMap<&'a str, &'a ForeignPlace>,
    path: Path,
    open: Vec<OpenPlace<'a>>,
    /// The `ID` and the name of the element whose start tag is being written.
    keys: [String; 2],
}

/// An open element.
#[derive(Default)]
struct OpenPlace<'a> {
    content: &'a [ForeignContent],
    children: u32,
}

impl<'a> ForeignWriter<'a> {
    /// `None` where there is nothing to write.
    pub(super) fn new(foreign: &'a Foreign) -> Option<Self> {
        if foreign.is_empty() {
            return None;
        }
        let places = foreign.places.iter().map(|place| (place.element.as_str(), place)).collect();
        Some(Self { places, path: Path::default(), open: Vec::new(), keys: Default::default() })
    }

    /// Takes note of an attribute that is written.
    pub(super) fn see(&mut self, name: &str, value: &str) {
        match name {
            "ID" => value.clone_into(&mut self.keys[0]),
            "name" => value.clone_into(&mut self.keys[1]),
            _ => {}
        }
    }

    /// A start tag is whole: gives the attributes that it gets beside its own.
    pub(super) fn entered(&mut self, name: &str) -> &'a [ForeignAttribute] {
        let [id, called] = std::mem::take(&mut self.keys);
        self.path.enter(name, if id.is_empty() { &called } else { &id });
        let place = self.places.get(self.path.as_str()).copied();
        let content = place.map_or(&[][..], |place| &place.content);
        self.open.push(OpenPlace { content, children: 0 });
        place.map_or(&[], |place| &place.attributes)
    }

    pub(super) fn left(&mut self) {
        self.path.leave();
        self.open.pop();
    }

    /// What stands in the innermost element before its next child.
    pub(super) fn before_child(&mut self) -> &'a [ForeignContent] {
        let Some(open) = self.open.last_mut() else { return &[] };
        let here = open.content.iter().take_while(|piece| piece.after <= open.children).count();
        open.children += 1;
        let (now, later) = open.content.split_at(here);
        open.content = later;
        now
    }

    /// What of the innermost element was not written yet.
    pub(super) fn rest(&mut self) -> &'a [ForeignContent] {
        self.open.last_mut().map_or(&[], |open| std::mem::take(&mut open.content))
    }
}
