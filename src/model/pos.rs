//! Parts of speech, as FrameNet names them.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The part of speech of a lexical unit: the `POS` attribute of FrameNet's XML, and the part of a
/// lexical unit's name after the dot (`think.v`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Pos {
    /// Verb.
    V,
    /// Noun.
    N,
    /// Adjective.
    A,
    /// Adverb.
    Adv,
    /// Preposition.
    Prep,
    /// Numeral.
    Num,
    /// Coordinating conjunction.
    C,
    /// Interjection.
    Intj,
    /// Article or other determiner.
    Art,
    /// Pronoun.
    Pron,
    /// Subordinating conjunction.
    Scon,
    /// Idiom (from FrameNet 1.6 on).
    Idio,
}

impl Pos {
    /// Every part of speech, the frequent ones first.
    pub const ALL: [Self; 12] = [
        Self::V,
        Self::N,
        Self::A,
        Self::Adv,
        Self::Prep,
        Self::Num,
        Self::C,
        Self::Intj,
        Self::Art,
        Self::Pron,
        Self::Scon,
        Self::Idio,
    ];

    /// The suffix of a lexical unit's name, without the dot.
    #[must_use]
    pub fn suffix(self) -> &'static str {
        match self {
            Self::V => "v",
            Self::N => "n",
            Self::A => "a",
            Self::Adv => "adv",
            Self::Prep => "prep",
            Self::Num => "num",
            Self::C => "c",
            Self::Intj => "intj",
            Self::Art => "art",
            Self::Pron => "pron",
            Self::Scon => "scon",
            Self::Idio => "idio",
        }
    }
}

impl fmt::Display for Pos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.suffix())
    }
}

/// A name that is no part of speech.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "cannot read part of speech `{name}`: expected one of V, N, A, ADV, PREP, NUM, C, INTJ, ART, PRON, SCON, IDIO"
)]
pub struct UnknownPos {
    /// The name as it was given.
    pub name: String,
}

impl FromStr for Pos {
    type Err = UnknownPos;

    /// Reads the XML attribute (`ADV`) or the suffix of a name (`adv`).
    fn from_str(name: &str) -> Result<Self, UnknownPos> {
        Self::ALL
            .into_iter()
            .find(|pos| pos.suffix().eq_ignore_ascii_case(name))
            .ok_or_else(|| UnknownPos { name: name.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_of_speech_reads_back_from_its_suffix() {
        for pos in Pos::ALL {
            assert_eq!(pos.to_string().parse(), Ok(pos));
            assert_eq!(pos.suffix().to_uppercase().parse(), Ok(pos));
        }
    }

    #[test]
    fn an_unknown_part_of_speech_is_refused_by_name() {
        let error = "VERB".parse::<Pos>().unwrap_err();
        assert!(error.to_string().contains("`VERB`"));
    }
}
