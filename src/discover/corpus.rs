//! Sentences of a corpus, found by the words that they hold.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::units::Key;
use super::{DiscoverError, Result};
use crate::mine::sentences;
use crate::model::Span;
use crate::text::input::{Form, Lines};
use crate::text::{Morphology, fold, words};

/// Longest line that is read, and longest paragraph.
const LONGEST: usize = 1 << 20;
/// Fewest and most words of a sentence that is shown.
const LENGTHS: std::ops::RangeInclusive<usize> = 4..=45;

/// A line of JSON; what else it has is passed over.
#[derive(Deserialize)]
struct Line {
    text: String,
}

/// Sentences, and which words stand in which.
#[derive(Debug, Default)]
pub struct Corpus {
    name: PathBuf,
    /// Of all its sentences.
    hash: blake3::Hasher,
    /// Each with its line, from 1.
    sentences: Vec<(String, u64)>,
    with: HashMap<String, Vec<u32>>,
    passed_over: u64,
}

/// Lines of a running text up to an empty one.
#[derive(Default)]
struct Paragraph {
    text: String,
    /// Of each line its number, and how many words stand before it.
    lines: Vec<(u64, usize)>,
    words: usize,
}

impl Paragraph {
    fn push(&mut self, text: &str, line: u64) {
        self.lines.push((line, self.words));
        self.words += text.split_whitespace().count();
        self.text.push_str(text);
        self.text.push('\n');
    }

    /// Its sentences, each with the line in which it begins. Where no line begins in small letters,
    /// each line ends a sentence.
    fn sentences(&self) -> Vec<(String, u64)> {
        if !self.text.lines().any(goes_on) {
            let lines = self.text.lines().zip(&self.lines);
            let of_line = lines.flat_map(|(text, (line, _))| {
                sentences(text).into_iter().map(move |sentence| (sentence, *line))
            });
            return of_line.collect();
        }
        let mut before = 0;
        let begun = sentences(&self.text).into_iter().map(|sentence| {
            let at = self.lines.partition_point(|(_, words)| *words <= before);
            before += sentence.split_whitespace().count();
            (sentence, self.lines[at.saturating_sub(1)].0)
        });
        begun.collect()
    }
}

/// Whether a line begins in small letters.
fn goes_on(line: &str) -> bool {
    line.chars().find(|c| c.is_alphanumeric()).is_some_and(char::is_lowercase)
}

impl Corpus {
    /// Reads a corpus: running text, in which an empty line ends a paragraph, or JSON lines with a
    /// sentence as `text`. In a paragraph of which every line begins with a capital or a number, a
    /// line ends a sentence. Memory for some ten times the file.
    ///
    /// # Errors
    /// When it cannot be read, or a line is no text.
    pub fn open(path: &Path) -> Result<Self> {
        let failed = |source| DiscoverError::Corpus { path: path.to_owned(), source };
        let mut lines = Lines::open(path, LONGEST).map_err(failed)?;
        let mut corpus = Self { name: path.to_owned(), ..Self::default() };
        let mut paragraph = Paragraph::default();
        while lines.advance().map_err(failed)? {
            let line = lines.number();
            let wrong = |reason| DiscoverError::CorpusLine { path: path.to_owned(), line, reason };
            let text = lines.text().map_err(|fault| wrong(fault.to_string()))?;
            if lines.form() == Some(Form::Json) {
                if !text.trim().is_empty() {
                    let read = serde_json::from_str::<Line>(text);
                    let text = read.map_err(|error| wrong(error.to_string()))?.text;
                    corpus.add_record(text.trim(), line);
                }
                continue;
            }
            if text.trim().is_empty() || paragraph.text.len() + text.len() > LONGEST {
                corpus.add_paragraph(&mut paragraph);
            }
            paragraph.push(text, line);
        }
        corpus.add_paragraph(&mut paragraph);
        Ok(corpus)
    }

    fn add_paragraph(&mut self, paragraph: &mut Paragraph) {
        for (text, line) in std::mem::take(paragraph).sentences() {
            self.add(text, line);
        }
    }

