//! VerbNet or PropBank as its reader sees it: classes and rolesets by name and word.

use std::sync::Arc;

use crate::database::{Database, Result};
use crate::lexica::wordnet_lemma;
use crate::model::{Mapping, Predicate, Resource, ResourceKind, class_number};

/// A VerbNet or a PropBank in a database. It is a handle: it holds no data and is cheap to clone.
#[derive(Clone)]
pub struct Predicates<'a> {
    database: &'a Database,
    resource: Arc<Resource>,
}

fn has_predicates(resource: &Resource) -> bool {
    matches!(resource.kind, ResourceKind::Verbnet | ResourceKind::Propbank)
}

impl Database {
    /// The VerbNet or PropBank of a name.
    ///
    /// # Errors
    /// When there is none, with the nearest name.
    pub fn predicates(&self, name: &str) -> Result<Predicates<'_>> {
        let resource = self.resource_of(name, "VerbNet or PropBank", has_predicates)?;
        Ok(Predicates { database: self, resource: Arc::new(resource) })
    }

    /// Every VerbNet and PropBank, in order of import.
    ///
    /// # Errors
    /// When the store fails.
    pub fn all_predicates(&self) -> Result<Vec<Predicates<'_>>> {
        let all = self.resources()?.into_iter().filter(has_predicates);
        Ok(all.map(|of| Predicates { database: self, resource: Arc::new(of) }).collect())
    }

    /// The rows of a resource that joins lexicons, in order.
    ///
    /// # Errors
    /// When there is none of the name, or the store fails.
    pub fn mappings(&self, name: &str) -> Result<impl Iterator<Item = Result<Mapping>> + '_> {
        let joins = |resource: &Resource| resource.kind == ResourceKind::Mappings;
        let resource = self.resource_of(name, ResourceKind::Mappings.called(), joins)?;
        let rows = self.store().mappings(resource.id)?;
        Ok(rows.map(|row| row.map_err(Into::into)))
    }
}

impl Predicates<'_> {
    /// What it is, and what it holds.
    #[must_use]
    pub fn resource(&self) -> &Resource {
        &self.resource
    }

    /// The class or roleset of a name.
    ///
    /// # Errors
    /// When the store fails or a record is damaged; so for every function here.
    pub fn predicate(&self, name: &str) -> Result<Option<Predicate>> {
        Ok(self.database.store().predicate(self.resource.id, name)?)
    }

    /// All classes or rolesets, by name.
    pub fn all(&self) -> Result<impl Iterator<Item = Result<Predicate>> + '_> {
        let rows = self.database.store().predicates(self.resource.id)?;
        Ok(rows.map(|row| row.map_err(Into::into)))
    }

    /// The predicates of what somebody writes: a name, `leave-51.2`, `abandon.01`; a class's number
    /// alone, `51.2`; or a lemma, with its part of speech or without: `abandon`, `abandon.v`. Reads
    /// all of them, unless a name is written.
    pub fn written(&self, word: &str) -> Result<Vec<Predicate>> {
        if let Some(named) = self.predicate(word)? {
            return Ok(vec![named]);
        }
        let folded = wordnet_lemma(word);
        let (lemma, pos) = folded.rsplit_once('.').unwrap_or((&folded, ""));
        let is_member = |of: &Predicate| {
            of.members.iter().any(|member| {
                let is_of = wordnet_lemma(&member.lemma);
                is_of == folded || is_of == lemma && member.pos == pos
            })
        };
        let is_meant = |of: &Predicate| class_number(&of.name) == Some(word) || is_member(of);
        let all = self.all()?;
        all.filter(|row| row.as_ref().map_or(true, is_meant)).collect()
    }
}
