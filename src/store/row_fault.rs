//! Rows that cannot be read or make no sense, and how messages name them.

use crate::model::{AnnotationSetId, ReleaseId};

use super::count_key;
use super::family::Family;
use super::key::{
    AnnotationKey, ChangeKey, CommitKey, CountKey, DecisionKey, DiscoveryKey, DocumentKey,
    EditionKey, EvidenceKey, FrameKey, IrregularKey, JournalKey, JudgementKey, Key, LayoutKey,
    LexUnitKey, LinkKey, MappingKey, NameKey, PredicateKey, RecipeKey, RelationKey, ResourceKey,
    SemTypeKey, SenseKey, SentenceKey, SentenceSetKey, SetKey, SynsetKey,
};

/// A row that cannot be read or makes no sense.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowFault {
    /// The column family.
    pub family: &'static str,
    /// The key, hexadecimal; of an unreadable row, the last key that could be read.
    pub key: String,
    /// What the row is about, as in `set x12`; empty where its key does not tell.
    pub name: String,
    /// The key itself.
    pub(super) bytes: Box<[u8]>,
    /// The release, when the key tells.
    pub release: Option<ReleaseId>,
    /// What is wrong.
    pub kind: RowFaultKind,
    /// The engine's or the decoder's words.
    pub reason: String,
}

impl RowFault {
    /// The key of a row of which the value alone cannot be read.
    pub(crate) fn decoded_key(&self) -> Option<&[u8]> {
        (self.kind == RowFaultKind::Record).then_some(&*self.bytes)
    }

    /// What the row is about, as far as its key tells, and the key.
    #[must_use]
    pub fn place(&self) -> String {
        let Self { name, key, .. } = self;
        match (self.kind, key.is_empty(), name.is_empty()) {
            (RowFaultKind::Unreadable | RowFaultKind::Failed, true, _) => {
                "before the first key".to_owned()
            }
            (RowFaultKind::Unreadable | RowFaultKind::Failed, false, _) => {
                format!("after key {key}")
            }
            (_, _, true) => format!("key {key}"),
            (_, _, false) => format!("{name}, key {key}"),
        }
    }
}

/// What is wrong with a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum RowFaultKind {
    /// The engine cannot read it: what lies behind it stays unread, to the end of the family or of
    /// the part of it that is read by itself.
    Unreadable,
    /// The key is none of its family.
    Key,
    /// The value is no record of its family.
    Record,
    /// The engine cannot read it now, as when too many files are open: the rest of the family stays
    /// unread, and nothing is wrong with it.
    Failed,
}

/// What a row is about, as its key says: for messages.
pub(super) fn record_name(family: &str, key: &[u8]) -> Option<String> {
    let of_set = |set: AnnotationSetId| format!("set {set}");
    Some(match Family::parse(family)? {
        Family::Meta => format!("`{}`", std::str::from_utf8(key).ok()?),
        Family::Frame => format!("frame {}", FrameKey::decode(key)?.frame),
        Family::Relation => format!("relation {}", RelationKey::decode(key)?.relation),
        Family::SemType => format!("semantic type {}", SemTypeKey::decode(key)?.sem_type),
        Family::LexUnit => {
            let LexUnitKey { frame, lu, .. } = LexUnitKey::decode(key)?;
            format!("LU {lu} of frame {frame}")
        }
        Family::Document => {
            let DocumentKey { corpus, document, .. } = DocumentKey::decode(key)?;
            format!("document {document} of corpus {corpus}")
        }
        Family::Sentence => format!("sentence {}", SentenceKey::decode(key)?.sentence),
        Family::Annotation => of_set(AnnotationKey::decode(key)?.set),
        Family::SentenceLayers => {
            let SentenceSetKey { sentence, set, .. } = SentenceSetKey::decode(key)?;
            format!("layers {set} of sentence {sentence}")
        }
        Family::SetLocation => of_set(SetKey::decode(key)?.set),
        Family::BySentence => of_set(SentenceSetKey::decode(key)?.set),
        Family::Name => format!("name `{}`", NameKey::decode(key)?.name),
        Family::Recipe => format!("recipe {}", RecipeKey::decode(key)?.recipe),
        Family::Journal => format!("journal of {}", JournalKey::decode(key)?.seed),
        Family::Judgement => format!("judgement of {}", JudgementKey::decode(key)?.set),
        Family::Verification => format!("verification of {}", SetKey::decode(key)?.set),
        Family::Decision => format!("decisions on `{}`", DecisionKey::decode(key)?.name),
        Family::Edition => format!("edition `{}`", EditionKey::decode(key)?.name),
        Family::Layout => {
            let LayoutKey { kind, first, second, .. } = LayoutKey::decode(key)?;
            format!("layout {kind}/{first}/{second}")
        }
        Family::Change => format!("a change of revision {}", ChangeKey::decode(key)?.revision),
        Family::Commit => format!("commit {}", CommitKey::decode(key)?.revision),
        Family::Before => {
            format!("a before-image of commit {}", ChangeKey::decode(key)?.revision)
        }
        Family::Count => format!("the count of {}", count_key::words(&CountKey::decode(key)?)),
        Family::Evidence => {
            let EvidenceKey { frame, lu, .. } = EvidenceKey::decode(key)?;
            format!("the evidence of LU {lu} of frame {frame}")
        }
        Family::Resource => format!("lexicon {}", ResourceKey::decode(key)?.resource),
        Family::Discovery => format!("what was found of `{}`", DiscoveryKey::decode(key)?.name),
        Family::Synset => format!("synset {}", SynsetKey::decode(key)?.synset),
        Family::Sense => format!("word `{}`", SenseKey::decode(key)?.lemma),
        Family::Irregular => format!("form `{}`", IrregularKey::decode(key)?.form),
        Family::Predicate => format!("predicate `{}`", PredicateKey::decode(key)?.name),
        Family::Link => format!("links of {}", LinkKey::decode(key)?.number),
        Family::Mapping => format!("mapping {}", MappingKey::decode(key)?.number),
    })
}
