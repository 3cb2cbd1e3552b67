//! Identifiers.
//!
//! FrameNet's numbers are kept. Sentence and annotation-set numbers are not unique inside a
//! release: 1.5 reuses 846 sentence and 1,625 frame-set numbers between `lu/` and `fulltext/`. So
//! those two carry the folder they come from in their top byte; see [`IdSpace`].

use std::fmt;

use super::NumberKind;

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident($int:ty);)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
        pub struct $name(pub $int);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.0, f)
            }
        }
    )*};
}

ids! {
    /// A release inside one store; given by the store, in order of import.
    ReleaseId(u16);
    /// A frame, FrameNet's number.
    FrameId(u32);
    /// A frame element, FrameNet's number.
    FeId(u32);
    /// A lexical unit: FrameNet's number, or one of the store's own range ([`OWN_RANGE`]).
    LuId(u32);
    /// A semantic type, FrameNet's number.
    SemTypeId(u32);
    /// A frame relation, FrameNet's number.
    RelationId(u32);
    /// A corpus, FrameNet's number.
    CorpusId(u32);
    /// A document, FrameNet's number.
    DocumentId(u32);
    /// A synset of a WordNet.
    SynsetId(u32);
    /// A recipe of generation; given by the store, in order of first use.
    #[derive(Default)]
    RecipeId(u32);
}

/// First of the numbers that the store gives to LUs and frames of its own (top bit set);
/// FrameNet's numbers lie below it.
pub const OWN_RANGE: u32 = 0x8000_0000;

/// Most numbers that a store counts out.
pub const MOST_COUNTED: u32 = COUNTED - 1;

/// Numbers that a store counts out to what people add lie this near to the beginning of its range.
/// Those of proposed LUs and of span-labelled data are hashes, and lie behind them.
const COUNTED: u32 = 1 << 24;

/// Whether a number lies where a store counts out numbers to what people add.
///
/// Stores of earlier builds have one hashed number in 128 there; `Store::has_counted` asks how far
/// a store has counted.
#[must_use]
pub fn is_counted(number: u32) -> bool {
    (OWN_RANGE..OWN_RANGE + COUNTED).contains(&number)
}

/// The number of the store's own range for a hash: the same for the same hash, and none of those
/// that are counted out.
#[must_use]
pub fn hashed_number(hash: u32) -> u32 {
    let number = OWN_RANGE | hash;
    if is_counted(number) { number + COUNTED } else { number }
}

/// Where a sentence or an annotation set comes from; the top byte of its id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum IdSpace {
    /// A file of `lu/`.
    Exemplar = 0,
    /// A file of `fulltext/`.
    FullText = 1,
    /// Imported from elsewhere, or made by a user.
    Imported = 2,
    /// Written by expansion.
    Generated = 3,
}

const LOW_BITS: u32 = 56;
const LOW_MASK: u64 = (1 << LOW_BITS) - 1;

