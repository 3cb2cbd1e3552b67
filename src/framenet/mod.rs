//! FrameNet's XML, as its releases are distributed: in and out.
//!
//! The reader is tolerant but loud: whatever is odd becomes a coded [`Warning`] with file and line,
//! and nothing is dropped in silence. What is not XML at all, or another kind of file, is an error.
//! Each file is written again as soon as it is read, and what comes out otherwise is a warning,
//! too.
//!
//! [`Source`] finds the files in a zip archive or a directory. One function per kind of file turns
//! content into plain types of [`crate::model`], another turns these into the file again. Putting a
//! release together from them, with ids that are unique, is the importer's work in
//! [`crate::database`].

mod element;
mod error;
mod file_name;
mod foreign;
mod foreign_notes;
mod foreign_writer;
mod fragment;
mod frames;
mod fresh_numbers;
mod fulltext;
mod indexes;
mod language;
mod lexunits;
mod names;
mod numbers;
mod place;
mod rewritten;
mod sentences;
mod source;
mod titles;
mod warning;
mod write;
mod xml;
mod xml_writer;

pub use error::FramenetError;
#[cfg(test)]
pub(crate) use file_name::LONGEST_STEM;
pub(crate) use file_name::{file_stem, fitting, safe};
pub use fragment::fragment_fault;
pub use frames::{FrameFile, read_frame_file};
pub use fresh_numbers::Numbers;
pub(crate) use fresh_numbers::ToldApart;
pub use fulltext::{FullTextFile, read_fulltext_file};
pub use indexes::{
    TopFile, read_frame_index, read_fulltext_index, read_lu_index, read_relations, read_sem_types,
};
pub use language::{LanguageGuess, Letters, language_of_file, language_of_name};
pub use lexunits::{Corpora, LuFile, ReadSubcorpus, read_lu_file};
pub use sentences::{Evokes, ReadSentence, ReadSet};
pub(crate) use sentences::{UNANNOTATED, evokes_unsaid};
pub use source::{FOLDERS, Source, SourceReader, TOP_FILES};
pub use warning::{Warning, WarningCode, WarningLog};
pub use write::{
    SemTypeNames, write_frame_file, write_frame_index, write_fulltext_file, write_fulltext_index,
    write_lu_file, write_lu_index, write_relations, write_sem_types,
};
pub use xml_writer::replace_not_xml;

type Result<T> = std::result::Result<T, FramenetError>;
