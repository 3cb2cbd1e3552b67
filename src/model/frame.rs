//! Frames, frame elements, relations between them, and semantic types.

use super::named::named;
use super::{FeId, FrameId, ListedElement, RelationId, SemTypeId};

/// Who made something and when, as FrameNet writes it (`cBy`, `cDate`).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Creation {
    /// Annotator, as written; empty when not given.
    pub by: String,
    /// `MM/DD/YYYY HH:MM:SS TZ Day`, as written; empty when not given.
    pub date: String,
}

/// Display colours of an FE or a label, six hexadecimal digits each.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Colors {
    /// Foreground.
    pub fg: String,
    /// Background.
    pub bg: String,
}

/// A frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// FrameNet's number.
    pub id: FrameId,
    /// Name, as in `Verification`.
    pub name: String,
    /// Definition with FrameNet's markup (`<fen>`, `<ex>`, ...), byte-exact.
    pub definition: String,
    /// Frame elements, in file order.
    pub elements: Vec<FrameElement>,
    /// Core sets: expressing one member satisfies the others.
    pub core_sets: Vec<Vec<FeId>>,
    /// Semantic types of the frame.
    pub sem_types: Vec<SemTypeId>,
    /// Author and date.
    pub created: Creation,
    /// Date of the last change, from the frame index; empty when not listed.
    pub modified: String,
    /// Whether the release has a file for the frame. A frame that only annotation names
    /// (`W-frame-missing`) is kept without definition and elements.
    pub has_file: bool,
}

impl Frame {
    /// A frame that is to be added; a transaction numbers it and its FEs.
    ///
    /// ```
    /// use fnstore::model::{CoreType, Frame, FrameElement};
    ///
    /// let frame = Frame::new("Proofreading", "Somebody reads a text for errors.")
    ///     .element(FrameElement::new("Proofer", CoreType::Core))
    ///     .element(FrameElement::new("Time", CoreType::Peripheral));
    /// assert!(frame.fe_by_name("Proofer").is_some());
    /// ```
    #[must_use]
    pub fn new(name: &str, definition: &str) -> Self {
        let definition = definition.to_owned();
        Self { definition, has_file: true, ..Self::named(FrameId(0), name) }
    }

    /// The same frame with one more FE, which has the next number for now.
    #[must_use]
    pub fn element(mut self, fe: FrameElement) -> Self {
        let last = self.elements.iter().map(|fe| fe.id.0).max().unwrap_or_default();
        self.elements.push(FrameElement { id: FeId(last + 1), ..fe });
        self
    }

    /// A frame of which nothing is known but its name: the release has no file for it.
    #[must_use]
    pub fn named(id: FrameId, name: &str) -> Self {
        Self {
            id,
            name: name.to_owned(),
            definition: String::new(),
            elements: Vec::new(),
            core_sets: Vec::new(),
            sem_types: Vec::new(),
            created: Creation::default(),
            modified: String::new(),
            has_file: false,
        }
    }

    /// Its FEs as the headers of most LU files list them: in order of name.
    #[must_use]
    pub fn elements_by_name(&self) -> Vec<ListedElement> {
        let listed = self.elements.iter().map(|fe| ListedElement {
            name: fe.name.clone(),
            core_type: fe.core_type.as_str().to_owned(),
            abbreviation: fe.abbreviation.clone(),
            colors: fe.colors.clone(),
        });
        let mut listed: Vec<ListedElement> = listed.collect();
        listed.sort_by(|a, b| a.name.cmp(&b.name));
        listed
    }

    /// The FE of that number.
    #[must_use]
    pub fn fe(&self, id: FeId) -> Option<&FrameElement> {
        self.elements.iter().find(|fe| fe.id == id)
    }
}

/// A frame element.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FrameElement {
    /// FrameNet's number.
    pub id: FeId,
    /// Name, as in `Inspector`.
    pub name: String,
    /// Short name used by the definitions' markup; may be empty.
    pub abbreviation: String,
    /// How central the FE is to the frame.
    pub core_type: CoreType,
    /// Definition with markup, byte-exact.
    pub definition: String,
    /// Semantic types; FrameNet gives two FEs more than one.
    pub sem_types: Vec<SemTypeId>,
    /// FEs that must be there when this one is.
    pub requires: Vec<FeId>,
    /// FEs that cannot be there when this one is.
    pub excludes: Vec<FeId>,
    /// Display colours.
    pub colors: Colors,
    /// Author and date.
    pub created: Creation,
}

