//! Version 1 of the record of what a file holds beside FrameNet.

use crate::model::{Foreign, ForeignAttribute, ForeignContent, ForeignPlace};

fields! {
    Foreign { places }
    ForeignPlace { element, attributes, content }
    ForeignAttribute { name, value, instead_of }
    ForeignContent { after, xml }
}

#[cfg(test)]
pub(in super::super) mod tests {
    use super::*;

    /// The golden record.
    pub(in super::super) fn foreign() -> Foreign {
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
        Foreign { places: vec![place] }
    }
}
