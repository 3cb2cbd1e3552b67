//! `fnstore tag`: the part of speech of each word.

use std::path::PathBuf;

use fnstore::NetworkError;
use fnstore::model::{Fraction, Positive};
use fnstore::tag::Tagger;
use fnstore::text::words;
use serde::{Deserialize, Serialize};

use crate::cli::input::line_batches::{self, LineItem, LineTask};
use crate::cli::input::line_reader::{self, LineError};
use crate::cli::options::language::LanguageArgs;
use crate::cli::options::tagger::TaggerArgs;
use crate::cli::{Context, Outcome};

/// Tag the words of sentences with their parts of speech
///
/// Reads one sentence a line, or JSON lines, as the first line shows: `text`, or `words` (a list).
/// An `id` of any type is returned. Writes a JSON line for each, with its words, their tags (those
/// of the Penn Treebank, by the shipped tagger) and the network's probability of each tag. A table
/// has `word/TAG` in the sentence's order. A line that cannot be tagged gets a record with an error
/// and its code. The other lines are tagged, and the exit code is 65.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// File to read [default: standard input]
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,

    #[command(flatten)]
    tagger: TaggerArgs,

    #[command(flatten)]
    language: LanguageArgs,
}

const EXAMPLES: &str = r#"Examples:
  echo 'They checked the locks.' | fnstore tag
  echo '{"id": 7, "words": ["They", "checked", "it"]}' | fnstore tag --format table"#;

pub(crate) fn run(args: Args, context: &mut Context) -> anyhow::Result<Outcome> {
    let lines = line_reader::open(args.file.as_deref())?;
    let tagger = args.tagger.open()?;
    args.language.check(tagger.declared(), context)?;
    line_batches::run(Tagging(tagger), lines, &mut context.output)
}

/// The tagging of lines.
struct Tagging(Tagger);

impl LineTask for Tagging {
    type Item = Item;
    type Record = Record;

    const DONE: &'static str = "tagged";
    const COLUMNS: &'static [&'static str] = &["line", "id", "words", "tags", "scores", "error"];

    fn answer(
        &mut self,
        items: Vec<(u64, Item)>,
    ) -> anyhow::Result<Vec<Result<Record, LineError>>> {
        let sentences = items.iter().map(|(_, item)| item.words.iter().map(String::as_str));
        let sentences: Vec<Vec<&str>> = sentences.map(Iterator::collect).collect();
        let tagged = self.0.tag_each(&sentences)?;
        let records = items.into_iter().zip(tagged).map(|((line, Item { id, words }), tagged)| {
            let tags = tagged.map_err(|error| refusal(&error))?;
            Ok(Record {
                line,
                id,
                words,
                tags: tags.iter().map(|tag| tag.name.to_owned()).collect(),
                scores: tags.iter().map(|tag| tag.score).collect(),
            })
        });
        Ok(records.collect())
    }

    /// The sentence as `word/TAG word/TAG`.
    fn text(record: &Record) -> Option<String> {
        let words = record.words.iter().zip(&record.tags);
        let words: Vec<String> = words.map(|(word, tag)| format!("{word}/{tag}")).collect();
        Some(words.join(" "))
    }
}

fn refusal(error: &NetworkError) -> LineError {
    match error {
        NetworkError::TooLong { pieces, limit, .. } => LineError::new(
            "E-too-long",
            format!("the sentence has {pieces} pieces, the encoder takes at most {limit}"),
        ),
        error => LineError::new("E-tag", error.to_string()),
    }
}

/// A JSON line as it comes in.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    id: Option<serde_json::Value>,
    text: Option<String>,
    words: Option<Vec<String>>,
}

/// What a line asks for.
#[derive(Debug)]
struct Item {
    id: Option<serde_json::Value>,
    words: Vec<String>,
}

impl LineItem for Item {
    fn read(line: &str, is_json: bool) -> Result<Self, LineError> {
        if !is_json {
            return Ok(Self { id: None, words: words_of(line) });
        }
        let line: Line = serde_json::from_str(line).map_err(|error| LineError::json(&error))?;
        let words = match (line.text, line.words) {
            (Some(text), None) => words_of(&text),
            (None, Some(words)) => words,
            (Some(_), Some(_)) => {
                let message = "the line has both `text` and `words`: expected one of them";
                return Err(LineError::new("E-key", message));
            }
            (None, None) => {
                let message = "the line has neither `text` nor `words`: expected one of them";
                return Err(LineError::new("E-key", message));
            }
        };
        if words.is_empty() {
            return Err(LineError::new("E-empty", "the sentence has no word"));
        }
        if let Some(at) = words.iter().position(|word| word.trim().is_empty()) {
            let message = format!("`words` has an empty word, its number {}", at + 1);
            return Err(LineError::new("E-empty", message));
        }
        Ok(Self { id: line.id, words })
    }
}

fn words_of(text: &str) -> Vec<String> {
    words(text).into_iter().filter_map(|span| span.of(text)).map(str::to_owned).collect()
}

/// One line of the output; see `schema/tag.schema.json`.
#[derive(Debug, Serialize)]
struct Record {
    line: Positive,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<serde_json::Value>,
    words: Vec<String>,
    tags: Vec<String>,
    scores: Vec<Fraction<f32>>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_is_a_text_or_its_words() {
        let read = |line: &str, is_json| Item::read(line, is_json).unwrap();
        assert_eq!(read("They don't.", false).words, ["They", "do", "n't", "."]);
        let item = read(r#"{"id": [1], "text": "{x}"}"#, true);
        assert_eq!((item.words.len(), item.id), (3, Some(serde_json::json!([1]))));
        assert_eq!(read(r#"{"words": ["don't", "a b"]}"#, true).words, ["don't", "a b"]);
    }

    #[test]
    fn what_is_wrong_with_a_line_has_a_code_and_names_the_field() {
        for (line, code, names) in [
            (r#"{"text": "a", "words": ["a"]}"#, "E-key", "both `text` and `words`"),
            (r#"{"id": 3}"#, "E-key", "neither `text` nor `words`"),
            (r#"{"text": "a", "tags": []}"#, "E-key", "`tags`"),
            (r#"{"words": "a b"}"#, "E-type", "a sequence"),
            (r#"{"words": ["a", " "]}"#, "E-empty", "number 2"),
            (r#"{"text": " "}"#, "E-empty", "no word"),
            ("{", "E-json", "column"),
        ] {
            let error = Item::read(line, true).unwrap_err();
            assert_eq!(error.code, code, "{line}: {}", error.message);
            assert!(error.message.contains(names), "{line}: {}", error.message);
        }
    }
}
