//! Sentence pairs, and their words as numbers.
//!
//! A file of pairs has one a line. In a `.jsonl` file, and in one whose first line begins with `{`,
//! it is an object whose `source` and `target` are texts or lists of words, with gold links where
//! they are known. In a `.tsv` file, and in any other, it is the two texts with a tab between them;
//! what follows a second tab is ignored. Either side may be empty. The names of the columns that
//! `fnstore mine` writes (`source`, `target`, `id` and more) are a header where they come first.
//! Two names alone are a pair:
//!
//! ```text
//! {"id": "1", "source": ["it", "grew"], "target": "It rose .", "sure": [[0, 0]], "possible": [[1, 1]]}
//! it grew<TAB>It rose .
//! ```

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize};

use super::links::{Link, Links};
use crate::align::dataset::Dataset;
use crate::align::encode::WordPair;
use crate::align::{AlignError, FileLine};
use crate::learn::{FileError, LINE_LIMIT};
use crate::text::input::{self, LineFault, Lines};

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

    fn read(line: &str, json: bool) -> Result<Self, NoPair> {
        if !json {
            let (source, rest) = line.split_once('\t').ok_or(NoPair::NoTab)?;
            let target = rest.split_once('\t').map_or(rest, |(target, _)| target);
            let (source, target) = (words_of(source), words_of(target));
            return Ok(Self { source, target, ..Self::default() });
        }
        let pair: Self = serde_json::from_str(line).map_err(NoPair::Json)?;
        let words = (pair.source.len(), pair.target.len());
        let is_outside =
            |link: &Link| link.source as usize >= words.0 || link.target as usize >= words.1;
        let outside = pair.sure.iter().chain(pair.possible.iter()).find(is_outside);
        match outside {
            Some(link) => Err(NoPair::Link { link, words }),
            None => Ok(pair),
        }
    }
}

/// Whether a line has the names above the pairs of a table, as `fnstore mine` writes them. Two
/// names alone may be a pair, and each pair has its line of links.
fn is_header(line: &str) -> bool {
    line.split('\t').take(HEADER.len()).eq(HEADER)
}

const HEADER: [&str; 3] = ["source", "target", "id"];

/// A line of a file of pairs that is none.
#[derive(Debug)]
pub struct BadPair {
    /// Its own mark, if it is a JSON object that has one.
    pub id: Option<serde_json::Value>,
    /// Why it is no pair.
    pub why: NoPair,
}

impl BadPair {
    fn new(line: &str, json: bool, why: NoPair) -> Self {
        Self { id: if json { input::id_of(line) } else { None }, why }
    }
}

/// Why a line of a file of pairs is none.
#[derive(Debug)]
#[non_exhaustive]
pub enum NoPair {
    /// It is blank.
    Blank,
    /// It is too long, or no text.
    Line(LineFault),
    /// It is no JSON object with `source` and `target`.
    Json(serde_json::Error),
    /// It has no tab.
    NoTab,
    /// It has a link of a word that is not there.
    Link {
        /// The link.
        link: Link,
        /// Number of words of the sentence and of its paraphrase.
        words: (usize, usize),
    },
}

impl NoPair {
    /// What the line has.
    #[must_use]
    pub fn found(&self) -> String {
        match self {
            Self::Blank => "nothing".to_owned(),
            Self::Line(fault) => fault.found(),
            Self::Json(error) => error.to_string(),
            Self::NoTab => "no tab".to_owned(),
            Self::Link { link: Link { source, target }, words } => {
                format!("link [{source}, {target}] of {} and {} words", words.0, words.1)
            }
        }
    }

    /// What it should have.
    #[must_use]
    pub fn expected(&self) -> &'static str {
        match self {
            Self::Line(fault) => fault.expected(),
            Self::Json(_) => "an object with `source` and `target`, texts or lists of words",
            Self::Blank | Self::NoTab => "two texts with a tab between them",
            Self::Link { .. } => "links between words that are there, counted from 0",
        }
    }
}

impl Dataset<Result<SentencePair, BadPair>> {
    /// Reads every line of a file, in the form that its name or its first line says (see the table
    /// above [`SentencePair`]): the pair, or why it is none. A header is left out.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn read_every(path: &Path) -> Result<Self, AlignError> {
        let unreadable = FileError::io("read sentence pairs from", path);
        let mut lines = Lines::open(path, LINE_LIMIT).map_err(&unreadable)?;
        let file: Arc<Path> = path.into();
        let (mut data, mut is_first) = (Self::default(), true);
        while lines.advance().map_err(&unreadable)? {
            let json = lines.is_json();
            let pair = match lines.text() {
                Err(fault) => Err(BadPair { id: None, why: NoPair::Line(fault.clone()) }),
                // A tab is white space, and parts two empty texts.
                Ok(text) if lines.is_blank() && (json || !text.contains('\t')) => {
                    Err(BadPair { id: None, why: NoPair::Blank })
                }
                Ok(text) if is_first && !json && is_header(text) => {
                    is_first = false;
                    continue;
                }
                Ok(text) => {
                    SentencePair::read(text, json).map_err(|why| BadPair::new(text, json, why))
                }
            };
            is_first &= matches!(pair, Err(BadPair { why: NoPair::Blank, .. }));
            let line = usize::try_from(lines.number()).unwrap_or(usize::MAX);
            data.push(pair, FileLine { file: Arc::clone(&file), line });
        }
        Ok(data)
    }
}

