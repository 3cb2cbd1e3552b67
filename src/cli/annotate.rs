//! `fnstore annotate`: targets with their frames in texts.

use std::path::PathBuf;

use fnstore::database::Database;
use fnstore::identify::{
    Candidates, FoundTarget, FrameIdentifier, IdentifyError, Search, lexunits,
};
use serde::{Deserialize, Serialize};

use super::identifier::IdentifierArgs;
use super::line_batches::{self, LineItem, LineTask};
use super::line_reader::{self, LineError};
use super::{Context, Outcome, edit};

/// Find the targets of sentences, with the frames that they evoke
///
/// Reads one sentence a line, or JSON lines, as the first line shows: `text`, and an `id` of any type,
/// which is returned. Writes a JSON line for each, with its targets in order: where they stand (in
/// code points), the LU of the release that they are a form of, the frame with its probability, and the
/// next likeliest frames. Candidates are the forms of the release's LUs; with `--open`, any span of at
/// most three words and any frame. A line that cannot be annotated gets a record with an error and its
/// code. The other lines are annotated, and the exit code is 65. The model is one that `fnstore train
/// frames` made.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// File to read [default: standard input]
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,

    /// Release whose LUs may be meant [default: the only one]
    #[arg(long, value_name = "NAME")]
    release: Option<String>,

    /// Consider any span of at most three words, and any frame
    #[arg(long)]
    open: bool,

    #[command(flatten)]
    identifier: IdentifierArgs,
}

const EXAMPLES: &str = r#"Examples:
  echo 'They checked the locks.' | fnstore annotate --format table
  fnstore annotate news.txt > news.jsonl
  echo '{"id": 7, "text": "They checked it."}' | fnstore annotate --open"#;

pub(super) fn run(args: Args, context: &mut Context) -> anyhow::Result<Outcome> {
    let lines = line_batches::open(args.file.as_deref())?;
    let database = Database::open(&context.store)?;
    let release = edit::release(&database, args.release.as_deref())?.name;
    let identifier = args.identifier.open()?;
    let lexunits = lexunits(&database.lexicon(&release)?)?;
    let task = Annotating {
        candidates: identifier.candidates(lexunits),
        search: if args.open { Search::Open } else { Search::Lexicon },
        identifier,
    };
    line_batches::run(task, lines, &mut context.output)
}

/// The annotation of lines.
struct Annotating {
    identifier: FrameIdentifier,
    candidates: Candidates,
    search: Search,
}

impl LineTask for Annotating {
    type Item = Item;
    type Record = Record;

    const DONE: &'static str = "annotated";

    fn answer(
        &mut self,
        items: Vec<(u64, Item)>,
    ) -> anyhow::Result<Vec<Result<Record, LineError>>> {
        let texts: Vec<&str> = items.iter().map(|(_, item)| item.text.as_str()).collect();
        let found = self.identifier.identify_each(&texts, &self.candidates, self.search)?;
        let records = items.into_iter().zip(found).map(|((line, Item { id, text }), found)| {
            let targets = found.map_err(|error| refusal(&error))?;
            let targets = targets.into_iter().map(|target| TargetRecord::new(&text, target));
            Ok(Record { line, id, targets: targets.collect(), text })
        });
        Ok(records.collect())
    }

    /// The sentence with each target as `[words Frame]`.
    fn text(record: &Record) -> Option<String> {
        let mut marked = String::new();
        let mut letters = record.text.chars();
        let mut at = 0;
        for target in &record.targets {
            marked.extend(letters.by_ref().take(target.start - at));
            let words: String = letters.by_ref().take(target.end - target.start).collect();
            marked.push_str(&format!("[{words} {} {:.2}]", target.frame, target.score));
            at = target.end;
        }
        marked.extend(letters);
        Some(marked)
    }
}

fn refusal(error: &IdentifyError) -> LineError {
    match error {
        IdentifyError::TooLong { pieces, limit, .. } => LineError::new(
            "E-too-long",
            format!("the sentence has {pieces} pieces, the encoder takes at most {limit}"),
        ),
        error => LineError::new("E-annotate", error.to_string()),
    }
}

/// A JSON line as it comes in.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    id: Option<serde_json::Value>,
    text: String,
}

/// What a line asks for.
#[derive(Debug)]
struct Item {
    id: Option<serde_json::Value>,
    text: String,
}

impl LineItem for Item {
    fn read(line: &[u8], is_json: bool) -> Result<Self, LineError> {
        let text = line_reader::text(line)?;
        if !is_json {
            return Ok(Self { id: None, text: text.to_owned() });
        }
        let Line { id, text } =
            serde_json::from_str(text).map_err(|error| LineError::json(&error))?;
        if text.trim().is_empty() {
            return Err(LineError::new("E-empty", "`text` is empty: expected a sentence"));
        }
        Ok(Self { id, text })
    }
}

/// One line of the output; see `schema/annotate.schema.json`.
#[derive(Debug, Serialize)]
struct Record {
    line: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<serde_json::Value>,
    text: String,
    targets: Vec<TargetRecord>,
}

/// A target of it.
#[derive(Debug, Serialize)]
struct TargetRecord {
    /// First code point, and the one after the last.
    start: usize,
    end: usize,
    text: String,
    /// The LU that it is a form of.
    lu: Option<String>,
    frame: String,
    score: f32,
    runners_up: Vec<RunnerUp>,
}

/// A frame that is likely, too.
#[derive(Debug, Serialize)]
struct RunnerUp {
    frame: String,
    score: f32,
}

impl TargetRecord {
    fn new(text: &str, target: FoundTarget) -> Self {
        let FoundTarget { span, frame, lexunit, score, runners_up } = target;
        let words = span.of(text).unwrap_or_default();
        let start = text[..span.start as usize].chars().count();
        Self {
            start,
            end: start + words.chars().count(),
            text: words.to_owned(),
            lu: lexunit.map(|name| name.to_string()),
            frame: frame.to_string(),
            score,
            runners_up: runners_up
                .into_iter()
                .map(|(frame, score)| RunnerUp { frame: frame.to_string(), score })
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_with_a_line_has_a_code_and_names_the_field() {
        for (line, code, names) in [
            (r#"{"id": 3}"#, "E-key", "`text`"),
            (r#"{"text": "a", "words": ["a"]}"#, "E-key", "`words`"),
            (r#"{"text": 7}"#, "E-type", "a string"),
            (r#"{"text": " "}"#, "E-empty", "`text`"),
            ("{", "E-json", "column"),
        ] {
            let error = Item::read(line.as_bytes(), true).unwrap_err();
            assert_eq!(error.code, code, "{line}: {}", error.message);
            assert!(error.message.contains(names), "{line}: {}", error.message);
        }
        assert_eq!(Item::read(b"{x} is a text.", false).unwrap().text, "{x} is a text.");
    }

    #[test]
    fn a_record_counts_code_points_and_a_table_marks_targets() {
        let text = "Caf\u{e9}s checked it.";
        let target = FoundTarget {
            span: fnstore::model::Span::new(7, 14),
            frame: "Inspecting".into(),
            lexunit: Some("check.v".into()),
            score: 0.75,
            runners_up: vec![("Halt".into(), 0.2)],
        };
        let target = TargetRecord::new(text, target);
        assert_eq!((target.start, target.end, target.text.as_str()), (6, 13, "checked"));
        let record = Record { line: 1, id: None, text: text.to_owned(), targets: vec![target] };
        let marked = Annotating::text(&record).unwrap();
        assert_eq!(marked, "Caf\u{e9}s [checked Inspecting 0.75] it.");
    }
}
