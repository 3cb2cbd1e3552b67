//! Searching the index: which sets might answer.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tantivy::collector::{Collector, SegmentCollector};
use tantivy::directory::FileSlice;
use tantivy::directory::error::OpenReadError;
use tantivy::directory::footer::Footer;
use tantivy::{DocId, Index, Score, Searcher, SegmentOrdinal};

use super::directory::ReadDirectory;
use super::guard::guarded;
use super::schema::{Fields, WORDS, analyzer, schema};
use super::{Filter, Hit, IndexError, Result};
use crate::model::{AnnotationSetId, FrameId, LuId, ReleaseId, SentenceId};

/// How long a reader waits before it opens the index again.
const PAUSES: [Duration; 3] =
    [Duration::from_millis(5), Duration::from_millis(20), Duration::from_millis(50)];

/// The index at one commit.
pub struct IndexReader {
    pub(super) searcher: Searcher,
    pub(super) fields: Fields,
    pub(super) path: PathBuf,
}

impl IndexReader {
    /// Opens the last commit of the index in `path`; `None` when there is no index of this schema.
    ///
    /// A writer may remove a segment between the moment its name is read and the moment it is
    /// opened; then a newer commit names others, and is opened instead.
    ///
    /// # Errors
    /// When the index is damaged.
    pub fn open(path: &Path) -> Result<Option<Self>> {
        let mut pauses = PAUSES.into_iter();
        loop {
            let outcome = Self::open_once(path);
            match pauses.next() {
                Some(pause) if outcome.is_err() => std::thread::sleep(pause),
                _ => return outcome,
            }
        }
    }

    fn open_once(path: &Path) -> Result<Option<Self>> {
        if super::stamp(path)?.is_none_or(|stamp| stamp.schema != super::schema::SCHEMA_VERSION) {
            return Ok(None);
        }
        let (schema, fields) = schema();
        let searcher = guarded(path, "opening", || {
            let index = Index::open(ReadDirectory::open(path)?)?;
            // It stands in a file without a checksum, and says how the others are read.
            if index.schema() != schema {
                let reason = "the one in `meta.json` is not what was written";
                return Err(tantivy::TantivyError::SchemaError(reason.to_owned()));
            }
            index.tokenizers().register(WORDS, analyzer());
            let manual = tantivy::ReloadPolicy::Manual;
            let reader: tantivy::IndexReader =
                index.reader_builder().reload_policy(manual).try_into()?;
            Ok(reader.searcher())
        })?;
        Ok(Some(Self { searcher, fields, path: path.to_owned() }))
    }

    /// Reads every file of the last commit in `path`, and compares its checksum with the one that
    /// was written behind it. Little of a file is in memory at a time.
    ///
    /// # Errors
    /// When a file is damaged, with its name.
    pub fn verify(path: &Path) -> Result<()> {
        const ACTION: &str = "verifying checksums";
        let failed = |error, file: &Path| OpenReadError::wrap_io_error(error, file.to_owned());
        let damaged = guarded(path, ACTION, || {
            let index = Index::open(ReadDirectory::open(path)?)?;
            // By the segments, and not by Tantivy's own list of files, which has no checksum.
            for file in index.load_metas()?.list_segment_files() {
                let written = path.join(&file);
                if written.exists() && !is_whole(&written).map_err(|error| failed(error, &file))? {
                    return Ok(Some(file));
                }
            }
            Ok(None)
        })?;
        match damaged {
            None => Ok(()),
            Some(file) => Err(IndexError::Damaged {
                path: path.to_owned(),
                action: ACTION,
                reason: format!("the checksum of `{}` is another", file.display()),
            }),
        }
    }

    /// Number of sets in the index.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.searcher.num_docs()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The sets that pass a filter; `None` when the index cannot answer it, as a pattern whose
    /// automaton grows too large.
    ///
    /// # Errors
    /// When the index is damaged.
    pub fn search(&self, filter: &Filter) -> Result<Option<Found<'_>>> {
        let Some(query) = self.query(filter)? else { return Ok(None) };
        let segments =
            guarded(&self.path, "searching", || self.searcher.search(&query, &Addresses))?;
        Ok(Some(Found { reader: self, segments }))
    }

    fn read_hits(
        &self,
        segment: SegmentOrdinal,
        docs: &[DocId],
        hits: &mut Vec<Hit>,
    ) -> tantivy::Result<()> {
        let columns = self.searcher.segment_reader(segment).fast_fields();
        let column = |name| columns.u64(name);
        let (release, frame, lu) = (column("release")?, column("frame")?, column("lu")?);
        let (sentence, set) = (column("sentence")?, column("set")?);
        for doc in docs {
            let value =
                |column: &tantivy::columnar::Column<u64>| column.first(*doc).unwrap_or_default();
            let narrow = |value: u64| u32::try_from(value).unwrap_or_default();
            let set = value(&set);
            // Left out where it is the set's own number.
            let sentence = sentence.first(*doc).unwrap_or(set);
            let ids = SentenceId::from_bits(sentence).zip(AnnotationSetId::from_bits(set));
            let Some((sentence, set)) = ids else { continue };
            hits.push(Hit {
                release: ReleaseId(u16::try_from(value(&release)).unwrap_or_default()),
                frame: FrameId(narrow(value(&frame))),
                lu: LuId(narrow(value(&lu))),
                sentence,
                set,
            });
        }
        Ok(())
    }
}

/// Whether a file has the checksum that was written behind it.
fn is_whole(path: &Path) -> io::Result<bool> {
    let (footer, content) = Footer::extract_footer(FileSlice::open(path)?)?;
    let mut checksum = crc32fast::Hasher::new();
    for bytes in content.stream_file_chunks() {
        checksum.update(&bytes?);
    }
    Ok(checksum.finalize() == footer.crc)
}

/// Sets that passed a filter: counted, and not read yet.
pub struct Found<'a> {
    reader: &'a IndexReader,
    segments: Vec<(SegmentOrdinal, Vec<DocId>)>,
}

impl Found<'_> {
    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.segments.iter().map(|(_, docs)| docs.len()).sum()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Where they are kept, in order of release, frame, LU, sentence and set.
    ///
    /// # Errors
    /// When the index is damaged.
    pub fn hits(&self) -> Result<Vec<Hit>> {
        let mut hits = Vec::with_capacity(self.len());
        guarded(&self.reader.path, "reading hits", || {
            let mut segments = self.segments.iter();
            segments
                .try_for_each(|(segment, docs)| self.reader.read_hits(*segment, docs, &mut hits))
        })?;
        hits.sort_unstable();
        Ok(hits)
    }
}

/// Collects the addresses of documents, segment by segment.
struct Addresses;

struct OfSegment(SegmentOrdinal, Vec<DocId>);

impl Collector for Addresses {
    type Fruit = Vec<(SegmentOrdinal, Vec<DocId>)>;
    type Child = OfSegment;

    fn for_segment(
        &self,
        segment: SegmentOrdinal,
        _reader: &tantivy::SegmentReader,
    ) -> tantivy::Result<OfSegment> {
        Ok(OfSegment(segment, Vec::new()))
    }

    fn requires_scoring(&self) -> bool {
        false
    }

    fn merge_fruits(&self, segments: Self::Fruit) -> tantivy::Result<Self::Fruit> {
        Ok(segments)
    }
}

impl SegmentCollector for OfSegment {
    type Fruit = (SegmentOrdinal, Vec<DocId>);

    fn collect(&mut self, doc: DocId, _score: Score) {
        self.1.push(doc);
    }

    fn harvest(self) -> Self::Fruit {
        (self.0, self.1)
    }
}
