//! Links of LUs and FEs to what other lexicons have: synsets, classes, rolesets, and their roles.

use super::named::named;
use super::{FeId, FrameId, LuId, Reviewed};

named! {
    /// What speaks most for a link.
    pub enum LinkSource {
        /// SemLink, the Predicate Matrix, or the other lexicon says so itself.
        Semlink => "semlink",
        /// The name alone: a lemma and its part of speech, or the name of a role.
        Name => "name",
        /// The words of the definitions, and the words of both.
        Definition => "definition",
        /// A verifier, asked about the other lexicon's sentences.
        Model => "model",
        /// Somebody.
        User => "user",
    }
}

/// What is linked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LinkSubject {
    /// An LU.
    LexUnit(LuId),
    /// An FE.
    Element(FeId),
}

impl LinkSubject {
    /// The kind, and the number among its kind, which keys have.
    #[must_use]
    pub fn numbers(self) -> (u8, u32) {
        match self {
            Self::LexUnit(lu) => (0, lu.0),
            Self::Element(fe) => (1, fe.0),
        }
    }

    /// The subject of a kind and number.
    #[must_use]
    pub fn of_numbers(kind: u8, number: u32) -> Option<Self> {
        match kind {
            0 => Some(Self::LexUnit(LuId(number))),
            1 => Some(Self::Element(FeId(number))),
            _ => None,
        }
    }
}

/// All links of an LU or FE.
#[derive(Debug, Clone, PartialEq)]
pub struct Links {
    /// The frame.
    pub frame: FrameId,
    /// What is linked.
    pub of: LinkSubject,
    /// Its links, those to one resource together, the likeliest first.
    pub links: Vec<Link>,
    /// Of what they were computed, and how: the first half of a BLAKE3 hash.
    pub made_of: [u8; 16],
    /// When, in seconds since 1970 (UTC).
    pub time: u64,
}

/// A link to a synset, a predicate, or a role of one.
#[derive(Debug, Clone, PartialEq)]
pub struct Link {
    /// Name of the resource.
    pub resource: String,
    /// The synset's id as its files write it, or the predicate's name.
    pub target: String,
    /// The synset's number in the resource; 0 for a predicate.
    pub number: u32,
    /// The role of the predicate; empty where the predicate itself is meant.
    pub role: String,
    /// How likely it is, 0 to 1.
    pub score: f32,
    /// What speaks most for it.
    pub source: LinkSource,
    /// What people decided of it, the earliest first.
    pub decisions: Vec<LinkDecision>,
}

/// What somebody decided of a link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkDecision {
    /// Whether it holds.
    pub accepted: bool,
    /// Who decided, when and why.
    pub by: Reviewed,
    /// Who took it back, if anyone did.
    pub undone: Option<Reviewed>,
}

impl Link {
    /// Whether it leads where another link does.
    #[must_use]
    pub fn is_same_place(&self, other: &Self) -> bool {
        let place = |of: &Self| (of.resource.clone(), of.target.clone(), of.role.clone());
        place(self) == place(other)
    }

    /// Where it leads to: `leave-51.2:Agent of verbnet-3.4`.
    #[must_use]
    pub fn place(&self) -> String {
        let role = if self.role.is_empty() { String::new() } else { format!(":{}", self.role) };
        format!("{}{role} of {}", self.target, self.resource)
    }

    /// The last decision that was not taken back.
    #[must_use]
    pub fn standing(&self) -> Option<&LinkDecision> {
        self.decisions.iter().rev().find(|decision| decision.undone.is_none())
    }

    /// Whether it counts: it was not rejected, and what somebody added was not taken back.
    #[must_use]
    pub fn stands(&self) -> bool {
        self.standing().map_or(self.source != LinkSource::User, |decision| decision.accepted)
    }
}
