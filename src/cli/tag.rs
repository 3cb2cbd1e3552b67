//! `fnstore tag`: the part of speech of each word.

use std::cell::OnceCell;
use std::path::{Path, PathBuf};

use fnstore::compute::{Device, GpuOptions};
use fnstore::exchange::WordTagger;
use fnstore::nn::declared_languages;
use fnstore::tag::{TagError, Tagger};
use fnstore::text::words;
use serde::{Deserialize, Serialize};

use super::device::{self, DeviceArgs};
use super::language::{LanguageArgs, tell_undeclared};
use super::line_batches::{self, LineItem, LineTask};
use super::line_reader::{self, LineError};
use super::output::tell;
use super::{Context, Outcome, locate};

/// Name of the shipped tagger.
pub(super) const TAGGER: &str = "tagger";

/// Tag the words of sentences with their parts of speech
///
/// Reads one sentence a line, or JSON lines, as the first line shows: `text`, or `words` (a list).
/// An `id` of any type is returned. Writes a JSON line for each, with its words, their tags (those
/// of the Penn Treebank, by the shipped tagger) and the network's probability of each tag. A table
/// has `word/TAG` in the sentence's order. A line that cannot be tagged gets a record with an error
/// and its code. The other lines are tagged, and the exit code is 65.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
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

/// Which tagger tags, and where.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct TaggerArgs {
    /// Directory of the tagger, or its name among the models
    #[arg(long, value_name = "DIR|NAME", default_value = TAGGER)]
    pub(super) tagger: PathBuf,

    /// Directory of the encoder, or its name among the models [default: the one that the tagger
    /// names]
    #[arg(long, value_name = "DIR|NAME")]
    pub(super) encoder: Option<PathBuf>,

    /// Directory that holds the models
    #[arg(long, value_name = "DIR")]
    pub(super) models: Option<PathBuf>,

    #[command(flatten)]
    pub(super) device: DeviceArgs,
}

impl TaggerArgs {
    pub(super) fn open(self) -> anyhow::Result<Tagger> {
        let dirs = locate::model_dirs(self.models);
        open(&self.tagger, self.encoder.as_deref(), &dirs, &self.device.open()?)
    }
}

/// A tagger that is opened when the first sentence needs it. If the shipped one is not at hand,
/// there is none, and the user is told.
pub(super) struct TaggerOnDemand {
    args: TaggerArgs,
    opened: OnceCell<Option<Tagger>>,
}

impl TaggerOnDemand {
    pub(super) fn new(args: TaggerArgs) -> Self {
        Self { args, opened: OnceCell::new() }
    }

    fn tagger(&self) -> anyhow::Result<Option<&Tagger>> {
        if self.opened.get().is_none() {
            let _ = self.opened.set(self.open()?);
        }
        Ok(self.opened.get().and_then(Option::as_ref))
    }

    /// The directories of tagger and encoder.
    fn places(&self) -> anyhow::Result<(PathBuf, PathBuf)> {
        let TaggerArgs { tagger, encoder, models, .. } = &self.args;
        let dirs = locate::model_dirs(models.clone());
        let tagger = locate::model(tagger, &dirs)?;
        let encoder = locate::encoder(encoder.as_deref(), &tagger, &dirs)?;
        Ok((tagger, encoder))
    }

    fn open(&self) -> anyhow::Result<Option<Tagger>> {
        let TaggerArgs { tagger, encoder, device, .. } = &self.args;
        let is_asked_for = tagger.as_os_str() != TAGGER || encoder.is_some();
        let (tagger, encoder) = match self.places() {
            Ok(places) => places,
            Err(error) if is_asked_for => return Err(error),
            Err(error) => {
                tell(&format!("sentences without parts of speech stay so: {error:#}"));
                return Ok(None);
            }
        };
        let quiet = GpuOptions { notice: None, ..device::options() };
        let device = Device::open(&device.device, &quiet)?;
        Ok(Some(Tagger::open(&tagger, &encoder, &device)?))
    }
}

impl WordTagger for TaggerOnDemand {
    fn knows(&self, language: &str) -> Result<bool, Box<dyn std::error::Error + Send + Sync>> {
        // What is not at hand is told when words are to be tagged.
        let Ok((tagger, encoder)) = self.places() else { return Ok(true) };
        let declared = declared_languages(&tagger).or(&declared_languages(&encoder));
        tell_undeclared(&[&declared], [language]);
        let knows = declared.knows(language)?;
        if let (false, Some(languages)) = (knows, declared.languages()) {
            tell(&format!(
                "sentences without parts of speech stay so: the model `{}` is made for \
                 `{languages}`, and the language of the release is `{language}`; `--any-language` \
                 has them tagged all the same",
                declared.model
            ));
        }
        Ok(knows)
    }

    fn tag_words(
        &self,
        sentences: &[Vec<&str>],
    ) -> Result<Vec<Option<Vec<String>>>, Box<dyn std::error::Error + Send + Sync>> {
        match self.tagger().map_err(Box::<dyn std::error::Error + Send + Sync>::from)? {
            Some(tagger) => tagger.tag_words(sentences),
            None => Ok(vec![None; sentences.len()]),
        }
    }
}

/// Opens a tagger with an encoder, the one that it names for none.
pub(super) fn open(
    tagger: &Path,
    encoder: Option<&Path>,
    dirs: &[PathBuf],
    device: &Device,
) -> anyhow::Result<Tagger> {
    let tagger = locate::model(tagger, dirs)?;
    let encoder = locate::encoder(encoder, &tagger, dirs)?;
    Ok(Tagger::open(&tagger, &encoder, device)?)
}

pub(super) fn run(args: Args, context: &mut Context) -> anyhow::Result<Outcome> {
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

fn refusal(error: &TagError) -> LineError {
    match error {
        TagError::TooLong { pieces, limit, .. } => LineError::new(
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
    line: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<serde_json::Value>,
    words: Vec<String>,
    tags: Vec<String>,
    scores: Vec<f32>,
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
