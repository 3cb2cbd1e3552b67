//! `fnstore score --question`: what a language model answers about the fields of each line.

use fnstore::model::{Fraction, Positive};
use fnstore::score::{FieldTexts, Question, ScoreRefusal, Scorer};
use serde::Serialize;
use serde_json::{Map, Value};

use super::line_error;
use crate::cli::input::line_batches::{self, LineItem, LineTask};
use crate::cli::input::line_reader::{Input, LineError};
use crate::cli::{Context, Outcome};

pub(super) fn run(
    scorer: Scorer,
    question: Question,
    lines: Input,
    context: &mut Context,
) -> anyhow::Result<Outcome> {
    line_batches::run(Asking { scorer, question }, lines, &mut context.output)
}

/// The asking about lines.
struct Asking {
    scorer: Scorer,
    question: Question,
}

impl Asking {
    /// The fields of an item: a plain line is the only field.
    fn fields(&self, item: &Item) -> Result<FieldTexts, LineError> {
        let text = match &item.texts {
            Texts::Fields(fields) => return Ok(fields.clone()),
            Texts::Plain(text) => text,
        };
        let fields: Vec<&str> = self.question.fields().collect();
        match fields.as_slice() {
            [only] => Ok(FieldTexts::from([((*only).to_owned(), vec![text.clone()])])),
            _ => {
                let named: Vec<String> = fields.iter().map(|name| format!("`{name}`")).collect();
                let named = named.join(", ");
                Err(LineError::new(
                    "E-key",
                    format!("expected a JSON line with the fields {named}"),
                ))
            }
        }
    }
}

impl LineTask for Asking {
    type Item = Item;
    type Record = Record;

    const DONE: &'static str = "asked about";
    const COLUMNS: &'static [&'static str] = &["line", "id", "yes", "log_odds", "error"];

    fn answer(
        &mut self,
        items: Vec<(u64, Item)>,
    ) -> anyhow::Result<Vec<Result<Record, LineError>>> {
        let fields: Vec<Result<FieldTexts, LineError>> =
            items.iter().map(|(_, item)| self.fields(item)).collect();
        let good: Vec<FieldTexts> =
            fields.iter().filter_map(|of| of.as_ref().ok()).cloned().collect();
        let mut answers = self.scorer.ask(&self.question, &good)?.into_iter();
        let records = items.into_iter().zip(fields).map(|((line, item), fields)| {
            let fields = fields?;
            let answer = answers.next().expect("every good line has been asked about");
            let answer = answer.map_err(|refusal: ScoreRefusal| line_error(&refusal))?;
            let text = fields.into_values().flatten().collect::<Vec<_>>().join(" | ");
            Ok(Record { line, id: item.id, yes: answer.yes(), log_odds: answer.log_odds(), text })
        });
        Ok(records.collect())
    }

    fn text(record: &Record) -> Option<String> {
        let Record { yes, log_odds, text, .. } = record;
        Some(format!("{yes:6.4} {log_odds:9.3}  {text}"))
    }
}

/// What a line brings.
#[derive(Debug, Clone, PartialEq)]
enum Texts {
    Plain(String),
    Fields(FieldTexts),
}

/// A line to ask about.
#[derive(Debug)]
struct Item {
    id: Option<Value>,
    texts: Texts,
}

impl LineItem for Item {
    fn read(line: &str, is_json: bool) -> Result<Self, LineError> {
        if !is_json {
            return Ok(Self { id: None, texts: Texts::Plain(line.to_owned()) });
        }
        let mut object: Map<String, Value> =
            serde_json::from_str(line).map_err(|error| LineError::json(&error))?;
        let id = object.remove("id");
        let fields = object.into_iter().map(|(name, value)| {
            let texts = texts_of(&value).ok_or_else(|| {
                let message = format!("`{name}` is `{value}`: expected a text or a list of texts");
                LineError::new("E-type", message)
            })?;
            Ok((name, texts))
        });
        Ok(Self { id, texts: Texts::Fields(fields.collect::<Result<_, LineError>>()?) })
    }
}

/// A text or several; none for null.
fn texts_of(value: &Value) -> Option<Vec<String>> {
    match value {
        Value::Null => Some(Vec::new()),
        Value::String(text) => Some(vec![text.clone()]),
        Value::Array(texts) => texts.iter().map(|text| text.as_str().map(str::to_owned)).collect(),
        _ => None,
    }
}

/// One line of the output; see `schema/question.schema.json`.
#[derive(Debug, Serialize)]
struct Record {
    line: Positive,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<Value>,
    yes: Fraction,
    log_odds: f64,
    /// For reading; who reads JSON has it.
    #[serde(skip)]
    text: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_brings_texts_and_lists_of_texts() {
        let line = r#"{"id": 3, "frame": "Tearing", "words": ["rip", "cut"], "more": null}"#;
        let Item { id, texts } = Item::read(line, true).unwrap();
        assert_eq!(id, Some(serde_json::json!(3)));
        let texts_of = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        let wanted = [("frame", &["Tearing"][..]), ("words", &["rip", "cut"]), ("more", &[])];
        let wanted = wanted.map(|(name, texts)| (name.to_owned(), texts_of(texts)));
        assert_eq!(texts, Texts::Fields(FieldTexts::from(wanted)));
        assert_eq!(Item::read("a b", false).unwrap().texts, Texts::Plain("a b".to_owned()));
        for (line, code) in [("{", "E-json"), ("[]", "E-type"), (r#"{"a": {}}"#, "E-type")] {
            assert_eq!(Item::read(line, true).unwrap_err().code, code, "{line}");
        }
    }
}
