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
    /// Its links: those that were computed by resource, the likeliest first, then those that
    /// somebody added.
    pub links: Vec<Link>,
    /// Of what they were computed, and how: the first half of a BLAKE3 hash.
    pub made_of: [u8; 16],
    /// When, in seconds since 1970 (UTC).
    pub time: u64,
}

impl Links {
    /// These links with what another list of the same LU or FE knows of decisions; `None` where the
    /// two lists of decisions on a link part. A link that only the other has is taken where
    /// somebody decided of it.
    #[must_use]
    pub fn with_decisions_of(mut self, other: &Self) -> Option<Self> {
        for link in &other.links {
            match self.links.iter_mut().find(|own| own.is_same_place(link)) {
                Some(own) if go_on(&own.decisions, &link.decisions) => {}
                Some(own) if go_on(&link.decisions, &own.decisions) => {
                    own.decisions.clone_from(&link.decisions);
                }
                Some(_) => return None,
                None if link.decisions.is_empty() => {}
                None => self.links.push(link.clone()),
            }
        }
        Some(self)
    }
}

/// Whether decisions were these earlier: since then some were made or taken back.
fn go_on(decisions: &[LinkDecision], earlier: &[LinkDecision]) -> bool {
    let is_kept = |(now, then): (&LinkDecision, &LinkDecision)| {
        now == then
            || then.undone.is_none() && LinkDecision { undone: None, ..now.clone() } == *then
    };
    decisions.len() >= earlier.len() && decisions.iter().zip(earlier).all(is_kept)
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
        (&self.resource, &self.target, &self.role) == (&other.resource, &other.target, &other.role)
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

#[cfg(test)]
mod tests {
    use super::*;

    fn by(reviewer: &str) -> Reviewed {
        Reviewed { reviewer: reviewer.to_owned(), time: 7, note: String::new() }
    }

    fn decided(accepted: bool, undone: bool) -> LinkDecision {
        LinkDecision { accepted, by: by("kim"), undone: undone.then(|| by("lee")) }
    }

    fn links(of: &[(&str, &[LinkDecision])]) -> Links {
        let link = |(target, decisions): &(&str, &[LinkDecision])| Link {
            resource: "wordnet-3.0".to_owned(),
            target: (*target).to_owned(),
            number: 1,
            role: String::new(),
            score: 0.5,
            source: LinkSource::Name,
            decisions: decisions.to_vec(),
        };
        let links = of.iter().map(link).collect();
        let of = LinkSubject::LexUnit(LuId(1));
        Links { frame: FrameId(2), of, links, made_of: [0; 16], time: 0 }
    }

    #[test]
    fn decisions_go_on_from_whichever_list_is_earlier() {
        let (none, one) = (links(&[("a", &[])]), links(&[("a", &[decided(true, false)])]));
        let undone = links(&[("a", &[decided(true, true), decided(false, false)])]);
        for (own, other) in [(&none, &undone), (&one, &undone), (&undone, &one), (&undone, &none)] {
            assert_eq!(own.clone().with_decisions_of(other), Some(undone.clone()));
        }
    }

    #[test]
    fn a_decided_link_is_taken_and_another_only_where_it_was_computed() {
        let other = links(&[("b", &[decided(true, false)]), ("c", &[])]);
        let both = links(&[("a", &[])]).with_decisions_of(&other).unwrap();
        let targets: Vec<_> = both.links.iter().map(|link| link.target.as_str()).collect();
        assert_eq!(targets, ["a", "b"]);
    }

    #[test]
    fn lists_that_part_are_told() {
        let other = links(&[("a", &[decided(false, false)])]);
        assert_eq!(links(&[("a", &[decided(true, false)])]).with_decisions_of(&other), None);
    }
}
