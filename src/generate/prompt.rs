//! How a generator is asked for the words of blanks: a file of parts (`prompts/`).

use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::Answer;
use crate::model::{hexadecimal, named};
use crate::text::input::read_text;

named! {
    /// What a generator is told beside the sentence.
    #[derive(Default)]
    pub enum Mode {
        /// Nothing.
        None => "none",
        /// The LU, and the FE of each blank.
        #[default]
        Fe => "fe",
        /// The frame, the LU, and the FE of each blank.
        FrameFe => "frame-fe",
    }
}

/// Why a prompt file cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PromptFileError {
    /// It cannot be read.
    #[error("cannot read the prompt `{}` (P-read)", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// It is no TOML, or a field is missing, of another kind, or not known.
    #[error("cannot use the prompt `{}`, line {line}: {problem} (P-toml)", path.display())]
    Toml {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What the parser says.
        problem: String,
    },
    /// A field has a value that asks for nothing.
    #[error("cannot use the prompt `{}`: `{field}` is `{found}`, expected {expected} (P-field)", path.display())]
    Field {
        /// The file.
        path: PathBuf,
        /// The field.
        field: &'static str,
        /// Its value.
        found: String,
        /// What would do.
        expected: &'static str,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    format: u32,
    answer: Answer,
    blank: String,
    separator: String,
    part: Vec<Part>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Part {
    text: String,
    /// All of them for none.
    #[serde(default)]
    modes: Vec<Mode>,
}

/// The template of a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prompt {
    /// How answers are read.
    pub(super) answer: Answer,
    /// What stands for words to be written.
    pub(super) blank: String,
    separator: String,
    parts: Vec<Part>,
    fingerprint: String,
}

/// What a prompt is about.
pub(super) struct Task<'a> {
    pub(super) frame: &'a str,
    pub(super) lexunit: &'a str,
    /// With the prompt's mark in each blank.
    pub(super) sentence: &'a str,
    /// The FE of each blank.
    pub(super) elements: Vec<&'a str>,
}

impl Prompt {
    /// The built-in prompt for an answer.
    #[must_use]
    pub fn built_in(answer: Answer) -> Self {
        let (name, text) = match answer {
            Answer::Sentence => ("language.toml", include_str!("prompts/language.toml")),
            Answer::Bars => ("infill.toml", include_str!("prompts/infill.toml")),
            Answer::Commas => ("paper.toml", include_str!("prompts/paper.toml")),
            Answer::Json => ("json.toml", include_str!("prompts/json.toml")),
        };
        Self::parse(Path::new(name), text).expect("a test reads the built-in prompts")
    }

    /// Reads a prompt of one's own.
    ///
    /// # Errors
    /// When it is absent, or one of its fields is missing or asks for nothing.
    pub fn read(path: &Path) -> Result<Self, PromptFileError> {
        let text = read_text(path)
            .map_err(|source| PromptFileError::Read { path: path.to_owned(), source })?;
        Self::parse(path, &text)
    }

    fn parse(path: &Path, text: &str) -> Result<Self, PromptFileError> {
        let file: File = toml::from_str(text).map_err(|error| PromptFileError::Toml {
            path: path.to_owned(),
            line: 1 + text[..error.span().map_or(0, |at| at.start)].matches('\n').count(),
            problem: error.message().to_owned(),
        })?;
        let wrong = |field, found: String, expected| {
            Err(PromptFileError::Field { path: path.to_owned(), field, found, expected })
        };
        if file.format != 1 {
            return wrong("format", file.format.to_string(), "1");
        }
        if file.blank.trim().is_empty() {
            return wrong("blank", file.blank, "a mark that can be seen");
        }
        for mode in Mode::ALL {
            let asks = |part: &&Part| part.is_of(mode) && part.text.contains("{sentence}");
            if !file.part.iter().any(|part| asks(&part)) {
                return wrong(
                    "part",
                    mode.as_str().to_owned(),
                    "`{sentence}` in a part of each mode",
                );
            }
        }
        Ok(Self {
            answer: file.answer,
            blank: file.blank,
            separator: file.separator,
            parts: file.part,
            fingerprint: hexadecimal(blake3::hash(text.as_bytes()).as_bytes()),
        })
    }

    /// How answers are read.
    #[must_use]
    pub fn answer(&self) -> Answer {
        self.answer
    }

