//! Laws of keys, and `schema/keys.md`.

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
            $function::<ResourceKey> $arguments,
            $function::<SynsetKey> $arguments,
            $function::<SenseKey> $arguments,
            $function::<IrregularKey> $arguments,
            $function::<DiscoveryKey> $arguments,
            $function::<PredicateKey> $arguments,
            $function::<MappingKey> $arguments,
            $function::<LinkKey> $arguments,
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
    let page = include_str!("../../../schema/keys.md");
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
