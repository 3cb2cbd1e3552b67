//! What the network knows of frames and their FEs.
//!
//! An FE's vector is a sum over its *keys*, so that FEs of rare frames share what others learn: its
//! name, its core type, the FE of its frame, and the FEs of other frames that it is mapped to by
//! frame relations (Kshirsagar et al. 2015). A trained model keeps the sums.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::database::Result;
use crate::lexicon::Lexicon;
use crate::model::{CoreType, Frame, Span};
use crate::text::is_same;

/// Relations whose lower FE is a kind or a part of the upper one.
const RELATIONS: [&str; 6] =
    ["Inheritance", "Using", "Perspective_on", "Subframe", "Causative_of", "Inchoative_of"];

/// An FE of a frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Element {
    /// Its name.
    pub(super) name: String,
    /// How central it is to the frame.
    pub(super) core_type: CoreType,
    /// Rows of the vectors that its own is the sum of.
    pub(super) keys: Vec<usize>,
}

impl Element {
    /// Place of the key of its name among its keys.
    pub(super) const NAME: usize = 0;
    /// Place of the key of its core type.
    pub(super) const TYPE: usize = 1;
}

/// A frame with its FEs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FrameElements {
    /// Number of the frame.
    pub(super) number: usize,
    /// Its FEs, by name.
    pub(super) elements: Vec<Element>,
}

impl FrameElements {
    /// The place of the FE of a name.
    pub(super) fn place(&self, name: &str) -> Option<usize> {
        let written = self.elements.binary_search_by(|element| element.name.as_str().cmp(name));
        written.ok().or_else(|| self.elements.iter().position(|own| is_same(&own.name, name)))
    }
}

/// The frames of a release.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Inventory {
    frames: BTreeMap<String, FrameElements>,
    /// How many keys there are.
    pub(super) keys: usize,
}

impl Inventory {
    /// The frames of a release, their FEs and the relations between those.
    ///
    /// # Errors
    /// When the store fails.
    pub fn read(lexicon: &Lexicon<'_>) -> Result<Self> {
        let mut parents: BTreeMap<(String, String), BTreeSet<(String, String)>> = BTreeMap::new();
        for relation in lexicon.relations()? {
            let relation = relation?;
            if !RELATIONS.contains(&relation.kind.as_str()) {
                continue;
            }
            for pair in relation.elements {
                let child = (relation.child_name.clone(), pair.child_name);
                let parent = (relation.parent_name.clone(), pair.parent_name);
                parents.entry(child).or_default().insert(parent);
            }
        }
        let frames = lexicon.frames()?.collect::<Result<Vec<Frame>>>()?;
        Ok(Self::new(&frames, &parents))
    }

    /// Some frames; `parents` are the FEs that each FE is mapped to, by frame and name.
    pub(super) fn new(
        frames: &[Frame],
        parents: &BTreeMap<(String, String), BTreeSet<(String, String)>>,
    ) -> Self {
        let mut keys: HashMap<String, usize> = HashMap::new();
        let mut key = |name: String| {
            let next = keys.len();
            *keys.entry(name).or_insert(next)
        };
        let mut sorted: BTreeMap<&str, &Frame> = BTreeMap::new();
        for frame in frames {
            sorted.insert(&frame.name, frame);
        }
        let mut found = BTreeMap::new();
        for (number, (name, frame)) in sorted.into_iter().enumerate() {
            let mut elements: BTreeMap<&str, Element> = BTreeMap::new();
            for fe in &frame.elements {
                let own = (frame.name.clone(), fe.name.clone());
                let of_parents = parents.get(&own).into_iter().flatten();
                let names = [
                    format!("name {}", fe.name),
                    format!("type {}", fe.core_type.as_str()),
                    format!("of {name} {}", fe.name),
                ];
                let names = names.into_iter().chain(of_parents.map(|(f, e)| format!("of {f} {e}")));
                let element = Element {
                    name: fe.name.clone(),
                    core_type: fe.core_type,
                    keys: names.map(&mut key).collect(),
                };
                elements.insert(&fe.name, element);
            }
            let elements = elements.into_values().collect();
            found.insert(name.to_owned(), FrameElements { number, elements });
        }
        Self { frames: found, keys: keys.len() }
    }

    /// How central an FE is to its frame; none where the frame has no such FE.
    pub(super) fn core_type(&self, frame: &str, element: &str) -> Option<CoreType> {
        let frame = self.frame(frame)?;
        Some(frame.elements[frame.place(element)?].core_type)
    }

    /// What an FE weighs, in halves, where core ones count twice what others do: 2 or 1. An FE that
    /// is core-unexpressed counts as core, and so does one that the frame does not have. So weighed
    /// SemEval 2007's task 19 (Baker, Ellsworth and Erk, section 4), and parsers since.
    #[must_use]
    pub fn halves(&self, frame: &str, element: &str) -> u64 {
        match self.core_type(frame, element) {
            Some(CoreType::Peripheral | CoreType::ExtraThematic) => 1,
            Some(CoreType::Core | CoreType::CoreUnexpressed) | None => 2,
        }
    }

    /// The frame of a name.
    pub(super) fn frame(&self, name: &str) -> Option<&FrameElements> {
        let equivalent = || self.frames.iter().find(|(own, _)| is_same(own, name));
        self.frames.get(name).or_else(|| equivalent().map(|(_, frame)| frame))
    }

    /// All frames, by name, which is the order of their numbers.
    pub(super) fn frames(&self) -> impl ExactSizeIterator<Item = (&str, &FrameElements)> {
        self.frames.iter().map(|(name, frame)| (name.as_str(), frame))
    }
}

/// An FE that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundElement {
    /// Its name.
    pub name: String,
    /// Where it stands, in bytes.
    pub span: Span,
    /// Probability, under the network, that this span is this FE: in (0, 1].
    pub score: f32,
}
