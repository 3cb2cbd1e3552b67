//! Prompts as data: TOML files by which language models are asked, what is wrong with them, and
//! their texts as tokens.
//!
//! Rewriters (`paraphrase`), generators (`generate`) and questions (`score`) have files of their
//! own fields. What they have in common is here. A file names its `format`. What is wrong is told
//! with file, line and field. A template may spell control tokens of the vocabulary. The texts that
//! are put into it never become any, and have no line breaks with which they could pretend to be
//! lines of it.

mod error;
mod file;
mod spelling;

pub use error::PromptError;
pub(crate) use file::PromptFile;
pub(crate) use spelling::{Spelling, one_line};
