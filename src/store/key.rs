//! Keys: what stands in them, in which order, and the prefixes that scans use.
//!
//! Every integer is big-endian, so byte order is id order. Every key starts with the release, but
//! for those of `meta`, `recipe`, `change`, `commit`, `before` and `resource`. The whole layout is
//! written down in `schema/keys.md`; a test compares the two.
//!
//! Laws: `decode(encode(k)) == k`; and of every type that is `Ord`, all but [`NameKey`],
//! `encode(a) < encode(b)` exactly when `a < b`.

use super::family::Family;
use crate::model::{
    AnnotationSetId, CorpusId, DocumentId, ForeignFile, FrameId, LuId, NumberKind, RecipeId,
    RelationId, ReleaseId, SemTypeId, SentenceId, SynsetId, TopName, WordClass,
};

/// The release that a row belongs to.
pub(super) fn release_of(family: Family, key: &[u8]) -> Option<ReleaseId> {
    let bytes = key.get(..2).filter(|_| family.by_release())?;
    Some(ReleaseId(u16::from_be_bytes([bytes[0], bytes[1]])))
}

/// Integers that stand in keys.
pub(super) trait KeyPart: Sized {
    /// Bytes in a key.
    const WIDTH: usize;
    /// The integer that stands there.
    #[cfg(test)]
    const INTEGER: &'static str;
    fn put(&self, key: &mut Vec<u8>);
    /// Reads exactly `WIDTH` bytes.
    fn get(bytes: &[u8]) -> Option<Self>;
}

macro_rules! key_parts {
    ($($name:ty = $int:ty, $make:expr, $bits:expr;)*) => {$(
        impl KeyPart for $name {
            const WIDTH: usize = size_of::<$int>();
            #[cfg(test)]
            const INTEGER: &'static str = stringify!($int);

            fn put(&self, key: &mut Vec<u8>) {
                let bits: fn(&$name) -> $int = $bits;
                key.extend_from_slice(&bits(self).to_be_bytes());
            }

            fn get(bytes: &[u8]) -> Option<Self> {
                let make: fn($int) -> Option<$name> = $make;
                make(<$int>::from_be_bytes(bytes.try_into().ok()?))
            }
        }
    )*};
}

key_parts! {
    u8 = u8, Some, |n| *n;
    u16 = u16, Some, |n| *n;
    u32 = u32, Some, |n| *n;
    u64 = u64, Some, |n| *n;
    ReleaseId = u16, |n| Some(ReleaseId(n)), |id| id.0;
    FrameId = u32, |n| Some(FrameId(n)), |id| id.0;
    LuId = u32, |n| Some(LuId(n)), |id| id.0;
    RelationId = u32, |n| Some(RelationId(n)), |id| id.0;
    SemTypeId = u32, |n| Some(SemTypeId(n)), |id| id.0;
    CorpusId = u32, |n| Some(CorpusId(n)), |id| id.0;
    DocumentId = u32, |n| Some(DocumentId(n)), |id| id.0;
    RecipeId = u32, |n| Some(RecipeId(n)), |id| id.0;
    SynsetId = u32, |n| Some(SynsetId(n)), |id| id.0;
    WordClass = u8, WordClass::of_number, |class| *class as u8;
    SentenceId = u64, SentenceId::from_bits, |id| id.bits();
    AnnotationSetId = u64, AnnotationSetId::from_bits, |id| id.bits();
}

/// A key of one column family.
pub(super) trait Key: Sized {
    fn encode(&self) -> Vec<u8>;
    fn decode(key: &[u8]) -> Option<Self>;
}

