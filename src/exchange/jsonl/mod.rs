//! Every record as a line of JSON: the lossless format.
//!
//! A file holds one release, or what was added to one. It begins with a [`Header`] and a
//! [`ReleaseRecord`] and ends with an end record that counts the lines. What a line refers to
//! stands before it: semantic types, frames, relations, LUs, recipes. Then each sentence with its
//! sets, then documents, journal, judgements, verifications, decisions, discoveries and editions.
//! The layout of a file stands after its record. Spans count code points of the sentence's text and
//! carry the text that they cover, so that a reader who counts otherwise finds out.
//! `schema/jsonl-*.schema.json` describe the records.
//!
//! Laws: what [`RecordWriter`] writes of a model's value, [`RecordReader`] reads as an equal value;
//! a file that was cut short is refused.

#[macro_use]
mod recorded;
mod annotation;
mod discovery;
mod foreign;
mod governance;
#[cfg(test)]
mod laws;
mod layout;
mod lexicon;
mod link;
mod numbers;
mod printed;
mod provenance;
mod read;
mod release;
mod sentence;
mod write;

use super::error::Fault;
use crate::model::named;
use recorded::Recorded;

pub use annotation::{LayersRecord, NamedId, SetRecord};
pub use governance::WholeEdition;
pub use layout::Layout;
pub use provenance::{JournalRecord, RecipeRecord};
pub use read::{Record, RecordReader};
pub use release::{Header, ReleaseRecord, Scope};
pub use write::RecordWriter;

named! {
    /// What a line holds.
    #[non_exhaustive]
    pub enum LineKind {
        /// Format and version of the file.
        Header => "header",
        /// The release.
        Release => "release",
        /// How the files at the top of a release list what lies below them.
        ReleaseLayout => "release_layout",
        /// What a fresh number is written as.
        WrittenNumber => "written_number",
        /// A semantic type.
        SemType => "sem_type",
        /// A frame with its FEs.
        Frame => "frame",
        /// How a frame's file lists what it holds.
        FrameLayout => "frame_layout",
        /// An FE that a frame of the release gets, in a file of additions.
        Element => "element",
        /// A relation between two frames.
        Relation => "relation",
        /// A lexical unit with its valence tables.
        Lexunit => "lexunit",
        /// How an LU's file lists what it holds.
        LexunitLayout => "lexunit_layout",
        /// A recipe of generation.
        Recipe => "recipe",
        /// A sentence.
        Sentence => "sentence",
        /// An annotation set that evokes a frame.
        Set => "set",
        /// A set of sentence layers, or of a construction.
        Layers => "layers",
        /// A document.
        Document => "document",
        /// How a document's file lists what it holds.
        DocumentLayout => "document_layout",
        /// What a file holds beside FrameNet.
        Foreign => "foreign",
        /// How far a seed's chain has come.
        Journal => "journal",
        /// What a reviewer says of a set.
        Judgement => "judgement",
        /// What a verifier says of a set.
        Verification => "verification",
        /// What reviewers decide of a proposed LU.
        Decisions => "decisions",
        /// What a search found of a word in a frame.
        Discovery => "discovery",
        /// Links of an LU or FE to other lexicons.
        Links => "links",
        /// Sets frozen under a name.
        Edition => "edition",
        /// The end of the file.
        End => "end",
    }
}

type Checked<T> = std::result::Result<T, Fault>;

/// What a field says.
fn read<T: Recorded>(field: &str, record: T::Record) -> Checked<T> {
    T::from_record(record).map_err(|fault| fault.inside(field))
}