    /// BLAKE3 of the file, in hexadecimal digits.
    #[must_use]
    pub fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    /// The prompt of a task. Values have no line breaks with which they could pretend to be parts.
    pub(super) fn text(&self, mode: Mode, task: &Task<'_>) -> String {
        let values = [
            ("{frame}", task.frame.to_owned()),
            ("{lexunit}", task.lexunit.to_owned()),
            ("{sentence}", task.sentence.trim().to_owned()),
            ("{elements}", task.elements.join(&self.separator)),
        ];
        let mut text = String::new();
        for part in self.parts.iter().filter(|part| part.is_of(mode)) {
            let mut rest = part.text.as_str();
            while let Some((at, name, value)) = first_of(rest, &values) {
                text.push_str(&rest[..at]);
                text.extend(value.chars().map(|c| if c.is_control() { ' ' } else { c }));
                rest = &rest[at + name.len()..];
            }
            text.push_str(rest);
        }
        text
    }
}

/// The first place of a text that stands for a value.
fn first_of<'v>(text: &str, values: &'v [(&'v str, String)]) -> Option<(usize, &'v str, &'v str)> {
    let found =
        values.iter().filter_map(|(name, value)| Some((text.find(name)?, *name, value.as_str())));
    found.min_by_key(|(at, ..)| *at)
}

impl Part {
    fn is_of(&self, mode: Mode) -> bool {
        self.modes.is_empty() || self.modes.contains(&mode)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(answer: Answer, mode: Mode) -> String {
        Prompt::built_in(answer).text(
            mode,
            &Task {
                frame: "Experiencer_obj",
                lexunit: "please.v",
                sentence: "This way <mask> are\nnever pleased {frame} .",
                elements: vec!["Experiencer", "Stimulus"],
            },
        )
    }

    #[test]
    fn each_mode_tells_more() {
        for answer in Answer::ALL {
            let texts = Mode::ALL.map(|mode| asked(answer, mode));
            let tells = |text: &String| {
                let about = ["Experiencer_obj", "please.v", "Experiencer, Stimulus"];
                about.map(|value| text.contains(value))
            };
            let told = texts.each_ref().map(tells);
            assert_eq!(told, [[false; 3], [false, true, true], [true; 3]], "{texts:?}");
            // A value becomes neither a line nor a place.
            let sentence = "This way <mask> are never pleased {frame} .";
            assert!(texts.iter().all(|text| text.contains(sentence)), "{texts:?}");
        }
    }

    #[test]
    fn the_papers_prompt_is_the_papers() {
        let text = asked(Answer::Commas, Mode::FrameFe);
        for said in [
            "Title: Sentence completion using frame elements\nDefinition: You need to complete the given sentence \
             containing one or multiple blanks (<mask>). Your answer must be",
            "\nExample Input: Frame: Rewards_and_Punishments. Lexical Unit: discipline.v. Sentence: Growing up, <mask> \
             are disciplined <mask>. FE Type: Evaluee, Reason.\nExample Output: boys, for breaking the rules\nReason: ",
            "\nPrompt: Fill in the blanks in the sentence based on the provided frame, lexical unit and FE type. \
             Generate the spans",
            "\nTask Input: Frame: Experiencer_obj. Lexical Unit: please.v. Sentence: ",
            " FE Type: Experiencer, Stimulus.\nTask Output:",
        ] {
            assert!(text.contains(said), "`{said}` in\n{text}");
        }
    }

    #[test]
    fn what_is_wrong_with_a_file_has_a_code_and_a_place() {
        let good = include_str!("prompts/json.toml");
        for (from, to, said) in [
            ("format = 1", "format = 2", "`format` is `2`, expected 1 (P-field)"),
            ("answer = \"json\"", "answer = \"xml\"", "line 3"),
            ("blank = \"<mask>\"", "blank = \" \"", "`blank`"),
            ("modes = [\"frame-fe\"]", "mode = [\"frame-fe\"]", "`mode`"),
            ("{sentence}", "{sentences}", "`{sentence}` in a part of each mode"),
            ("separator = \", \"", "separator = ", "(P-toml)"),
        ] {
            let text = good.replace(from, to);
            assert_ne!(text, good, "{from}");
            let message = Prompt::parse(Path::new("p.toml"), &text).unwrap_err().to_string();
            assert!(message.contains(said) && message.contains("`p.toml`"), "{to}: {message}");
        }
        let error = Prompt::read(Path::new("/nowhere/p.toml")).unwrap_err();
        assert!(error.to_string().contains("(P-read)"));
    }
}