    /// Adds the text of a record: a sentence, or several where it is long.
    fn add_record(&mut self, text: &str, line: u64) {
        if words(text).len() <= *LENGTHS.end() {
            return self.add(text.to_owned(), line);
        }
        for sentence in sentences(text) {
            self.add(sentence, line);
        }
    }

    /// How many sentences it has that can be found.
    #[must_use]
    pub fn sentences(&self) -> u64 {
        self.sentences.len() as u64
    }

    /// How many sentences were passed over: those of fewer than 4 words or of more than 45.
    #[must_use]
    pub fn passed_over(&self) -> u64 {
        self.passed_over
    }

    /// Its file and what it holds, in a few words.
    pub(super) fn identity(&self) -> String {
        let hash = self.hash.finalize().to_hex();
        let name = self.name.file_name().unwrap_or_default();
        format!("{} ({})", name.to_string_lossy(), &hash[..16])
    }

    fn add(&mut self, text: String, line: u64) {
        let found = words(&text);
        if !LENGTHS.contains(&found.len()) {
            self.passed_over += 1;
            return;
        }
        let at = self.sentences.len() as u32;
        for word in found {
            let word = fold(word.of(&text).unwrap_or_default());
            let places = self.with.entry(word).or_default();
            if places.last() != Some(&at) {
                places.push(at);
            }
        }
        self.hash.update(text.as_bytes()).update(b"\n");
        self.sentences.push((text, line));
    }

    /// The first sentences that hold a form of a word, so many at most: text, where it stands
    /// there, and file and line.
    pub(super) fn sentences_with(
        &self,
        (lemma, pos): &Key,
        morphology: &Morphology,
        most: usize,
    ) -> Vec<(String, Span, String)> {
        let forms = morphology.forms_of(lemma, *pos).into_iter().map(|form| {
            let form = fold(&form);
            words(&form).iter().filter_map(|word| word.of(&form)).map(str::to_owned).collect()
        });
        let forms: Vec<Vec<String>> = forms.collect();
        let mut places: Vec<(u32, &[String])> = Vec::new();
        for parts in &forms {
            // Where the rarest of its words stands.
            let with = parts.iter().map(|part| self.with.get(part).map_or(&[][..], Vec::as_slice));
            let Some(rarest) = with.min_by_key(|places| places.len()) else { continue };
            places.extend(rarest.iter().map(|at| (*at, parts.as_slice())));
        }
        places.sort_unstable();
        let mut found: Vec<(String, Span, String)> = Vec::new();
        let mut last = None;
        for (at, parts) in places {
            let (text, line) = &self.sentences[at as usize];
            if let Some(target) = holds(text, parts).filter(|_| last != Some(at)) {
                last = Some(at);
                found.push((text.clone(), target, format!("{}:{line}", self.name.display())));
            }
            if found.len() == most {
                break;
            }
        }
        found
    }
}

