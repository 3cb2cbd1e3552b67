//! Sentence pairs, and their words as numbers.
//!
//! A file of pairs has one a line. In a `.jsonl` file it is an object whose `source` and `target`
//! are texts or lists of words, with gold links where they are known. In any other file it is the
//! two texts with a tab between them; what follows a second tab is ignored. A first line of the
//! names `source` and `target` is a header:
//!
//! ```text
//! {"id": "1", "source": ["it", "grew"], "target": "It rose .", "sure": [[0, 0]], "possible": [[1, 1]]}
//! it grew<TAB>It rose .
//! ```

use std::collections::HashMap;
use std::path::Path;

use serde::{Deserialize, Deserializer, Serialize};

use super::links::Links;
use crate::align::AlignError;
use crate::align::dataset::Dataset;
use crate::align::encode::WordPair;

/// A sentence and its paraphrase in words, with the links that are known of them.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SentencePair {
    /// Name of the pair in its corpus; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub id: String,
    /// Words of the sentence.
    #[serde(deserialize_with = "words_or_text")]
    pub source: Vec<String>,
    /// Words of the paraphrase.
    #[serde(deserialize_with = "words_or_text")]
    pub target: Vec<String>,
    /// Links that an aligner must find.
    #[serde(default, skip_serializing_if = "Links::is_empty")]
    pub sure: Links,
    /// Links that an aligner may find besides.
    #[serde(default, skip_serializing_if = "Links::is_empty")]
    pub possible: Links,
}

fn words_or_text<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "a text or a list of words")]
    enum Either {
        Text(String),
        Words(Vec<String>),
    }
    Ok(match Either::deserialize(from)? {
        Either::Text(text) => words_of(&text),
        Either::Words(words) => words,
    })
}

fn words_of(text: &str) -> Vec<String> {
    let words = crate::text::words(text).into_iter();
    words.map(|span| text[span.start as usize..span.end as usize].to_owned()).collect()
}

impl SentencePair {
    /// The words, as the encoder takes them.
    pub(in crate::align) fn words(&self) -> WordPair<'_> {
        WordPair {
            source: self.source.iter().map(String::as_str).collect(),
            target: self.target.iter().map(String::as_str).collect(),
        }
    }

    /// Whether it is the line of names above the pairs of a table, as `fnstore mine` writes it.
    fn is_header(&self) -> bool {
        self.source == ["source"] && self.target == ["target"]
    }

    fn read(line: &str, json: bool) -> Result<Self, (String, &'static str)> {
        if !json {
            let Some((source, rest)) = line.split_once('\t') else {
                return Err(("no tab".to_owned(), "two texts with a tab between them"));
            };
            let target = rest.split_once('\t').map_or(rest, |(target, _)| target);
            let (source, target) = (words_of(source), words_of(target));
            return Ok(Self { source, target, ..Self::default() });
        }
        let expected = "an object with `source` and `target`, texts or lists of words";
        let pair: Self = serde_json::from_str(line).map_err(|e| (e.to_string(), expected))?;
        for link in pair.sure.iter().chain(pair.possible.iter()) {
            if link.source as usize >= pair.source.len()
                || link.target as usize >= pair.target.len()
            {
                let sizes = (pair.source.len(), pair.target.len());
                let found = format!(
                    "link [{}, {}] of {} and {} words",
                    link.source, link.target, sizes.0, sizes.1
                );
                return Err((found, "links between words that are there, counted from 0"));
            }
        }
        Ok(pair)
    }
}

impl Dataset<SentencePair> {
    /// Reads a file of sentence pairs, in the form that its name says (see the table above
    /// [`SentencePair`]).
    ///
    /// # Errors
    /// When the file cannot be read, or a line is no pair (naming the line).
    pub fn read(path: &Path) -> Result<Self, AlignError> {
        let json = path.extension().is_some_and(|extension| extension == "jsonl");
        let mut data = Self::read_lines(path, "read sentence pairs from", |line| {
            SentencePair::read(line, json)
        })?;
        let mut is_first = !json && data.lines().first().is_some_and(|at| at.line == 1);
        data.retain(|pair| !(std::mem::take(&mut is_first) && pair.is_header()));
        Ok(data)
    }
}

/// Reads a file of sentence pairs without the places where they stand, as
/// [`Dataset::read`](Dataset<SentencePair>::read) does.
///
/// # Errors
/// When the file cannot be read, or a line is no pair (naming the line).
pub fn read_pairs(path: &Path) -> Result<Vec<SentencePair>, AlignError> {
    Ok(Dataset::<SentencePair>::read(path)?.into_items())
}

/// Number of no word; the others count from 1.
pub(super) const NULL: u32 = 0;

/// Words as numbers, one vocabulary for both sides; capitals and small letters are one word.
#[derive(Debug, Clone)]
pub(super) struct Vocabulary {
    numbers: HashMap<String, u32>,
    /// The word of each number.
    words: Vec<String>,
}

impl Vocabulary {
    pub(super) fn new() -> Self {
        Self { numbers: HashMap::new(), words: vec![String::new()] }
    }

