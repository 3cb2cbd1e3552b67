//! An error as the JSON record that programs read, with what its causes say.

use serde::Serialize;

use super::{Coded, ErrorKind, Trouble};

/// What an error says with its causes, each of them once.
#[must_use]
pub fn whole_message(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(error.source(), |cause| cause.source());
    causes.fold(error.to_string(), |message, cause| {
        let cause = cause.to_string();
        if message.ends_with(&cause) { message } else { format!("{message}: {cause}") }
    })
}

/// An error as JSON; see `schema/error.schema.json`.
#[derive(Debug, Serialize)]
pub struct ErrorRecord<'a> {
    /// JSON `{"enum": ["usage", "failed", "bad-input", "no-store", "no-model", "full", "locked",
    /// "replaced"]}`.
    pub kind: &'static str,
    /// What went wrong, as in `S-locked`; null where the message says all.
    pub code: Option<&'static str>,
    /// What it says with its causes.
    pub message: &'a str,
    /// What to try next, where the message does not say it.
    pub hint: Option<&'static str>,
    /// The exit code of a program that ends with it.
    pub exit: u8,
}

impl<'a> ErrorRecord<'a> {
    /// The record of an error of the library.
    #[must_use]
    pub fn new(error: &dyn Coded, message: &'a str, hint: Option<&'static str>) -> Self {
        let Trouble { kind, code } = error.trouble();
        Self { kind: kind.as_str(), code, message, hint, exit: kind.exit_code() }
    }

    /// The record of a call or command line that is wrong itself.
    #[must_use]
    pub fn usage(code: Option<&'static str>, message: &'a str) -> Self {
        let exit = ErrorKind::Failed.exit_code();
        Self { kind: "usage", code, message, hint: None, exit }
    }
}
