//! Readers of lexicons other than FrameNet's, as their publishers write them.
//!
//! WordNet comes in two formats: the database files of Princeton's releases (`wndb.rs`), and
//! WN-LMF, XML by the Global WordNet Association, as Open English WordNet has it (`lmf.rs`). Both
//! become one [`WordnetFiles`]. VerbNet and PropBank are XML, which becomes [`PredicateFiles`].
//! SemLink and the Predicate Matrix are rows that join lexicons, which become [`MappingFiles`].
//! Each is all of it or an error with file and line. This layer knows files and plain types, no
//! store.

mod error;
mod lmf;
mod mappings;
mod predicates;
mod propbank;
mod provenance;
mod tree;
mod verbnet;
mod wndb;

use std::path::Path;

pub use error::LexicaError;
#[cfg(feature = "neural")]
pub(crate) use lmf::open_unpacked;
pub use mappings::MappingFiles;
pub use predicates::PredicateFiles;

use crate::model::{IrregularForm, ResourceCounts, ResourceKind, Synset, Word};
use crate::text::fold;

/// The folders of a FrameNet release.
const FRAMENET: [&str; 3] = ["frame", "lu", "fulltext"];

type Result<T> = std::result::Result<T, LexicaError>;

/// The kind of lexicon that a place looks to hold, by names of files or the beginning of one. A
/// file of it beside a FrameNet does not take its place.
#[must_use]
pub fn kind_at(path: &Path) -> Option<ResourceKind> {
    if FRAMENET.iter().any(|folder| path.join(folder).is_dir()) {
        return None;
    }
    if WordnetFiles::are_at(path) {
        return Some(ResourceKind::Wordnet);
    }
    let predicates = || PredicateFiles::kind_at(path);
    predicates().or_else(|| MappingFiles::are_at(path).then_some(ResourceKind::Mappings))
}

/// What the files of a WordNet hold.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct WordnetFiles {
    /// What it is called, as in `wordnet-3.0`.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Language tag.
    pub language: String,
    /// Its licence: a text or an address.
    pub licence: String,
    /// Bytes of the files.
    pub bytes: u64,
    /// The synsets, in order of number.
    pub synsets: Vec<Synset>,
    /// The words, in order of class and lemma.
    pub words: Vec<Word>,
    /// The forms that no rule yields, in order of class and form.
    pub irregular: Vec<IrregularForm>,
}

impl WordnetFiles {
    /// Reads a WordNet: the directory of its database files, or a WN-LMF file, plain or gzip, or
    /// the directory that holds one.
    ///
    /// # Errors
    /// When the place holds none, or a file is not what it should be.
    pub fn read(path: &Path) -> Result<Self> {
        if let Some(directory) = wndb::directory(path) {
            return wndb::read(&directory);
        }
        if path.is_file() {
            return lmf::read(path);
        }
        match lmf::only_one(path) {
            Some(file) => lmf::read(&file),
            None => Err(LexicaError::None {
                path: path.to_owned(),
                expected: "`data.noun` or another `data` file, or one WN-LMF file".to_owned(),
            }),
        }
    }

    fn are_at(path: &Path) -> bool {
        match path.is_file() {
            true => lmf::begins_as_one(path),
            false => wndb::directory(path).is_some() || lmf::only_one(path).is_some(),
        }
    }

    /// How many of each thing there are.
    #[must_use]
    pub fn counts(&self) -> ResourceCounts {
        ResourceCounts {
            synsets: self.synsets.len() as u64,
            words: self.words.len() as u64,
            senses: self.words.iter().map(|word| word.senses.len() as u64).sum(),
            relations: self.synsets.iter().map(|synset| synset.relations.len() as u64).sum(),
            irregular: self.irregular.len() as u64,
            ..ResourceCounts::default()
        }
    }
}

/// A lemma as words are found by it: in small letters, with spaces.
#[must_use]
pub fn wordnet_lemma(written: &str) -> String {
    fold(&written.replace('_', " "))
}
