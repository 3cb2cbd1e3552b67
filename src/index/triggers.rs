//! What the entries say of each trigger, without a set being read.

use rayon::iter::{IntoParallelRefIterator as _, ParallelIterator as _};
use tantivy::columnar::Column;
use tantivy::schema::IndexRecordOption;
use tantivy::{DocId, DocSet as _, SegmentReader, TERMINATED};

use super::guard::guarded;
use super::{IndexReader, Result};
use crate::model::{AnnotationSetId, FrameId, IdSpace, LuId, ReleaseId, SentenceId};

/// What an entry says of a set beside its trigger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct TriggerEntry {
    /// The set's release.
    pub release: ReleaseId,
    /// 0 for annotation by people, from 1 for rounds of expansion.
    pub round: u16,
    /// Whether it was carried into a sentence that an expansion wrote.
    pub is_carried: bool,
    /// Its frame.
    pub frame: FrameId,
    /// Its LU.
    pub lu: LuId,
    /// Its sentence.
    pub sentence: SentenceId,
}

/// The columns of a segment that [`TriggerEntry`] is read from.
struct Columns {
    release: Column<u64>,
    round: Option<Column<u64>>,
    frame: Column<u64>,
    lu: Column<u64>,
    set: Column<u64>,
    sentence: Option<Column<u64>>,
}

impl Columns {
    fn of(segment: &SegmentReader) -> tantivy::Result<Self> {
        let columns = segment.fast_fields();
        Ok(Self {
            release: columns.u64("release")?,
            round: columns.column_opt("round")?,
            frame: columns.u64("frame")?,
            lu: columns.u64("lu")?,
            set: columns.u64("set")?,
            sentence: columns.column_opt("sentence")?,
        })
    }

    /// `None` where a column has what no writer writes.
    fn entry(&self, doc: DocId) -> Option<TriggerEntry> {
        let of = |column: &Option<Column<u64>>| column.as_ref().and_then(|of| of.first(doc));
        // Left out where it is the set's own number.
        let sentence = of(&self.sentence).or_else(|| self.set.first(doc))?;
        let (round, set) = (of(&self.round), self.set.first(doc)?);
        // Of sets with such numbers only those have no round.
        let is_written = AnnotationSetId::from_bits(set)?.space() == IdSpace::Generated;
        Some(TriggerEntry {
            release: ReleaseId(self.release.first(doc)?.try_into().ok()?),
            round: round.unwrap_or_default().try_into().ok()?,
            is_carried: is_written && round.is_none(),
            frame: FrameId(self.frame.first(doc)?.try_into().ok()?),
            lu: LuId(self.lu.first(doc)?.try_into().ok()?),
            sentence: SentenceId::from_bits(sentence)?,
        })
    }
}

impl IndexReader {
    /// Folds the entries of each segment, trigger by trigger: `add` is given a trigger, as it is
    /// folded, and all entries of the segment that have it. A set without a target has the empty
    /// trigger. Segments are read on all threads, and what two of them gave is merged as soon as it
    /// is there.
    ///
    /// `None` where the index leaves a trigger out, which it does with those that are too long.
    ///
    /// # Errors
    /// When the index is damaged.
    pub fn fold_triggers<A: Send>(
        &self,
        begin: impl Fn() -> A + Sync,
        add: impl Fn(&mut A, &str, &[TriggerEntry]) + Sync,
        merge: impl Fn(A, A) -> A + Sync,
    ) -> Result<Option<A>> {
        let of_segment = |segment: &SegmentReader| {
            guarded(&self.path, "reading triggers", || {
                let mut all = begin();
                let is_whole =
                    self.fold_segment(segment, |text, some| add(&mut all, text, some))?;
                Ok(is_whole.then_some(all))
            })
        };
        let segments = self.searcher.segment_readers().par_iter().map(of_segment);
        segments.try_reduce(
            || Some(begin()),
            |one, other| Ok(one.zip(other).map(|(one, other)| merge(one, other))),
        )
    }

    /// Whether each set of the segment has a trigger in it.
    fn fold_segment(
        &self,
        segment: &SegmentReader,
        mut add: impl FnMut(&str, &[TriggerEntry]),
    ) -> tantivy::Result<bool> {
        let (columns, index) =
            (Columns::of(segment)?, segment.inverted_index(self.fields.trigger)?);
        let (mut terms, mut entries, mut seen) = (index.terms().stream()?, Vec::new(), 0);
        while terms.advance() {
            let Ok(trigger) = std::str::from_utf8(terms.key()) else { return Ok(false) };
            let info = terms.value();
            let mut postings = index.read_postings_from_terminfo(info, IndexRecordOption::Basic)?;
            entries.clear();
            let mut doc = postings.doc();
            while doc != TERMINATED {
                if !segment.is_deleted(doc) {
                    let Some(entry) = columns.entry(doc) else { return Ok(false) };
                    entries.push(entry);
                }
                doc = postings.advance();
            }
            seen += entries.len();
            add(trigger, &entries);
        }
        Ok(seen == segment.num_docs() as usize)
    }
}
