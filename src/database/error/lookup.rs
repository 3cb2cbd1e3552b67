//! What can be wrong with a name in a query or command.

use std::collections::BTreeSet;

use crate::text::shortened;

/// Most values that a message lists.
const LISTED: usize = 40;

/// The store holds nothing of a name.
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
}

/// The value that was probably meant, or all there are.
fn known_values(nearest: &Option<String>, known: &BTreeSet<String>) -> String {
    if nearest.is_some() {
        return suggestion(nearest);
    }
    let first = known.iter().take(LISTED).map(|value| format!("`{}`", shortened(value)));
    let first = first.collect::<Vec<_>>().join(", ");
    match known.len().checked_sub(LISTED).filter(|more| *more > 0) {
        Some(more) => format!("; there are {first} and {more} more"),
        None => format!("; there are {first}"),
    }
}

fn suggestion(nearest: &Option<String>) -> String {
    let meant = nearest.as_ref().map(|name| format!("; did you mean `{}`?", shortened(name)));
    meant.unwrap_or_default()
}
