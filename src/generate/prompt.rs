//! How a generator is asked for the words of blanks: a file of parts (`prompts/`).

use std::path::Path;

use serde::Deserialize;
use toml::Spanned;

use super::Answer;
use crate::model::named;
use crate::prompt::{PromptError, PromptFile};

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

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    format: Spanned<u32>,
    answer: Answer,
    blank: Spanned<String>,
    separator: String,
    part: Spanned<Vec<Part>>,
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
pub struct GenerationPrompt {
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

impl GenerationPrompt {
    /// The built-in prompt for an answer.
    #[must_use]
    pub fn built_in(answer: Answer) -> Self {
        let (name, text) = match answer {
            Answer::Sentence => ("language.toml", include_str!("prompts/language.toml")),
            Answer::Bars => ("infill.toml", include_str!("prompts/infill.toml")),
            Answer::Commas => ("paper.toml", include_str!("prompts/paper.toml")),
            Answer::Json => ("json.toml", include_str!("prompts/json.toml")),
        };
        let file = PromptFile::of(Path::new(name), text);
        Self::parse(&file).expect("a test reads the built-in prompts")
    }

    /// Reads a prompt of one's own.
    ///
    /// # Errors
    /// When it is absent, or one of its fields is missing or asks for nothing.
    pub fn read(path: &Path) -> Result<Self, PromptError> {
        Self::parse(&PromptFile::read(path)?)
    }

    fn parse(of: &PromptFile) -> Result<Self, PromptError> {
        let file: File = of.fields()?;
        of.check_format(&file.format)?;
        let (blank, parts) = (&file.blank, &file.part);
        if blank.get_ref().trim().is_empty() {
            return Err(of.wrong(
                "blank",
                blank.get_ref(),
                blank.span(),
                "a mark that can be seen",
            ));
        }
        for mode in Mode::ALL {
            let asks = |part: &Part| part.is_of(mode) && part.text.contains("{sentence}");
            if !parts.get_ref().iter().any(asks) {
                let expected = "`{sentence}` in a part of each mode";
                return Err(of.wrong("part", mode.as_str(), parts.span(), expected));
            }
        }
        Ok(Self {
            answer: file.answer,
            blank: file.blank.into_inner(),
            separator: file.separator,
            parts: file.part.into_inner(),
            fingerprint: of.fingerprint().to_string(),
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

    fn prompt_text(answer: Answer, mode: Mode) -> String {
        GenerationPrompt::built_in(answer).text(
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
            let texts = Mode::ALL.map(|mode| prompt_text(answer, mode));
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
        let text = prompt_text(Answer::Commas, Mode::FrameFe);
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
            let message = GenerationPrompt::parse(&PromptFile::of(Path::new("p.toml"), text))
                .unwrap_err()
                .to_string();
            assert!(message.contains(said) && message.contains("`p.toml`"), "{to}: {message}");
        }
        let error = GenerationPrompt::read(Path::new("/nowhere/p.toml")).unwrap_err();
        assert!(error.to_string().contains("(P-read)"));
    }
}
