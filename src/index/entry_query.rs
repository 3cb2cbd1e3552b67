//! The query that finds the entry of one set, to remove it: the entries of its bucket, and of these
//! the one whose columns hold the set.
//!
//! Tantivy's own query for a value of a column reads the whole column, for each set again.

use tantivy::query::{ConstScorer, EnableScoring, Explanation, Query, Scorer, Weight};
use tantivy::schema::IndexRecordOption;
use tantivy::{DocId, DocSet, Score, SegmentReader, TERMINATED, Term};

use super::guard::caught;
use super::schema::{Fields, bucket};
use crate::model::{AnnotationSetId, ReleaseId};

/// Finds the entry of a set.
#[derive(Debug, Clone)]
pub(super) struct EntryQuery {
    bucket: Term,
    release: u64,
    set: u64,
}

impl EntryQuery {
    pub(super) fn new(fields: &Fields, release: ReleaseId, set: AnnotationSetId) -> Self {
        let bucket = Term::from_field_u64(fields.bucket, bucket(set));
        Self { bucket, release: u64::from(release.0), set: set.bits() }
    }

    /// The entries in a segment, in order of document, those that were removed among them.
    pub(super) fn entries(&self, reader: &SegmentReader) -> tantivy::Result<Vec<DocId>> {
        let index = reader.inverted_index(self.bucket.field())?;
        let bucket = index.read_postings(&self.bucket, IndexRecordOption::Basic)?;
        let Some(mut bucket) = bucket else { return Ok(Vec::new()) };
        let columns = reader.fast_fields();
        let (releases, sets) = (columns.u64("release")?, columns.u64("set")?);
        let mut entries = Vec::new();
        let mut document = bucket.doc();
        while document != TERMINATED {
            if sets.first(document) == Some(self.set)
                && releases.first(document) == Some(self.release)
            {
                entries.push(document);
            }
            document = bucket.advance();
        }
        Ok(entries)
    }
}

impl Query for EntryQuery {
    fn weight(&self, _scoring: EnableScoring<'_>) -> tantivy::Result<Box<dyn Weight>> {
        Ok(Box::new(self.clone()))
    }
}

impl Weight for EntryQuery {
    fn scorer(&self, reader: &SegmentReader, boost: Score) -> tantivy::Result<Box<dyn Scorer>> {
        let documents = caught(|| self.entries(reader))?;
        Ok(Box::new(ConstScorer::new(Entries { documents, at: 0 }, boost)))
    }

    fn explain(&self, _reader: &SegmentReader, _document: DocId) -> tantivy::Result<Explanation> {
        Ok(Explanation::new("the entry of a set", 1.0))
    }
}

/// The documents that are entries of the set.
struct Entries {
    documents: Vec<DocId>,
    at: usize,
}

impl DocSet for Entries {
    fn advance(&mut self) -> DocId {
        self.at += 1;
        self.doc()
    }

    fn doc(&self) -> DocId {
        self.documents.get(self.at).copied().unwrap_or(TERMINATED)
    }

    fn size_hint(&self) -> u32 {
        u32::try_from(self.documents.len()).unwrap_or(u32::MAX)
    }
}
