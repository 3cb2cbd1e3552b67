//! `fnstore substitutes`: what can stand in a word's place, in its sentence.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use fnstore::model::{LogProbability, Positive, Span};
use fnstore::paraphrase::{ParaphraseError, Paraphraser, Refusal, Settings, Substitute};
use fnstore::text::{Morphology, natural_spacing_with};
use serde::{Deserialize, Serialize};

use crate::cli::input::line_batches::{self, LineItem, LineTask};
use crate::cli::input::line_reader::{self, LineError};
use crate::cli::options::language::LanguageArgs;
use crate::cli::options::rewriter::RewriterArgs;
use crate::cli::{Context, Outcome};

/// List what can stand in a word's place, the likeliest first
///
/// Reads one sentence a line with the target between asterisks, `They *tore* it open.`, or JSON
/// lines, as the first line shows. JSON has `text` and `span`, [start, end) in code points; `avoid`
/// has more phrases that no substitute may hold. The target's forms are always banned. An `id` of
/// any type is returned. Writes a JSON line for each, with phrases of one to three words as they
/// stand there and the log-probability of each and of what follows it (natural log). Asks a
/// language model (`make rewriter` fetches one). A line that cannot be answered gets a record with
/// an error and its code. The other lines are answered, and the exit code is 65.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// File to read [default: standard input]
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,

    /// Most substitutes of a target
    #[arg(long, value_name = "N", default_value = "20")]
    n_best: NonZeroUsize,

    #[command(flatten)]
    rewriter: RewriterArgs,

    #[command(flatten)]
    language: LanguageArgs,
}

const EXAMPLES: &str = r#"Examples:
  echo 'They *tore* the envelope open.' | fnstore substitutes
  echo '{"text": "They tore it open.", "span": [5, 9], "avoid": ["ripped"]}' | fnstore substitutes"#;

pub(crate) fn run(args: Args, context: &mut Context) -> anyhow::Result<Outcome> {
    let lines = line_reader::open(args.file.as_deref())?;
    let rewriter = args.rewriter.open()?;
    if rewriter.prompt().is_none() {
        return Err(ParaphraseError::NoPrompt.into());
    }
    args.language.check(rewriter.declared(), context)?;
    let morphology = Morphology::without_forms(&args.language.of(rewriter.declared()));
    line_batches::run(
        Substituting { rewriter, morphology, n_best: args.n_best.get() },
        lines,
        &mut context.output,
    )
}

struct Substituting {
    rewriter: Paraphraser,
    /// How words of the texts are inflected.
    morphology: Morphology,
    n_best: usize,
}

impl LineTask for Substituting {
    type Item = Item;
    type Record = Record;

    const DONE: &'static str = "answered";
    const COLUMNS: &'static [&'static str] = &["line", "id", "target", "substitutes", "error"];

    fn answer(
        &mut self,
        items: Vec<(u64, Item)>,
    ) -> anyhow::Result<Vec<Result<Record, LineError>>> {
        let answer = |(line, item): (u64, Item)| {
            let Item { id, text, span, avoid } = item;
            let target = span.of(&text).unwrap_or_default().to_owned();
            let avoid = self.morphology.forms_of_target(&target).into_iter().chain(avoid);
            let avoid: Vec<String> = avoid.collect();
            // The model's context is the only limit.
            let settings = Settings { max_source_pieces: usize::MAX, ..Settings::default() };
            match self.rewriter.substitutes(&text, span, &avoid, &settings) {
                Ok(mut substitutes) => {
                    substitutes.truncate(self.n_best);
                    let substitutes = substitutes.into_iter().map(Listed::from).collect();
                    Ok(Ok(Record { line, id, target, substitutes }))
                }
                Err(ParaphraseError::Refused(refusal)) => Ok(Err(line_error(refusal))),
                Err(error) => Err(error.into()),
            }
        };
        items.into_iter().map(answer).collect()
    }

    fn text(record: &Record) -> Option<String> {
        let found = record.substitutes.iter().map(|of| format!("{} {:.1}", of.text, of.log_prob));
        Some(format!("{}: {}", record.target, found.collect::<Vec<_>>().join(", ")))
    }
}

