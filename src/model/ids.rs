//! Identifiers.
//!
//! FrameNet's numbers are kept. Sentence and annotation-set numbers are not unique inside a release
//! (1.5 reuses 846 sentence and 1,625 frame-set numbers between `lu/` and `fulltext/`), so those two
//! carry the folder they come from in their top byte; see [`IdSpace`].

use std::fmt;

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident($int:ty);)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
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
    /// A recipe of generation; given by the store, in order of first use.
    RecipeId(u32);
}

/// First of the numbers that the store gives to LUs and frames of its own (top bit set);
/// FrameNet's numbers lie below it.
pub const OWN_RANGE: u32 = 0x8000_0000;

/// Numbers that a store counts out to what people add lie this near to the beginning of its range. Those
/// of proposed LUs and of span-labelled data are hashes, and lie anywhere in it.
const COUNTED: u32 = 1 << 24;

/// Whether a number was counted out by a store: its record was added by a person.
#[must_use]
pub fn is_counted(number: u32) -> bool {
    (OWN_RANGE..OWN_RANGE + COUNTED).contains(&number)
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
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
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
    /// A sentence.
    SentenceId;
    /// An annotation set.
    AnnotationSetId;
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
    fn what_is_no_id_is_refused() {
        for text in
            ["", "x", "y7", "x-7", "x+7", "7", "x99999999999999999999", "x72057594037927936"]
        {
            assert_eq!(SentenceId::parse(text), None, "{text}");
        }
        assert_eq!(SentenceId::from_bits(4 << 56), None);
    }
}
