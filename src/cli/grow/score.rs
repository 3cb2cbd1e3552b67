//! `fnstore score`: how likely sentences are under a language model, and what it answers to a
//! question.

mod question;

use std::path::PathBuf;

use fnstore::engine::{LanguageAdapter, Numbers};
use fnstore::model::{LogProbability, Positive};
use fnstore::models::find;
use fnstore::paraphrase::{base_of, is_adapter};
use fnstore::score::{Question, ScoreRefusal, ScoreRequest, Scorer, TextScore};
use serde::{Deserialize, Serialize};

use crate::cli::input::line_batches::{self, LineItem, LineTask};
use crate::cli::input::line_reader::{self, LineError};
use crate::cli::options::device::DeviceArgs;
use crate::cli::options::language::LanguageArgs;
use crate::cli::options::locate;
use crate::cli::options::named::named;
use crate::cli::{Context, Outcome};

/// Score sentences with a language model
///
/// Reads one sentence a line, or JSON lines, as the first line shows: `text`, and `span`, [start,
/// end) in code points, for a part of it in its left context. An `id` of any type is returned.
/// Writes a JSON line for each, with the sum of the log-probabilities of its tokens (natural log),
/// their number, and the perplexity. A line that cannot be scored gets a record with an error and
/// its code. The other lines are scored, and the exit code is 65.
///
/// With `--question` it asks a question of its own instead: each JSON line brings the fields that
/// the question's file names, as texts or lists of texts. Of a file with one field a plain line is
/// the field. The record has `yes`, the probability of the first answer among the two, and
/// `log_odds`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// File to read [default: standard input]
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,

    /// Language model: a GGUF file, or a directory, or its name among the models, with
    /// `config.json`, `model.safetensors` and `tokenizer.json`, or with one GGUF file; or the
    /// directory or name of an adapter, whose language model is found among the models
    #[arg(long, value_name = "FILE|DIR|NAME")]
    model: PathBuf,

    /// Ask the question of this TOML file: `format = 1`, `lines` with {fields}, and perhaps
    /// `answers` (default " yes" and " no"), `separator` (default ", ") and `tokens`, the most that
    /// a prompt may have
    #[arg(long, value_name = "FILE")]
    question: Option<PathBuf>,

    /// Number format of matrix products
    #[arg(long, value_parser = named::<Numbers>(), default_value_t = Numbers::default())]
    numbers: Numbers,

    /// Directory that holds the models
    #[arg(long, value_name = "DIR")]
    models: Option<PathBuf>,

    #[command(flatten)]
    language: LanguageArgs,

    #[command(flatten)]
    device: DeviceArgs,
}

const EXAMPLES: &str = r#"Examples:
  echo 'They tore the envelope open.' | fnstore score --model SmolLM2-135M-Instruct.Q4_1.gguf
  echo '{"id": 7, "text": "They tore it open.", "span": [5, 9]}' | fnstore score --model model.gguf
  echo '{"sentence": "They tore it open."}' | fnstore score --model model.gguf --question joke.toml"#;

pub(crate) fn run(args: Args, context: &mut Context) -> anyhow::Result<Outcome> {
    let question = args.question.as_deref().map(Question::read).transpose()?;
    let lines = line_reader::open(args.file.as_deref())?;
    let scorer = open(&args)?;
    args.language.check(scorer.declared(), context)?;
    match question {
        Some(question) => question::run(scorer, question, lines, context),
        None => line_batches::run(Scoring(scorer), lines, &mut context.output),
    }
}

/// Opens a language model, or an adapter with the one that it was trained on.
fn open(args: &Args) -> anyhow::Result<Scorer> {
    let dirs = locate::model_dirs(args.models.clone());
    let adapter = find(&args.model, &dirs).filter(|place| is_adapter(place));
    let base = adapter.as_deref().map(|adapter| base_of(adapter, &dirs)).transpose()?.flatten();
    let model = match base {
        Some(base) => base,
        None => locate::language_model(&args.model, &dirs)?,
    };
    let adapter = adapter.as_deref().map(LanguageAdapter::read).transpose()?;
    Ok(Scorer::open_with(&model, adapter, &args.device.open()?, args.numbers)?)
}

/// The scoring of lines.
struct Scoring(Scorer);

