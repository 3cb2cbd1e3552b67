//! Lexical units and their valence tables.

use std::collections::BTreeSet;
use std::fmt;

use serde::Serialize;

use super::{AnnotationSetId, Creation, FrameId, LuId, SemTypeId};

/// A lexical unit: a lemma in one of its senses, which evokes a frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LexUnit {
    /// Number; FrameNet's, or of the store's own range for proposed ones.
    pub id: LuId,
    /// The frame it evokes.
    pub frame: FrameId,
    /// Name, `lemma.pos`, as in `confirm.v`.
    pub name: String,
    /// Part of speech.
    pub pos: Pos,
    /// Lexicographic status, as in `Finished_Initial`, `Problem` or [`PROPOSED`].
    pub status: String,
    /// Definition, byte-exact.
    pub definition: String,
    /// The words of the lemma.
    pub lexemes: Vec<Lexeme>,
    /// Name of the FE that the LU itself expresses.
    pub incorporated_fe: Option<String>,
    /// Semantic types.
    pub sem_types: Vec<SemTypeId>,
    /// FrameNet's number of the lemma, when given.
    pub lemma_id: Option<u32>,
    /// Author and date.
    pub created: Creation,
    /// FrameNet's own counts of sentences.
    pub sentence_count: SentenceCount,
    /// Number of annotated sentences by the LU file's own count.
    pub total_annotated: u32,
    /// Names of the subcorpora of the LU file, in order, empty ones too.
    pub subcorpora: Vec<String>,
    /// How the LU realises its FEs.
    pub valences: Valences,
    /// Where the release names it.
    pub listing: Listing,
}

impl LexUnit {
    /// An LU that is to be added to a frame, as in `look over.v`; a transaction numbers it. Its
    /// lexemes are the words of its name.
    #[must_use]
    pub fn new(frame: FrameId, name: &str) -> Self {
        let lu = Self::named(frame, LuId(0), name);
        let words = (1..).zip(lu.lemma().split_whitespace());
        let lexemes = words.map(|(order, word)| Lexeme {
            name: word.to_owned(),
            pos: lu.pos,
            order: Some(order),
            headword: None,
            break_before: None,
        });
        Self { lexemes: lexemes.collect(), status: CREATED.to_owned(), ..lu }
    }

    /// An LU of which nothing is known but its name, as in `confirm.v`.
    #[must_use]
    pub fn named(frame: FrameId, id: LuId, name: &str) -> Self {
        Self {
            id,
            frame,
            name: name.to_owned(),
            pos: Pos::of_lu_name(name),
            status: String::new(),
            definition: String::new(),
            lexemes: Vec::new(),
            incorporated_fe: None,
            sem_types: Vec::new(),
            lemma_id: None,
            created: Creation::default(),
            sentence_count: SentenceCount::default(),
            total_annotated: 0,
            subcorpora: Vec::new(),
            valences: Valences::default(),
            listing: Listing::default(),
        }
    }

    /// The name without its part of speech.
    #[must_use]
    pub fn lemma(&self) -> &str {
        Self::lemma_of(&self.name)
    }

    /// The lemma in an LU's name.
    #[must_use]
    pub fn lemma_of(name: &str) -> &str {
        name.rsplit_once('.').map_or(name, |(lemma, _)| lemma)
    }
}

/// Status of an LU that a person has just added.
pub const CREATED: &str = "Created";

/// Status of an LU that expansion proposes.
pub const PROPOSED: &str = "Proposed";

/// Status of an LU that an expansion proposed and a reviewer accepted.
pub const ACCEPTED: &str = "Accepted";

/// Where a release names an LU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Listing {
    /// In its frame's file.
    pub frame_file: bool,
    /// By a file of its own under `lu/`.
    pub lu_file: bool,
}

/// FrameNet's counts of an LU's sentences.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SentenceCount {
    /// Annotated ones.
    pub annotated: u32,
    /// All that were extracted.
    pub total: u32,
}

/// One word of an LU's lemma.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Lexeme {
    /// The word.
    pub name: String,
    /// Its part of speech.
    pub pos: Pos,
    /// Position in the lemma, from 1, when given.
    pub order: Option<u32>,
    /// Whether it heads the lemma, when given.
    pub headword: Option<bool>,
    /// Whether other words may stand before it, when given.
    pub break_before: Option<bool>,
}

/// Part of speech, in JSON `{"type": "string"}`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs, reason = "FrameNet's own list")]
pub enum Pos {
    Noun,
    Verb,
    Adjective,
    Adverb,
    Pronoun,
    Preposition,
    Number,
    Conjunction,
    Interjection,
    Article,
    SubordinatingConjunction,
    CoordinatingConjunction,
    AdverbialParticle,
    Idiom,
    /// Any other text.
    Other,
}