    /// Words that look like no other, numbered from 1.
    #[cfg(test)]
    pub(super) fn of_strangers(words: u32) -> Self {
        let mut vocabulary = Self::new();
        for number in 1..=words {
            let letter = char::from_u32(0x4e00 + number).expect("these are ideographs");
            vocabulary.number(&letter.to_string());
        }
        vocabulary
    }

    /// Number of numbers, null counted.
    pub(super) fn len(&self) -> usize {
        self.words.len()
    }

    fn number(&mut self, word: &str) -> u32 {
        let next = self.len() as u32;
        let word = crate::text::fold(word);
        *self.numbers.entry(word.clone()).or_insert_with(|| {
            self.words.push(word);
            next
        })
    }

    /// How much two words look alike ([`likeness`]). Null looks like nothing.
    pub(super) fn likeness(&self, a: u32, b: u32) -> f64 {
        if a == NULL || b == NULL {
            return 0.0;
        }
        if a == b { 1.0 } else { likeness(&self.words[a as usize], &self.words[b as usize]) }
    }

    /// A pair in numbers.
    pub(super) fn intern(&mut self, pair: &SentencePair) -> Pair {
        let mut side = |words: &[String]| words.iter().map(|word| self.number(word)).collect();
        Pair { source: side(&pair.source), target: side(&pair.target) }
    }
}

/// How much two words look alike: 1 for a word and itself. Else the square of the share of the
/// longer one that both begin with, if that is half of it or more, else 0.
pub(in crate::align) fn likeness(a: &str, b: &str) -> f64 {
    if a == b {
        return 1.0;
    }
    let shared = a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count();
    let share = shared as f64 / a.chars().count().max(b.chars().count()) as f64;
    if share < 0.5 { 0.0 } else { share * share }
}

/// A sentence pair in numbers. A model explains the words of `target` by those of `source`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pair {
    pub(super) source: Vec<u32>,
    pub(super) target: Vec<u32>,
}

impl Pair {
    pub(super) fn flipped(&self) -> Self {
        Self { source: self.target.clone(), target: self.source.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learn::FileError;

    fn read(name: &str, text: &str) -> Result<Vec<SentencePair>, AlignError> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(name);
        std::fs::write(&path, text).unwrap();
        read_pairs(&path)
    }

    #[test]
    fn texts_and_words_are_both_read() {
        let pairs = read(
            "a.jsonl",
            "{\"source\": [\"it\", \"grew.\"], \"target\": \"It rose.\", \"sure\": [[1, 1]]}\n\n",
        )
        .unwrap();
        assert_eq!(pairs.len(), 1);
        assert_eq!(pairs[0].source, ["it", "grew."]);
        assert_eq!(pairs[0].target, ["It", "rose", "."]);
        assert_eq!(pairs[0].sure.to_string(), "1-1");
        let tabbed = read("a.tsv", "it grew .\tIt rose.\tcorpus 7\n").unwrap();
        assert_eq!(
            (&tabbed[0].source.join(" "), &tabbed[0].target.join(" ")),
            (&"it grew .".into(), &"It rose .".into())
        );
    }

    #[test]
    fn a_bad_line_is_refused_with_its_number() {
        let good = r#"{"source": ["a"], "target": ["b"]}"#;
        for bad in [
            "{",
            "[]",
            r#"{"source": ["a"]}"#,
            r#"{"source": 1, "target": ["b"]}"#,
            r#"{"source": ["a"], "target": ["b"], "sure": [[0, 1]]}"#,
            r#"{"source": ["a"], "target": ["b"], "possible": [[1, 0]]}"#,
            r#"{"source": ["a"], "target": ["b"], "sure": [[-1, 0]]}"#,
        ] {
            let error = read("a.jsonl", &format!("{good}\n{bad}\n")).unwrap_err().to_string();
            assert!(error.contains("line 2"), "{error}");
        }
        let error = read("a.tsv", "a\tb\nno tab here\n").unwrap_err().to_string();
        assert!(error.contains("line 2") && error.contains("tab"), "{error}");
        assert!(matches!(
            read_pairs(Path::new("/nowhere.tsv")),
            Err(AlignError::File(FileError::Io { .. }))
        ));
    }

    #[test]
    fn a_word_has_one_number_on_both_sides_and_in_any_case() {
        let mut vocabulary = Vocabulary::new();
        let pair = SentencePair {
            source: vec!["The".into(), "cat".into()],
            target: vec!["a".into(), "the".into()],
            ..SentencePair::default()
        };
        assert_eq!(vocabulary.intern(&pair), Pair { source: vec![1, 2], target: vec![3, 1] });
        assert_eq!(vocabulary.len(), 4);
    }

    #[test]
    fn words_that_begin_alike_look_alike() {
        let mut vocabulary = Vocabulary::new();
        let [confirm, confirmed, confess] =
            ["confirm", "Confirmed", "confess"].map(|word| vocabulary.number(word));
        assert_eq!(vocabulary.likeness(confirm, confirm), 1.0);
        assert!((vocabulary.likeness(confirm, confirmed) - 49.0 / 81.0).abs() < 1e-12);
        assert_eq!(vocabulary.likeness(confirmed, confess), 0.0);
        assert_eq!(vocabulary.likeness(NULL, NULL), 0.0);
    }
}