impl Dataset<SentencePair> {
    /// Reads the lines of a file that are not blank, in the form that its name or its first line
    /// says (see the table above [`SentencePair`]).
    ///
    /// # Errors
    /// When the file cannot be read, or a line is no pair (naming the line).
    pub fn read(path: &Path) -> Result<Self, AlignError> {
        let mut data = Self::default();
        for (pair, place) in Dataset::read_every(path)?.into_lines() {
            match pair {
                Ok(pair) => data.push(pair, place),
                Err(BadPair { why: NoPair::Blank, .. }) => {}
                Err(BadPair { why, .. }) => {
                    let (found, expected) = (why.found(), why.expected());
                    return Err(FileError::content(path, place.line, found, expected).into());
                }
            }
        }
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
    use crate::learn::NetworkError;

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
            Err(AlignError::Network(NetworkError::File(FileError::Io { .. })))
        ));
    }

    #[test]
    fn a_side_may_be_empty_and_every_line_is_heard_of() {
        let pairs = read("a.tsv", "x y\t\r\n\t\n\tz\n").unwrap();
        let words = |pair: &SentencePair| (pair.source.len(), pair.target.len());
        assert_eq!(pairs.iter().map(words).collect::<Vec<_>>(), [(2, 0), (0, 0), (0, 1)]);
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("pairs.txt");
        let every = |bytes: &[u8]| {
            std::fs::write(&path, bytes).unwrap();
            let lines = Dataset::read_every(&path).unwrap();
            let found = |(pair, place): (Result<SentencePair, BadPair>, FileLine)| {
                (place.line, pair.map(|pair| words(&pair)).map_err(|bad| bad.why.found()))
            };
            lines.into_lines().map(found).collect::<Vec<_>>()
        };
        let lines = every(b"\xef\xbb\xbfa\tb\n\t\n\nno tab\n\xff\tb\n");
        assert_eq!(lines[..2], [(1, Ok((1, 1))), (2, Ok((0, 0)))]);
        assert_eq!(lines[2..4], [(3, Err("nothing".into())), (4, Err("no tab".into()))]);
        assert!(lines[4].1.as_ref().is_err_and(|found| found.contains("not UTF-8")));
        // The first line that is not blank shows that the lines are JSON, whatever the name.
        let lines = every(b"\n{\"source\": \"a b\", \"target\": []}\n\t\n");
        let blank = || Err("nothing".into());
        assert_eq!(lines, [(1, blank()), (2, Ok((2, 0))), (3, blank())]);
    }

    #[test]
    fn the_names_of_two_columns_are_a_pair_and_those_of_a_whole_table_are_none() {
        for (table, pairs) in [
            ("source\ttarget\nb\tc\n", 2),
            ("source\ttarget\tcorpus 7\nb\tc\n", 2),
            ("source\ttarget\tid\nb\tc\n", 1),
            ("\nsource\ttarget\tid\tcluster\nb\tc\n", 1),
            ("b\tc\nsource\ttarget\tid\n", 2),
        ] {
            assert_eq!(read("a.tsv", table).unwrap().len(), pairs, "{table:?}");
        }
    }

    #[test]
    fn a_table_is_no_json_though_its_first_sentence_begins_as_json_does() {
        let pairs = read("a.tsv", "{ it } grew\t{ it } rose\nb\tc\n").unwrap();
        assert_eq!(pairs.len(), 2);
        assert_eq!(pairs[0].source, ["{", "it", "}", "grew"]);
    }

    #[test]
    fn a_json_line_that_is_no_pair_keeps_its_mark() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("pairs.jsonl");
        let lines = [
            r#"{"id": "m1", "source": "a"}"#,
            r#"{"id": 7, "source": "a", "target": "b"}"#,
            r#"{"id": "m3", "source": "a", "target": "b", "sure": [[0, 4]]}"#,
            r#"{"source": "a"}"#,
            r#"{"id": "m5""#,
            "",
        ];
        std::fs::write(&path, lines.join("\n") + "\n").unwrap();
        let bad = Dataset::read_every(&path).unwrap().into_lines();
        let ids: Vec<_> = bad.map(|(line, _)| line.unwrap_err().id).collect();
        let id = |id: serde_json::Value| Some(id);
        assert_eq!(ids, [id("m1".into()), id(7.into()), id("m3".into()), None, None, None]);
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
