//! Every record as a line of JSON: the lossless format.
//!
//! A file holds one release, or what was added to one. It begins with a [`Header`] and a
//! [`ReleaseRecord`], ends with an end record that counts the lines, and what a line refers to stands
//! before it: semantic types, frames, relations, LUs, recipes, then each sentence with its sets, then
//! documents, journal, judgements, decisions and editions; the layout of a file stands after its record. Spans count code points of the sentence's text and carry the text that they
//! cover, so that a reader who counts otherwise finds out. `schema/jsonl-*.schema.json` describe the
//! records.
//!
//! Laws: what [`RecordWriter`] writes of a model's value, [`RecordReader`] reads as an equal value; a
//! file that was cut short is refused.

mod annotation;
mod foreign;
mod growth;
#[cfg(test)]
mod laws;
mod layout;
mod lexicon;
mod lexunit;
mod numbers;
mod provenance;
mod read;
mod release;
mod sentence;
mod write;

use serde::{Deserialize, Serialize};

use super::error::Fault;
use crate::model::{AnnotationSetId, Colors, Creation, SentenceId};

pub use annotation::{LayersRecord, NamedId, SetRecord};
pub use layout::Layout;
pub use provenance::{JournalRecord, RecipeRecord};
pub use read::{Record, RecordReader};
pub use release::{Header, ReleaseRecord, Scope};
pub use write::RecordWriter;

/// What a line holds.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Kind {
    /// Format and version of the file.
    Header,
    /// The release.
    Release,
    /// How the files at the top of a release list what lies below them.
    ReleaseLayout,
    /// What a fresh number is written as.
    WrittenNumber,
    /// A semantic type.
    SemType,
    /// A frame with its FEs.
    Frame,
    /// How a frame's file lists what it holds.
    FrameLayout,
    /// An FE that a frame of the release gets, in a file of additions.
    Element,
    /// A relation between two frames.
    Relation,
    /// A lexical unit with its valence tables.
    Lexunit,
    /// How an LU's file lists what it holds.
    LexunitLayout,
    /// A recipe of generation.
    Recipe,
    /// A sentence.
    Sentence,
    /// An annotation set that evokes a frame.
    Set,
    /// A set of sentence layers, or of a construction.
    Layers,
    /// A document.
    Document,
    /// How a document's file lists what it holds.
    DocumentLayout,
    /// What a file holds beside FrameNet.
    Foreign,
    /// How far a seed's chain has come.
    Journal,
    /// What a reviewer says of a set.
    Judgement,
    /// What reviewers decide of a proposed LU.
    Decisions,
    /// Sets frozen under a name.
    Edition,
    /// The end of the file.
    End,
}

impl Kind {
    /// All kinds, in the order in which a file holds them.
    pub const ALL: [Self; 23] = [
        Self::Header,
        Self::Release,
        Self::ReleaseLayout,
        Self::WrittenNumber,
        Self::SemType,
        Self::Frame,
        Self::FrameLayout,
        Self::Element,
        Self::Relation,
        Self::Lexunit,
        Self::LexunitLayout,
        Self::Recipe,
        Self::Sentence,
        Self::Set,
        Self::Layers,
        Self::Document,
        Self::DocumentLayout,
        Self::Foreign,
        Self::Journal,
        Self::Judgement,
        Self::Decisions,
        Self::Edition,
        Self::End,
    ];

    /// As written in records.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Header => "header",
            Self::Release => "release",
            Self::ReleaseLayout => "release_layout",
            Self::WrittenNumber => "written_number",
            Self::Foreign => "foreign",
            Self::SemType => "sem_type",
            Self::Frame => "frame",
            Self::FrameLayout => "frame_layout",
            Self::Element => "element",
            Self::Relation => "relation",
            Self::Lexunit => "lexunit",
            Self::LexunitLayout => "lexunit_layout",
            Self::Recipe => "recipe",
            Self::Sentence => "sentence",
            Self::Set => "set",
            Self::Layers => "layers",
            Self::Document => "document",
            Self::DocumentLayout => "document_layout",
            Self::Journal => "journal",
            Self::Judgement => "judgement",
            Self::Decisions => "decisions",
            Self::Edition => "edition",
            Self::End => "end",
        }
    }
}

type Checked<T> = std::result::Result<T, Fault>;

/// Author and date.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct CreationRecord {
    by: String,
    date: String,
}

impl From<Creation> for CreationRecord {
    fn from(Creation { by, date }: Creation) -> Self {
        Self { by, date }
    }
}

impl From<CreationRecord> for Creation {
    fn from(CreationRecord { by, date }: CreationRecord) -> Self {
        Self { by, date }
    }
}

/// Display colours.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ColorsRecord {
    fg: String,
    bg: String,
}

impl From<Colors> for ColorsRecord {
    fn from(Colors { fg, bg }: Colors) -> Self {
        Self { fg, bg }
    }
}

impl From<ColorsRecord> for Colors {
    fn from(ColorsRecord { fg, bg }: ColorsRecord) -> Self {
        Self { fg, bg }
    }
}

const ID: &str = "a letter (x, f, i or g) and a number, as in `x1024`";

fn set_id(field: &str, text: &str) -> Checked<AnnotationSetId> {
    AnnotationSetId::parse(text).ok_or_else(|| Fault::value(field, text, ID))
}

fn set_ids(field: &str, texts: &[String]) -> Checked<Vec<AnnotationSetId>> {
    texts.iter().map(|text| set_id(field, text)).collect()
}

fn sentence_id(field: &str, text: &str) -> Checked<SentenceId> {
    SentenceId::parse(text).ok_or_else(|| Fault::value(field, text, ID))
}

fn written<T: ToString>(ids: &[T]) -> Vec<String> {
    ids.iter().map(ToString::to_string).collect()
}
