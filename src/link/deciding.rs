//! What people decide of links.

use super::{LinkError, Result};
use crate::database::{Database, Write};
use crate::model::{
    FrameId, Link, LinkDecision, LinkSource, LinkSubject, Links, ReleaseId, ResourceKind, Reviewed,
};

/// What becomes of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkFate {
    /// It holds. One that was not computed is added.
    Accept,
    /// It does not hold.
    Reject,
    /// The last decision on it is taken back.
    Undo,
}

/// Where a link is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkPlace {
    /// The release.
    pub release: ReleaseId,
    /// The frame.
    pub frame: FrameId,
    /// What is linked.
    pub of: LinkSubject,
    /// A synset's id, a predicate's name, or that with a role, as in `leave-51.2:Agent`.
    pub target: String,
    /// The resource, where several have the target.
    pub resource: Option<String>,
}

impl Database {
    /// Decides on a link, and records who did, when and why. Gives the link as it is then.
    ///
    /// # Errors
    /// When no resource has the target, there is no decision to take back, or the store cannot be
    /// written.
    pub fn decide_link(&self, place: &LinkPlace, fate: LinkFate, by: Reviewed) -> Result<Link> {
        let LinkPlace { release, frame, of, ref target, .. } = *place;
        let (name, role) = target.split_once(':').unwrap_or((target, ""));
        let there = self.store().stored_links(release, frame, of)?;
        let none = Links { frame, of, links: Vec::new(), made_of: [0; 16], time: by.time };
        let mut row = there.unwrap_or(none);
        let is_it = |link: &&(usize, &Link)| {
            let link = link.1;
            let is_named = match link.role.is_empty() {
                true => link.target == *target,
                false => (&*link.target, &*link.role) == (name, role),
            };
            is_named && place.resource.as_ref().is_none_or(|resource| link.resource == *resource)
        };
        let all: Vec<(usize, &Link)> = row.links.iter().enumerate().collect();
        let named: Vec<(usize, &Link)> = all.iter().filter(is_it).copied().collect();
        let at = match named[..] {
            [(at, _)] => at,
            [] if fate == LinkFate::Undo => {
                return Err(LinkError::Undecided { target: target.clone() });
            }
            [] => {
                let new = self.new_link(place, (name, role))?;
                // A synset may be named by another of its numbers.
                let at = row.links.iter().position(|link| link.is_same_place(&new));
                at.unwrap_or_else(|| {
                    row.links.push(new);
                    row.links.len() - 1
                })
            }
            _ => {
                let places = named.iter().map(|(_, link)| link.place()).collect();
                return Err(LinkError::Several { target: target.clone(), places });
            }
        };
        let link = &mut row.links[at];
        match fate {
            LinkFate::Undo => {
                let standing = link.decisions.iter_mut().rev().find(|of| of.undone.is_none());
                let Some(standing) = standing else {
                    return Err(LinkError::Undecided { target: target.clone() });
                };
                standing.undone = Some(by);
            }
            LinkFate::Accept | LinkFate::Reject => {
                let accepted = fate == LinkFate::Accept;
                link.decisions.push(LinkDecision { accepted, by, undone: None });
            }
        }
        let link = link.clone();
        self.write(release, &Write { links: vec![row], is_of_person: true, ..Write::default() })?;
        Ok(link)
    }

    /// A link that somebody adds, to what a resource has.
    fn new_link(&self, place: &LinkPlace, (name, role): (&str, &str)) -> Result<Link> {
        for resource in self.resources()? {
            if place.resource.as_ref().is_some_and(|named| *named != resource.name) {
                continue;
            }
            let of_lu = matches!(place.of, LinkSubject::LexUnit(_));
            let (target, number, role) = match resource.kind {
                // An LU has senses, classes and rolesets, and an FE has roles.
                _ if of_lu != role.is_empty() => (None, 0, ""),
                ResourceKind::Wordnet => {
                    let synset = self.wordnet(&resource.name)?.synset_called(&place.target)?;
                    let number = synset.as_ref().map_or(0, |synset| synset.id.0);
                    (synset.map(|synset| synset.written), number, "")
                }
                ResourceKind::Verbnet | ResourceKind::Propbank => {
                    let predicate = self.predicates(&resource.name)?.predicate(name)?;
                    let has_role = |of: &crate::model::Predicate| {
                        role.is_empty() || of.roles.iter().any(|it| it.name == role)
                    };
                    (predicate.filter(has_role).map(|of| of.name), 0, role)
                }
                ResourceKind::Mappings => (None, 0, ""),
            };
            if let Some(target) = target {
                return Ok(Link {
                    resource: resource.name,
                    target,
                    number,
                    role: role.to_owned(),
                    score: 1.0,
                    source: LinkSource::User,
                    decisions: Vec::new(),
                });
            }
        }
        Err(LinkError::NoTarget { target: place.target.clone() })
    }
}
