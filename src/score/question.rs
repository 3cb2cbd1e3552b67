//! Questions with two answers, as data: which lines ask, and which tokens answer.
//!
//! A question is a TOML file. Its `lines` have fields in braces, as in `Sentence: {sentence}`. A
//! line whose fields are all empty is left out; one without fields is always asked. The model's
//! next token is the answer.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use toml::Spanned;

use super::{Answer, ScoreError, ScoreRefusal, Scorer};
use crate::engine::{Fingerprint, GoesOn, Tokenizer, always};
use crate::prompt::{PromptError, PromptFile, Spelling, one_line};

/// What a field of a question holds: some texts, which the question's separator joins.
pub type FieldTexts = BTreeMap<String, Vec<String>>;

/// The fields of a file with one question.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    format: Spanned<u32>,
    lines: Spanned<Vec<String>>,
    #[serde(default)]
    answers: Option<Spanned<Vec<String>>>,
    #[serde(default)]
    separator: Option<String>,
    #[serde(default)]
    tokens: Option<Spanned<usize>>,
}

/// The same of a question beside others, in a table of a file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct QuestionFields {
    lines: Spanned<Vec<String>>,
    #[serde(default)]
    answers: Option<Spanned<Vec<String>>>,
    #[serde(default)]
    separator: Option<String>,
    #[serde(default)]
    tokens: Option<Spanned<usize>>,
}

/// A part of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Template(String),
    Field(String),
}

/// A question that a language model answers by one of two tokens.
///
/// ```
/// use fnstore::score::Question;
///
/// let file = "format = 1\nlines = [\"Sentence: {sentence}\\n\", \"Is it a joke? Answer:\"]\n";
/// let question = Question::parse("joke.toml".as_ref(), file)?;
/// assert_eq!(question.fields().collect::<Vec<_>>(), ["sentence"]);
/// assert_eq!(question.answers(), [" yes", " no"]);
/// # Ok::<(), fnstore::prompt::PromptError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    file: PromptFile,
    lines: Vec<Vec<Part>>,
    answers: [String; 2],
    separator: String,
    most_tokens: Option<usize>,
}

impl Question {
    /// Reads a file with one question.
    ///
    /// # Errors
    /// When it is absent, or one of its fields is missing or asks for nothing.
    pub fn read(path: &Path) -> Result<Self, PromptError> {
        Self::of_file(PromptFile::read(path)?)
    }