/// Keys of a fixed length, each after `of` with its column families.
macro_rules! keys {
    ($($(#[$doc:meta])* $name:ident of [$($family:ident),*] {
        $($field:ident: $part:ty),* $(,)?
    })*) => {$(
        #[doc = concat!("Of" $(, " `", stringify!($family), "`")*, ".")]
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub(super) struct $name {
            $(pub(super) $field: $part,)*
        }

        impl Key for $name {
            fn encode(&self) -> Vec<u8> {
                let mut key = Vec::with_capacity(0 $(+ <$part>::WIDTH)*);
                $(self.$field.put(&mut key);)*
                key
            }

            fn decode(key: &[u8]) -> Option<Self> {
                let mut at = 0;
                $(
                    let $field = <$part>::get(key.get(at..at + <$part>::WIDTH)?)?;
                    at += <$part>::WIDTH;
                )*
                (at == key.len()).then_some(Self { $($field,)* })
            }
        }

        #[cfg(test)]
        impl tests::Described for $name {
            const FAMILIES: &'static [&'static str] = &[$(stringify!($family)),*];
            const PARTS: &'static [tests::Part] =
                &[$((stringify!($field), <$part>::INTEGER, <$part>::WIDTH)),*];
            const TEXT: Option<&'static str> = None;
        }
    )*};
}

keys! {
    FrameKey of [frame] { release: ReleaseId, frame: FrameId }
    RelationKey of [relation] { release: ReleaseId, relation: RelationId }
    SemTypeKey of [semtype] { release: ReleaseId, sem_type: SemTypeId }
    LexUnitKey of [lexunit] { release: ReleaseId, frame: FrameId, lu: LuId }
    DocumentKey of [document] { release: ReleaseId, corpus: CorpusId, document: DocumentId }
    SentenceKey of [sentence] { release: ReleaseId, sentence: SentenceId }
    AnnotationKey of [annotation] {
        release: ReleaseId,
        frame: FrameId,
        lu: LuId,
        sentence: SentenceId,
        set: AnnotationSetId,
    }
    SentenceSetKey of [sentence_layers, by_sentence] {
        release: ReleaseId,
        sentence: SentenceId,
        set: AnnotationSetId,
    }
    SetKey of [set_location, verification] { release: ReleaseId, set: AnnotationSetId }
    RecipeKey of [recipe] { recipe: RecipeId }
    JournalKey of [journal] {
        release: ReleaseId,
        seed: AnnotationSetId,
        target: u16,
        recipe: RecipeId,
    }
    /// The kind of file, and that file's one or two numbers.
    LayoutKey of [layout] { release: ReleaseId, kind: u8, first: u32, second: u32 }
    ChangeKey of [change, before] { revision: u64, ordinal: u32 }
    CommitKey of [commit] { revision: u64 }
    EvidenceKey of [evidence] {
        release: ReleaseId, kind: u8, frame: FrameId, lu: LuId, seed: AnnotationSetId,
    }
    /// Not of the rows of a release: a list of what stands beside the releases.
    ResourceKey of [resource] { resource: ReleaseId }
    SynsetKey of [synset] { release: ReleaseId, synset: SynsetId }
    MappingKey of [mapping] { release: ReleaseId, number: u32 }
    /// The number of an LU (kind 0) or FE (kind 1).
    LinkKey of [link] { release: ReleaseId, frame: FrameId, kind: u8, number: u32 }
}

impl LayoutKey {
    /// The files at the top of a release.
    pub(super) fn of_release(release: ReleaseId) -> Self {
        Self { release, kind: 1, first: 0, second: 0 }
    }

    /// A frame file.
    pub(super) fn of_frame(release: ReleaseId, frame: FrameId) -> Self {
        Self { release, kind: 2, first: frame.0, second: 0 }
    }

    /// An LU file.
    pub(super) fn of_lexunit(release: ReleaseId, frame: FrameId, lu: LuId) -> Self {
        Self { release, kind: 3, first: frame.0, second: lu.0 }
    }

    /// A full-text file.
    pub(super) fn of_document(release: ReleaseId, corpus: CorpusId, document: DocumentId) -> Self {
        Self { release, kind: 4, first: corpus.0, second: document.0 }
    }

    /// What the fresh numbers of a kind are written as, some thousand a row.
    pub(super) fn of_numbers(release: ReleaseId, kind: NumberKind, page: u32) -> Self {
        Self { release, kind: 5, first: kind as u32, second: page }
    }

