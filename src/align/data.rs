//! Alignment data: sentences, paraphrases and the spans that mean the same in both.
//!
//! One JSON object per line, offsets half-open and in words:
//!
//! ```text
//! {"id": "a/0", "source": ["they", "checked", "it"], "source_span": [1, 2],
//!  "target": ["it", "was", "inspected"], "target_span": [2, 3], "changed": true}
//! ```
//!
//! A `target_span` of null says that nothing in the paraphrase answers to the span.

use std::collections::HashMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::candidates::WordSpan;
use super::dataset::Dataset;
use super::encode::WordPair;
use super::error::AlignError;

/// One source span and the span that answers to it, if any does.
///
/// ```
/// use fnstore::align::AlignedSpan;
///
/// let line = r#"{"id":"a/0","source":["it","grew"],"source_span":[1,2],
///                "target":["it","rose"],"target_span":[1,2],"changed":true}"#;
/// let item: AlignedSpan = serde_json::from_str(line)?;
/// let span = item.target_span.expect("it is aligned");
/// assert_eq!(item.target[span.start as usize], "rose");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AlignedSpan {
    /// Name of the sentence pair in its corpus.
    pub id: String,
    /// Words of the sentence.
    pub source: Vec<String>,
    /// The span in the sentence.
    #[serde(with = "word_pair")]
    pub source_span: WordSpan,
    /// Words of the paraphrase.
    pub target: Vec<String>,
    /// The span of the paraphrase that means the same, if there is one.
    #[serde(with = "optional_word_pair")]
    pub target_span: Option<WordSpan>,
    /// Whether the two spans differ in wording; true where there is only one.
    pub changed: bool,
}

impl AlignedSpan {
    /// Reads a JSON Lines file without the places where its items stand, as
    /// [`Dataset::read`](Dataset<AlignedSpan>::read) does.
    ///
    /// # Errors
    /// When the file cannot be read, or a line is no such object or has a span outside its words
    /// (naming the line).
    pub fn read(path: &Path) -> Result<Vec<Self>, AlignError> {
        Ok(Dataset::<Self>::read(path)?.into_items())
    }

    fn parse(line: &str) -> Result<Self, (String, &'static str)> {
        let item: Self = serde_json::from_str(line)
            .map_err(|e| (e.to_string(), "an object as in src/align/data.rs"))?;
        let sides = [(Some(item.source_span), &item.source), (item.target_span, &item.target)];
        for (span, words) in sides.into_iter().filter_map(|(span, words)| Some((span?, words))) {
            if span.is_empty() || span.end as usize > words.len() {
                let found = format!("span `{}..{}` of {}", span.start, span.end, words.len());
                return Err((found, "a span of one or more of the words"));
            }
        }
        Ok(item)
    }

    /// The words of both sides, as the encoder takes them.
    pub(super) fn words(&self) -> WordPair<'_> {
        WordPair {
            source: self.source.iter().map(String::as_str).collect(),
            target: self.target.iter().map(String::as_str).collect(),
        }
    }
}

impl Dataset<AlignedSpan> {
    /// Reads a JSON Lines file.
    ///
    /// # Errors
    /// When the file cannot be read, or a line is no such object or has a span outside its words
    /// (naming the line).
    pub fn read(path: &Path) -> Result<Self, AlignError> {
        Self::read_lines(path, "read alignment data", AlignedSpan::parse)
    }
}

/// The distinct sentence pairs of the data, in order of first mention, and the pair of each item.
///
/// Several spans of one pair need its encoder states once.
pub(super) fn distinct_pairs(items: &[AlignedSpan]) -> (Vec<&AlignedSpan>, Vec<usize>) {
    let mut numbers = HashMap::new();
    let mut pairs = Vec::new();
    let pair_of = items
        .iter()
        .map(|item| {
            *numbers.entry((&item.source, &item.target)).or_insert_with(|| {
                pairs.push(item);
                pairs.len() - 1
            })
        })
        .collect();
    (pairs, pair_of)
}

/// A span as the JSON array `[start, end]`.
mod word_pair {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::WordSpan;

    pub(super) fn serialize<S: Serializer>(span: &WordSpan, to: S) -> Result<S::Ok, S::Error> {
        [span.start, span.end].serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<WordSpan, D::Error> {
        let [start, end] = <[u32; 2]>::deserialize(from)?;
        Ok(WordSpan { start, end })
    }
}

/// A span as `[start, end]`, none as null.
mod optional_word_pair {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::WordSpan;

    pub(super) fn serialize<S: Serializer>(
        span: &Option<WordSpan>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        span.map(|span| [span.start, span.end]).serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<WordSpan>, D::Error> {
        let pair = Option::<[u32; 2]>::deserialize(from)?;
        Ok(pair.map(|[start, end]| WordSpan { start, end }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learn::{FileError, NetworkError};

    const LINE: &str = r#"{"id":"a","source":["x","y"],"source_span":[1,2],"target":["z"],"target_span":[0,1],"changed":true}"#;

    fn read(text: &str) -> Result<Vec<AlignedSpan>, AlignError> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        AlignedSpan::read(file.path())
    }

    #[test]
    fn a_line_reads_and_writes_unchanged() {
        let items = read(&format!("{LINE}\n\n{LINE}\n")).unwrap();
        assert_eq!(items.len(), 2);
        assert_eq!(items[0].source_span, WordSpan::new(1, 2));
        assert_eq!(serde_json::to_string(&items[0]).unwrap(), LINE);
        let (pairs, pair_of) = distinct_pairs(&items);
        assert_eq!((pairs.len(), pair_of), (1, vec![0, 0]));
    }

    #[test]
    fn a_span_that_nothing_answers_to_has_null() {
        let line = LINE.replace("[0,1]", "null");
        let items = read(&line).unwrap();
        assert_eq!(items[0].target_span, None);
        assert_eq!(serde_json::to_string(&items[0]).unwrap(), line);
        // Left out is not the same as null.
        let error = read(&LINE.replace(r#""target_span":[0,1],"#, "")).unwrap_err();
        assert!(error.to_string().contains("missing field `target_span`"), "{error}");
    }

    #[test]
    fn a_bad_line_is_refused_with_its_number() {
        for bad in ["{", "[]", &LINE.replace("[1,2]", "[1,3]"), &LINE.replace("[0,1]", "[1,1]")] {
            let error = read(&format!("{LINE}\n{bad}")).unwrap_err();
            assert!(error.to_string().contains("line 2"), "{error}");
        }
        assert!(matches!(
            AlignedSpan::read(Path::new("/nowhere.jsonl")),
            Err(AlignError::Network(NetworkError::File(FileError::Io { .. })))
        ));
    }
}