    /// The question of a text, which messages call by a path.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn parse(path: &Path, text: &str) -> Result<Self, PromptError> {
        Self::of_file(PromptFile::of(path, text))
    }

    fn of_file(file: PromptFile) -> Result<Self, PromptError> {
        let File { format, lines, answers, separator, tokens } = file.fields()?;
        file.check_format(&format)?;
        Self::of_fields(&file, QuestionFields { lines, answers, separator, tokens })
    }

    /// A question of a file that may hold several.
    pub(crate) fn of_fields(file: &PromptFile, of: QuestionFields) -> Result<Self, PromptError> {
        let lines: Vec<Vec<Part>> = of.lines.get_ref().iter().map(|line| parts(line)).collect();
        if !lines.iter().flatten().any(|part| matches!(part, Part::Field(_))) {
            let found = of.lines.get_ref().concat();
            return Err(file.wrong("lines", found, of.lines.span(), "a line with a {field}"));
        }
        let answers = match of.answers {
            None => [" yes", " no"].map(str::to_owned),
            Some(answers) => match answers.get_ref().as_slice() {
                [yes, no] if yes != no && !yes.is_empty() && !no.is_empty() => {
                    [yes.clone(), no.clone()]
                }
                other => {
                    let found = other.join(", ");
                    return Err(file.wrong(
                        "answers",
                        found,
                        answers.span(),
                        "two different texts",
                    ));
                }
            },
        };
        if let Some(tokens) = of.tokens.as_ref().filter(|tokens| *tokens.get_ref() < 2) {
            return Err(file.wrong("tokens", tokens.get_ref(), tokens.span(), "2 or more"));
        }
        Ok(Self {
            file: file.clone(),
            lines,
            answers,
            separator: of.separator.unwrap_or_else(|| ", ".to_owned()),
            most_tokens: of.tokens.map(Spanned::into_inner),
        })
    }

    /// BLAKE3 of the file.
    #[must_use]
    pub fn fingerprint(&self) -> Fingerprint {
        self.file.fingerprint()
    }

    /// The two answers.
    #[must_use]
    pub fn answers(&self) -> [&str; 2] {
        self.answers.each_ref().map(String::as_str)
    }

    /// The names of its fields, each once, in their order.
    pub fn fields(&self) -> impl Iterator<Item = &str> {
        let all: Vec<&str> = self.lines.iter().flatten().filter_map(Part::field).collect();
        let first = |at: &usize| !all[..*at].contains(&all[*at]);
        let firsts: Vec<&str> = (0..all.len()).filter(first).map(|at| all[at]).collect();
        firsts.into_iter()
    }

    /// Most tokens of a prompt, the start and the answer counted, if the file sets a limit.
    #[must_use]
    pub fn most_tokens(&self) -> Option<usize> {
        self.most_tokens
    }

    /// The tokens that answer, with one token each.
    fn answer_tokens(&self, tokenizer: &Tokenizer) -> Result<[u32; 2], ScoreError> {
        let token = |answer: &str| match tokenizer.encode(answer)?.as_slice() {
            [token] => Ok(*token),
            _ => Err(ScoreError::Prompt(self.file.no_token("answers", answer))),
        };
        let [yes, no] = [token(&self.answers[0])?, token(&self.answers[1])?];
        if yes == no {
            let both = self.answers.join(", ");
            return Err(ScoreError::Prompt(self.file.no_token("answers", &both)));
        }
        Ok([yes, no])
    }

    /// The tokens of a prompt after the start.
    fn tokens(
        &self,
        tokenizer: &Tokenizer,
        texts: &FieldTexts,
    ) -> Result<Result<Vec<u32>, ScoreRefusal>, ScoreError> {
        let known: Vec<&str> = self.fields().collect();
        let named = || known.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        if let Some(field) = known.iter().find(|field| !texts.contains_key(**field)) {
            let (field, fields) = ((*field).to_owned(), named());
            return Ok(Err(ScoreRefusal::MissingField { field, fields }));
        }
        if let Some(field) = texts.keys().find(|field| !known.contains(&field.as_str())) {
            let (field, fields) = (field.clone(), named());
            return Ok(Err(ScoreRefusal::UnknownField { field, fields }));
        }
        let value = |field: &str| {
            let texts = texts[field].iter().map(|text| one_line(text));
            texts.filter(|text| !text.is_empty()).collect::<Vec<_>>().join(&self.separator)
        };
        let mut spelling = Spelling::new(tokenizer);
        for line in &self.lines {
            let mut of_line = line.iter().filter_map(Part::field).peekable();
            if of_line.peek().is_some() && of_line.all(|field| value(field).is_empty()) {
                continue;
            }
            for part in line {
                match part {
                    Part::Template(template) => spelling.template(template)?,
                    Part::Field(field) => spelling.value(&value(field)),
                }
            }
        }
        Ok(Ok(spelling.into_tokens()?))
    }
}

impl Part {
    fn field(&self) -> Option<&str> {
        match self {
            Self::Field(field) => Some(field),
            Self::Template(_) => None,
        }
    }
}

/// The parts of a line: a name in braces is a field, all else stands for itself.
fn parts(line: &str) -> Vec<Part> {
    let is_name = |c: char| c.is_ascii_lowercase() || c == '_';
    let mut parts = Vec::new();
    let (mut plain, mut rest) = (String::new(), line);
    while let Some(open) = rest.find('{') {
        let (before, inside) = (&rest[..open], &rest[open + 1..]);
        let end = inside.find(|c: char| !is_name(c)).unwrap_or(inside.len());
        plain.push_str(before);
        if end > 0 && inside[end..].starts_with('}') {
            if !plain.is_empty() {
                parts.push(Part::Template(std::mem::take(&mut plain)));
            }
            parts.push(Part::Field(inside[..end].to_owned()));
            rest = &inside[end + 1..];
        } else {
            plain.push('{');
            rest = inside;
        }
    }
    plain.push_str(rest);
    if !plain.is_empty() {
        parts.push(Part::Template(plain));
    }
    parts
}

