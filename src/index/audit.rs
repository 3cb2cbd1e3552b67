//! The index held against what it should hold, term by term.
//!
//! Nothing is stored in the index, so entries are compared by fingerprints of their terms: the sum
//! of a hash over every (field, term, position) of the entry. One pass over the inverted index
//! gives the fingerprints of all entries at eight bytes each. What an entry should be is
//! fingerprinted from the document that the writer would add. Numbers are read from the columns
//! that hits are read from.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::PathBuf;

use tantivy::postings::Postings;
use tantivy::schema::{FieldType, Schema, Value};
use tantivy::{DocId, DocSet, Searcher, SegmentReader, TERMINATED, TantivyDocument, Term};

use super::entry_query::EntryQuery;
use super::guard::guarded;
use super::schema::{Fields, is_omitted};
use super::words::LongTexts;
use super::writer::document;
use super::{Entry, IndexReader, Result};

/// What the index holds of a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryState {
    /// One entry, with the right terms and numbers.
    Right,
    /// No entry: the index never finds the set.
    Missing,
    /// That many entries.
    Repeated(usize),
    /// One entry, with other terms or numbers than the set's.
    Wrong,
}

/// The entries of an index's last commit, ready to be compared.
pub struct IndexAudit {
    searcher: Searcher,
    fields: Fields,
    schema: Schema,
    segments: Vec<SegmentAudit>,
    long_texts: LongTexts,
    path: PathBuf,
}

struct SegmentAudit {
    /// By document number.
    fingerprints: Vec<u64>,
    /// Which documents a set has been found to own.
    claimed: Vec<bool>,
}

impl IndexReader {
    /// Number of entries.
    #[must_use]
    pub fn entries(&self) -> u64 {
        self.searcher.num_docs()
    }

    /// Reads the whole index for an audit: eight bytes of memory and a bit of time for each entry.
    ///
    /// # Errors
    /// When the index is damaged.
    pub fn audit(&self) -> Result<IndexAudit> {
        let segment = |reader: &SegmentReader| -> tantivy::Result<SegmentAudit> {
            Ok(SegmentAudit {
                fingerprints: fingerprints(reader)?,
                claimed: vec![false; reader.max_doc() as usize],
            })
        };
        let segments = guarded(&self.path, "reading every term", || {
            self.searcher.segment_readers().iter().map(segment).collect()
        });
        Ok(IndexAudit {
            segments: segments?,
            long_texts: LongTexts::default(),
            searcher: self.searcher.clone(),
            fields: self.fields,
            schema: self.searcher.schema().clone(),
            path: self.path.clone(),
        })
    }
}

impl IndexAudit {
    /// What the index holds of a set whose entry should be `entry`.
    ///
    /// # Errors
    /// When the index is damaged.
    pub fn check(&mut self, entry: &Entry<'_>) -> Result<EntryState> {
        let path = self.path.clone();
        guarded(&path, "looking up an entry", || self.state(entry))
    }

    fn state(&mut self, entry: &Entry<'_>) -> tantivy::Result<EntryState> {
        let query = EntryQuery::new(&self.fields, entry.release, entry.set);
        let mut found = Vec::new();
        for (ordinal, segment) in self.segments.iter_mut().enumerate() {
            let reader = &self.searcher.segment_readers()[ordinal];
            for doc in query.entries(reader)? {
                if !reader.is_deleted(doc) {
                    segment.claimed[doc as usize] = true;
                    found.push((ordinal, doc));
                }
            }
        }
        Ok(match found.as_slice() {
            [] => EntryState::Missing,
            [(ordinal, doc)] if self.is_right(*ordinal, *doc, entry)? => EntryState::Right,
            [_] => EntryState::Wrong,
            several => EntryState::Repeated(several.len()),
        })
    }

    fn is_right(&mut self, ordinal: usize, doc: DocId, entry: &Entry<'_>) -> tantivy::Result<bool> {
        let expected = document(&self.fields, &mut self.long_texts, entry);
        let reader = &self.searcher.segment_readers()[ordinal];
        Ok(self.segments[ordinal].fingerprints[doc as usize] == self.fingerprint(&expected)?
            && self.columns_agree(reader, doc, &expected)?)
    }

