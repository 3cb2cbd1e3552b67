//! Version 1 of the record of what a file holds beside FrameNet.

use bincode::{Decode, Encode};

use crate::model::{Foreign, ForeignAttribute, ForeignContent, ForeignPlace};

#[derive(Debug, PartialEq, Encode, Decode)]
pub(in super::super) struct ForeignRecord {
    places: Vec<PlaceRecord>,
}

#[derive(Debug, PartialEq, Encode, Decode)]
struct PlaceRecord {
    element: String,
    /// Name, value, what the record says in its place.
    attributes: Vec<(String, String, String)>,
    /// Children or bytes before it, XML.
    content: Vec<(u32, String)>,
}

impl From<&Foreign> for ForeignRecord {
    fn from(foreign: &Foreign) -> Self {
        let attribute =
            |of: &ForeignAttribute| (of.name.clone(), of.value.clone(), of.instead_of.clone());
        let place = |place: &ForeignPlace| PlaceRecord {
            element: place.element.clone(),
            attributes: place.attributes.iter().map(attribute).collect(),
            content: place.content.iter().map(|piece| (piece.after, piece.xml.clone())).collect(),
        };
        Self { places: foreign.places.iter().map(place).collect() }
    }
}

impl ForeignRecord {
    pub(in super::super) fn into_model(self) -> Foreign {
        let attribute = |(name, value, instead_of)| ForeignAttribute { name, value, instead_of };
        let place = |place: PlaceRecord| ForeignPlace {
            element: place.element,
            attributes: place.attributes.into_iter().map(attribute).collect(),
            content: place
                .content
                .into_iter()
                .map(|(after, xml)| ForeignContent { after, xml })
                .collect(),
        };
        Foreign { places: self.places.into_iter().map(place).collect() }
    }
}

#[cfg(test)]
pub(in super::super) mod tests {
    use super::*;

    /// The golden record.
    pub(in super::super) fn foreign() -> ForeignRecord {
        let attribute = |name: &str, value: &str, instead_of: &str| ForeignAttribute {
            name: name.to_owned(),
            value: value.to_owned(),
            instead_of: instead_of.to_owned(),
        };
        let content = ForeignContent { after: 2, xml: "<x:note>a &amp; b</x:note>".to_owned() };
        let place = ForeignPlace {
            element: "/frame[102]/FE[1001]#2".to_owned(),
            attributes: vec![attribute("x:sure", "0.5", ""), attribute("coreType", "Odd", "Core")],
            content: vec![content],
        };
        ForeignRecord::from(&Foreign { places: vec![place] })
    }
}