impl Scorer {
    /// Asks a question about each of some sets of texts; one that cannot be asked costs nobody the
    /// others. What prompts begin with alike is computed once, also from call to call. An answer is
    /// the same bits whatever else is asked.
    ///
    /// # Errors
    /// When an answer is no single token of the model's, its weights give numbers that are not
    /// finite, or a device failed.
    pub fn ask(
        &mut self,
        question: &Question,
        texts: &[FieldTexts],
    ) -> Result<Vec<Result<Answer, ScoreRefusal>>, ScoreError> {
        self.ask_while(question, texts, &mut always())
    }

    /// As [`ask`](Self::ask), asking between batches of some hundred tokens whether to go on.
    ///
    /// # Errors
    /// As there, and [`DecodeError::Stopped`](crate::engine::DecodeError::Stopped) after `Break`.
    pub fn ask_while(
        &mut self,
        question: &Question,
        texts: &[FieldTexts],
        goes_on: &mut GoesOn<'_>,
    ) -> Result<Vec<Result<Answer, ScoreRefusal>>, ScoreError> {
        let answers = question.answer_tokens(&self.tokenizer)?;
        let mut prompts = Vec::with_capacity(texts.len());
        let mut refused = Vec::with_capacity(texts.len());
        for texts in texts {
            let prompt = question.tokens(&self.tokenizer, texts)?;
            let prompt = prompt.and_then(|own| self.prompt_of(question, own));
            refused.push(prompt.map(|prompt| prompts.push(prompt)).err());
        }
        let found = self.asking.log_probs(&mut self.model, &prompts, &answers, goes_on)?;
        let tokens = prompts.iter().map(Vec::len);
        let mut found = found.into_iter().zip(tokens).map(|(log_probs, tokens)| Answer {
            log_probs: [f64::from(log_probs[0]), f64::from(log_probs[1])],
            tokens,
        });
        let answers = refused.into_iter().map(|refusal| match refusal {
            Some(refusal) => Err(refusal),
            None => Ok(found.next().expect("every prompt that was asked has an answer")),
        });
        Ok(answers.collect())
    }

    /// A whole prompt, unless it is too long.
    fn prompt_of(&self, question: &Question, own: Vec<u32>) -> Result<Vec<u32>, ScoreRefusal> {
        let prompt = [vec![self.start], own].concat();
        let (tokens, context) = (prompt.len() + 1, self.max_length());
        let limit = question.most_tokens.map_or(context, |most| most.min(context));
        match tokens > limit {
            true => Err(ScoreRefusal::LongPrompt { tokens, limit }),
            false => Ok(prompt),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "format = 1\nlines = [\n  \"A: {a_b} {c}\\n\",\n  \"{d}{} {e\",\n]\n";

    fn parse(text: &str) -> Result<Question, PromptError> {
        Question::parse(Path::new("q.toml"), text)
    }

    #[test]
    fn a_name_in_braces_is_a_field_and_all_else_is_text() {
        let question = parse(FILE).unwrap();
        assert_eq!(question.fields().collect::<Vec<_>>(), ["a_b", "c", "d"]);
        let template = |text: &str| Part::Template(text.to_owned());
        assert_eq!(question.lines[1], [Part::Field("d".to_owned()), template("{} {e")]);
        assert_eq!(question.answers(), [" yes", " no"]);
    }

    #[test]
    fn what_is_wrong_with_a_file_has_a_code_a_line_and_a_field() {
        for (from, to, said) in [
            ("format = 1", "format = 2", "line 1: `format` is `2`, expected 1 (P-field)"),
            ("format = 1\n", "", "missing field `format`"),
            ("{d}", "", "(P-field)"),
            ("]\n", "]\nanswers = [\" yes\"]\n", "line 6: `answers` is ` yes`"),
            ("]\n", "]\nanswers = [\"a\", \"a\"]\n", "expected two different texts (P-field)"),
            ("]\n", "]\ntokens = 1\n", "`tokens` is `1`, expected 2 or more (P-field)"),
            ("]\n", "]\nanswer = \" yes\"\n", "line 6: unknown field `answer`"),
        ] {
            let text = FILE
                .replace(from, to)
                .replace("{a_b} {c}", if from == "{d}" { "" } else { "{a_b} {c}" });
            let message = parse(&text).unwrap_err().to_string();
            assert!(message.contains(said) && message.contains("`q.toml`"), "{to}: {message}");
        }
        let message = Question::read(Path::new("/nowhere/q.toml")).unwrap_err().to_string();
        assert!(message.contains("(P-read)"), "{message}");
    }
}