impl FrameElement {
    /// An FE that is to be added; its frame numbers it.
    #[must_use]
    pub fn new(name: &str, core_type: CoreType) -> Self {
        Self::named(FeId(0), name, core_type)
    }

    /// An FE of which nothing is known but its name and how central it is.
    #[must_use]
    pub fn named(id: FeId, name: &str, core_type: CoreType) -> Self {
        Self {
            id,
            name: name.to_owned(),
            abbreviation: String::new(),
            core_type,
            definition: String::new(),
            sem_types: Vec::new(),
            requires: Vec::new(),
            excludes: Vec::new(),
            colors: Colors::default(),
            created: Creation::default(),
        }
    }
}

named! {
    /// How central a frame element is to its frame.
    pub enum CoreType {
        /// Needed to conceive the frame.
        Core => "Core",
        /// Core, but never expressed by a dependent.
        CoreUnexpressed => "Core-Unexpressed",
        /// Not needed and not specific (Time, Place).
        Peripheral => "Peripheral",
        /// Belongs to another, introduced frame.
        ExtraThematic => "Extra-Thematic",
    }
}

/// A relation between two frames, stored once, with the FEs it maps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FrameRelation {
    /// FrameNet's number.
    pub id: RelationId,
    /// Name of the type, as in `Inheritance` or `Using`.
    pub kind: String,
    /// What the type calls the super frame, as in `Parent`.
    pub super_role: String,
    /// What the type calls the sub frame, as in `Child`.
    pub sub_role: String,
    /// The super frame.
    pub parent: FrameId,
    /// The super frame's name as the relation spells it.
    pub parent_name: String,
    /// The sub frame.
    pub child: FrameId,
    /// The sub frame's name as the relation spells it.
    pub child_name: String,
    /// FEs mapped onto each other.
    pub elements: Vec<FeRelation>,
}

impl FrameRelation {
    /// A relation that is to be added; a transaction numbers it, and takes the frames' names and
    /// what the type calls its sides from the release.
    #[must_use]
    pub fn new(kind: &str, parent: FrameId, child: FrameId) -> Self {
        Self {
            id: RelationId(0),
            kind: kind.to_owned(),
            super_role: String::new(),
            sub_role: String::new(),
            parent,
            parent_name: String::new(),
            child,
            child_name: String::new(),
            elements: Vec::new(),
        }
    }

    /// The same relation, which maps an FE of the super frame onto one of the sub frame, too.
    #[must_use]
    pub fn mapping(mut self, parent: FeId, child: FeId) -> Self {
        let (parent_name, child_name) = (String::new(), String::new());
        self.elements.push(FeRelation { id: 0, parent, parent_name, child, child_name });
        self
    }
}

/// A pair of frame elements that a frame relation maps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeRelation {
    /// FrameNet's number.
    pub id: u32,
    /// FE of the super frame.
    pub parent: FeId,
    /// Its name.
    pub parent_name: String,
    /// FE of the sub frame.
    pub child: FeId,
    /// Its name.
    pub child_name: String,
}

/// A semantic type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SemType {
    /// FrameNet's number.
    pub id: SemTypeId,
    /// Name, as in `Body_of_water`.
    pub name: String,
    /// Abbreviation.
    pub abbreviation: String,
    /// Definition.
    pub definition: String,
    /// Its super types.
    pub parents: Vec<SemTypeId>,
}

impl SemType {
    /// A type that is to be added; a transaction numbers it.
    #[must_use]
    pub fn new(name: &str, definition: &str) -> Self {
        Self { definition: definition.to_owned(), ..Self::named(SemTypeId(0), name) }
    }

    /// A type of which no more than its number and its name is known.
    #[must_use]
    pub fn named(id: SemTypeId, name: &str) -> Self {
        Self {
            id,
            name: name.to_owned(),
            abbreviation: String::new(),
            definition: String::new(),
            parents: Vec::new(),
        }
    }
}