    /// What a file holds beside FrameNet.
    pub(super) fn of_foreign(release: ReleaseId, file: ForeignFile) -> Self {
        let (kind, first, second) = match file {
            ForeignFile::Top(file) => (6, file as u32, 0),
            ForeignFile::Frame(frame) => (7, frame.0, 0),
            ForeignFile::LexUnit(frame, lu) => (8, frame.0, lu.0),
            ForeignFile::Document(corpus, document) => (9, corpus.0, document.0),
        };
        Self { release, kind, first, second }
    }

    /// All rows of [`of_foreign`](Self::of_foreign), kind by kind.
    pub(super) fn foreign_prefixes(release: ReleaseId) -> [Vec<u8>; 4] {
        [6_u8, 7, 8, 9].map(|kind| Prefix::of(release).then(kind).bytes())
    }

    /// The file, where the key is one of [`of_foreign`](Self::of_foreign).
    pub(super) fn foreign_file(&self) -> Option<ForeignFile> {
        let Self { kind, first, second, .. } = *self;
        match kind {
            6 => TopName::from_code(first).map(ForeignFile::Top),
            7 => Some(ForeignFile::Frame(FrameId(first))),
            8 => Some(ForeignFile::LexUnit(FrameId(first), LuId(second))),
            9 => Some(ForeignFile::Document(CorpusId(first), DocumentId(second))),
            _ => None,
        }
    }

    /// All rows of [`of_numbers`](Self::of_numbers).
    pub(super) fn numbers_prefix(release: ReleaseId) -> Vec<u8> {
        Prefix::of(release).then(5_u8).bytes()
    }
}

/// Keys that end with a text: everything before it has a fixed length.
macro_rules! keys_with_text {
    ($($(#[$doc:meta])* $name:ident of $family:ident {
        $($field:ident: $part:ty),*; $text:ident
    })*) => {$(
        #[doc = concat!("Of `", stringify!($family), "`.")]
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
        pub(super) struct $name {
            $(pub(super) $field: $part,)*
            pub(super) $text: String,
        }

        impl Key for $name {
            fn encode(&self) -> Vec<u8> {
                let mut key = Vec::with_capacity(self.$text.len() $(+ <$part>::WIDTH)*);
                $(self.$field.put(&mut key);)*
                key.extend_from_slice(self.$text.as_bytes());
                key
            }

            fn decode(key: &[u8]) -> Option<Self> {
                let mut at = 0;
                $(
                    let $field = <$part>::get(key.get(at..at + <$part>::WIDTH)?)?;
                    at += <$part>::WIDTH;
                )*
                let $text = std::str::from_utf8(&key[at..]).ok()?.to_owned();
                Some(Self { $($field,)* $text })
            }
        }

        #[cfg(test)]
        impl tests::Described for $name {
            const FAMILIES: &'static [&'static str] = &[stringify!($family)];
            const PARTS: &'static [tests::Part] =
                &[$((stringify!($field), <$part>::INTEGER, <$part>::WIDTH)),*];
            const TEXT: Option<&'static str> = Some(stringify!($text));
        }
    )*};
}

keys_with_text! {
    JudgementKey of judgement { release: ReleaseId, set: AnnotationSetId; answer }
    /// The name is the LU's, as in `vet.v`.
    DecisionKey of decision { release: ReleaseId, frame: FrameId; name }
    EditionKey of edition { release: ReleaseId; name }
    /// The name is the LU's; of the search of the frame itself it is empty.
    DiscoveryKey of discovery { release: ReleaseId, frame: FrameId; name }
    SenseKey of sense { release: ReleaseId, class: WordClass; lemma }
    IrregularKey of irregular { release: ReleaseId, class: WordClass; form }
    PredicateKey of predicate { release: ReleaseId; name }
    /// What is counted, and what it agrees in.
    CountKey of count {
        release: ReleaseId,
        kind: u8,
        frame: FrameId,
        lu: LuId,
        space: u8,
        origin: u8,
        round: u16;
        status
    }
}

