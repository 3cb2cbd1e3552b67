//! Lexicons other than FrameNet's, which stand in a store beside its releases.

use super::ReleaseId;
use super::named::named;

named! {
    /// What kind of lexicon a resource is.
    #[non_exhaustive]
    pub enum ResourceKind {
        /// A WordNet.
        Wordnet => "wordnet",
        /// VerbNet's classes.
        Verbnet => "verbnet",
        /// PropBank's rolesets.
        Propbank => "propbank",
        /// Rows that join other lexicons: SemLink, the Predicate Matrix.
        Mappings => "mappings",
    }
}

impl ResourceKind {
    /// What a message calls a lexicon of the kind.
    #[must_use]
    pub fn called(self) -> &'static str {
        match self {
            Self::Wordnet => "WordNet",
            Self::Verbnet => "VerbNet",
            Self::Propbank => "PropBank",
            Self::Mappings => "mapping of lexicons",
        }
    }
}

/// A lexicon of another kind than FrameNet's inside a store. It is read, and never edited.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resource {
    /// Its number in keys; no release has the same.
    pub id: ReleaseId,
    /// What it is.
    pub kind: ResourceKind,
    /// Its name, as in `wordnet-3.0`; unique among releases and resources of a store.
    pub name: String,
    /// Its version, as its files say it; may be empty.
    pub version: String,
    /// Language tag, as in `en`.
    pub language: String,
    /// Its licence, as its files say it: a text or an address.
    pub licence: String,
    /// File or directory it was read from, as it was named.
    pub source: String,
    /// Bytes of its files.
    pub source_bytes: u64,
    /// When it was imported, seconds since 1970 (UTC).
    pub imported: u64,
    /// What it holds.
    pub counts: ResourceCounts,
}

/// What a resource holds; zeros for what its kind has not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
pub struct ResourceCounts {
    /// Synsets of a WordNet.
    pub synsets: u64,
    /// Words, distinct by lemma and part of speech.
    pub words: u64,
    /// Pairs of a word and a synset or predicate that it is in.
    pub senses: u64,
    /// Relations between synsets, and between their words.
    pub relations: u64,
    /// Forms that no rule of inflection yields.
    pub irregular: u64,
    /// Classes of VerbNet, rolesets of PropBank.
    pub predicates: u64,
    /// Roles of predicates.
    pub roles: u64,
    /// Rows that join lexicons.
    pub mappings: u64,
}

impl ResourceCounts {
    /// What there is, each by its name.
    #[must_use]
    pub fn named(&self) -> Vec<(&'static str, u64)> {
        let all = [
            ("synsets", self.synsets),
            ("predicates", self.predicates),
            ("roles", self.roles),
            ("words", self.words),
            ("senses", self.senses),
            ("relations", self.relations),
            ("irregular forms", self.irregular),
            ("mappings", self.mappings),
        ];
        all.into_iter().filter(|(_, count)| *count > 0).collect()
    }
}