impl LineTask for Scoring {
    type Item = Item;
    type Record = Record;

    const DONE: &'static str = "scored";
    const COLUMNS: &'static [&'static str] =
        &["line", "id", "log_prob", "tokens", "perplexity", "error"];

    fn answer(
        &mut self,
        items: Vec<(u64, Item)>,
    ) -> anyhow::Result<Vec<Result<Record, LineError>>> {
        let requests: Vec<ScoreRequest> =
            items.iter().map(|(_, item)| item.request.clone()).collect();
        let scores = self.0.score(&requests)?;
        let records = items.into_iter().zip(scores).map(|((line, item), score)| {
            let score = score.map_err(|refusal| line_error(&refusal))?;
            let (TextScore { log_prob, tokens }, perplexity) = (score, score.perplexity());
            Ok(Record { line, id: item.id, log_prob, tokens, perplexity, text: item.request.text })
        });
        Ok(records.collect())
    }

    fn text(record: &Record) -> Option<String> {
        let Record { log_prob, tokens, perplexity, text, .. } = record;
        Some(format!("{perplexity:10.2} {log_prob:10.3} {tokens:5}  {text}"))
    }
}

fn line_error(refusal: &ScoreRefusal) -> LineError {
    let code = match refusal {
        ScoreRefusal::TooLong { .. } | ScoreRefusal::LongPrompt { .. } => "E-too-long",
        ScoreRefusal::MissingField { .. } | ScoreRefusal::UnknownField { .. } => "E-key",
        ScoreRefusal::Span { .. } => "E-span",
        _ => "E-empty",
    };
    LineError::new(code, refusal.to_string())
}

/// A JSON line as it comes in.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    id: Option<serde_json::Value>,
    text: String,
    span: Option<[u32; 2]>,
}

/// What a line asks for.
#[derive(Debug)]
struct Item {
    id: Option<serde_json::Value>,
    request: ScoreRequest,
}

impl LineItem for Item {
    fn read(line: &str, is_json: bool) -> Result<Self, LineError> {
        if !is_json {
            return Ok(Self { id: None, request: ScoreRequest::of(line) });
        }
        let Line { id, text, span } =
            serde_json::from_str(line).map_err(|error| LineError::json(&error))?;
        let span = span.map(|span| line_reader::span_in_bytes(&text, span)).transpose()?;
        Ok(Self { id, request: ScoreRequest { text, span } })
    }
}

/// One line of the output; see `schema/score.schema.json`.
#[derive(Debug, Serialize)]
struct Record {
    line: Positive,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<serde_json::Value>,
    log_prob: LogProbability,
    tokens: Positive<usize>,
    /// JSON `{"type": "number", "minimum": 1}`.
    perplexity: f64,
    /// For reading; who reads JSON has it.
    #[serde(skip)]
    text: String,
}

#[cfg(test)]
mod tests {
    use fnstore::model::Span;

    use super::*;

    #[test]
    fn a_line_is_a_sentence_or_names_a_part_of_one() {
        let item = Item::read("{x} y", false).unwrap();
        assert_eq!(item.request, ScoreRequest::of("{x} y"));
        let line = "{\"id\": [1], \"text\": \"\u{e9}t\u{e9} nu\", \"span\": [1, 3]}";
        let item = Item::read(line, true).unwrap();
        assert_eq!(item.request.span, Some(Span::new(2, 5)));
        assert_eq!(item.id, Some(serde_json::json!([1])));
    }

    #[test]
    fn what_is_wrong_with_a_line_has_a_code_and_names_the_field() {
        for (line, code, names) in [
            (r#"{"id": 3}"#, "E-key", "`text`"),
            (r#"{"text": "a", "words": []}"#, "E-key", "`words`"),
            (r#"{"text": 7}"#, "E-type", "a string"),
            (r#"{"text": "ab", "span": [1, 3]}"#, "E-span", "2 code points"),
            (r#"{"text": "ab", "span": [1, 1]}"#, "E-span", "[1, 1)"),
            ("{", "E-json", "column"),
        ] {
            let error = Item::read(line, true).unwrap_err();
            assert_eq!(error.code, code, "{line}: {}", error.message);
            assert!(error.message.contains(names), "{line}: {}", error.message);
        }
    }
}
