//! Links of LUs to classes of VerbNet and rolesets of PropBank, and of FEs to their roles.

use std::collections::BTreeSet;

use super::known::{Held, sense_of};
use super::senses::ScoredKeys;
use super::{Linker, Unit};
use crate::lexica::wordnet_lemma;
use crate::model::{Frame, Link, LinkSource, PredicateMember, ResourceKind, class_number};
use crate::text::fold;

/// The score of a link that a lexicon or SemLink gives.
const GIVEN: f32 = 0.95;
/// The score of a role of the FE's name.
const SAME_NAME: f32 = 0.6;
/// What a role that leads to another counts of that one's score.
const THROUGH: f32 = 0.8;
/// The score of a word's only class or roleset, without anything that speaks for it.
const ONLY_ONE: f32 = 0.5;
/// Least score of an LU's link to a predicate whose roles its frame's FEs may be linked to.
const LIKELY: f32 = 0.4;

impl Linker<'_> {
    /// Whether another lexicon says that a word of a predicate evokes a frame.
    pub(super) fn is_of_frame(
        &self,
        frame: &Frame,
        unit: &Unit,
        held: &Held,
        member: &PredicateMember,
    ) -> bool {
        let says = |link: &crate::model::PredicateLink| {
            link.resource == "FrameNet" && link.predicate == frame.name
        };
        if member.frames.contains(&frame.name) || held.predicate.links.iter().any(says) {
            return true;
        }
        self.known.of_frame(&frame.name).any(|row| {
            let is_word = row.lemma == unit.lemma || row.lexunit == unit.lu.name;
            let is_it = match held.kind {
                ResourceKind::Verbnet => !row.class.is_empty() && held.is_called(&row.class),
                _ => row.roleset == held.predicate.name,
            };
            is_word && is_it
        })
    }

    /// The classes and rolesets of an LU.
    pub(super) fn predicates(&self, frame: &Frame, unit: &Unit, keys: &ScoredKeys) -> Vec<Link> {
        let of_word = self.known.of_word(&unit.lemma, unit.letter());
        let mut links: Vec<Link> = Vec::new();
        // Classes first: rolesets lead to them.
        for kind in [ResourceKind::Verbnet, ResourceKind::Propbank] {
            let held: Vec<&&Held> = of_word.iter().filter(|held| held.kind == kind).collect();
            for of in &held {
                // Another version of a lexicon makes no word ambiguous.
                let among = held.iter().filter(|it| it.resource == of.resource).count();
                let (score, source) = self.of_predicate(frame, unit, (of, among), keys, &links);
                links.push(Link {
                    resource: of.resource.clone(),
                    target: of.predicate.name.clone(),
                    number: 0,
                    role: String::new(),
                    score,
                    source,
                    decisions: Vec::new(),
                });
            }
        }
        links.sort_by(|a, b| a.resource.cmp(&b.resource).then_with(|| b.score.total_cmp(&a.score)));
        links
    }

    fn of_predicate(
        &self,
        frame: &Frame,
        unit: &Unit,
        (held, among): (&Held, usize),
        keys: &ScoredKeys,
        classes: &[Link],
    ) -> (f32, LinkSource) {
        let is_word = |member: &&PredicateMember| wordnet_lemma(&member.lemma) == unit.lemma;
        let members: Vec<&PredicateMember> =
            held.predicate.members.iter().filter(is_word).collect();
        if members.iter().any(|member| self.is_of_frame(frame, unit, held, member)) {
            return (GIVEN, LinkSource::Semlink);
        }
        let mut best = (ONLY_ONE / among as f32, LinkSource::Name);
        let mut offer = |score: f32, source| {
            if score > best.0 {
                best = (score, source);
            }
        };
        let senses: Vec<&str> =
            members.iter().flat_map(|member| &member.senses).map(|key| sense_of(key)).collect();
        let shared = keys.iter().filter(|(key, _)| senses.contains(&key.as_str()));
        offer(shared.map(|(_, score)| score).sum(), LinkSource::Definition);
        for link in held.predicate.links.iter().filter(|link| link.resource == "VerbNet") {
            let number = class_number(&link.predicate).unwrap_or(&link.predicate);
            let to = classes.iter().filter(|of| class_number(&of.target) == Some(number));
            to.for_each(|of| offer(THROUGH * of.score, of.source));
        }
        best
    }

    /// The predicates that LUs are likely linked to, with the classes above, whose roles they have,
    /// too; classes first.
    pub(super) fn likely(&self, of_units: &[Link]) -> Vec<&Held> {
        let mut next: Vec<(&str, &str)> = Vec::new();
        let likely = of_units.iter().filter(|link| link.score >= LIKELY);
        next.extend(likely.map(|link| (&*link.resource, &*link.target)));
        let mut places = BTreeSet::new();
        while let Some((of, name)) = next.pop() {
            let Some(place) = self.known.called(of, name) else { continue };
            let held = &self.known.held[place];
            if places.insert(place) && !held.predicate.parent.is_empty() {
                next.push((&held.resource, &held.predicate.parent));
            }
        }
        let mut held: Vec<&Held> = places.into_iter().map(|at| &self.known.held[at]).collect();
        held.sort_by_key(|of| of.kind != ResourceKind::Verbnet);
        held
    }

    /// The roles of an FE among those of predicates.
    pub(super) fn roles(&self, frame: &Frame, element: &str, held: &[&Held]) -> Vec<Link> {
        let mut links: Vec<Link> = Vec::new();
        for of in held {
            for role in &of.predicate.roles {
                let Some((score, source)) = self.of_role(frame, element, (of, role), &links) else {
                    continue;
                };
                links.push(Link {
                    resource: of.resource.clone(),
                    target: of.predicate.name.clone(),
                    number: 0,
                    role: role.name.clone(),
                    score,
                    source,
                    decisions: Vec::new(),
                });
            }
        }
        links
    }

    fn of_role(
        &self,
        frame: &Frame,
        element: &str,
        (held, role): (&Held, &crate::model::PredicateRole),
        classes: &[Link],
    ) -> Option<(f32, LinkSource)> {
        let (element, name) = (fold(element), fold(&role.name));
        let is_verbnet = held.kind == ResourceKind::Verbnet;
        let says = |link: &crate::model::PredicateLink| {
            link.resource == "FrameNet"
                && link.predicate == frame.name
                && fold(&link.role) == element
        };
        let given = self.known.of_frame(&frame.name).any(|row| {
            fold(&row.element) == element
                && match is_verbnet {
                    true => held.is_called(&row.class) && fold(&row.class_role) == name,
                    false => row.roleset == held.predicate.name && fold(&row.argument) == name,
                }
        });
        if given || role.links.iter().any(says) {
            return Some((GIVEN, LinkSource::Semlink));
        }
        let through =
            role.links.iter().filter(|link| link.resource == "VerbNet").flat_map(|link| {
                classes.iter().filter(move |of| {
                    is_or_above(&of.target, &link.predicate) && fold(&of.role) == fold(&link.role)
                })
            });
        let through = through.max_by(|a, b| a.score.total_cmp(&b.score));
        if let Some(of) = through {
            return Some((THROUGH * of.score, of.source));
        }
        (name == element).then_some((SAME_NAME, LinkSource::Name))
    }
}

/// Whether a class is the one that a link names, by name or number, or one above that.
fn is_or_above(class: &str, named: &str) -> bool {
    let number = class_number(named).unwrap_or(named);
    class_number(class).is_some_and(|of| {
        number.strip_prefix(of).is_some_and(|below| below.is_empty() || below.starts_with('-'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_is_above_its_subclasses() {
        for (class, named, is_it) in [
            ("check-35.9", "check-35.9-1", true),
            ("check-35.9", "35.9", true),
            ("check-35.9-1", "35.9", false),
            ("check-35.9", "35.91", false),
            ("check-35.9", "check", false),
        ] {
            assert_eq!(is_or_above(class, named), is_it, "{class} {named}");
        }
    }
}