impl Pos {
    const NAMES: [(Self, &'static str); 14] = [
        (Self::Noun, "N"),
        (Self::Verb, "V"),
        (Self::Adjective, "A"),
        (Self::Adverb, "ADV"),
        (Self::Pronoun, "PRON"),
        (Self::Preposition, "PREP"),
        (Self::Number, "NUM"),
        (Self::Conjunction, "C"),
        (Self::Interjection, "INTJ"),
        (Self::Article, "ART"),
        (Self::SubordinatingConjunction, "SCON"),
        (Self::CoordinatingConjunction, "CCON"),
        (Self::AdverbialParticle, "AVP"),
        (Self::Idiom, "IDIO"),
    ];

    /// All spellings.
    pub fn names() -> impl Iterator<Item = &'static str> {
        Self::NAMES.iter().map(|(_, name)| *name).chain([Self::Other.as_str()])
    }

    /// FrameNet's spelling; `X` for [`Pos::Other`].
    #[must_use]
    pub fn as_str(self) -> &'static str {
        Self::NAMES.iter().find(|(pos, _)| *pos == self).map_or("X", |(_, name)| name)
    }

    /// Reads FrameNet's spelling, in either case (LU names write it small).
    #[must_use]
    pub fn parse(text: &str) -> Self {
        Self::NAMES
            .iter()
            .find(|(_, name)| name.eq_ignore_ascii_case(text))
            .map_or(Self::Other, |(pos, _)| *pos)
    }

    /// The part of speech at the end of an LU name.
    #[must_use]
    pub fn of_lu_name(name: &str) -> Self {
        name.rsplit_once('.').map_or(Self::Other, |(_, pos)| Self::parse(pos))
    }
}

impl Serialize for Pos {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.as_str())
    }
}

impl fmt::Display for Pos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The valence tables of an LU file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Valences {
    /// Verbs or other words that govern the LU.
    pub governors: Vec<Governor>,
    /// Realisations of one FE at a time.
    pub realizations: Vec<FeRealization>,
    /// Realisations of the FEs of a sentence together.
    pub groups: Vec<FeRealization>,
}

impl Valences {
    /// Whether there is nothing in them.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.governors.is_empty() && self.realizations.is_empty() && self.groups.is_empty()
    }

    /// Every set that the tables name, once, in order of id.
    #[must_use]
    pub fn sets(&self) -> BTreeSet<AnnotationSetId> {
        let patterns = self.realizations.iter().chain(&self.groups).flat_map(|row| &row.patterns);
        let of_patterns = patterns.flat_map(|pattern| &pattern.sets);
        let of_governors = self.governors.iter().flat_map(|governor| &governor.sets);
        of_patterns.chain(of_governors).copied().collect()
    }

    /// Gives every set that the table names another id.
    pub fn rename_sets(&mut self, mut name: impl FnMut(AnnotationSetId) -> AnnotationSetId) {
        let rows = self.realizations.iter_mut().chain(&mut self.groups);
        let patterns = rows.flat_map(|row| &mut row.patterns);
        let of_patterns = patterns.flat_map(|pattern| &mut pattern.sets);
        let of_governors = self.governors.iter_mut().flat_map(|governor| &mut governor.sets);
        for set in of_patterns.chain(of_governors) {
            *set = name(*set);
        }
    }

    /// Leaves of the sets that the tables name those for which `keep` holds. The totals stay: they
    /// count what the release's makers counted.
    pub fn retain_sets(&mut self, mut keep: impl FnMut(AnnotationSetId) -> bool) {
        for governor in &mut self.governors {
            governor.sets.retain(|set| keep(*set));
        }
        let rows = self.realizations.iter_mut().chain(&mut self.groups);
        for pattern in rows.flat_map(|row| &mut row.patterns) {
            pattern.sets.retain(|set| keep(*set));
        }
    }
}

/// A word that governs an LU in some annotation sets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Governor {
    /// FrameNet's type, `Sup` or `Gov`.
    pub kind: String,
    /// The governing lemma.
    pub lemma: String,
    /// Ids of the sets that show it.
    pub sets: Vec<AnnotationSetId>,
}

/// The patterns that realise one FE, or one group of FEs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeRealization {
    /// FE names; one for a single FE.
    pub elements: Vec<String>,
    /// FrameNet's own count.
    pub total: u32,
    /// The patterns.
    pub patterns: Vec<ValencePattern>,
}

/// A valence pattern with the sets that show it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValencePattern {
    /// FrameNet's own count.
    pub total: u32,
    /// Its units.
    pub units: Vec<ValenceUnit>,
    /// The sets that show it.
    pub sets: Vec<AnnotationSetId>,
}

/// An FE with the phrase type and grammatical function that realise it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ValenceUnit {
    /// FE name.
    pub fe: String,
    /// Phrase type, or the kind of null instantiation.
    pub pt: String,
    /// Grammatical function; empty for null instantiations.
    pub gf: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_speech_read_in_either_case() {
        assert_eq!(Pos::parse("scon"), Pos::SubordinatingConjunction);
        assert_eq!(Pos::of_lu_name("a.m..adv"), Pos::Adverb);
        assert_eq!(Pos::of_lu_name("nothing"), Pos::Other);
    }
}
