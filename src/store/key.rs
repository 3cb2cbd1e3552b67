//! Keys: what stands in them, in which order, and the prefixes that scans use.
//!
//! Every integer is big-endian, so byte order is id order. Every key starts with the release, but
//! for those of `meta`, `recipe`, `change`, `commit` and `before`. The whole layout is written down
//! in `schema/keys.md`; a test compares the two.
//!
//! Laws: `decode(encode(k)) == k`; and of every type that is `Ord`, all but [`NameKey`],
//! `encode(a) < encode(b)` exactly when `a < b`.

use super::family::Family;
use crate::model::{
    AnnotationSetId, CorpusId, DocumentId, ForeignFile, FrameId, LuId, NumberKind, RecipeId,
    RelationId, ReleaseId, SemTypeId, SentenceId, TopName,
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
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::model::IdSpace;
    use crate::store::engine::{FORMAT_KEY, WRITTEN_BY_KEY};
    use crate::store::family::Family;
    use crate::store::identity::IDENTITY_KEY;
    use crate::store::{BOOK_KEY, OWN_IDS_KEY};

    fn set(number: u64, space: u8) -> AnnotationSetId {
        let spaces = [IdSpace::Exemplar, IdSpace::FullText, IdSpace::Imported, IdSpace::Generated];
        AnnotationSetId::new(spaces[usize::from(space % 4)], number)
    }

    prop_compose! {
        fn annotation_key()(release: u16, frame in 0_u32..9, lu: u32, sentence: u64, number: u64, space: u8) -> AnnotationKey {
            AnnotationKey {
                release: ReleaseId(release),
                frame: FrameId(frame),
                lu: LuId(lu),
                sentence: SentenceId::new(IdSpace::FullText, sentence),
                set: set(number, space),
            }
        }
    }

    /// A part of a key: its name, its integer, and how many bytes that has.
    pub(super) type Part = (&'static str, &'static str, usize);

    /// What the macros know of a type of keys.
    pub(super) trait Described: Key + Ord + std::fmt::Debug {
        /// The column families whose keys these are.
        const FAMILIES: &'static [&'static str];
        /// The parts of a fixed length, in order.
        const PARTS: &'static [Part];
        /// The text behind them.
        const TEXT: Option<&'static str>;
    }

    /// Calls a function for each type of keys; one that is not here has no row on the schema page.
    macro_rules! of_every_key {
        ($function:ident $arguments:tt) => {
            [
                $function::<FrameKey> $arguments,
                $function::<RelationKey> $arguments,
                $function::<SemTypeKey> $arguments,
                $function::<LexUnitKey> $arguments,
                $function::<DocumentKey> $arguments,
                $function::<SentenceKey> $arguments,
                $function::<AnnotationKey> $arguments,
                $function::<SentenceSetKey> $arguments,
                $function::<SetKey> $arguments,
                $function::<RecipeKey> $arguments,
                $function::<JournalKey> $arguments,
                $function::<LayoutKey> $arguments,
                $function::<ChangeKey> $arguments,
                $function::<CommitKey> $arguments,
                $function::<JudgementKey> $arguments,
                $function::<DecisionKey> $arguments,
                $function::<EditionKey> $arguments,
                $function::<CountKey> $arguments,
                $function::<EvidenceKey> $arguments,
            ]
        };
    }

    /// Bytes of keys, often those that begin the id of a set.
    fn byte() -> impl Strategy<Value = u8> {
        prop_oneof![4 => 0..4_u8, 1 => any::<u8>()]
    }

    /// Asserts both laws of the key of some bytes and of one that has another byte at a place; each
    /// has its own text behind it.
    fn assert_laws<K: Described>(bytes: &[u8], at: usize, other: u8, texts: &[String; 2]) {
        let width: usize = K::PARTS.iter().map(|(.., width)| width).sum();
        let mut encoded = [bytes[..width].to_vec(), bytes[..width].to_vec()];
        encoded[1][at % width] = other;
        if K::TEXT.is_some() {
            for (key, text) in encoded.iter_mut().zip(texts) {
                key.extend_from_slice(text.as_bytes());
            }
        }
        let [a, b] = &encoded;
        // Bytes that begin no id are no key.
        let (Some(first), Some(second)) = (K::decode(a), K::decode(b)) else { return };
        assert_eq!([&first.encode(), &second.encode()], [a, b], "{first:?} {second:?}");
        assert_eq!(first.cmp(&second), a.cmp(b), "{first:?} {second:?}");
    }

    /// The rows of the schema page for a type of keys.
    fn rows<K: Described>() -> Vec<String> {
        let parts = K::PARTS.iter().map(|(name, integer, _)| match *name {
            "lu" => format!("LU {integer}"),
            name => format!("{} {integer}", name.replace("sem_type", "semantic type")),
        });
        let text = K::TEXT.map(|name| format!("{name} (UTF-8, to the end)"));
        let key = parts.chain(text).collect::<Vec<_>>().join(", ");
        K::FAMILIES.iter().map(|family| format!("| `{family}` | {key} |")).collect()
    }

    proptest! {
        #[test]
        fn every_key_decodes_to_itself_and_sorts_as_its_bytes_do(
            bytes in proptest::collection::vec(byte(), 64),
            (at, other) in (0..64_usize, byte()),
            texts in proptest::array::uniform2("[ab\u{e9}\\x00]{0,3}"),
        ) {
            let _ = of_every_key!(assert_laws(&bytes, at, other, &texts));
        }

        #[test]
        fn a_prefix_covers_its_own_records_only(a in annotation_key(), b in annotation_key()) {
            let prefix = Prefix::of(a.release).then(a.frame).bytes();
            prop_assert!(a.encode().starts_with(&prefix));
            let same = (b.release, b.frame) == (a.release, a.frame);
            prop_assert_eq!(b.encode().starts_with(&prefix), same);
        }

        #[test]
        fn names_of_any_text_come_back(name in "[^\\x00]{0,12}", id: u64, folded: bool) {
            let key = NameKey { release: ReleaseId(3), kind: NameKind::LexUnit, folded, name, id };
            prop_assert_eq!(NameKey::decode(&key.encode()), Some(key));
        }

        #[test]
        fn judgements_of_any_reviewer_come_back_beside_their_set(
            reviewer in "[^\\x00]*", question: String, number: u64,
        ) {
            let key = JudgementKey::new(ReleaseId(3), set(number, 2), &reviewer, &question);
            prop_assert_eq!(key.parts(), (&*reviewer, &*question));
            let of_set = SetKey { release: key.release, set: key.set }.encode();
            prop_assert!(key.encode().starts_with(&of_set));
            prop_assert_eq!(JudgementKey::decode(&key.encode()), Some(key));
        }

        #[test]
        fn decisions_and_editions_of_any_name_come_back(name: String, frame: u32) {
            let (release, frame) = (ReleaseId(3), FrameId(frame));
            let decision = DecisionKey { release, frame, name: name.clone() };
            prop_assert_eq!(DecisionKey::decode(&decision.encode()), Some(decision));
            let edition = EditionKey { release, name };
            prop_assert_eq!(EditionKey::decode(&edition.encode()), Some(edition));
        }

        #[test]
        fn no_bytes_make_a_decoder_panic(bytes: Vec<u8>) {
            let _ = (JudgementKey::decode(&bytes), DecisionKey::decode(&bytes));
            let _ = EditionKey::decode(&bytes);
            let _ = (AnnotationKey::decode(&bytes), NameKey::decode(&bytes), ChangeKey::decode(&bytes));
        }
    }

    #[test]
    fn the_schema_page_describes_every_key() {
        let page = include_str!("../../schema/keys.md");
        let of_page: Vec<&str> = page.lines().filter(|line| line.starts_with("| `")).collect();
        let meta = "| `meta` | name: `format` (two u16), `written_by` (text), `book` (record), \
                    `own_ids` (record), `identity` (id of 16 bytes, generation of 8), \
                    `tally` (entries of 27 bytes), `merged` (entries of 34 bytes), `history` (record), `sums` (9 bytes) |";
        let name = "| `name` | release u16, kind u8 (top bit: case-folded), name, 0x00, id u64 |";
        let mut expected: Vec<String> = of_every_key!(rows()).into_iter().flatten().collect();
        expected.extend([meta, name].map(str::to_owned));
        let family = |row: &str| row.split('`').nth(1).and_then(Family::parse);
        expected.sort_by_key(|row| family(row));
        assert_eq!(of_page, expected);
        let families: Vec<_> = of_page.into_iter().map(family).collect();
        assert_eq!(families, Family::ALL.map(Some));
        let (tally, merged) = (crate::store::tally::TALLY_KEY, crate::store::merged::MERGED_KEY);
        let (history, sums) = (crate::store::HISTORY_KEY, crate::store::current_sums::SUMS_KEY);
        let known = [
            FORMAT_KEY,
            WRITTEN_BY_KEY,
            BOOK_KEY,
            OWN_IDS_KEY,
            IDENTITY_KEY,
            tally,
            merged,
            history,
            sums,
        ];
        for key in known {
            let key = std::str::from_utf8(key).unwrap();
            assert!(meta.contains(&format!("`{key}`")), "{key}");
        }
    }

    #[test]
    fn a_name_stands_between_its_kind_and_its_id() {
        let (release, kind) = (ReleaseId(0x0102), NameKind::LexUnit);
        let key = NameKey { release, kind, folded: true, name: "a".to_owned(), id: 3 };
        assert_eq!(key.encode(), [1, 2, 0x82, b'a', 0, 0, 0, 0, 0, 0, 0, 0, 3]);
    }
}