    /// The sum that [`fingerprints`] has for an entry with these terms.
    fn fingerprint(&self, document: &TantivyDocument) -> tantivy::Result<u64> {
        let mut sum = 0_u64;
        for (field, value) in document.field_values() {
            match self.schema.get_field_entry(field).field_type() {
                FieldType::Str(options) => {
                    let Some(indexing) = options.get_indexing_options() else { continue };
                    let text = value.as_str().unwrap_or_default();
                    let mut analyzer = self.searcher.index().tokenizer_for_field(field)?;
                    let mut tokens = analyzer.token_stream(text);
                    let mut distinct = BTreeSet::new();
                    let with_positions = indexing.index_option().has_positions();
                    tokens.process(&mut |token| {
                        let hash = term_hash(field.field_id(), token.text.as_bytes());
                        if is_omitted(&token.text) {
                            // Tantivy leaves such a term out.
                        } else if with_positions {
                            let position = u32::try_from(token.position).unwrap_or(u32::MAX);
                            sum = sum.wrapping_add(at_position(hash, position));
                        } else if distinct.insert(hash) {
                            sum = sum.wrapping_add(at_position(hash, 0));
                        }
                    });
                }
                FieldType::U64(options) if options.is_indexed() => {
                    let term = Term::from_field_u64(field, value.as_u64().unwrap_or_default());
                    let hash = term_hash(field.field_id(), term.serialized_value_bytes());
                    sum = sum.wrapping_add(at_position(hash, 0));
                }
                _ => {}
            }
        }
        Ok(sum)
    }

    /// Whether every numeric column has the document's value.
    fn columns_agree(
        &self,
        reader: &SegmentReader,
        doc: DocId,
        document: &TantivyDocument,
    ) -> tantivy::Result<bool> {
        let columns = reader.fast_fields();
        for (field, value) in document.field_values() {
            let entry = self.schema.get_field_entry(field);
            let agrees = match entry.field_type() {
                FieldType::U64(options) if options.is_fast() => {
                    let column = columns.column_opt::<u64>(entry.name())?;
                    column.and_then(|column| column.first(doc)) == value.as_u64()
                }
                FieldType::F64(options) if options.is_fast() => {
                    let column = columns.column_opt::<f64>(entry.name())?;
                    column.and_then(|column| column.first(doc)).map(f64::to_bits)
                        == value.as_f64().map(f64::to_bits)
                }
                _ => true,
            };
            if !agrees {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Number of entries that no set checked so far owns.
    #[must_use]
    pub fn unclaimed(&self) -> usize {
        let readers = self.searcher.segment_readers().iter();
        let segments = readers.zip(&self.segments);
        let unclaimed = |(reader, segment): (&SegmentReader, &SegmentAudit)| {
            reader.doc_ids_alive().filter(|doc| !segment.claimed[*doc as usize]).count()
        };
        segments.map(unclaimed).sum()
    }
}

/// For every document of a segment, the sum of the hashes of its terms at their positions.
fn fingerprints(reader: &SegmentReader) -> tantivy::Result<Vec<u64>> {
    let mut sums = vec![0_u64; reader.max_doc() as usize];
    let mut positions = Vec::new();
    for (field, entry) in reader.schema().fields() {
        let Some(option) = entry.field_type().get_index_record_option() else { continue };
        let index = reader.inverted_index(field)?;
        let mut terms = index.terms().stream()?;
        while terms.advance() {
            let hash = term_hash(field.field_id(), terms.key());
            let mut postings = index.read_postings_from_terminfo(terms.value(), option)?;
            let mut doc = postings.doc();
            while doc != TERMINATED {
                positions.clear();
                if option.has_positions() {
                    postings.positions(&mut positions);
                } else {
                    positions.push(0);
                }
                let sum = &mut sums[doc as usize];
                for position in &positions {
                    *sum = sum.wrapping_add(at_position(hash, *position));
                }
                doc = postings.advance();
            }
        }
    }
    Ok(sums)
}

fn term_hash(field: u32, term: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    (field, term).hash(&mut hasher);
    hasher.finish()
}

/// The last step of SplitMix64, so that a term's hashes at two positions have nothing in common.
fn at_position(hash: u64, position: u32) -> u64 {
    let mut mixed =
        hash.wrapping_add(u64::from(position).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ mixed >> 31
}