fn line_error(refusal: Refusal) -> LineError {
    let code = match refusal {
        Refusal::Empty => "E-empty",
        Refusal::Target => "E-span",
        Refusal::Prompt { .. } => "E-prompt",
        _ => "E-too-long",
    };
    LineError::new(code, refusal.to_string())
}

/// A JSON line as it comes in.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    id: Option<serde_json::Value>,
    text: String,
    span: [u32; 2],
    #[serde(default)]
    avoid: Vec<String>,
}

/// What a line asks for.
#[derive(Debug)]
struct Item {
    id: Option<serde_json::Value>,
    text: String,
    span: Span,
    avoid: Vec<String>,
}

impl Item {
    /// The sentence as people space it, which is what the model was trained to read.
    fn spaced(
        id: Option<serde_json::Value>,
        text: &str,
        span: Span,
        avoid: Vec<String>,
    ) -> Result<Self, LineError> {
        if span.of(text).is_none_or(|target| target.trim().is_empty()) {
            let message = "the target is blank: expected a word between asterisks, or in `span`";
            return Err(LineError::new("E-span", message.to_owned()));
        }
        let (text, span) = natural_spacing_with(text, span);
        Ok(Self { id, text, span, avoid })
    }
}

impl LineItem for Item {
    fn read(line: &str, is_json: bool) -> Result<Self, LineError> {
        if !is_json {
            let parts: Vec<&str> = line.split('*').collect();
            let [before, target, after] = parts.as_slice() else {
                let message = "expected one target between asterisks, as in `They *tore* it open.`";
                return Err(LineError::new("E-span", message.to_owned()));
            };
            let place = |length: usize| u32::try_from(length).unwrap_or(u32::MAX);
            let span = Span::new(place(before.len()), place(before.len() + target.len()));
            return Self::spaced(None, &format!("{before}{target}{after}"), span, Vec::new());
        }
        let Line { id, text, span, avoid } =
            serde_json::from_str(line).map_err(|error| LineError::json(&error))?;
        if let Some(blank) = avoid.iter().find(|phrase| !phrase.contains(char::is_alphanumeric)) {
            let message = format!("`avoid` has `{blank}`: expected phrases with a letter or digit");
            return Err(LineError::new("E-avoid", message));
        }
        let span = line_reader::span_in_bytes(&text, span)?;
        Self::spaced(id, &text, span, avoid)
    }
}

/// One line of the output; see `schema/substitutes.schema.json`.
#[derive(Debug, Serialize)]
struct Record {
    line: Positive,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<serde_json::Value>,
    target: String,
    substitutes: Vec<Listed>,
}

#[derive(Debug, Serialize)]
struct Listed {
    text: String,
    log_prob: LogProbability<f32>,
}

impl From<Substitute> for Listed {
    fn from(Substitute { text, log_prob }: Substitute) -> Self {
        Self { text, log_prob }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_marks_its_target_or_names_its_span() {
        let item = Item::read("They *tore* it open .", false).unwrap();
        assert_eq!((item.text.as_str(), item.span), ("They tore it open.", Span::new(5, 9)));
        let line =
            "{\"id\": 3, \"text\": \"\u{e9}t\u{e9} , nu\", \"span\": [6, 8], \"avoid\": [\"a\"]}";
        let item = Item::read(line, true).unwrap();
        assert_eq!(item.span.of(&item.text), Some("nu"));
        assert_eq!((item.id, item.avoid), (Some(3.into()), vec!["a".to_owned()]));
    }

    #[test]
    fn what_is_wrong_with_a_line_has_a_code_and_names_the_field() {
        for (line, is_json, code, names) in [
            ("They tore it.", false, "E-span", "asterisks"),
            ("*a* or *b*", false, "E-span", "one target"),
            (r#"{"text": "ab"}"#, true, "E-key", "`span`"),
            ("They ** it", false, "E-span", "is blank"),
            (r#"{"text": "a b", "span": [1, 2]}"#, true, "E-span", "is blank"),
            (r#"{"text": "ab", "span": [1, 3]}"#, true, "E-span", "2 code points"),
            (r#"{"text": "ab", "span": [0, 1], "avoid": ["."]}"#, true, "E-avoid", "`.`"),
        ] {
            let error = Item::read(line, is_json).unwrap_err();
            assert_eq!(error.code, code, "{line}: {}", error.message);
            assert!(error.message.contains(names), "{line}: {}", error.message);
        }
    }
}
