//! Links to other lexicons, as commands print them.

use std::collections::HashMap;

use fnstore::database::Database;
use fnstore::internals::WithStore as _;
use fnstore::model::{LexUnit, Link, LinkSubject, ReleaseId, ResourceKind, SynsetId};
use serde::Serialize;

/// A link as JSON, as LUs list theirs.
#[derive(Debug, Serialize)]
pub(crate) struct LinkRecord {
    /// Name of the other lexicon.
    pub(crate) resource: String,
    /// A synset's id, or the name of a class or roleset.
    pub(crate) target: String,
    /// The role of the class or roleset; null where it itself is meant.
    pub(crate) role: Option<String>,
    /// How likely it is.
    pub(crate) score: f32,
    /// JSON `{"enum": ["semlink", "name", "definition", "model", "user"]}`.
    pub(crate) source: &'static str,
    /// What was decided of it; null where nobody has, or it was undone.
    /// JSON `{"enum": ["accept", "reject", null]}`.
    pub(crate) decision: Option<&'static str>,
}

impl LinkRecord {
    pub(crate) fn new(link: &Link) -> Self {
        let decided = |accepted| if accepted { "accept" } else { "reject" };
        Self {
            resource: link.resource.clone(),
            target: link.target.clone(),
            role: Some(link.role.clone()).filter(|role| !role.is_empty()),
            score: link.score,
            source: link.source.as_str(),
            decision: link.standing().map(|standing| decided(standing.accepted)),
        }
    }

    /// A link in a line: `00001064-v of wordnet-3.0, 0.91 by definition`.
    pub(crate) fn line(&self) -> String {
        let role = self.role.as_ref().map_or_else(String::new, |role| format!(":{role}"));
        let said = self.decision.map_or_else(
            || format!("{:.2} by {}", self.score, self.source),
            |decision| format!("{decision}ed"),
        );
        format!("{}{role} of {}, {said}", self.target, self.resource)
    }
}

/// The links of an LU that stand.
pub(crate) fn links_of(
    database: &Database,
    release: ReleaseId,
    lu: &LexUnit,
) -> anyhow::Result<Vec<LinkRecord>> {
    let links = database.store().links(release, lu.frame, LinkSubject::LexUnit(lu.id))?;
    let links = links.into_iter().flat_map(|row| row.links).filter(Link::stands);
    Ok(links.map(|link| LinkRecord::new(&link)).collect())
}

/// What the other ends of links say.
pub(crate) struct Glosses<'d> {
    database: &'d Database,
    resources: HashMap<String, (ReleaseId, ResourceKind)>,
}

impl<'d> Glosses<'d> {
    pub(crate) fn new(database: &'d Database) -> anyhow::Result<Self> {
        let resources = database.resources()?.into_iter();
        let resources = resources.map(|of| (of.name, (of.id, of.kind))).collect();
        Ok(Self { database, resources })
    }

    /// A synset's words and gloss, the words of a class, what a roleset or role means.
    pub(crate) fn of(&self, link: &Link) -> anyhow::Result<String> {
        let Some((id, kind)) = self.resources.get(&link.resource) else { return Ok(String::new()) };
        let store = self.database.store();
        if *kind == ResourceKind::Wordnet {
            let synset = store.synset(*id, SynsetId(link.number))?;
            let synset = synset.filter(|synset| synset.written == link.target);
            return Ok(synset.map_or_else(String::new, |synset| {
                format!("{}: {}", synset.members.join(", "), synset.definitions.join("; "))
            }));
        }
        let Some(predicate) = store.predicate(*id, &link.target)? else { return Ok(String::new()) };
        if !link.role.is_empty() {
            let role = predicate.roles.into_iter().find(|role| role.name == link.role);
            return Ok(role.map_or_else(String::new, |role| role.description));
        }
        if !predicate.definition.is_empty() {
            return Ok(predicate.definition);
        }
        let members: Vec<String> = predicate.members.into_iter().map(|of| of.lemma).collect();
        Ok(members.join(", "))
    }
}