impl JudgementKey {
    /// The key of a reviewer's answer to a question; no reviewer's name has the NUL that stands
    /// before a question.
    pub(super) fn new(
        release: ReleaseId,
        set: AnnotationSetId,
        reviewer: &str,
        question: &str,
    ) -> Self {
        let answer = match question {
            "" => reviewer.to_owned(),
            question => format!("{reviewer}\0{question}"),
        };
        Self { release, set, answer }
    }

    /// Reviewer and question.
    pub(super) fn parts(&self) -> (&str, &str) {
        self.answer.split_once('\0').unwrap_or((&self.answer, ""))
    }
}

/// The first bytes of a run of keys, part by part.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Prefix(Vec<u8>);

impl Prefix {
    pub(super) fn of(part: impl KeyPart) -> Self {
        Self::default().then(part)
    }

    pub(super) fn then(mut self, part: impl KeyPart) -> Self {
        part.put(&mut self.0);
        self
    }

    pub(super) fn bytes(self) -> Vec<u8> {
        self.0
    }
}

/// What a name names; the second part of a `name` key. A folded name is one more row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum NameKind {
    /// Frame name; the id is the frame's.
    Frame = 1,
    /// LU name; the id is the frame's and the LU's.
    LexUnit = 2,
    /// Frame element name; the id is the frame's and the FE's.
    FrameElement = 3,
    /// Semantic type name.
    SemType = 4,
    /// Document name; the id is the corpus's and the document's.
    Document = 5,
}

impl NameKind {
    /// What messages call it.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Frame => "frame",
            Self::LexUnit => "lexical unit",
            Self::FrameElement => "frame element",
            Self::SemType => "semantic type",
            Self::Document => "document",
        }
    }
}

/// Added to a [`NameKind`] in keys of case-folded names.
const FOLDED: u8 = 0x80;

/// Of `name`: release, kind, name, a zero byte, id. Folded names stand behind those of all kinds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NameKey {
    pub(super) release: ReleaseId,
    pub(super) kind: NameKind,
    pub(super) folded: bool,
    pub(super) name: String,
    pub(super) id: u64,
}

impl NameKey {
    /// All names of a kind.
    pub(super) fn kind_prefix(release: ReleaseId, kind: NameKind, folded: bool) -> Vec<u8> {
        let mut key = Prefix::of(release).bytes();
        key.push(kind as u8 | if folded { FOLDED } else { 0 });
        key
    }

    /// All ids of a name.
    pub(super) fn name_prefix(
        release: ReleaseId,
        kind: NameKind,
        folded: bool,
        name: &str,
    ) -> Vec<u8> {
        let mut key = Self::kind_prefix(release, kind, folded);
        key.extend_from_slice(name.as_bytes());
        key.push(0);
        key
    }
}

impl Key for NameKey {
    fn encode(&self) -> Vec<u8> {
        let mut key = Self::name_prefix(self.release, self.kind, self.folded, &self.name);
        self.id.put(&mut key);
        key
    }

    fn decode(key: &[u8]) -> Option<Self> {
        let release = ReleaseId::get(key.get(..2)?)?;
        let tag = *key.get(2)?;
        let kind = [
            NameKind::Frame,
            NameKind::LexUnit,
            NameKind::FrameElement,
            NameKind::SemType,
            NameKind::Document,
        ]
        .into_iter()
        .find(|kind| *kind as u8 == tag & !FOLDED)?;
        let (name, id) = key.get(3..)?.split_at_checked(key.len().checked_sub(3 + u64::WIDTH)?)?;
        let name = std::str::from_utf8(name.strip_suffix(&[0])?).ok()?.to_owned();
        Some(Self { release, kind, folded: tag & FOLDED != 0, name, id: u64::get(id)? })
    }
}

#[cfg(test)]
mod tests;
