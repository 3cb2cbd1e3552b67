//! The record of what a file holds beside FrameNet.

use crate::model::{Foreign, ForeignAttribute, ForeignContent, ForeignPlace};

fields! {
    Foreign { places }
    ForeignPlace { element, attributes, content }
    ForeignAttribute { name, value, instead_of }
    ForeignContent { after, xml }
}
