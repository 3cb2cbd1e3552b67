//! What a release's file holds beside FrameNet: unknown attributes, elements and texts, as they
//! stand.
//!
//! No record has a place for these. They are kept by file and by the element that they stand at,
//! and an export writes them there again. An element is known by its path: the names of the
//! elements from the root on, each with its `ID` or else its `name`, as in
//! `/lexUnit[1207]/subCorpus[V-20]/sentence[5]`.

use super::named::named;
use super::{CorpusId, DocumentId, FrameId, LuId};

/// The file that holds something foreign.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ForeignFile {
    /// A file at the top of the release.
    Top(TopName),
    /// A frame file.
    Frame(FrameId),
    /// An LU file.
    LexUnit(FrameId, LuId),
    /// A full-text file.
    Document(CorpusId, DocumentId),
}

named! {
    /// A file at the top of a release.
    #[repr(u8)]
    #[allow(missing_docs, reason = "each is what its name says")]
    pub enum TopName {
        FrameIndex = 1 => "frameIndex.xml",
        LuIndex => "luIndex.xml",
        FulltextIndex => "fulltextIndex.xml",
        SemTypes => "semTypes.xml",
        Relations => "frRelation.xml",
    }
}

impl TopName {
    /// The file of that code, as it stands in keys.
    #[must_use]
    pub fn from_code(code: u32) -> Option<Self> {
        Self::ALL.into_iter().find(|name| *name as u32 == code)
    }
}

/// What a file holds beside FrameNet, by element, in file order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Foreign {
    /// The elements that have some of it.
    pub places: Vec<ForeignPlace>,
}

impl Foreign {
    /// Whether the file is FrameNet's throughout.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }
}

/// What stands at one element beside FrameNet.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ForeignPlace {
    /// Path of the element.
    pub element: String,
    /// Attributes.
    pub attributes: Vec<ForeignAttribute>,
    /// Elements and texts inside it.
    pub content: Vec<ForeignContent>,
}

impl ForeignPlace {
    /// Each piece as a text: an attribute as `name=value`, what stands inside as the file writes
    /// it.
    pub fn texts(&self) -> impl Iterator<Item = String> {
        let attributes = self
            .attributes
            .iter()
            .map(|attribute| format!("{}={}", attribute.name, attribute.value));
        attributes.chain(self.content.iter().map(|content| content.xml.trim().to_owned()))
    }
}

/// An attribute that FrameNet does not know, or one of its own with a value that no record can
/// hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForeignAttribute {
    /// Name, with its prefix.
    pub name: String,
    /// Value, unescaped.
    pub value: String,
    /// What the record says in its place, where that can be edited: the value counts as long as the
    /// record says so. Empty where it always counts.
    pub instead_of: String,
}

/// Elements and texts that follow one another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForeignContent {
    /// How many of the element's own children stand before it; in an element of text, how many
    /// bytes.
    pub after: u32,
    /// As the file writes it.
    pub xml: String,
}
