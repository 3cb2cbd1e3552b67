//! What VerbNet, PropBank and the rows that join lexicons say, held by word and frame.

use std::collections::HashMap;

use super::Result;
use crate::database::Database;
use crate::lexica::wordnet_lemma;
use crate::model::{Mapping, Predicate, ResourceKind, class_number, is_same_language};

/// A predicate with its resource.
#[derive(Debug)]
pub(super) struct Held {
    pub(super) resource: String,
    pub(super) kind: ResourceKind,
    pub(super) predicate: Predicate,
}

impl Held {
    /// Whether a link of another lexicon leads to it: by its name or a class's number.
    pub(super) fn is_called(&self, name: &str) -> bool {
        self.predicate.name == name
            || class_number(&self.predicate.name).is_some_and(|it| Some(it) == class_number(name))
    }
}

/// All of it.
#[derive(Debug, Default)]
pub(super) struct Known {
    pub(super) held: Vec<Held>,
    /// Places among `held`, by lemma and letter of the part of speech.
    by_word: HashMap<(String, String), Vec<usize>>,
    /// Places among `held`, by resource and name.
    by_name: HashMap<(String, String), usize>,
    mappings: Vec<Mapping>,
    /// Places among `mappings`, by frame.
    by_frame: HashMap<String, Vec<usize>>,
    identities: Vec<String>,
}

impl Known {
    pub(super) fn read(database: &Database, language: &str) -> Result<Self> {
        let mut known = Self::default();
        for resource in database.resources()? {
            if !is_same_language(&resource.language, language) {
                continue;
            }
            let identity = format!("{} {}", resource.name, resource.imported);
            match resource.kind {
                ResourceKind::Verbnet | ResourceKind::Propbank => {
                    for predicate in database.predicates(&resource.name)?.all()? {
                        let (name, kind) = (resource.name.clone(), resource.kind);
                        let predicate = predicate?;
                        known.held.push(Held { resource: name, kind, predicate });
                    }
                }
                ResourceKind::Mappings => {
                    for mapping in database.mappings(&resource.name)? {
                        let mapping = mapping?;
                        if !mapping.frame.is_empty() {
                            known.mappings.push(mapping);
                        }
                    }
                }
                ResourceKind::Wordnet => continue,
            }
            known.identities.push(identity);
        }
        for (at, held) in known.held.iter().enumerate() {
            let name = (held.resource.clone(), held.predicate.name.clone());
            known.by_name.insert(name, at);
            for member in &held.predicate.members {
                let word = (wordnet_lemma(&member.lemma), member.pos.clone());
                let places = known.by_word.entry(word).or_default();
                if places.last() != Some(&at) {
                    places.push(at);
                }
            }
        }
        for (at, mapping) in known.mappings.iter().enumerate() {
            known.by_frame.entry(mapping.frame.clone()).or_default().push(at);
        }
        Ok(known)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.identities.is_empty()
    }

    /// The resources, each with the time of its import.
    pub(super) fn identities(&self) -> &[String] {
        &self.identities
    }

    /// The place among `held` of the predicate of a name.
    pub(super) fn called(&self, resource: &str, name: &str) -> Option<usize> {
        self.by_name.get(&(resource.to_owned(), name.to_owned())).copied()
    }

    /// The predicates that have a word.
    pub(super) fn of_word(&self, lemma: &str, pos: &str) -> Vec<&Held> {
        let word = (lemma.to_owned(), pos.to_owned());
        let places = self.by_word.get(&word).map_or(&[][..], Vec::as_slice);
        places.iter().map(|at| &self.held[*at]).collect()
    }

    /// The rows of a frame.
    pub(super) fn of_frame<'k>(
        &'k self,
        frame: &str,
    ) -> impl Iterator<Item = &'k Mapping> + use<'k> {
        let places = self.by_frame.get(frame).map_or(&[][..], Vec::as_slice);
        places.iter().map(|at| &self.mappings[*at])
    }
}

/// A sense key without what follows the sense's number: of WordNet's `check%2:31:00::`.
pub(super) fn sense_of(key: &str) -> &str {
    let end = key.match_indices(':').nth(2).map_or(key.len(), |(at, _)| at);
    &key[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sense_key_ends_at_the_number_of_its_sense() {
        for key in ["check%2:31:00", "check%2:31:00::", "check%2:31:00:head:00"] {
            assert_eq!(sense_of(key), "check%2:31:00");
        }
    }
}
