//! The index: triggers and texts in Tantivy.
//!
//! It is derived from the store and can always be rebuilt. It keeps no text, only what leads back
//! to a set. Whoever searches reads every hit from the store and checks it again. So an index that
//! lags behind never shows a wrong answer. The last commit carries the store's revision as its
//! [`Stamp`], which says what has to be laid over its hits.

mod audit;
mod directory;
mod entry_query;
mod error;
mod filter;
mod guard;
mod mapped;
mod merges;
mod reader;
mod schema;
mod triggers;
mod words;
mod writer;

use std::fmt;
use std::path::Path;

use crate::model::{
    AnnotationSet, AnnotationSetId, Carrying, CorpusId, DocumentId, FrameId, Generation, LuId,
    Origin, ReleaseId, SentenceId,
};
pub use audit::{EntryState, IndexAudit};
pub use error::IndexError;
pub use filter::{Filter, Omitted};
pub use guard::panics_are_caught;
pub use reader::{Found, IndexReader};
pub use triggers::TriggerEntry;
pub use writer::IndexWriter;

type Result<T> = std::result::Result<T, IndexError>;

/// What the last commit stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    /// The store's revision.
    pub revision: u64,
    /// The index schema's version.
    pub schema: u32,
}

impl Stamp {
    /// Whether an index of this stamp serves a store at a revision, with what it lacks laid over
    /// it: one that is ahead of its store, or of another schema, does not.
    pub(crate) fn serves(&self, revision: u64) -> bool {
        self.schema == schema::SCHEMA_VERSION && self.revision <= revision
    }

    fn parse(text: &str) -> Option<Self> {
        let (revision, schema) = text.split_once(' ')?;
        Some(Self { revision: revision.parse().ok()?, schema: schema.parse().ok()? })
    }
}

impl fmt::Display for Stamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.revision, self.schema)
    }
}

/// The stamp of the last commit of the index in `path`; `None` when there is no index, or none that
/// was ever committed.
///
/// Reads one small file and opens nothing.
///
/// # Errors
/// When that file is there and cannot be read, or is damaged.
pub fn stamp(path: &Path) -> Result<Option<Stamp>> {
    let meta = path.join("meta.json");
    let content = match std::fs::read(&meta) {
        Ok(content) => content,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(IndexError::Io { path: meta, source }),
    };
    let damaged = |reason: &str| IndexError::Damaged {
        path: path.to_owned(),
        action: "reading its last commit",
        reason: reason.to_owned(),
    };
    let meta: serde_json::Value =
        serde_json::from_slice(&content).map_err(|_| damaged("`meta.json` is no JSON"))?;
    let is_new = meta["segments"].as_array().is_some_and(Vec::is_empty);
    if is_new && meta["payload"].is_null() {
        return Ok(None);
    }
    let stamp = meta["payload"].as_str().and_then(Stamp::parse);
    stamp.map(Some).ok_or_else(|| damaged("`meta.json` has no revision"))
}

/// What the index knows of a set that evokes a frame.
#[derive(Debug, Clone, Copy)]
pub struct Entry<'a> {
    /// Its release.
    pub release: ReleaseId,
    /// Its frame.
    pub frame: FrameId,
    /// Its LU.
    pub lu: LuId,
    /// Its sentence.
    pub sentence: SentenceId,
    /// The set.
    pub set: AnnotationSetId,
    /// The target's text, pieces joined by a space.
    pub trigger: &'a str,
    /// The sentence.
    pub text: &'a str,
    /// Where the set comes from.
    pub origin: Origin,
    /// The corpus that lists the set.
    pub corpus: Option<CorpusId>,
    /// The document that lists the set; its number is its own only inside the corpus.
    pub document: Option<(CorpusId, DocumentId)>,
    /// How the set was generated.
    pub generation: Option<&'a Generation>,
    /// How it was carried into a generated sentence.
    pub carrying: Option<&'a Carrying>,
}

/// Where a set that passed a filter is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hit {
    /// Its release.
    pub release: ReleaseId,
    /// Its frame.
    pub frame: FrameId,
    /// Its LU.
    pub lu: LuId,
    /// Its sentence.
    pub sentence: SentenceId,
    /// The set.
    pub set: AnnotationSetId,
}

impl Hit {
    /// Where a set of a release belongs.
    #[must_use]
    pub fn of(release: ReleaseId, set: &AnnotationSet) -> Self {
        let AnnotationSet { id, frame, lu, sentence, .. } = set;
        Self { release, frame: *frame, lu: *lu, sentence: *sentence, set: *id }
    }
}
