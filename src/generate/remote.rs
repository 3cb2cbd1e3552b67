//! An endpoint that writes the words of blanks.

use serde_json::{Value, json};

use super::language::{Filled, Job};
use super::prompt::{Answer, Prompt};
use super::recipe::Recipe;
use super::{Result, Skip};
use crate::endpoint::{Endpoint, Usage};

/// Tokens of an answer, for each blank.
const TOKENS: u32 = 64;
/// Of one candidate the likeliest is asked for; several are drawn.
const TEMPERATURE: f32 = 1.0;
/// Seeds that every server takes.
const SEEDS: u64 = 0x7fff_ffff;

/// Fills blanks by an endpoint.
#[derive(Debug)]
pub struct RemoteFiller {
    endpoint: Endpoint,
    prompt: Prompt,
}

impl RemoteFiller {
    /// A filler that asks an endpoint by a prompt, whose answer is a list.
    #[must_use]
    pub fn new(endpoint: Endpoint, prompt: Prompt) -> Self {
        Self { endpoint, prompt }
    }

    pub(super) fn description(&self) -> Value {
        json!({
            "kind": "endpoint",
            "endpoint": self.endpoint.description(),
            "prompt": self.prompt.fingerprint(),
            "tokens": TOKENS,
            "temperature": format!("0 for one candidate, else {TEMPERATURE}"),
        })
    }

    pub(super) fn usage(&self) -> Usage {
        self.endpoint.usage()
    }

    /// Words for the blanks of a sentence.
    pub(super) fn fill(&mut self, job: &Job<'_>, recipe: &Recipe) -> Result<Filled> {
        let question = job.prompt(&self.prompt, recipe);
        let blanks = job.draft.blanks.len();
        let temperature = if recipe.candidates == 1 { 0.0 } else { TEMPERATURE };
        let mut filled = Filled::default();
        for draw in 0..recipe.candidates as u64 {
            let limit = TOKENS * blanks as u32;
            let answer = self.endpoint.ask(
                &question,
                temperature,
                recipe.seed.wrapping_add(draw) & SEEDS,
                limit,
            )?;
            match spans(&answer, self.prompt.answer, blanks) {
                Ok(spans) => {
                    let words = spans.iter().enumerate().map(|(at, span)| job.fitted(at, span));
                    let words: Vec<String> = words.collect();
                    if !filled.candidates.contains(&words) {
                        filled.candidates.push(words);
                    }
                }
                Err(code) => filled.rejects.push(code),
            }
        }
        filled.skip = filled.candidates.is_empty().then_some(Skip::Rejected);
        Ok(filled)
    }
}

/// The spans of an answer, one for each blank; else the code of what is wrong with it.
fn spans(
    answer: &str,
    form: Answer,
    blanks: usize,
) -> std::result::Result<Vec<String>, &'static str> {
    let spans = match form {
        Answer::Json => in_json(answer).ok_or("F-json")?,
        // One blank takes all, commas too.
        _ if blanks == 1 => vec![answer.to_owned()],
        _ => answer.split(',').map(str::to_owned).collect(),
    };
    let one_line = |span: String| span.split_whitespace().collect::<Vec<_>>().join(" ");
    let spans: Vec<String> = spans.into_iter().map(one_line).collect();
    if spans.len() != blanks {
        return Err("F-count");
    }
    let is_empty = |span: &String| !span.chars().any(char::is_alphanumeric);
    let is_mark = |span: &String| span.contains("<mask>");
    if spans.iter().any(|span| is_empty(span) || is_mark(span)) {
        return Err("F-empty");
    }
    if spans.iter().any(|span| span.len() > 400) {
        return Err("F-long");
    }
    Ok(spans)
}

/// The list in an answer, which may stand between other words or in a fence.
fn in_json(answer: &str) -> Option<Vec<String>> {
    #[derive(serde::Deserialize)]
    struct Spans {
        spans: Vec<String>,
    }
    let (start, end) = (answer.find('{')?, answer.rfind('}')?);
    let object = answer.get(start..=end)?;
    serde_json::from_str::<Spans>(object).ok().map(|found| found.spans)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_has_a_span_for_each_blank_or_a_code() {
        let json = |answer: &str, blanks| spans(answer, Answer::Json, blanks);
        let two = Ok(vec!["boys, and girls".to_owned(), "for it".to_owned()]);
        assert_eq!(json(r#"{"spans": ["boys, and girls", " for\n it"]}"#, 2), two);
        assert_eq!(
            json("Sure!\n```json\n{\"spans\": [\"boys, and girls\", \"for it\"]}\n```", 2),
            two
        );
        for (answer, code) in [
            (r#"{"spans": ["boys"]}"#, "F-count"),
            (r#"{"spans": ["boys", "for it", "now"]}"#, "F-count"),
            (r#"{"spans": ["boys", " . "]}"#, "F-empty"),
            (r#"{"spans": ["boys", "<mask>"]}"#, "F-empty"),
            (r#"{"spans": "boys, for it"}"#, "F-json"),
            (r#"{"spans": ["boys", "for it""#, "F-json"),
            ("boys, for it", "F-json"),
            ("}{", "F-json"),
            ("", "F-json"),
        ] {
            assert_eq!(json(answer, 2), Err(code), "{answer}");
        }
        let long = format!(r#"{{"spans": ["{}"]}}"#, "a".repeat(500));
        assert_eq!(json(&long, 1), Err("F-long"));
        let commas = |answer: &str, blanks| spans(answer, Answer::Commas, blanks);
        assert_eq!(commas(" boys, for it", 2).unwrap(), ["boys", "for it"]);
        assert_eq!(commas("boys, for it", 1).unwrap(), ["boys, for it"]);
        assert_eq!(commas("boys, girls, for it", 2), Err("F-count"));
    }
}
