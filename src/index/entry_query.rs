//! The query that finds the entry of one set, to remove it: the entries of its bucket, and of these
//! the one whose columns hold the set.
//!
//! Tantivy's own query for a value of a column reads the whole column, for each set again.

use tantivy::columnar::Column;
use tantivy::postings::SegmentPostings;
use tantivy::query::{ConstScorer, EmptyScorer, EnableScoring, Explanation, Query, Scorer, Weight};
use tantivy::schema::IndexRecordOption;
use tantivy::{DocId, DocSet, Score, SegmentReader, TERMINATED, Term};

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

    /// The entries in a segment, those that were removed among them; `None` for an empty bucket.
    pub(super) fn entries(&self, reader: &SegmentReader) -> tantivy::Result<Option<Entries>> {
        let index = reader.inverted_index(self.bucket.field())?;
        let bucket = index.read_postings(&self.bucket, IndexRecordOption::Basic)?;
        let Some(bucket) = bucket else { return Ok(None) };
        let columns = reader.fast_fields();
        let (releases, sets) = (columns.u64("release")?, columns.u64("set")?);
        let mut entries = Entries { bucket, releases, sets, release: self.release, set: self.set };
        entries.skip_others();
        Ok(Some(entries))
    }
}

impl Query for EntryQuery {
    fn weight(&self, _scoring: EnableScoring<'_>) -> tantivy::Result<Box<dyn Weight>> {
        Ok(Box::new(self.clone()))
    }
}

impl Weight for EntryQuery {
    fn scorer(&self, reader: &SegmentReader, boost: Score) -> tantivy::Result<Box<dyn Scorer>> {
        Ok(match self.entries(reader)? {
            Some(entries) => Box::new(ConstScorer::new(entries, boost)),
            None => Box::new(EmptyScorer),
        })
    }

    fn explain(&self, _reader: &SegmentReader, _document: DocId) -> tantivy::Result<Explanation> {
        Ok(Explanation::new("the entry of a set", 1.0))
    }
}

/// The documents of a bucket that are entries of the set.
pub(super) struct Entries {
    bucket: SegmentPostings,
    releases: Column<u64>,
    sets: Column<u64>,
    release: u64,
    set: u64,
}

impl Entries {
    /// Moves to the next entry of the set, from where the bucket is on.
    fn skip_others(&mut self) -> DocId {
        let mut document = self.bucket.doc();
        while document != TERMINATED
            && (self.sets.first(document) != Some(self.set)
                || self.releases.first(document) != Some(self.release))
        {
            document = self.bucket.advance();
        }
        document
    }
}

impl DocSet for Entries {
    fn advance(&mut self) -> DocId {
        self.bucket.advance();
        self.skip_others()
    }

    fn doc(&self) -> DocId {
        self.bucket.doc()
    }

    fn size_hint(&self) -> u32 {
        1
    }
}
