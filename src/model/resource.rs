//! Lexicons other than FrameNet's, which stand in a store beside its releases.

use super::ReleaseId;
use super::named::named;

named! {
    /// What kind of lexicon a resource is.
    #[non_exhaustive]
    pub enum ResourceKind {
        /// A WordNet.
        Wordnet => "wordnet",
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
    pub counts: WordnetCounts,
}

/// What a WordNet holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
pub struct WordnetCounts {
    /// Synsets.
    pub synsets: u64,
    /// Words, distinct by lemma and part of speech.
    pub words: u64,
    /// Pairs of a word and a synset that it is in.
    pub senses: u64,
    /// Relations between synsets, and between their words.
    pub relations: u64,
    /// Forms that no rule of inflection yields.
    pub irregular: u64,
}
