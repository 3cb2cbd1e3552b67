//! What can be wrong with a name in a query or command.

use std::collections::BTreeSet;

use crate::model::coded;
use crate::text::shortened;

/// Most values that a message lists.
const LISTED: usize = 40;

/// The store holds nothing of a name, or several things of which one was asked for.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LookupError {
    /// A query or command names something that the store does not hold.
    #[error("there is no {kind} `{}`{}", shortened(.name), suggestion(.nearest))]
    UnknownName {
        /// What it should be, as in `frame`.
        kind: &'static str,
        /// The name.
        name: String,
        /// The nearest name of that kind.
        nearest: Option<String>,
    },
    /// An LU is asked for in a frame that has none of the name or number; other frames have.
    #[error(
        "there is no lexical unit `{}` of frame `{}`; expected {}, which {} one",
        shortened(.lexunit), shortened(.frame), quoted(.frames),
        if frames.len() == 1 { "has" } else { "have" }
    )]
    OtherFrames {
        /// Its name or number.
        lexunit: String,
        /// The frame's.
        frame: String,
        /// The frames that have one, by name.
        frames: Vec<String>,
    },
    /// A query asks for a value that neither FrameNet nor anything in the store has, of a field
    /// that has few.
    #[error("there is no {kind} `{}`{}", shortened(.value), known_values(.nearest, .known))]
    UnknownValue {
        /// What it should be, as in `part of speech`.
        kind: &'static str,
        /// The value.
        value: String,
        /// The nearest one that there is.
        nearest: Option<String>,
        /// All that there are.
        known: BTreeSet<String>,
    },
    /// A call that gives one thing was asked for a name that several have.
    #[error(
        "{} records of the kind {kind} are called `{}`; expected one of them: {} ({})",
        .choices.len(), shortened(.name), first_of(.choices), ambiguous(.kind)
    )]
    Ambiguous {
        /// What it should be, as in `frame`.
        kind: &'static str,
        /// The name, number or id.
        name: String,
        /// What they are told apart by, as in "LU 12 of `Telling` (frame 7) in `bfn-1.5`".
        choices: Vec<String>,
    },
}

coded!(LookupError {
    Self::UnknownName { kind: "release", .. } => Failed.coded("Q-unknown-release"),
    Self::UnknownValue { kind: "lexicographic status", value, .. }
        if value.eq_ignore_ascii_case("rejected") => Failed.coded("Q-rejected"),
    Self::UnknownName { .. } | Self::UnknownValue { .. } | Self::OtherFrames { .. } =>
        Failed.coded("Q-unknown-name"),
    Self::Ambiguous { kind, .. } => Failed.coded(ambiguous(kind)),
});

/// The code of a name that several have.
fn ambiguous(kind: &str) -> &'static str {
    if kind == "edition" { "Q-ambiguous-edition" } else { "Q-ambiguous" }
}

/// The first of some choices, and how many there are beside them.
fn first_of(choices: &[String]) -> String {
    let first = choices.iter().take(LISTED).map(String::as_str).collect::<Vec<_>>().join(", ");
    match choices.len().checked_sub(LISTED).filter(|more| *more > 0) {
        Some(more) => format!("{first} and {more} more"),
        None => first,
    }
}

/// The value that was probably meant, or all there are.
fn known_values(nearest: &Option<String>, known: &BTreeSet<String>) -> String {
    if nearest.is_some() {
        return suggestion(nearest);
    }
    format!("; there are {}", quoted(known))
}

/// Names in quotes, or the first of them.
fn quoted<'a>(names: impl IntoIterator<Item = &'a String>) -> String {
    let names = names.into_iter().map(|name| format!("`{}`", shortened(name)));
    first_of(&names.collect::<Vec<_>>())
}

fn suggestion(nearest: &Option<String>) -> String {
    let meant = nearest.as_ref().map(|name| format!("; did you mean `{}`?", shortened(name)));
    meant.unwrap_or_default()
}
