//! Searching the index: which sets might answer.

use std::path::{Path, PathBuf};
use std::time::Duration;

use tantivy::collector::DocSetCollector;
use tantivy::directory::MmapDirectory;
use tantivy::query::{BooleanQuery, EmptyQuery, Occur, PhraseQuery, Query, RegexQuery, TermQuery};
use tantivy::schema::IndexRecordOption;
use tantivy::{DocAddress, Index, Searcher, Term};

use super::directory::ReadDirectory;
use super::schema::{Fields, WORDS, analyzer, folded, schema, words_of};
use super::{Filter, Hit, IndexError};
use crate::model::{AnnotationSetId, FrameId, LuId, ReleaseId, SentenceId};

type Result<T> = std::result::Result<T, IndexError>;

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
        let failed = |error: tantivy::TantivyError| IndexError::Engine {
            path: path.to_owned(),
            action: "opening",
            reason: error.to_string(),
        };
        let directory = MmapDirectory::open(path).map_err(|error| failed(error.into()))?;
        let index = Index::open(ReadDirectory(directory)).map_err(failed)?;
        index.tokenizers().register(WORDS, analyzer());
        let reader = index
            .reader_builder()
            .reload_policy(tantivy::ReloadPolicy::Manual)
            .try_into()
            .map_err(failed)?;
        Ok(Some(Self { searcher: reader.searcher(), fields: schema().1, path: path.to_owned() }))
    }

    /// The sets that pass a filter, in order of release, frame, LU, sentence and set.
    ///
    /// # Errors
    /// When a pattern is not one that the index understands, or the index is damaged.
    pub fn search(&self, filter: &Filter) -> Result<Vec<Hit>> {
        let query = self.query(filter)?;
        let found =
            self.searcher.search(&query, &DocSetCollector).map_err(self.failed("searching"))?;
        let mut addresses: Vec<DocAddress> = found.into_iter().collect();
        addresses.sort_unstable();
        let mut hits = Vec::with_capacity(addresses.len());
        for segment in addresses.chunk_by(|a, b| a.segment_ord == b.segment_ord) {
            self.read_hits(segment, &mut hits)?;
        }
        hits.sort_unstable();
        Ok(hits)
    }

    fn read_hits(&self, addresses: &[DocAddress], hits: &mut Vec<Hit>) -> Result<()> {
        let failed = self.failed("reading hits");
        let columns = self.searcher.segment_reader(addresses[0].segment_ord).fast_fields();
        let column = |name| columns.u64(name).map_err(&failed);
        let (release, frame, lu) = (column("release")?, column("frame")?, column("lu")?);
        let (sentence, set) = (column("sentence")?, column("set")?);
        for address in addresses {
            let value = |column: &tantivy::columnar::Column<u64>| {
                column.first(address.doc_id).unwrap_or_default()
            };
            let narrow = |value: u64| u32::try_from(value).unwrap_or_default();
            let ids = SentenceId::from_bits(value(&sentence))
                .zip(AnnotationSetId::from_bits(value(&set)));
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

    fn query(&self, filter: &Filter) -> Result<Box<dyn Query>> {
        Ok(match filter {
            Filter::All(parts) => self.combined(parts, Occur::Must)?,
            Filter::Any(parts) => self.combined(parts, Occur::Should)?,
            Filter::Trigger(pattern) => {
                let query = RegexQuery::from_pattern(&folded(pattern), self.fields.trigger);
                Box::new(query.map_err(|error| IndexError::Pattern {
                    pattern: pattern.clone(),
                    reason: error.to_string(),
                })?)
            }
            Filter::Phrase(text) => self.phrase(text),
        })
    }

    fn combined(&self, parts: &[Filter], occur: Occur) -> Result<Box<dyn Query>> {
        let parts = parts.iter().map(|part| Ok((occur, self.query(part)?)));
        Ok(Box::new(BooleanQuery::new(parts.collect::<Result<Vec<_>>>()?)))
    }

    fn phrase(&self, text: &str) -> Box<dyn Query> {
        let field = self.fields.text;
        let words = words_of(text).into_iter().map(|word| Term::from_field_text(field, &word));
        let words: Vec<Term> = words.collect();
        match words.as_slice() {
            [] => Box::new(EmptyQuery),
            [word] => Box::new(TermQuery::new(word.clone(), IndexRecordOption::Basic)),
            _ => Box::new(PhraseQuery::new(words)),
        }
    }

    pub(super) fn failed(
        &self,
        action: &'static str,
    ) -> impl Fn(tantivy::TantivyError) -> IndexError {
        let path = self.path.clone();
        move |error| IndexError::Engine { path: path.clone(), action, reason: error.to_string() }
    }
}
