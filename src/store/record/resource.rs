//! The record of a lexicon that stands beside FrameNet's releases.

use super::ids::one_of;
use crate::model::{ReleaseId, Resource, ResourceCounts, ResourceKind};

coded! {
    ResourceKind as u8: |kind| *kind as u8, |code| one_of(&ResourceKind::ALL, code, "kind of lexicon");
}

fields! {
    Resource {
        kind, name, version, language, licence, source, source_bytes, imported, counts;
        absent id: ReleaseId(0)
    }
    ResourceCounts { synsets, words, senses, relations, irregular, predicates, roles, mappings }
}

/// A record with something in every field.
#[cfg(test)]
pub(super) fn resource() -> Resource {
    let counts = ResourceCounts {
        synsets: 3,
        words: 5,
        senses: 6,
        relations: 4,
        irregular: 1,
        predicates: 8,
        roles: 9,
        mappings: 2,
    };
    Resource {
        id: ReleaseId(4),
        kind: ResourceKind::Wordnet,
        name: "wordnet-3.0".to_owned(),
        version: "3.0".to_owned(),
        language: "en".to_owned(),
        licence: "as it says".to_owned(),
        source: "dict".to_owned(),
        source_bytes: 7_000,
        imported: 1_700_000_000,
        counts,
    }
}