/// Where words stand one behind the other in a text.
fn holds(text: &str, parts: &[String]) -> Option<Span> {
    let spans = words(text);
    let at = spans.windows(parts.len()).find(|window| {
        window
            .iter()
            .zip(parts)
            .all(|(word, part)| fold(word.of(text).unwrap_or_default()) == *part)
    })?;
    Some(Span::new(at.first()?.start, at.last()?.end))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Pos;

    const MOST: usize = 20;

    fn corpus(lines: &str) -> Result<Corpus> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("c.txt");
        std::fs::write(&path, lines).unwrap();
        let mut corpus = Corpus::open(&path)?;
        corpus.name = PathBuf::from("c.txt");
        Ok(corpus)
    }

    #[test]
    fn a_sentence_is_found_by_any_form_of_a_word() {
        let text = "They vetted the plan twice .\n\nNobody carries it out there .\nWe carried out it all .\n";
        let corpus = corpus(text).unwrap();
        let of = |lemma: &str| {
            let key = (lemma.to_owned(), Pos::Verb);
            let found = corpus.sentences_with(&key, &Morphology::English, MOST).into_iter();
            found
                .map(|(text, target, place)| (target.of(&text).unwrap().to_owned(), place))
                .collect::<Vec<_>>()
        };
        let pair = |form: &str, place: &str| (form.to_owned(), place.to_owned());
        assert_eq!(of("vet"), [pair("vetted", "c.txt:1")]);
        assert_eq!(of("carry out"), [pair("carried out", "c.txt:4")]);
        assert_eq!(of("plan").len(), 1);
        assert!(of("check").is_empty());
    }

    #[test]
    fn a_sentence_of_a_wrapped_text_has_the_line_that_it_begins_in() {
        let text = "They went home early. The old\nclerk audited all the books. Then he\n\nOthers came back .\n";
        let found = corpus(text).unwrap().sentences;
        let expected = [
            ("They went home early.", 1),
            ("The old clerk audited all the books.", 1),
            ("Others came back .", 4),
        ];
        assert_eq!(found, expected.map(|(text, line)| (text.to_owned(), line)));
    }

    fn found(corpus: &Corpus, lemma: &str) -> Vec<(String, String)> {
        let found =
            corpus.sentences_with(&(lemma.to_owned(), Pos::Verb), &Morphology::English, MOST);
        found.into_iter().map(|(text, _, place)| (text, place)).collect()
    }

    #[test]
    fn a_word_that_stands_late_is_found_behind_many_that_begin_as_it_does() {
        let many = "They carried the old boxes home .\n\n".repeat(3 * MOST);
        let corpus = corpus(&format!("{many}They carried out the plan .\n")).unwrap();
        let places: Vec<String> = found(&corpus, "carry out").into_iter().map(|of| of.1).collect();
        assert_eq!(places, [format!("c.txt:{}", 6 * MOST + 1)]);
    }

    #[test]
    fn lines_that_all_begin_with_capitals_are_sentences_without_full_stops() {
        let listed = "One clerk vetted the lists\nTwo clerks vetted more\n";
        let wrapped = "the old clerk met\nMiss Smith of London\n";
        let found = corpus(&format!("{listed}\n{wrapped}")).unwrap();
        let texts: Vec<String> = found.sentences.into_iter().map(|of| of.0).collect();
        let expected = ["One clerk vetted the lists", "Two clerks vetted more"];
        assert_eq!(texts[..2], expected);
        assert_eq!(texts.len(), 3, "{texts:?}");
    }

    #[test]
    fn a_corpus_is_the_same_by_whatever_path() {
        let [one, other] = [(); 2].map(|()| corpus("They vetted the plan .\n").unwrap());
        let other = Corpus { name: PathBuf::from("./c.txt"), ..other };
        assert_eq!(one.identity(), other.identity());
    }

    #[test]
    fn each_sentence_of_a_line_is_one() {
        let corpus =
            corpus("They vetted the first plan. Then he vetted the second one.\n").unwrap();
        let texts: Vec<String> = found(&corpus, "vet").into_iter().map(|of| of.0).collect();
        assert_eq!(texts, ["They vetted the first plan.", "Then he vetted the second one."]);
    }

    #[test]
    fn a_long_record_is_cut_into_sentences_and_what_is_too_long_is_counted() {
        let filler = "and it went on and on ".repeat(10);
        let text = format!("They vetted the plan first. He said that {filler}.");
        let corpus = corpus(&format!("{{\"text\": \"{text}\"}}\n")).unwrap();
        assert_eq!(found(&corpus, "vet").len(), 1);
        assert_eq!((corpus.sentences(), corpus.passed_over()), (1, 1));
    }

    #[test]
    fn a_file_that_is_not_there_has_a_code() {
        let error = Corpus::open("nowhere.txt".as_ref()).unwrap_err();
        assert!(error.to_string().starts_with("V-corpus-file: "), "{error}");
    }

    #[test]
    fn json_lines_have_their_text_and_a_line_that_has_none_is_told() {
        let text = "{\"text\": \"They vetted the plan .\", \"id\": 3}\n{\"words\": 1}\n";
        let error = corpus(text).unwrap_err().to_string();
        assert!(error.starts_with("V-corpus: ") && error.contains(":2: missing field"), "{error}");
        let one = corpus(text.lines().next().unwrap()).unwrap();
        assert_eq!(one.sentences[0].0, "They vetted the plan .");
    }
}