macro_rules! tagged_ids {
    ($($(#[$doc:meta])* $name:ident($kind:expr);)*) => {$(
        $(#[$doc])*
        ///
        /// The top byte is an [`IdSpace`], the low 56 bits the number inside it. Written as the
        /// folder's letter and the number: `x` exemplar, `f` full text, `i` imported, `g`
        /// generated, as in `x862331`.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(u64);

        impl $name {
            /// The id `number` in `space`; the bits of `number` above the 56th are cut off.
            #[must_use]
            pub fn new(space: IdSpace, number: u64) -> Self {
                Self(((space as u64) << LOW_BITS) | (number & LOW_MASK))
            }

            /// The id as it stands in keys, or `None` when the top byte is no [`IdSpace`].
            #[must_use]
            pub fn from_bits(bits: u64) -> Option<Self> {
                (bits >> LOW_BITS <= IdSpace::Generated as u64).then_some(Self(bits))
            }

            /// The integer that stands in keys.
            #[must_use]
            pub fn bits(self) -> u64 {
                self.0
            }

            /// The number inside the space.
            #[must_use]
            pub fn number(self) -> u64 {
                self.0 & LOW_MASK
            }

            /// Whether a store counted it out to what a person added: numbers of imported data are
            /// hashes.
            #[must_use]
            pub fn is_counted(self) -> bool {
                self.space() == IdSpace::Imported && self.number() <= u64::from(u32::MAX)
            }

            /// The space.
            #[must_use]
            pub fn space(self) -> IdSpace {
                match self.0 >> LOW_BITS {
                    0 => IdSpace::Exemplar,
                    1 => IdSpace::FullText,
                    2 => IdSpace::Imported,
                    _ => IdSpace::Generated,
                }
            }

            /// The next id of the same space, for probing past one that is taken.
            #[must_use]
            pub fn next(self) -> Self {
                Self::new(self.space(), self.number() + 1)
            }

            /// What a file of FrameNet's writes for it: the number that its release gives. For an
            /// id that no release gave it is the whole integer, which no release's number reaches.
            #[must_use]
            pub fn in_xml(self, given: Option<u64>) -> u64 {
                match self.space() {
                    IdSpace::Exemplar | IdSpace::FullText => given.unwrap_or(self.number()),
                    IdSpace::Imported | IdSpace::Generated => self.bits(),
                }
            }

            /// The id that a number stands for in a file of a folder: one of the folder's, or a
            /// whole integer. What an expansion made is an exemplar there.
            #[must_use]
            pub fn of_xml(folder: IdSpace, number: u64) -> Self {
                let whole = Self::from_bits(number).filter(|id| {
                    matches!(id.space(), IdSpace::FullText | IdSpace::Imported)
                });
                whole.unwrap_or(Self::new(folder, number))
            }

            /// The id that people mean: the written form, or the folder's letter before what a
            /// release writes in place of a number, as in `x1298076n`.
            #[must_use]
            pub fn of_written(text: &str) -> Option<Self> {
                let written = || {
                    let space = match text.get(..1)? {
                        "x" => IdSpace::Exemplar,
                        "f" => IdSpace::FullText,
                        _ => return None,
                    };
                    let rest = &text[1..];
                    let has_digit = rest.bytes().any(|letter| letter.is_ascii_digit());
                    has_digit.then(|| Self::new(space, $kind.hashed(rest, "")))
                };
                Self::parse(text).or_else(written)
            }

            /// Reads the written form.
            #[must_use]
            pub fn parse(text: &str) -> Option<Self> {
                let mut letters = text.chars();
                let space = match letters.next()? {
                    'x' => IdSpace::Exemplar,
                    'f' => IdSpace::FullText,
                    'i' => IdSpace::Imported,
                    'g' => IdSpace::Generated,
                    _ => return None,
                };
                let digits = letters.as_str();
                if !digits.bytes().all(|b| b.is_ascii_digit()) {
                    return None;
                }
                let number: u64 = digits.parse().ok()?;
                (number <= LOW_MASK).then(|| Self::new(space, number))
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                to.collect_str(self)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let letter = match self.space() {
                    IdSpace::Exemplar => 'x',
                    IdSpace::FullText => 'f',
                    IdSpace::Imported => 'i',
                    IdSpace::Generated => 'g',
                };
                write!(f, "{letter}{}", self.number())
            }
        }
    )*};
}

tagged_ids! {
    /// A sentence, in JSON `{"type": "string", "pattern": "^[xfig][0-9]+$"}`.
    SentenceId(NumberKind::Sentence);
    /// An annotation set, in JSON `{"type": "string", "pattern": "^[xfig][0-9]+$"}`.
    AnnotationSetId(NumberKind::AnnotationSet);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_written_id_reads_back() {
        for space in [IdSpace::Exemplar, IdSpace::FullText, IdSpace::Imported, IdSpace::Generated] {
            let id = AnnotationSetId::new(space, 862_331);
            assert_eq!(AnnotationSetId::parse(&id.to_string()), Some(id));
            assert_eq!(id.space(), space);
            assert_eq!(id.number(), 862_331);
            assert_eq!(AnnotationSetId::from_bits(id.bits()), Some(id));
        }
    }

    #[test]
    fn what_is_no_releases_is_written_whole_and_reads_back_in_any_folder() {
        for folder in [IdSpace::Exemplar, IdSpace::FullText] {
            let id = SentenceId::new(folder, 7);
            assert_eq!((id.in_xml(None), id.in_xml(Some(9))), (7, 9));
            assert_eq!(SentenceId::of_xml(folder, 7), id);
            let own = SentenceId::new(IdSpace::Imported, 7);
            assert_eq!(SentenceId::of_xml(folder, own.in_xml(None)), own);
            let generated = SentenceId::new(IdSpace::Generated, 7).in_xml(None);
            assert_eq!(SentenceId::of_xml(folder, generated), id);
        }
        let text = SentenceId::new(IdSpace::FullText, 7);
        assert_eq!(SentenceId::of_xml(IdSpace::Exemplar, text.bits()), text);
    }

    #[test]
    fn no_hash_lies_among_the_counted_numbers_and_others_stay_as_they_were() {
        for hash in [0, 1, COUNTED - 1, OWN_RANGE, OWN_RANGE + COUNTED - 1] {
            let number = hashed_number(hash);
            assert!(number > OWN_RANGE && !is_counted(number), "{hash}");
            assert_eq!(hashed_number(number), number);
        }
        assert_eq!(hashed_number(COUNTED), OWN_RANGE + COUNTED);
        assert_eq!(hashed_number(u32::MAX), u32::MAX);
    }

    #[test]
    fn what_a_release_writes_in_place_of_a_number_leads_to_the_fresh_one() {
        let mut numbers = crate::model::WrittenNumbers::default();
        for text in ["1298076n", "72057594037927936", "-1"] {
            let number = numbers.number_of(NumberKind::AnnotationSet, text, "");
            let expected = AnnotationSetId::new(IdSpace::FullText, number);
            assert_eq!(AnnotationSetId::of_written(&format!("f{text}")), Some(expected));
        }
        let plain = AnnotationSetId::new(IdSpace::Exemplar, 7);
        assert_eq!(AnnotationSetId::of_written("x7"), Some(plain));
        for text in ["", "x", "xyz", "g1n", "\u{e9}1"] {
            assert_eq!(AnnotationSetId::of_written(text), None, "{text}");
        }
    }

    #[test]
    fn what_is_no_id_is_refused() {
        for text in
            ["", "x", "y7", "x-7", "x+7", "7", "x99999999999999999999", "x72057594037927936"]
        {
            assert_eq!(SentenceId::parse(text), None, "{text}");
        }
        assert_eq!(SentenceId::from_bits(4 << 56), None);
    }
}
