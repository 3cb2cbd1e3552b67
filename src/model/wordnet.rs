//! WordNet as plain types: synsets, words and irregular forms.
//!
//! A *synset* is a set of words that can mean the same. Its relations are those of the Global
//! WordNet Association's formats: `hypernym`, `similar`, `derivation`. A relation holds between
//! synsets, or between one word of each.

use super::named::named;
use super::{Pos, SynsetId};

named! {
    /// The part of speech of a synset or word, by WordNet's letter.
    pub enum WordClass {
        /// Noun.
        Noun => "n",
        /// Verb.
        Verb => "v",
        /// Adjective, satellites of others among them.
        Adjective => "a",
        /// Adverb.
        Adverb => "r",
        /// Whatever else a WordNet has: phrases, conjunctions, adpositions.
        Other => "x",
    }
}

impl WordClass {
    /// The class that a letter of WordNet's formats means.
    #[must_use]
    pub fn of_letter(letter: &str) -> Option<Self> {
        match letter {
            "s" => Some(Self::Adjective),
            "c" | "p" | "t" | "u" => Some(Self::Other),
            letter => Self::parse(letter),
        }
    }

    /// The class of an LU's part of speech; `None` where WordNet has no such words.
    #[must_use]
    pub fn of_pos(pos: Pos) -> Option<Self> {
        match pos {
            Pos::Noun => Some(Self::Noun),
            Pos::Verb => Some(Self::Verb),
            Pos::Adjective => Some(Self::Adjective),
            Pos::Adverb => Some(Self::Adverb),
            _ => None,
        }
    }

    /// An LU's part of speech, where the class has one.
    #[must_use]
    pub fn pos(self) -> Option<Pos> {
        match self {
            Self::Noun => Some(Pos::Noun),
            Self::Verb => Some(Pos::Verb),
            Self::Adjective => Some(Pos::Adjective),
            Self::Adverb => Some(Pos::Adverb),
            Self::Other => None,
        }
    }

    /// The class of that number, which keys hold.
    #[must_use]
    pub fn of_number(number: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|class| *class as u8 == number)
    }
}

/// Words that can mean the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Synset {
    /// Its number in the store.
    pub id: SynsetId,
    /// Its id as its files write it: `02084071-n`.
    pub written: String,
    /// Its part of speech.
    pub class: WordClass,
    /// Whether it is an adjective's synset beside a head synset, which its `similar` names.
    pub is_satellite: bool,
    /// Its number in the Collaborative Interlingual Index, as in `i46360`.
    pub ili: Option<String>,
    /// The lexicographer's file that it comes from, as in `noun.animal`; may be empty.
    pub topic: String,
    /// Its words as they are written, in order.
    pub members: Vec<String>,
    /// The members' sense keys, in the same order: `check%2:31:00::`, or the sense's id where a
    /// file has no keys.
    pub keys: Vec<String>,
    /// Its definitions.
    pub definitions: Vec<String>,
    /// Sentences and phrases that show its words.
    pub examples: Vec<String>,
    /// What it and its words have to do with others.
    pub relations: Vec<SynsetRelation>,
}

/// What a synset, or a word of it, has to do with another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SynsetRelation {
    /// Its kind, as in `hypernym`.
    pub kind: String,
    /// The other synset.
    pub target: SynsetId,
    /// The word of this synset, from 1, and of the other; zeros where all of both are meant.
    pub words: (u16, u16),
}

/// A word with the synsets that it is in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    /// Its part of speech.
    pub class: WordClass,
    /// Its lemma in small letters, with spaces.
    pub lemma: String,
    /// Its synsets, the most frequent sense first.
    pub senses: Vec<SynsetId>,
}

/// A form that no rule of inflection yields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IrregularForm {
    /// Its part of speech.
    pub class: WordClass,
    /// The form, in small letters.
    pub form: String,
    /// The lemmas that it may be of.
    pub lemmas: Vec<String>,
}
