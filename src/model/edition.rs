//! A named selection of annotation sets, frozen: what a publication or an experiment stands on.

use super::{AnnotationSetId, KeptSplitList, Promise, hexadecimal};

/// Annotation sets of a release under a name, as they were when it was made.
#[derive(Debug, Clone, PartialEq)]
pub struct Edition {
    /// Its name: any text without control characters.
    pub name: String,
    /// The query that chose the sets, or the candidates of a promise.
    pub expression: String,
    /// When it was made, in seconds since 1970 (UTC).
    pub created: u64,
    /// The store's revision that it was made of.
    pub revision: u64,
    /// Distinct sentences of the sets.
    pub sentences: u64,
    /// Distinct (Frame, Trigger) pairs, triggers case folded.
    pub pairs: u64,
    /// Distinct pairs of a frame and the lemma and part of speech of an LU.
    pub lemma_pairs: u64,
    /// The split list that the query was read under.
    pub split_list: Option<KeptSplitList>,
    /// Its sets, in order of id.
    pub sets: Vec<FrozenSet>,
    /// What it promises of its sets.
    pub promise: Option<Promise>,
}

/// A set of an edition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrozenSet {
    /// The set.
    pub set: AnnotationSetId,
    /// First 8 bytes of a BLAKE3 hash of its content, big-endian.
    pub content: u64,
}

impl Edition {
    /// BLAKE3 over the ids of the sets in order, each as eight big-endian bytes. Two editions with
    /// one hash hold the same sets.
    #[must_use]
    pub fn hash(&self) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new();
        for frozen in &self.sets {
            hasher.update(&frozen.set.bits().to_be_bytes());
        }
        *hasher.finalize().as_bytes()
    }

    /// The hash as 64 hexadecimal digits.
    #[must_use]
    pub fn written_hash(&self) -> String {
        hexadecimal(&self.hash())
    }

    /// Whether it holds a set, or might by its promise.
    #[must_use]
    pub fn knows(&self, set: AnnotationSetId) -> bool {
        let is_candidate = || self.promise.as_ref().is_some_and(|it| it.has_candidate(set));
        self.place_of(set).is_some() || is_candidate()
    }

    /// The sets that it holds; before judgements give it any, the candidates of its promise.
    pub fn main_sets(&self) -> impl Iterator<Item = AnnotationSetId> {
        let is_empty = self.sets.is_empty();
        let promise = self.promise.iter().filter(move |_| is_empty);
        let candidates = promise.flat_map(Promise::candidates).map(|(_, candidate)| candidate.set);
        self.sets.iter().map(|frozen| frozen.set).chain(candidates)
    }

    /// Where a set stands in the edition; `None` if the edition does not hold it.
    #[must_use]
    pub fn place_of(&self, set: AnnotationSetId) -> Option<usize> {
        self.sets.binary_search_by_key(&set, |frozen| frozen.set).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::IdSpace;

    #[test]
    fn the_hash_is_of_the_ids_alone_and_a_set_is_found_by_its_id() {
        let id = |number| AnnotationSetId::new(IdSpace::Generated, number);
        let edition = |content| Edition {
            name: "a".to_owned(),
            expression: String::new(),
            created: 0,
            revision: 1,
            sentences: 2,
            pairs: 2,
            lemma_pairs: 1,
            split_list: None,
            sets: vec![FrozenSet { set: id(3), content }, FrozenSet { set: id(7), content: 1 }],
            promise: None,
        };
        let (one, other) = (edition(5), edition(6));
        assert_eq!(one.hash(), other.hash());
        let bytes = [id(3).bits().to_be_bytes(), id(7).bits().to_be_bytes()].concat();
        assert_eq!(one.hash(), *blake3::hash(&bytes).as_bytes());
        assert_eq!((one.place_of(id(7)), one.place_of(id(5))), (Some(1), None));
    }
}
