//! What can be wrong with a prompt.

use crate::model::coded;
use std::path::PathBuf;

/// Why a prompt file cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PromptError {
    /// The file cannot be read.
    #[error("cannot read the prompt `{}`, by which a language model is asked (P-read)", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// It is no TOML, a field is missing, of another kind, or not known.
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
    #[error(
        "cannot use the prompt `{}`, line {line}: `{field}` is `{found}`, expected {expected} (P-field)",
        path.display()
    )]
    Field {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The field.
        field: &'static str,
        /// Its value.
        found: String,
        /// What would do.
        expected: &'static str,
    },
    /// The vocabulary lacks what the prompt needs.
    #[error(
        "cannot use the prompt `{}`: `{field}` is `{found}`, which is no single token of the model's \
         vocabulary; use the prompt of this model (P-token)",
        path.display()
    )]
    Token {
        /// The file.
        path: PathBuf,
        /// The field.
        field: &'static str,
        /// Its value.
        found: String,
    },
}

coded!(PromptError {
    Self::Toml { .. } => BadInput.coded("P-toml"),
    Self::Field { .. } => BadInput.coded("P-field"),
});
