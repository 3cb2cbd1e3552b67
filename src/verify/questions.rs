//! The two questions of a verifier: `prompt.toml` beside its adapter.

use std::path::Path;

use serde::Deserialize;
use toml::Spanned;

use crate::prompt::{PromptError, PromptFile};
use crate::score::{Question, QuestionFields};

/// Name of the file.
pub const QUESTIONS: &str = "prompt.toml";

/// Fields of the first question.
const EVOKES: [&str; 5] = ["frame", "definition", "words", "sentence", "word"];
/// Fields of the second question.
const SAME_MEANING: [&str; 2] = ["sentence", "rewriting"];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    format: Spanned<u32>,
    evokes: Spanned<QuestionFields>,
    same_meaning: Spanned<QuestionFields>,
}

/// What a verifier is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Questions {
    /// Does a word evoke a frame?
    pub(super) evokes: Question,
    /// Does a rewriting say the same?
    pub(super) same_meaning: Question,
}

impl Questions {
    pub(super) fn read(directory: &Path) -> Result<Self, PromptError> {
        Self::parse(&PromptFile::read(&directory.join(QUESTIONS))?)
    }

    fn parse(of: &PromptFile) -> Result<Self, PromptError> {
        let File { format, evokes, same_meaning } = of.fields()?;
        of.check_format(&format)?;
        let question = |name, value: Spanned<QuestionFields>, fields: &[&str], expected| {
            let at = value.span();
            let question = Question::of_fields(of, value.into_inner())?;
            if let Some(unknown) = question.fields().find(|field| !fields.contains(field)) {
                return Err(of.wrong(name, format!("{{{unknown}}}"), at, expected));
            }
            Ok(question)
        };
        Ok(Self {
            evokes: question(
                "evokes",
                evokes,
                &EVOKES,
                "fields among {frame}, {definition}, {words}, {sentence} and {word}",
            )?,
            same_meaning: question(
                "same_meaning",
                same_meaning,
                &SAME_MEANING,
                "fields among {sentence} and {rewriting}",
            )?,
        })
    }
}

/// Whether a directory has the questions of a verifier.
#[must_use]
pub fn has_questions(directory: &Path) -> bool {
    let Ok(file) = PromptFile::read(&directory.join(QUESTIONS)) else { return false };
    let tables = ["evokes", "same_meaning"];
    file.fields::<toml::Table>()
        .is_ok_and(|file| tables.iter().any(|name| file.contains_key(*name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = include_str!("../../models/verifier/prompt.toml");

    fn parse(text: &str) -> Result<Questions, PromptError> {
        Questions::parse(&PromptFile::of(Path::new("prompt.toml"), text))
    }

    #[test]
    fn the_shipped_file_asks_both() {
        let Questions { evokes, same_meaning } = parse(FILE).unwrap();
        assert_eq!(evokes.fields().collect::<Vec<_>>(), EVOKES);
        assert_eq!(same_meaning.fields().collect::<Vec<_>>(), SAME_MEANING);
        assert_eq!([evokes.most_tokens(), same_meaning.most_tokens()], [Some(255), Some(200)]);
    }

    #[test]
    fn what_is_wrong_with_the_file_has_a_code_and_a_place() {
        for (from, to, said) in [
            ("format = 1", "format = 7", "`format` is `7`, expected 1 (P-field)"),
            ("[same_meaning]", "[other]", "(P-toml)"),
            ("{rewriting}", "{output}", "`same_meaning` is `{output}`, expected fields among"),
            ("{word}*", "{trigger}*", "`evokes` is `{trigger}`, expected fields among {frame}"),
        ] {
            let text = FILE.replace(from, to);
            assert_ne!(text, FILE, "{from}");
            let message = parse(&text).unwrap_err().to_string();
            assert!(message.contains(said), "{to}: {message}");
        }
    }
}
